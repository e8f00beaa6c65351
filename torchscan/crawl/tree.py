"""The module tree, walked once and without recursion: each module under the first full path that reaches it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn

CAN_RUN_EAGERLY = hasattr(torch.compiler, "set_stance")
"""Since torch 2.6 compiled modules can be told to run eagerly for a while."""


class Node(NamedTuple):
    """One distinct module of the tree.

    Attributes:
        is_observable: its calls can be hooked. False inside a scripted module, whose children run in C++.
    """

    path: str
    depth: int
    module: nn.Module
    is_observable: bool

    @property
    def is_opaque(self) -> bool:
        """Its forward runs outside Python, so the calls that it makes cannot be seen."""
        return isinstance(self.module, torch.jit.ScriptModule) or (not CAN_RUN_EAGERLY and _is_compiled(self.module))

    @property
    def name(self) -> str:
        """The last part of the path; the root is called by its type."""
        return self.path.rpartition(".")[2] or type(self.module).__name__.lower()


def walk(root: nn.Module) -> list[Node]:
    """List the root and its distinct submodules, depth first, in the order of ``named_modules``."""
    nodes: list[Node] = []
    seen: set[int] = set()  # by identity: a module may define equality or refuse to be hashed
    waiting = [Node("", 0, root, True)]
    while waiting:
        node = waiting.pop()
        path, depth, module, is_observable = node
        if id(module) in seen:
            continue
        seen.add(id(module))
        nodes.append(node)
        children = module._modules
        if len(children):
            is_observable = is_observable and not node.is_opaque
            prefix = f"{path}." if path else ""
            below = [
                Node(prefix + name, depth + 1, child, is_observable)
                for name, child in children.items()
                if isinstance(child, nn.Module)
            ]
            waiting.extend(reversed(below))
    return nodes


def _is_compiled(module: nn.Module) -> bool:
    return type(module).__name__ == "OptimizedModule" or vars(module).get("_compiled_call_impl") is not None
