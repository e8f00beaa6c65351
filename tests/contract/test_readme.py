"""The README keeps its word: its tables come from the code, its Python runs, its words about the example are the run's.

pytest tests/contract/test_readme.py --update-golden rewrites the tables.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.components import REPOSITORY

from ci_action.core.config.table import markdown_table

README = REPOSITORY / "README.md"


def inputs_table() -> str:
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
    lines = ["| Input | Default | Meaning |", "| --- | --- | --- |"]
    for name, entry in action["inputs"].items():
        default = f"`{entry['default']}`" if entry.get("default") else ""
        lines.append(f"| `{name}` | {default} | {entry['description']} |")
    lines += ["", "| Output | Meaning |", "| --- | --- |"]
    lines += [f"| `{name}` | {entry['description']} |" for name, entry in action["outputs"].items()]
    return "\n".join(lines)


TABLES: dict[str, Callable[[], str]] = {"config": lambda: markdown_table().strip(), "inputs": inputs_table}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", TABLES)
def test_each_table_comes_from_the_code(name: str, pytestconfig: pytest.Config) -> None:
    text = README.read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- {name} table: .*? -->\n)(.*?)(<!-- end of {name} table -->)", flags=re.DOTALL)
    found = pattern.search(text)
    assert found, f"the README lost the marks of its {name} table"
    table = f"\n{TABLES[name]()}\n\n"
    if pytestconfig.getoption("--update-golden"):
        README.write_text(text[: found.start(2)] + table + text[found.end(2) :], encoding="utf-8")
    else:
        assert found[2] == table, "rewrite it with --update-golden"


def test_the_python_runs_and_prints_what_it_says() -> None:
    namespace: dict[str, Any] = {}
    said: list[str] = []
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for block in blocks("python"):
            exec(compile(block, str(README), "exec"), namespace)
            said += re.findall(r"^print\(.*\)  # ([^:\n]+)", block, flags=re.MULTILINE)
    assert blocks("text")[0].strip() in printed.getvalue()
    assert printed.getvalue().splitlines()[-len(said) :] == said


def test_every_link_leads_somewhere() -> None:
    text = README.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert targets
    assert [target for target in targets if not (REPOSITORY / Path(target)).exists()] == []
