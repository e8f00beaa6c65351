"""Normalizations in two passes over N values in R rows (groups, channels): mean N, variance 3N, eps and root 2R,
normalize 2N, and N per affine tensor. RMS: square N, mean N, eps and root 2R, scale N, and N for a weight.
"""

from __future__ import annotations

from typing import Any

from torchscan.operators.call import Call, elements, rows_over, sizes
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "normalization"


def layer_norm_flops(count: int, rows: int, *, affine: int) -> int:
    """6N + 2R, and N for each affine tensor."""
    return (6 + affine) * count + 2 * rows


def _layer_norm(call: Call) -> int:
    """``native_layer_norm(input, shape, weight, bias, eps)``; R from the saved means."""
    affine = call.has(2) + call.has(3)
    return layer_norm_flops(elements(call.args[0]), rows_over(call.args[0], len(call.args[1])), affine=affine)


def _group_norm(call: Call) -> int:
    """``native_group_norm(input, weight, bias, N, C, HxW, groups, eps)``: a row is one group of one sample."""
    affine = call.has(1) + call.has(2)
    return layer_norm_flops(elements(call.args[0]), call.integer(3) * call.integer(6), affine=affine)


def _rms_norm(call: Call) -> int:
    """3N + 2R, and N for the weight: ``_fused_rms_norm(input, shape, weight, eps)``."""
    count = elements(call.args[0])
    return (3 + call.has(2, "weight")) * count + 2 * rows_over(call.args[0], len(call.args[1]))


def _rms_norm_backward(call: Call) -> int:
    """``_fused_rms_norm_backward(gradient, input, shape, rstd, weight, mask)``.

    x_hat N; weighted gradient N; its product with x_hat, summed: 2N; x_hat times that mean, subtract, scale: 3N, and 2R
    for the mean. The weight's gradient: product and sum, 2N.
    """
    count, rows = elements(call.args[0]), rows_over(call.args[1], len(call.args[2]))
    weighted = call.has(4)
    return (6 + weighted) * count + 2 * rows + 2 * weighted * count


def _normalized_backward(count: int, rows: int, *, has_weight: bool, mask: Any) -> int:
    """Gradients of ``x_hat * w + b`` with x_hat = (x - mean) * rstd kept as mean and rstd.

    x_hat: 2N. To the input: weighted gradient N when there is a weight; its sum N; its product with x_hat, summed, 2N;
    two means 2R; rstd * (g - mean - x_hat * mean): 4N. To the weight: product and sum 2N. To the bias: sum N.
    """
    to_input, to_weight, to_bias = map(bool, mask)
    flops = 2 * count if to_input or to_weight else 0
    if to_input:
        flops += (7 + has_weight) * count + 2 * rows
    return flops + 2 * count * to_weight + count * to_bias


def _layer_norm_backward(call: Call) -> int:
    """``(gradient, input, shape, mean, rstd, weight, bias, mask)``."""
    rows = rows_over(call.args[1], len(call.args[2]))
    return _normalized_backward(elements(call.args[0]), rows, has_weight=call.has(5), mask=call.args[7])


def _group_norm_backward(call: Call) -> int:
    """``(gradient, input, mean, rstd, weight, N, C, HxW, groups, mask)``."""
    rows = call.integer(5) * call.integer(8)
    return _normalized_backward(elements(call.args[0]), rows, has_weight=call.has(4), mask=call.args[9])


def _channels(tensor: Any) -> int:
    shape = sizes(tensor)
    return shape[1] if len(shape) > 1 else elements(tensor)


def batch_norm_flops(source: Any, *, affine: int, is_training: bool, is_tracked: bool) -> int:
    """Saved statistics: eps and root 2C, normalize 2N. Batch statistics: mean N and variance 3N more. Tracking the
    running mean and variance: 8C. And N for each affine tensor."""
    count, channels = elements(source), _channels(source)
    return (2 + affine + 4 * is_training) * count + 2 * channels + 8 * channels * (is_training and is_tracked)


def _batch_norm(call: Call) -> int:
    """``op(input, weight, bias[, running_mean, running_var], training, ...)``; without that flag: not training."""
    is_training = next((value for value in call.args if isinstance(value, bool)), False)
    is_tracked = call.has(3)
    return batch_norm_flops(call.args[0], affine=_affine(call), is_training=is_training, is_tracked=is_tracked)


def _tracked_batch_norm(call: Call) -> int:
    """``_batch_norm_with_update(input, weight, bias, running_mean, running_var, ...)``: always training, tracked."""
    return batch_norm_flops(call.args[0], affine=_affine(call), is_training=True, is_tracked=True)


