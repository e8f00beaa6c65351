"""Products and window elements counted by torch itself: with all ones, a sum is a count."""

from __future__ import annotations

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.estimates import work
from torch import nn
from torch.nn import functional as F

from torchscan.formulas import windows

quick = settings(max_examples=60, deadline=None)


def _pair(low, high):
    return st.tuples(st.integers(low, high), st.integers(low, high))


@quick
@given(
    groups=st.integers(1, 3),
    widths=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    size=_pair(3, 7),
    kernel=_pair(1, 3),
    stride=_pair(1, 3),
    dilation=_pair(1, 2),
    padding=_pair(0, 2),
    batch=st.integers(0, 2),
)
def test_convolution_macs(groups, widths, size, kernel, stride, dilation, padding, batch):
    assume(all(s + 2 * p > d * (k - 1) for s, p, d, k in zip(size, padding, dilation, kernel, strict=True)))
    inputs, outputs = (width * groups for width in widths)
    module = nn.Conv2d(inputs, outputs, kernel, stride, padding, dilation, groups, bias=False)
    shape = (batch, inputs, *size) if batch else (inputs, *size)
    padded = F.pad(torch.ones(shape), (padding[1], padding[1], padding[0], padding[0]), value=1.0)
    products = F.conv2d(padded, torch.ones_like(module.weight), None, stride, 0, dilation, groups).sum()
    flops, macs, dmas = work(module, torch.ones(shape))
    writes = module(torch.ones(shape)).numel()
    assert (flops, macs) == (2 * products - writes, products)
    assert dmas == products + module.weight.numel() + writes


@quick
@given(
    groups=st.integers(1, 3),
    widths=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    size=_pair(1, 4),
    kernel=_pair(1, 3),
    stride=_pair(1, 3),
    dilation=_pair(1, 2),
    bias=st.booleans(),
)
def test_transposed_convolution_macs(groups, widths, size, kernel, stride, dilation, bias):
    inputs, outputs = (width * groups for width in widths)
    module = nn.ConvTranspose2d(inputs, outputs, kernel, stride, 0, 0, groups, bias, dilation)
    source = torch.ones(2, inputs, *size)
    products = F.conv_transpose2d(source, torch.ones_like(module.weight), None, stride, 0, 0, groups, dilation).sum()
    flops, macs, _ = work(module, source)
    assert (flops, macs) == (2 * products + bias * module(source).numel(), products)


def _settings():
    return {"size": _pair(3, 8), "kernel": _pair(1, 4), "stride": _pair(1, 3), "ceil": st.booleans()}


@quick
@given(**_settings(), padding=_pair(0, 2), include=st.booleans())
def test_average_pooling(size, kernel, stride, ceil, padding, include):
    assume(all(2 * p <= k <= s + 2 * p for k, p, s in zip(kernel, padding, size, strict=True)))
    module = nn.AvgPool2d(kernel, stride, padding, ceil, include)
    source = torch.ones(1, 2, *size)
    target = module(source)
    if include:
        grown = F.pad(source, (padding[1], padding[1], padding[0], padding[0]), value=1.0)
        windows = F.avg_pool2d(grown, kernel, stride, 0, ceil, divisor_override=1)
        windows = windows[..., : target.shape[2], : target.shape[3]]
    else:
        windows = F.avg_pool2d(source, kernel, stride, padding, ceil, divisor_override=1)
    held = int(windows.sum())
    assert work(module, source) == (held, 0, held + target.numel())


@quick
@given(**_settings(), dilation=_pair(1, 2), padding=_pair(0, 2))
def test_max_pooling(size, kernel, stride, ceil, dilation, padding):
    assume(all(2 * p <= k for k, p in zip(kernel, padding, strict=True)))
    extents = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    assume(all(e <= s + 2 * p for e, s, p in zip(extents, size, padding, strict=True)))
    module = nn.MaxPool2d(kernel, stride, padding, dilation, ceil_mode=ceil)
    source = torch.ones(1, 1, *size)
    target = module(source)
    grown = F.pad(source, (padding[1], padding[1], padding[0], padding[0]), value=1.0)
    grown = F.pad(grown, (0, 9, 0, 9))  # beyond the padded edge lies nothing
    windows = F.conv2d(grown, torch.ones(1, 1, *kernel), None, stride, 0, dilation)
    held = int(windows[..., : target.shape[2], : target.shape[3]].sum())
    assert work(module, source) == (held - target.numel(), 0, held + target.numel())


