"""Token dependencies: each relation is held against what really changes when one source token changes."""

from __future__ import annotations

import inspect

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.estimates import called
from torch import nn

from torchscan.formulas.dependencies import token_dependencies
from torchscan.formulas.handler import ModuleCall
from torchscan.formulas.table import handler_for

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor:UserWarning")


def _causal(target, source):
    return torch.ones(target, source, dtype=torch.bool).triu(1)


def _reached(relation, length, source):
    """Expand a relation to the pairs (output position, source position) that it names."""
    limit = relation.get("limit", source)
    rows = {
        "all": lambda at: range(min(limit, source)),
        "prefix": lambda at: range(min(at + 1, source)),
        "same_position": lambda at: [at],
        "none": lambda at: [],
    }
    first = relation.get("first_position", 0)
    return {(at, token) for at in range(first, length) for token in rows[relation["kind"]](at)}


def _changed(module, inputs, names, kwargs):
    """Nudge every token of the named arguments in turn, and note which outputs move."""

    def run(tensors):
        output = module(*tensors.values(), **kwargs)
        return output[0] if isinstance(output, tuple) else output

    pairs = set()
    with torch.no_grad():
        before = run(inputs)
        for token in range(inputs[names[0]].shape[1]):
            nudged = inputs[names[0]].clone()
            nudged[:, token] += torch.linspace(-1, 1, nudged.shape[-1], dtype=nudged.dtype)
            after = run({name: nudged if name in names else tensor for name, tensor in inputs.items()})
            moved = (before - after).abs().amax((0, 2)) > 1e-12
            pairs |= {(at, token) for at in moved.nonzero().flatten().tolist()}
    return pairs


def _check(module, inputs, **kwargs):
    module = module.double().eval()
    described = token_dependencies(called(module, *inputs.values(), **kwargs))
    assert described["status"] == "complete"
    length = described["output"]["length"]
    for source in described["sources"]:
        expected = _changed(module, inputs, source["arguments"], kwargs)
        assert _reached(source["relation"], length, source["length"]) == expected
    return described


def _tokens(length, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(1, length, 4, dtype=torch.double, generator=generator)


lengths = st.integers(1, 4)


@settings(max_examples=60, deadline=None)
@given(target=lengths, source=lengths, causal=st.booleans(), sharing=st.sampled_from(["none", "kv", "qk", "qv"]))
def test_attention(target, source, causal, sharing):
    torch.manual_seed(0)
    query, key, value = _tokens(target, 1), _tokens(source, 2), _tokens(source, 3)
    if sharing == "kv":
        value = key
    elif sharing in {"qk", "qv"}:
        key, value = (_tokens(target, 2), _tokens(target, 3))
        key, value = (query, value) if sharing == "qk" else (key, query)
    mask = _causal(target, key.shape[1]) if causal else None
    module = nn.MultiheadAttention(4, 2, batch_first=True)
    _check(module, {"query": query, "key": key, "value": value}, attn_mask=mask)


@settings(max_examples=40, deadline=None)
@given(length=lengths, causal=st.booleans(), layers=st.integers(1, 3), norm_first=st.booleans())
def test_encoders(length, causal, layers, norm_first):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, norm_first=norm_first)
    mask = _causal(length, length) if causal else None
    _check(layer, {"src": _tokens(length, 1)}, src_mask=mask)
    _check(nn.TransformerEncoder(layer, layers), {"src": _tokens(length, 1)}, mask=mask)


@settings(max_examples=60, deadline=None)
@given(target=lengths, source=lengths, masks=st.tuples(st.booleans(), st.booleans()), layers=st.integers(1, 3))
def test_decoders(target, source, masks, layers):
    torch.manual_seed(0)
    layer = nn.TransformerDecoderLayer(4, 2, 8, batch_first=True)
    inputs = {"tgt": _tokens(target, 1), "memory": _tokens(source, 2)}
    masked = {
        "tgt_mask": _causal(target, target) if masks[0] else None,
        "memory_mask": _causal(target, source) if masks[1] else None,
    }
    _check(layer, inputs, **masked)
    _check(nn.TransformerDecoder(layer, layers), inputs, **masked)


