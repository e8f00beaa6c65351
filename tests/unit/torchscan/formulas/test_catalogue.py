"""Every module of torch.nn has a formula that runs, or a reason; the documentation says what the code does."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import torch
from support.estimates import called
from torch import nn
from torch.nn.utils import parametrizations

from torchscan.formulas.catalogue import WITHOUT_FORMULA, document
from torchscan.formulas.receptive import local_field
from torchscan.formulas.table import BUILTIN, FAMILIES, handler_for

PAGE = Path(__file__).parents[4] / ".github" / "docs" / "modules.md"
NEWEST = tuple(map(int, torch.__version__.split("+")[0].split(".")[:2])) >= (2, 13)

MODULES = {
    name: kind
    for name, kind in vars(nn).items()
    if isinstance(kind, type) and issubclass(kind, nn.Module) and not name.startswith("_")
}


@pytest.mark.parametrize("name", MODULES)
def test_every_module_type_has_a_formula_or_a_reason(name):
    kind = MODULES[name]
    settled = getattr(kind, "cls_to_become", None) or kind  # what a lazy module is once it has run
    has_formula = handler_for(settled, {}) is not None
    assert has_formula is (name not in WITHOUT_FORMULA)


def test_reasons_name_modules_that_exist():
    assert set(WITHOUT_FORMULA) <= set(MODULES)


@pytest.mark.skipif(not NEWEST, reason="older releases lack types that the page lists")
def test_the_page_is_generated_from_the_code():
    assert PAGE.read_text(encoding="utf-8") == document(), "run: python -m torchscan.formulas.catalogue"


def test_no_type_is_claimed_twice():
    assert sum(len(family.types) for family in FAMILIES) == len(BUILTIN)


def _image(axes, channels=4, size=6):
    return torch.rand(2, channels, *(size,) * axes)


def _pooled(axes):
    pool = getattr(nn, f"MaxPool{axes}d")(2, return_indices=True)
    return pool(_image(axes))


def _tokens(*lengths):
    return tuple(torch.rand(length, 2, 4) for length in lengths)


def _pair(*shape):
    return torch.rand(shape), torch.rand(shape)


def _spatial(stem, *options):
    return {f"{stem}{axes}d": (options, lambda axes=axes: (_image(axes),)) for axes in (1, 2, 3)}


CLASSES = torch.tensor([0, 2, 1])
SIGNS = torch.tensor([1.0, -1.0, 1.0])
ROWS = torch.rand(3, 4)

EXAMPLES = {
    **_spatial("Conv", 4, 2, 3),
    **_spatial("ConvTranspose", 4, 2, 3),
    **_spatial("MaxPool", 2),
    **_spatial("AvgPool", 2),
    **_spatial("LPPool", 2, 2),
    **_spatial("AdaptiveMaxPool", 2),
    **_spatial("AdaptiveAvgPool", 2),
    **_spatial("BatchNorm", 4),
    **_spatial("InstanceNorm", 4),
    **{f"FractionalMaxPool{axes}d": ((2, 3), lambda axes=axes: (_image(axes),)) for axes in (2, 3)},
    **{f"MaxUnpool{axes}d": ((2,), lambda axes=axes: _pooled(axes)) for axes in (1, 2, 3)},
    **{
        f"{mode}Pad{axes}d": ((1, 0.0) if mode == "Constant" else (1,), lambda axes=axes: (_image(axes),))
        for mode in ("Zero", "Constant", "Reflection", "Replication", "Circular")
        for axes in (1, 2, 3)
    },
    "Linear": ((4, 2), lambda: (ROWS,)),
    "Bilinear": ((4, 4, 2), lambda: (ROWS, ROWS)),
    "LayerNorm": ((4,), lambda: (ROWS,)),
    "RMSNorm": ((4,), lambda: (ROWS,)),
    "GroupNorm": ((2, 4), lambda: (_image(2),)),
    "SyncBatchNorm": ((4,), lambda: (_image(2),)),
    "LocalResponseNorm": ((3,), lambda: (_image(2),)),
    "CrossMapLRN2d": ((3,), lambda: (_image(2),)),
    "Threshold": ((0.5, 1.0), lambda: (ROWS,)),
    "Softmax": ((1,), lambda: (ROWS,)),
    "Softmin": ((1,), lambda: (ROWS,)),
    "LogSoftmax": ((1,), lambda: (ROWS,)),
    "Dropout2d": ((), lambda: (_image(2),)),
    "Dropout3d": ((), lambda: (_image(3),)),
    "Softmax2d": ((), lambda: (_image(2),)),
    "Embedding": ((5, 3), lambda: (CLASSES,)),
    "EmbeddingBag": ((5, 3), lambda: (CLASSES, torch.tensor([0, 2]))),
    "Unflatten": ((1, (2, 2)), lambda: (ROWS,)),
    "PixelShuffle": ((2,), lambda: (_image(2),)),
    "PixelUnshuffle": ((2,), lambda: (_image(2),)),
    "ChannelShuffle": ((2,), lambda: (_image(2),)),
    "Upsample": ((None, 2), lambda: (_image(2),)),
    "UpsamplingNearest2d": ((None, 2), lambda: (_image(2),)),
    "UpsamplingBilinear2d": ((None, 2), lambda: (_image(2),)),
    "Unfold": ((2,), lambda: (_image(2),)),
    "Fold": ((3, 2), lambda: (torch.rand(1, 4, 4),)),
    "CosineSimilarity": ((), lambda: _pair(3, 4)),
    "PairwiseDistance": ((), lambda: _pair(3, 4)),
    **{name: ((4, 3), lambda: _tokens(5)) for name in ("RNN", "LSTM", "GRU")},
    **{name: ((4, 3), lambda: (ROWS,)) for name in ("RNNCell", "LSTMCell", "GRUCell")},
    "MultiheadAttention": ((4, 2), lambda: _tokens(2, 3, 3)),
    "TransformerEncoderLayer": ((4, 2, 8), lambda: _tokens(3)),
    "TransformerDecoderLayer": ((4, 2, 8), lambda: _tokens(2, 3)),
    "TransformerEncoder": ((nn.TransformerEncoderLayer(4, 2, 8), 2, None, False), lambda: _tokens(3)),
    "TransformerDecoder": ((nn.TransformerDecoderLayer(4, 2, 8), 2), lambda: _tokens(2, 3)),
    "Transformer": ((4, 2, 1, 1, 8), lambda: _tokens(3, 2)),
    **{
        name: ((), lambda: _pair(3, 4)) for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss", "SoftMarginLoss")
    },
    **{name: ((), lambda: _pair(3, 4)) for name in ("BCELoss", "BCEWithLogitsLoss", "PoissonNLLLoss")},
    "HingeEmbeddingLoss": ((), lambda: (torch.rand(3), SIGNS)),
    "KLDivLoss": ((None, None, "batchmean"), lambda: _pair(3, 4)),
    "MarginRankingLoss": ((), lambda: (torch.rand(3), torch.rand(3), SIGNS)),
    "GaussianNLLLoss": ((), lambda: (*_pair(3, 4), torch.ones(3, 1))),
    "NLLLoss": ((), lambda: (ROWS, CLASSES)),
    "NLLLoss2d": ((), lambda: (ROWS, CLASSES)),
    "CrossEntropyLoss": ((), lambda: (ROWS, CLASSES)),
    "LinearCrossEntropyLoss": ((4, 3), lambda: (ROWS, CLASSES)),
    "MultiMarginLoss": ((), lambda: (ROWS, CLASSES)),
    "MultiLabelSoftMarginLoss": ((), lambda: (ROWS, ROWS.round())),
    "MultiLabelMarginLoss": ((), lambda: (ROWS, torch.tensor([[0, 1, -1, 0]] * 3))),
    "CosineEmbeddingLoss": ((), lambda: (*_pair(3, 4), SIGNS)),
    "TripletMarginLoss": ((), lambda: (*_pair(3, 4), ROWS)),
    "TripletMarginWithDistanceLoss": ((), lambda: (*_pair(3, 4), ROWS)),
    "CTCLoss": ((), lambda: (torch.rand(6, 2, 5).log_softmax(2), torch.ones(2, 3).long(), (6, 5), (3, 2))),
    "AdaptiveLogSoftmaxWithLoss": ((4, 6, [2, 4], 2.0), lambda: (ROWS, torch.tensor([0, 3, 5]))),
}
PRIVATE = {
    "_WeightNorm": lambda: parametrizations.weight_norm(nn.Linear(4, 3)).parametrizations.weight,
    "_SpectralNorm": lambda: parametrizations.spectral_norm(nn.Linear(4, 3)).parametrizations.weight,
}


def _made(kind):
    if kind.__name__ in PRIVATE:
        parametrized = PRIVATE[kind.__name__]()
        originals = [getattr(parametrized, name) for name, _ in parametrized.named_parameters(recurse=False)]
        return parametrized[0], originals
    options, inputs = EXAMPLES.get(kind.__name__, ((), lambda: (ROWS,)))
    return kind(*options), inputs()


@pytest.mark.parametrize("kind", BUILTIN, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore:.NLLLoss2d:FutureWarning", "ignore:enable_nested_tensor:UserWarning")
def test_every_formula_runs_on_a_call_of_its_module(kind):
    module, inputs = _made(kind)
    call = called(module.eval(), *inputs)
    estimates = BUILTIN[kind].handler.estimate(call)
    for metric in ("module_flops", "macs", "dmas"):
        assert type(estimates[metric]) is int
        assert estimates[metric] >= 0
    assert estimates["macs"] * 2 <= estimates["module_flops"] + estimates["macs"]
    assert local_field(estimates) is None or BUILTIN[kind].has_field


@pytest.mark.parametrize("kind", BUILTIN, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore:.NLLLoss2d:FutureWarning", "ignore:enable_nested_tensor:UserWarning")
def test_arguments_by_name_count_the_same(kind):
    module, inputs = _made(kind)
    estimate = BUILTIN[kind].handler.estimate
    names = list(inspect.signature(module.eval().forward).parameters)
    by_position = estimate(called(module, *inputs))
    assert estimate(called(module, **dict(zip(names, inputs, strict=False)))) == by_position
