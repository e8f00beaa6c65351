"""SECURITY.md promises nothing without a test: each row of its table names one that exists and can fail."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from support.components import REPOSITORY

TESTS = REPOSITORY / "tests"
DOCUMENT = REPOSITORY / ".github" / "SECURITY.md"
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


def table() -> list[list[str]]:
    """Return the cells of every row of the table of attacks, without its head."""
    part = DOCUMENT.read_text(encoding="utf-8").partition("## What stops whom")[2].partition("\n## ")[0]
    rows = [line.strip().strip("|").split(" | ") for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


@cache
def functions(file: str) -> frozenset[str]:
    """Return the names of the test functions of one file."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_the_table_is_there_and_whole() -> None:
    rows = table()
    assert len(rows) >= 20
    assert {len(row) for row in rows} == {5}, "attacker, what they can do, what stops them, shown by, inherent"
    assert all(all(row) for row in rows)


@pytest.mark.parametrize("row", table(), ids=lambda row: re.sub(r"\W+", "-", row[1])[:60])
def test_each_row_names_a_test_that_exists(row: list[str]) -> None:
    named = NAMED.findall(row[3])
    assert named, f"no test is named beside: {row[1]}"
    assert [f"{file}::{name}" for file, name in named if name not in functions(file)] == []


def test_every_test_that_the_prose_names_exists() -> None:
    named = NAMED.findall(DOCUMENT.read_text(encoding="utf-8"))
    assert [f"{file}::{name}" for file, name in named if not Path(TESTS / file).is_file()] == []
    assert [f"{file}::{name}" for file, name in named if name not in functions(file)] == []
