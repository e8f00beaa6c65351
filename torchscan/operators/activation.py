"""Activations and their derivatives, each written out as scalar operations. A special function is one operation.

`s` is the logistic function, `y` the output, `g` the incoming gradient.
"""

from __future__ import annotations

from torchscan.operators.call import Call, elements
from torchscan.operators.elementwise import per_output
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "activation"


def _gelu(exact: int, tanh: int) -> Cost:
    """The tanh form is chosen by name and costs more arithmetic."""

    def cost(call: Call) -> int:
        return (tanh if call.kwargs.get("approximate", "none") == "tanh" else exact) * call.written

    return cost


def _prelu_backward(call: Call) -> int:
    """To the input: compare, multiply. To the weight: compare, multiply; its sum over the batch is an own operator."""
    return 4 * elements(call.at(0))


def _glu(call: Call) -> int:
    """``a * s(b)`` per output element: s is 4 operations."""
    return 5 * call.written


def _glu_backward(call: Call) -> int:
    """ga = g s; gb = ga a (1 - s): s is 4 operations, four more, per element of the half-width gradient."""
    return 8 * elements(call.at(0))


_FORMS: dict[str, tuple[int, str]] = {
    "sigmoid": (4, "1 / (1 + exp(-x))"),
    "silu": (5, "x s"),
    "mish": (5, "x tanh(log(1 + exp x))"),
    "softplus": (6, "log(1 + exp(beta x)) / beta, or x above the threshold"),
    "elu": (4, "x, or alpha (exp x - 1)"),
    "celu": (5, "x, or alpha (exp(x / alpha) - 1)"),
    "selu": (5, "scale times elu"),
    "hardtanh": (2, "two comparisons"),
    "hardsigmoid": (4, "min(max(x + 3, 0), 6) / 6"),
    "hardswish": (5, "x min(max(x + 3, 0), 6) / 6"),
    "leaky_relu": (2, "compare, multiply"),
    "_prelu_kernel": (2, "compare, multiply"),
    "prelu": (2, "compare, multiply"),
    "rrelu_with_noise": (2, "compare, multiply"),
    "softshrink": (4, "two comparisons, add, subtract"),
    "hardshrink": (2, "two comparisons"),
    "log_sigmoid_forward": (5, "log(1 / (1 + exp(-x)))"),
    "rrelu_with_noise_functional": (2, "compare, multiply"),
    "logit_backward": (3, "g / (x (1 - x))"),
    "sigmoid_backward": (3, "g (1 - y) y"),
    "tanh_backward": (3, "g (1 - y y)"),
    "threshold_backward": (1, "select"),
    "silu_backward": (9, "g s (1 + x (1 - s)): s is 4, five more"),
    "mish_backward": (13, "g (t + x s (1 - t t)): t = tanh(log(1 + exp x)) is 4, s is 3 more, six more"),
    "softplus_backward": (5, "g z / (z + 1) with z = exp(beta x), or g above the threshold"),
    "elu_backward": (4, "compare, exponential, scale, multiply"),
    "hardtanh_backward": (2, "two comparisons select the gradient"),
    "hardsigmoid_backward": (3, "two comparisons, multiply by 1/6"),
    "hardswish_backward": (5, "two comparisons; g (x / 3 + 1/2)"),
    "leaky_relu_backward": (2, "compare, multiply"),
    "rrelu_with_noise_backward": (2, "compare, multiply"),
    "hardshrink_backward": (2, "two comparisons select the gradient"),
    "softshrink_backward": (2, "two comparisons select the gradient"),
    "log_sigmoid_backward": (5, "g (1 - s): s is 3 from the saved exponential"),
}

ROWS: dict[str, Row] = {
    **{
        f"aten.{name}": Formula(FAMILY, f"{count}N: {form}", per_output(count))
        for name, (count, form) in _FORMS.items()
    },
    # Exact: x * 0.5 * (1 + erf(x / sqrt 2)) is 5 operations. Tanh: 0.5 x (1 + tanh(c (x + k x x x))) is 9.
    "aten.gelu": Formula(FAMILY, "5N exact, 9N with tanh", _gelu(5, 9)),
    # Exact: g (cdf + x pdf): cdf = 0.5 (1 + erf(x / sqrt 2)) is 4; pdf = c exp(-x x / 2) is 4; x pdf, add, times g: 3.
    # Tanh: inner c (x + k x x x) is 5, tanh 1; 0.5 (1 + t) is 2; 1 - t t is 2; inner derivative c (1 + 3 k (x x)) is 3,
    # since x x is known; 0.5 x times both is 3; add and times g: 2.
    "aten.gelu_backward": Formula(FAMILY, "11N exact, 18N with tanh", _gelu(11, 18)),
    "aten.glu": Formula(FAMILY, "5 per output: a s(b)", _glu),
    "aten.glu_backward": Formula(FAMILY, "8 per gradient element", _glu_backward),
    "aten._prelu_kernel_backward": Formula(FAMILY, "4N", _prelu_backward),
}
