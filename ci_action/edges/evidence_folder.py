"""The files between the stages: the chosen commits, and what the workers said. Everything else is recomputed."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ci_action.core.handover.labels import Label, parts_of, read_label
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

    from ci_action.core.timing.evidence import BenchmarkEvidence
    from ci_action.ports import Sink

COMMITS = "evidence/commits.json"
DIGEST = "TORCHSCAN_RESULTS_DIGEST"
MAX_TOTAL_BYTES = 512 << 20
"""What all jobs of a matrix may hand over: a job of its own reads no more than result_file.LARGE of each target."""
MOST_TARGETS = 10_000
BENCHMARKS = "evidence/benchmarks.json"


def write_commits(sink: Sink, commits: Commits, label: Label) -> None:
    """Say for another job what was measured here, and of what it is a part."""
    document = {"version": SPEC_VERSION, "commits": asdict(commits), "part_of": label.as_document()}
    sink.write_file(COMMITS, _text(document))


def read_commits(folder: Path) -> tuple[Commits, Label]:
    """Read it back: what another job says of itself. Raises EvidenceError."""
    document = _read(folder / COMMITS, "measure")
    commits = document.get("commits")
    if not isinstance(commits, dict) or set(commits) != {item.name for item in fields(Commits)}:
        raise EvidenceError(f"{COMMITS} does not hold the commits of a plan")
    return Commits(**commits), read_label(document.get("part_of"))


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


def merge_shards(
    folders: Sequence[Path], commits: Commits, own: Label, *, collected: Path | None = None
) -> tuple[Measured, int, list[str]]:
    """Join the reports of several jobs, count them, and say which are left out. One that is not whole is lost.

    ``collected`` is the folder that holds each report under its artifact's name. Raises EvidenceError for a job that
    measured other commits, and where all of them together are too large.
    """
    said = {str(folder): read_commits(folder) for folder in folders if _is_whole(folder)}
    names = {str(folder): folder.name for folder in folders if folder.parent == collected}
    chosen, left_out = parts_of(own, {key: label for key, (_, label) in said.items()}, names)
    for key in chosen:
        if replace(said[key][0], policy_sha=commits.policy_sha) != commits:  # the tip may have moved on
            raise EvidenceError(f"the shard {Path(key).name} measured other commits: run the whole workflow again")
    size = sum(path.lstat().st_size for key in chosen for path in Path(key, "evidence").glob("*.json"))
    if size > MAX_TOTAL_BYTES:
        raise EvidenceError(f"the reports of all shards hold {size} bytes; at most {MAX_TOTAL_BYTES} are read")
    return unite([_measured(Path(key)) for key in chosen]), len(chosen), left_out


def _measured(folder: Path) -> Measured:
    base, head = read_results(folder, "base"), read_results(folder, "head")
    return Measured(base=base, head=head, benchmarks=read_benchmarks(folder))


def _is_whole(folder: Path) -> bool:
    """Check whether a report has all its parts. A link in place of a folder or a file is none of them."""
    files = [folder / name for name in (COMMITS, BENCHMARKS, "evidence/base.json", "evidence/head.json")]
    return all(path.is_file() for path in files) and not any(
        path.is_symlink() for path in (folder, folder / "evidence", *files)
    )


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
