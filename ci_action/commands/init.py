"""``torchscan-ci init``: a config to start with, and the workflows that fit the repository."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from ci_action.core.config.starter import (
    CONFIG,
    FACTORIES,
    WORKFLOWS,
    Survey,
    WorkflowKind,
    recommended,
    starter_config,
    starter_factories,
    starter_workflow,
)
from ci_action.edges.survey import survey
from ci_action.errors import ConfigError
from torchscan.render.templates import source


@click.command()
@click.option("--directory", type=click.Path(exists=True, file_okay=False, path_type=Path), help="The repository.")
@click.option("--workflow", type=click.Choice(get_args(WorkflowKind)), help="Which recipe. Default: as it looks best.")
def init(directory: Path | None, workflow: WorkflowKind | None) -> int:
    """Look at a repository and write a config, factories and workflows. Nothing that exists is touched."""
    root = (directory or Path.cwd()).resolve()
    if not (root / ".git").exists():
        raise ConfigError(f"{root} is not the top of a git repository: workflows belong there")
    seen = survey(root)
    kind = workflow or recommended(seen)
    files = planned_files(seen, kind)
    there = sorted(name for name in files if (root / name).exists() or (root / name).is_symlink())
    if there:
        raise ConfigError(f"{', '.join(there)} exist already, so nothing was written: move them away, or edit them")
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        click.echo(f"wrote {name}")
    for line in next_words(seen, kind, chosen=workflow is not None):
        click.echo(line)
    return 0


def planned_files(seen: Survey, kind: WorkflowKind) -> dict[str, str]:
    """Every file by its path. A repository that has a config keeps it."""
    files = {} if seen.config else {CONFIG: starter_config(seen), FACTORIES: starter_factories(seen)}
    for name, template in WORKFLOWS[kind].items():
        files[f".github/workflows/{name}"] = starter_workflow(source("ci_action", f"init/{template}"), seen)
    return files


def next_words(seen: Survey, kind: WorkflowKind, *, chosen: bool) -> list[str]:
    """Say what was decided and what is left to a person."""
    why = "as you asked" if chosen else seen.forks_because or "nothing here speaks of forks or Dependabot"
    lines = [f"workflow for {kind}: {why}; `--workflow` chooses another"]
    if seen.config:
        lines.append(f"kept the config in {seen.config}")
        lines += [
            f"code found in {folder.path}: {folder.because}; list it in import-paths" for folder in seen.code_folders
        ]
    else:
        models = ", ".join(model.name for model in seen.models)
        lines += [f"code found in {folder.path}: {folder.because}" for folder in seen.code_folders]
        lines.append(f"models found: {models}" if models else "no model was found, so the factories hold an example")
        lines.append(f"next: give {FACTORIES} the shapes that your models take, then `torchscan-ci check --load`")
    if kind == "forks":
        lines.append(
            "then require the status `torchscan (main)` on the branch main, and so for each base branch: it is the gate"
        )
    return lines
