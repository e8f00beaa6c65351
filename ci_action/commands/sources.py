"""Where a stage takes its evidence from: this run's own files, or another run's, proven and kept by ``receive``."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ci_action.app import Evidence, Prepared, prepare
from ci_action.commands.run import reproduction
from ci_action.core.handover.shards import only
from ci_action.core.handover.skips import settle_skips
from ci_action.core.trigger import Trigger
from ci_action.edges.delivery_folder import read_delivery
from ci_action.edges.evidence_folder import check_results, read_benchmarks, read_results
from ci_action.edges.outputs import beside

if TYPE_CHECKING:
    from ci_action.core.facts import Facts
    from ci_action.core.handover.delivery import Delivery
    from ci_action.edges.recorded import RecordedRepository
    from ci_action.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """All that is needed to judge, render and publish."""

    prepared: Prepared
    evidence: Evidence
    facts: Facts
    trigger: Trigger | None


def read_case(session: Session, artifact_url: str = "", *, is_later: bool = False) -> Case:
    """Read what was measured, and the plan. ``is_later``: in a later step than the one that measured.

    Raises EvidenceError, ConfigError.
    """
    if session.inputs.mode == "publish":
        delivery, recorded, first_run_at = read_delivery(beside(session.sink.folder, "received"))
        return delivered_case(session, delivery, recorded, first_run_at, artifact_url)
    trigger, prepared = session.plan().trigger, prepared_again(session)
    prepared = replace(prepared, plan=only(prepared.plan, session.shard))
    folder = session.sink.folder
    if is_later:
        check_results(folder, os.environ)
    evidence = Evidence(
        base=read_results(folder, "base"), head=read_results(folder, "head"), benchmarks=read_benchmarks(folder)
    )
    return Case(
        prepared=prepared,
        evidence=evidence,
        facts=_facts(session, prepared, artifact_url),
        trigger=trigger,
    )


def delivered_case(
    session: Session, delivery: Delivery, recorded: RecordedRepository, first_run_at: str, artifact_url: str = ""
) -> Case:
    """Judge what another run measured by the configs that GitHub has. Raises ConfigError, GitError, PublishError."""
    run, pull, received = delivery.run, delivery.pull, delivery.received
    where = session.inputs.working_directory
    prepared = prepare(delivery.commits, recorded, working_directory=where, pull_request=pull)
    measured = {item["id"] for item in (*received.base, *received.head)} | set(received.benchmarks)
    plan = settle_skips(prepared.plan, measured, are_paths_known=recorded.are_paths_known)
    prepared = replace(prepared, plan=plan)
    facts = replace(
        _facts(session, prepared, artifact_url),
        run_id=run.id,
        run_attempt=run.attempt,
        workflow_path=run.path,
        platform="",  # ours is not the machine that measured
        fork=(pull.head_repository or "a deleted repository") if pull.is_fork else None,
        is_split=True,
        full_reports=delivery.full_reports,
    )
    return Case(
        prepared=prepared,
        evidence=Evidence(base=received.base, head=received.head, benchmarks=received.benchmarks),
        facts=facts,
        trigger=Trigger(action="", label="", actor="", head_sha=pull.head_sha, at=first_run_at, is_first_run=True),
    )


def prepared_again(session: Session) -> Prepared:
    """Decide again what ``plan`` decided, by what it read. Raises EvidenceError, ConfigError."""
    plan = session.plan()
    return prepare(
        plan.commits,
        plan.repository,
        working_directory=plan.working_directory,
        pull_request=plan.pull_request,
        problem=plan.problem,
    )


def _facts(session: Session, prepared: Prepared, artifact_url: str) -> Facts:
    plan = prepared.plan
    again = reproduction(plan.commits, plan.working_directory)
    return session.facts(artifact_url=artifact_url or None, reproduction=again)
