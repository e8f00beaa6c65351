"""The files between the stages: the chosen commits, and what the workers said. Everything else is recomputed."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from ci_action.core.handover.uniting import Measured, unite
from ci_action.core.plan import Commits
from ci_action.core.spec import SPEC_VERSION, Side, TargetResult
from ci_action.core.strict_json import parse_json
from ci_action.core.timing.evidence_file import read_evidence
from ci_action.edges.plan_file import check_digest
from ci_action.edges.untrusted_file import read_untrusted
from ci_action.edges.workers.result_file import LARGE, whole_result
from ci_action.errors import ActionError, EvidenceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ci_action.core.timing.evidence import BenchmarkEvidence
    from ci_action.ports import Sink

COMMITS = "evidence/commits.json"
DIGEST = "TORCHSCAN_RESULTS_DIGEST"
MOST_TARGETS = 10_000
BENCHMARKS = "evidence/benchmarks.json"


def write_commits(sink: Sink, commits: Commits, problem: str) -> None:
    """Keep the choice of commits, and why base could not be had where that is so."""
    sink.write_file(COMMITS, _text({"version": SPEC_VERSION, "problem": problem, "commits": asdict(commits)}))


def read_commits(folder: Path) -> tuple[Commits, str]:
    """Read the choice back. Raises EvidenceError."""
    document = _read(folder / COMMITS, "plan")
    commits = document.get("commits")
    names = {item.name for item in fields(Commits)}
    if not isinstance(commits, dict) or set(commits) != names or not isinstance(document.get("problem"), str):
        raise EvidenceError(f"{COMMITS} does not hold the commits of a plan: run `torchscan-ci plan` again")
    return Commits(**commits), document["problem"]


def write_results(sink: Sink, side: Side, results: Sequence[TargetResult]) -> None:
    """Keep what one side's workers said: one file per target, and a list that says which files count."""
    for number, result in enumerate(results):
        _write_result(sink, number, result)
    _write_count(sink, side, len(results))


def _write_result(sink: Sink, number: int, result: TargetResult) -> None:
    document = _text({"version": SPEC_VERSION, "result": result})
    sink.write_file(f"evidence/{result['side']}-{number}.json", document)


def _write_count(sink: Sink, side: Side, count: int) -> None:
    sink.write_file(f"evidence/{side}.json", _text({"version": SPEC_VERSION, "files": count}))


def read_results(folder: Path, side: Side) -> list[TargetResult]:
    """Read one side's results back. Raises EvidenceError."""
    count = _read(folder / f"evidence/{side}.json", "measure").get("files")
    if not isinstance(count, int) or not 0 <= count <= MOST_TARGETS:
        raise EvidenceError(f"evidence/{side}.json does not say how many results there are")
    found = [_read_result(folder / f"evidence/{side}-{number}.json", side) for number in range(count)]
    return [item for item in found if item is not None]


def _read_result(file: Path, side: Side) -> TargetResult | None:
    """Read one target's result. One that cannot be used is as good as lost: its target has no result, and no other."""
    try:
        result = _read(file, "measure").get("result")
        target = result["id"] if isinstance(result, dict) and isinstance(result.get("id"), str) else ""
        return whole_result(result, target, side)
    except EvidenceError:
        return None


def write_benchmarks(sink: Sink, benchmarks: Mapping[str, BenchmarkEvidence]) -> None:
    """Keep the raw rounds of everything that was timed: the verdict can be computed again from them alone."""
    sink.write_file(BENCHMARKS, _text({"version": SPEC_VERSION, "benchmarks": list(benchmarks.values())}))


