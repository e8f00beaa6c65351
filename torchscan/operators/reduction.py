"""Reductions and scans: K terms take K - 1 operations."""

from __future__ import annotations

from torchscan.operators.call import Call, elements, lines_along, sizes
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "reduction"


def folded(per_input: int, per_output: int) -> Cost:
    """``per_input`` operations for each value and ``per_output`` for each result: a sum is (1, -1), a mean (1, 0)."""

    def cost(call: Call) -> int:
        return max(per_input * elements(call.args[0]) + per_output * elements(call.values), 0)

    return cost


def _variance(per_output: int) -> Cost:
    """Two passes: mean N, subtract N, square N, add N - R, divide R: 4N; a standard deviation takes R roots more."""

    def cost(call: Call) -> int:
        return 4 * elements(call.args[0]) + per_output * elements(call.values)

    return cost


def vector_norm(call: Call) -> int:
    """Order 2: square N, add N - R, root R. 0, 1 and infinity: magnitude or comparison N, then N - R. Else powers N
    more, and R roots."""
    given = call.named(1, "ord", 2)
    order = float(given) if isinstance(given, int | float) else 2.0
    count, results = elements(call.args[0]), elements(call.output)
    if order in (0.0, 1.0, float("inf"), float("-inf")):
        return 2 * count - results
    return 2 * count if order == 2.0 else 3 * count


def _scan(per_value: int) -> Cost:
    """Every line along the axis takes one operation less than it has values."""

    def cost(call: Call) -> int:
        return per_value * (elements(call.args[0]) - lines_along(call.args[0], call.at(1, 0)))

    return cost


def _rows(names: str, cost: Cost, text: str, *, complex_flops: int | None = None) -> dict[str, Row]:
    return {f"aten.{name}": Formula(FAMILY, text, cost, complex_flops=complex_flops) for name in names.split()}


def _cdist_free(call: Call) -> int:
    return elements(call.args[0])


ROWS: dict[str, Row] = {
    **_rows("sum", folded(1, -1), "N - R", complex_flops=2),
    **_rows("mean", folded(1, 0), "N: N - R adds, R divisions", complex_flops=2),
    **_rows("prod amax amin max min argmax argmin", folded(1, -1), "N - R"),
    **_rows("nansum", folded(2, -1), "2N - R: select, add"),
    **_rows("nanmean", folded(2, 0), "2N"),
    **_rows("aminmax _aminmax", folded(2, -2), "2N - 2R"),
    **_rows("var var_mean", _variance(0), "4N"),
    **_rows("std std_mean", _variance(1), "4N + R"),
    **_rows("linalg_vector_norm norm", vector_norm, "2N for order 2; 2N - R for 0, 1, infinity; else 3N"),
    **_rows("logsumexp", folded(4, 0), "4N: max, subtract, exponential, sum, logarithm, add"),
    **_rows("linalg__powsum", folded(3, -1), "3N - R: magnitude, power, add"),
    **_rows("_foreach_max", folded(1, -1), "N - R over each of a list"),
    **_rows("trace", lambda call: max(min(sizes(call.args[0])) - 1, 0), "diagonal - 1"),
    **_rows("dist", folded(3, 0), "3N: subtract, square, sum, root"),
    **_rows("cumsum cumprod cummax cummin _cummax_helper _cummin_helper", _scan(1), "N - R"),
    **_rows("logcumsumexp _logcumsumexp", _scan(6), "6(N - R): log-add of two"),
    **_rows("count_nonzero", _cdist_free, "N: one comparison each"),
}
