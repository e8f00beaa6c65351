"""The runs whose reports are kept as goldens: one per state that a reader can meet."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from support.benchmarks import CONTEXT, TENSOR
from support.reports import Node, linear, make_report
from support.rounds import Machine, evidence
from support.verdicts import (
    BASE_SHA,
    HEAD_SHA,
    config,
    failure,
    limit,
    number,
    plan,
    report,
    result,
    target,
)

from ci_action.core.comparing import compare
from ci_action.core.config.entries import Benchmark, Config
from ci_action.core.event import PullRequest
from ci_action.core.facts import Facts
from ci_action.core.judging import judge
from ci_action.core.metrics import BENCHMARK_METRICS
from ci_action.core.plan import Plan
from ci_action.core.spec import TargetResult
from ci_action.core.timing.rows import with_timings
from ci_action.core.verdict import Acceptance, Interval, Row, Verdict, Word
from ci_action.render.rendered import Rendered
from ci_action.render.rendering import render
from torchscan.report.metric import complete

FACTS = Facts(
    torchscan_version="0.3.0",
    repository="octo/zoo",
    run_id=7101,
    workflow_path=".github/workflows/torchscan.yml",
    artifact_url="https://github.com/octo/zoo/actions/runs/7101/artifacts/55",
    platform="Linux x86-64",
    reproduction=f"torchscan-ci run --base {BASE_SHA[:7]} --head {HEAD_SHA[:7]}",
)
PULL = PullRequest(
    number=7,
    head_sha=HEAD_SHA,
    head_ref="fix",
    head_repository="octo/zoo",
    base_sha=BASE_SHA,
    base_ref="main",
    base_repository="octo/zoo",
)
LIMITS = (
    limit(max_increase=0.05, text="+5%"),
    limit("latency", max_increase=0.05, text="+5%", on_exceed="warn"),
)
ZOO = ("resnet50", "vit_b_16", "unet_small", "tiny_lm")
COUNTS = {
    "resnet50": (8_178_000_000, 25_557_032),
    "vit_b_16": (35_130_000_000, 86_567_656),
    "unet_small": (12_400_000_000, 7_763_041),
    "tiny_lm": (4_096_000_000, 14_210_048),
}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One run, ready to be shown."""

    plan: Plan
    verdict: Verdict
    results: list[TargetResult]
    facts: Facts = FACTS

    def render(self) -> Rendered:
        return render(self.verdict, self.plan, self.facts, results=self.results)