@settings(max_examples=60, deadline=None)
@given(
    target=lengths,
    source=lengths,
    masks=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    layers=st.tuples(st.integers(1, 2), st.integers(1, 3)),
)
def test_transformers(target, source, masks, layers):
    torch.manual_seed(0)
    module = nn.Transformer(4, 2, *layers, 8, batch_first=True)
    _check(
        module,
        {"src": _tokens(source, 1), "tgt": _tokens(target, 2)},
        src_mask=_causal(source, source) if masks[0] else None,
        tgt_mask=_causal(target, target) if masks[1] else None,
        memory_mask=_causal(target, source) if masks[2] else None,
    )


def test_causal_cross_attention_begins_to_choose_at_the_second_position():
    module = nn.MultiheadAttention(4, 2, batch_first=True).eval()
    inputs = [_tokens(3, seed).float() for seed in (1, 2, 3)]
    described = token_dependencies(called(module, *inputs, attn_mask=_causal(3, 3)))
    assert [source["relation"] for source in described["sources"]] == [
        {"kind": "same_position", "first_position": 1},
        {"kind": "prefix", "first_position": 1},
        {"kind": "prefix"},
    ]


def test_two_decoder_layers_see_as_many_memory_tokens_as_there_are_targets():
    module = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, batch_first=True), 2).eval()
    call = called(module, _tokens(2, 1).float(), _tokens(3, 2).float(), memory_mask=_causal(2, 3))
    assert token_dependencies(call)["sources"][1]["relation"] == {"kind": "all", "limit": 2}


def test_layout_and_grouping_are_reported():
    module = nn.MultiheadAttention(4, 2).eval()
    source = torch.ones(3, 2, 4)
    described = token_dependencies(called(module, source, source, source))
    assert described["output"] == {"sequence_axis": 0, "length": 3}
    assert [each["arguments"] for each in described["sources"]] == [["query", "key", "value"]]
    assert described["sources"][0]["sequence_axis"] == 0


def _float_mask(*values):
    return torch.tensor(values).expand(3, 3)


@pytest.mark.parametrize(
    "masks",
    [
        {"attn_mask": torch.ones(3, 3, dtype=torch.bool).triu(2)},
        {"attn_mask": _float_mask(0.0, float("nan"), 0.0)},
        {"attn_mask": _float_mask(0.0, float("inf"), 0.0)},
        {"attn_mask": _float_mask(0.0, -1e9, 0.0)},
        {"key_padding_mask": torch.tensor([[False, False, True]])},
    ],
)
def test_other_masks_are_unavailable_with_a_reason(masks):
    module, source = nn.MultiheadAttention(4, 2, batch_first=True).eval(), torch.ones(1, 3, 4)
    described = token_dependencies(called(module, source, source, source, **masks))
    assert described["status"] == "unavailable"
    assert described["reason"]
    assert "sources" not in described


def test_masks_on_the_meta_device_are_unavailable_and_no_mask_is_not():
    with torch.device("meta"):
        module, source = nn.MultiheadAttention(4, 2, batch_first=True).eval(), torch.ones(1, 3, 4)
        masked = called(module, source, source, source, attn_mask=torch.ones(3, 3).triu(1).bool())
    assert token_dependencies(masked)["status"] == "unavailable"
    assert token_dependencies(called(module, source, source, source))["status"] == "complete"


@pytest.mark.parametrize("mask", [torch.zeros(3, 3, dtype=torch.bool), torch.zeros(3, 3), torch.full((3, 3), 0.5)])
def test_a_mask_that_hides_nothing_is_open(mask):
    module, source = nn.MultiheadAttention(4, 2, batch_first=True).eval(), torch.ones(1, 3, 4)
    described = token_dependencies(called(module, source, source, source, attn_mask=mask))
    assert described["sources"][0]["relation"] == {"kind": "all"}


def test_float_causal_masks_and_hints_count_as_causal():
    module, source = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval(), torch.ones(1, 3, 4)
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    described = token_dependencies(called(module, source, src_mask=mask, is_causal=True))
    assert described["sources"][0]["relation"] == {"kind": "prefix"}


def test_other_modules_have_none():
    assert token_dependencies(called(nn.Linear(2, 2), torch.ones(2))) is None


def _square(length):
    return _causal(length, length)


