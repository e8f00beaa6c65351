"""Attention on meta tensors: PyTorch has no fused kernel there and dispatches the explicit form.

Around the two products that form scales query and key, adds the mask and takes a softmax, as operators of their own. A
CPU runs the same call as one fused kernel, of which only the products count. What surrounds them on meta is taken back,
so that a model without memory counts what it counts with memory. Training is left alone: there dropout makes a CPU run
the explicit form too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from torchscan.operators.call import Call
from torchscan.operators.entry import Entry
from torchscan.operators.formula import Count
from torchscan.operators.tally import Tally

SCALE = "aten.mul.Scalar"  # scales query and key; Python's own ``x * 2`` dispatches aten.mul.Tensor
SOFTMAX = "aten._safe_softmax.default"


@dataclass(slots=True)
class Suspect:
    """The state when a query was scaled on meta: what the operators around it had counted before.

    Attributes:
        tally: whom the work was attributed to.
        before: calls and FLOPs of scale, causal mask, products and added mask, in this order.
    """

    tally: Tally
    before: tuple[tuple[int, Count], ...]


def _around(counter: Any) -> tuple[Entry, ...]:
    aten = torch.ops.aten
    return tuple(map(counter.entry_of, (aten.mul.Scalar, aten.where.self, aten.bmm.default, aten.add.Tensor)))


def run_scale(counter: Any, entry: Entry, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Scale, count, and on meta remember the state: attention may have begun."""
    output = func(*args, **kwargs)
    suspect = counter.suspect
    if args[0].is_meta and not torch.is_grad_enabled():
        is_key = suspect is not None and suspect.tally is counter.current and entry.calls == suspect.before[0][0] + 1
        if not is_key:
            state = tuple((around.calls, around.flops) for around in _around(counter))
            counter.suspect = Suspect(counter.current, state)
    counter.count(entry, Call(args, kwargs, output))
    return output


def run_softmax(counter: Any, entry: Entry, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Take the softmax; count it unless it stands inside what a CPU would have run as one kernel."""
    output = func(*args, **kwargs)
    suspect, counter.suspect = counter.suspect, None
    if suspect is not None and suspect.tally is counter.current and args[0].dim() == 4:
        around = _around(counter)
        calls = [now.calls - then for now, (then, _) in zip(around, suspect.before, strict=True)]
        if calls[0] == 2 and calls[2] == 1 and max(calls) <= 2:
            for now, (_, flops) in zip(around, suspect.before, strict=True):
                if now is not around[2]:
                    counter.take_back(now, now.flops - flops)
            return output
    counter.count(entry, Call(args, kwargs, output))
    return output
