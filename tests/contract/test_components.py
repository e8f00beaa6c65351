"""A missing program is a skip that says why on a developer's machine, and an error in CI."""

from __future__ import annotations

import pytest
from support import components

MISSING = components.Component(lambda: None, "install the thing")


@pytest.mark.parametrize(
    ("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception), ("false", pytest.skip.Exception)]
)
def test_a_missing_component_skips_here_and_fails_in_ci(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setitem(components.COMPONENTS, "thing", MISSING)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="thing is not installed: install the thing"):
        components.need("thing")
