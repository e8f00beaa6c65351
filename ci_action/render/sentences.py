"""What the table cannot say, in sentences: what is identical, what was not compared and why, who accepted what."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ci_action.core.comparing import is_complete
from ci_action.core.metrics import BENCHMARK_METRICS, label
from ci_action.core.verdict import Gate, Word
from ci_action.render.escape import shorten
from ci_action.render.headline import state_counts, targets
from ci_action.render.lines import SHORT_SHA
from ci_action.render.states import State, state_of, telling_rows

if TYPE_CHECKING:
    from ci_action.core.plan import Plan
    from ci_action.core.verdict import Row, Verdict
    from ci_action.render.advice import Uncounted
    from ci_action.render.medium import Medium, Quote

_MOST_NAMED = 5
_LONGEST_PATH = 80


def sentences(verdict: Verdict, plan: Plan, operators: list[Uncounted], medium: Medium) -> list[str]:
    """Write them in the order in which a reader asks."""
    rows = [row for target in verdict.targets for row in target.rows]
    return [
        *_equality(verdict, rows, medium.quote),
        *_bounds(verdict, rows, operators, medium.quote),
        *_timings(rows, medium),
        *_refusals(verdict, medium),
        *_presence(verdict, plan, medium.quote),
        *_skips(verdict, medium.quote),
        *_unproven(verdict, medium),
        *_acceptance(verdict, medium.quote),
        *(f"Note: {medium.prose(note)}" for note in verdict.notes),
    ]


def dependencies(plan: Plan, medium: Medium) -> str:
    """Say which changed files this run cannot measure, and what would; nothing where there are none."""
    changed = plan.changed_dependencies
    if not changed:
        return ""
    more = [f"{len(changed) - _MOST_NAMED} more"] if len(changed) > _MOST_NAMED else []
    names = _listed([*(medium.quote(path, length=_LONGEST_PATH) for path in changed[:_MOST_NAMED]), *more])
    separate = medium.quote('environment = "separate"')
    return (
        f"Both sides ran in one environment, so the effect of {names} is not in these numbers. "
        f"{separate} with an {medium.quote('install')} command measures it."
    )


def _equality(verdict: Verdict, rows: list[Row], quote: Quote) -> list[str]:
    equal = state_counts(verdict).get(State.EQUAL, 0)
    if equal < len(verdict.targets):
        others = "other target" if equal == 1 else "other targets"
        return [*_same_counts(verdict, quote), *([f"{equal} {others}: no change."] if equal else [])]
    words = Counter(row.word for row in rows)
    found = []
    if words[Word.UNCHANGED]:
        found.append(f"{words[Word.UNCHANGED]} metrics that both sides measured in full are identical.")
    if words[Word.WITHIN_NOISE]:
        found.append(f"{words[Word.WITHIN_NOISE]} timings moved no more than their noise and limits allow.")
    return found


def _same_counts(verdict: Verdict, quote: Quote) -> list[str]:
    """Name targets of which only a measurement moved: their counts are the same to the last digit."""
    names = []
    for target in verdict.targets:
        exact = [row.word for row in target.rows if row.metric not in BENCHMARK_METRICS]
        if state_of(target) is not State.EQUAL and exact and set(exact) == {Word.UNCHANGED}:
            names.append(quote(target.id))
    return [f"All counts of {', '.join(names[:_MOST_NAMED])} are identical."] if names else []


def _bounds(verdict: Verdict, rows: list[Row], operators: list[Uncounted], quote: Quote) -> list[str]:
    found = []
    both = [row for row in rows if row.word is Word.INCONCLUSIVE and not is_complete(row.base)]
    if both:
        names = _listed(list(dict.fromkeys(label(row.metric) for row in both)))
        members = list(dict.fromkeys(row.target for row in both))
        where = quote(members[0]) if len(members) == 1 else targets(len(members))
        limited = "" if any(row.gate is not Gate.NONE for row in both) else "; no limit covers them"
        found.append(f"Of {names} only lower bounds are known in {where}, so they are not compared{limited}.")
    shown = [row for target in verdict.targets for row in telling_rows(target) if row.word is Word.EVIDENCE_LOST]
    if any(row.head and row.head["known_value"] is not None for row in shown):
        found.append("≥ is a lower bound: the true head value may be above or below base, so no change is computed.")
    found += _quietly_lost(rows, shown, quote)
    if operators:
        named = ", ".join(f"{quote(item.operator)} × {item.times}" for item in operators[:_MOST_NAMED])
        found.append(f"Uncounted on head: {named} (no formula).")
    proven = [
        row for row in rows if row.gate in {Gate.FAIL, Gate.WARN} and row.reason.startswith("the lower bound alone")
    ]
    found += [f"{quote(row.target)} {label(row.metric)}: {row.reason}." for row in proven[:_MOST_NAMED]]
    return found


def _quietly_lost(rows: list[Row], shown: list[Row], quote: Quote) -> list[str]:
    """Tell of evidence that head lost where no row of the table says so."""
    lost: dict[str, list[str]] = {}
    for row in rows:
        if row.word is Word.EVIDENCE_LOST and row not in shown:
            lost.setdefault(row.target, []).append(label(row.metric))
    return _at_most(
        [
            f"Of {quote(target)} {_listed(names)} can no longer be measured in full; no limit covers them."
            for target, names in lost.items()
        ]
    )


def _timings(rows: list[Row], medium: Medium) -> list[str]:
    """Return for each measurement that cannot be judged what stands in the way."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.word is not Word.INCONCLUSIVE or row.metric not in BENCHMARK_METRICS or not is_complete(row.base):
            continue
        why = row.reason or "inconclusive"
        pairs = f"; {row.interval.pairs} base/head pairs" if row.interval else ""
        reasons.setdefault((row.target, f"{medium.prose(why)}{pairs}"), []).append(label(row.metric))
    return _at_most([f"{medium.quote(target)} {_listed(names)}: {why}." for (target, why), names in reasons.items()])


