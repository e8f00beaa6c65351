"""Normalizations, counted in two passes over N values in R rows: mean N, variance 3N, eps and root 2R, normalize 2N.

Each affine tensor adds N. MACs are the N squares of the variance and the N products with an affine weight. DMAs follow
the same stages: mean N + R, variance N + 2R, eps 1, normalize 2N + 2R, and 2N + parameters for the affine stage.
"""

from __future__ import annotations

from math import prod
from typing import Any

from torch import Tensor

from torchscan.formulas.axes import spatial_axes
from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates, UnsupportedCall
from torchscan.formulas.operands import elements, module_of, operand, result
from torchscan.formulas.receptive import NOWHERE, POINT, spatial
from torchscan.formulas.work import Work


def two_pass(values: int, rows: int, weight: Tensor | None, bias: Tensor | None, tracked_channels: int = 0) -> Work:
    """Count a normalization by the mean and variance of each row.

    Tracking running statistics in training adds 8 FLOPs per channel (two statistics, each scaled and added to a scaled
    new value, the variance corrected for its sample size) and 6 DMAs (old and new read, result written, twice).
    """
    affine = (weight is not None) + (bias is not None)
    return Work(
        6 * values + 2 * rows + affine * values + 8 * tracked_channels,
        values * (1 + (weight is not None)),
        4 * values + 5 * rows + 1 + _affine_dmas(values, weight, bias) + 6 * tracked_channels,
    )


def _affine_dmas(values: int, weight: Tensor | None, bias: Tensor | None) -> int:
    return 0 if weight is None and bias is None else 2 * values + elements(weight, bias)


def layer_norm(call: ModuleCall) -> ModuleEstimates:
    """Count one row for each position outside of ``normalized_shape``."""
    source, module = operand(call), module_of(call)
    result(call)
    values = source.numel()
    return two_pass(values, _rows(values, module.normalized_shape), module.weight, module.bias).estimates(NOWHERE)


def _rows(values: int, normalized_shape: tuple[int, ...]) -> int:
    return values // max(1, prod(normalized_shape))


def group_norm(call: ModuleCall) -> ModuleEstimates:
    """Count one row for each group of channels in each sample; the input is (B, C, *)."""
    source, module = operand(call), module_of(call)
    return two_pass(source.numel(), source.shape[0] * module.num_groups, module.weight, module.bias).estimates(NOWHERE)


def rms_norm(call: ModuleCall) -> ModuleEstimates:
    """Count squares N, their mean N, eps and root 2R, normalize N, and N with a weight."""
    source, module = operand(call, "x"), module_of(call)
    weight, values = module.weight, source.numel()
    rows = _rows(values, module.normalized_shape)
    weighted = 0 if weight is None else values
    return {
        "module_flops": 3 * values + 2 * rows + weighted,
        "macs": values + weighted,
        "dmas": 3 * values + 2 * rows + 1 + _affine_dmas(values, weight, None),
        **NOWHERE,
    }


def batch_norm(call: ModuleCall) -> ModuleEstimates:
    """Count a normalization by channel: with saved statistics normalize 2N and eps, root 2C; the input is (B, C, *).

    Batch statistics add mean and variance, 4N; tracking them in training adds 8C.
    """
    source, module = operand(call), module_of(call)
    channels = source.shape[1]
    saved = module.running_mean is not None and module.running_var is not None
    if not module.training and saved:
        return _by_saved_statistics(source.numel(), channels, module)
    tracked = channels if saved and module.track_running_stats else 0
    return two_pass(source.numel(), channels, module.weight, module.bias, tracked).estimates(NOWHERE)


def _by_saved_statistics(values: int, channels: int, module: Any) -> ModuleEstimates:
    weight, bias = module.weight, module.bias
    affine = (weight is not None) + (bias is not None)
    return {
        "module_flops": 2 * values + 2 * channels + affine * values,
        "macs": 0 if weight is None else values,
        "dmas": 2 * values + 2 * channels + 1 + _affine_dmas(values, weight, bias),
        **spatial(POINT),
    }


def sync_batch_norm(call: ModuleCall) -> ModuleEstimates:
    """Count evaluation as BatchNorm; in training the statistics come from other processes too."""
    if call.module.training:
        raise UnsupportedCall("SyncBatchNorm in training shares its statistics with other processes")
    return batch_norm(call)


