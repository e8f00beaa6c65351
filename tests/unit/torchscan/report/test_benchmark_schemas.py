from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, NotRequired, get_origin, get_type_hints

import pytest
from support.benchmarks import make_benchmark, schema_faults

from torchscan.report.benchmark import (
    BenchmarkComparison,
    BenchmarkContext,
    BenchmarkReport,
    Measurement,
    PeakMemory,
    ProfileContext,
    ProfileReport,
    ProfileRow,
)
from torchscan.report.metric import partial


def schema(name: str) -> dict[str, Any]:
    text = files("torchscan").joinpath("schemas", f"{name}.schema.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


BENCHMARK, COMPARISON, PROFILE = schema("benchmark"), schema("benchmark_comparison"), schema("profile")


@pytest.mark.parametrize(
    ("described", "kind"),
    [
        (BENCHMARK, BenchmarkReport),
        (BENCHMARK["$defs"]["context"], BenchmarkContext),
        (BENCHMARK["properties"]["measurement"], Measurement),
        (BENCHMARK["$defs"]["memory"], PeakMemory),
        (BENCHMARK["$defs"]["profile"], ProfileReport),
        (PROFILE, ProfileReport),
        (PROFILE["$defs"]["profile_context"], ProfileContext),
        (PROFILE["$defs"]["profile_row"], ProfileRow),
        (COMPARISON, BenchmarkComparison),
    ],
)
def test_schema_and_type_name_the_same_keys(described: dict[str, Any], kind: Any) -> None:
    assert set(described["properties"]) == set(kind.__annotations__)
    hints = get_type_hints(kind, include_extras=True)
    assert set(described["required"]) == {name for name, hint in hints.items() if get_origin(hint) is not NotRequired}


@pytest.mark.parametrize(
    "broken",
    [
        {"report_type": "analysis"},
        {"schema_version": 2},
        {"totals": {}},
        {"measurement": {"number_per_run": 1, "raw_times_seconds": [0], "measured_calls": 1}},
        {"context": {}},
        {"further": 1},
    ],
)
def test_what_is_no_benchmark_is_refused(broken: dict[str, Any]) -> None:
    assert schema_faults("benchmark", make_benchmark()) == []
    assert schema_faults("benchmark", {**make_benchmark(), **broken})


def test_a_partial_result_with_a_value_is_refused() -> None:
    bound = {**partial(1, unit="FLOPs", scope="workload", method="m"), "value": 1}
    assert schema_faults("benchmark", make_benchmark(totals={"operator_flops": bound}))  # type: ignore[dict-item]
