"""Version and integrity of reports that come back from a file or another process. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

SCHEMA_VERSION = 1

_LARGEST = 2**1000
_LATENCY_CHANGES = ("faster", "slower", "within_variability", "unavailable")
_METRIC_KEYS = frozenset(("status", "value", "known_value", "unit", "scope", "method"))
_REPORT_KEYS = ("context", "inputs", "layers", "totals", "operator_flops", "diagnostics")
_ROW_TYPES = {"path": str, "call_index": int, "name": str, "depth": int, "type": str}
_ROW_MAPPINGS = ("input", "output", "metric_owners", "metric_ownership", "token_dependencies")
_DIAGNOSTIC_KEYS = ("code", "severity", "metric", "message")
_ROW_METRICS = ("parameters", "buffers", "metrics")


def check_analysis(report: Mapping[str, Any]) -> None:
    """Check that an analysis is whole: version, required keys, states of every metric, unique module calls.

    Raises:
        ValueError: it is not; the message names the place.
    """
    check_version(report, "report")
    _require(report, _REPORT_KEYS, "report")
    check_metrics(report["totals"], "totals")
    seen = set()
    for index, row in enumerate(_list(report["layers"], "layers")):
        _check_row(row, f"layers[{index}]")
        identity = (row["path"], row["call_index"])
        if identity in seen:
            raise ValueError(f"layers[{index}]: call {identity[1]} of module {identity[0]!r} is listed twice")
        seen.add(identity)
    _check_diagnostics(report["diagnostics"])
    _require(report["context"], (), "context")
    model_type = report["context"].get("model_type", "")
    if not isinstance(model_type, str):
        raise _malformed("context: model_type", "a class name", model_type)
    _require(report["operator_flops"], ("total",), "operator_flops")
    check_metric(report["operator_flops"]["total"], "operator_flops.total")


def check_benchmark(report: Mapping[str, Any]) -> None:
    """Check that a benchmark report is whole: version, required keys, states of every total, finite positive times.

    Raises:
        ValueError: it is not; the message names the place.
    """
    check_version(report, "report")
    _require(report, ("context", "inputs", "totals", "measurement", "diagnostics"), "report")
    _require(report["context"], ("device",), "context")
    _check_diagnostics(report["diagnostics"])
    check_metrics(report["totals"], "totals")
    measurement = report["measurement"]
    _require(measurement, ("number_per_run", "raw_times_seconds", "measured_calls"), "measurement")
    for index, seconds in enumerate(_list(measurement["raw_times_seconds"], "measurement: raw_times_seconds")):
        if not _is_number(seconds) or seconds < 0:
            raise _malformed(f"measurement: raw_times_seconds[{index}]", "finite seconds of at least 0", seconds)
    if type(measurement["number_per_run"]) is not int or measurement["number_per_run"] < 0:
        raise _malformed("measurement: number_per_run", "an integer of at least 0", measurement["number_per_run"])
    if "memory" in report:
        _check_numbers(report["memory"], ("baseline_bytes", "peak_bytes", "delta_bytes"), "memory")
        _require(report["memory"], ("metric",), "memory")
    if "profile" in report:
        _check_profile(report["profile"])


def check_benchmark_comparison(comparison: Mapping[str, Any]) -> None:
    """Check that a comparison and both of its sides are whole.

    Raises:
        ValueError: it is not; the message names the place.
    """
    check_version(comparison, "comparison")
    _require(comparison, ("before", "after", "totals", "output_check", "latency_change"), "comparison")
    for side in ("before", "after"):
        try:
            check_benchmark(comparison[side])
        except ValueError as error:
            raise ValueError(f"{side}: {error}") from error
    if comparison["output_check"] not in ("passed", "failed"):
        raise _malformed("comparison: output_check", "'passed' or 'failed'", comparison["output_check"])
    if comparison["latency_change"] not in _LATENCY_CHANGES:
        expected = f"one of {', '.join(_LATENCY_CHANGES)}"
        raise _malformed("comparison: latency_change", expected, comparison["latency_change"])
    _require(comparison["totals"], (), "comparison: totals")
    for name, delta in comparison["totals"].items():
        _require(delta, ("status", "delta", "before", "after"), f"totals: {name}")
        for side in ("before", "after"):
            if delta[side] is not None:
                check_metric(delta[side], f"totals: {name}: {side}")


def check_version(report: Mapping[str, Any], where: str) -> None:
    """Check the schema version.

    Raises:
        ValueError: it is missing or not ours.
    """
    if not isinstance(report, Mapping):
        raise _malformed(where, "a torchscan report (a dict)", report)
    version = report.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise ValueError(
            f"{where}: schema_version is {version!r}, this torchscan reads {SCHEMA_VERSION}; "
            "use the torchscan version that wrote the report"
        )


def check_metrics(metrics: object, where: str) -> None:
    """Check every result of a name -> MetricResult mapping.

    Raises:
        ValueError: it is no mapping, or one of its results is malformed.
    """
    if not isinstance(metrics, Mapping):
        raise _malformed(where, "a mapping of metric names", metrics)
    for name, result in metrics.items():
        if not isinstance(name, str):
            raise _malformed(where, "metric names that are strings", name)
        if not _is_whole(result):
            check_metric(result, f"{where}: {name}")


def check_metric(result: object, where: str) -> None:
    """Check one MetricResult and say what is wrong with it.

    Raises:
        ValueError: a key is missing or unknown, or the numbers contradict the status.
    """
    if not isinstance(result, Mapping) or set(result) != _METRIC_KEYS:
        found = sorted(map(str, result)) if isinstance(result, Mapping) else type(result).__name__
        raise ValueError(f"{where}: a metric has exactly the keys {sorted(_METRIC_KEYS)}, got {found}")
    for key in ("unit", "scope", "method"):
        if not isinstance(result[key], str):
            raise _malformed(f"{where}: {key}", "a string", result[key])
    if not _is_whole(result):
        raise ValueError(
            f"{where}: status {result['status']!r} with value {result['value']!r} and known_value "
            f"{result['known_value']!r}; complete needs two equal finite numbers, partial a null value and a finite "
            "known_value, unavailable two nulls"
        )


def _is_whole(result: Any) -> bool:
    """Tell whether a result is well-formed. One pass, no message: a report holds a hundred thousand of them."""
    if type(result) is not dict or result.keys() != _METRIC_KEYS:
        return False
    status, value, known = result["status"], result["value"], result["known_value"]
    if type(result["unit"]) is not str or type(result["scope"]) is not str or type(result["method"]) is not str:
        return False
    if status == "complete":
        return _is_number(value) and _is_number(known) and value == known
    if status == "partial":
        return value is None and _is_number(known)
    return status == "unavailable" and value is None and known is None


def _is_number(value: object) -> bool:
    """Tell whether a value is a number that every reader of JSON can hold: an integer beyond floats is none."""
    return (type(value) is int and -_LARGEST < value < _LARGEST) or (type(value) is float and isfinite(value))


def _malformed(where: str, expected: str, got: object) -> ValueError:
    shown = repr(got)
    return ValueError(f"{where}: expected {expected}, got {type(got).__name__} {shown[:60]}{'…' * (len(shown) > 60)}")


def _require(record: object, keys: Iterable[str], where: str) -> None:
    if not isinstance(record, Mapping):
        raise _malformed(where, "a mapping", record)
    missing = [key for key in keys if key not in record]
    if missing:
        raise ValueError(f"{where}: missing {', '.join(f'`{key}`' for key in missing)}; is the report cut off?")


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _malformed(where, "a list", value)
    return value


def _check_profile(profile: object) -> None:
    _require(profile, ("rows", "total_operators"), "profile")
    whole: Any = profile
    _check_numbers(whole, ("total_operators",), "profile")
    for index, row in enumerate(_list(whole["rows"], "profile: rows")):
        where = f"profile: rows[{index}]"
        _check_numbers(row, ("calls", "cpu_self_seconds"), where)
        _require(row, ("operator", "device_self_seconds"), where)
        if row["device_self_seconds"] is not None:
            _check_numbers(row, ("device_self_seconds",), where)
        if not isinstance(row["operator"], str):
            raise _malformed(f"{where}: operator", "a string", row["operator"])


def _check_numbers(record: Any, keys: Iterable[str], where: str) -> None:
    _require(record, keys, where)
    for key in keys:
        if not _is_number(record[key]) or record[key] < 0:
            raise _malformed(f"{where}: {key}", "a finite number of at least 0", record[key])


def _check_diagnostics(found: object) -> None:
    for index, diagnostic in enumerate(_list(found, "diagnostics")):
        _require(diagnostic, _DIAGNOSTIC_KEYS, f"diagnostics[{index}]")
        for key in (*_DIAGNOSTIC_KEYS, "path", "operator"):
            if not isinstance(diagnostic.get(key, ""), str):
                raise _malformed(f"diagnostics[{index}]: {key}", "a string", diagnostic[key])


def _check_row(row: Any, where: str) -> None:
    _require(row, (*_ROW_TYPES, "input", "output", *_ROW_METRICS), where)
    for key, kind in _ROW_TYPES.items():
        if type(row[key]) is not kind:
            raise _malformed(f"{where}: {key}", f"a value of type {kind.__name__}", row[key])
    for key in _ROW_METRICS:
        check_metrics(row[key], f"{where} ({row['path']!r}): {key}")
    for key in _ROW_MAPPINGS:
        if key in row and type(row[key]) is not dict:
            raise _malformed(f"{where}: {key}", "a mapping", row[key])
    for owner in row.get("metric_owners", {}).values():
        _require(owner, ("path", "call_index"), f"{where}: metric_owners")
