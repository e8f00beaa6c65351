"""Every target is measured by exactly one job, and a job that is lost is missed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.rounds import evidence
from support.verdicts import COMMITS, config, failure, limit, plan, report, result, target

from ci_action.app import Evidence, Prepared, conclude
from ci_action.core.config.entries import Benchmark
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
from ci_action.core.timing.evidence_file import read_evidence
from ci_action.core.verdict import Gate, Verdict, Word
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


def verdict_of(*jobs: Received) -> Verdict:
    whole = joined(jobs)
    return conclude(Prepared(plan=PLAN), Evidence(base=whole.base, head=whole.head, benchmarks=whole.benchmarks))


def test_a_target_that_two_jobs_measured_alike_counts_once() -> None:
    first = measured(Shard(number=1, of=1))
    slower = replace(first, head=[{**item, "seconds": 9.0} for item in first.head])
    whole = joined([first, slower])
    assert [item["id"] for item in whole.head] == [item["id"] for item in whole.base] == IDS
    assert verdict_of(first, slower).outcome is Gate.PASS


@pytest.mark.parametrize("side", ["base", "head"])
@pytest.mark.parametrize("is_last", [False, True])
def test_two_different_results_of_a_target_are_unclear_and_the_others_stand(side: str, is_last: bool) -> None:
    whole = measured(Shard(number=1, of=1))
    other = replace(whole, **{side: [result(side, report(operator_macs=7), "b")]})
    verdict = verdict_of(*((whole, other) if is_last else (other, whole)))
    assert (verdict.outcome, verdict.exit_code) == (Gate.UNKNOWN, 3)
    by_id = {target.id: target for target in verdict.targets}
    assert [item.failure["type"] for item in by_id["b"].failures] == ["MeasuredTwice"] * 2
    assert "give every job of the matrix its own shard" in by_id["b"].failures[0].failure["message"]
    assert {row.word for target in verdict.targets if target.id != "b" for row in target.rows} == {Word.UNCHANGED}


def test_a_failure_in_one_of_two_jobs_is_no_result_either() -> None:
    whole = measured(Shard(number=1, of=1))
    failed = replace(whole, head=[result("head", failure(), "c")], base=[])
    twice = next(one for one in verdict_of(whole, failed).targets if one.id == "c")
    assert {item.failure["type"] for item in twice.failures} == {"MeasuredTwice"}


def test_two_timings_of_a_target_are_unclear_and_its_counts_stand() -> None:
    timed = plan(
        config(target("a", benchmark=Benchmark(metrics=("latency",))), limits=(limit("latency", max_increase=0.05),))
    )
    whole = read_received(pack(COMMITS, [result("base", identity="a")], [result("head", identity="a")], {}))
    jobs = [replace(whole, benchmarks={"a": evidence([], "a", seed=seed)}) for seed in (1, 2)]
    both = joined(jobs)
    assert read_evidence(both.benchmarks["a"])["rounds"] == []
    verdict = conclude(Prepared(plan=timed), Evidence(base=both.base, head=both.head, benchmarks=both.benchmarks))
    (of_it,) = verdict.targets
    assert [item.failure["type"] for item in of_it.failures] == ["MeasuredTwice"]
    assert {row.word for row in of_it.rows if row.metric != "latency"} == {Word.UNCHANGED}
    assert verdict.outcome is Gate.UNKNOWN
    assert joined([jobs[0], jobs[0]]).benchmarks == jobs[0].benchmarks
