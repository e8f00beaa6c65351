"""From a table that fits the schema to a ``Config``, with the rules that no schema can say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ci_action.core.config.amounts import EXAMPLES, parse_amount, parse_percent
from ci_action.core.config.denied import is_denied
from ci_action.core.config.entries import Benchmark, Config, Limit, OutputCheck, Target
from ci_action.core.config.errors import found, near
from ci_action.core.metrics import METRICS, measured_by
from ci_action.core.timing.pairs import covers, gated_timings, needed_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ci_action.core.config.errors import Place
    from ci_action.core.config.toml_lines import Path
    from ci_action.core.metrics import Quantity

_POLICIES = ("on-exceed", "on-unknown", "on-inconclusive", "on-missing-base", "on-removed")
_PLAIN = ("accept-label", "threads", "seed", "environment", "submodules", "lfs", "comment")
_LISTS = ("import-paths", "pass-env", "install")
_WILDCARDS = frozenset("*?[")


def build_config(table: Mapping[str, Any], place: Place) -> Config:
    """Build the config's values.

    Raises:
        ConfigError: for anything that the schema lets through and that has no meaning.
    """
    _check_run_keys(table, place)
    targets = tuple(_target(entry, ("targets", i), place) for i, entry in enumerate(table.get("targets", ())))
    _check_unique([target.id for target in targets], place)
    limits = tuple(_limit(entry, ("limits", i), place) for i, entry in enumerate(table.get("limits", ())))
    for index, limit in enumerate(limits):
        _check_reach(limit, targets, ("limits", index), place)
    _check_pairs(targets, limits, place)
    given: dict[str, Any] = {key.replace("-", "_"): table[key] for key in _PLAIN if key in table}
    given |= {key.replace("-", "_"): tuple(table[key]) for key in _LISTS if key in table}
    if "memory-limit" in table:
        given["memory_limit_bytes"] = int(_amount(table["memory-limit"], "bytes", ("memory-limit",), place))
    for key in ("timeout-seconds", "max-seconds"):
        if key in table:
            given[key.replace("-", "_")] = _finite(table[key], (key,), place)
    return Config(source=place.source, targets=targets, limits=limits, **given)


def _check_run_keys(table: Mapping[str, Any], place: Place) -> None:
    for index, name in enumerate(table.get("pass-env", ())):
        if is_denied(name):
            problem = f"found {name!r}; it can hold a token or replace our code; accepted: any other variable"
            raise place.error(("pass-env", index), problem)
    separate = table.get("environment") == "separate"
    if separate != ("install" in table):
        key = "environment" if separate else "install"
        raise place.error(
            (key,),
            'environment = "separate" and install belong together: give both, or neither for one shared interpreter',
        )


def _finite(value: float, path: Path, place: Place) -> float:
    if not math.isfinite(value):
        raise place.error(path, f"found {value}; accepted: a finite number")
    return float(value)


def _check_unique(ids: Sequence[str], place: Place) -> None:
    seen: dict[str, int] = {}
    for index, identity in enumerate(ids):
        if identity in seen:
            raise place.error(
                ("targets", index, "id"), f"found {identity!r} again; accepted: an id that no other target has"
            )
        seen[identity] = index


def _target(entry: Mapping[str, Any], path: Path, place: Place) -> Target:
    benchmark = _benchmark(entry["benchmark"], (*path, "benchmark"), place) if "benchmark" in entry else None
    target = Target(
        id=entry["id"],
        factory=entry["factory"],
        analysis=entry.get("analysis", "full"),
        device=entry.get("device", "cpu"),
        benchmark=benchmark,
        paths=tuple(entry.get("paths", ())),
    )
    if not measured_by(target):
        raise place.error(
            (*path, "analysis"),
            'found "off" without a benchmark table, so nothing of this target would be measured; '
            'accepted: "full" or "structure", or "off" beside [targets.benchmark]',
        )
    if benchmark and target.device == "meta":
        raise place.error(
            (*path, "benchmark"), 'device = "meta" holds no values to time; drop this table, or set another device'
        )
    return target


def _benchmark(entry: Mapping[str, Any], path: Path, place: Place) -> Benchmark:
    check = entry.get("output-check", "skip")
    if isinstance(check, dict):
        limits: dict[str, Any] = {
            key: _finite(value, (*path, "output-check", key), place) for key, value in check.items()
        }
        output_check = OutputCheck(**limits)
    else:
        output_check = OutputCheck(callable=None if check == "skip" else check)
    metrics = tuple(entry.get("metrics", ("latency",)))
    return Benchmark(metrics=metrics, pairs=int(entry.get("pairs", 10)), output_check=output_check)


def _limit(entry: Mapping[str, Any], path: Path, place: Place) -> Limit:
    metric = METRICS[entry["metric"]]
    wrong = (
        ("max-increase", "max-increase-by", "max") if metric.better == "higher" else ("max-decrease", "max-decrease-by")
    )
    for key in wrong:
        if key in entry:
            use = "max-decrease, max-decrease-by" if metric.better == "higher" else "max-increase, max-increase-by, max"
            problem = f"has no meaning for {metric.name}, where {metric.better} is better; accepted: {use}"
            raise place.error((*path, key), problem)
    amounts: dict[str, Any] = {
        key.replace("-", "_"): _percent(entry[key], (*path, key), place)
        if key in {"max-increase", "max-decrease"}
        else _amount(entry[key], metric.quantity, (*path, key), place)
        for key in ("max-increase", "max-increase-by", "max-decrease", "max-decrease-by", "max")
        if key in entry
    }
    if not amounts:
        use = "max-decrease or max-decrease-by" if metric.better == "higher" else "max-increase, max-increase-by or max"
        raise place.error(path, f"this limit has no threshold; add {use}")
    _check_floor(entry, amounts, path, place)
    policies = {key.replace("-", "_"): entry[key] for key in _POLICIES if key in entry}
    return Limit(
        targets=tuple(entry.get("targets", ("*",))),
        metric=metric.name,
        text=_words(entry),
        line=place.line(path),
        **amounts,
        **policies,
    )


def _check_floor(entry: Mapping[str, Any], amounts: Mapping[str, float], path: Path, place: Place) -> None:
    """An increase that equal code can show by itself is no limit."""
    floor = METRICS[entry["metric"]].noise_floor
    share, amount = amounts.get("max_increase"), amounts.get("max_increase_by")
    if (share is None and amount is None) or (share or 0.0) >= floor:
        return
    shown = "no max-increase" if share is None else f"found {found(entry['max-increase'])}"
    key = "max-increase-by" if share is None else "max-increase"
    problem = f"{shown}; counts of equal code differ by up to {floor:.1%}, so max-increase must be {floor:.1%} or more"
    raise place.error((*path, key), problem)


def _percent(value: str | float, path: Path, place: Place) -> float:
    try:
        return parse_percent(value) if isinstance(value, str) else float(value)
    except ValueError as error:
        raise place.error(path, f"found {found(value)}; accepted: {error}") from None


def _amount(value: str | float, quantity: Quantity, path: Path, place: Place) -> float:
    if not isinstance(value, str):
        if quantity in {"count", "rate"} or value == 0:
            return _finite(value, path, place)
        raise place.error(path, f"found {found(value)} without a unit; accepted: for example {EXAMPLES[quantity]}")
    try:
        return parse_amount(value, quantity)
    except ValueError as error:
        raise place.error(path, f"found {found(value)}; accepted: {error}") from None


def _words(entry: Mapping[str, Any]) -> str:
    """Say the limit in the owner's own units: ``+5% and +2 M, max 4.2 G``."""
    relative = [
        f"{sign}{' '.join(str(entry[key]).split())}"
        for key, sign in (
            ("max-increase", "+"),
            ("max-increase-by", "+"),
            ("max-decrease", "−"),
            ("max-decrease-by", "−"),
        )
        if key in entry
    ]
    parts = [" and ".join(relative)] if relative else []
    if "max" in entry:
        parts.append(f"max {' '.join(str(entry['max']).split())}")
    return ", ".join(parts)


