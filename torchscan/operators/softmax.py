"""Softmax over R rows of S values."""

from __future__ import annotations

from torchscan.operators.call import Call, elements, lines_along
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "softmax"


def softmax_flops(rows: int, size: int) -> int:
    """Maximum S - 1, subtract S, exponential S, sum S - 1, divide S: R(5S - 2)."""
    return rows * (5 * size - 2) if size else 0


def _over_rows(per_value: int, per_row: int, tensor: int = 0, axis: int = 1) -> Cost:
    def cost(call: Call) -> int:
        values = call.args[tensor]
        rows = lines_along(values, call.at(axis, -1))
        return max(per_value * elements(values) + per_row * rows, 0)

    return cost


def _masked(call: Call) -> int:
    """``_masked_softmax(values, mask, dim, ...)``: select RS, then softmax."""
    dim = call.at(2)
    values = call.args[0]
    return elements(values) + 5 * elements(values) - 2 * lines_along(values, -1 if dim is None else dim)


def _masked_backward(call: Call) -> int:
    """``(gradient, output, mask, dim)``: R(4S - 1), then select RS."""
    dim = call.at(3)
    values = call.args[0]
    return 5 * elements(values) - lines_along(values, -1 if dim is None else dim)


def _row(text: str, cost: Cost) -> Formula:
    return Formula(FAMILY, text, cost)


ROWS: dict[str, Row] = {
    "aten._softmax": _row("R(5S - 2)", _over_rows(5, -2)),
    # Rows that are all masked: a comparison and a selection for each value more.
    "aten._safe_softmax": _row("R(7S - 2)", _over_rows(7, -2)),
    # Maximum S - 1, subtract S, exponential S, sum S - 1, logarithm 1, subtract S.
    "aten._log_softmax": _row("R(5S - 1)", _over_rows(5, -1)),
    # y (g - sum(g y)): multiply S, sum S - 1, subtract S, multiply S.
    "aten._softmax_backward_data": _row("R(4S - 1)", _over_rows(4, -1, axis=2)),
    # g - exp(y) sum(g): sum S - 1, exponential S, multiply S, subtract S.
    "aten._log_softmax_backward_data": _row("R(4S - 1)", _over_rows(4, -1, axis=2)),
    "aten._masked_softmax": _row("R(6S - 2)", _masked),
    "aten._masked_softmax_backward": _row("R(5S - 1)", _masked_backward),
}
