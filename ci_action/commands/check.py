"""``torchscan-ci check``: is the config right, and what would be measured?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ci_action.app import config_at, measure
from ci_action.core.plan import Commits
from ci_action.core.planning import make_plan
from ci_action.core.timing.duration import benchmark_seconds
from ci_action.core.timing.pairs import gated_timings, needed_pairs
from ci_action.errors import ConfigError
from ci_action.session import default_python, open_session

if TYPE_CHECKING:
    from ci_action.core.config.entries import Config
    from ci_action.edges.git.repository import GitRepository
    from ci_action.session import Session


@click.command()
@click.option("--directory", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Where the config is.")
@click.option("--load", is_flag=True, help="Also call each factory, in the interpreter that would measure.")
@click.option("--python", "python", help="Interpreter that has torch and the measured code's dependencies.")
def check(directory: Path | None, load: bool, python: str | None) -> int:
    """Validate the config of the working tree and list what would be measured."""
    with open_session(directory=directory or Path.cwd(), use_inputs=False) as session:
        git = session.git()
        sha = git.snapshot()
        config = config_at(sha, git, session.working_directory(git))
        if config is None:
            raise ConfigError(
                f"there is no config in {session.directory}: run `torchscan-ci init`, or write torchscan.toml, "
                ".github/torchscan.toml or [tool.torchscan-ci] in pyproject.toml"
            )
        for line in described(config):
            click.echo(line)
        return _load(config, sha, git, session, python or default_python()) if load else 0


def described(config: Config) -> list[str]:
    """What a run would measure and judge, in words."""
    lines = [f"{config.source} is valid: {len(config.targets)} targets, {len(config.limits)} limits"]
    for target in config.targets:
        timed = f", {target.benchmark.pairs} pairs of {', '.join(target.benchmark.metrics)}" if target.benchmark else ""
        lines.append(f"  target {target.id}: {target.factory}, {target.analysis} analysis on {target.device}{timed}")
    lines += [
        f"  limit  {', '.join(limit.targets)}: {limit.metric} {limit.text}, else {limit.on_exceed}"
        for limit in config.limits
    ]
    timings = gated_timings(config.targets, config.limits)
    if timings:
        lines.append(
            f"  {len(timings)} timing limits can fail the job, so each needs {needed_pairs(len(timings))} pairs"
        )
    if seconds := benchmark_seconds(config):
        lines.append(f"  the benchmarks take about {seconds / 60:.1f} min where models are built and called quickly")
    if not config.limits:
        lines.append("  no limit is written, so every run reports and passes")
    return lines


def _load(config: Config, sha: str, git: GitRepository, session: Session, python: str) -> int:
    """Build each target without analysing it."""
    unanalysed = tuple(replace(target, analysis="off", benchmark=None) for target in config.targets)
    plan = make_plan(
        Commits(base_sha=None, head_sha=sha, measured_sha=sha, base_reason="no base is needed to load factories"),
        base_config=None,
        head_config=replace(config, targets=unanalysed),
        working_directory=session.working_directory(git),
    )
    results = measure(plan, git, session.measurer(plan, python=python), checkout=git.top).head
    failures = [(result["id"], result["failure"]) for result in results if result["failure"]]
    for identity, failure in failures:
        click.echo(f"  {identity} cannot be loaded ({failure['stage']}): {failure['type']}: {failure['message']}")
    return ConfigError.exit_code if failures else 0
