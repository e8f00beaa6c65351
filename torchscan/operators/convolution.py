"""Convolutions, dense: every output element (every input element when transposed) meets one kernel per channel pair."""

from __future__ import annotations

from math import prod

from torch import Tensor

from torchscan.operators.call import Call, elements, sizes
from torchscan.operators.formula import Formula, Row

FAMILY = "convolution"


def _macs(positions: int, weight: Tensor) -> int:
    """The weight is (outputs, inputs / groups, kernel), or (inputs, outputs / groups, kernel) when transposed.

    Each position of each sample uses every weight element exactly once, groups included.
    """
    return positions * elements(weight)


def _positions(tensor: Tensor, weight: Tensor) -> int:
    """Samples times spatial positions; an input without a batch axis is one sample."""
    spatial = weight.dim() - 2
    shape = sizes(tensor)
    batch = shape[0] if tensor.dim() == weight.dim() else 1
    return batch * prod(shape[len(shape) - spatial :])


def _convolution(call: Call) -> int:
    """``convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)``."""
    weight = call.args[1]
    return 2 * _macs(_positions(call.args[0] if call.args[6] else call.output, weight), weight)


def _plain(call: Call) -> int:
    """A kernel that cannot be transposed: ``op(input, weight, ...)``."""
    return 2 * _macs(_positions(call.output, call.args[1]), call.args[1])


def _transposed(call: Call) -> int:
    """``slow_conv_transpose2d(input, weight, ...)`` and its kin."""
    return 2 * _macs(_positions(call.args[0], call.args[1]), call.args[1])


def _backward(call: Call) -> int:
    """The input's gradient and the weight's each reuse every product of the forward once.

    d/dx and d/dw of ``x * w`` are one product each, so both cost what the forward cost, groups included. PyTorch's
    formula leaves the groups out of the weight's share (pytorch#183405): Conv2d(8, 8, 3, groups=8) on 1x8x6x6 is
    2 * 16 * 72 = 2,304 for each of forward, input and weight: 6,912, where that formula gives 23,040.
    """
    gradient, source, weight = call.args[0], call.args[1], call.args[2]
    transposed, mask = call.args[7], call.args[10]
    forward = 2 * _macs(_positions(source if transposed else gradient, weight), weight)
    return (bool(mask[0]) + bool(mask[1])) * forward


def _unfolded_backward(call: Call) -> int:
    """``_slow_conv2d_backward(gradient, input, weight, ..., mask)``; the form that writes given tensors wants all."""
    mask = call.args[-1] if isinstance(call.args[-1][0], bool) else (True, True)
    return (bool(mask[0]) + bool(mask[1])) * 2 * _macs(_positions(call.args[0], call.args[2]), call.args[2])


_TEXT = "2 output positions x weight elements; bias omitted"
_PLAIN = (
    "_slow_conv2d_forward", "thnn_conv2d", "slow_conv3d_forward", "slow_conv_dilated2d", "slow_conv_dilated3d",
    "conv_depthwise3d", "_conv_depthwise2d", "mkldnn_convolution", "_nnpack_spatial_convolution", "_mps_convolution",
    "cudnn_convolution", "cudnn_convolution_relu", "cudnn_convolution_add_relu",
    "miopen_convolution", "miopen_depthwise_convolution",
)  # fmt: skip


def _time_first(call: Call) -> int:
    """``conv_tbc(input, weight, ...)``: (time, batch, channels) by (kernel, inputs, outputs)."""
    steps, batch = sizes(call.output)[:2]
    return 2 * steps * batch * elements(call.args[1])


ROWS: dict[str, Row] = {
    **{
        f"aten.{name}": Formula(
            FAMILY, f"{_TEXT}; transposed: input positions", _convolution, is_product=True, complex_flops=4
        )
        for name in ("convolution", "_convolution", "convolution_overrideable")
    },
    **{f"aten.{name}": Formula(FAMILY, _TEXT, _plain, is_product=True) for name in _PLAIN},
    **{
        f"aten.{name}": Formula(FAMILY, "2 input positions x weight elements", _transposed, is_product=True)
        for name in (
            "slow_conv_transpose2d",
            "slow_conv_transpose3d",
            "cudnn_convolution_transpose",
            "miopen_convolution_transpose",
            "_mps_convolution_transpose",
        )
    },
    "aten.conv_tbc": Formula(FAMILY, _TEXT, _time_first, is_product=True),
    "aten.convolution_backward": Formula(
        FAMILY, "the forward's products for each of input and weight asked for", _backward, is_product=True
    ),
    "aten.convolution_backward_overrideable": Formula(
        FAMILY, "the forward's products for each of input and weight asked for", _backward, is_product=True
    ),
    "aten._slow_conv2d_backward": Formula(
        FAMILY, "the forward's products for each of input and weight asked for", _unfolded_backward, is_product=True
    ),
}
