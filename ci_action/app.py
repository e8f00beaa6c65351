"""The pipeline: plan, measure both sides, compare, judge, render."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ci_action.core.comparing import compare
from ci_action.core.config.file import find_config, load_config
from ci_action.core.dependencies import dependency_files
from ci_action.core.judging import judge
from ci_action.core.planning import make_plan, target_specs
from ci_action.core.spec import SPEC_VERSION, Side, TargetResult, WorkerSpec
from ci_action.core.timing.lockstep import benchmark_jobs
from ci_action.core.timing.rows import with_timings
from ci_action.core.verdict import Gate
from ci_action.errors import ConfigError, GitError, PublishError

if TYPE_CHECKING:
    from pathlib import Path

    from ci_action.core.config.entries import Config
    from ci_action.core.event import PullRequest
    from ci_action.core.plan import Commits, Plan
    from ci_action.core.timing.evidence import BenchmarkEvidence
    from ci_action.core.verdict import Acceptance, Verdict
    from ci_action.ports import ConfigSource, Git, Measurer


UNREADABLE = "\0"
"""Stands for a file that is no text of a reasonable size: it parses as nothing, so it counts as changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What will be measured. ``problem`` says why nothing can be judged although head can be measured."""

    plan: Plan
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the workers said of each side."""

    base: list[TargetResult]
    head: list[TargetResult]
    benchmarks: dict[str, BenchmarkEvidence] = field(default_factory=dict)
    """What was timed, by the target's id."""


def prepare(
    commits: Commits,
    git: ConfigSource,
    *,
    working_directory: str = ".",
    pull_request: PullRequest | None = None,
    problem: str = "",
) -> Prepared:
    """Read both configs as the commits have them and decide what is measured.

    Raises ConfigError for a head config that is wrong. A wrong base config cannot be mended by anything but a merge,
    so head is reported and nothing is judged.
    """
    base_config, base_fault = None, "base cannot be had" if problem else ""
    judging = commits.policy_sha or commits.base_sha
    if commits.base_sha is not None and judging is not None:
        try:
            base_config = config_at(judging, git, working_directory)
        except ConfigError as error:
            base_fault = "base's config is not valid"
            problem = problem or f"base's config is not valid, so nothing is judged until its fix is merged: {error}"
    head_config = config_at(commits.head_config_sha or commits.measured_sha, git, working_directory)
    if base_fault and head_config is None:
        raise ConfigError(f"head has no config, so nothing can be measured; {problem}")
    changed = _changed_paths(commits, base_config, head_config, git)
    plan = make_plan(
        commits,
        base_config=base_config,
        head_config=head_config,
        own_base_config=_own_base_config(commits, git, working_directory),
        pull_request=pull_request,
        working_directory=working_directory,
        changed_paths=changed,
        base_fault=base_fault,
    )
    return Prepared(plan=replace(plan, changed_dependencies=_dependencies(plan, changed, git)), problem=problem)


def _own_base_config(commits: Commits, git: ConfigSource, working_directory: str) -> Config | None:
    """Return the config of the measured base, where another commit judges. One that is wrong says nothing."""
    if commits.base_sha is None or commits.policy_sha in {None, commits.base_sha}:
        return None
    with suppress(ConfigError):
        return config_at(commits.base_sha, git, working_directory)
    return None


def config_at(sha: str, git: ConfigSource, working_directory: str) -> Config | None:
    """The config of one commit, or None where it has none. Raises ConfigError."""
    found = find_config(lambda path: git.read(sha, path), working_directory=working_directory)
    return load_config(found.text, source=found.source, kind=found.kind) if found else None


def measure(plan: Plan, git: Git, measurer: Measurer, *, checkout: Path) -> Evidence:
    """Measure both sides in detached worktrees: at once, or base first where head's code comes from a fork [S20]."""
    is_foreign = plan.pull_request is not None and plan.pull_request.is_fork
    with ExitStack() as stack:
        specs = []
        for side, sha in (("base", plan.commits.base_sha), ("head", plan.commits.measured_sha)):
            spec = _spec(plan, side)  # type: ignore[arg-type] # mypy widens the literals of the tuple
            if sha is not None and spec["targets"]:
                worktree = git.worktree(sha, side, submodules=plan.policy.submodules, lfs=plan.policy.lfs)
                specs.append(_placed(spec, stack.enter_context(worktree), plan, checkout))
        results = measurer.measure(specs, parallel=not is_foreign)
        benchmarks = measurer.benchmark(benchmark_jobs(plan, specs, failed=_failed(results)))
    by_side = {spec["side"]: found for spec, found in zip(specs, results, strict=True)}
    return Evidence(base=by_side.get("base", []), head=by_side.get("head", []), benchmarks=benchmarks)


def conclude(prepared: Prepared, evidence: Evidence, *, accepted: Acceptance | None = None) -> Verdict:
    """Compare and judge. What could not be judged is never a pass."""
    plan = prepared.plan
    compared = with_timings(plan, compare(plan, evidence.base, evidence.head), evidence.benchmarks)
    verdict = judge(plan, compared, accepted=accepted)
    if not prepared.problem:
        return verdict
    code = verdict.exit_code or GitError.exit_code
    outcome = Gate.FAIL if verdict.outcome is Gate.FAIL else Gate.UNKNOWN
    return replace(verdict, outcome=outcome, exit_code=code, notes=(prepared.problem, *verdict.notes))


def _failed(results: list[list[TargetResult]]) -> set[str]:
    """What one side could not even analyse is not timed: it would only fail again."""
    return {result["id"] for side in results for result in side if result["failure"]}


def _changed_paths(commits: Commits, base: Config | None, head: Config | None, git: ConfigSource) -> list[str] | None:
    """List what changed: the owner may skip targets by path, and one environment for both sides hides what it needs."""
    config = base or head
    if commits.base_sha is None or config is None:
        return None
    if base is not None and any(target.paths for target in base.targets):
        return git.changed_paths(commits.base_sha, commits.measured_sha)
    if config.environment != "shared":
        return None
    try:
        return git.changed_paths(commits.base_sha, commits.measured_sha)
    except PublishError:  # a note is not worth the report
        return None


def _dependencies(plan: Plan, changed: list[str] | None, git: ConfigSource) -> tuple[str, ...]:
    """Name the changed files that say what is installed, where no side has an installation of its own."""
    base, head = plan.commits.base_sha, plan.commits.measured_sha
    if base is None or plan.policy.environment != "shared":
        return ()

    def text(sha: str, path: str) -> str | None:
        found = git.read(sha, path)
        return UNREADABLE if found.problem else found.text

    return dependency_files(changed or (), lambda path: (text(base, path), text(head, path)))


def _spec(plan: Plan, side: Side) -> WorkerSpec:
    own = plan.side_config(side)
    return {
        "version": SPEC_VERSION,
        "side": side,
        "root": "",
        "worktree": "",
        "checkout": "",
        "import_paths": list((own or plan.policy).import_paths),
        "out": "",
        "seed": plan.policy.seed,
        "threads": plan.policy.threads,
        "targets": target_specs(plan, side),
    }


def _placed(spec: WorkerSpec, worktree: Path, plan: Plan, checkout: Path) -> WorkerSpec:
    root = worktree / plan.working_directory
    if not root.is_dir():
        raise ConfigError(f"the working directory {plan.working_directory!r} does not exist on {spec['side']}")
    return {**spec, "root": str(root.resolve()), "worktree": str(worktree), "checkout": str(checkout)}
