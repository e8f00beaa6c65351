"""Matrix products and their kin: multiply-accumulates, two FLOPs each whatever the dtype, as PyTorch counts them.

A fused bias, ``alpha`` and ``beta`` are left out, as in PyTorch's own formulas.
"""

from __future__ import annotations

from math import prod

from torchscan.operators.call import Call, elements, sizes
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "matrix products"


def _product(left: int, right: int) -> Cost:
    """(..., M, K) by (..., K, N) gives every output element K terms: 2 M K N, times the batch."""

    def cost(call: Call) -> int:
        args = call.args
        count: int = 2 * args[left].numel() * args[right].shape[-1]  # spelled out: the most frequent formula of all
        return count

    return cost


def _matrix_vector(left: int) -> Cost:
    """(M, K) by (K,): every matrix element is used once."""

    def cost(call: Call) -> int:
        return 2 * elements(call.args[left])

    return cost


def _outer(call: Call) -> int:
    """The outer product has M N terms, each added to what stood there."""
    return 2 * elements(call.at(1)) * elements(call.at(2))


def _linear(call: Call) -> int:
    """Every input element meets every output feature."""
    return 2 * elements(call.args[0]) * (sizes(call.args[1])[0] if call.args[1].dim() > 1 else 1)


def _linear_backward(call: Call) -> int:
    """One product for the input's gradient and one for the weight's, each the size of the forward's."""
    wanted = sum(map(bool, call.at(3, (True, True))[:2]))
    features = sizes(call.args[2])[0] if call.args[2].dim() > 1 else 1
    return wanted * 2 * elements(call.args[0]) * features


def _grouped(call: Call) -> int:
    """Each row meets the matrix of its own group only.

    Either operand may be 3-D (one matrix per group) or 2-D (rows, or in the weight gradient columns, split by offsets):
    2-D by 3-D and 3-D by 2-D: 2 rows K N. 3-D by 3-D: a batched product. 2-D by 2-D: the shared axis is split, so
    each of its elements serves one output matrix: 2 M K N as if it were one product.
    """
    left, right = call.args[0], call.args[1]
    if left.dim() == 2:
        return 2 * elements(left) * sizes(right)[-1]
    if right.dim() == 2:
        return 2 * elements(right) * sizes(left)[-2]
    return 2 * elements(left) * sizes(right)[-1]


def _packed(call: Call) -> int:
    """Weights packed in a few bits: every output is a dot product over the input's last axis."""
    return 2 * elements(call.output) * sizes(call.args[0])[-1]


def _trilinear(call: Call) -> int:
    """Sum of ``i1 * i2 * i3`` contracted in two steps: first the summed axes that ``i3`` lacks, then the rest.

    Bilinear, batch 2, 3 x 4 -> 5: 2*5*3*4 terms contract the first input, 2*5*4 the second: 160 multiply-accumulates.
    """
    inputs = call.args[:3]
    axes = inputs[0].dim() + len(call.args[3])
    absent = [{axis % axes for axis in call.args[index]} for index in (3, 4, 5)]
    lengths = [1] * axes
    for tensor, missing in zip(inputs, absent, strict=True):
        for axis, length in zip((axis for axis in range(axes) if axis not in missing), sizes(tensor), strict=True):
            lengths[axis] = max(lengths[axis], length)
    contracted = {axis % axes for axis in call.args[6]} & absent[2]
    pairs = prod(length for axis, length in enumerate(lengths) if axis not in absent[0] & absent[1])
    rest = prod(length for axis, length in enumerate(lengths) if axis not in contracted)
    return 2 * (pairs + rest)


def _distances(call: Call) -> int:
    """Pairs of rows: P M D differences. p = 2 squares and adds them (3 per term, minus one) and takes a root."""
    width = sizes(call.args[0])[-1]
    power = call.named(2, "p", 2.0)
    return elements(call.output) * _distance_flops(width, float(power))


def _pair_distances(call: Call) -> int:
    """The same over the pairs of one set."""
    return elements(call.output) * _distance_flops(sizes(call.args[0])[-1], float(call.at(1, 2.0)))


def _distance_flops(width: int, power: float) -> int:
    """Subtract and magnitude D; then compare or add D - 1. A general power adds D powers and a root."""
    if power in (0.0, 1.0, float("inf")):
        return max(3 * width - 1, 0)
    if power == 2.0:
        return 3 * width  # subtract D, square D, add D - 1, root
    return 4 * width


def _distance_backward(call: Call) -> int:
    """Per pair and coordinate: difference, scale by gradient over distance, accumulate; two divisions at most."""
    return 4 * elements(call.args[0]) * sizes(call.args[1])[-1]


def _euclidean(call: Call) -> int:
    """|x|^2 + |y|^2 - 2 x.y by one product over D + 2 columns, then clamp and root for each pair."""
    return elements(call.output) * (2 * (sizes(call.args[0])[-1] + 2) + 2)


def _euclidean_macs(call: Call) -> int:
    return elements(call.output) * (sizes(call.args[0])[-1] + 2)


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
    **{
        f"aten.{name}": Formula(FAMILY, "2MKN, weights packed", _packed, is_product=True)
        for name in (
            "_weight_int8pack_mm",
            "_weight_int4pack_mm",
            "_weight_int4pack_mm_for_cpu",
            "_mixed_dtypes_linear",
            "_weight_int4pack_mm_with_scales_and_zeros",
            "_dyn_quant_matmul_4bit",
            "_scaled_mm_v2",
        )
    },
    "aten.mv": _complex("2MK", _matrix_vector(0)),
    "aten.addmv": _complex("2MK; bias omitted", _matrix_vector(1)),
    "aten.dot": _complex("2K", _matrix_vector(0)),
    "aten.vdot": _complex("2K", _matrix_vector(0)),
    "aten.addr": _complex("2MN", _outer),
    "aten._trilinear": _complex("2 per term, contracted one input at a time", _trilinear),
    "aten._cdist_forward": Formula(FAMILY, "3 per pair and coordinate for p = 2", _distances),
    "aten._pdist_forward": Formula(FAMILY, "3 per pair and coordinate for p = 2", _pair_distances),
    "aten._cdist_backward": Formula(FAMILY, "4 per pair and coordinate", _distance_backward),
    "aten._pdist_backward": Formula(FAMILY, "4 per pair and coordinate", _distance_backward),
    "aten._euclidean_dist": Formula(FAMILY, "2(D + 2) + 2 per pair", _euclidean, macs=_euclidean_macs),
}
