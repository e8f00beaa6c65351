"""What callgrind counted: the evidence of it, and its total. Pure.

A processor that valgrind simulates runs the same code in nearly the same number of instructions, whatever its
neighbours do: no pairs, no interval. What is left (allocators, addresses, caches of Python) stays under the metric's
noise floor.
"""

from __future__ import annotations

from statistics import median_low
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypedDict

from torchscan.report.analysis import NOT_REQUESTED
from torchscan.report.metric import MetricResult, complete, unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

METHOD = "callgrind_one_thread_median_of_3_calls"
COUNTED_CALLS = 3
"""Valgrind takes a minute to start and a second for a call, and one call may meet a cache that others filled."""

Gap = Literal["", "no_valgrind", "not_on_cpu", "no_requests", "failed"]


class InstructionCounts(TypedDict):
    """The instructions of each counted call of one side, or why there are none: the name of one of ``GAPS``."""

    counts: list[int]
    gap: Gap


GAPS: Mapping[Gap, str] = MappingProxyType(
    {
        "no_valgrind": "valgrind is not on the PATH: install it on the runner, or drop the metric",
        "not_on_cpu": "valgrind sees the CPU alone, and the target runs on another device",
        "no_requests": "valgrind takes requests from Python on Linux on x86-64 alone",
        "failed": "the workload did not get through under valgrind",
    }
)


def instruction_total(found: InstructionCounts | None) -> MetricResult:
    """Give the instructions of one call: the middle one of those counted."""
    facts = {"unit": "instructions", "scope": "one_call"}
    if found is None:
        return unavailable(**facts, method=NOT_REQUESTED)
    if not found["counts"]:
        return unavailable(**facts, method=METHOD)
    return complete(median_low(found["counts"]), **facts, method=METHOD)
