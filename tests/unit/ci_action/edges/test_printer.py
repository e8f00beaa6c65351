"""Whatever this program prints on a runner, only its own commands act: read back by what a runner would read."""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Callable

import click
import pytest
from support.rig.runner_language import commands

from ci_action.edges.commands import annotation
from ci_action.edges.printer import inert_streams, send_command

HOSTILE = (
    "::error::forged",
    "  ::add-mask::5",
    "\u00a0::error::after a space that does not break",
    "\u3000::error::after a wide space",
    "\t::stop-commands::x",
    "\ufeff::warning::after a byte order mark",
    "##[set-output name=verdict]pass",
    "a name with ##[add-path]/nowhere in it",
    "x\r::error::after a carriage return",
    "x\n::error::after a line feed",
    "x\r\n::error::after both",
    "\x0b::error::after a vertical tab",
    "\x1b[2K\x1b[1A::error::after an escape",
    "\u2028::error::after a line separator",
    "\x85::error::after a next line",
)


def in_pieces(text: str) -> None:
    for char in text:
        sys.stdout.write(char)
        sys.stdout.flush()


WAYS: dict[str, Callable[[str], object]] = {
    "click.echo": click.echo,
    "click.echo to stderr": lambda text: click.echo(text, err=True),
    "print": print,
    "in pieces": in_pieces,
    "a usage error": lambda text: click.UsageError(text).show(),
    "a traceback": lambda text: traceback.print_exception(ValueError(text)),
    "writelines": lambda text: print(*text.split("x"), sep=""),
}


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_nothing_that_is_printed_is_a_command(
    text: str, way: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = io.StringIO()
    monkeypatch.setattr(sys, "stdout", raw)
    monkeypatch.setattr(sys, "stderr", raw)
    with inert_streams(is_runner=True):
        way(text)
    assert commands(raw.getvalue()) == []
    assert not set("\x1b\x0b\x85\u2028") & set(raw.getvalue())


def test_our_own_command_acts_and_what_was_begun_before_it_does_not_spoil_it(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.StringIO()
    monkeypatch.setattr(sys, "stdout", raw)
    monkeypatch.setattr(sys, "stderr", raw)
    with inert_streams(is_runner=True):
        sys.stderr.write("begun")
        send_command(annotation("error", "over\n::add-mask::5"))
        sys.stderr.write("::error::not ours")
    assert [(one.name, one.text) for one in commands(raw.getvalue())] == [("error", "over%0A::add-mask::5")]
    assert raw.getvalue().startswith("begun\n::error")


def test_at_home_lines_stay_as_they_are_but_for_what_steers_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.StringIO()
    monkeypatch.setattr(sys, "stdout", raw)
    with inert_streams(is_runner=False):
        print("::error::as it is\ttab −, ✅ 10.3\u00a0M \x1b[31mred\x07")
    assert raw.getvalue() == "::error::as it is\ttab −, ✅ 10.3\u00a0M \\x1b[31mred\\x07\n"


def test_the_streams_are_given_back_with_all_that_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.StringIO()
    monkeypatch.setattr(sys, "stdout", raw)
    with inert_streams(is_runner=True):
        sys.stdout.write("no line end")
    assert sys.stdout is raw
    assert raw.getvalue() == "no line end\n"
