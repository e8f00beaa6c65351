"""GPT-2 (124 M): the one of transformers where it is installed, else the same network in plain torch."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch import nn

VOCABULARY, POSITIONS, WIDTH, LAYERS, HEADS = 50257, 1024, 768, 12, 12


def gpt2() -> nn.Module:
    """Give the network, with random weights: nothing is downloaded."""
    if find_spec("transformers"):
        from transformers import GPT2Config, GPT2LMHeadModel

        return GPT2LMHeadModel(GPT2Config())
    return Gpt2()


class Gpt2(nn.Module):
    """Decoder-only transformer with tied input and output embeddings (Radford et al. 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Token ids (batch, tokens) to scores (batch, tokens, vocabulary)."""
        places = torch.arange(ids.shape[1], device=ids.device)
        return self.head(self.norm(self.blocks(self.tokens(ids) + self.positions(places))))


class Block(nn.Module):
    """Attention and a two-layer perceptron, each behind a norm and beside a shortcut."""

    def __init__(self) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.perceptron = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(approximate="tanh"), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """States (batch, tokens, width) to the same shape."""
        states = states + self.attention(self.norm_1(states))
        return states + self.perceptron(self.norm_2(states))


class Attention(nn.Module):
    """Causal self-attention."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """States (batch, tokens, width) to the same shape."""
        parts = self.inputs(states).unflatten(-1, (3, HEADS, WIDTH // HEADS)).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
        return self.output(mixed.transpose(1, 2).flatten(2))
