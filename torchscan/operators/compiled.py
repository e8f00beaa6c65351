"""Compiled functions under the counter. Generated kernels bypass dispatch, so their source is run eagerly instead."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from torchscan.operators.shared import Shared

GENERATED_CODE = "torch.compile"
"""The name under which a report says that generated kernels may have run uncounted."""
BYPASS = "kernels generated during the run bypass dispatch; compile the function before counting it"


_FORCED_EAGER = Shared(lambda: torch.compiler.set_stance("force_eager"))


def eager_stance() -> AbstractContextManager[Any]:
    """Give a context in which functions that were compiled run their eager source, and stay compiled afterwards.

    A process that has not imported dynamo has compiled nothing; importing it here would cost about a second.
    """
    if not hasattr(torch.compiler, "set_stance") or not can_compile():  # since PyTorch 2.6
        return nullcontext()
    return _FORCED_EAGER


def can_compile() -> bool:
    """Say whether this process has imported the compiler's front."""
    return "torch._dynamo" in sys.modules


def can_generate() -> bool:
    """Say whether this process has imported the compiler that generates kernels."""
    return "torch._inductor.compile_fx" in sys.modules
