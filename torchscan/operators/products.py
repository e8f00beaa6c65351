"""Matrix products and their kin: multiply-accumulates, two FLOPs each whatever the dtype, as PyTorch counts them.

A fused bias, ``alpha`` and ``beta`` are left out, as in PyTorch's own formulas.
"""

from __future__ import annotations

from math import prod

from torchscan.operators.extent import Args, Kwargs, at, elements, named
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "matrix products"


def _product(left: int, right: int) -> Cost:
    """(..., M, K) by (..., K, N) gives every output element K terms: 2 M K N, times the batch."""

    def cost(args: Args, kwargs: Kwargs, output: object) -> int:
        return 2 * args[left].numel() * args[right].shape[-1]

    return cost


def _matrix_vector(left: int) -> Cost:
    """(M, K) by (K,): every matrix element is used once."""

    def cost(args: Args, kwargs: Kwargs, output: object) -> int:
        return 2 * elements(args[left])

    return cost


def _outer(args: Args, kwargs: Kwargs, output: object) -> int:
    """The outer product has M N terms, each added to what stood there."""
    return 2 * elements(at(args, 1)) * elements(at(args, 2))


def _linear(args: Args, kwargs: Kwargs, output: object) -> int:
    """Every input element meets every output feature."""
    return 2 * args[0].numel() * (args[1].shape[0] if args[1].dim() > 1 else 1)


def _linear_backward(args: Args, kwargs: Kwargs, output: object) -> int:
    """One product for the input's gradient and one for the weight's, each the size of the forward's."""
    mask = at(args, 3, (True, True, True))
    features = args[2].shape[0] if args[2].dim() > 1 else 1
    return (mask[0] + mask[1]) * 2 * args[0].numel() * features


def _grouped(args: Args, kwargs: Kwargs, output: object) -> int:
    """Each row meets the matrix of its own group only.

    Either operand may be 3-D (one matrix per group) or 2-D (rows, or in the weight gradient columns, split by offsets):
    2-D by 3-D and 3-D by 2-D: 2 rows K N. 3-D by 3-D: a batched product. 2-D by 2-D: the shared axis is split, so
    each of its elements serves one output matrix: 2 M K N as if it were one product.
    """
    left, right = args[0], args[1]
    if left.dim() == 2:
        return 2 * left.numel() * right.shape[-1]
    if right.dim() == 2:
        return 2 * right.numel() * left.shape[-2]
    return 2 * left.numel() * right.shape[-1]


def _trilinear(args: Args, kwargs: Kwargs, output: object) -> int:
    """Sum of ``i1 * i2 * i3`` contracted in two steps: first the summed axes that ``i3`` lacks, then the rest.

    Bilinear, batch 2, 3 x 4 -> 5: 2*5*3*4 terms contract the first input, 2*5*4 the second: 160 multiply-accumulates.
    """
    inputs = args[:3]
    axes = inputs[0].dim() + len(args[3])
    absent = [{axis % axes for axis in args[index]} for index in (3, 4, 5)]
    lengths = [1] * axes
    for tensor, missing in zip(inputs, absent, strict=True):
        for axis, length in zip((axis for axis in range(axes) if axis not in missing), tensor.shape, strict=True):
            lengths[axis] = max(lengths[axis], length)
    contracted = {axis % axes for axis in args[6]} & absent[2]
    pairs = prod(length for axis, length in enumerate(lengths) if axis not in absent[0] & absent[1])
    rest = prod(length for axis, length in enumerate(lengths) if axis not in contracted)
    return 2 * (pairs + rest)


def _distances(args: Args, kwargs: Kwargs, output: object) -> int:
    """Pairs of rows: P M D differences. p = 2 squares and adds them (3 per term, minus one) and takes a root."""
    rows, width = output, args[0].shape[-1]
    power = named(args, kwargs, 2, "p", 2.0)
    return elements(rows) * _distance_flops(width, float(power))


def _pair_distances(args: Args, kwargs: Kwargs, output: object) -> int:
    """The same over the pairs of one set."""
    return elements(output) * _distance_flops(args[0].shape[-1], float(at(args, 1, 2.0)))


def _distance_flops(width: int, power: float) -> int:
    """Subtract and magnitude D; then compare or add D - 1. A general power adds D powers and a root."""
    if power in (0.0, 1.0, float("inf")):
        return max(3 * width - 1, 0)
    if power == 2.0:
        return 3 * width  # subtract D, square D, add D - 1, root
    return 4 * width


def _distance_backward(args: Args, kwargs: Kwargs, output: object) -> int:
    """Per pair and coordinate: difference, scale by gradient over distance, accumulate; two divisions at most."""
    return 4 * elements(args[0]) * args[1].shape[-1]


def _euclidean(args: Args, kwargs: Kwargs, output: object) -> int:
    """|x|^2 + |y|^2 - 2 x.y by one product over D + 2 columns, then clamp and root for each pair."""
    return elements(output) * (2 * (args[0].shape[-1] + 2) + 2)


def _euclidean_macs(args: Args, kwargs: Kwargs, output: object) -> int:
    return elements(output) * (args[0].shape[-1] + 2)


def _complex(text: str, cost: Cost) -> Formula:
    """A complex multiply-accumulate is four real ones: 8 real FLOPs for 2."""
    return Formula(FAMILY, text, cost, is_product=True, complex_flops=4)


ROWS: dict[str, Row] = {
    "aten.mm": _complex("2MKN", _product(0, 1)),
    "aten.bmm": _complex("2BMKN", _product(0, 1)),
    "aten.addmm": _complex("2MKN; bias omitted", _product(1, 2)),
    "aten.baddbmm": _complex("2BMKN; bias omitted", _product(1, 2)),
    "aten.addbmm": _complex("2BMKN; bias omitted", _product(1, 2)),
    "aten._addmm_activation": _complex("2MKN; fused bias and activation omitted", _product(1, 2)),
    "aten._int_mm": _complex("2MKN", _product(0, 1)),
    "aten._scaled_mm": _complex("2MKN", _product(0, 1)),
    "aten.linear": _complex("2 input elements x output features; bias omitted", _linear),
    "aten.mkldnn_linear": _complex("2 input elements x output features; bias omitted", _linear),
    "aten.linear_backward": _complex("the forward's product for each gradient asked for", _linear_backward),
    "aten._grouped_mm": _complex("2 rows x K x N: each row meets its group's matrix", _grouped),
    "aten._scaled_grouped_mm": _complex("2 rows x K x N: each row meets its group's matrix", _grouped),
    "aten.mv": _complex("2MK", _matrix_vector(0)),
    "aten.addmv": _complex("2MK; bias omitted", _matrix_vector(1)),
    "aten.dot": _complex("2K", _matrix_vector(0)),
    "aten.vdot": _complex("2K", _matrix_vector(0)),
    "aten.addr": _complex("2MN", _outer),
    "aten._trilinear": _complex("2 per term, contracted one input at a time", _trilinear),
    "aten._cdist_forward": Formula(FAMILY, "3 per pair and coordinate for p = 2", _distances),
    "aten._pdist_forward": Formula(FAMILY, "3 per pair and coordinate for p = 2", _pair_distances),
    "aten._cdist_backward": Formula(FAMILY, "4 per pair and coordinate", _distance_backward),
    "aten._euclidean_dist": Formula(FAMILY, "2(D + 2) + 2 per pair", _euclidean, macs=_euclidean_macs),
}