PLACES = {
    nn.MultiheadAttention: (
        ("query", "key", "value", "key_padding_mask", "need_weights", "attn_mask", "average_attn_weights", "is_causal"),
        {"key_padding_mask": torch.zeros(1, 3, dtype=torch.bool), "attn_mask": _square(3), "need_weights": False},
        (4, 2),
    ),
    nn.TransformerEncoderLayer: (
        ("src", "src_mask", "src_key_padding_mask", "is_causal"),
        {"src_mask": _square(3), "src_key_padding_mask": torch.zeros(1, 3, dtype=torch.bool), "is_causal": True},
        (4, 2, 8),
    ),
    nn.TransformerDecoderLayer: (
        (
            "tgt", "memory", "tgt_mask", "memory_mask", "tgt_key_padding_mask", "memory_key_padding_mask",
            "tgt_is_causal", "memory_is_causal",
        ),
        {"tgt_mask": _square(3), "memory_mask": _square(3), "tgt_is_causal": True, "memory_is_causal": True},
        (4, 2, 8),
    ),
    nn.Transformer: (
        (
            "src", "tgt", "src_mask", "tgt_mask", "memory_mask", "src_key_padding_mask", "tgt_key_padding_mask",
            "memory_key_padding_mask", "src_is_causal", "tgt_is_causal", "memory_is_causal",
        ),
        {"src_mask": _square(3), "tgt_mask": _square(3), "memory_mask": _square(3), "src_is_causal": True},
        (4, 2, 1, 1, 8),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", PLACES, ids=lambda kind: kind.__name__)
def test_masks_and_hints_are_found_by_position_as_by_name(kind):
    names, masks, options = PLACES[kind]
    module, source = kind(*options, batch_first=True).eval(), torch.ones(1, 3, 4)
    sequences = [name for name in names if name in {"query", "key", "value", "src", "tgt", "memory"}]
    by_name = called(module, *[source] * len(sequences), **masks)
    placed = [masks.get(name, _default(kind, name)) for name in names[len(sequences) :]]
    by_position = called(module, *[source] * len(sequences), *placed)
    assert token_dependencies(by_position) == token_dependencies(by_name)
    assert token_dependencies(by_name)["sources"][0]["relation"] == {"kind": "prefix"}
    estimate = handler_for(kind, {}).handler.estimate
    assert estimate(by_position) == estimate(by_name)


def _default(kind, name):
    return inspect.signature(kind.forward).parameters[name].default


@pytest.mark.parametrize("kind", PLACES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("hides", ["padding", "hint"])
def test_each_mask_and_each_hint_is_looked_at(kind, hides):
    # One argument at a time turns irregular: hidden padding, or a hint of a causal mask that is open.
    names, _, options = PLACES[kind]
    module, source = kind(*options, batch_first=True).eval(), torch.ones(1, 3, 4)
    sequences = [source for name in names if name in {"query", "key", "value", "src", "tgt", "memory"}]
    ending = "key_padding_mask" if hides == "padding" else "is_causal"
    for name in (name for name in names if name.endswith(ending)):
        given = {name: torch.tensor([[False, False, True]]) if hides == "padding" else True}
        if hides == "hint":
            mask = {"is_causal": "src_mask" if "src_mask" in names else "attn_mask"}.get(name)
            given[mask or name.replace("_is_causal", "_mask")] = torch.zeros(3, 3, dtype=torch.bool)
        call = ModuleCall(module, tuple(sequences), given, source)
        assert token_dependencies(call)["status"] == "unavailable", name
        placed = [given.get(each, _default(kind, each)) for each in names[len(sequences) :]]
        assert token_dependencies(ModuleCall(module, (*sequences, *placed), {}, source))["status"] == "unavailable"


def test_stacks_find_their_masks_by_position():
    source = torch.ones(1, 3, 4)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1).eval()
    described = token_dependencies(called(encoder, source, _square(3)))
    assert described["sources"][0]["relation"] == {"kind": "prefix"}
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, batch_first=True), 1).eval()
    described = token_dependencies(called(decoder, source, source.clone(), _square(3), _square(3)))
    assert [each["relation"] for each in described["sources"]] == [{"kind": "prefix"}, {"kind": "prefix"}]
