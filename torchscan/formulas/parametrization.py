"""Parametrizations: weights that are computed anew at each use. Their work stands on rows of their own.

Rescaling a parameter is no matrix product, so weight normalization has no MACs; the spectral norm's products are MACs.
"""

from __future__ import annotations

from torch import nn
from torch.nn.utils import parametrizations

from torchscan.formulas.family import Family
from torchscan.formulas.handler import ModuleCall, ModuleEstimates, UnsupportedCall
from torchscan.formulas.operands import floating, module_of, operand, result
from torchscan.formulas.receptive import NOWHERE
from torchscan.formulas.work import product


def weight_norm(call: ModuleCall) -> ModuleEstimates:
    """Count ``g v / |v|`` for N values in R slices: squares N, their sums N - R, roots R, divides R, products N."""
    scales, values = operand(call, "weight_g", 0).numel(), result(call).numel()
    return {"module_flops": 3 * values + scales, "macs": 0, "dmas": 3 * values + 3 * scales, **NOWHERE}


def spectral_norm(call: ModuleCall) -> ModuleEstimates:
    """Count ``W / (u' W v)`` for an (R, C) matrix: R dot products of C, one of R, and a divide per value."""
    weight, module = operand(call, "weight"), module_of(call)
    if module.training or weight.dim() < 2:
        raise UnsupportedCall("power iterations in training, and vectors, are not counted")
    rows = weight.shape[module.dim]
    columns = weight.numel() // max(rows, 1)
    vectors = floating(module._u, "u").numel() + floating(module._v, "v").numel()  # the buffers have no public name
    work = product(rows, columns) + product(1, rows)
    return {
        "module_flops": work.flops + weight.numel(),
        "macs": work.macs,
        "dmas": 3 * weight.numel() + vectors + 2 * rows + 2,
        **NOWHERE,
    }


def _private(name: str) -> tuple[type[nn.Module], ...]:
    kind = getattr(parametrizations, name, None)  # the classes behind weight_norm() and spectral_norm() are private
    return () if kind is None else (kind,)


FAMILIES = (
    Family(
        group="Parametrizations",
        types=_private("_WeightNorm"),
        estimate=weight_norm,
        flops="3·N + R for N values in R slices",
        macs="0",
        dmas="3·N + 3·R",
        spatial="none",
    ),
    Family(
        group="Parametrizations",
        types=_private("_SpectralNorm"),
        estimate=spectral_norm,
        flops="R·(2·C − 1) + 2·R − 1 + N for an R × C matrix",
        macs="N + R",
        dmas="3·N + C + 3·R + 2",
        spatial="none",
        boundary="evaluation; weights of two or more axes",
    ),
)
