"""Softmax and its kin over R rows of S elements, as the numerically safe stages: max, subtract, exp, sum, divide."""

from __future__ import annotations

from torch import nn

from torchscan.formulas.axes import OVER_CHANNELS, is_channels
from torchscan.formulas.family import Family, Formula, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates
from torchscan.formulas.operands import operand
from torchscan.formulas.receptive import NOWHERE, POINT, spatial


def softmax_flops(rows: int, size: int) -> int:
    """Count max S - 1, subtract S, exp S, sum S - 1, divide S for each of R rows: R(5S - 2)."""
    return rows * max(5 * size - 2, 0)


def softmax_dmas(rows: int, size: int) -> int:
    """Count the five stages' reads and writes: 8 RS + 4 R."""
    return 8 * rows * size + 4 * rows


def softmax(call: ModuleCall) -> ModuleEstimates:
    """Count a softmax over rows of S elements."""
    _, rows, size, field = _rows(call)
    return {"module_flops": softmax_flops(rows, size), "macs": 0, "dmas": softmax_dmas(rows, size), **field}


def softmin(call: ModuleCall) -> ModuleEstimates:
    """Count the softmax of the negated input: N more, read and written once more."""
    values, rows, size, field = _rows(call)
    flops, dmas = softmax_flops(rows, size) + values, softmax_dmas(rows, size) + 2 * values
    return {"module_flops": flops, "macs": 0, "dmas": dmas, **field}


def log_softmax(call: ModuleCall) -> ModuleEstimates:
    """Count max S - 1, subtract S, exp S, sum S - 1, log 1, subtract S for each row: R(5S - 1)."""
    _, rows, size, field = _rows(call)
    return {
        "module_flops": log_softmax_flops(rows, size),
        "macs": 0,
        "dmas": log_softmax_dmas(rows, size),
        **field,
    }


def log_softmax_flops(rows: int, size: int) -> int:
    """Count R(5S - 1)."""
    return rows * max(5 * size - 1, 0)


def log_softmax_dmas(rows: int, size: int) -> int:
    """Count the stages' reads and writes: those of softmax, and the logarithm's 2 R."""
    return 8 * rows * size + 6 * rows


def _rows(call: ModuleCall) -> tuple[int, int, int, ModuleEstimates]:
    """Give values, rows, row size and field. Without a ``dim``, torch takes 0 for 0, 1 or 3 axes, and 1 otherwise."""
    source = operand(call)
    values, dims = source.numel(), source.dim()
    dim = -3 if isinstance(call.module, nn.Softmax2d) else getattr(call.module, "dim", None)
    if dim is None:
        dim = 0 if dims in (0, 1, 3) else 1
    size = source.shape[dim] if dims else 1
    channels = isinstance(call.module, nn.Softmax2d) or is_channels(dims, dim)
    return values, values // max(size, 1), size, spatial(POINT) if channels else NOWHERE


def _family(names: tuple[str, ...], estimate: Formula, flops: str, dmas: str) -> Family:
    return Family(
        group="Activations",
        types=nn_types(*names),
        estimate=estimate,
        flops=flops,
        macs="0",
        dmas=dmas,
        spatial=OVER_CHANNELS,
    )


FAMILIES = (
    _family(("Softmax", "Softmax2d"), softmax, "R·(5·S − 2)", "8·R·S + 4·R"),
    _family(("Softmin",), softmin, "R·(5·S − 2) + N", "8·R·S + 4·R + 2·N"),
    _family(("LogSoftmax",), log_softmax, "R·(5·S − 1)", "8·R·S + 6·R"),
)
