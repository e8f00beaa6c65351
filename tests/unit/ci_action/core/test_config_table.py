from __future__ import annotations

from dataclasses import fields

from jsonschema import Draft202012Validator

from ci_action.core.config.entries import Benchmark, Config, Limit, Target
from ci_action.core.config.table import markdown_table
from ci_action.core.metrics import BENCHMARK_METRICS, METRICS
from ci_action.core.schemas import load_schema
from torchscan.report.analysis import TOTALS

SCHEMA = load_schema("config")


def keys(definition: str) -> set[str]:
    content = SCHEMA["$defs"][definition] if definition else SCHEMA
    return {key.replace("-", "_") for key in content["properties"]}


def test_schemas_are_schemas() -> None:
    for name in ("config", "verdict"):
        Draft202012Validator.check_schema(load_schema(name))  # type: ignore[arg-type]


def test_keys_of_the_schema_are_the_fields_of_the_dataclasses() -> None:
    assert keys("") == {field.name for field in fields(Config)} - {"source", "memory_limit_bytes"} | {
        "schema_version",
        "memory_limit",
    }
    assert keys("target") == {field.name for field in fields(Target)}
    assert keys("benchmark") == {field.name for field in fields(Benchmark)}
    assert keys("limit") == {field.name for field in fields(Limit)} - {"text", "line"}


def test_defaults_of_the_schema_are_those_of_the_dataclasses() -> None:
    for definition, owner in (("", Config), ("target", Target), ("benchmark", Benchmark), ("limit", Limit)):
        content = SCHEMA["$defs"][definition] if definition else SCHEMA
        defaults = {field.name: field.default for field in fields(owner)}
        for key, entry in content["properties"].items():
            default = entry.get("default")
            if default in (None, "skip") or key in {"schema-version", "targets", "limits"}:
                continue
            value = tuple(default) if isinstance(default, list) else default
            assert defaults[key.replace("-", "_")] == value, key


def test_metrics_of_the_schema_are_our_table() -> None:
    assert SCHEMA["$defs"]["limit"]["properties"]["metric"]["enum"] == list(METRICS)
    assert tuple(SCHEMA["$defs"]["benchmark"]["properties"]["metrics"]["items"]["enum"]) == BENCHMARK_METRICS
    assert set(METRICS) == {*TOTALS, *BENCHMARK_METRICS}


def test_every_key_has_a_row_with_a_meaning() -> None:
    rows = [line.split(" | ") for line in markdown_table().splitlines()[2:]]
    count = sum(len(keys(definition)) for definition in ("", "target", "benchmark", "limit"))

    assert len(rows) == count
    assert {len(row) for row in rows} == {5}
    assert all(row[4].strip(" |") for row in rows)