@quick
@given(size=_pair(1, 9), outputs=_pair(1, 9))
def test_adaptive_pooling(size, outputs):
    # Pooling the rows of an identity matrix marks the members of every window.
    held = 1
    for axis, count in zip(size, outputs, strict=True):
        held *= int((F.adaptive_avg_pool1d(torch.eye(axis), count) > 0).sum())
    source, target = torch.ones(2, *size), 2 * outputs[0] * outputs[1]
    assert work(nn.AdaptiveAvgPool2d(outputs), source) == (2 * held, 0, 2 * held + target)
    assert work(nn.AdaptiveMaxPool2d(outputs), source) == (2 * held - target, 0, 2 * held + target)


@quick
@given(size=_pair(3, 6), kernel=_pair(1, 3), stride=_pair(1, 2), dilation=_pair(1, 2), padding=_pair(0, 1))
def test_folding_adds_where_blocks_overlap(size, kernel, stride, dilation, padding):
    blocks = [
        (s + 2 * p - d * (k - 1) - 1) // t + 1
        for s, p, d, k, t in zip(size, padding, dilation, kernel, stride, strict=True)
    ]
    assume(all(count > 0 for count in blocks))
    module = nn.Fold(size, kernel, dilation, padding, stride)
    source = torch.ones(1, 2 * kernel[0] * kernel[1], blocks[0] * blocks[1])
    landed = module(source)
    assert work(module, source)[0] == int((landed - 1).clamp_min(0).sum())


LAYERS = [
    (nn.Linear(3, 2), (4, 3)),
    (nn.Conv1d(2, 4, 3, padding=1), (4, 2, 5)),
    (nn.ConvTranspose1d(2, 4, 3, 2), (4, 2, 5)),
    (nn.MaxPool1d(3, 2, 1, ceil_mode=True), (4, 2, 6)),
    (nn.AvgPool1d(3, 2, 1), (4, 2, 5)),
    (nn.AdaptiveAvgPool1d(3), (4, 2, 7)),
    (nn.LayerNorm(5), (4, 2, 5)),
    (nn.GroupNorm(1, 2), (4, 2, 5)),
    (nn.InstanceNorm1d(2), (4, 2, 5)),
    (nn.Softmax(-1), (4, 2, 5)),
    (nn.GELU(), (4, 2, 5)),
    (nn.GRU(3, 2, batch_first=True), (4, 5, 3)),
    (nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), (4, 3, 4)),
]


@pytest.mark.parametrize(("module", "shape"), LAYERS, ids=lambda each: type(each).__name__)
def test_work_adds_up_over_the_batch(module, shape):
    whole, half, quarter = (work(module, torch.ones(batch, *shape[1:])) for batch in (4, 2, 1))
    assert whole[:2] == (4 * quarter[0], 4 * quarter[1])
    # DMAs have a part that is read once per call: parameters, and eps.
    assert whole[2] - half[2] == 2 * (half[2] - quarter[2])
    assert work(module, torch.ones(shape)) == whole


@pytest.mark.parametrize(("module", "shape"), LAYERS, ids=lambda each: type(each).__name__)
def test_shapes_are_enough(module, shape):
    expected = work(module, torch.ones(shape))
    with torch.device("meta"):
        assert work(module.to("meta"), torch.ones(shape)) == expected


@settings(max_examples=200, deadline=None)
@given(
    size=st.integers(1, 9),
    outputs=st.integers(0, 9),
    kernel=st.integers(1, 5),
    stride=st.integers(1, 4),
    padding=st.integers(0, 3),
    dilation=st.integers(1, 3),
    counts_padding=st.booleans(),
)
def test_windows_by_enumeration(size, outputs, kernel, stride, padding, dilation, counts_padding):
    low, high = (-padding, size + padding) if counts_padding else (0, size)
    places = [at * stride - padding + tap * dilation for at in range(outputs) for tap in range(kernel)]
    held = sum(low <= place < high for place in places)
    assert windows.strided(size, outputs, kernel, stride, padding, dilation, counts_padding) == held


def test_a_long_axis_costs_no_more_than_a_short_one():
    # Ten million windows of 3: only the cut ones are walked over, else this would take seconds.
    assert windows.strided(10**7, 10**7, 3, 1, 1, 1, False) == 3 * 10**7 - 2
