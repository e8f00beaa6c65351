"""Recurrent kernels: every weight meets every step of every sequence once, and the gates of each hidden unit.

The gates are written out as PyTorch's step-by-step form dispatches them, so that a fused kernel and its explicit form
count the same: a logistic function is 4 operations, tanh is 1, and the two matrix products of a gate are added.
"""

from __future__ import annotations

from math import prod
from typing import Any

from torchscan.operators.extent import Args, Kwargs, elements, is_tensor
from torchscan.operators.formula import Formula, Row

FAMILY = "recurrent"

_RELU, _TANH, _LSTM, _GRU = 0, 1, 2, 3  # the numbers that PyTorch's kernels use

# LSTM, per hidden unit: add the products of four gates 4, three logistics 12, tanh 1, c = f c + i g 3, tanh c 1, times o 1.
LSTM_GATE_FLOPS = 22
# GRU: add the products of reset and update 2, two logistics 8, r times the hidden product 1, add 1, tanh 1,
# h = n + z (h - n) 3.
GRU_GATE_FLOPS = 16
# Plain: add the two products, activate.
RNN_GATE_FLOPS = 2
_GATE_FLOPS = {_RELU: RNN_GATE_FLOPS, _TANH: RNN_GATE_FLOPS, _LSTM: LSTM_GATE_FLOPS, _GRU: GRU_GATE_FLOPS}


def _steps(source: Any, batch_sizes: Any) -> int:
    """Steps times sequences; packed sequences give their true number, since their rows are already that many."""
    return sum(batch_sizes) if batch_sizes and source.dim() == 2 else prod(source.shape[:-1])


def _layer_macs(args: Args, kwargs: Kwargs, output: Any) -> int:
    """``mkldnn_rnn_layer(input, w_ih, w_hh, b_ih, b_hh, ...)``: one layer, one direction."""
    return _steps(args[0], args[8]) * (args[1].numel() + args[2].numel())


def _layer(args: Args, kwargs: Kwargs, output: Any) -> int:
    steps, hidden = _steps(args[0], args[8]), args[10]
    return 2 * _layer_macs(args, kwargs, output) + steps * hidden * _GATE_FLOPS[args[9]]


def _layer_backward_macs(args: Args, kwargs: Kwargs, output: Any) -> int:
    """``mkldnn_rnn_layer_backward(input, w_ih, w_hh, ...)``: each forward product once for its input, once for its
    weight."""
    return 2 * _steps(args[0], None) * (args[1].numel() + args[2].numel())


def _layer_backward(args: Args, kwargs: Kwargs, output: Any) -> int:
    """The gates' derivatives cost about what the gates cost: an LSTM's 22 per hidden unit, see _lstm_cell_backward."""
    steps, mode, hidden = _steps(args[0], None), args[14], args[15]
    return 2 * _layer_backward_macs(args, kwargs, output) + steps * hidden * _BACKWARD_GATE_FLOPS[mode]


# LSTM: do = gh t, dt = gh o, dt (1 - t t) 3, added to gc 1; di, df, dg, dc by products 4; three logistic derivatives 9,
# one tanh derivative 3. GRU: dn and dz by g (1 - z), g (h - n) 4, dh 1; tanh 3; dr 1, logistics 6, times r 1, add 1.
_LSTM_BACKWARD, _GRU_BACKWARD, _TANH_BACKWARD, _RELU_BACKWARD = 22, 17, 3, 1
_BACKWARD_GATE_FLOPS = {
    _RELU: _RELU_BACKWARD, _TANH: _TANH_BACKWARD, _LSTM: _LSTM_BACKWARD, _GRU: _GRU_BACKWARD
}  # fmt: skip


def _device_macs(args: Args, kwargs: Kwargs, output: Any) -> int:
    """``_cudnn_rnn(input, weights, ...)``: every layer and direction reads the same number of steps."""
    steps = _steps(args[0], args[14])
    return steps * sum(weight.numel() for weight in args[1] if weight.dim() == 2)


def _device(args: Args, kwargs: Kwargs, output: Any) -> int:
    directions = 1 + bool(args[13])
    cells = _steps(args[0], args[14]) * args[7] * args[9] * directions
    return 2 * _device_macs(args, kwargs, output) + cells * _GATE_FLOPS[args[6]]


def _lstm_cell(args: Args, kwargs: Kwargs, output: Any) -> int:
    """Gates of products made elsewhere; each bias given is one add for each of four gates."""
    biases = sum(is_tensor(value) for value in args[3:5])
    return args[2].numel() * (LSTM_GATE_FLOPS + 4 * biases)


def _gru_cell(args: Args, kwargs: Kwargs, output: Any) -> int:
    """The same with three gates."""
    biases = sum(is_tensor(value) for value in args[3:5])
    return args[2].numel() * (GRU_GATE_FLOPS + 3 * biases)


def _lstm_cell_backward(args: Args, kwargs: Kwargs, output: Any) -> int:
    return _LSTM_BACKWARD * elements(args[2])


def _gru_cell_backward(args: Args, kwargs: Kwargs, output: Any) -> int:
    return _GRU_BACKWARD * elements(args[0])


_LAYER_TEXT = "2 steps x weights; gates per hidden unit: LSTM 22, GRU 16, plain 2"

ROWS: dict[str, Row] = {
    "aten.mkldnn_rnn_layer": Formula(FAMILY, _LAYER_TEXT, _layer, macs=_layer_macs),
    "aten.mkldnn_rnn_layer_backward": Formula(
        FAMILY,
        "4 steps x weights; gates per hidden unit: LSTM 22, GRU 17, plain 1 to 3",
        _layer_backward,
        macs=_layer_backward_macs,
    ),
    "aten._cudnn_rnn": Formula(FAMILY, _LAYER_TEXT, _device, macs=_device_macs),
    "aten._thnn_fused_lstm_cell": Formula(FAMILY, "22 per hidden unit, 4 per bias", _lstm_cell),
    "aten._thnn_fused_gru_cell": Formula(FAMILY, "16 per hidden unit, 3 per bias", _gru_cell),
    "aten._thnn_fused_lstm_cell_backward_impl": Formula(FAMILY, "22 per hidden unit", _lstm_cell_backward),
    "aten._thnn_fused_gru_cell_backward": Formula(FAMILY, "17 per hidden unit", _gru_cell_backward),
}