def counts(name: str, **changes: Any) -> Any:
    """A zoo model's report with its usual totals, but what is changed."""
    flops, parameters = COUNTS.get(name, (1_523_000_000, 4_770_000))
    values = {"operator_flops": flops, "operator_macs": flops // 2, "parameters": parameters, **changes}
    return report(**values)


def scene(
    heads: dict[str, Any] | None = None,
    bases: dict[str, Any] | None = None,
    *,
    names: tuple[str, ...] = ZOO,
    base: Config | None = None,
    head: Config | None = None,
    rows: tuple[Row, ...] = (),
    facts: Facts = FACTS,
    accepted: Acceptance | None = None,
    **fields: Any,
) -> Scene:
    """A run over the zoo where every target is equal, but those that ``bases`` and ``heads`` give."""
    owner = base or config(*names, limits=LIMITS)
    made = plan(owner, head, pull_request=PULL, **fields)
    sides = {"base": bases or {}, "head": heads or {}}
    results = [
        result(side, sides[side].get(planned.id, counts(planned.id)), planned.id)
        for side in sides
        for planned in made.targets
        if planned.side(side) and not planned.skipped  # type: ignore[arg-type]
    ]
    by_side = [[one for one in results if one["side"] == side] for side in sides]
    verdicts = compare(made, *by_side)
    timed = tuple(
        replace(verdict, rows=(*verdict.rows, *(row for row in rows if row.target == verdict.id)))
        for verdict in verdicts
    )
    verdict = judge(made, timed, accepted=accepted)
    return Scene(plan=made, verdict=verdict, results=results, facts=facts)


def latency(
    name: str, base: float, head: float, low: float, high: float, word: Word = Word.CHANGED, **fields: Any
) -> Row:
    """A latency row as the timing verdict hands it over."""
    sides = [
        complete(value, unit="seconds", scope="warmed_block_average", method="torch.utils.benchmark.Timer")
        for value in (base, head)
    ]
    interval = Interval(estimate=head / base - 1, low=low, high=high, confidence=0.95, pairs=10)
    return Row(target=name, metric="latency", base=sides[0], head=sides[1], word=word, interval=interval, **fields)


def peak(name: str, base: int, head: int) -> Row:
    sides = [complete(value, unit="bytes", scope="pytorch_tensor_bytes", method="storages") for value in (base, head)]
    word = Word.UNCHANGED if base == head else Word.CHANGED
    return Row(target=name, metric="peak_memory", base=sides[0], head=sides[1], word=word)


QUIET = tuple(
    latency(name, 0.0124, 0.0124 * (1 + shift), shift - 0.012, shift + 0.012, Word.WITHIN_NOISE)
    for name, shift in zip(ZOO, (-0.004, 0.002, 0.011, 0.0), strict=True)
)


def passing() -> Scene:
    return scene(rows=QUIET)


def one_regression() -> Scene:
    def network(width: int) -> Any:
        children = (
            linear("stem", 64, 64),
            linear("conv2", 64, width),
            linear("conv3", 64, width),
            linear("fc", 64, 10),
        )
        return make_report(Node("net", "ResNet", children=children))

    rows = (latency("resnet50", 0.01241, 0.01302, 0.034, 0.064),)
    tight = (LIMITS[0], limit("latency", max_increase=0.03, text="+3%", on_exceed="warn"))
    owner = config(*ZOO, limits=tight, accept_label="torchscan: accepted")
    return scene({"resnet50": network(96)}, {"resnet50": network(64)}, base=owner, rows=rows)


def improvement() -> Scene:
    limits = (*LIMITS, limit("peak_memory", max_increase=0.05, text="+5%"))
    rows = (
        peak("vit_b_16", 406_847_488, 331_140_301),
        latency("vit_b_16", 0.0413, 0.03892, -0.071, -0.044),
    )
    return scene(base=config(*ZOO, limits=limits), rows=rows)


def inconclusive() -> Scene:
    return scene(rows=(latency("unet_small", 0.0187, 0.01951, -0.021, 0.11),))


def partial_evidence() -> Scene:
    bound = counts("tiny_lm", operator_flops=number("operator_flops", 3_871_000_000, bound=True))
    diagnostic = {
        "code": "uncounted_operator",
        "severity": "warning",
        "metric": "operator_flops",
        "message": "no formula",
        "operator": "aten.cumsum",
    }
    bound["diagnostics"] = [diagnostic] * 12
    return scene({"tiny_lm": bound})


def new_and_removed() -> Scene:
    cap = limit("operator_flops", max=1e9, text="max 1 G")
    base = config("alexnet", *ZOO[:3], limits=(cap, limit("parameters", max=5e6, text="max 5 M")))
    small = {"operator_flops": 618_000_000, "operator_macs": 309_000_000, "parameters": 3_770_000}
    light = {name: report(**small) for name in ZOO[:3]}
    heads = {**light, "mobilenet_v4": report(**small)}
    head = config("mobilenet_v4", *ZOO[:3], limits=base.limits)
    return scene(heads, {"alexnet": report(operator_flops=900_000_000), **light}, base=base, head=head)


CRASH = failure(
    "RuntimeError",
    message="mat1 and mat2 shapes cannot be multiplied (197x768 and 1024x3072)",
    frames=['File "models/vit.py", line 88, in forward'],
    calls_done=37,
)


def head_failed() -> Scene:
    layers = [{"path": str(index), "call_index": 0, "type": "Linear", "metrics": {}} for index in range(152)]
    return scene({"vit_b_16": CRASH}, {"vit_b_16": counts("vit_b_16", layers=layers)})


def forty_targets() -> Scene:
    names = ("swin_t", "convnext_s", "unet_small", "vit_b_16", *(f"zoo_model_{index:02d}" for index in range(1, 37)))
    limits = (
        *LIMITS,
        limit("parameters", max_increase=0.0, text="+0"),
        limit("peak_memory", max_increase=0.05, text="+5%"),
    )
    bases = {
        "swin_t": report(operator_flops=8_742_000_000),
        "convnext_s": report(parameters=50_223_688),
    }
    heads = {
        "swin_t": report(operator_flops=9_616_000_000),
        "convnext_s": report(parameters=50_227_784),
    }
    rows = (latency("unet_small", 0.0187, 0.01951, -0.021, 0.11), peak("vit_b_16", 406_847_488, 331_140_301))
    return scene(heads, bases, names=names, base=config(*names, limits=limits), rows=rows)


def fork() -> Scene:
    return scene(facts=replace(FACTS, fork="octo-user/zoo"))


def incomparable_method() -> Scene:
    other = complete(9_000_000_000, unit="FLOPs", scope="model", method="torchscan_operators_v2")
    return scene({"resnet50": counts("resnet50", operator_flops=other)})


def first_measurement() -> Scene:
    made = scene(base=None, names=ZOO)
    head = config(*ZOO, limits=LIMITS)
    only_head = [one for one in made.results if one["side"] == "head"]
    first = plan(None, head, pull_request=PULL)
    return Scene(plan=first, verdict=judge(first, compare(first, [], only_head)), results=only_head)


def no_targets() -> Scene:
    return scene(names=(), base=config())


def base_failed() -> Scene:
    return scene({}, {"resnet50": failure("ImportError", stage="load", message="cannot import name 'x'")})


def changed_without_a_limit() -> Scene:
    return scene({"resnet50": counts("resnet50", parameters=33_950_000)})


def within_limits() -> Scene:
    return scene({"resnet50": counts("resnet50", operator_flops=8_260_000_000)})


def over_a_warn_limit() -> Scene:
    soft = (limit(max_increase=0.05, text="+5%", on_exceed="warn"),)
    return scene({"resnet50": counts("resnet50", operator_flops=9_000_000_000)}, base=config(*ZOO, limits=soft))


def accepted() -> Scene:
    who = Acceptance(label="torchscan: accepted", actor="octocat", head_sha=HEAD_SHA)
    return scene({"resnet50": counts("resnet50", operator_flops=9_000_000_000)}, accepted=who)


def skipped() -> Scene:
    owner = config(target("resnet50", paths=("models",)), "tiny_lm", limits=LIMITS[:1])
    return scene(base=owner, changed_paths=["README.md"])


def dependencies_bumped() -> Scene:
    return _with_dependencies(scene(), "requirements.txt")


def dependencies_and_a_regression() -> Scene:
    made = scene({"resnet50": counts("resnet50", operator_flops=9_000_000_000)})
    return _with_dependencies(made, "pyproject.toml", "uv.lock")


def _with_dependencies(made: Scene, *paths: str) -> Scene:
    return replace(made, plan=replace(made.plan, changed_dependencies=paths))


def limits_edited() -> Scene:
    return scene(
        {"resnet50": counts("resnet50", operator_flops=9_000_000_000)},
        head=config(*ZOO, limits=(limit(max_increase=9.0, text="+900%"),)),
    )


def other_torch() -> Scene:
    head = counts("resnet50")
    head["context"]["torch_version"] = "2.14.0"
    return scene({"resnet50": head})


def side_evidence(tensor_peak: int = 406_847_488, **context: Any) -> Any:
    """What one side's processes said of themselves."""
    memory = {
        "device": "cpu",
        "metric": "pytorch_tensor_bytes",
        "baseline_bytes": 10_485_760,
        "peak_bytes": tensor_peak,
        "delta_bytes": tensor_peak - 10_485_760,
    }
    return {
        "context": {**CONTEXT, **context},
        "inputs": TENSOR,
        "first_call_seconds": [0.05],
        "memory": [memory, memory],
        "rss_bytes": [943_718_400, 948_961_280, 945_815_552],
    }


def lockstep(identity: str, change: float, seed: int, **fields: Any) -> Any:
    """Evidence of twelve pairs and eight controls on a seeded machine with outliers."""
    machine, rng = Machine(block_sd=0.012, pair_sd=0.01, outlier_share=0.03, outlier_size=0.3), random.Random(seed)
    rounds = machine.rounds(rng, 12, change=change) + machine.rounds(rng, 8, kind="control")
    rng.shuffle(rounds)
    state = {"load": 0.4, "steal_share": 0.001, "frequency_hertz": 2.9e9}
    passed = {"method": "tolerances", "verdict": "passed", "message": ""}
    sides = {"base": side_evidence(), "head": side_evidence(), "output_check": passed, "machine": [state]}
    return evidence(rounds, identity, planned_pairs=12, **{**sides, **fields})


def benchmarked() -> Scene:
    """Timed targets: one over its limits, one whose outputs differ, one that cannot be told, one without change."""
    timed = Benchmark(metrics=("latency", "throughput", "peak_memory", "process_peak_rss"), pairs=12)
    limits = (
        *LIMITS[:1],
        limit("latency", max_increase=0.05, text="+5%"),
        limit("throughput", max_decrease=0.05, text="−5%", on_exceed="warn"),
        limit("peak_memory", max_increase=0.02, text="+2%"),
    )
    differ = {"method": "tolerances", "verdict": "failed", "message": "tensor 0: largest difference 0.3 at index 17"}
    found = {
        "resnet50": lockstep("resnet50", 0.12, 1, head=side_evidence(421_527_552)),
        "vit_b_16": lockstep("vit_b_16", -0.1, 2, head=side_evidence(device_name="Other"), output_check=differ),
        "unet_small": lockstep("unet_small", 0.045, 3),
        "tiny_lm": lockstep("tiny_lm", 0.002, 4),
    }
    owner = config(*(target(name, benchmark=timed) for name in ZOO), limits=limits)
    plain = scene(base=owner)
    verdicts = [
        replace(one, rows=tuple(row for row in one.rows if row.metric not in BENCHMARK_METRICS))
        for one in plain.verdict.targets
    ]
    return replace(plain, verdict=judge(plain.plan, with_timings(plain.plan, verdicts, found)))


SCENES: dict[str, Callable[[], Scene]] = {
    function.__name__: function
    for function in (
        passing,
        one_regression,
        improvement,
        inconclusive,
        partial_evidence,
        new_and_removed,
        head_failed,
        forty_targets,
        fork,
        incomparable_method,
        first_measurement,
        no_targets,
        base_failed,
        changed_without_a_limit,
        within_limits,
        over_a_warn_limit,
        accepted,
        skipped,
        limits_edited,
        dependencies_bumped,
        dependencies_and_a_regression,
        other_torch,
        benchmarked,
    )
}


@cache
def rendered(name: str) -> Rendered:
    """A scene's texts. Drawing forty pages takes a while, and equal runs give equal texts."""
    return SCENES[name]().render()
