"""Options of the whole suite."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A shared machine is slow at times; that is no fault of the code, so there is no deadline.
settings.register_profile(
    "suite", deadline=None, derandomize=True
)  # a change is judged by the same examples as the last
settings.register_profile("fuzz", deadline=None, database=None)  # `make fuzz`: the seed it prints is all one needs
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files; review the diff by eye")
