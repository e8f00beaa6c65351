"""Interpolation: a linear blend of two values is 3 operations, of D axes 2^D - 1 blends; positions and weights along an
axis are bookkeeping, except where every point has its own (grid sampling).
"""

from __future__ import annotations

from math import prod

from torchscan.operators import windows
from torchscan.operators.call import Call, elements, sizes
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "sampling"

_BLEND = 3  # w0 a + w1 b
_CUBIC = 7  # four products, three sums
# Cubic weights at distance t: ((A + 2) t - (A + 3)) t t + 1 for the two inner taps (5 each),
# ((A t - 5 A) t + 8 A) t - 4 A for the two outer (6 each); 1 + t, 1 - t and 2 - t.
_CUBIC_WEIGHTS = 25


def _per_output(operations: int) -> Cost:
    def cost(call: Call) -> int:
        return operations * elements(call.output)

    return cost


def _per_gradient(operations: int) -> Cost:
    """Resampling backward: split each gradient by the weights of each axis in turn, add it to every tap."""

    def cost(call: Call) -> int:
        return operations * elements(call.args[0])

    return cost


def _smoothed(half_width: float, *, is_backward: bool) -> Cost:
    """Antialiased: rows first, then columns, each output summing its true taps: 2K - 1, or 2K when spread backward."""

    def cost(call: Call) -> int:
        source, target, offset = (
            (call.args[2], call.args[0], 1) if is_backward else (sizes(call.args[0]), call.output, 0)
        )
        high, wide = source[-2:]
        tall, broad = sizes(target)[-2:]
        align = bool(call.args[2 + offset])
        down = windows.smoothed(high, tall, half_width, align_corners=align, scale=call.at(3 + offset))
        across = windows.smoothed(wide, broad, half_width, align_corners=align, scale=call.at(4 + offset))
        planes = prod(source[:-2])
        saved = 0 if is_backward else 1
        return planes * (high * (2 * across - saved * broad) + broad * (2 * down - saved * tall))

    return cost


_CLIP, _REFLECT = 1, 2
_BILINEAR, _NEAREST, _BICUBIC = 0, 1, 2


def _point_flops(axes: int, mode: int, padding: int, align_corners: bool) -> int:
    """One grid point: unnormalize each axis (3, or 4 when corners are not aligned), keep it inside (clip 2; reflect 7:
    subtract, magnitude, remainder, quotient, select, and clip), then round (1), or floor and split off the fraction
    (3), or floor, fraction and cubic weights (27); bilinear weights multiply per corner."""
    inside = {_CLIP: 2, _REFLECT: 7}.get(padding, 0)
    along = {_NEAREST: 1, _BILINEAR: 3, _BICUBIC: 2 + _CUBIC_WEIGHTS}[mode]
    corners = 2**axes * (axes - 1) if mode == _BILINEAR else 0
    return axes * ((3 if align_corners else 4) + inside + along) + corners


def _value_flops(axes: int, mode: int) -> int:
    """One output: nearest copies; linear sums 2^D weighted corners; cubic is four rows and a column."""
    if mode == _NEAREST:
        return 0
    return 2 * 2**axes - 1 if mode == _BILINEAR else 5 * _CUBIC


def _grid_sample(axes: int) -> Cost:
    """``(input, grid, mode, padding, align_corners)``; the grid holds one point of D numbers per output position."""

    def cost(call: Call) -> int:
        mode, padding, align_corners = call.args[2:5]
        points = elements(call.args[1]) // axes
        return points * _point_flops(axes, mode, padding, align_corners) + elements(call.output) * _value_flops(
            axes, mode
        )

    return cost


