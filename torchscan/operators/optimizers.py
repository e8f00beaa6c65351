"""Optimizer steps over lists of tensors, fused or tensor by tensor. N is the number of parameters stepped."""

from __future__ import annotations

from typing import Any

from torchscan.operators import elementwise, reduction
from torchscan.operators.extent import Args, Kwargs, elements, is_tensor
from torchscan.operators.formula import Formula, Row

FAMILY = "optimizers"


def _common(kwargs: Kwargs) -> int:
    """Per parameter: flip the gradient, unscale it."""
    return bool(kwargs.get("maximize", False)) + is_tensor(kwargs.get("grad_scale"))


def _adam(args: Args, kwargs: Kwargs, output: Any) -> int:
    """First moment lerp 3; second moment scale, square, scale, add 4; root, divide by a bias correction, add eps 3;
    step divide, scale, subtract 3: 13. Weight decay multiply, add 2; AMSGrad compare 1."""
    decay = 2 * (kwargs.get("weight_decay", 0) != 0)
    return elements(args[0]) * (13 + decay + bool(kwargs.get("amsgrad", False)) + _common(kwargs))


def _adamw(args: Args, kwargs: Kwargs, output: Any) -> int:
    """Adam's 13; decoupled weight decay is one product, always; AMSGrad compare 1."""
    return elements(args[0]) * (14 + bool(kwargs.get("amsgrad", False)) + _common(kwargs))


def _sgd(args: Args, kwargs: Kwargs, output: Any) -> int:
    """Scale, subtract 2. Weight decay multiply, add 2. Momentum: nothing on the first step but a copy, later scale,
    damp, add 3. Nesterov scale, add 2."""
    per_value = 2 + 2 * (kwargs.get("weight_decay", 0) != 0) + _common(kwargs)
    if kwargs.get("momentum", 0):
        per_value += 3 * (not kwargs.get("is_first_step", False)) + 2 * bool(kwargs.get("nesterov", False))
    return elements(args[0]) * per_value


def _adagrad(args: Args, kwargs: Kwargs, output: Any) -> int:
    """Square and add 2; root, add eps 2; divide, scale, subtract 3: 7. Weight decay multiply, add 2."""
    return elements(args[0]) * (7 + 2 * (kwargs.get("weight_decay", 0) != 0) + _common(kwargs))


def _unscale(args: Args, kwargs: Kwargs, output: Any) -> int:
    """A finiteness check and a product for each gradient."""
    return 2 * elements(args[0])


def _list_norm(args: Args, kwargs: Kwargs, output: Any) -> int:
    """Each tensor as a vector norm of its own."""
    formula = reduction.ROWS["aten.linalg_vector_norm"]
    assert isinstance(formula, Formula)  # noqa: S101 # for the type checker: the table holds a formula there
    return int(sum(formula.flops((one, *args[1:2]), kwargs, norm) for one, norm in zip(args[0], output, strict=True)))


_ONE_EACH = (
    "abs acos asin atan ceil cos cosh div erf erfc exp expm1 floor frac lgamma log log10 log1p log2 maximum minimum "
    "mul neg pow reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc clamp_max clamp_min lerp add sub "
    "addcmul addcdiv"
)


def _list_forms() -> dict[str, Row]:
    """The list forms of elementwise operators cost what the operator costs, summed over the list."""
    from torchscan.operators.activation import ROWS as ACTIVATIONS

    rows: dict[str, Row] = {}
    for name in _ONE_EACH.split():
        row = {**elementwise.ROWS, **ACTIVATIONS}[f"aten.{name}"]
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
