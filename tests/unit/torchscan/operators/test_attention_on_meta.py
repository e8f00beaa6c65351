"""Attention on meta counts what a CPU counts; the zoo's models are held on meta and on fake tensors by the crawl."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.counting import flops
from torch.nn import functional as F


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"attn_mask": torch.zeros(6, 6)}])
def test_attention_on_meta_counts_its_two_products(options: dict[str, Any]) -> None:
    query = torch.empty(2, 4, 6, 8, device="meta")
    options = {key: value.to("meta") if isinstance(value, torch.Tensor) else value for key, value in options.items()}

    assert flops(lambda: F.scaled_dot_product_attention(query, query, query, **options)) == 2 * 2 * (2 * 4 * 6 * 6 * 8)


def test_explicit_attention_on_meta_counts_all_of_its_operators() -> None:
    query = torch.empty(2, 4, 6, 8, device="meta")
    explicit = 2 * 2 * (2 * 4 * 6 * 6 * 8) + 2 * 4 * 6 * 6 + 2 * 4 * 6 * (5 * 6 - 2)

    assert flops(lambda: ((query @ query.transpose(-2, -1)) * 0.5).softmax(-1) @ query) == explicit
