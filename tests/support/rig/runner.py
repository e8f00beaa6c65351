"""A real Actions runner: act in host mode, with a clean environment, no network, and stand-ins for GitHub's actions."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.components import need
from support.rig.network import Network
from support.rig.repository import Consumer

STAND_INS = Path(__file__).with_name("stand_ins")
ACTION = "frgfm/torchscan-action"
ACTION_SHA = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "ghs_rigtoken0000000000000000000000000000"
TIMEOUT_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Annotation:
    """One ``::error::``, ``::warning::`` or ``::notice::``."""

    kind: str
    message: str
    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Run:
    """What a job left behind."""

    exit_code: int
    log: str
    summary: str
    outputs: Mapping[str, Mapping[str, str]]
    """By step id; a step inside the action is ``scan.plan``."""
    annotations: Sequence[Annotation]
    steps: Mapping[str, str]
    """Step name to success, failure or skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """How to start act: the action under test, the user's interpreter, and where GitHub is."""

    network: Network
    folder: Path
    action: Path
    python: Path
    api_url: str
    results_url: str
    wheelhouse: Path
    run_id: int = 4242
    extra: Mapping[str, str] = field(default_factory=dict)

    def run(self, consumer: Consumer, event_name: str, event: Mapping[str, Any]) -> Run:
        """Run the workflows of ``consumer`` that listen to the event."""
        self.folder.mkdir(parents=True, exist_ok=True)
        event_file = self.folder / "event.json"
        event_file.write_text(json.dumps(event), encoding="utf-8")
        completed = subprocess.run(
            self._command(consumer, event_name, event_file),
            cwd=consumer.clone,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        return _parsed(completed)

    def _environment(self) -> dict[str, str]:
        """Nothing of the developer's environment: in host mode all of it would leak into the steps."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        python_folder = Path(os.path.realpath(sys.executable)).parent
        path = f"{python_folder}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "ACT_DISABLE_VERSION_CHECK": "1"}

    def _command(self, consumer: Consumer, event_name: str, event_file: Path) -> list[str]:
        variables = {
            "GITHUB_API_URL": self.api_url,
            "GITHUB_RUN_ID": str(self.run_id),
            "ACTIONS_RESULTS_URL": f"{self.results_url}/",
            "ACTIONS_RUNTIME_TOKEN": _runtime_token(),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheelhouse),
            "RIG_REMOTE": consumer.remote.as_uri(),
            "RIG_PYTHON": str(self.python),
            "OMP_NUM_THREADS": "1",
            "NO_COLOR": "1",
            "GIT_PAGER": "cat",
            **self.extra,
        }
        options = ["--json", "-P", "ubuntu-latest=-self-hosted", "-e", str(event_file), "--no-cache-server"]
        options += ["--action-cache-path", str(self.folder / "cache"), "--no-skip-checkout"]
        options += ["-s", f"GITHUB_TOKEN={TOKEN}"]
        options += [part for name, value in variables.items() for part in ("--env", f"{name}={value}")]
        options += [part for mapping in self._repositories(consumer) for part in ("--local-repository", mapping)]
        return self.network.command(str(need("act")), event_name, *options)

    def _repositories(self, consumer: Consumer) -> list[str]:
        """Serve every action that the workflows and our action use from disk; one without a stand-in is an error."""
        files = [self.action / "action.yml", *sorted((consumer.clone / ".github" / "workflows").glob("*.y*ml"))]
        text = "\n".join(file.read_text(encoding="utf-8") for file in files)
        used = set(re.findall(r"uses:\s*([\w.-]+/[\w.-]+)[\w./-]*@([\w.-]+)", text))
        return sorted(f"{name}@{ref}={self._stand_in(name)}" for name, ref in used)

    def _stand_in(self, name: str) -> Path:
        folder = self.action if name == ACTION else STAND_INS / name.removeprefix("actions/")
        if not (folder / "action.yml").is_file():
            raise LookupError(f"no stand-in for {name}: add tests/support/rig/stand_ins/{folder.name}/action.yml")
        return folder


def _runtime_token() -> str:
    """Give an unsigned JWT with the scope that the toolkit reads its run and job from."""
    parts = (b'{"alg":"none"}', b'{"scp":"Actions.Results:run1:job1"}', b"unsigned")
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def _parsed(completed: subprocess.CompletedProcess[str]) -> Run:
    lines = [json.loads(line) for line in completed.stdout.splitlines() if line.startswith("{")]
    outputs: dict[str, dict[str, str]] = {}
    for line in lines:
        if line.get("command") == "set-output":
            outputs.setdefault(".".join(line["stepID"]), {})[line["name"]] = line["arg"]
    return Run(
        exit_code=completed.returncode,
        log="\n".join(line["msg"].rstrip("\n") for line in lines if "msg" in line) + completed.stderr,
        summary="".join(line["content"] for line in lines if line.get("command") == "summary"),
        outputs=outputs,
        annotations=[
            Annotation(line["command"], line["arg"], line.get("kvPairs") or {})
            for line in lines
            if line.get("command") in {"error", "warning", "notice"}
        ],
        steps={line["step"]: line["stepResult"] for line in lines if "stepResult" in line and "step" in line},
    )
