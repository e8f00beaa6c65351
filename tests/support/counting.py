"""Run something under the operator counter, and read what it came to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchscan.operators.counter import OperatorCounter


def counted(workload: Callable[[], Any], *, grad: bool = False, **options: Any) -> OperatorCounter:
    counter = OperatorCounter(**options)
    with torch.set_grad_enabled(grad), counter:
        workload()
    return counter


def flops(workload: Callable[[], Any], *, grad: bool = False, **options: Any) -> int | float:
    """The FLOPs of a workload that must be complete."""
    total = counted(workload, grad=grad, **options).report()["total"]
    assert total["status"] == "complete", total
    return total["value"]


def macs(workload: Callable[[], Any], *, grad: bool = False) -> int | float:
    """The multiply-accumulates of a workload, which must be complete."""
    tally = counted(workload, grad=grad).total
    assert tally.is_macs_complete
    return tally.macs


def operators_of(report: Any, code: str) -> list[str]:
    return [found["operator"] for found in report["diagnostics"] if found["code"] == code]
