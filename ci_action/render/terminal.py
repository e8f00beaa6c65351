"""The same report for a terminal: one aligned table, then the verdict in the comment's words."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from ci_action.render.escape import name, scrub, visible
from ci_action.render.lines import plain_commits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci_action.core.facts import Facts
    from ci_action.core.plan import Plan
    from ci_action.core.verdict import Verdict
    from ci_action.render.view import ListView, View

_HEADER = ("Result", "Target", "Metric", "Base", "Head", "Change", "Limit")
_NAME_LENGTH = 32
_MOST_ROWS = 100
_MOST_LISTED = 40


def terminal(view: View, verdict: Verdict, plan: Plan, facts: Facts) -> str:
    """Write the run as text. No colour and no control character: it is piped as often as it is read."""
    count = len(verdict.targets)
    lines = [
        f"torchscan {facts.torchscan_version}  {count} target{'' if count == 1 else 's'}  {plain_commits(plan)}",
        "",
    ]
    lines += _table(view)
    lines += [line for item in view.failures for line in _failure(item.target, item.side, verdict)]
    said = [*([view.plain_dependencies] if view.plain_dependencies else []), *view.plain_sentences]
    lines += ["", *said] if said else []
    why = f" ({view.gate.why})" if view.gate.why else ""
    lines += ["", f"{view.plain_headline}. Gate {view.gate.status}{why}, exit {verdict.exit_code}."]
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def _table(view: View) -> list[str]:
    rows = [
        ("failed", name(item.target, _NAME_LENGTH), "all", "—", "—", f"not measured on {item.side}", "—")
        for item in view.failures
    ]
    rows += [
        (row.result, name(row.target, _NAME_LENGTH), row.metric, row.base, row.head, row.change, row.limit)
        for row in view.rows[:_MOST_ROWS]
    ]
    hidden = len(view.rows) - _MOST_ROWS
    table = _aligned([_HEADER, *rows]) if rows else []
    if hidden > 0:
        table.append(f"{hidden} more rows are in the HTML reports")
    return [*table, *(line for part in view.lists for line in _list(part))]


def _list(part: ListView) -> list[str]:
    """Give unchanged or new targets with their numbers."""
    rows = [(name(row.target, _NAME_LENGTH), *row.numbers) for row in part.rows[:_MOST_LISTED]]
    hidden = len(part.rows) - len(rows) + part.hidden
    more = [f"{hidden} more are in the HTML reports"] if hidden else []
    return ["", f"{part.title}:", *_aligned([("Target", *part.columns), *rows]), *more]


def _failure(target: str, side: str, verdict: Verdict) -> list[str]:
    """Give a failure's own last words."""
    found = next((one.failure(side) for one in verdict.targets if one.id == target), None)
    if found is None:
        return []
    lines = [
        scrub(visible(line))
        for line in [*found["frames"][-3:], f"{found['type']}: {found['message']}".removesuffix(": ")]
    ]
    return ["", f"{name(target)}, {side}, {name(found['stage'])}:", *(f"  {line[:200]}" for line in lines)]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell + " " * (size - width(cell)) for cell, size in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def width(text: str) -> int:
    """Count the cells that a terminal gives a text: two for wide signs, none for combining ones."""
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)
