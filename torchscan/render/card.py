"""A report in a notebook cell: one line of text, or a small HTML card that any viewer's own style can colour."""

from __future__ import annotations

from markupsafe import escape

from torchscan.render.labels import visible
from torchscan.render.totals_view import Total, cards, plain_total, sentences
from torchscan.render.tree_table import format_summary
from torchscan.render.units import metric
from torchscan.report.analysis import AnalysisReport

MOST_ROWS = 200
_CARD = 'style="border:1px solid currentColor;border-radius:8px;padding:.6em 1em;max-width:60em"'
_LIST = 'style="display:flex;flex-wrap:wrap;gap:.2em 1.6em;list-style:none;padding:0;margin:.4em 0"'


def card_text(report: AnalysisReport) -> str:
    """Write one line: ``AnalysisReport(tinylm, 11.55 M params, module FLOPs ≥ 2.957 G lower bound, 89 calls)``."""
    totals = {name: plain_total(name, result) for name, result in report["totals"].items()}
    flops = totals["module_flops"]
    state = "" if flops.state == "complete" else f" {flops.state}"
    parts = (
        report["context"]["model_type"].lower(),
        f"{metric(report['totals'].get('parameters'))} params",
        f"module FLOPs {flops.text}{state}",
        f"{len(report['layers'])} calls",
    )
    return visible(f"AnalysisReport({', '.join(parts)})")


def card_html(report: AnalysisReport) -> str:
    """Write a card without script or style sheet: totals with their states, then the folded table."""
    totals = [plain_total(name, result) for name, result in report["totals"].items()]
    states = "; ".join(f"{state}: {names}" for state, names in sentences(totals))
    table = format_summary(report, width=88, most_rows=MOST_ROWS)
    return visible(
        f"<div {_CARD}><b>{escape(report['context']['model_type'])}</b>"
        f"<ul {_LIST}>{''.join(map(_item, cards(totals)))}</ul>"
        f"<div>{escape(states)}</div>"
        f"<details><summary>{_calls(report)}</summary>"
        f'<pre style="overflow-x:auto">{escape(table)}</pre></details></div>'
    )


def _item(total: Total) -> str:
    state = "" if total.state == "complete" else f" {total.state}"
    return f"<li>{escape(total.label)} <b>{escape(total.text)}</b>{state}</li>"


def _calls(report: AnalysisReport) -> str:
    count = len(report["layers"])
    return f"{count} call{'' if count == 1 else 's'}"
