"""The Sink port: where a run's words go, on a runner and on somebody's own machine."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ci_action.edges.commands import annotation, defused, output_block, replayed, visible
from ci_action.edges.printer import send_command
from ci_action.errors import ActionError

if TYPE_CHECKING:
    from collections.abc import Mapping

SUMMARY_FILE_BYTES = (1 << 20) - 4096  # the runner drops a summary above 1 MiB
SUMMARY_OWN_BYTES = 900 << 10
ANNOTATIONS_PER_KIND = 10
STEP_FILES = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
"""What a step can tell the later ones: https://docs.github.com/actions/reference/workflows-and-actions/variables"""


def beside(report: Path, name: str) -> Path:
    """Return a folder of this use of the action that is not uploaded with the report."""
    return report.with_name(f"{report.name}-{name}")


class FolderSink:
    """A run on somebody's own machine: files in one folder, progress and warnings on standard error."""

    def __init__(self, folder: Path, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.folder = folder
        self._quiet = quiet
        self._given_stream = stream

    def write_file(self, name: str, text: str) -> Path:
        """Write ``name`` into the folder. A link at its place is replaced, never followed."""
        path = self.folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ActionError(f"{name!r} is not the name of a file in the report's folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.parent.resolve().is_relative_to(self.folder.resolve()):
            raise ActionError(f"{name!r} leads out of the report's folder")
        unfinished = path.with_name(f".{path.name}.unfinished")
        unfinished.unlink(missing_ok=True)
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        os.replace(unfinished, path)  # noqa: PTH105 # replaces on every system, and replaces a link itself
        return path

    def summary(self, markdown: str) -> None:
        """Nothing: there is no step summary here."""

    def outputs(self, values: Mapping[str, str]) -> None:
        """Nothing: there are no step outputs here."""

    def empty_files(self) -> None:
        """Nothing: there are no files of a step here."""

    def annotate(self, kind: str, message: str, *, file: str | None = None, line: int | None = None) -> None:
        """One line with the kind and the place."""
        place = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        self._say(f"{kind}: {place}{message}")

    def progress(self, line: str) -> None:
        """One finished line, unless the run is quiet."""
        if not self._quiet:
            self._say(line)

    def replay(self, title: str, text: str) -> None:
        """What measured code printed, indented."""
        if text.strip() and not self._quiet:
            self._say("\n".join([f"{title}:", *(f"    {line}" for line in text.splitlines()[-40:])]))

    @property
    def _stream(self) -> TextIO:
        return self._given_stream or sys.stderr

    def _say(self, text: str) -> None:
        self._stream.write("".join(f"{self._harmless(line)}\n" for line in text.split("\n")))
        self._stream.flush()

    def _harmless(self, line: str) -> str:
        return visible(line)


class RunnerSink(FolderSink):
    """A step in Actions: also outputs, step summary, annotations, and foreign output that can command nothing."""

    def __init__(self, folder: Path, environ: Mapping[str, str], *, quiet: bool = False) -> None:
        super().__init__(folder, quiet=quiet)
        self._environ = environ
        self._output_file = environ.get("GITHUB_OUTPUT", "")
        self._summary_file = environ.get("GITHUB_STEP_SUMMARY", "")
        self._annotated: dict[str, int] = {}

    def summary(self, markdown: str) -> None:
        """Append to the step summary as far as it fits: above its limit the runner shows nothing at all [B22]."""
        if not self._summary_file:
            return
        path = Path(self._summary_file)
        there = path.stat().st_size if path.exists() else 0
        room = min(SUMMARY_OWN_BYTES, SUMMARY_FILE_BYTES - there)
        if len(markdown.encode()) > room:
            self.annotate("warning", "the job summary is full: see the comment or the artifact for the report")
            return
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{markdown}\n")

    def outputs(self, values: Mapping[str, str]) -> None:
        """Write step outputs."""
        if self._output_file:
            with Path(self._output_file).open("a", encoding="utf-8", newline="\n") as file:
                file.write("".join(output_block(name, value) for name, value in values.items()))

    def empty_files(self) -> None:
        """Make the step's files anew, empty: measured code finds them by listing the runner's temporary folder.

        To be called once everything that was measured has ended, and before anything is written.
        """
        for path in map(Path, filter(None, (self._environ.get(name) for name in STEP_FILES))):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)  # a link goes, and not what it leads to
            path.touch()

    def annotate(self, kind: str, message: str, *, file: str | None = None, line: int | None = None) -> None:
        """An annotation; beyond what GitHub shows of a kind, a plain line."""
        self._annotated[kind] = self._annotated.get(kind, 0) + 1
        if self._annotated[kind] > ANNOTATIONS_PER_KIND:
            self._say(f"{kind}: {message}")
        else:
            send_command(annotation(kind, message, file=file, line=line), self._stream)

    def replay(self, title: str, text: str) -> None:
        """What measured code printed, folded and without power."""
        if text.strip():
            send_command(replayed(title, text), self._stream)

    def _harmless(self, line: str) -> str:
        return defused(line)