def _grid_sample_backward(axes: int) -> Cost:
    """``(gradient, input, grid, mode, padding, align_corners, mask)``: points as forward. To the input: weigh and add
    per tap. To the grid, per tap and axis: product with the value, with the other weights, and add."""

    def cost(call: Call) -> int:
        mode, padding, align_corners = call.args[3:6]
        mask = call.at(6, (True, True))
        taps = {_NEAREST: 1, _BILINEAR: 2**axes, _BICUBIC: 4**axes}[mode]
        points = elements(call.args[2]) // axes * _point_flops(axes, mode, padding, align_corners)
        to_input = (1 if mode == _NEAREST else 2 * taps) * bool(mask[0])
        to_grid = 0 if mode == _NEAREST else 3 * taps * axes * bool(mask[1])
        return points + elements(call.args[0]) * (to_input + to_grid)

    return cost


def _affine_grid(call: Call) -> int:
    """Every coordinate is a row of theta times (x, y[, z], 1): 2(D + 1) as a native product."""
    return 2 * elements(call.output) * sizes(call.args[0])[-1]


def _affine_grid_macs(call: Call) -> int:
    return elements(call.output) * sizes(call.args[0])[-1]


def _row(text: str, cost: Cost) -> Formula:
    return Formula(FAMILY, text, cost)


ROWS: dict[str, Row] = {
    "aten.upsample_linear1d": _row("3 per output", _per_output(_BLEND)),
    "aten.upsample_bilinear2d": _row("9 per output: three blends", _per_output(3 * _BLEND)),
    "aten.upsample_trilinear3d": _row("21 per output: seven blends", _per_output(7 * _BLEND)),
    "aten.upsample_bicubic2d": _row("35 per output: four rows and a column of 7", _per_output(5 * _CUBIC)),
    # Products 2 + 4 + ... per axis, and one add per tap: 2 + 2; 2 + 4 + 4; 2 + 4 + 8 + 8; 4 + 16 + 16.
    "aten.upsample_linear1d_backward": _row("4 per gradient element", _per_gradient(4)),
    "aten.upsample_bilinear2d_backward": _row("10 per gradient element", _per_gradient(10)),
    "aten.upsample_trilinear3d_backward": _row("22 per gradient element", _per_gradient(22)),
    "aten.upsample_bicubic2d_backward": _row("36 per gradient element", _per_gradient(36)),
    **{
        f"aten.{name}{axes}d_backward": _row("1 add per gradient element", _per_gradient(1))
        for name in ("upsample_nearest", "_upsample_nearest_exact")
        for axes in (1, 2, 3)
    },
    **{
        f"aten._upsample_{name}2d_aa{suffix}": _row(
            "per axis, true taps: 2K - 1 forward, 2K backward", _smoothed(width, is_backward=bool(suffix))
        )
        for name, width in (("bilinear", 1.0), ("bicubic", 2.0), ("lanczos", 3.0))
        for suffix in ("", "_backward")
    },
    "aten.grid_sampler_2d": _row("per point 18 or more, per output 0, 7 or 35", _grid_sample(2)),
    "aten._grid_sampler_2d_cpu_fallback": _row("per point 18 or more, per output 0, 7 or 35", _grid_sample(2)),
    "aten.grid_sampler_3d": _row("per point 15 or more, per output 0 or 15", _grid_sample(3)),
    "aten.cudnn_grid_sampler": _row(
        "as bilinear with zero padding and aligned corners",
        lambda call: _grid_sample(2)(Call((*call.args, _BILINEAR, 0, True), {}, call.output)),
    ),
    "aten.grid_sampler_2d_backward": _row("points as forward; 2 per tap, 3 per tap and axis", _grid_sample_backward(2)),
    "aten._grid_sampler_2d_cpu_fallback_backward": _row(
        "points as forward; 2 per tap, 3 per tap and axis", _grid_sample_backward(2)
    ),
    "aten.grid_sampler_3d_backward": _row("points as forward; 2 per tap, 3 per tap and axis", _grid_sample_backward(3)),
    "aten.affine_grid_generator": Formula(FAMILY, "2(D + 1) per coordinate", _affine_grid, macs=_affine_grid_macs),
}