def instance_norm(call: ModuleCall) -> ModuleEstimates:
    """Count one row for each channel of each sample, or saved statistics where they are tracked and in evaluation."""
    source, module = operand(call), module_of(call)
    axes = spatial_axes(module)
    values, channels = source.numel(), source.shape[-axes - 1]
    if module.track_running_stats and not module.training:
        return _by_saved_statistics(values, channels, module)
    tracked = channels if module.track_running_stats else 0
    return two_pass(values, prod(source.shape[:-axes]), module.weight, module.bias, tracked).estimates(NOWHERE)


def local_response(call: ModuleCall) -> ModuleEstimates:
    """Count ``x / (k + alpha/n · sum of n squares)^beta`` over true windows of neighbouring channels, (B, C, *).

    Squares N, the window sums, then scale, add, power and divide 4N. Each square is a product that is accumulated.
    """
    source, module = operand(call), module_of(call)
    values, channels, size = source.numel(), source.shape[1], module.size
    ahead, behind = (size - 1) // 2, size // 2
    window = sum(min(channels, at + ahead + 1) - max(0, at - behind) for at in range(channels))
    summed = values // max(1, channels) * window
    return {
        "module_flops": values + (summed - values) + 4 * values,
        "macs": values,
        "dmas": 2 * values + summed + values + 3 * values,
        **spatial(POINT),
    }


_STAGED_FLOPS = "6·N + 2·R for N values in R rows, + N per affine tensor"
_STAGED_MACS = "N, + N with a weight"
_STAGED_DMAS = "4·N + 5·R + 1, + 2·N + parameters when affine"
_GLOBAL = "none: statistics reach over all positions"

FAMILIES = (
    Family(
        group="Normalization",
        types=nn_types("LayerNorm"),
        estimate=layer_norm,
        flops=_STAGED_FLOPS,
        macs=_STAGED_MACS,
        dmas=_STAGED_DMAS,
        spatial=_GLOBAL,
    ),
    Family(
        group="Normalization",
        types=nn_types("GroupNorm"),
        estimate=group_norm,
        flops=_STAGED_FLOPS + "; a row is a group of channels of a sample",
        macs=_STAGED_MACS,
        dmas=_STAGED_DMAS,
        spatial=_GLOBAL,
    ),
    Family(
        group="Normalization",
        types=nn_types("RMSNorm"),
        estimate=rms_norm,
        flops="3·N + 2·R (squares, mean, eps, root, normalize), + N with a weight",
        macs=_STAGED_MACS,
        dmas="3·N + 2·R + 1, + 2·N + parameters with a weight",
        spatial=_GLOBAL,
    ),
    Family(
        group="Normalization",
        types=nn_types("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"),
        estimate=batch_norm,
        flops="saved statistics 2·N + 2·C; batch statistics + 4·N; tracked in training + 8·C; + N per affine tensor",
        macs="N with a weight; batch statistics + N",
        dmas="saved statistics 2·N + 2·C + 1, batch statistics 4·N + 5·C + 1, tracked + 6·C, affine + 2·N + parameters",
        spatial="1, 1, 0 with saved statistics; else none",
    ),
    Family(
        group="Normalization",
        types=nn_types("SyncBatchNorm"),
        estimate=sync_batch_norm,
        flops="as BatchNorm",
        macs="as BatchNorm",
        dmas="as BatchNorm",
        spatial="as BatchNorm",
        boundary="evaluation, real dense floating tensors",
    ),
    Family(
        group="Normalization",
        types=nn_types("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"),
        estimate=instance_norm,
        flops=_STAGED_FLOPS + " (channels of samples); saved statistics as BatchNorm",
        macs=_STAGED_MACS + "; saved statistics as BatchNorm",
        dmas=_STAGED_DMAS + "; saved statistics as BatchNorm",
        spatial="1, 1, 0 with saved statistics; else none",
        methods=("_apply_instance_norm",),
    ),
    Family(
        group="Normalization",
        types=nn_types("LocalResponseNorm", "CrossMapLRN2d"),
        estimate=local_response,
        flops="5·N, + n − 1 per true window of n channels",
        macs="N (squares)",
        dmas="6·N + window reads",
        spatial="1, 1, 0: it reaches over channels only",
    ),
)
