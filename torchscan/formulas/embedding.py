"""Look-ups in a table of rows."""

from __future__ import annotations

from typing import Any

from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates, UnsupportedCall
from torchscan.formulas.operands import argument, numeric, result
from torchscan.formulas.receptive import NOWHERE


def embedding(call: ModuleCall) -> ModuleEstimates:
    """Read each index and its row, and write the row: no arithmetic."""
    module: Any = call.module
    if module.max_norm is not None:
        raise UnsupportedCall("max_norm rescales the rows that exceed it, which their values decide")
    indices, written = numeric(argument(call, 0, "input"), "input"), result(call).numel()
    return {"module_flops": 0, "macs": 0, "dmas": indices.numel() + 2 * written, **NOWHERE}


FAMILIES = (
    Family(
        group="Embedding",
        types=nn_types("Embedding"),
        estimate=embedding,
        flops="0",
        macs="0",
        dmas="indices + 2 × output (rows read and written)",
        spatial="none",
        boundary="no max_norm; dense indices",
    ),
)
