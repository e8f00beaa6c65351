"""Which source tokens an output token depends on, for native attention rows.

The description is local to the call: it relates the output to the call's own arguments. It holds for generic weights,
in exact arithmetic, and only where the masks are open or causal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from torch import nn

from torchscan.formulas.attention import batch_and_length, sequence
from torchscan.formulas.handler import ModuleCall, UnsupportedCall
from torchscan.formulas.masks import Pattern, pattern_of
from torchscan.formulas.operands import argument, module_of
from torchscan.formulas.relations import ALL, NONE, PREFIX, SAME, Relation, compose, union
from torchscan.report.metric import Status

METHOD = "torchscan_token_dependencies_v1"
ASSUMPTIONS = (
    "evaluation: dropout passes its input on",
    "generic weights in exact arithmetic: no dependency vanishes by chance",
    "local to this call: relations are to its own arguments",
)


class Source(NamedTuple):
    """A sequence among the arguments, its length, and what the output takes from it."""

    argument: str
    value: Any
    length: int
    relation: Relation


class Dependencies(NamedTuple):
    """The layout, the output's length and the sources of a call."""

    batch_first: bool
    length: int
    sources: tuple[Source, ...]


def token_dependencies(call: ModuleCall) -> dict[str, Any] | None:
    """Describe the token dependencies of a native attention call that has estimates; None for every other module.

    Never raises: what cannot be described is unavailable. Then ``reason`` says why; it belongs into a diagnostic
    rather than into the row.

    Returns:
        status, scope, method, assumptions; if complete, ``output`` {sequence_axis, length} and ``sources``
        [{arguments, sequence_axis, length, relation: {kind, limit?, first_position?}}].
    """
    describe = _DESCRIBERS.get(type(call.module))
    if describe is None:
        return None
    try:
        found = describe(call)
        sources = _grouped(found)
    except UnsupportedCall as unsupported:
        return {**_header("unavailable"), "reason": str(unsupported)}
    axis = 1 if found.batch_first else 0
    return {
        **_header("complete"),
        "output": {"sequence_axis": axis, "length": found.length},
        "sources": [
            {
                "arguments": names,
                "sequence_axis": axis,
                "length": source.length,
                "relation": source.relation.described(),
            }
            for names, source in sources
        ],
    }


def _header(status: Status) -> dict[str, Any]:
    return {"status": status, "scope": "module_call", "method": METHOD, "assumptions": list(ASSUMPTIONS)}


def _grouped(found: Dependencies) -> list[tuple[list[str], Source]]:
    """Join the arguments that are one and the same tensor: self-attention has a single source."""
    groups: list[tuple[list[str], Source]] = []
    for source in found.sources:
        for at, (names, known) in enumerate(groups):
            if known.value is source.value:
                joined = known._replace(relation=union(known.relation, source.relation))
                groups[at] = ([*names, source.argument], joined)
                break
        else:
            groups.append(([source.argument], source))
    return groups


def _attention(call: ModuleCall) -> Dependencies:
    """Relate query, key and value. A softmax over one key is 1 whatever they say: then only the value counts."""
    module = module_of(call)
    query, key, value = (sequence(argument(call, at, name), name) for at, name in enumerate(("query", "key", "value")))
    target = batch_and_length(query, module.batch_first)[1]
    source = batch_and_length(key, module.batch_first)[1]
    pattern = _pattern(call, ("attn_mask", 5), ("key_padding_mask", 3), ("is_causal", 7), target, source)
    choosing = pattern is Pattern.CAUSAL  # the first target has one key, so choices begin with the second
    chooses = source > 1 and target > choosing
    return Dependencies(
        module.batch_first,
        target,
        (
            Source("query", query, target, _from(SAME, choosing) if chooses else NONE),
            Source("key", key, source, _from(_MIXING[pattern], choosing) if chooses else NONE),
            Source("value", value, source, _MIXING[pattern]),
        ),
    )


_MIXING = {Pattern.OPEN: ALL, Pattern.CAUSAL: PREFIX}


def _from(relation: Relation, first_position: int) -> Relation:
    return Relation(relation.kind, relation.limit, int(first_position))


Place = tuple[str, int]
"""An argument's name and position."""


