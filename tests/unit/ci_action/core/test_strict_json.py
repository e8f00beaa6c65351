from __future__ import annotations

import json
import random

import pytest

from ci_action.core.strict_json import JsonLimits, parse_json
from ci_action.errors import EvidenceError

SECRET = "hunter2hunter2"


def refusal(content: str | bytes, limits: JsonLimits = JsonLimits()) -> str:  # noqa: B008 # frozen
    with pytest.raises(EvidenceError) as caught:
        parse_json(content, limits)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_plain_documents_come_through() -> None:
    value = {"a": [1, 2.5, None, True, "é", {"b": []}]}

    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f'{{"a": NaN, "b": "{SECRET}"}}', "NaN"),
        ("[Infinity]", "infinity"),
        ("[-Infinity]", "infinity"),
        ("[1e999]", "too large"),
        (f'{{"{SECRET}": 1, "{SECRET}": 2}}', "one key twice"),
        ("[" * 100 + "]" * 100, "deeper than 64"),
        ("[" * 200_000, "deeper than 64"),
        ('{"a":' * 200_000, "deeper than 64"),
        ("1" * 41, "41 digits"),
        ("1" * 5_000, "5000 digits"),
        (f'["{"x" * 513}"]', "513 characters"),
        (f'{{"{"x" * 513}": 1}}', "513 characters"),
        ('["\\ud800"]', "surrogate"),
        (b"\xff\xfe", "not UTF-8"),
        ("\ud800", "not UTF-8"),
        (f'{{"a": "{SECRET}" x', "at line 1, column"),
        ("", "Expecting value"),
        ("[] []", "Extra data"),
        ("\ufeff[]", "malformed"),
        ("\x00", "malformed"),
        ('["a\x01"]', "control character"),
    ],
)
def test_bombs_and_nonsense_are_one_error_without_data(content: str | bytes, words: str) -> None:
    assert words in refusal(content)


def test_size_is_checked_before_parsing() -> None:
    assert "at most 10 are read" in refusal("[" * 11, JsonLimits(size_bytes=10))


def test_number_of_values_is_capped() -> None:
    assert "more than 5 values" in refusal("[1,2,3,4,5]", JsonLimits(items=5))


@pytest.mark.parametrize("depth", [63, 64])
def test_depth_is_exact(depth: int) -> None:
    assert parse_json("[" * depth + "]" * depth) is not None


def test_500_mutated_documents_give_a_value_or_an_evidence_error() -> None:
    dice = random.Random(20261129)
    whole = json.dumps({"targets": [{"id": "net", "rows": [{"value": 1.5e9, "ok": True, "none": None}]}] * 3})
    outcomes = {"value": 0, "error": 0}
    for _ in range(500):
        data = bytearray(whole.encode())
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(data))
            data[at : at + dice.choice((0, 1, 3))] = bytes(dice.choices(range(256), k=dice.choice((0, 1, 2))))
        try:
            parse_json(bytes(data))
            outcomes["value"] += 1
        except EvidenceError:
            outcomes["error"] += 1
    assert min(outcomes.values()) > 10
