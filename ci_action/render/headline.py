"""The verdict in one line: glyph, word, subject, number. At most 96 characters, no link, no commit."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from ci_action.core.comparing import is_complete, known
from ci_action.core.metrics import METRICS, label
from ci_action.core.verdict import Word
from ci_action.render import rows
from ci_action.render.escape import name
from ci_action.render.states import State, row_state, state_of, telling_rows

if TYPE_CHECKING:
    from ci_action.core.plan import Plan
    from ci_action.core.verdict import Row, TargetVerdict, Verdict
    from ci_action.render.medium import Quote

MOST_CHARACTERS = 96
_NAME_LENGTHS = (40, 28, 20)
_LONGEST_REASON = 40
_LIMITED = frozenset({State.REGRESSION, State.WARNING, State.ACCEPTED, State.WITHIN})
_QUIET = frozenset({State.EQUAL, State.SKIPPED})
_WARNED = State.WARNING.value.glyph
_FIELD = re.compile(r"its (?:method|unit|scope)")


def headline(verdict: Verdict, plan: Plan, quote: Quote = name, *, glyph: bool = True) -> str:
    """Write the line. ``quote`` puts a name into the medium: a code span, or as it is."""
    line = ""
    for length in _NAME_LENGTHS:
        line, counts = _parts(verdict, plan, partial(quote, length=length))
        mark = f"{_WARNED if _is_about_dependencies(verdict, plan) else _lead(verdict).value.glyph} " if glyph else ""
        line = mark + line
        if len(line) <= MOST_CHARACTERS:
            return _with_counts(line, counts)
    return line


def state_counts(verdict: Verdict) -> dict[State, int]:
    """Count the targets by how they ended, gravest first."""
    counts = Counter(map(state_of, verdict.targets))
    return {state: counts[state] for state in State if counts[state]}


def targets(count: int) -> str:
    """Write a number of targets."""
    return f"{count} target{'' if count == 1 else 's'}"


def _lead(verdict: Verdict) -> State:
    """Give the state that the line speaks of."""
    found = state_counts(verdict)
    lead = next(iter(found), State.NOT_MEASURED)
    # Where all are removed nothing of head was measured: a finding, not a tick.
    return State.NOT_MEASURED if lead is State.REMOVED and State.SKIPPED not in found else lead


def _with_counts(line: str, counts: list[str]) -> str:
    """Add how the other targets ended, gravest first, as far as the line has room."""
    for kept in range(len(counts), 0, -1):
        longer = f"{line}; {', '.join(counts[:kept])}"
        if len(longer) <= MOST_CHARACTERS:
            return longer
    return line


def _is_about_dependencies(verdict: Verdict, plan: Plan) -> bool:
    """Check whether nothing moved in a run that could not measure what the changed dependencies do."""
    return bool(plan.changed_dependencies and verdict.targets) and _lead(verdict) in _QUIET


def _dependencies(verdict: Verdict, plan: Plan, quote: Quote) -> tuple[str, list[str]]:
    """Return the line of a run that says nothing of what it was asked about, and how the code alone did."""
    first, *more = plan.changed_dependencies
    names = quote(first) + (f" and {len(more)} more" if more else "")
    everything = targets(len(verdict.targets))
    counts = [
        f"{count} of {everything} {'skipped' if state is State.SKIPPED else 'otherwise equal'}"
        if state in _QUIET
        else f"{count} {state.value.counted}"
        for state, count in state_counts(verdict).items()
    ]
    return f"Dependencies not measured: {names}", counts


def _parts(verdict: Verdict, plan: Plan, quote: Quote) -> tuple[str, list[str]]:
    """Give the line's own words, and the counts of the other states."""
    if _is_about_dependencies(verdict, plan):
        return _dependencies(verdict, plan, quote)
    found, lead = state_counts(verdict), _lead(verdict)
    subject = _whole_run(verdict, plan, lead, found, quote)
    leading = [target for target in verdict.targets if state_of(target) is lead]
    is_several = subject is None and len(leading) > 1
    if subject is None:
        several = f" in {len(leading)} of {targets(len(verdict.targets))}"
        subject = several if is_several else f": {_one(leading[0], lead, quote)}"
    rest = [
        f"{count} {state.value.counted}"
        for state, count in found.items()
        if state is not lead and (state is not State.EQUAL or is_several or lead is State.NOT_MEASURED)
    ]
    unknown = ["changed dependencies not measured"] if plan.changed_dependencies else []
    return f"{lead.value.headline}{subject}", [*unknown, *rest]


def _whole_run(verdict: Verdict, plan: Plan, lead: State, found: dict[State, int], quote: Quote) -> str | None:
    """Give the subject where it is the run, not one target."""
    everything = len(verdict.targets)
    if not everything:
        return f": no target is listed in {quote(plan.policy.source)}"
    if lead is State.NOT_MEASURED and State.NOT_MEASURED not in found:
        return ": no target of base is left on head"
    if lead is State.EQUAL:
        return f": {found[lead]} of {targets(everything)}" if found[lead] == everything else f": {targets(found[lead])}"
    if lead is State.NEW:
        why = plan.why_report_only if plan.is_report_only else "no base result"
        return f": {targets(found[lead])}, {why}"
    if lead is State.SKIPPED:
        return f": {targets(everything)}, nothing under their paths changed"
    return None


def _one(target: TargetVerdict, state: State, quote: Quote) -> str:
    subject = quote(target.id)
    if target.unproven:
        return f"{subject}: no result, see below"
    if state is State.NOT_MEASURED and target.failure("head"):
        return f"{subject} failed on head"
    if state is State.INCOMPARABLE and target.failure("base"):
        return f"{subject} failed on base; head measured"
    candidates = [row for row in telling_rows(target) if row_state(row) is state]
    if not candidates:
        return f"{subject}: no result"
    row = max(candidates, key=lambda one: (one.interval is not None, _relative(one)))
    if row.word is Word.REMOVED:
        return subject if state is State.DROPPED else f"{subject} was removed on head"
    return f"{subject} {label(row.metric)}{_what(row, state, quote)}"


def _what(row: Row, state: State, quote: Quote) -> str:
    number = rows.short_change(row)
    if state in _LIMITED:
        return f" {number or rows.sides(row)[1]}, limit {rows.limit(row).removeprefix('warn ')}"
    match state:
        case State.LOST:
            return " became a lower bound" if known(row.head) is not None else " not measured on head"
        case State.NOT_MEASURED:
            return " not measured"
        case State.INCOMPARABLE:
            return f", {_what_differs(row.reason, quote)}"
        case State.INCONCLUSIVE:
            return _what_is_open(row)
        case _:
            words = f" {number}" if number else f" {row.word.value}"
            return f"{words}, no limit" if row.limit is None else words


def _what_differs(reason: str, quote: Quote) -> str:
    """Name a refused field; a short change of versions as it is; anything longer stands below the table."""
    if field := _FIELD.match(reason):
        return f"{field[0]} changed"
    return quote(reason) if 0 < len(reason) <= _LONGEST_REASON else "its conditions changed"


def _what_is_open(row: Row) -> str:
    if row.interval is not None:
        return f" {rows.change(row)}"
    if METRICS[row.metric].timing:
        return f": {row.reason}"
    return f" is a lower bound on {'base' if is_complete(row.head) else 'both sides'}"


def _relative(row: Row) -> float:
    base, head = known(row.base), known(row.head)
    return abs(head - base) / abs(base) if base and head is not None else 0.0
