"""Recurrent kernels: every weight meets every step of every sequence once, and the gates of each hidden unit.

The gates are written out as PyTorch's step-by-step form dispatches them, so that a fused kernel and its explicit form
count the same: a logistic function is 4 operations, tanh is 1, and the two matrix products of a gate are added.
"""

from __future__ import annotations

from math import prod
from typing import Any

from torchscan.operators.call import Call, elements, sizes
from torchscan.operators.formula import Formula, Row

FAMILY = "recurrent"

_RELU, _TANH, _LSTM, _GRU = 0, 1, 2, 3  # the numbers that PyTorch's kernels use

# LSTM, per hidden unit: add the products of four gates 4, three logistics 12, tanh 1, c = f c + i g 3, tanh c 1, o 1.
LSTM_GATE_FLOPS = 22
# GRU: add the products of reset and update 2, two logistics 8, r times the hidden product 1, add 1, tanh 1,
# h = n + z (h - n) 3.
GRU_GATE_FLOPS = 16
# Plain: add the two products, activate.
RNN_GATE_FLOPS = 2
_GATE_FLOPS = {_RELU: RNN_GATE_FLOPS, _TANH: RNN_GATE_FLOPS, _LSTM: LSTM_GATE_FLOPS, _GRU: GRU_GATE_FLOPS}


def _steps(source: Any, batch_sizes: Any) -> int:
    """Steps times sequences; packed sequences give their true number, since their rows are already that many."""
    return int(sum(batch_sizes)) if batch_sizes and source.dim() == 2 else prod(sizes(source)[:-1])


def _layer_macs(call: Call) -> int:
    """``mkldnn_rnn_layer(input, w_ih, w_hh, b_ih, b_hh, ...)``: one layer, one direction."""
    return _steps(call.args[0], call.args[8]) * (elements(call.args[1]) + elements(call.args[2]))


def _layer(call: Call) -> int:
    steps, hidden = _steps(call.args[0], call.args[8]), call.integer(10)
    return 2 * _layer_macs(call) + steps * hidden * _GATE_FLOPS[call.args[9]]


def _layer_backward_macs(call: Call) -> int:
    """``mkldnn_rnn_layer_backward(input, w_ih, w_hh, ...)``: each forward product once for its input, once for its
    weight."""
    return 2 * _steps(call.args[0], None) * (elements(call.args[1]) + elements(call.args[2]))


def _layer_backward(call: Call) -> int:
    """The gates' derivatives cost about what the gates cost: an LSTM's 22 per hidden unit, see _lstm_cell_backward."""
    steps, mode, hidden = _steps(call.args[0], None), call.integer(14), call.integer(15)
    return 2 * _layer_backward_macs(call) + steps * hidden * _BACKWARD_GATE_FLOPS[mode]


# LSTM: do = gh t, dt = gh o, dt (1 - t t) 3, added to gc 1; di, df, dg, dc by products 4; three logistic derivatives 9,
# one tanh derivative 3. GRU: dn and dz by g (1 - z), g (h - n) 4, dh 1; tanh 3; dr 1, logistics 6, times r 1, add 1.
_LSTM_BACKWARD, _GRU_BACKWARD, _TANH_BACKWARD, _RELU_BACKWARD = 22, 17, 3, 1
_BACKWARD_GATE_FLOPS = {
    _RELU: _RELU_BACKWARD, _TANH: _TANH_BACKWARD, _LSTM: _LSTM_BACKWARD, _GRU: _GRU_BACKWARD
}  # fmt: skip


def _device_macs(call: Call) -> int:
    """``_cudnn_rnn(input, weights, ...)``: every layer and direction reads the same number of steps."""
    steps = _steps(call.args[0], call.args[14])
    return steps * sum(elements(weight) for weight in call.args[1] if weight.dim() == 2)


def _device(call: Call) -> int:
    directions = 1 + bool(call.args[13])
    cells = _steps(call.args[0], call.args[14]) * call.integer(7) * call.integer(9) * directions
    return 2 * _device_macs(call) + cells * _GATE_FLOPS[call.args[6]]


def _lstm_cell(call: Call) -> int:
    """Gates of products made elsewhere; each bias given is one add for each of four gates."""
    biases = call.has(3) + call.has(4)
    return elements(call.args[2]) * (LSTM_GATE_FLOPS + 4 * biases)


def _gru_cell(call: Call) -> int:
    """The same with three gates."""
    biases = call.has(3) + call.has(4)
    return elements(call.args[2]) * (GRU_GATE_FLOPS + 3 * biases)


def _lstm_cell_backward(call: Call) -> int:
    return _LSTM_BACKWARD * elements(call.args[2])


def _gru_cell_backward(call: Call) -> int:
    return _GRU_BACKWARD * elements(call.args[0])


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
