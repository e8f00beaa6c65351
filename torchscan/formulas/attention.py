"""Native multi-head attention: batch B, target T, source S, width E, heads H, key and value widths K and V.

Writes Q = BTE, J = BSE, A = BHTS, R = BHT, I = BTE + BSK + BSV and P for the parameters. Stages and their DMAs:
projections I + P' + Q + 2J, query scale 2Q, scores Q + J + A, masks, softmax 8A + 4R, weighted values A + J + Q, output
projection 2Q + P'', where P' + P'' = P.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ChangedBoundary, ModuleCall, ModuleEstimates, UnsupportedCall
from torchscan.formulas.operands import FLOATING, argument, describe, elements, floating, module_of
from torchscan.formulas.receptive import NOWHERE
from torchscan.formulas.softmax import softmax_dmas, softmax_flops
from torchscan.formulas.work import Work, product

OWNED = frozenset({"module_flops", "macs", "dmas"})
"""Attention and its stacks own their subtree: a fused path runs no child, so children cannot be summed."""

_NATIVE: tuple[type[nn.Module], ...] = (
    *nn_types("MultiheadAttention", "Linear", "LayerNorm", "Dropout", "Transformer", "TransformerEncoder"),
    *nn_types("TransformerDecoder", "TransformerEncoderLayer", "TransformerDecoderLayer"),
    NonDynamicallyQuantizableLinear,
)
_FORWARDS = {kind: kind.forward for kind in _NATIVE}
"""What native modules compute with, as it was when this was imported: a type may be patched later."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The sizes that a call adds to a module's configuration, its explicit masks, and whether it averages weights."""

    batch: int
    target: int
    source: int
    masks: tuple[Tensor, ...] = ()
    averages_weights: bool = False


def attention_work(module: nn.MultiheadAttention, extent: Extent) -> Work:
    """Count one call of native attention. Raises UnsupportedCall outside of the documented configurations."""
    check_attention(module)
    width, heads, biased = module.embed_dim, module.num_heads, module.in_proj_bias is not None
    rows = extent.batch * heads * extent.target
    query, keys, scores = (
        extent.batch * extent.target * width,
        extent.batch * extent.source * width,
        rows * extent.source,
    )
    inputs = query + extent.batch * extent.source * (module.kdim + module.vdim)
    parameters = elements(*module._parameters.values(), *module.out_proj._parameters.values())
    work = (
        product(query, width, biased)
        + product(keys, module.kdim, biased)
        + product(keys, module.vdim, biased)
        + Work(flops=query)  # the query is scaled by 1/√D
        + product(scores, module.head_dim)
        + Work(flops=softmax_flops(rows, extent.source))
        + product(query, extent.source)
        + product(query, width, module.out_proj.bias is not None)
        + Work(dmas=inputs + parameters + 7 * query + 4 * keys + 2 * scores + softmax_dmas(rows, extent.source))
    )
    for mask in extent.masks:
        work += Work(flops=scores, dmas=mask.numel() + 2 * scores)
    if extent.averages_weights:  # the mean over H heads of each of BTS weights takes H operations
        work += Work(flops=scores, dmas=scores + extent.batch * extent.target * extent.source)
    return work


def check_attention(module: nn.Module) -> None:
    """Raise UnsupportedCall unless the module is native attention in a configuration that the formula covers."""
    check_native(module, nn.MultiheadAttention)
    attention: Any = module
    check_native(attention.out_proj, NonDynamicallyQuantizableLinear)
    if attention.bias_k is not None or attention.bias_v is not None:
        raise UnsupportedCall("add_bias_kv adds a key that the formula does not count")
    if attention.add_zero_attn:
        raise UnsupportedCall("add_zero_attn adds a key that the formula does not count")


def check_native(module: Any, kind: type[nn.Module]) -> None:
    """Raise UnsupportedCall unless ``module`` is of exactly this type, runs its forward, and is in evaluation."""
    if type(module) is not kind:
        raise ChangedBoundary(f"it holds a {type(module).__name__} where the formula needs a native {kind.__name__}")
    if "forward" in module.__dict__ or kind.forward is not _FORWARDS[kind]:
        raise ChangedBoundary(f"a forward set on {kind.__name__}, or on its instance, replaces the native one")
    if module.training:
        raise UnsupportedCall("native attention is counted in evaluation only")


def sequence(value: Any, name: str) -> Tensor:
    """Give a batched sequence (3-D, not empty, real, dense, floating), else raise UnsupportedCall."""
    tensor = floating(value, name)
    if tensor.dim() != 3:
        raise UnsupportedCall(f"{name} has {tensor.dim()} axes; the formula covers batched sequences of 3 axes")
    if tensor.numel() == 0:
        raise UnsupportedCall(f"{name} is empty")
    return tensor


def batch_and_length(tensor: Tensor, batch_first: bool) -> tuple[int, int]:
    """Read (batch, length) in either layout."""
    first, second = tensor.shape[:2]
    return (first, second) if batch_first else (second, first)


def masks_of(call: ModuleCall, **positions: int) -> tuple[Tensor, ...]:
    """Give the explicit masks among the arguments, by name and position; they must be dense, boolean or floating."""
    given = ((name, argument(call, position, name)) for name, position in positions.items())
    return tuple(_mask(value, name) for name, value in given if value is not None)


def _mask(value: Any, name: str) -> Tensor:
    is_dense = isinstance(value, Tensor) and value.layout is torch.strided and not value.is_nested
    if is_dense and (value.dtype is torch.bool or value.dtype in FLOATING):
        return value  # type: ignore[no-any-return]  # narrowed one line above
    raise UnsupportedCall(f"{name} is {describe(value)}; the formula covers dense boolean or floating masks")


def attention(call: ModuleCall) -> ModuleEstimates:
    """Count a call of MultiheadAttention."""
    module = module_of(call)
    query, key = sequence(argument(call, 0, "query"), "query"), sequence(argument(call, 1, "key"), "key")
    sequence(argument(call, 2, "value"), "value")
    batch, target = batch_and_length(query, module.batch_first)
    averages = bool(argument(call, 4, "need_weights", True)) and bool(argument(call, 6, "average_attn_weights", True))
    extent = Extent(
        batch,
        target,
        batch_and_length(key, module.batch_first)[1],
        masks_of(call, key_padding_mask=3, attn_mask=5),
        averages,
    )
    return attention_work(module, extent).estimates(NOWHERE)


BOUNDARY = "exact native type in evaluation; real dense floating batched 3-D inputs that are not empty; dense masks"

FAMILIES = (
    Family(
        group="Attention and Transformer",
        types=nn_types("MultiheadAttention"),
        estimate=attention,
        flops="projections, query scale Q, scores A·(2·D − 1), softmax R·(5·S − 2), values Q·(2·S − 1); "
        "+ A per mask; + A for averaged weights",
        macs="2·B·T·E² + B·S·E·(K + V) + 2·B·T·S·E",
        dmas="I + P + 7·Q + 4·J + 10·A + 4·R; + stored elements + 2·A per mask; + A + B·T·S for averaged weights",
        spatial="none: token dependencies instead",
        boundary=BOUNDARY + "; no add_bias_kv, no add_zero_attn",
        subtree_metrics=OWNED,
        exact=True,
        cacheable=False,
    ),
)