class EvidenceRecord:
    """Keeps in the folder what has been measured so far, so that a run which is killed has not lost it.

    The folder can be read at any time: a target that is missing in it has left no result. Measured code could change it
    meanwhile, so ``write`` replaces every file by what was read from the workers at the time.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._results: dict[Side, list[TargetResult]] = {"base": [], "head": []}
        self._benchmarks: dict[str, BenchmarkEvidence] = {}
        self.write()

    def add_result(self, result: TargetResult) -> None:
        """Keep one target's result on one side."""
        side = result["side"]
        self._results[side].append(result)
        with suppress(OSError, ActionError):  # the files at the end are what counts
            _write_result(self._sink, len(self._results[side]) - 1, result)
            _write_count(self._sink, side, len(self._results[side]))

    def add_benchmark(self, evidence: BenchmarkEvidence) -> None:
        """Keep what was timed of one target, in place of what was known of it before."""
        self._benchmarks[evidence["id"]] = evidence
        with suppress(OSError, ActionError):
            write_benchmarks(self._sink, self._benchmarks)

    def write(self) -> None:
        """Write all of it, from memory."""
        for side, results in self._results.items():
            write_results(self._sink, side, results)
        write_benchmarks(self._sink, self._benchmarks)


def read_benchmarks(folder: Path) -> dict[str, BenchmarkEvidence]:
    """Read the rounds back, each proven whole. Raises EvidenceError."""
    document = _read(folder / BENCHMARKS, "measure")
    items = document.get("benchmarks")
    if not isinstance(items, list):
        raise EvidenceError(f"{BENCHMARKS} does not hold benchmarks: run `torchscan-ci measure` again")
    found = {}
    for item in items:
        with suppress(EvidenceError):  # as above: that target was not timed
            evidence = read_evidence(item)
            found[evidence["id"]] = evidence
    return found


def results_digest(folder: Path) -> str:
    """Return the digest of everything that was measured, for the steps after this one."""
    return hashlib.sha256(_all_results(folder)).hexdigest()


def check_results(folder: Path, environ: Mapping[str, str]) -> None:
    """Check that what was measured is still what the measuring step left. Raises EvidenceError."""
    check_digest(_all_results(folder), environ, DIGEST, "the results are not those that were measured")


def _all_results(folder: Path) -> bytes:
    """Return one line for each file of results: its name and its digest."""
    found = sorted((folder / "evidence").glob("*.json"))
    results = [path for path in found if path.name.startswith(("base", "head", "benchmarks"))]
    digests = [hashlib.sha256(read_untrusted(path, LARGE.size_bytes)).hexdigest() for path in results]
    return "".join(f"{path.name} {digest}\n" for path, digest in zip(results, digests, strict=True)).encode()


def merge_shards(folders: Sequence[Path], commits: Commits) -> tuple[Measured, int]:
    """Join the reports of several jobs, and count them. One that is not whole is as good as lost.

    Raises EvidenceError for a job that measured other commits.
    """
    shards = [folder for folder in folders if _is_whole(folder)]
    for folder in shards:
        if replace(read_commits(folder)[0], policy_sha=commits.policy_sha) != commits:  # the tip may have moved on
            raise EvidenceError(f"the shard {folder.name} measured other commits: run the whole workflow again")
    jobs = [
        Measured(
            base=read_results(folder, "base"), head=read_results(folder, "head"), benchmarks=read_benchmarks(folder)
        )
        for folder in shards
    ]
    return unite(jobs), len(shards)


def _is_whole(folder: Path) -> bool:
    return all((folder / name).is_file() for name in (COMMITS, BENCHMARKS, "evidence/base.json", "evidence/head.json"))


def _read(path: Path, stage: str) -> dict[str, Any]:
    try:
        document = parse_json(read_untrusted(path, LARGE.size_bytes), LARGE)
    except FileNotFoundError as error:
        raise EvidenceError(f"there is no {path.name} in {path.parent}: run `torchscan-ci {stage}` first") from error
    except OSError as error:
        raise EvidenceError(f"{path.name} in {path.parent} cannot be read: {error.strerror}") from error
    if not isinstance(document, dict) or document.get("version") != SPEC_VERSION:
        raise EvidenceError(f"{path.name} is of another version: run `torchscan-ci {stage}` again")
    return document


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, allow_nan=False) + "\n"
