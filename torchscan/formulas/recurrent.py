"""Recurrent layers and cells: H units, g gates, input width I, recurrent width R, over N rows in T steps.

N counts the sequences that are running at each step, so packed sequences count their true steps. Per row, layer and
direction: g H dot products of I and of R terms, their sum (one add per gate), the biases, the cell's own arithmetic,
and a projection of H to R numbers where there is one. Products between gates and states are no MACs: nothing
accumulates them over a dimension. DMAs: the input projection is one stage over all rows; each step is a stage that
reads its parameters again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates
from torchscan.formulas.movement import dropout_work
from torchscan.formulas.operands import argument, floating, module_of
from torchscan.formulas.receptive import NOWHERE
from torchscan.formulas.work import NOTHING, Work, product


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell does to each unit besides its matrix products.

    Attributes:
        gates: rows of the weights per unit.
        operations: scalar operations per unit; a sigmoid is 4, a tanh or ReLU 1.
        states: state elements read and written per unit.
    """

    gates: int
    operations: int
    states: int


PLAIN = Cell(gates=1, operations=1, states=1)  # h = tanh(a); writes h
LSTM = Cell(
    gates=4, operations=3 * 4 + 1 + 3 + 2, states=3
)  # i f o, g, c = f·c + i·g, h = o·tanh(c); reads c, writes both
GRU = Cell(gates=3, operations=2 * 4 + 1 + 1 + 4, states=2)  # r z, r·a, n, h = (1 − z)·n + z·h; reads and writes h

_CELLS = {"RNN_TANH": PLAIN, "RNN_RELU": PLAIN, "LSTM": LSTM, "GRU": GRU}


@dataclass(frozen=True, slots=True)
class Sizes:
    """The widths of one layer in one direction; ``projected`` is 0 without a projection."""

    inputs: int
    hidden: int
    projected: int = 0
    bias: bool = True


def layer_work(cell: Cell, sizes: Sizes, rows: int, steps: int) -> Work:
    """Count one layer in one direction over ``rows`` rows in ``steps`` steps."""
    hidden, recurrent = sizes.hidden, sizes.projected or sizes.hidden
    gates = cell.gates * hidden
    biases = gates if sizes.bias else 0
    units = rows * hidden
    work = (
        product(rows * gates, sizes.inputs, sizes.bias)
        + product(rows * gates, recurrent, sizes.bias)
        + Work(flops=rows * gates + units * cell.operations)
        + Work(dmas=rows * sizes.inputs + gates * sizes.inputs + biases + rows * gates)
        + Work(dmas=rows * recurrent + steps * (gates * recurrent + biases) + rows * gates)
        + Work(dmas=2 * rows * gates + units * cell.states)
    )
    if sizes.projected:
        work += product(rows * sizes.projected, hidden)
        work += Work(dmas=units + steps * sizes.projected * hidden + rows * sizes.projected)
    return work


def recurrent(call: ModuleCall) -> ModuleEstimates:
    """Count all layers and directions; a layer after the first reads both directions of the one before."""
    module = module_of(call)
    rows, steps = _rows_and_steps(argument(call, 0, "input"), module.batch_first)
    cell, directions = _CELLS[module.mode], 2 if module.bidirectional else 1
    outputs = directions * (module.proj_size or module.hidden_size)
    work, inputs = NOTHING, module.input_size
    for layer in range(module.num_layers):
        if layer and module.training and module.dropout:
            work += dropout_work(rows * outputs, module.dropout)
        sizes = Sizes(inputs, module.hidden_size, module.proj_size, module.bias)
        work += layer_work(cell, sizes, rows, steps) * directions
        inputs = outputs
    return work.estimates(NOWHERE)


def _rows_and_steps(source: Any, batch_first: bool) -> tuple[int, int]:
    if isinstance(source, PackedSequence):
        return floating(source.data, "the packed data").shape[0], source.batch_sizes.numel()
    tensor: Tensor = floating(source, "input")
    if tensor.dim() == 2:
        return tensor.shape[0], tensor.shape[0]
    return tensor.shape[0] * tensor.shape[1], tensor.shape[1 if batch_first else 0]


def cell_step(call: ModuleCall) -> ModuleEstimates:
    """Count one step of a cell."""
    module = module_of(call)
    source = floating(argument(call, 0, "input"), "input")
    rows = source.shape[0] if source.dim() == 2 else 1
    kind = {1: PLAIN, 3: GRU, 4: LSTM}[module.weight_ih.shape[0] // module.hidden_size]
    sizes = Sizes(module.input_size, module.hidden_size, bias=module.bias)
    return layer_work(kind, sizes, rows, 1).estimates(NOWHERE)


_FLOPS = "per row and unit: g·(2·I − 1 + 2·R − 1 + 1), + 2·g with biases, + cell"
_DMAS = "N·(I + R + 4·g·H + s·H) + input parameters + T × recurrent parameters; s = 1 RNN, 2 GRU, 3 LSTM"


def _family(names: tuple[str, ...], estimate: Any, operations: str, macs: str) -> Family:
    return Family(
        group="Recurrent",
        types=nn_types(*names),
        estimate=estimate,
        flops=f"{_FLOPS} {operations}",
        macs=macs,
        dmas=_DMAS,
        spatial="none",
        boundary="real dense floating tensors; PackedSequence at its true steps",
        cacheable=False,
    )


_MACS = "N × g·H·(I + R) per layer and direction"
FAMILIES = (
    _family(("RNN",), recurrent, "1 (g = 1)", _MACS),
    _family(("LSTM",), recurrent, "18 (g = 4); a projection adds R·(2·H − 1) per row", _MACS + ", + N·H·R projected"),
    _family(("GRU",), recurrent, "14 (g = 3)", _MACS),
    _family(("RNNCell",), cell_step, "1 (g = 1)", "N × g·H·(I + H)"),
    _family(("LSTMCell",), cell_step, "18 (g = 4)", "N × g·H·(I + H)"),
    _family(("GRUCell",), cell_step, "14 (g = 3)", "N × g·H·(I + H)"),
)
