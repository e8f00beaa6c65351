"""A report with display hooks is still the dict that it was."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from support.reports import make_report, small_net
from torch import nn

from torchscan import crawl_module, summary
from torchscan.render.card import card_html, card_text
from torchscan.render.document import render_report
from torchscan.render.notebook import NotebookReport, for_notebooks


class _Printer:
    def __init__(self) -> None:
        self.written = ""

    def text(self, text: str) -> None:
        self.written += text


def test_json_equality_and_length_are_those_of_the_plain_dict() -> None:
    plain = make_report(small_net())
    shown = for_notebooks(plain)

    assert shown == plain
    assert plain == shown
    assert json.dumps(shown) == json.dumps(plain)
    assert repr(shown) == repr(plain)
    assert render_report(shown) == render_report(plain)


def test_pickles_and_copies_are_plain_dicts() -> None:
    plain = make_report(small_net())
    shown = for_notebooks(plain)

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        restored = pickle.loads(pickle.dumps(shown, protocol))
        assert type(restored) is dict
        assert restored == plain
    for again in (copy.copy(shown), copy.deepcopy(shown)):
        assert type(again) is dict
        assert again == plain
    assert b"torchscan.render" not in pickle.dumps(shown)  # readable where no torchscan is installed


def test_a_deep_copy_shares_nothing_and_a_shallow_one_shares_the_parts() -> None:
    shown = for_notebooks(make_report(small_net()))

    assert copy.copy(shown)["layers"] is shown["layers"]
    assert copy.deepcopy(shown)["layers"] is not shown["layers"]


def test_hooks_show_the_card_and_the_line() -> None:
    shown, printer = for_notebooks(make_report(small_net(formula=False))), _Printer()
    assert isinstance(shown, NotebookReport)

    shown._repr_pretty_(printer, cycle=False)

    assert shown._repr_html_() == card_html(shown)
    assert printer.written == card_text(shown)


def test_a_changed_dict_that_is_no_report_any_more_is_shown_as_a_dict() -> None:
    shown, printer = for_notebooks(make_report(small_net())), _Printer()
    assert isinstance(shown, NotebookReport)
    del shown["totals"]

    shown._repr_pretty_(printer, cycle=False)

    assert shown._repr_html_() is None
    assert printer.written == repr(dict(shown))


def test_parts_are_shared_and_not_visited() -> None:
    plain = make_report(small_net())

    shown = for_notebooks(plain)

    assert all(shown[key] is plain[key] for key in plain)  # type: ignore[literal-required] # the keys are its own


def test_analyses_come_back_with_the_hooks(capsys: pytest.CaptureFixture[str]) -> None:
    model = nn.Linear(3, 2)

    for analyse in (crawl_module, summary):
        assert isinstance(analyse(model, (3,)), NotebookReport)
    assert "Linear" in capsys.readouterr().out
