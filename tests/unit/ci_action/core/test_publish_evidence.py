"""Evidence that crosses to a run with rights: the verdict stays the same, and no word of the other run comes along."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support.reports import decoder, make_report
from support.rounds import Machine, evidence
from support.verdicts import COMMITS, config, failure, limit, plan, report, result, target

from ci_action.app import Evidence, Prepared, conclude
from ci_action.core.config.entries import Benchmark
from ci_action.core.facts import Facts
from ci_action.core.handover import publish_evidence
from ci_action.core.handover.publish_evidence import MOST_CALLS, pack
from ci_action.core.handover.received_evidence import Received, read_received
from ci_action.core.verdict import Verdict
from ci_action.errors import EvidenceError
from ci_action.render.rendering import render

SECRET = "words of the fork"
NET = target("net", benchmark=Benchmark(metrics=("latency",)))
PLAN = plan(config(NET, "deep", "broken", limits=(limit(max_increase=0.01), limit("latency", max_increase=0.05))))


def a_run() -> Evidence:
    """One target with a timing, one whose calls changed, one that head cannot build."""
    machine, rng = Machine(block_sd=0.004, pair_sd=0.004), random.Random(1)
    rounds = machine.rounds(rng, 10, change=0.15) + machine.rounds(rng, 8, kind="control")
    broken = failure("bench.models.BrokenError", message=SECRET, frames=[SECRET], calls_done=3)
    old, new = make_report(decoder(2)), make_report(decoder(2, wide=(1,)))
    return Evidence(
        base=[result("base"), result("base", old, "deep"), result("base", identity="broken")],
        head=[result("head"), result("head", new, "deep"), result("head", broken, "broken")],
        benchmarks={"net": evidence(rounds, notes=[SECRET])},
    )


def packed(run: Evidence) -> bytes:
    return pack(COMMITS, run.base, run.head, run.benchmarks)


def verdict_of(run: Evidence | Received) -> Verdict:
    return conclude(Prepared(plan=PLAN), Evidence(base=run.base, head=run.head, benchmarks=run.benchmarks))


def shown(run: Evidence | Received) -> str:
    facts = Facts(torchscan_version="0.3.0", fork="octo/zoo", run_id=1)
    rendered = render(verdict_of(run), PLAN, facts, results=[*run.base, *run.head])
    return "\n".join([rendered.comment, rendered.summary, rendered.terminal, *rendered.pages.values()])


def test_the_verdict_is_that_of_the_run_which_measured() -> None:
    there, here = verdict_of(a_run()), verdict_of(read_received(packed(a_run())))
    assert (there.outcome, there.exit_code) == (here.outcome, here.exit_code)
    rows = [
        [(row.target, row.metric, row.word, row.gate, row.interval) for one in verdict.targets for row in one.rows]
        for verdict in (there, here)
    ]
    assert rows[0] == rows[1]
    numbers = [[row.head and row.head["known_value"] for one in v.targets for row in one.rows] for v in (there, here)]
    assert numbers[0] == numbers[1]


def test_the_calls_that_changed_cross_and_no_others() -> None:
    received = read_received(packed(a_run()))
    deep = next(item for item in received.head if item["id"] == "deep")
    whole = next(item for item in a_run().head if item["id"] == "deep")
    assert deep["report"] is not None
    assert whole["report"] is not None
    assert 0 < len(deep["report"]["layers"]) < len(whole["report"]["layers"])
    assert all(row["path"].startswith("blocks.1") or "blocks" not in row["path"] for row in deep["report"]["layers"])


def test_no_message_frame_or_note_crosses() -> None:
    assert SECRET.encode() not in packed(a_run())
    assert json.loads(packed(a_run()))["benchmarks"][0]["notes"] == []
    text = shown(read_received(packed(a_run())))
    assert "BrokenError" in text
    assert SECRET not in text


def test_words_that_are_there_are_not_shown_where_the_code_is_a_forks() -> None:
    run = a_run()
    assert SECRET not in shown(Evidence(base=run.base, head=run.head))


def test_a_large_run_keeps_its_largest_changes() -> None:
    # given 900 changed calls, the last of which changed most
    def layers(work: Callable[[int], int]) -> list[dict[str, Any]]:
        rows = make_report(decoder(1))["layers"][:1]
        return [
            {
                **rows[0],
                "path": f"m.{index}",
                "metrics": {"operator_flops": {**rows[0]["metrics"]["module_flops"], **number(work(index))}},
            }
            for index in range(900)
        ]

    def number(value: int) -> dict[str, Any]:
        return {"status": "complete", "value": value, "known_value": value}

    run = Evidence(
        base=[result("base", report(layers(lambda _: 1)))],
        head=[result("head", report(layers(lambda index: 2 + index)))],
    )
    content = read_received(pack(COMMITS, run.base, run.head, {})).head[0]["report"]
    assert content is not None
    assert len(content["layers"]) == MOST_CALLS
    assert "m.899" in {row["path"] for row in content["layers"]}
    assert "m.0" not in {row["path"] for row in content["layers"]}


def test_what_would_be_too_large_loses_calls_and_never_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish_evidence, "MOST_ITEMS", 100)
    document = json.loads(packed(a_run()))
    assert [item["report"]["calls"] for item in document["results"] if item["report"]] == [[]] * 5
    assert all(item["report"]["totals"] for item in document["results"] if item["report"])


def changed(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.update(fields)


def in_report(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["results"][0]["report"].update(fields)


def in_total(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["results"][0]["report"]["totals"]["parameters"].update(fields)


def in_failure(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["results"][5]["failure"].update(fields)


def in_benchmark(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["benchmarks"][0].update(fields)


def twice(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda document: document[key].append(document[key][0])


HOSTILE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "another version": changed(version=2),
    "a key of its own": changed(comment="![x](//evil)"),
    "a pull request's number": changed(number=1),
    "a commit that is a name": changed(head_sha="main"),
    "a result twice": twice("results"),
    "a benchmark twice": twice("benchmarks"),
    "markdown as a class name": in_failure(type="[x](javascript:y)"),
    "a message": in_failure(message=SECRET),
    "a stage of its own": in_failure(stage="<img>"),
    "a unit that is markdown": in_total(unit="| ![x](//evil)"),
    "a number that contradicts its status": in_total(known_value=7),
    "a text as a number": in_total(value="1e9", known_value="1e9"),
    "a number without bounds": in_total(value=10**39, known_value=10**39),
    "words in place of inputs": in_report(inputs=SECRET),
    "a metric of its own": in_report(totals={"<b>": {}}),
    "a call row too many": in_report(calls=[{}] * (MOST_CALLS + 1)),
    "a sentence in a benchmark": in_benchmark(mode=SECRET),
    "a benchmark without rounds": lambda document: document["benchmarks"][0].pop("rounds"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_document_that_is_more_or_less_than_evidence_is_refused(kind: str) -> None:
    document = json.loads(packed(a_run()))
    HOSTILE[kind](document)
    with pytest.raises(EvidenceError) as refused:
        read_received(json.dumps(document).encode())
    assert not [word for word in (SECRET, "evil", "javascript", "<b>", "<img>") if word in str(refused.value)]


def test_claims_about_commits_are_carried_as_claims() -> None:
    received = read_received(pack(replace(COMMITS, base_sha=None), [], [], {}))
    assert (received.base_sha, received.head_sha) == (None, COMMITS.head_sha)


PAYLOADS = ("</script><script>alert(1)</script>", "@org/team", "![x](//evil.example/)", "\u202eabc", "\x00", "x" * 5000)


def mutate(document: Any, rng: random.Random) -> None:
    """Change one place of a document: drop it, or put something there that does not belong."""
    holder = document
    while True:
        key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
        inner = holder[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.85:
            holder = inner
            continue
        if rng.random() < 0.15:
            del holder[key]
        else:
            holder[key] = rng.choice([*PAYLOADS, None, -1, 0, 1e308, [], {}, True, 2**63, {"a": 1}])
        return


def test_500_mutated_documents_crash_nothing_and_leak_nothing() -> None:
    good = packed(a_run())
    outcomes = {"read": 0, "refused": 0}
    for seed in range(500):
        rng, document = random.Random(seed), json.loads(good)
        for _ in range(rng.randint(1, 3)):
            mutate(document, rng)
        try:
            text = shown(read_received(json.dumps(document).encode()))
        except EvidenceError as error:
            outcomes["refused"] += 1
            text = str(error)
        else:
            outcomes["read"] += 1
        assert not [payload for payload in PAYLOADS if payload in text], seed
    assert outcomes["refused"] > 250
    assert outcomes["read"] > 5
