"""``torchscan-ci demo``: the whole job on a bundled example, in a temporary repository."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from ci_action.commands.run import run_local
from ci_action.example import build_repository
from ci_action.session import default_python, open_session


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for the report; new by default.")
@click.option("--python", "python", help="Interpreter that has torch.")
def demo(out: Path | None, python: str | None) -> int:
    """Measure a small repository whose branch makes one of three models wider than its owner allows."""
    with tempfile.TemporaryDirectory(prefix="torchscan-demo-") as folder:
        repository = Path(folder) / "repository"
        build_repository(repository)
        with open_session(directory=repository, out=out, use_inputs=False) as session:
            code = run_local(session, "main", "wider-cnn", python or default_python())
            click.echo(f"\nThe example's gate ended with exit code {code}, as it would for this pull request.")
            click.echo(f"Report: {(session.sink.folder / 'index.html').resolve()}")
    return 0
