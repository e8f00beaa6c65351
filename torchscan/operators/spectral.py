"""Fourier transforms: 5 n log2 n real operations for each transform of length n, half when one side is real."""

from __future__ import annotations

from math import log2
from typing import Any

from torchscan.operators.call import Call, sizes
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "Fourier transforms"


def _transforms(shape: Any, dims: Any, *, halved: bool) -> int:
    """A transform over several axes is one over each in turn. Rounded for each transform, so batches add up."""
    total = 1
    for size in shape:
        total *= size
    flops = 0
    for dim in dims:
        length = shape[dim]
        each = round(5 * length * log2(length) / (2 if halved else 1)) if length > 1 else 0
        flops += each * (total // length if length else 0)
    return flops


def _complex(call: Call) -> int:
    """``_fft_c2c(input, dims, ...)``."""
    return _transforms(sizes(call.output), call.args[1], halved=False)


def _from_real(call: Call) -> int:
    """``_fft_r2c(input, dims, ...)``: lengths of the real side."""
    return _transforms(sizes(call.args[0]), call.args[1], halved=True)


def _to_real(call: Call) -> int:
    """``_fft_c2r(input, dims, ...)``: lengths of the real side."""
    return _transforms(sizes(call.output), call.args[1], halved=True)


def _row(text: str, cost: Cost) -> Formula:
    return Formula(FAMILY, text, cost, is_complex_exact=True)


ROWS: dict[str, Row] = {
    "aten._fft_c2c": _row("5 n log2 n per transform", _complex),
    "aten._fft_r2c": _row("2.5 n log2 n per transform", _from_real),
    "aten._fft_c2r": _row("2.5 n log2 n per transform", _to_real),
}
