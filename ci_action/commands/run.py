"""``torchscan-ci run``: everything in one process, for an event in Actions or for two revisions at home."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ci_action.app import measure, prepare
from ci_action.commands.report import acceptance, gate_code, publish, rendered_verdict, say, write_pages
from ci_action.commits import choose_commits, choose_local, without_base
from ci_action.edges.environ import read_event, read_trigger
from ci_action.edges.evidence_folder import write_benchmarks
from ci_action.errors import ConfigError, GitError
from ci_action.session import default_python, open_session

if TYPE_CHECKING:
    from ci_action.app import Prepared
    from ci_action.core.event import Event
    from ci_action.core.plan import Commits
    from ci_action.edges.git.repository import GitRepository
    from ci_action.session import Session

LIKELY_BASES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")


@click.command()
@click.option("--base", help="Revision to compare with. Default: the default branch; in Actions, by the event.")
@click.option("--head", help="Revision to measure, or . for the working tree. Default: HEAD; in Actions, by the event.")
@click.option("--directory", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Where the config is.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for the report; new by default.")
@click.option("--python", "python", help="Interpreter that has torch and the measured code's dependencies.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@click.option("--quiet", is_flag=True, help="Print only the first line of the result.")
def run(
    base: str | None,
    head: str | None,
    directory: Path | None,
    out: Path | None,
    python: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Measure base and head, compare them, judge by base's limits and write the report."""
    with open_session(directory=directory, out=out, quiet=quiet or as_json) as session:
        if session.runner.event_path and head is None:
            return run_event(session, base=base, python=python, as_json=as_json, quiet=quiet)
        base, head = base or likely_base(session.git()), head or "HEAD"
        again = shlex.join(["torchscan-ci", "run", "--base", base, "--head", head])
        code = run_local(session, base, head, python or default_python(), again, as_json=as_json, quiet=quiet)
        if not (as_json or quiet):
            click.echo(f"Report: {(session.sink.folder / 'index.html').resolve()}")
        return code


def run_event(session: Session, *, base: str | None, python: str | None, as_json: bool, quiet: bool) -> int:
    """Run for the event that started this job. Raises ConfigError where the job's step holds a token."""
    if session.inputs.token:
        raise ConfigError(
            "run measures code of the pull request in this very step, whose environment holds TORCHSCAN_TOKEN: leave "
            "it away, or use the action, whose measuring step has no token"
        )
    event = read_event(session.runner)
    if event.skip_reason:
        session.sink.annotate("notice", f"nothing was measured: {event.skip_reason}")
        return 0
    git = session.git()
    commits, problem = choose_or_explain(event, git, base or session.inputs.base or None)
    prepared = prepare(
        commits,
        git,
        working_directory=session.working_directory(git),
        pull_request=event.pull_request,
        problem=problem,
    )
    again = reproduction(commits, prepared.plan.working_directory)
    return _finish(session, git, prepared, python or session.inputs.python, again, as_json=as_json, quiet=quiet)


def run_local(
    session: Session,
    base: str,
    head: str,
    python: str,
    again: str | None = None,
    *,
    as_json: bool = False,
    quiet: bool = False,
) -> int:
    """Run for two revisions of a repository on this machine. ``again`` is the command that repeats it."""
    git = session.git()
    commits = choose_local(base, head, git)
    prepared = prepare(commits, git, working_directory=session.working_directory(git))
    return _finish(session, git, prepared, python, again, as_json=as_json, quiet=quiet)


def choose_or_explain(event: Event, git: GitRepository, base: str | None) -> tuple[Commits, str]:
    """The event's commits; where base cannot be had, head alone and the sentence that says why."""
    try:
        return choose_commits(event, git, base=base), ""
    except GitError as error:
        return without_base(event, git), str(error)


def likely_base(git: GitRepository) -> str:
    """The default branch as this clone knows it. Raises GitError."""
    for revision in LIKELY_BASES:
        try:
            git.resolve(revision)
        except GitError:
            continue
        return revision
    raise GitError(f"no default branch is known in {git.top}: name the base, e.g. --base HEAD~1")


def _finish(
    session: Session,
    git: GitRepository,
    prepared: Prepared,
    python: str,
    again: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    plan = prepared.plan
    evidence = measure(plan, git, session.measurer(plan, python=python), checkout=git.top)
    session.sink.empty_files()
    facts = session.facts(reproduction=again)
    github = session.github()
    trigger = read_trigger(session.runner) if plan.pull_request else None
    accepted = acceptance(prepared, evidence, session, github, trigger)
    verdict, rendered = rendered_verdict(prepared, evidence, facts, accepted)
    write_pages(rendered, session)
    if evidence.benchmarks:
        write_benchmarks(session.sink, evidence.benchmarks)
    delivered = publish(rendered, verdict, plan, session, github)
    say(rendered, verdict, plan, as_json=as_json, quiet=quiet)
    return gate_code(rendered, verdict, plan, session, delivered)


def reproduction(commits: Commits, directory: str) -> str | None:
    """The commands that fetch and measure the same two commits on somebody's own machine."""
    if commits.base_sha is None:
        return None
    sides = commits.base_sha, commits.measured_sha
    place = [] if directory == "." else ["--directory", directory]
    run_again = shlex.join(["torchscan-ci", "run", "--base", sides[0], "--head", sides[1], *place])
    return f"git fetch origin {sides[0]} {sides[1]} && {run_again}"
