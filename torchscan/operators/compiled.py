"""Compiled functions under the counter. Generated kernels bypass dispatch, so their source is run eagerly instead."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext

import torch


def eager_stance() -> AbstractContextManager[None]:
    """Give a context in which functions that were compiled run their eager source, and stay compiled afterwards.

    A process that has not imported dynamo has compiled nothing; importing it here would cost about a second.
    """
    set_stance = getattr(torch.compiler, "set_stance", None)  # since PyTorch 2.6
    if set_stance is None or "torch._dynamo" not in sys.modules:
        return nullcontext()
    stance: AbstractContextManager[None] = set_stance("force_eager")
    return stance
