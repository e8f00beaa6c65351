"""The pipeline on stand-ins: what is measured where, in which order, and what is never called a pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from support.verdicts import result

from ci_action.app import Evidence, conclude, measure, prepare
from ci_action.core.config.committed import ABSENT, CommittedFile
from ci_action.core.event import PullRequest
from ci_action.core.plan import Commits
from ci_action.core.spec import TargetResult, WorkerSpec
from ci_action.core.verdict import Gate
from ci_action.errors import ConfigError, PublishError

BASE, HEAD = "b" * 40, "a" * 40
CONFIG = 'schema-version = 1\nimport-paths = ["lib"]\nseed = 7\n[[targets]]\nid = "net"\nfactory = "m.py:net"\n'
COMMITS = Commits(base_sha=BASE, head_sha=HEAD, measured_sha=HEAD, base_reason="test")
PULL = PullRequest(
    number=7,
    head_sha=HEAD,
    head_ref="f",
    head_repository="o/r",
    base_sha=BASE,
    base_ref="main",
    base_repository="o/r",
)


@dataclass
class FakeGit:
    """Commits as dicts of files; worktrees as empty folders."""

    folder: Path
    files: dict[str, dict[str, str]]
    odd: dict[tuple[str, str], CommittedFile] = field(default_factory=dict)
    live: set[str] = field(default_factory=set)
    filled: list[tuple[str, bool, bool]] = field(default_factory=list)

    def read(self, sha: str, path: str) -> CommittedFile:
        return self.odd.get((sha, path), CommittedFile(text=self.files.get(sha, {}).get(path)))

    changed: list[str] | PublishError = field(default_factory=lambda: ["docs/x.md"])

    def changed_paths(self, base: str, head: str) -> list[str]:
        if isinstance(self.changed, PublishError):
            raise self.changed
        return self.changed

    @contextmanager
    def worktree(self, sha: str, name: str, *, submodules: bool = False, lfs: bool = False) -> Iterator[Path]:
        self.filled.append((name, submodules, lfs))
        path = self.folder / name
        for file in [Path("x"), *map(Path, self.files[sha])]:
            (path / file).parent.mkdir(parents=True, exist_ok=True)
        self.live.add(name)
        try:
            yield path
        finally:
            self.live.discard(name)


@dataclass
class FakeMeasurer:
    """Remembers what it was asked, and whether the worktrees were there."""

    git: FakeGit
    specs: list[WorkerSpec] = field(default_factory=list)
    parallel: bool | None = None
    live: set[str] = field(default_factory=set)

    def measure(self, specs: Sequence[WorkerSpec], *, parallel: bool) -> list[list[TargetResult]]:
        self.specs, self.parallel, self.live = list(specs), parallel, set(self.git.live)
        return [[] for _ in specs]

    def benchmark(self, jobs: Sequence[Any]) -> dict[str, Any]:
        return {}


def both(tmp_path: Path, base: str | None = CONFIG, head: str | None = CONFIG, place: str = "") -> FakeGit:
    files = {BASE: {f"{place}torchscan.toml": base}, HEAD: {f"{place}torchscan.toml": head}}
    return FakeGit(tmp_path, {sha: {k: v for k, v in there.items() if v is not None} for sha, there in files.items()})


def measured(git: FakeGit, tmp_path: Path, **options: Any) -> FakeMeasurer:
    prepared = prepare(options.pop("commits", COMMITS), git, **options)  # type: ignore[arg-type]
    measurer = FakeMeasurer(git)
    measure(prepared.plan, git, measurer, checkout=tmp_path / "checkout")  # type: ignore[arg-type]
    return measurer


def test_both_sides_are_measured_at_once_each_in_its_own_worktree(tmp_path: Path) -> None:
    asked = measured(both(tmp_path), tmp_path, pull_request=PULL)
    assert [spec["side"] for spec in asked.specs] == ["base", "head"]
    assert [Path(spec["worktree"]).name for spec in asked.specs] == ["base", "head"]
    assert {spec["checkout"] for spec in asked.specs} == {str(tmp_path / "checkout")}
    assert (asked.specs[0]["seed"], asked.specs[0]["import_paths"]) == (7, ["lib"])
    assert asked.parallel is True
    assert asked.live == {"base", "head"}


@pytest.mark.parametrize("repository", ["mallory/r", None])
def test_base_is_done_before_the_code_of_a_fork_starts(tmp_path: Path, repository: str | None) -> None:
    fork = replace(PULL, head_repository=repository)
    assert measured(both(tmp_path), tmp_path, pull_request=fork).parallel is False


def test_the_seed_is_bases_and_the_import_paths_are_each_sides_own(tmp_path: Path) -> None:
    edited = CONFIG.replace("seed = 7", "seed = 8").replace('"lib"', '"python"')
    base, head = measured(both(tmp_path, head=edited), tmp_path).specs
    assert (base["seed"], head["seed"]) == (7, 7)
    assert (base["import_paths"], head["import_paths"]) == (["lib"], ["python"])


def test_what_a_worktree_is_filled_with_is_bases_word_on_both_sides(tmp_path: Path) -> None:
    git = both(tmp_path, head=CONFIG.replace("seed = 7", "seed = 7\nlfs = true\nsubmodules = true"))
    measured(git, tmp_path)
    assert git.filled == [("base", False, False), ("head", False, False)]
    git = both(tmp_path, base=CONFIG.replace("seed = 7", "seed = 7\nlfs = true"))
    measured(git, tmp_path)
    assert git.filled == [("base", False, True), ("head", False, True)]
    git = both(tmp_path, base=CONFIG.replace("seed = 7", "seed = 7\nsubmodules = true"))
    measured(git, tmp_path)
    assert git.filled == [("base", True, False), ("head", True, False)]


def test_without_a_base_head_alone_is_measured(tmp_path: Path) -> None:
    asked = measured(both(tmp_path), tmp_path, commits=replace(COMMITS, base_sha=None), problem="no base")
    assert [spec["side"] for spec in asked.specs] == ["head"]


def test_a_package_of_a_monorepo_is_the_root_of_its_worker(tmp_path: Path) -> None:
    asked = measured(both(tmp_path, place="packages/a/"), tmp_path, working_directory="packages/a")
    assert asked.specs[1]["root"] == str((tmp_path / "head" / "packages" / "a").resolve())
    assert asked.specs[1]["worktree"] == str(tmp_path / "head")


def test_a_problem_is_never_a_pass(tmp_path: Path) -> None:
    prepared = prepare(replace(COMMITS, base_sha=None), both(tmp_path), problem="no base")  # type: ignore[arg-type]
    verdict = conclude(prepared, Evidence(base=[], head=[]))
    assert (verdict.outcome, verdict.exit_code) == (Gate.UNKNOWN, 3)
    assert verdict.notes == ("no base",)  # told once, and not as a base without a config
    assert prepared.plan.why_report_only == "base cannot be had"


def test_results_that_never_came_are_not_a_pass(tmp_path: Path) -> None:
    verdict = conclude(prepare(COMMITS, both(tmp_path)), Evidence(base=[], head=[]))  # type: ignore[arg-type]
    assert verdict.exit_code == 3


def test_a_wrong_config_on_base_is_a_problem_and_on_head_an_error(tmp_path: Path) -> None:
    wrong = CONFIG + "unknown-key = 1\n"
    prepared = prepare(COMMITS, both(tmp_path, base=wrong))  # type: ignore[arg-type]
    assert prepared.plan.is_report_only
    assert "nothing is judged until its fix is merged" in prepared.problem
    with pytest.raises(ConfigError, match="unknown-key"):
        prepare(COMMITS, both(tmp_path, head=wrong))  # type: ignore[arg-type]


UNREADABLE = ("a symbolic link, which is not followed", "a folder", "larger than 1 MiB", "not UTF-8 text")


@pytest.mark.parametrize("problem", UNREADABLE)
def test_a_config_on_base_that_is_no_text_can_be_mended_by_a_pull_request(tmp_path: Path, problem: str) -> None:
    git = both(tmp_path)
    git.odd[BASE, "torchscan.toml"] = CommittedFile(problem=problem)
    prepared = prepare(COMMITS, git)  # type: ignore[arg-type]
    verdict = conclude(prepared, Evidence(base=[], head=[result("head")]))
    assert (verdict.outcome, verdict.exit_code) == (Gate.UNKNOWN, 3)
    # told once, and not as a base without a config
    (note,) = verdict.notes
    assert f"torchscan.toml is {problem}: put a plain" in note
    assert prepared.plan.why_report_only == "base's config is not valid"


@pytest.mark.parametrize("problem", UNREADABLE)
def test_the_same_on_head_is_an_error_beside_the_file(tmp_path: Path, problem: str) -> None:
    git = both(tmp_path)
    git.odd[HEAD, "torchscan.toml"] = CommittedFile(problem=problem)
    with pytest.raises(ConfigError, match=problem) as caught:
        prepare(COMMITS, git)  # type: ignore[arg-type]
    assert (caught.value.file, caught.value.exit_code) == ("torchscan.toml", 2)


def test_a_broken_base_whose_config_head_deletes_is_not_taken_for_no_config_at_all(tmp_path: Path) -> None:
    git = both(tmp_path)
    git.odd[BASE, "torchscan.toml"], git.odd[HEAD, "torchscan.toml"] = CommittedFile(problem="a folder"), ABSENT
    with pytest.raises(ConfigError, match="head has no config, so nothing can be measured; base's config is not valid"):
        prepare(COMMITS, git)  # type: ignore[arg-type]


def test_a_target_whose_paths_did_not_change_is_not_measured(tmp_path: Path) -> None:
    narrow = CONFIG + 'paths = ["src"]\n'
    assert measured(both(tmp_path, base=narrow, head=narrow), tmp_path).specs == []


@pytest.mark.parametrize(
    ("changed", "separate", "named"),
    [
        (["requirements.txt", "net.py"], "", ("requirements.txt",)),
        (["requirements.txt"], 'environment = "separate"\ninstall = ["true"]\n', ()),
        (["net.py"], "", ()),
        (PublishError("GitHub lists no files"), "", ()),
    ],
)
def test_changed_dependencies_are_named_where_both_sides_share_an_environment(
    tmp_path: Path, changed: Any, separate: str, named: tuple[str, ...]
) -> None:
    asked = 'paths = ["src"]\n' if separate else ""  # where the owner's paths ask for the changed files anyway
    git = both(tmp_path, separate + CONFIG + asked, CONFIG)
    git.changed = changed
    assert prepare(COMMITS, git).plan.changed_dependencies == named


def test_without_a_base_no_dependency_is_called_changed(tmp_path: Path) -> None:
    git = both(tmp_path)
    git.changed = ["requirements.txt"]
    assert prepare(replace(COMMITS, base_sha=None), git).plan.changed_dependencies == ()
