"""What leaves a worker is strict JSON of bounded strings, written in one step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_action.core.strict_json import parse_json
from ci_action.worker.wire import STRING_CHARACTERS, bounded, cut, write_result


def result(message: str, seconds: float = 1.0) -> Any:
    failure = {"stage": "build", "type": "E", "message": message, "frames": []}
    return {"version": 1, "id": "x", "side": "head", "report": None, "failure": failure, "seconds": seconds}


def test_a_short_string_is_left_as_it_is() -> None:
    assert cut("é" * STRING_CHARACTERS) == "é" * STRING_CHARACTERS


def test_two_long_strings_stay_two() -> None:
    long = "x" * 2000
    one, two = cut(long + "a" + long), cut(long + "b" + long)
    assert one != two
    assert len(one) == len(two) <= STRING_CHARACTERS


@given(st.text(st.characters(codec=None), max_size=1500))
def test_whatever_a_name_holds_the_reader_takes_it(text: str) -> None:
    assert parse_json(json.dumps(bounded({text: [text, (text,)]}))) is not None


def test_a_result_appears_whole_under_its_name(tmp_path: Path) -> None:
    write_result(result("m" * 9000), tmp_path / "0.json")
    assert [path.name for path in tmp_path.iterdir()] == ["0.json"]
    read = parse_json((tmp_path / "0.json").read_bytes())
    assert len(read["failure"]["message"]) <= STRING_CHARACTERS


def test_what_is_not_a_number_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        write_result(result("m", float("nan")), tmp_path / "0.json")
    assert not (tmp_path / "0.json").exists()
