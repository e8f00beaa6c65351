"""Stages of a run that is split: over a matrix of jobs, or into one run that measures and one that may comment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ci_action.commands import report
from ci_action.commands.sources import delivered_case, prepared_again
from ci_action.commands.stages import out_option
from ci_action.core.handover.labels import listed
from ci_action.core.handover.publish_evidence import FILE
from ci_action.core.handover.publish_evidence import pack as packed
from ci_action.core.handover.shards import evidence_name
from ci_action.core.trigger import NEVER
from ci_action.edges.delivery_folder import write_delivery
from ci_action.edges.environ import read_producing_run
from ci_action.edges.evidence_folder import (
    check_results,
    merge_shards,
    read_benchmarks,
    read_results,
    results_digest,
    write_benchmarks,
    write_results,
)
from ci_action.edges.github.remote import RemoteRest
from ci_action.edges.github.run_store import RunStoreRest
from ci_action.edges.outputs import beside
from ci_action.edges.recorded import ProvenRepository, RecordedRepository
from ci_action.errors import ActionError, ConfigError, PublishError
from ci_action.ports import RefusedError
from ci_action.proof import Unproven, prove_pull_request
from ci_action.publish import explained
from ci_action.receiving import take_over
from ci_action.session import open_session
from ci_action.status import broken, deliver_status, pending, status_name

if TYPE_CHECKING:
    from ci_action.core.event import PullRequest
    from ci_action.core.handover.producing_run import ProducingRun
    from ci_action.session import Session


@click.command()
@out_option
def pack(out: Path) -> int:
    """Write the evidence that a run with rights may publish: numbers and identifiers, no words."""
    with open_session(out=out) as session:
        commits = session.plan().commits
        check_results(out, os.environ)
        jobs = session.shard.of if session.shard else 1
        data = packed(commits, read_results(out, "base"), read_results(out, "head"), read_benchmarks(out), jobs=jobs)
        folder = beside(out, "evidence")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_bytes(data)
        session.sink.outputs({"artifact-name": evidence_name(session.inputs.artifact_name, session.shard)})
    return 0


@click.command()
@out_option
@click.argument("reports", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
def merge(out: Path, reports: tuple[Path, ...]) -> int:
    """Join the REPORTS of all shards into one. A target that none of them measured counts as not measured."""
    with open_session(out=out) as session:
        prepared = prepared_again(session)
        collected = beside(out, "collected")
        folders = reports or [collected, *sorted(collected.glob("*"))]
        merged, shards, left_out = merge_shards(folders, prepared.plan.commits, session.label(), collected=collected)
        if left_out:
            session.sink.annotate("warning", listed(left_out))
        write_results(session.sink, "base", merged.base)
        write_results(session.sink, "head", merged.head)
        write_benchmarks(session.sink, merged.benchmarks)
        session.sink.outputs({"results": results_digest(out)})
        session.sink.progress(f"{shards} shards joined")
    return 0


@click.command()
@out_option
def receive(out: Path) -> int:
    """Take over another run's evidence under workflow_run, judge it by base's limits, and draw its pages."""
    with open_session(out=out) as session:
        run = read_producing_run(session.runner)
        found = run if isinstance(run, str) else _proven(session, run)
        if isinstance(run, str) or isinstance(found, Unproven | str):
            reason = found.reason if isinstance(found, Unproven) else found
            for rival in found.rivals if isinstance(found, Unproven) else ():
                _say_broken(session, rival, f"{reason}: close all but one of them")
            session.sink.annotate("notice", f"nothing is published: {reason}")
            session.sink.outputs({"skip": "true", "verdict": "unknown"})
            return 0
        if code := _say_pending(session, found):
            return code
        try:
            _receive(session, run, found)
        except ActionError as error:
            place = error.place if isinstance(error, ConfigError) else ""
            # No word of head's config is said there.
            _say_broken(session, found, f"the config at head is not valid, see {place}" if place else str(error))
            raise
        session.sink.outputs({"skip": "false", "artifact-name": session.inputs.artifact_name})
    return 0


def _proven(session: Session, run: ProducingRun) -> PullRequest | Unproven:
    repository = session.runner.repository
    remote = RemoteRest(session.api(), repository)
    with _permissions_named():
        return prove_pull_request(run, remote, repository=repository, workflow=session.inputs.workflow)


def _receive(session: Session, run: ProducingRun, pull: PullRequest) -> None:
    api, repository = session.api(), session.runner.repository
    remote, store = RemoteRest(api, repository), RunStoreRest(api, repository)
    with _permissions_named():
        delivery = take_over(run, pull, remote, store, artifact_name=session.inputs.artifact_name)
    recorded = RecordedRepository(ProvenRepository(remote, delivery.commits, pull.merge_sha))
    case = delivered_case(session, delivery, recorded, NEVER)
    base = case.prepared.plan.base_config
    first_run_at = store.first_run_at(run) if base and base.accept_label else NEVER
    write_delivery(beside(session.sink.folder, "received"), delivery, recorded, first_run_at)
    _, rendered = report.rendered_verdict(case.prepared, case.evidence, case.facts)
    report.write_pages(rendered, session)


@contextmanager
def _permissions_named() -> Iterator[None]:
    """Turn GitHub's bare refusal into the permissions that the job lacks."""
    try:
        yield
    except RefusedError as refusal:
        reason = f"{refusal}: {NEEDED}" if refusal.is_permission else explained(refusal)
        raise PublishError(reason) from refusal


NEEDED = "the job needs `actions: read`, `contents: read`, `pull-requests: write` and `statuses: write`"


def _say_pending(session: Session, pull: PullRequest) -> int:
    """Say first that nothing is known yet, where that can be replaced: a check run would stay beside its successor."""
    if session.status != "commit":
        return 0
    line = pending(status_name(session.inputs.comment_id, pull.base_ref))
    return deliver_status("commit", session.checks(), pull.head_sha, line, session.sink, is_gate=True)


def _say_broken(session: Session, pull: PullRequest, reason: str) -> None:
    """Where nothing can be judged the commit must not look unasked, and what was said before must not stand."""
    line = broken(status_name(session.inputs.comment_id, pull.base_ref), f"not measured: {reason}")
    deliver_status(session.status, session.checks(), pull.head_sha, line, session.sink, is_gate=True)
