from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_action.worker import outputs
from ci_action.worker.check import by_callable, within_tolerances
from ci_action.worker.outputs import OutputsError, leaves, read_outputs, write_outputs


def crossed(value: Any, folder: Path) -> Any:
    write_outputs(value, folder / "out")
    return read_outputs(folder / "out")


@pytest.mark.parametrize("name", sorted(outputs._DTYPES))
def test_every_dtype_crosses_bit_for_bit(name: str, tmp_path: Path) -> None:
    tensor = torch.arange(6).reshape(2, 3).to(outputs._DTYPES[name])
    back = crossed(tensor, tmp_path)
    assert back.dtype == tensor.dtype
    assert torch.equal(back, tensor)


def test_structure_numbers_and_views_cross(tmp_path: Path) -> None:
    @dataclass
    class Out:
        logits: torch.Tensor
        loss: float

    value = {"out": Out(torch.ones(2, 3).t(), float("nan")), "more": (1, None, [True, "x"]), "none": torch.zeros(0, 3)}
    back = crossed(value, tmp_path)
    assert back["out"]["logits"].shape == (3, 2)
    assert back["out"]["loss"] != back["out"]["loss"]
    assert back["more"] == (1, None, [True, "x"])
    assert back["none"].shape == (0, 3)


@pytest.mark.parametrize("value", [object(), {1, 2}, torch.eye(2).to_sparse()])
def test_what_cannot_be_compared_is_refused(value: Any, tmp_path: Path) -> None:
    with pytest.raises(OutputsError, match="cannot be compared"):
        crossed(value, tmp_path)


def test_outputs_are_capped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "OUTPUT_BYTES", 1 << 20)
    with pytest.raises(OutputsError, match="more than 1 MiB"):
        crossed(torch.zeros(1 << 20), tmp_path)


@pytest.mark.parametrize("value", [torch.zeros(1).expand(1 << 40), ["x" * 300_000] * 4, [0.5] * 20_000])
def test_what_is_small_until_it_is_copied_is_capped_too(
    value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "OUTPUT_BYTES", 1 << 20)
    with pytest.raises(OutputsError, match="more than 1 MiB"):
        crossed(value, tmp_path)


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3), st.lists)
)
@settings(max_examples=30)
def test_any_nest_of_plain_values_crosses(value: Any) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        assert crossed(value, Path(folder)) == value


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (torch.tensor([1.0, 2.0]), ""),
        (torch.tensor([1.0, 2.00001]), ""),
        (torch.tensor([1.0, 2.1]), "output: differs by up to 0.1, beyond rtol 0.0001 and atol 0"),
        (torch.tensor([1.0]), "output: shape [2] on base, [1] on head"),
        (torch.tensor([1.0, 2.0]).double(), "output: torch.float32 on base, torch.float64 on head"),
        ([torch.tensor([1.0, 2.0])], "output is there on one side only"),
        (1.0, "output: Tensor on base, float on head"),
    ],
)
def test_tolerances_say_where_and_how_far(head: Any, message: str) -> None:
    verdict = within_tolerances(torch.tensor([1.0, 2.0]), head, rtol=1e-4, atol=0.0)
    assert verdict["message"] == message
    assert verdict["verdict"] == ("failed" if message else "passed")


def test_nan_is_like_nan_and_integers_are_exact() -> None:
    nan = torch.tensor([float("nan")])
    assert within_tolerances(nan, nan.clone(), rtol=0, atol=0)["verdict"] == "passed"
    assert within_tolerances({"a": 1}, {"a": 2}, rtol=1, atol=1)["message"] == "output['a']: the values differ"


@pytest.mark.parametrize(
    ("body", "verdict", "message"),
    [
        ("return None", "passed", ""),
        ("return True", "passed", ""),
        ("return False", "failed", ""),
        ("assert base == head, 'not equal'", "failed", "not equal"),
        ("return base.nothing", "failed", "the check raised AttributeError"),
        ("return 1", "failed", "the check returned int: None, True or False is accepted"),
    ],
)
def test_the_owners_check_decides(body: str, verdict: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text(f"def same(base, head):\n    {body}\n")
    answer = by_callable("checks.py:same", tmp_path, 1, 2)
    assert answer["verdict"] == verdict
    assert answer["message"].startswith(message)


def test_places_are_named() -> None:
    assert [place for place, _ in leaves({"a": [1, (2,)]})] == ["output['a'][0]", "output['a'][1][0]"]
