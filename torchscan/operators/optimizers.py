"""Optimizer steps over lists of tensors, fused or tensor by tensor. N is the number of parameters stepped."""

from __future__ import annotations

from torchscan.operators import activation, elementwise, reduction
from torchscan.operators.call import Call, elements
from torchscan.operators.formula import Formula, Row

FAMILY = "optimizers"


def _on(call: Call, option: str) -> bool:
    """Say whether an option is on: not false, zero or absent."""
    return bool(call.kwargs.get(option))


def _common(call: Call) -> int:
    """Per parameter: flip the gradient, unscale it."""
    return _on(call, "maximize") + (call.kwargs.get("grad_scale") is not None)


def _adam(call: Call) -> int:
    """First moment lerp 3; second moment scale, square, scale, add 4; root, divide by a bias correction, add eps 3;
    step divide, scale, subtract 3: 13. Weight decay multiply, add 2; AMSGrad compare 1."""
    options = 2 * _on(call, "weight_decay") + _on(call, "amsgrad") + _common(call)
    return elements(call.args[0]) * (13 + options)


def _adamw(call: Call) -> int:
    """Adam's 13; decoupled weight decay is one product, always; AMSGrad compare 1."""
    return elements(call.args[0]) * (14 + _on(call, "amsgrad") + _common(call))


def _sgd(call: Call) -> int:
    """Scale, subtract 2. Weight decay multiply, add 2. Momentum: nothing on the first step but a copy, later scale,
    damp, add 3. Nesterov scale, add 2."""
    per_value = 2 + 2 * _on(call, "weight_decay") + _common(call)
    if _on(call, "momentum"):
        per_value += 3 * (not _on(call, "is_first_step")) + 2 * _on(call, "nesterov")
    return elements(call.args[0]) * per_value


def _adagrad(call: Call) -> int:
    """Square and add 2; root, add eps 2; divide, scale, subtract 3: 7. Weight decay multiply, add 2."""
    return elements(call.args[0]) * (7 + 2 * _on(call, "weight_decay") + _common(call))


def _unscale(call: Call) -> int:
    """A finiteness check and a product for each gradient."""
    return 2 * elements(call.args[0])


def _list_norm(call: Call) -> int:
    """Each tensor as a vector norm of its own."""
    pairs = zip(call.args[0], call.output, strict=True)
    return sum(reduction.vector_norm(Call((one, *call.args[1:2]), call.kwargs, norm)) for one, norm in pairs)


_ONE_EACH = (
    "abs acos asin atan ceil cos cosh div erf erfc exp expm1 floor frac lgamma log log10 log1p log2 maximum minimum "
    "mul neg pow reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc clamp_max clamp_min lerp add sub "
    "addcmul addcdiv"
)


def _list_forms() -> dict[str, Row]:
    """The list forms of elementwise operators cost what the operator costs, summed over the list."""
    rows: dict[str, Row] = {}
    for name in _ONE_EACH.split():
        row = {**elementwise.ROWS, **activation.ROWS}[f"aten.{name}"]
        if isinstance(row, Formula):
            rows[f"aten._foreach_{name}"] = Formula(FAMILY, f"as {name}, over a list", row.flops)
    return rows


ROWS: dict[str, Row] = {
    **_list_forms(),
    "aten._foreach_norm": Formula(FAMILY, "as a vector norm, over a list", _list_norm),
    "aten._fused_adam": Formula(FAMILY, "13N, + 2N decay, + N AMSGrad", _adam),
    "aten._fused_adamw": Formula(FAMILY, "14N, + N AMSGrad", _adamw),
    "aten._fused_sgd": Formula(FAMILY, "2N, + 2N decay, + 3N momentum, + 2N Nesterov", _sgd),
    "aten._fused_adagrad": Formula(FAMILY, "7N, + 2N decay", _adagrad),
    "aten._amp_foreach_non_finite_check_and_unscale": Formula(FAMILY, "2N", _unscale),
}