def _pattern(call: ModuleCall, mask: Place, padding: Place, hint: Place, target: int, source: int) -> Pattern:
    given, padded, is_causal = (argument(call, position, name) for name, position in (mask, padding, hint))
    return pattern_of(given, padded, is_causal, target, source)


def _encoder_layer(call: ModuleCall) -> Dependencies:
    module = module_of(call)
    return _encoding(call, module.self_attn.batch_first, "src_mask")


def _encoder(call: ModuleCall) -> Dependencies:
    module = module_of(call)
    return _encoding(call, module.layers[0].self_attn.batch_first, "mask")


def _encoding(call: ModuleCall, batch_first: bool, mask: str) -> Dependencies:
    """A residual adds each position to what attention mixes, and layers of one pattern compose to that pattern."""
    source = sequence(argument(call, 0, "src"), "src")
    length = batch_and_length(source, batch_first)[1]
    pattern = _pattern(call, (mask, 1), ("src_key_padding_mask", 2), ("is_causal", 3), length, length)
    return Dependencies(batch_first, length, (Source("src", source, length, union(_MIXING[pattern], SAME)),))


def _decoder_layer(call: ModuleCall) -> Dependencies:
    module = module_of(call)
    return _decoding(call, module.self_attn.batch_first, 1)


def _decoder(call: ModuleCall) -> Dependencies:
    module = module_of(call)
    return _decoding(call, module.layers[0].self_attn.batch_first, len(module.layers))


def _decoding(call: ModuleCall, batch_first: bool, layers: int) -> Dependencies:
    target, memory = sequence(argument(call, 0, "tgt"), "tgt"), sequence(argument(call, 1, "memory"), "memory")
    (_, length), (_, source) = batch_and_length(target, batch_first), batch_and_length(memory, batch_first)
    own = _pattern(call, ("tgt_mask", 2), ("tgt_key_padding_mask", 4), ("tgt_is_causal", 6), length, length)
    cross = _pattern(call, ("memory_mask", 3), ("memory_key_padding_mask", 5), ("memory_is_causal", 7), length, source)
    on_target, on_memory = _decoded(own, cross, layers, length, source)
    sources = (Source("tgt", target, length, on_target), Source("memory", memory, source, on_memory))
    return Dependencies(batch_first, length, sources)


def _decoded(own: Pattern, cross: Pattern, layers: int, length: int, source: int) -> tuple[Relation, Relation]:
    """Follow what the target positions hold through the layers: self-attention mixes it, then memory is added."""
    on_target, on_memory = SAME, NONE
    for _ in range(layers):
        mixing = union(_MIXING[own], SAME)
        on_target = compose(mixing, on_target, length, length)
        on_memory = union(compose(mixing, on_memory, length, source), _MIXING[cross])
    return on_target, on_memory


def _transformer(call: ModuleCall) -> Dependencies:
    module = module_of(call)
    first = module.batch_first
    source, target = sequence(argument(call, 0, "src"), "src"), sequence(argument(call, 1, "tgt"), "tgt")
    (_, size), (_, length) = batch_and_length(source, first), batch_and_length(target, first)
    encoding = _pattern(call, ("src_mask", 2), ("src_key_padding_mask", 5), ("src_is_causal", 8), size, size)
    own = _pattern(call, ("tgt_mask", 3), ("tgt_key_padding_mask", 6), ("tgt_is_causal", 9), length, length)
    cross = _pattern(call, ("memory_mask", 4), ("memory_key_padding_mask", 7), ("memory_is_causal", 10), length, size)
    on_target, on_memory = _decoded(own, cross, len(module.decoder.layers), length, size)
    on_source = compose(on_memory, _MIXING[encoding], size, size)
    return Dependencies(
        first, length, (Source("src", source, size, on_source), Source("tgt", target, length, on_target))
    )


_DESCRIBERS: Mapping[type[nn.Module], Callable[[ModuleCall], Dependencies]] = MappingProxyType(
    {
        nn.MultiheadAttention: _attention,
        nn.TransformerEncoderLayer: _encoder_layer,
        nn.TransformerEncoder: _encoder,
        nn.TransformerDecoderLayer: _decoder_layer,
        nn.TransformerDecoder: _decoder,
        nn.Transformer: _transformer,
    }
)