def _refusals(verdict: Verdict, medium: Medium) -> list[str]:
    """Say once per target and reason what may not be compared."""
    found = []
    for target in verdict.targets:
        reasons: dict[str, list[str]] = {}
        for row in telling_rows(target):
            if row.word is Word.NOT_COMPARABLE:
                reasons.setdefault(row.reason, []).append(label(row.metric))
        found += [
            f"{medium.quote(target.id)} {_listed(names)}: not comparable, {medium.prose(shorten(why, 120))}."
            for why, names in reasons.items()
        ]
    return _at_most(found)


def _presence(verdict: Verdict, plan: Plan, quote: Quote) -> list[str]:
    found = []
    states = [state_of(target) for target in verdict.targets]
    if State.NEW in states and not plan.is_report_only:
        found.append("A new target has no base: only caps are checked. Absent means no report on that side, not zero.")
    removed = [target.id for target in verdict.targets if any(row.word is Word.REMOVED for row in target.rows)]
    if removed:
        names = ", ".join(map(quote, removed[:_MOST_NAMED]))
        more = f" and {targets(len(removed) - _MOST_NAMED)} more" if len(removed) > _MOST_NAMED else ""
        where = f"head's {quote(plan.head_config.source)}" if plan.head_config else "head, which has no config"
        found.append(f"{names}{more}: on base's list and absent from {where}.")
    return found


def _skips(verdict: Verdict, quote: Quote) -> list[str]:
    skipped = sum(bool(target.skipped) for target in verdict.targets)
    return [f"{targets(skipped)} skipped: nothing under their {quote('paths')} changed."] if skipped else []


def _unproven(verdict: Verdict, medium: Medium) -> list[str]:
    return _at_most(
        [f"{medium.quote(one.id)}: {medium.prose(one.unproven)}." for one in verdict.targets if one.unproven]
    )


def _acceptance(verdict: Verdict, quote: Quote) -> list[str]:
    who = verdict.accepted
    if who is None:
        return []
    return [
        f"Accepted for head {quote(who.head_sha[:SHORT_SHA])}: label {quote(who.label)}, set by {quote(who.actor)}."
    ]


def _listed(names: list[str]) -> str:
    """Write ``a``, ``a and b``, ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _at_most(found: list[str]) -> list[str]:
    if len(found) <= _MOST_NAMED:
        return found
    return [*found[:_MOST_NAMED], f"{len(found) - _MOST_NAMED} more are in the HTML reports."]
