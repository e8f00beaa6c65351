"""The two attention patterns whose token dependencies have names: everything attends, or each token its past."""

from __future__ import annotations

from enum import Enum
from typing import Any

import torch
from torch import Tensor

from torchscan.formulas.handler import UnsupportedCall
from torchscan.formulas.operands import FLOATING

_LARGEST_SPREAD = 16.0
"""exp(-16) is still a number in half precision; a larger spread of finite values is a block in disguise."""


class Pattern(Enum):
    """Which source positions a target position attends to."""

    OPEN = "all"
    CAUSAL = "its own position and the ones before"


def pattern_of(mask: Any, padding: Any, is_causal: Any, target: int, source: int) -> Pattern:
    """Classify the masks of one attention by their values. Raises UnsupportedCall for any other pattern."""
    if padding is not None and _any(_blocked(padding)):
        raise UnsupportedCall("the key padding mask hides tokens, which differ between the samples of a batch")
    pattern = Pattern.OPEN if mask is None else _pattern(mask, target, source)
    if is_causal and pattern is not Pattern.CAUSAL and not (mask is not None and source == 1):
        raise UnsupportedCall("the is_causal hint does not fit the mask, so the path that runs decides")
    return pattern


def _pattern(mask: Tensor, target: int, source: int) -> Pattern:
    blocked = _blocked(mask)
    if not _any(blocked):
        return Pattern.OPEN
    if not mask.is_meta:
        future = torch.arange(source, device=mask.device) > torch.arange(target, device=mask.device).unsqueeze(1)
        if not _any(blocked != future):
            return Pattern.CAUSAL
    raise UnsupportedCall("the attention mask is neither open nor causal")


def _blocked(mask: Any) -> Tensor:
    """Give what a mask hides: true values, or minus infinity. Raises where values have no such plain meaning."""
    if not isinstance(mask, Tensor) or (mask.dtype is not torch.bool and mask.dtype not in FLOATING):
        raise UnsupportedCall("a mask is neither boolean nor floating")
    if mask.dtype is torch.bool:
        return mask
    blocked = mask == float("-inf")
    attended = mask.masked_fill(blocked, 0.0)
    if _any(attended.isnan() | attended.isinf()):
        raise UnsupportedCall("a mask holds NaN or +inf")
    if attended.numel() and _any(attended.amax() - attended.amin() > _LARGEST_SPREAD):
        raise UnsupportedCall("finite values of a mask are far enough apart to hide tokens")
    return blocked


def _any(flags: Tensor) -> bool:
    if flags.is_meta:
        raise UnsupportedCall("the values of a mask on the meta device are not known")
    try:
        return bool(flags.any())
    except (RuntimeError, AssertionError) as error:  # a fake tensor has no values
        raise UnsupportedCall("the values of a mask are not known") from error
