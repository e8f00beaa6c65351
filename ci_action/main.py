"""``torchscan-ci``: the commands, and the one place where an error becomes an exit code."""

from __future__ import annotations

import os
import platform
import signal
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ci_action.edges.commands import MESSAGE_CHARACTERS, annotation, visible
from ci_action.edges.printer import inert_streams, send_command
from ci_action.errors import ActionError, ConfigError
from torchscan import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
USAGE = 2
COMMANDS = {
    "init": "ci_action.commands.init:init",
    "run": "ci_action.commands.run:run",
    "check": "ci_action.commands.check:check",
    "demo": "ci_action.commands.demo:demo",
    "plan": "ci_action.commands.stages:plan",
    "measure": "ci_action.commands.stages:measure",
    "merge": "ci_action.commands.split:merge",
    "pack": "ci_action.commands.split:pack",
    "receive": "ci_action.commands.split:receive",
    "compare": "ci_action.commands.stages:compare",
    "render": "ci_action.commands.stages:render",
    "publish": "ci_action.commands.stages:publish",
    "gate": "ci_action.commands.stages:gate",
}


class LazyGroup(click.Group):
    """Loads a command's module when that command is asked for: start-up stays short."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of their use."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        module, _, name = COMMANDS[cmd_name].partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command), f"{COMMANDS[cmd_name]} is no command"  # noqa: S101 # the table is ours
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="torchscan-ci")
def cli() -> None:
    """Compare what a pull request makes of its PyTorch models, by limits that the repository's owner wrote."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Exit codes: 0 ok, 1 over a limit, 2 config or usage, 3 not judged, 4 not published, 70, 130."""
    _speak_utf8()
    signal.signal(signal.SIGTERM, _interrupt)
    with inert_streams(is_runner=_is_runner()):
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        return int(cli.main(arguments, prog_name="torchscan-ci", standalone_mode=False) or 0)
    except ConfigError as error:
        return _fail(str(error), error.exit_code, place=error)
    except ActionError as error:
        return _fail(str(error), error.exit_code)
    except click.ClickException as error:
        error.show()
        return USAGE
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 # the last line of defence: a report instead of a traceback
        return _fail(bug_report(error), ActionError.exit_code)


def bug_report(error: BaseException) -> str:
    """A report ready to paste: where in our own code, with no message, path, argument or value that may be secret."""
    ours = Path(__file__).resolve().parent
    frames = [
        f"  {Path(frame.filename).resolve().relative_to(ours).as_posix()}:{frame.lineno} in {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).resolve().is_relative_to(ours)
    ]
    facts = f"torchscan {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    lines = [
        "this is a bug in torchscan-ci; please report the lines below",
        facts,
        f"{type(error).__name__} at",
        *frames,
    ]
    return "\n".join(lines)


def _fail(message: str, code: int, *, place: ConfigError | None = None) -> int:
    if not _is_runner():
        click.echo(f"error: {message}", err=True)
        return code
    if os.environ.get("GITHUB_EVENT_NAME") == "workflow_run" and place and place.place:
        # A run with rights repeats no word of a pull request's config, and its annotations stand on another commit.
        message, place = f"the config of the measured head is not valid, see {place.place} there", None
    where, line, column = (place.file, place.line, place.column) if place else (None, None, None)
    send_command(annotation("error", message, file=where, line=line, column=column))
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            quoted = "\n".join(f"    {visible(line)}" for line in message[:MESSAGE_CHARACTERS].splitlines())
            file.write(f"### 🚫 TorchScan did not run\n\n{quoted}\n")
    return code


def _is_runner() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def _speak_utf8() -> None:
    """Reports hold −, → and ✅; a console's own code page must not break them."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="replace")


def _interrupt(*_: object) -> NoReturn:
    """The runner cancels with SIGTERM: worktrees and workers are cleaned up as on Ctrl-C."""
    raise KeyboardInterrupt
