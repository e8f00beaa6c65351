"""One view of a run. Comment, summary, index page and terminal all show this, so they cannot disagree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ci_action.core.marker import make_marker
from ci_action.core.metrics import BENCHMARK_METRICS, HEADLINE_METRICS, METRICS, label
from ci_action.core.verdict import Word
from ci_action.render.advice import next_steps, uncounted_operators
from ci_action.render.causes import Causes, find_causes
from ci_action.render.escape import block, code
from ci_action.render.gate import GateLine, gate_line
from ci_action.render.headline import headline
from ci_action.render.lines import conditions, facts_line, reproduction
from ci_action.render.medium import MARKDOWN, PLAIN
from ci_action.render.rows import RowView, change, differing_rows
from ci_action.render.sentences import dependencies, sentences
from ci_action.render.states import State, state_of
from torchscan.render import units

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ci_action.core.facts import Facts
    from ci_action.core.plan import Plan
    from ci_action.core.spec import TargetResult
    from ci_action.core.verdict import TargetVerdict, Verdict

FIRST_ROWS = 10
_FORK, _SPLIT = " (measured in a fork run)", " (measured in another run)"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureView:
    """A target that one side could not measure. ``log`` is a fenced block, or empty where it may not be shown."""

    target: str
    side: str
    stage: str
    kind: str
    progress: str
    log: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetView:
    """One target and its numbers, by the columns of its list."""

    target: str
    numbers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListView:
    """Targets that need no line of their own in the table of changes: unchanged ones, and new ones."""

    words: str
    columns: tuple[str, ...]
    rows: tuple[TargetView, ...]
    hidden: int = 0
    is_open: bool = False

    @property
    def title(self) -> str:
        """Say how many they are: ``36 targets without change``."""
        count = len(self.rows) + self.hidden
        return self.words.format(f"{count} ", "" if count == 1 else "s")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Everything that a report shows, in words."""

    marker: str
    headline: str
    plain_headline: str
    gate: GateLine
    facts: str
    dependencies: str
    """Which changed files are not in these numbers; empty where all is."""
    plain_dependencies: str
    alert: str
    rows: tuple[RowView, ...]
    failures: tuple[FailureView, ...]
    sentences: tuple[str, ...]
    plain_sentences: tuple[str, ...]
    causes: tuple[Causes, ...]
    lists: tuple[ListView, ...]
    steps: tuple[str, ...]
    conditions: tuple[str, ...]
    reproduction: str
    hidden_rows: int = 0
    hidden_failures: int = 0
    has_logs: bool = True

    @property
    def first_rows(self) -> tuple[RowView, ...]:
        """The rows that stand open in the comment."""
        return self.rows[:FIRST_ROWS]

    @property
    def more_rows(self) -> tuple[RowView, ...]:
        """The rows of the folded table."""
        return self.rows[FIRST_ROWS:]

    @property
    def logs(self) -> tuple[FailureView, ...]:
        """The failures whose last lines may be shown."""
        return tuple(item for item in self.failures if item.log) if self.has_logs else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The reports behind a verdict, by side and target."""

    base: Mapping[str, TargetResult]
    head: Mapping[str, TargetResult]

    def all(self) -> list[TargetResult]:
        """Give every result, base's first."""
        return [*self.base.values(), *self.head.values()]

    @classmethod
    def of(cls, results: Sequence[TargetResult]) -> Results:
        """Sort results by side."""
        return cls(**{side: {one["id"]: one for one in results if one["side"] == side} for side in ("base", "head")})


def build_view(verdict: Verdict, plan: Plan, facts: Facts, results: Results) -> View:
    """Put a verdict into words."""
    operators = uncounted_operators(verdict, results.head)
    found = (find_causes(one, results.base.get(one.id), results.head.get(one.id)) for one in verdict.targets)
    commits = plan.commits
    marker = make_marker(
        workflow_path=facts.workflow_path,
        comment_id=facts.comment_id,
        head_sha=commits.head_sha,
        base_sha=commits.base_sha,
        run_id=facts.run_id,
        run_attempt=facts.run_attempt,
    )
    return View(
        marker=marker.line(),
        headline=headline(verdict, plan, code) + _origin(facts),
        plain_headline=headline(verdict, plan, glyph=False) + _origin(facts),
        gate=gate_line(verdict, plan),
        facts=facts_line(plan, facts),
        dependencies=dependencies(plan, MARKDOWN),
        plain_dependencies=dependencies(plan, PLAIN),
        alert=_alert(verdict, facts),
        rows=tuple(differing_rows(verdict.targets)),
        failures=tuple(view for target in verdict.targets for view in _failures(target, results, facts)),
        sentences=tuple(sentences(verdict, plan, operators, MARKDOWN)),
        plain_sentences=tuple(sentences(verdict, plan, operators, PLAIN)),
        causes=tuple(replace(cause, all_calls=0) if facts.is_foreign else cause for cause in found if cause),
        lists=tuple(_lists(verdict)),
        steps=tuple(next_steps(verdict, plan, operators, code)),
        conditions=tuple(conditions(plan, facts, results.all(), has_timings=_has_timings(verdict))),
        reproduction=reproduction(facts),
    )


