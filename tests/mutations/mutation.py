"""One guard, and what takes it away."""

from __future__ import annotations

from dataclasses import dataclass

UNIT, INTEGRATION, CONTRACT = "tests/unit/ci_action", "tests/integration", "tests/contract"


@dataclass(frozen=True, slots=True)
class Mutation:
    """One guard: what it is against, where it stands, and what takes it away."""

    case: str
    file: str
    guard: str
    without: str
    test: str


def of(test: str, file: str, *guards: tuple[str, str, str]) -> list[Mutation]:
    """Give the mutations of one file, all noticed by one test file. Each guard is (case, text, replacement)."""
    return [Mutation(case, file, guard, without, test) for case, guard, without in guards]
