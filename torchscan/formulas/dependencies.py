"""Which source tokens an output token depends on, for native attention rows."""

from __future__ import annotations

from typing import Any

from torchscan.formulas.handler import ModuleCall


def token_dependencies(call: ModuleCall) -> dict[str, Any] | None:  # noqa: ARG001 # attention lands next
    """Describe the token dependencies of a native attention call; None for every other module."""
    return None
