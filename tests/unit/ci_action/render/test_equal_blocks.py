from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ci_action.render.equal_blocks import fold


def folded(*paths: str) -> list[tuple[str, int]]:
    return [(group.path, len(group.calls)) for group in fold([(path, 0) for path in paths], key=lambda call: 0)]


def test_a_run_of_blocks_is_one_line() -> None:
    assert folded(*(f"layers.{index}.mlp" for index in range(32))) == [("layers.{0…31}.mlp", 32)]


def test_scattered_blocks_are_listed() -> None:
    assert folded("layers.1.mlp", "layers.4.mlp") == [("layers.{1,4}.mlp", 2)]
    assert folded(*(f"l.{index}" for index in (1, 3, 5, 9))) == [("l.{1,3,5,…}", 4)]


def test_other_paths_numbers_and_call_indices_stay_apart() -> None:
    assert folded("a.0", "b.0") == [("a.0", 1), ("b.0", 1)]
    assert len(fold([("a.0", 0), ("a.1", 1)], key=lambda call: 0)) == 2
    assert len(fold([("a.0", 0), ("a.1", 0)], key=lambda call: call[0])) == 2


def test_two_varying_indices_are_not_folded() -> None:
    assert folded("a.0.b.0", "a.1.b.1") == [("a.0.b.0", 1), ("a.1.b.1", 1)]


@given(
    st.sets(
        st.tuples(st.from_regex(r"(a|b|[0-9])(\.(c|[0-9]{1,2})){0,3}", fullmatch=True), st.integers(0, 2)), max_size=30
    )
)
def test_every_call_is_in_one_group(calls: set[tuple[str, int]]) -> None:
    groups = fold(sorted(calls), key=lambda call: len(call[0]) % 2)

    assert sorted(call for group in groups for call in group.calls) == sorted(calls)
