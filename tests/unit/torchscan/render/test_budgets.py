"""Sizes of pages. Time is measured in tests/bench; here only growth, which no slow machine can spoil."""

from __future__ import annotations

import pytest
from support.reports import Node, decoder, linear, make_report, small_net

from torchscan.render.document import render_report
from torchscan.render.page import style_of
from torchscan.render.templates import source

KIB = 1024


def distinct(rows: int) -> Node:
    """A net in which no two modules are equal."""
    names = ("qkv", "out", "up", "down", "gate", "norm", "act", "drop", "proj")
    blocks = tuple(
        Node(
            f"block_{at}x",
            "Block",
            children=tuple(linear(name, 64 + at, 64 + at + more, tokens=128 + at) for more, name in enumerate(names)),
        )
        for at in range(rows // 10)
    )
    return Node("net", "Net", children=blocks)


def size_of(page: str) -> int:
    return len(page.encode())


def test_the_shell_is_small() -> None:
    for template in ("report.html.j2", "benchmark.html.j2"):
        assert size_of(style_of(template)) <= 12 * KIB
    assert size_of(source("torchscan", "report.js")) <= 24 * KIB
    assert size_of(render_report(make_report(Node("relu", "ReLU")))) <= 48 * KIB


@pytest.mark.parametrize("root", [small_net(), small_net(range(8, 24)), decoder(12)])
def test_a_small_model_stays_under_120_kib(root: Node) -> None:
    assert size_of(render_report(make_report(root))) <= 120 * KIB


def test_ten_thousand_modules_in_equal_blocks_fold_under_250_kb() -> None:
    report = make_report(decoder(910))

    assert len(report["layers"]) > 10_000
    assert size_of(render_report(report)) <= 250_000


def test_ten_thousand_distinct_rows_stay_under_the_cap_and_point_to_evidence() -> None:
    page = render_report(make_report(distinct(9_990)))

    assert page.count("id=m") > 9_900
    assert size_of(page) <= 2.5 * KIB * KIB


def test_rows_beyond_ten_thousand_are_counted_not_dropped_in_silence() -> None:
    page = render_report(make_report(distinct(12_000)))

    assert "2001 more rows are in report.json only" in page
    assert size_of(page) <= 4 * KIB * KIB


@pytest.mark.parametrize("root", [small_net(), decoder(12, wide=range(0, 12, 2)), distinct(2_000)])
def test_a_drawing_stays_under_120_kib(root: Node) -> None:
    assert size_of(render_report(make_report(root), format="svg")) <= 120 * KIB
