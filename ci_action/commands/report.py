"""What every command does with evidence: judge it, render it, deliver it, say it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ci_action.acceptance import read_acceptance
from ci_action.app import Evidence, Prepared, conclude
from ci_action.core.document import to_json, verdict_document
from ci_action.core.verdict import Gate
from ci_action.errors import PublishError
from ci_action.publish import Delivered, deliver_files, deliver_words, explained
from ci_action.render.rendering import render
from ci_action.status import deliver_status, status_name, status_of

if TYPE_CHECKING:
    from pathlib import Path

    from ci_action.core.config.entries import Config, Limit
    from ci_action.core.facts import Facts
    from ci_action.core.plan import Plan
    from ci_action.core.trigger import Trigger
    from ci_action.core.verdict import Acceptance, Verdict
    from ci_action.ports import GitHub, Sink
    from ci_action.render.rendered import Rendered
    from ci_action.session import Session

OUTPUT_BYTES = 900_000


def rendered_verdict(
    prepared: Prepared, evidence: Evidence, facts: Facts, accepted: Acceptance | None = None
) -> tuple[Verdict, Rendered]:
    """Judge and render; the same evidence always gives the same words."""
    verdict = conclude(prepared, evidence, accepted=accepted)
    results = [*evidence.base, *evidence.head]
    return verdict, render(verdict, prepared.plan, facts, results=results)


def acceptance(
    prepared: Prepared, evidence: Evidence, session: Session, github: GitHub | None, trigger: Trigger | None
) -> Acceptance | None:
    """Ask GitHub for the accept label, where there is something to accept. ``trigger`` says since when head is head."""
    plan = prepared.plan
    label = plan.base_config.accept_label if plan.base_config else None
    if github is None or plan.pull_request is None or trigger is None or not label:
        return None
    if conclude(prepared, evidence).outcome is not Gate.FAIL:
        return None
    try:
        return read_acceptance(github, plan.pull_request.number, label, trigger)
    except PublishError as error:
        session.sink.annotate(
            "warning", f"the accept label could not be read, so it does not count: {explained(error)}"
        )
        return None


def write_pages(rendered: Rendered, session: Session) -> Path:
    """Write the report's files and name the index page."""
    return deliver_files(rendered, session.sink)


def publish(rendered: Rendered, verdict: Verdict, plan: Plan, session: Session, github: GitHub | None) -> Delivered:
    """Summary, comment and step outputs, in this order."""
    delivered = deliver_words(
        rendered,
        verdict,
        plan,
        session.sink,
        github,
        mode=session.inputs.comment or plan.policy.comment,
        require_comment=session.inputs.require_comment,
        is_of_this_run=session.inputs.mode != "publish",  # that job may be run again for the same evidence
    )
    if session.runner.is_actions:  # elsewhere the table says it
        # A run that publishes for another one is itself of another commit, and so are its annotations.
        annotate_limits(verdict, None if session.inputs.mode == "publish" else plan.head_config, session.sink)
    session.sink.outputs(
        {
            "verdict": verdict.outcome.value,
            "comment-url": delivered.comment_url,
            "report-path": str(session.sink.folder / "index.html"),
            "json": _short_json(verdict, plan),
        }
    )
    return delivered


def gate_code(rendered: Rendered, verdict: Verdict, plan: Plan, session: Session, delivered: Delivered) -> int:
    """Say the gate beside the commit where that is asked for, and give the job's exit code.

    A job that speaks for another run is itself only as good as its words arrived: the line beside the commit is the
    gate, and a red job on the default branch would be nobody's.
    """
    kind, is_gate = session.status, session.inputs.mode == "publish"
    name = status_name(session.inputs.comment_id, plan.pull_request.base_ref if plan.pull_request else "")
    line = status_of(verdict, rendered, name=name, url=delivered.comment_url)
    checks = session.checks() if kind != "none" else None
    failed = deliver_status(kind, checks, plan.commits.head_sha, line, session.sink, is_gate=is_gate)
    if is_gate and kind != "none":
        return failed or (delivered.exit_code if delivered.exit_code == PublishError.exit_code else 0)
    return delivered.exit_code


def annotate_limits(verdict: Verdict, shown: Config | None, sink: Sink) -> None:
    """Put each exceeded limit beside the line that the owner wrote. ``shown``: the config as the commit has it.

    Limits are base's, and a pull request may have moved or changed them: then there is no line to show.
    """
    for target in verdict.targets:
        for row in target.rows:
            if row.limit is not None and row.gate in {Gate.FAIL, Gate.UNKNOWN}:
                said = row.reason or f"{row.word.value}, limit {row.limit.text}"
                file, line = (shown.source, _line(row.limit, shown)) if shown else (None, None)
                sink.annotate("error", f"{row.target}, {row.metric}: {said}", file=file, line=line)


def _line(limit: Limit, shown: Config) -> int | None:
    same = [own.line for own in shown.limits if replace(own, line=limit.line) == limit]
    return same[0] if len(same) == 1 else None


def say(rendered: Rendered, verdict: Verdict, plan: Plan, *, as_json: bool, quiet: bool) -> None:
    """Print the result for a person, or the whole document for a machine."""
    if as_json:
        click.echo(to_json(verdict_document(verdict, plan)), nl=False)
    else:
        click.echo((rendered.headline if quiet else rendered.terminal).rstrip("\n"))


def _short_json(verdict: Verdict, plan: Plan) -> str:
    """The document as an output; GitHub takes 1 MB of each, so a larger one loses its targets."""
    document = verdict_document(verdict, plan)
    text = to_json(document)
    return text if len(text) <= OUTPUT_BYTES else to_json({**document, "targets": []})