def _check_reach(limit: Limit, targets: Sequence[Target], path: Path, place: Place) -> None:
    """A limit that can never apply is a typo, and a typo must not read as a passed gate."""
    if not targets:
        return
    ids = [target.id for target in targets]
    for index, pattern in enumerate(limit.targets):
        if not _WILDCARDS & set(pattern) and pattern not in ids:
            problem = f"found {pattern!r}, but no target has this id{near(pattern, ids)}"
            raise place.error((*path, "targets", index), problem)
    reached = [target for target in targets if covers(limit, target.id)]
    if reached and not any(limit.metric in measured_by(target) for target in reached):
        what = (
            "its benchmark metrics"
            if limit.metric not in measured_by(Target(id="", factory=""))
            else 'analysis = "full"'
        )
        problem = f"{limit.metric} is not measured for {reached[0].id!r}; add it to {what}, or drop the limit"
        raise place.error((*path, "metric"), problem)


def _check_pairs(targets: Sequence[Target], limits: Sequence[Limit], place: Place) -> None:
    gated = gated_timings(targets, limits)
    needed = needed_pairs(len(gated))
    for index, target in enumerate(targets):
        if target.benchmark and target.benchmark.pairs < needed and any(identity == target.id for identity, _ in gated):
            problem = (
                f"found {target.benchmark.pairs}; {len(gated)} timing limit(s) need at least {needed} pairs, "
                "since 2^(1-n) <= 0.05/k must hold for the exact test to decide"
            )
            raise place.error(("targets", index, "benchmark", "pairs"), problem)
