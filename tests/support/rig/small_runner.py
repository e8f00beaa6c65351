"""A small runner of the tests' own: it runs the real steps of action.yml as an unprivileged user.

It lets a test set everything that a job sets, look at every file that a step can write, and start the next step with
what the one before left behind. ``act`` (runner.py) is the proof that a real runner agrees with it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from support.components import need
from support.rig.runner_language import Command, commands, file_entries

FILES = {
    "GITHUB_OUTPUT": "set_output_",
    "GITHUB_ENV": "set_env_",
    "GITHUB_PATH": "add_path_",
    "GITHUB_STATE": "save_state_",
    "GITHUB_STEP_SUMMARY": "step_summary_",
}
"""Variable to how actions/runner begins the name of the step's own file, in RUNNER_TEMP/_runner_file_commands."""
NOBODY = 65534
STEP_SECONDS = 240
_WORDS = re.compile(r"'[^']*'|\|\||&&|==|!=|!|[()]|[a-z_]+(?:\.[\w-]+)+|\s+")


@dataclass
class Step:
    """One step as it went."""

    id: str
    rc: int
    printed: str
    outputs: dict[str, str]
    environment: dict[str, str]
    summary: str

    @property
    def commands(self) -> list[Command]:
        """The commands on which a runner would have acted."""
        return commands(self.printed)


@dataclass
class SmallRunner:
    """One job: a workspace, its environment, and the context ``github``. All folders lie in ``folder``."""

    folder: Path
    action: Path
    github: Mapping[str, str]
    environment: Mapping[str, str] = field(default_factory=dict)
    between: Mapping[str, Any] = field(default_factory=dict)
    """By a step's id: what happens before it, called with the runner."""
    steps: dict[str, Step] = field(default_factory=dict)

    @property
    def workspace(self) -> Path:
        """Where the job's checkout is."""
        return self.folder / "work space"

    @property
    def temp(self) -> Path:
        """RUNNER_TEMP."""
        return self.folder / "temp"

    @property
    def artifacts(self) -> Path:
        """Where uploads go, and downloads come from."""
        return self.folder / "artifacts"

    def run(self, **inputs: str) -> dict[str, Step]:
        """Run all steps for some inputs (``_`` for ``-``), each if its condition holds and none failed before."""
        definition = yaml.safe_load((self.action / "action.yml").read_text(encoding="utf-8"))
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        known = {name: str(given.get(name, entry["default"])) for name, entry in definition["inputs"].items()}
        context = _Context(self.github, known, self.steps)
        context.inputs = {name: context.filled(value) for name, value in known.items()}
        for folder in (self.workspace, self.temp / "_runner_file_commands", self.artifacts):
            folder.mkdir(parents=True, exist_ok=True)
        _own(self.folder)
        for step in definition["runs"]["steps"]:
            has_failed = any(done.rc for done in self.steps.values())
            if has_failed or not context.truth(str(step.get("if", "true"))):
                continue
            if step["id"] in self.between:
                self.between[step["id"]](self)
            self.steps[step["id"]] = self._uses(step, context) if "uses" in step else self._runs(step, context)
        return self.steps

    def _runs(self, step: Mapping[str, Any], context: _Context) -> Step:
        files = {name: self._file(prefix) for name, prefix in FILES.items()}
        script = self._file("script_")
        script.write_text(step["run"], encoding="utf-8")
        own = {name: context.filled(str(value)) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            [*_without_rights(), *_shell(step["shell"], script)],
            cwd=self.workspace,
            env={**self._base(), **self._so_far(), **own, **{name: str(path) for name, path in files.items()}},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=STEP_SECONDS,
            check=False,
            **_as_nobody(),
        )
        left = {name: _text(path) for name, path in files.items()}
        environment = file_entries(left["GITHUB_ENV"])
        if left["GITHUB_PATH"].strip():
            environment["PATH"] = os.pathsep.join([*left["GITHUB_PATH"].split(), self._so_far().get("PATH", "")])
        outputs = file_entries(left["GITHUB_OUTPUT"])
        printed = done.stdout + done.stderr
        return Step(step["id"], done.returncode, printed, outputs, environment, left["GITHUB_STEP_SUMMARY"])

    def _uses(self, step: Mapping[str, Any], context: _Context) -> Step:
        """Stand in for actions/upload-artifact and actions/download-artifact, by folders."""
        given = {name: context.filled(str(value)) for name, value in step["with"].items()}
        path = Path(given["path"])
        if "upload-artifact" in step["uses"]:
            target = self.artifacts / given["name"]
            shutil.rmtree(target, ignore_errors=True)
            if path.is_dir():
                shutil.copytree(path, target)
            else:
                target.mkdir()
                shutil.copy(path, target)
        else:
            for found in sorted(self.artifacts.glob(given["pattern"])):
                shutil.copytree(found, path / found.name)
        _own(self.folder)
        return Step(step["id"], 0, "", {"artifact-url": "https://github.com/o/r/artifact"}, {}, "")

    def _base(self) -> dict[str, str]:
        path = f"{Path(os.path.realpath(shutil.which('python3') or '')).parent}:/usr/local/bin:/usr/bin:/bin"
        return {
            "PATH": path,
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.temp),
            **{f"GITHUB_{name.upper()}": value for name, value in self.github.items() if name != "token"},
        }

    def _so_far(self) -> dict[str, str]:
        """The job's environment, and what earlier steps made of it. The runner's own variables cannot be set."""
        merged = dict(self.environment)
        for done in self.steps.values():
            own = {
                name: value for name, value in done.environment.items() if not name.startswith(("GITHUB_", "RUNNER_"))
            }
            merged |= own
        return merged

    def _file(self, prefix: str) -> Path:
        path = self.temp / "_runner_file_commands" / f"{prefix}{uuid.uuid4()}"
        path.touch()
        _own(path)
        return path


