"""Per-axis settings: a module takes one number for all spatial axes or one for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from torch import nn

from torchscan.formulas.family import nn_types
from torchscan.formulas.handler import ModuleEstimates
from torchscan.formulas.receptive import NOWHERE, Field, spatial

_STEMS = (
    "MaxPool",
    "AvgPool",
    "LPPool",
    "AdaptiveMaxPool",
    "AdaptiveAvgPool",
    "FractionalMaxPool",
    "MaxUnpool",
    "InstanceNorm",
    "LazyInstanceNorm",
)
_SPATIAL_AXES = {kind: count for stem in _STEMS for count in (1, 2, 3) for kind in nn_types(f"{stem}{count}d")}


def spatial_axes(module: nn.Module) -> int:
    """Give the number of spatial axes that a module's type says: 2 for MaxPool2d and its subclasses."""
    return next(_SPATIAL_AXES[base] for base in type(module).__mro__ if base in _SPATIAL_AXES)


def per_axis(setting: Any, axes: int) -> tuple[int, ...]:
    """Spread a setting over ``axes`` axes: a number or a 0-d tensor for all of them, or a sequence of one or each."""
    if isinstance(setting, Sequence):
        return tuple(map(int, setting)) if len(setting) == axes else (int(setting[0]),) * axes
    return (int(setting),) * axes


def uniform(fields: Iterable[Field]) -> ModuleEstimates:
    """Give the field that all axes share; where they differ, no single number describes it."""
    distinct = set(fields)
    return spatial(distinct.pop()) if len(distinct) == 1 else NOWHERE


OVER_CHANNELS = "1, 1, 0 over the channels of (B, C, H, W) or more; else none"


def is_channels(dims: int, dim: int) -> bool:
    """Say whether an axis can only be the channels of (B, C, *spatial), so that every position stays by itself.

    Of three axes, the second may as well be a sequence.
    """
    return dims > 3 and dim % dims == 1
