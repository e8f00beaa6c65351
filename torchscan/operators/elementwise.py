"""Operators that do the same few scalar operations once per output element."""

from __future__ import annotations

from collections.abc import Iterable

from torchscan.operators.call import Call, elements
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "elementwise"


def per_output(operations: int) -> Cost:
    """Count ``operations`` per element written."""

    def cost(call: Call) -> int:
        return operations * call.written

    return cost


def _scaled_sum(call: Call) -> int:
    """Add, and multiply first when ``alpha`` is not 1; the list form holds it by position or by name too."""
    alpha = call.named(2, "alpha", 1)
    return (1 if alpha == 1 else 2) * call.written


def _ternary(call: Call) -> int:
    """``self + value * a * b``: two operations, and a third when ``value`` is not 1."""
    value = call.named(3, "value", 1)
    return (2 if isinstance(value, int | float) and value == 1 else 3) * call.written


def _clamp(call: Call) -> int:
    """One comparison per bound that is given."""
    bounds = [call.named(1, "min"), call.named(2, "max")]
    return sum(bound is not None for bound in bounds) * call.written


def _rows(names: str, cost: Cost, text: str, *, complex_flops: int | None = None) -> dict[str, Row]:
    return {f"aten.{name}": Formula(FAMILY, text, cost, complex_flops=complex_flops) for name in names.split()}


def _counted(names: str, operations: int, text: str, *, complex_flops: int | None = None) -> dict[str, Row]:
    return _rows(names, per_output(operations), text, complex_flops=complex_flops)


def _per_input(names: Iterable[str], text: str) -> dict[str, Row]:
    def cost(call: Call) -> int:
        return elements(call.args[0])

    return {f"aten.{name}": Formula(FAMILY, text, cost) for name in names}


ROWS: dict[str, Row] = {
    # Real operations of a complex element: add 2; multiply 4 products + 2 sums; divide 6 products, 3 sums, 2 divisions;
    # magnitude 2 squares, 1 sum, 1 root.
    **_rows("add sub rsub", _scaled_sum, "N, or 2N when alpha is not 1", complex_flops=2),
    **_counted("mul", 1, "N", complex_flops=6),
    **_counted("div", 1, "N", complex_flops=11),
    **_counted("neg sgn", 1, "N", complex_flops=2),
    **_counted("abs", 1, "N", complex_flops=4),
    **_counted("conj_physical _conj_physical", 1, "N: negate the imaginary part", complex_flops=1),
    **_counted("angle", 1, "N", complex_flops=1),
    **_counted(
        "pow float_power floor_divide fmod remainder true_divide reciprocal sqrt rsqrt square "
        "exp exp2 expm1 log log2 log10 log1p "
        "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh sinc deg2rad rad2deg "
        "erf erfc erfinv lgamma digamma polygamma mvlgamma igamma igammac i0 "
        "special_entr special_erfcx special_i0e special_i1 special_i1e special_ndtri special_log_ndtr special_zeta "
        "special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_modified_bessel_i0 "
        "special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_spherical_bessel_j0 "
        "special_airy_ai special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 "
        "special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
        "special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u "
        "special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w special_hermite_polynomial_h "
        "special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p "
        "floor ceil round trunc sign signbit copysign nextafter ldexp heaviside",
        1,
        "N: one scalar operation or special function per output",
    ),
    **_counted(
        "eq ne lt le gt ge isnan isinf isposinf isneginf isfinite maximum minimum fmax fmin relu threshold clamp_min "
        "clamp_max where masked_fill",
        1,
        "N: one comparison or selection per output",
    ),
    **_rows("clamp", _clamp, "N per bound given"),
    **_rows("addcmul addcdiv", _ternary, "2N, or 3N when value is not 1"),
    **_counted("frac", 2, "2N: truncate, subtract"),
    **_counted("xlogy special_xlog1py", 2, "2N: logarithm, multiply"),
    **_counted("lerp", 3, "3N: subtract, multiply, add"),
    **_counted("logit", 3, "3N: subtract, divide, logarithm"),
    **_counted("nan_to_num", 3, "3N: three selections"),
    **_counted("polar", 4, "4N: cosine, sine, two products"),
    **_counted("hypot", 4, "4N: two squares, add, root"),
    **_counted("logaddexp logaddexp2", 6, "6N: larger, difference, magnitude, exponential, log1p, add"),
    **_per_input(("frexp",), "N: one split each"),
    **_per_input(("equal",), "N of the first tensor: one comparison each"),
    "aten.allclose": Formula(
        FAMILY, "6N: subtract, two magnitudes, scale, add, compare", lambda call: 6 * elements(call.args[0])
    ),
    "aten._amp_update_scale": Formula(FAMILY, "1: grow or shrink the scale", lambda call: elements(call.args[0])),
}