@dataclass
class _Context:
    """What expressions see."""

    github: Mapping[str, str]
    inputs: Mapping[str, str]
    steps: Mapping[str, Step]

    def filled(self, text: str) -> str:
        """Fill every ``${{ }}``. An expression of an unknown form is an error."""
        return re.sub(r"\$\{\{(.*?)\}\}", lambda found: _shown(self._value(found[1])), text)

    def truth(self, condition: str) -> bool:
        """Evaluate an ``if:``."""
        return condition == "true" or bool(self._value(condition))

    def _value(self, expression: str) -> Any:
        words = _WORDS.findall(expression)
        if "".join(words) != expression:
            raise ValueError(f"the small runner does not know this expression: {expression!r}")
        table = {"||": " or ", "&&": " and ", "!": " not "}
        python = "".join(
            table.get(word, f"name({word!r})" if "." in word and word[0] != "'" else word) for word in words
        )
        return eval(python.strip(), {"__builtins__": {}}, {"name": self._name})  # the words above are all there are

    def _name(self, name: str) -> str:
        room, _, rest = name.partition(".")
        if room == "inputs":
            return self.inputs[rest]
        if room == "github":
            return self.github[rest]
        step, _, output = rest.partition(".outputs.")
        return self.steps[step].outputs.get(output, "") if step in self.steps else ""


def _shell(template: str, script: Path) -> list[str]:
    """Return the command of a step's ``shell:``. A runner looks for it on its own PATH, not on a job's."""
    program, *options = template.split()
    return [shutil.which(program) or program, *(str(script) if word == "{0}" else word for word in options)]


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() and not path.is_symlink() else ""


@cache
def _nobody_may() -> bool:
    """Check whether another user can start this interpreter: one in root's home can be started by root alone."""
    needed = [Path(os.path.realpath(sys.executable)), Path(sys.executable).absolute()]
    return os.geteuid() == 0 and all(parent.stat().st_mode & 0o001 for path in needed for parent in path.parents)


def _as_nobody() -> dict[str, Any]:
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if _nobody_may() else {}


def _without_rights() -> list[str]:
    """Return a prefix that takes all of root's capabilities away, where the steps must stay root to reach anything."""
    if os.geteuid() != 0 or _nobody_may():
        return []
    return [str(need("setpriv")), "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs"]


def _own(path: Path) -> None:
    """Let the steps' user own a tree."""
    if _nobody_may():
        subprocess.run(["chown", "-Rh", f"{NOBODY}:{NOBODY}", str(path)], check=True)
