"""The repository that the end-to-end tests measure: a small real network, its limits and its workflow.

``hidden`` is the width of the middle layer of Linear(64, hidden), ReLU, Linear(hidden, 10), run on a batch of 8:
parameters 64h + h + 10h + 10 = 75h + 10, and multiply-accumulates of the two products 8 (64h + 10h) = 592h.
"""

from __future__ import annotations

from support.rig.runner import ACTION, ACTION_SHA

CONFIG = """
schema-version = 1

[[targets]]
id = "classifier"
factory = "bench/models.py:classifier"

[[limits]]
targets = ["*"]
metric = "operator_macs"
max-increase = "5%"
"""

MODEL = """
import torch
from torch import nn


def classifier():
    layers = nn.Linear(64, {hidden}), nn.ReLU(), nn.Linear({hidden}, 10)
    return nn.Sequential(*layers), (torch.zeros(8, 64),)
"""

WORKFLOW = f"""
name: torchscan
on: [pull_request, push, merge_group, pull_request_target]
permissions:
  contents: read
  pull-requests: write
jobs:
  torchscan:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1
      - uses: actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97
      - id: torchscan
        uses: {ACTION}@{ACTION_SHA}
"""


def parameters(hidden: int) -> int:
    """Count the network's parameters."""
    return 75 * hidden + 10


def macs(hidden: int) -> int:
    """Count the multiply-accumulates of its two matrix products."""
    return 592 * hidden


def model(hidden: int, *, prologue: str = "") -> dict[str, str]:
    """Give the file that builds the network; ``prologue`` is code that runs when it is imported."""
    return {"bench/models.py": prologue + MODEL.format(hidden=hidden)}


def base(hidden: int = 32, *, config: str = CONFIG, workflow: str = WORKFLOW) -> dict[str, str]:
    """Give the files of the base commit."""
    return {"torchscan.toml": config, ".github/workflows/torchscan.yml": workflow, **model(hidden)}
