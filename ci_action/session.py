"""Wiring: the edges of one run, built from the environment and the command line."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ci_action.core.facts import Facts
from ci_action.core.handover.labels import Label
from ci_action.core.handover.shards import parse_shard
from ci_action.core.planning import installs
from ci_action.edges.environ import ActionInputs, Runner, read_inputs, read_runner
from ci_action.edges.git.repository import GitRepository
from ci_action.edges.outputs import FolderSink, RunnerSink, beside
from ci_action.edges.plan_file import read_plan
from ci_action.edges.progress import Progress
from ci_action.edges.workers.place import ChildLimits
from ci_action.errors import ConfigError
from torchscan import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ci_action.core.handover.shards import Shard
    from ci_action.core.modes import StatusKind
    from ci_action.core.plan import Plan
    from ci_action.core.spec import TargetResult
    from ci_action.edges.evidence_folder import EvidenceRecord
    from ci_action.edges.github.api import Api
    from ci_action.edges.plan_file import RecordedPlan
    from ci_action.edges.workers.child import ChildMeasurer
    from ci_action.ports import Checks, GitHub


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One invocation: where it runs, what it was given, where its words go."""

    inputs: ActionInputs
    runner: Runner
    sink: FolderSink
    directory: Path
    scratch: Path

    def git(self) -> GitRepository:
        """The repository around the working directory."""
        return GitRepository(
            self.directory,
            scratch=self.scratch,
            trust=self.runner.is_actions,
            token=self.inputs.token or None,
            server_url=self.runner.server_url,
            repository=self.runner.repository,
        )

    def plan(self) -> RecordedPlan:
        """Return what the plan stage decided and read. Raises EvidenceError."""
        return read_plan(beside(self.sink.folder, "plan"), os.environ)

    def working_directory(self, git: GitRepository) -> str:
        """The working directory as a path inside the repository."""
        return self.directory.resolve().relative_to(git.top).as_posix()

    def measurer(self, plan: Plan, *, python: str, record: EvidenceRecord | None = None) -> ChildMeasurer:
        """Workers with what the policy config grants them. ``record`` gets what was measured as it comes."""
        from ci_action.edges.workers.child import ChildMeasurer  # most stages measure nothing

        progress = Progress(plan, self.sink)

        def note(result: TargetResult) -> None:
            if record:
                record.add_result(result)
            progress.note(result)

        return ChildMeasurer(
            python=python,
            scratch=self.scratch,
            environ=os.environ,
            pass_env=plan.policy.pass_env,
            limits=ChildLimits(
                timeout_seconds=plan.policy.timeout_seconds, memory_bytes=plan.policy.memory_limit_bytes
            ),
            install=installs(plan),
            on_result=note,
            on_benchmark=record.add_benchmark if record else None,
            on_progress=self.sink.progress,
            on_output=lambda side, text: self.sink.replay(f"output of the measured code, {side}", text),
        )

    def github(self) -> GitHub | None:
        """GitHub, where there is a token; its client is loaded only then."""
        if not self.has_token or self.inputs.mode == "measure":
            return None
        from ci_action.edges.github.client import GitHubRest

        return GitHubRest(
            self.api(),
            self.runner.repository,
            is_installation=self.inputs.token.startswith("ghs_"),
            is_job_token=os.environ.get("TORCHSCAN_IS_JOB_TOKEN", "true") == "true",
        )

    @property
    def has_token(self) -> bool:
        """Whether GitHub can be asked anything."""
        return bool(self.inputs.token and self.runner.repository)

    def api(self) -> Api:
        """GitHub's REST API with this job's token. Raises ConfigError where there is none."""
        if not self.has_token:
            raise ConfigError("input token: found nothing; accepted: a token, such as ${{ github.token }}")
        from ci_action.edges.github.api import Api

        return Api(self.inputs.api_url, self.inputs.token)

    def checks(self) -> Checks | None:
        """Commit statuses and check runs, where there is a token."""
        if not self.has_token:
            return None
        from ci_action.edges.github.checks import ChecksRest

        return ChecksRest(self.api(), self.runner.repository)

    @property
    def shard(self) -> Shard | None:
        """Which part of the targets this job measures."""
        return parse_shard(self.inputs.shard)

    def label(self, shard: Shard | None = None) -> Label:
        """Return what this job's report is a part of."""
        return Label(
            artifact_name=self.inputs.artifact_name,
            working_directory=self.plan().working_directory,
            shard=shard or self.shard,
        )

    @property
    def status(self) -> StatusKind:
        """How the gate is said beside the commit: for another run always, else where the owner asks for it."""
        return self.inputs.status or ("commit" if self.inputs.mode == "publish" else "none")

    def facts(self, *, artifact_url: str | None = None, reproduction: str | None = None) -> Facts:
        """What a report says of this run."""
        runner = self.runner
        return Facts(
            torchscan_version=__version__,
            repository=runner.repository or None,
            server_url=runner.server_url,
            run_id=runner.run_id or None,
            run_attempt=runner.run_attempt,
            workflow_path=runner.workflow_path,
            comment_id=self.inputs.comment_id,
            artifact_url=artifact_url,
            platform=f"{platform.system()} {platform.machine().replace('_', '-')}",
            reproduction=reproduction,
            report_directory=None if runner.is_actions else str(self.sink.folder),
        )


@contextmanager
def open_session(
    *, directory: Path | None = None, out: Path | None = None, quiet: bool = False, use_inputs: bool = True
) -> Iterator[Session]:
    """Build a session and remove its scratch folder at the end. ``out`` takes the report; by default a new folder."""
    runner = read_runner(os.environ)
    inputs = read_inputs(os.environ) if use_inputs else ActionInputs()
    workspace = directory or (runner.workspace / inputs.working_directory if use_inputs else Path.cwd())
    if inputs.mode == "publish":  # it has no checkout
        workspace = runner.workspace
    if not workspace.is_dir():
        todo = "check the repository out before this step, or" if runner.is_actions else "create it, or"
        raise ConfigError(f"there is no folder {str(workspace)!r}: {todo} correct the input working-directory")
    if directory is None and not workspace.resolve().is_relative_to(runner.workspace.resolve()) and use_inputs:
        raise ConfigError(
            f"input working-directory: found {inputs.working_directory!r}; accepted: a path inside the workspace"
        )
    folder = _writable(out.absolute()) if out else Path(tempfile.mkdtemp(prefix="torchscan-report-", dir=runner.temp))
    sink = RunnerSink(folder, os.environ, quiet=quiet) if runner.is_actions else FolderSink(folder, quiet=quiet)
    scratch = Path(tempfile.mkdtemp(prefix="torchscan-", dir=runner.temp)).resolve()
    try:
        yield Session(inputs=inputs, runner=runner, sink=sink, directory=workspace, scratch=scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _writable(folder: Path) -> Path:
    """The report's folder, made now: a measurement must not end in the words that there is no place for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            return folder
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(
            f"--out: nothing can be written into {str(folder)!r} ({reason}); accepted: a folder of yours, new or there"
        ) from error


def default_python() -> str:
    """The interpreter that measures by default: this one if it has torch, else ``python`` on the PATH."""
    import sys

    return sys.executable if find_spec("torch") else "python"
