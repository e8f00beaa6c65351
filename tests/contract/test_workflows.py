"""Our workflows, our action and every workflow that the docs show: valid, pinned, least permissions, no injection."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.components import REPOSITORY, need

GITHUB = REPOSITORY / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
ACTION = REPOSITORY / "action.yml"
DOCUMENTS = [REPOSITORY / "README.md", *sorted(GITHUB.rglob("*.md"))]
OURS = "frgfm/torchscan-action"
AUDIT = ("--offline", "--persona=auditor", "--quiet", "--no-progress", "--color=never")
"""The strictest of zizmor's personas: what it finds is fixed, or answered by a comment at its line."""
# A reader is to copy our moving tag; whoever wants more pins it. Everybody else's actions are pinned by commit.
ZIZMOR_CONFIG = f"""
rules:
  unpinned-uses:
    config:
      policies:
        {OURS}: ref-pin
        "*": hash-pin
"""


def check(*command: str | Path, cwd: Path = REPOSITORY) -> None:
    """Run a linter; its whole output is the failure's message."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def lint(folder: Path, workflows: list[Path], *zizmor_options: str | Path) -> None:
    check(need("zizmor"), *AUDIT, *zizmor_options, folder)
    ours = f"action .{OURS}@v1. must be pinned"
    check(need("jactionlint"), "--oneline", "--no-color", f"--ignore={ours}", *workflows, cwd=folder)
    check(need("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", *workflows)


def snippets() -> Iterator[tuple[str, str]]:
    """Give every fenced YAML block of the documents that is a whole workflow."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for number, block in enumerate(re.findall(r"^```ya?ml\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)):
            if isinstance(parsed := yaml.safe_load(block), dict) and "jobs" in parsed:
                yield f"{document.stem.lower()}-{number}", block


def runs(node: Any) -> Iterator[str]:
    """Give every ``run:`` script below a node."""
    if isinstance(node, dict):
        if isinstance(node.get("run"), str):
            yield node["run"]
        for value in node.values():
            yield from runs(value)
    elif isinstance(node, list):
        for value in node:
            yield from runs(value)


def test_our_workflows_and_action_pass_three_linters() -> None:
    lint(GITHUB, WORKFLOWS)
    check(need("zizmor"), *AUDIT, ACTION)
    check(need("check-jsonschema"), "--builtin-schema", "vendor.github-actions", ACTION)


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("vendor.dependabot", ".github/dependabot.yml"),
        ("vendor.github-issue-forms", ".github/ISSUE_TEMPLATE/[!c]*.yml"),
        ("vendor.github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        ("vendor.citation-file-format", "CITATION.cff"),
    ],
)
def test_other_files_that_github_reads_keep_their_schema(schema: str, pattern: str) -> None:
    files = sorted(REPOSITORY.glob(pattern))
    assert files
    check(need("check-jsonschema"), "--builtin-schema", schema, *files)


@pytest.mark.parametrize(("name", "block"), list(snippets()), ids=[name for name, _ in snippets()])
def test_a_documented_workflow_can_be_copied_as_it_is(name: str, block: str, tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / f"{name}.yml").write_text(block, encoding="utf-8")
    (tmp_path / "zizmor.yml").write_text(ZIZMOR_CONFIG, encoding="utf-8")
    lint(tmp_path, [folder / f"{name}.yml"], "--config", tmp_path / "zizmor.yml")


@pytest.mark.parametrize("path", [ACTION, *WORKFLOWS], ids=lambda path: path.name)
def test_every_action_is_pinned_by_commit_with_its_version(path: Path) -> None:
    used = re.findall(r"^\s*(?:- )?uses:\s*(.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    pinned = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [line for line in used if not line.startswith("./") and not pinned.fullmatch(line)] == []


@pytest.mark.parametrize("path", [ACTION, *WORKFLOWS], ids=lambda path: path.name)
def test_no_expression_reaches_a_shell(path: Path) -> None:
    scripts = list(runs(yaml.safe_load(path.read_text(encoding="utf-8"))))
    assert scripts or path != ACTION
    assert [script for script in scripts if "${{" in script] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_states_its_permissions_and_bounds(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] in ({}, {"contents": "read"})
    jobs = workflow["jobs"].values()
    assert all(job["timeout-minutes"] <= 60 for job in jobs)
    checkouts = [step for job in jobs for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_the_linters_would_see_a_planted_injection(tmp_path: Path) -> None:
    shutil.copytree(GITHUB / "workflows", tmp_path / ".github" / "workflows")
    planted = tmp_path / ".github" / "workflows" / "ci.yml"
    text = planted.read_text(encoding="utf-8")
    planted.write_text(text + "      - run: echo ${{ github.event.pull_request.title }}\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="template-injection"):
        lint(tmp_path, [planted])
