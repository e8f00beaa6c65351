"""Builders for the action's pure core: commits, targets, limits, results of a side, and plans out of them."""

from __future__ import annotations

from typing import Any

from support.reports import operator_report, tensor

from ci_action.core.comparing import compare
from ci_action.core.config.entries import Benchmark, Config, Limit, Target
from ci_action.core.judging import judge
from ci_action.core.plan import Commits, Plan
from ci_action.core.planning import make_plan
from ci_action.core.spec import Failure, Side, TargetResult
from ci_action.core.verdict import Row, TargetVerdict, Verdict, Word
from torchscan.report.analysis import METHODS, TOTALS, UNITS, AnalysisReport
from torchscan.report.metric import MetricResult, complete, partial, unavailable

BASE_SHA = "9f8e7d6" + "0" * 33
HEAD_SHA = "a1b2c3d" + "0" * 33
COMMITS = Commits(
    base_sha=BASE_SHA,
    head_sha=HEAD_SHA,
    measured_sha="c" * 40,
    base_reason="first parent of the merge commit",
    base_ref="main",
)


def target(identity: str = "net", **fields: Any) -> Target:
    return Target(**{"id": identity, "factory": f"bench/models.py:{identity}", **fields})


def limit(metric: str = "operator_flops", **fields: Any) -> Limit:
    return Limit(**{"targets": ("*",), "metric": metric, **fields})


def config(*targets: Target | str, limits: tuple[Limit, ...] = (), **fields: Any) -> Config:
    entries = tuple(target(item) if isinstance(item, str) else item for item in targets)
    return Config(source="torchscan.toml", targets=entries, limits=limits, **fields)


def plan(base: Config | None, head: Config | None = None, **fields: Any) -> Plan:
    """A plan over both configs; head has base's config where it is not given."""
    return make_plan(COMMITS, base_config=base, head_config=base if head is None else head, **fields)


def number(metric: str, value: float | None, *, bound: bool = False) -> MetricResult:
    """A complete number; a lower bound with ``bound``; unavailable with ``value=None``."""
    facts = {"unit": UNITS[metric], "scope": "model", "method": METHODS[metric]}
    if value is None:
        return unavailable(**facts)
    return (partial if bound else complete)(value, **facts)


def report(layers: list[dict[str, Any]] | None = None, **values: Any) -> AnalysisReport:
    """A report with totals alone: 100 of everything, but what is given. A ``MetricResult`` is taken as it is."""
    totals = {name: number(name, 100) for name in TOTALS}
    totals |= {name: value if isinstance(value, dict) else number(name, value) for name, value in values.items()}
    return {
        "schema_version": 1,
        "context": {
            "torchscan_version": "0.3.0",
            "torch_version": "2.13.0",
            "python_version": "3.11.7",
            "model_type": "Net",
            "execution_mode": "eval",
            "analysis_mode": "full",
            "training_before": True,
            "devices": ["cpu"],
            "dtypes": ["torch.float32"],
        },
        "inputs": {"source": "generated", "args": [tensor((1, 3))], "kwargs": {}},
        "layers": layers or [],
        "totals": totals,
        "operator_flops": operator_report(totals["operator_flops"]),  # type: ignore[typeddict-item]
        "diagnostics": [],
    }


def failure(kind: str = "RuntimeError", **fields: Any) -> Failure:
    return {"stage": "forward", "type": kind, "message": "shapes cannot be multiplied", "frames": [], **fields}  # type: ignore[typeddict-item]


def result(side: Side, content: AnalysisReport | Failure | None = None, identity: str = "net") -> TargetResult:
    """What one side says of one target: a report, a failure, or the default report."""
    failed = content is not None and "stage" in content
    return {
        "version": 1,
        "id": identity,
        "side": side,
        "report": None if failed else (content or report()),  # type: ignore[typeddict-item]
        "failure": content if failed else None,  # type: ignore[typeddict-item]
        "seconds": 1.0,
    }


def verdict_of(
    base: AnalysisReport | Failure | None,
    head: AnalysisReport | Failure | None,
    *limits: Limit,
    **fields: Any,
) -> Verdict:
    """Compare and judge one target, "net", that both sides list."""
    made = plan(config("net", limits=limits))
    return judge(made, compare(made, [result("base", base)], [result("head", head)]), **fields)


def row_of(verdict: Verdict, metric: str = "operator_flops", target: int = 0) -> Row:
    return next(row for row in verdict.targets[target].rows if row.metric == metric)


def timing_row(word: Word, base: float | None = 0.010, head: float | None = 0.011, **fields: Any) -> Row:
    """A latency row as the timing verdict hands it over: already worded."""
    sides = [
        None if value is None else complete(value, unit="seconds", scope="warmed_block_average", method="timer")
        for value in (base, head)
    ]
    return Row(target="net", metric="latency", base=sides[0], head=sides[1], word=word, **fields)


def judge_rows(rows: list[Row], *limits: Limit) -> Verdict:
    """Judge rows that are worded already."""
    benchmark = Benchmark(metrics=("latency", "throughput"))
    made = plan(config(target(benchmark=benchmark), limits=limits))
    return judge(made, [TargetVerdict(id="net", rows=tuple(rows))])
