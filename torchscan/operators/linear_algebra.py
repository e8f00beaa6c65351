"""Direct solvers, by their leading terms. Iterative ones (eigenvalues, singular values) have no count: they stop when
they converge, so they are named as uncounted.
"""

from __future__ import annotations

from typing import Any

from torchscan.operators.call import Call, elements, sizes
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "linear algebra"


def _batch(matrix: Any) -> int:
    return int(elements(matrix) // max(sizes(matrix)[-1] * sizes(matrix)[-2], 1))


def _factor(numerator: int, denominator: int, *, per_diagonal: int = 0) -> Cost:
    """``numerator / denominator`` n^3 for each matrix, rounded; and operations over the diagonal."""

    def cost(call: Call) -> int:
        size = sizes(call.args[0])[-1]
        return _batch(call.args[0]) * (round(numerator * size**3 / denominator) + per_diagonal * size)

    return cost


def _columns(values: Any, order: int) -> int:
    """Right-hand sides of one system: a vector is one, a matrix its elements over the order."""
    return int(elements(values) // max(order, 1))


def _triangular(call: Call) -> int:
    """Substitution: n^2 for each right-hand side."""
    order = sizes(call.args[0])[-1]
    return order * order * _columns(call.output, order)


def _solve_by_substitution(call: Call) -> int:
    """The old ``triangular_solve(b, a, ...)``: the matrix comes second."""
    order = sizes(call.args[1])[-1]
    return order * order * _columns(call.args[0], order)


def _twice_triangular(matrix: int) -> Cost:
    """Forward and back substitution: 2 n^2 for each right-hand side."""

    def cost(call: Call) -> int:
        order = sizes(call.args[matrix])[-1]
        return 2 * order * order * _columns(call.output, order)

    return cost


def _solve(call: Call) -> int:
    """LU, then two substitutions: 2/3 n^3 + 2 n^2 for each right-hand side."""
    order = sizes(call.args[0])[-1]
    return _batch(call.args[0]) * round(2 * order**3 / 3) + 2 * order * order * _columns(call.values, order)


def _rectangular_lu(call: Call) -> int:
    """m by n, k = min: sum over pivots of 2 (m - i)(n - i): m n k - (m + n) k^2 / 2 + k^3 / 3, doubled."""
    rows, columns = sizes(call.args[0])[-2:]
    rank = min(rows, columns)
    return _batch(call.args[0]) * round(2 * (rows * columns * rank - (rows + columns) * rank**2 / 2 + rank**3 / 3))


def _qr(call: Call) -> int:
    """Householder, k = min(m, n): the factor 2 m n k - (m + n) k^2 + 2/3 k^3, doubled; forming Q as much again."""
    rows, columns = sizes(call.args[0])[-2:]
    rank = min(rows, columns)
    factor = round(2 * (2 * rows * columns * rank - (rows + columns) * rank**2 + 2 * rank**3 / 3))
    mode = call.at(1, "reduced")
    return _batch(call.args[0]) * factor * (1 if mode == "r" else 2)


def _reflect(call: Call) -> int:
    """``householder_product(reflectors, ...)``: k reflections of an m by n matrix: 2 m n k - (m + n) k^2 + 2/3 k^3,
    doubled."""
    rows, columns = sizes(call.args[0])[-2:]
    rank = min(rows, columns)
    factor = 2 * (2 * rows * columns * rank - (rows + columns) * rank**2 + 2 * rank**3 / 3)
    return _batch(call.args[0]) * round(factor)


def _apply_reflections(call: Call) -> int:
    """``ormqr(reflectors, scales, other)``: each of k reflections of m values takes 4 m for each column."""
    rows, reflections = sizes(call.args[0])[-2:]
    return 4 * reflections * rows * _columns(call.args[2], rows)


def _cross(call: Call) -> int:
    """Two products and a subtraction for each component."""
    return int(3 * elements(call.output))


def _row(text: str, cost: Cost) -> Formula:
    return Formula(FAMILY, text, cost)


ROWS: dict[str, Row] = {
    "aten.linalg_lu_factor_ex": _row("2/3 n^3", _rectangular_lu),
    "aten.linalg_lu_factor": _row("2/3 n^3", _rectangular_lu),
    "aten._linalg_det": _row("2/3 n^3 + n", _factor(2, 3, per_diagonal=1)),
    "aten._linalg_slogdet": _row("2/3 n^3 + 3n: magnitude, logarithm, add", _factor(2, 3, per_diagonal=3)),
    "aten.linalg_inv_ex": _row("2 n^3", _factor(2, 1)),
    "aten.linalg_cholesky_ex": _row("1/3 n^3", _factor(1, 3)),
    "aten.cholesky_inverse": _row("2/3 n^3", _factor(2, 3)),
    "aten.cholesky_solve": _row("2 n^2 per right-hand side", _twice_triangular(1)),
    "aten.linalg_lu_solve": _row("2 n^2 per right-hand side", _twice_triangular(0)),
    "aten.linalg_solve_triangular": _row("n^2 per right-hand side", _triangular),
    "aten._linalg_solve_ex": _row("2/3 n^3 + 2 n^2 per right-hand side", _solve),
    "aten.linalg_qr": _row("Householder factor and Q", _qr),
    "aten.linalg_lu": _row("2/3 n^3", _rectangular_lu),
    "aten.cholesky": _row("1/3 n^3", _factor(1, 3)),
    "aten.linalg_ldl_factor_ex": _row("1/3 n^3", _factor(1, 3)),
    "aten.linalg_ldl_solve": _row("2 n^2 per right-hand side", _twice_triangular(0)),
    "aten.triangular_solve": _row("n^2 per right-hand side", _solve_by_substitution),
    "aten.geqrf": _row("Householder factor", _reflect),
    "aten.linalg_householder_product": _row("Householder factor", _reflect),
    "aten.ormqr": _row("4 m k per column", _apply_reflections),
    "aten.linalg_cross": _row("3 per component", _cross),
}