def _affine(call: Call) -> int:
    return call.has(1) + call.has(2)


def _batch_norm_backward(call: Call) -> int:
    """``(gradient, input, weight, mean, var, saved, saved, training, eps, mask)``.

    In training the shared derivation. With saved statistics the input's gradient is g * w * rstd alone; the weight's
    still needs x_hat, 2N, its product and sum, 2N; eps and root 2C.
    """
    gradient, has_weight = call.args[0], call.has(2)
    count, channels = elements(gradient), _channels(gradient)
    if call.args[7]:
        return _normalized_backward(count, channels, has_weight=has_weight, mask=call.args[9])
    to_input, to_weight, to_bias = map(bool, call.args[9])
    saved = 2 * channels * (to_input or to_weight)
    return saved + (1 + has_weight) * count * to_input + 4 * count * to_weight + count * to_bias


def _device_batch_norm_backward(call: Call) -> int:
    """``cudnn_batch_norm_backward``: training, all three gradients."""
    source = call.args[0]
    return _normalized_backward(elements(source), _channels(source), has_weight=call.has(2), mask=(True, True, True))


def _weight_norm(call: Call) -> int:
    """w = v g / |v|: square N, add N - R, root R, divide g by it R, scale N: 3N + R."""
    return 3 * elements(call.args[0]) + elements(call.args[1])


def _weight_norm_backward(call: Call) -> int:
    """``(gradient, v, g, norms, dim)``: d = sum(grad v) 2N - R; dg = d / |v| R;
    dv = (g / |v|) (grad - v d / |v|^2): per row 3R, per element multiply, subtract, scale 3N."""
    return 5 * elements(call.args[0]) + 3 * elements(call.args[2])


def _renorm(call: Call) -> int:
    """Norm of each slice 2N, a comparison and a division per slice, scale N."""
    rows = sizes(call.args[0])[call.integer(2)]
    return 3 * elements(call.args[0]) + 2 * rows


def _pair(text: str, cost: Cost) -> Formula:
    return Formula(FAMILY, text, cost)


_BATCH = "2N + 2C + N per affine tensor; batch statistics + 4N; tracked + 8C"
_BACK = "2N; input 7N + 2R, + N with a weight; weight 2N; bias N"

ROWS: dict[str, Row] = {
    "aten.native_layer_norm": _pair("6N + 2R + N per affine tensor", _layer_norm),
    "aten.native_layer_norm_backward": _pair(_BACK, _layer_norm_backward),
    "aten.native_group_norm": _pair("6N + 2R + N per affine tensor", _group_norm),
    "aten.native_group_norm_backward": _pair(_BACK, _group_norm_backward),
    "aten.rms_norm": _pair("3N + 2R, + N with a weight", _rms_norm),
    "aten._fused_rms_norm": _pair("3N + 2R, + N with a weight", _rms_norm),
    "aten._fused_rms_norm_backward": _pair("6N + 2R, + 3N with a weight", _rms_norm_backward),
    "aten.native_batch_norm": _pair(_BATCH, _batch_norm),
    "aten._native_batch_norm_legit": _pair(_BATCH, _batch_norm),
    "aten._native_batch_norm_legit_functional": _pair(_BATCH, _batch_norm),
    "aten._native_batch_norm_legit_no_training": _pair(_BATCH, _batch_norm),
    "aten.cudnn_batch_norm": _pair(_BATCH, _batch_norm),
    "aten.miopen_batch_norm": _pair(_BATCH, _batch_norm),
    "aten._batch_norm_with_update": _pair(_BATCH, _tracked_batch_norm),
    "aten._batch_norm_with_update_functional": _pair(_BATCH, _tracked_batch_norm),
    "aten._batch_norm_no_update": _pair(_BATCH, _batch_norm),
    "aten.native_batch_norm_backward": _pair(f"{_BACK}; saved statistics less", _batch_norm_backward),
    "aten.batch_norm_backward": _pair(f"{_BACK}; saved statistics less", _batch_norm_backward),
    "aten.cudnn_batch_norm_backward": _pair(_BACK, _device_batch_norm_backward),
    "aten.miopen_batch_norm_backward": _pair(_BACK, _device_batch_norm_backward),
    "aten._weight_norm_interface": _pair("3N + R", _weight_norm),
    "aten._weight_norm_interface_backward": _pair("5N + 3R", _weight_norm_backward),
    "aten.renorm": _pair("3N + 2R", _renorm),
}