def _origin(facts: Facts) -> str:
    return _FORK if facts.fork else _SPLIT if facts.is_split else ""


def _lists(verdict: Verdict) -> list[ListView]:
    """List unchanged and new targets with their numbers. Where all are new the list is the report, and stands open."""
    found = []
    for state, words in ((State.NEW, "{}new target{}"), (State.EQUAL, "{}target{} without change")):
        members = [target for target in verdict.targets if state_of(target) is state]
        columns = _columns(members)
        compared = frozenset(row.metric for target in members for row in target.rows if row.interval is not None)
        labels = tuple(f"{label(column)} change" if column in compared else label(column) for column in columns)
        rows = tuple(_numbers(target, columns, compared) for target in members)
        is_open = state is State.NEW and len(members) == len(verdict.targets)
        if rows:
            found.append(ListView(words=words, columns=labels, rows=rows, is_open=is_open))
    return found


def _columns(members: Sequence[TargetVerdict]) -> list[str]:
    """Give the metrics that targets are listed with: the headline ones, and what was timed."""
    present = {row.metric for target in members for row in target.rows}
    wanted = (*HEADLINE_METRICS, *BENCHMARK_METRICS)
    return [name for name in dict.fromkeys(wanted) if name in present]


def _has_timings(verdict: Verdict) -> bool:
    return any(METRICS[row.metric].timing for target in verdict.targets for row in target.rows)


def _numbers(target: TargetVerdict, columns: Sequence[str], compared: Collection[str]) -> TargetView:
    """Write head's numbers; of what was timed in pairs, the change with its interval."""
    rows = {row.metric: row for row in target.rows}
    cells = []
    for name in columns:
        row = rows.get(name)
        if name in compared:
            cells.append(change(row) if row is not None and row.interval is not None else "not compared")
        else:
            cells.append(units.metric(row.head if row else None))
    return TargetView(target=target.id, numbers=tuple(cells))


def _failures(target: TargetVerdict, results: Results, facts: Facts) -> list[FailureView]:
    views = []
    for item in target.failures:
        failure = item.failure
        other = (results.base if item.side == "head" else results.head).get(target.id)
        report = other["report"] if other else None
        done = failure.get("calls_done")
        of = f" of {len(report['layers'])}" if report and report["layers"] and not facts.is_foreign else ""
        lines = [*failure["frames"], f"{failure['type']}: {failure['message']}"]
        views.append(
            FailureView(
                target=target.id,
                side=item.side,
                stage=failure["stage"],
                kind=failure["type"],
                progress="" if done is None else f", after {done}{of} calls",
                log="" if facts.is_foreign else block([part for line in lines for part in line.splitlines()][-10:]),
            )
        )
    return views


def _alert(verdict: Verdict, facts: Facts) -> str:
    """Return the one alert that a report may have: whose code it was, else what could not be measured."""
    if facts.fork:
        return (
            "> [!NOTE]\n"
            f"> The code that produced these numbers came from the fork {code(facts.fork)} and ran without secrets or "
            "write access. Its JSON was checked against the schema and drawn again here; "
            "no file made by the fork is linked."
        )
    if facts.is_split:
        return (
            "> [!NOTE]\n"
            "> These numbers were measured in another run, without secrets or write access. Its JSON was checked "
            "against the schema and drawn again here."
        )
    failed = [target for target in verdict.targets if target.failure("head")]
    sentences = [
        _cost_words(
            [target for target in failed if not target.is_measured],
            "could not be measured on head, so {} cost is unknown.",
        ),
        _cost_words(
            [target for target in failed if target.is_measured], "failed on head before {} measurement was complete."
        ),
    ]
    return "\n".join(["> [!WARNING]", *(f"> {sentence}" for sentence in sentences if sentence)]) if failed else ""


def _cost_words(failed: Sequence[TargetVerdict], words: str) -> str:
    if not failed:
        return ""
    more = f" and {len(failed) - 3} more" if len(failed) > 3 else ""
    names = ", ".join(code(target.id) for target in failed[:3]) + more
    said = f"{names} {words.format('its' if len(failed) == 1 else 'their')}"
    if any(target.failure("base") for target in failed):
        return said
    return said + _base_words(failed)


def _base_words(failed: Sequence[TargetVerdict]) -> str:
    """Return that base is fine, where every failed target was measured there."""
    measured = all(any(row.base is not None for row in target.rows) for target in failed)
    new = any(row.word is Word.NEW for target in failed for row in target.rows)
    if not measured or new:
        return ""
    return " Its base measurement succeeded." if len(failed) == 1 else " Their base measurements succeeded."
