"""The notebook card: escaped, small, without script or colours of its own."""

from __future__ import annotations

import re

from support.markup import elements
from support.reports import Node, decoder, make_report, small_net

from torchscan.render.card import card_html, card_text


def test_the_line_holds_parameters_flops_with_their_state_and_calls() -> None:
    report = make_report(small_net(formula=False))

    line = card_text(report)

    assert re.fullmatch(
        r"AnalysisReport\(smallnet, 3,378 params, module FLOPs ≥\s.*\sM lower bound, 8 calls\)", line
    ), line


def test_a_complete_report_needs_no_word() -> None:
    assert "lower bound" not in card_text(make_report(small_net()))


def test_the_card_has_no_script_no_style_sheet_and_no_colour() -> None:
    card = card_html(make_report(decoder(12)))

    found = elements(card)
    assert not [each for each in found if each.tag in ("script", "style", "link", "img")]
    assert not re.search(r"#[0-9a-f]{3}|rgb|background", card)
    assert "lower bound:" not in card


def test_the_card_names_every_state() -> None:
    assert "lower bound: Module FLOPs, MACs and DMAs" in card_html(make_report(small_net(formula=False)))


def test_hostile_names_stay_text() -> None:
    name = "</pre><script>alert(1)</script>\u202e\x00"

    card = card_html(make_report(Node("net", name, children=(Node(name.replace(".", ""), name, 3, 7),))))

    assert not [each for each in elements(card) if each.tag == "script"]
    assert "\u202e" not in card
    assert "\x00" not in card


def test_a_large_model_stays_under_60_kib() -> None:
    wide = Node("net", "Net", children=tuple(Node(f"layer_{at}_x", "Linear", at, at) for at in range(5_000)))

    card = card_html(make_report(wide))

    assert len(card.encode()) <= 60 * 1024
    assert "rows hidden" in card
