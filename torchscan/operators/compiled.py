"""Compiled functions under the counter. Generated kernels bypass dispatch, so their source is run eagerly instead."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext

import torch

GENERATED_CODE = "torch.compile"
"""The name under which a report says that generated kernels may have run uncounted."""
BYPASS = "kernels generated during the run bypass dispatch; compile the function before counting it"


def eager_stance() -> AbstractContextManager[None]:
    """Give a context in which functions that were compiled run their eager source, and stay compiled afterwards.

    A process that has not imported dynamo has compiled nothing; importing it here would cost about a second.
    """
    set_stance = getattr(torch.compiler, "set_stance", None)  # since PyTorch 2.6
    if set_stance is None or not can_compile():
        return nullcontext()
    stance: AbstractContextManager[None] = set_stance("force_eager")
    return stance


def can_compile() -> bool:
    """Say whether this process has imported the compiler's front."""
    return "torch._dynamo" in sys.modules


def can_generate() -> bool:
    """Say whether this process has imported the compiler that generates kernels."""
    return "torch._inductor.compile_fx" in sys.modules
