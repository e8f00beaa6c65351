"""Every target is measured by exactly one job, and a job that is lost is missed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.verdicts import COMMITS, config, plan, result

from ci_action.app import Evidence, Prepared, conclude
from ci_action.core.handover.publish_evidence import pack
from ci_action.core.handover.received_evidence import Received, read_received
from ci_action.core.handover.shards import (
    Shard,
    artifact_name,
    evidence_group,
    evidence_name,
    joined,
    matrix,
    only,
    parse_shard,
)
from ci_action.core.verdict import Gate, Word
from ci_action.errors import ConfigError, EvidenceError

IDS = ["a", "b", "c", "d", "e"]
PLAN = plan(config(*IDS))


def measured(shard: Shard) -> Received:
    ids = [target.id for target in only(PLAN, shard).targets]
    sides = [[result(side, identity=identity) for identity in ids] for side in ("base", "head")]
    return read_received(pack(COMMITS, *sides, {}))


@pytest.mark.parametrize("total", [1, 2, 3, 5])
def test_all_jobs_together_have_each_target_once(total: int) -> None:
    jobs = [only(PLAN, Shard(number=number, of=total)) for number in range(1, total + 1)]
    assert sorted(target.id for job in jobs for target in job.targets) == IDS
    assert max(len(job.targets) for job in jobs) - min(len(job.targets) for job in jobs) <= 1


def test_without_a_shard_the_plan_is_whole() -> None:
    assert only(PLAN, None) is PLAN


@pytest.mark.parametrize(("shards", "labels"), [(2, ["1/2", "2/2"]), (9, [f"{n}/5" for n in range(1, 6)])])
def test_the_matrix_has_no_job_without_work(shards: int, labels: list[str]) -> None:
    assert matrix(PLAN, shards) == {"shard": labels}


def test_a_matrix_is_never_empty_and_skipped_targets_take_no_job() -> None:
    skipped = replace(PLAN, targets=tuple(replace(target, skipped="nothing changed") for target in PLAN.targets))
    assert matrix(skipped, 4) == {"shard": ["1/1"]}
    assert only(skipped, Shard(number=1, of=1)).targets == ()


@pytest.mark.parametrize("text", ["0/2", "3/2", "1/257", "1", "1/2/3", "a/b", " 1/2", "-1/2", "1/02"])
def test_a_shard_is_a_number_of_a_total(text: str) -> None:
    with pytest.raises(ConfigError, match="input shard"):
        parse_shard(text)


def test_artifacts_of_a_run_are_told_apart_by_name() -> None:
    shard = parse_shard("2/4")
    assert (artifact_name("torchscan", shard), evidence_name("torchscan", shard)) == (
        "torchscan-2-of-4",
        "torchscan-evidence-2-of-4",
    )
    names = ["torchscan-evidence", "torchscan-evidence-2-of-4", "torchscan", "torchscan-2-of-4"]
    assert [evidence_group("torchscan", name) for name in names] == [0, 4, None, None]
    odd = [
        "torchscan-evidence-5-of-4",
        "torchscan-evidence-2/4",
        "x-torchscan-evidence",
        "torchscan-evidence-1-of-2-of-3",
    ]
    assert [evidence_group("torchscan", name) for name in odd] == [None] * 4


def test_joined_shards_give_the_whole_verdict() -> None:
    whole = joined([measured(Shard(number=number, of=2)) for number in (1, 2)])
    verdict = conclude(Prepared(plan=PLAN), Evidence(base=whole.base, head=whole.head))
    assert [target.id for target in verdict.targets] == IDS
    assert {row.word for target in verdict.targets for row in target.rows} == {Word.UNCHANGED}


def test_a_lost_shard_is_not_measured_and_never_a_pass() -> None:
    # given two of five targets in the job that was lost
    half = joined([measured(Shard(number=1, of=2))])
    verdict = conclude(Prepared(plan=PLAN), Evidence(base=half.base, head=half.head))
    lost = [target.id for target in verdict.targets if target.failure("head")]
    assert lost == ["b", "d"]
    assert (verdict.outcome, verdict.exit_code) == (Gate.UNKNOWN, 3)


def test_shards_of_different_commits_are_not_joined() -> None:
    other = replace(measured(Shard(number=2, of=2)), head_sha="f" * 40)
    with pytest.raises(EvidenceError, match="different commits"):
        joined([measured(Shard(number=1, of=2)), other])


def test_a_target_that_two_shards_measured_is_refused() -> None:
    with pytest.raises(EvidenceError, match="same target"):
        joined([measured(Shard(number=1, of=2))] * 2)
