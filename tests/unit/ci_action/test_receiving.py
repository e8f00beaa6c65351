"""Another run's evidence is found by name alone, and what it says of itself decides nothing."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from typing import Any

import pytest
from support.fake_remote import ELSEWHERE, HEAD, LATER, MERGE, PULL, RUN, FakeRemote, FakeRuns
from support.reports import decoder, make_report
from support.verdicts import COMMITS, result

from ci_action.core.handover.delivery import Delivery
from ci_action.core.handover.publish_evidence import MAX_TOTAL_BYTES, pack
from ci_action.core.handover.received_evidence import Budget
from ci_action.edges.recorded import ProvenRepository, RecordedRepository
from ci_action.errors import EvidenceError
from ci_action.ports import Artifact
from ci_action.receiving import choose_evidence, take_over

OURS = replace(COMMITS, base_sha=LATER, head_sha=HEAD, measured_sha=MERGE)


def archived(**commits: Any) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        data = pack(replace(OURS, **commits), [result("base")], [result("head")], {})
        packed.writestr("evidence.json", data)
    return target.getvalue()


def taken(files: dict[str, bytes], run_id: int = RUN.id) -> Delivery:
    return take_over(RUN, PULL, FakeRemote(), FakeRuns({run_id: files}), artifact_name="torchscan")


def artifact(number: int, name: str, *, is_expired: bool = False) -> Artifact:
    return Artifact(id=number, name=name, size_bytes=1, is_expired=is_expired)


def test_evidence_is_found_by_run_and_exact_name() -> None:
    found = taken({"torchscan": b"pages", "torchscan-evidence": archived(), "x-torchscan-evidence": b"other"})
    assert found.commits.base_sha == LATER
    assert [item["id"] for item in found.received.head] == ["net"]


def test_the_evidence_of_another_run_is_not_looked_at() -> None:
    with pytest.raises(EvidenceError, match="left no artifact"):
        taken({"torchscan-evidence": archived()}, run_id=RUN.id + 1)


def test_the_reader_is_told_of_the_full_report_by_names_that_can_only_be_ours() -> None:
    found = taken({"torchscan": b"pages", "torchscan-evidence": archived(), "torchscan-words-of-the-fork": b""})
    assert found.full_reports == ("torchscan",)
    assert taken({"torchscan-evidence": archived()}).full_reports == ()


def test_of_a_split_each_jobs_report_is_named() -> None:
    shards = {f"torchscan-{number}-of-2": b"pages" for number in (1, 2)}
    assert taken({"torchscan-evidence": archived(), **shards}).full_reports == tuple(shards)


def test_evidence_of_another_head_is_refused() -> None:
    with pytest.raises(EvidenceError, match="another head"):
        taken({"torchscan-evidence": archived(head_sha=ELSEWHERE)})


def test_evidence_that_is_refused_is_named_with_what_to_do() -> None:
    with pytest.raises(EvidenceError) as caught:
        taken({"torchscan-evidence": b"no zip"})
    said = "artifact 'torchscan-evidence' of run 71 is refused: the artifact is not a zip that can be read."
    assert str(caught.value).startswith(f"{said} Run that workflow again; ")


def test_of_one_name_the_latest_counts_and_an_expired_one_never() -> None:
    name = "torchscan-evidence"
    chosen = choose_evidence([artifact(3, name), artifact(9, name, is_expired=True), artifact(7, name)], "torchscan")
    assert [item.id for item in chosen] == [7]


def test_shards_of_an_earlier_split_do_not_mix_with_the_latest() -> None:
    split = [artifact(n, f"torchscan-evidence-{n}-of-3") for n in (1, 2, 3)]
    again = [artifact(10 + n, f"torchscan-evidence-{n}-of-2") for n in (1, 2)]
    assert [item.id for item in choose_evidence([*split, *again], "torchscan")] == [11, 12]


def test_what_github_said_once_is_what_every_later_step_reads() -> None:
    remote = FakeRemote(files={(HEAD, "torchscan.toml"): "first"}, touched=["a.py"])
    recorded = RecordedRepository(ProvenRepository(remote, OURS, None))
    assert recorded.read(HEAD, "torchscan.toml").text == "first"
    assert recorded.changed_paths(LATER, HEAD) == ["a.py"]
    remote.files[HEAD, "torchscan.toml"] = "second"
    assert recorded.read(HEAD, "torchscan.toml").text == "first"
    later = RecordedRepository.of_document(recorded.as_document())
    assert later.read(HEAD, "torchscan.toml").text == "first"
    assert later.read(HEAD, "x").is_absent
    assert later.changed_paths("", "") == ["a.py"]


def test_all_shards_together_have_the_caps_of_three_whole_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"torchscan-evidence-{number}-of-9": archived() for number in range(1, 10)}
    assert len(taken(files).received.head) == 1  # nine times the same result

    size = len(pack(OURS, [result("base")], [result("head")], {}))
    monkeypatch.setattr("ci_action.receiving.Budget", lambda: Budget(size_bytes=size * 8, items=10**6))
    with pytest.raises(EvidenceError, match="-of-9' of run 71 is refused: the document is"):
        taken(files)
    monkeypatch.setattr("ci_action.receiving.Budget", lambda: Budget(size_bytes=10**9, items=100))
    with pytest.raises(EvidenceError, match="the document holds more than"):
        taken(files)


def test_a_job_of_many_sends_no_more_than_its_share() -> None:
    base = [result("base", make_report(decoder(blocks=30)))]
    head = [result("head", make_report(decoder(blocks=30, width=128)))]
    alone, share = (len(pack(OURS, base, head, {}, jobs=jobs)) for jobs in (1, 2000))
    assert share <= MAX_TOTAL_BYTES // 2000 < alone
