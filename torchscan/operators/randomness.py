"""Random draws and dropout: drawing is no arithmetic; applying a mask is."""

from __future__ import annotations

from torchscan.operators.call import Call, elements
from torchscan.operators.elementwise import per_output
from torchscan.operators.formula import Formula, Free, Row

FAMILY = "random"
_REASON = "random draw"


def _dropout(call: Call) -> int:
    """``native_dropout(input, p, train)``: training multiplies by mask and scale, 2N; p = 1 only zeroes, N."""
    if call.at(2) is False or call.args[1] == 0:
        return 0
    return (1 if call.args[1] == 1 else 2) * elements(call.args[0])


ROWS: dict[str, Row] = {
    **{
        f"aten.{name}": Free(FAMILY, _REASON)
        for name in (
            "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "bernoulli", "uniform",
            "normal", "log_normal", "exponential", "geometric", "cauchy", "random", "multinomial", "poisson",
            "binomial",
            "_standard_gamma", "_sample_dirichlet", "normal_functional", "_philox_uniform", "_philox_normal",
        )
    },
    "aten.native_dropout": Formula(FAMILY, "2N in training, N when p = 1, else 0", _dropout),
    "aten.native_dropout_backward": Formula(FAMILY, "2N: mask, scale", per_output(2)),
    "aten._fused_dropout": Formula(FAMILY, "2N: mask, scale", lambda call: 2 * elements(call.args[0])),
    "aten._masked_scale": Formula(FAMILY, "2N: mask, scale", per_output(2)),
}  # fmt: skip
