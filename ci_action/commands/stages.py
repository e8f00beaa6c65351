"""The stages one by one, over files: what action.yml calls, each with no more rights than it needs.

Only the chosen commits and the workers' results cross from stage to stage. Each later stage reads the configs from the
commits again, and compares, judges and renders anew: no words and no verdict are ever taken from a file.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ci_action import app
from ci_action.app import prepare
from ci_action.commands import report
from ci_action.commands.run import choose_or_explain
from ci_action.commands.sources import Case, prepared_again, read_case
from ci_action.core.handover.shards import MOST_SHARDS, artifact_name, matrix, only, parse_shard
from ci_action.core.strict_json import parse_json
from ci_action.edges.environ import read_event, read_trigger
from ci_action.edges.evidence_folder import EvidenceRecord, results_digest, write_commits
from ci_action.edges.outputs import beside
from ci_action.edges.plan_file import RecordedPlan, write_plan
from ci_action.edges.recorded import RecordedRepository
from ci_action.edges.untrusted_file import read_untrusted
from ci_action.errors import EvidenceError
from ci_action.session import open_session

if TYPE_CHECKING:
    from ci_action.core.verdict import Verdict
    from ci_action.ports import GitHub
    from ci_action.render.rendered import Rendered
    from ci_action.session import Session

GATE = "evidence/gate.json"
out_option = click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder that all stages share."
)


@click.command()
@out_option
@click.option("--shards", type=click.IntRange(1, MOST_SHARDS), help="Print a GitHub matrix of at most so many jobs.")
def plan(out: Path, shards: int | None) -> int:
    """Choose base and head, fetch what is missing, and list what will be measured."""
    with open_session(out=out) as session:
        event = read_event(session.runner)
        if event.skip_reason:
            session.sink.annotate("notice", f"nothing is measured: {event.skip_reason}")
            session.sink.outputs({"skip": "true", "verdict": "unknown"})
            return 0
        git = session.git()
        commits, problem = choose_or_explain(event, git, session.inputs.base or None)
        pull = event.pull_request
        where = session.working_directory(git)
        read = RecordedRepository(git)
        prepared = prepare(commits, read, working_directory=where, pull_request=pull, problem=problem)
        if prepared.plan.policy.lfs:  # now, because the stage that measures has no token
            git.fetch_lfs(*filter(None, (commits.base_sha, commits.measured_sha)))
        for target in prepared.plan.targets:
            session.sink.progress(f"target {target.id}: {target.skipped or target.policy.factory}")
        jobs = json.dumps(matrix(prepared.plan, shards or session.inputs.shards))
        if shards:
            click.echo(jobs)
        names = artifact_name(session.inputs.artifact_name, session.shard)
        recorded = RecordedPlan(
            commits=commits,
            problem=problem,
            working_directory=where,
            pull_request=pull,
            trigger=read_trigger(session.runner),
            repository=read,
        )
        digest = write_plan(beside(out, "plan"), recorded)
        session.sink.outputs({"skip": "false", "matrix": jobs, "artifact-name": names, "digest": digest})
    return 0


@click.command()
@out_option
@click.option("--python", "python", help="Interpreter that has torch. Default: the input python.")
@click.option("--shard", help="Measure only this part of the targets, such as 2/4. Default: the input shard.")
def measure(out: Path, python: str | None, shard: str | None) -> int:
    """Measure both sides. Nothing in this stage's environment may be a secret."""
    with open_session(out=out) as session:
        prepared, git = prepared_again(session), session.git()
        own = parse_shard(shard) if shard else session.shard
        part = only(prepared.plan, own)
        record = EvidenceRecord(session.sink)
        measurer = session.measurer(part, python=python or session.inputs.python, record=record)
        try:
            app.measure(part, git, measurer, checkout=git.top)
        finally:
            session.sink.empty_files()
            write_commits(session.sink, prepared.plan.commits, session.label(own))
            record.write()  # whatever ended it, and whatever measured code made of the files meanwhile
            session.sink.outputs({"results": results_digest(out)})
    return 0


@click.command()
@out_option
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
def compare(out: Path, as_json: bool) -> int:
    """Compare and judge what was measured, and print it."""
    with open_session(out=out) as session:
        case, verdict, rendered = _rendered(session)
        report.say(rendered, verdict, case.prepared.plan, as_json=as_json, quiet=False)
    return 0


@click.command()
@out_option
def render(out: Path) -> int:
    """Write the pages that go into the artifact."""
    with open_session(out=out) as session:
        _, _, rendered = _rendered(session)
        index = report.write_pages(rendered, session)
        session.sink.outputs({"report-path": str(index)})
    return 0


@click.command()
@out_option
@click.option("--artifact-url", default="", help="Where the uploaded report is.")
def publish(out: Path, artifact_url: str) -> int:
    """Write summary, comment and outputs, and leave the exit code for the gate."""
    with open_session(out=out) as session:
        github = session.github()
        case, verdict, rendered = _rendered(session, artifact_url, github, is_later=True)
        delivered = report.publish(rendered, verdict, case.prepared.plan, session, github)
        code = report.gate_code(rendered, verdict, case.prepared.plan, session, delivered)
        session.sink.write_file(GATE, json.dumps({"exit_code": code, "headline": rendered.headline}) + "\n")
        session.sink.outputs({"exit-code": str(code), "headline": rendered.headline})
        report.say(rendered, verdict, case.prepared.plan, as_json=False, quiet=False)
    return 0


@click.command()
@out_option
def gate(out: Path) -> int:
    """End with the exit code of the run: the last step, when everything has been delivered."""
    with open_session(out=out) as session:
        try:
            code, headline = _decided(out, is_runner=session.runner.is_actions)
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise EvidenceError(
                "there is no verdict to act on: `torchscan-ci publish` did not get to its end, see its error above"
            ) from error
        if code:
            session.sink.annotate("error", headline)
    return code


def _decided(out: Path, *, is_runner: bool) -> tuple[int, str]:
    """Return the exit code and the headline of ``publish``: on a runner its step outputs, which no file can forge."""
    if is_runner:
        return int(os.environ["TORCHSCAN_EXIT_CODE"]), os.environ["TORCHSCAN_HEADLINE"]
    decided = parse_json(read_untrusted(out / GATE, 1 << 20))
    return int(decided["exit_code"]), str(decided["headline"])


def _rendered(
    session: Session, artifact_url: str = "", github: GitHub | None = None, *, is_later: bool = False
) -> tuple[Case, Verdict, Rendered]:
    case = read_case(session, artifact_url, is_later=is_later)
    accepted = report.acceptance(case.prepared, case.evidence, session, github, case.trigger)
    verdict, rendered = report.rendered_verdict(case.prepared, case.evidence, case.facts, accepted)
    return case, verdict, rendered
