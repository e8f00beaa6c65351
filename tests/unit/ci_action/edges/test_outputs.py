"""What we write to the runner can say nothing but what we mean."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest

from ci_action.edges.commands import annotation, defused, output_block, replayed
from ci_action.edges.outputs import FolderSink, RunnerSink
from ci_action.errors import ActionError


def test_an_annotation_stays_one_command_on_one_line() -> None:
    said = annotation("error", "100% over\n::set-output name=x::y", file="a,b:c.toml", line=3)
    assert said == "::error title=TorchScan,file=a%2Cb%3Ac.toml,line=3::100%25 over%0A::set-output name=x::y"


@pytest.mark.parametrize("file", ["a::error::b", "a,line=9,b", "a%0A::b", "a\r\n::set-output name=x::y", "a\nb:c,d%"])
def test_no_file_name_can_end_a_property_or_its_command(file: str) -> None:
    said = annotation("error", "x", file=file, line=3, column=7)
    command = re.fullmatch(r"::error title=TorchScan,file=([^:,\r\n]*),line=3,col=7::x", said)
    assert command is not None
    decoded = command[1]
    for code, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):  # as the runner does
        decoded = decoded.replace(code, char)
    assert decoded == file


def test_a_column_without_a_line_is_left_out() -> None:
    assert annotation("error", "x", file="a", column=7) == "::error title=TorchScan,file=a::x"


def test_a_long_message_is_cut_to_what_is_shown() -> None:
    assert len(annotation("notice", "x" * 10_000)) < 4096


@pytest.mark.parametrize(
    "line",
    [
        "::set-output name=a::b",
        "  ::add-mask::a",
        "\t::error::x",
        "x ##[error]pwn",
        "##[add-mask]a",
        "\x1b[2J::error::x",
    ],
)
def test_a_foreign_line_can_command_nothing(line: str) -> None:
    shown = defused(line)
    assert not shown.lstrip().startswith("::")
    assert "##[" not in shown
    assert "\x1b" not in shown


def test_an_ordinary_line_is_left_as_it_is() -> None:
    assert defused("  loss: 0.5  C::D ## [x] é") == "  loss: 0.5  C::D ## [x] é"


def test_foreign_output_stands_between_stop_commands_with_a_secret_token() -> None:
    one, two = replayed("out", "a\n::error::x"), replayed("out", "a")
    token = re.search(r"::stop-commands::([0-9a-f]{32})\n", one)
    assert token is not None
    assert one.endswith(f"\n::{token[1]}::\n::endgroup::")
    assert token[1] not in two


def parsed(block: str) -> dict[str, str]:
    """Read an output file the way the runner does."""
    values, lines = {}, block.split("\n")
    while lines and lines != [""]:
        name, _, delimiter = lines.pop(0).partition("<<")
        end = lines.index(delimiter)
        values[name] = "\n".join(lines[:end])
        lines = lines[end + 1 :]
    return values


def test_an_output_with_newlines_stays_one_output() -> None:
    assert parsed(output_block("json", "x\nfoo=bar\nEOF\n")) == {"json": "x\nfoo=bar\nEOF\n"}


def test_two_blocks_never_share_a_delimiter() -> None:
    assert output_block("a", "1").split("\n")[0] != output_block("a", "1").split("\n")[0]


@pytest.mark.parametrize("name", ["a b", "1a", "a\nb", "a=b", ""])
def test_an_odd_output_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not the name of an output"):
        output_block(name, "x")


@pytest.fixture
def runner(tmp_path: Path) -> RunnerSink:
    environ = {"GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    sink = RunnerSink(tmp_path / "report", environ)
    sink._given_stream = io.StringIO()
    return sink


def said(sink: FolderSink) -> str:
    assert isinstance(sink._stream, io.StringIO)
    return sink._stream.getvalue()


def test_outputs_are_appended(runner: RunnerSink, tmp_path: Path) -> None:
    (tmp_path / "output").write_text("there=already\n")
    runner.outputs({"verdict": "pass", "json": "é\n"})
    text = (tmp_path / "output").read_text(encoding="utf-8")
    assert text.startswith("there=already\n")
    assert parsed(text.removeprefix("there=already\n")) == {"verdict": "pass", "json": "é\n"}


def test_a_summary_that_does_not_fit_is_said_instead_of_written(runner: RunnerSink, tmp_path: Path) -> None:
    (tmp_path / "summary").write_bytes(b"x" * (900 << 10))
    runner.summary("y" * (200 << 10))
    assert (tmp_path / "summary").stat().st_size == 900 << 10
    assert "::warning" in said(runner)
    runner.summary("small é")
    assert (tmp_path / "summary").read_text(encoding="utf-8").endswith("small é\n")


def test_beyond_ten_of_a_kind_a_warning_is_a_plain_line(runner: RunnerSink) -> None:
    for number in range(12):
        runner.annotate("warning", f"n{number}")
    assert said(runner).count("::warning") == 10
    assert "warning: n11" in said(runner)


def test_progress_and_replay_can_command_nothing(runner: RunnerSink) -> None:
    runner.progress("::error::from a target's name")
    runner.replay("output", "::error::x")
    assert re.findall(r"^::(?:error|set-output)", said(runner), flags=re.MULTILINE) == []


def test_a_file_is_written_whole_and_a_link_is_replaced(tmp_path: Path) -> None:
    sink = FolderSink(tmp_path / "report")
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "index.html").symlink_to(victim)
    written = sink.write_file("index.html", "é\n")
    assert victim.read_text() == "mine"
    assert not written.is_symlink()
    assert written.read_bytes() == "é\n".encode()
    assert os.listdir(tmp_path / "report") == ["index.html"]  # noqa: PTH208 # names are what matters


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "../made/x"])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ActionError):
        FolderSink(tmp_path / "report").write_file(name, "x")
    assert list(tmp_path.iterdir()) == []


def test_a_linked_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "report" / "evidence").symlink_to(tmp_path / "outside")
    with pytest.raises(ActionError, match="leads out"):
        FolderSink(tmp_path / "report").write_file("evidence/x.json", "x")


def test_a_quiet_run_says_no_progress_but_still_warns(tmp_path: Path) -> None:
    stream = io.StringIO()
    sink = FolderSink(tmp_path, quiet=True, stream=stream)
    sink.progress("working")
    sink.annotate("warning", "careful", file="torchscan.toml", line=3)
    assert stream.getvalue() == "warning: torchscan.toml:3: careful\n"
