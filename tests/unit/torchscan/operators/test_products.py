"""Products against a counter that carries every single multiplication out."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.counting import counted, flops, macs
from torch import nn
from torch.nn import functional as F

SMALL = st.integers(1, 4)
FEW = settings(max_examples=25, deadline=None)


def multiplications(*axes: int) -> int:
    """Walk through every term of a product, one by one."""
    return sum(1 for _ in product(*map(range, axes)))


@FEW
@given(SMALL, SMALL, SMALL, SMALL)
def test_matrix_products_take_one_multiplication_per_term(b: int, m: int, k: int, n: int) -> None:
    left, right, stack = torch.ones(m, k), torch.ones(k, n), torch.ones(b, m, k)
    single, batched = multiplications(m, k, n), multiplications(b, m, k, n)

    assert macs(lambda: left @ right) == single
    assert macs(lambda: torch.addmm(torch.ones(n), left, right)) == single
    assert macs(lambda: torch.bmm(stack, torch.ones(b, k, n))) == batched
    assert macs(lambda: torch.baddbmm(torch.ones(b, m, n), stack, torch.ones(b, k, n))) == batched
    assert macs(lambda: torch.addbmm(torch.ones(m, n), stack, torch.ones(b, k, n))) == batched
    assert macs(lambda: F.linear(stack, torch.ones(n, k))) == batched
    if k > 1:  # an outer product is no sum: einsum multiplies element by element
        assert macs(lambda: torch.einsum("...mk,kn->...mn", stack, right)) == batched


@FEW
@given(SMALL, SMALL)
def test_vector_products_take_one_multiplication_per_term(m: int, k: int) -> None:
    matrix, vector = torch.ones(m, k), torch.ones(k)

    assert macs(lambda: matrix @ vector) == multiplications(m, k)
    assert macs(lambda: torch.addmv(torch.ones(m), matrix, vector)) == multiplications(m, k)
    assert macs(lambda: vector @ vector) == multiplications(k)
    assert macs(lambda: torch.vdot(vector, vector)) == multiplications(k)
    assert macs(lambda: torch.addr(torch.ones(m, k), torch.ones(m), vector)) == multiplications(m, k)


@FEW
@given(SMALL, SMALL, SMALL, SMALL)
def test_bilinear_contracts_one_input_after_the_other(batch: int, first: int, second: int, outputs: int) -> None:
    layer = nn.Bilinear(first, second, outputs)
    expected = multiplications(batch, outputs, first, second) + multiplications(batch, outputs, second)

    assert macs(lambda: layer(torch.ones(batch, first), torch.ones(batch, second))) == expected


def test_bilinear_of_the_cases() -> None:
    layer = nn.Bilinear(3, 4, 5)

    assert macs(lambda: layer(torch.ones(2, 3), torch.ones(2, 4))) == 160


@FEW
@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), SMALL, SMALL)
def test_grouped_products_send_each_row_to_one_matrix(rows: list[int], k: int, n: int) -> None:
    offsets = torch.tensor(rows).cumsum(0).to(torch.int32)
    left, right = torch.ones(sum(rows), k, dtype=torch.bfloat16), torch.ones(len(rows), k, n, dtype=torch.bfloat16)
    if not sum(rows) or k % 8 or n % 8:  # the kernel wants aligned rows: give it eights instead
        k, n = 8 * k, 8 * n
        left, right = torch.ones(max(sum(rows), 1), k).bfloat16(), torch.ones(len(rows), k, n).bfloat16()

    counter = counted(lambda: torch._grouped_mm(left, right, offs=offsets))

    assert counter.total.macs == multiplications(left.shape[0], k, n)


def test_a_fused_bias_is_left_out_and_a_separate_one_counts() -> None:
    values, weight, bias = torch.ones(3, 4), torch.ones(5, 4), torch.ones(5)

    assert flops(lambda: F.linear(values, weight, bias)) == 120
    assert flops(lambda: F.linear(values, weight) + bias) == 120 + 15


def test_integer_products_count_like_any_other() -> None:
    assert flops(lambda: torch.ones(3, 4, dtype=torch.int64) @ torch.ones(4, 5, dtype=torch.int64)) == 120


@pytest.mark.parametrize(
    ("layer", "shape", "expected"),
    [
        (nn.Linear(4, 5), (3, 4), 120),
        (nn.Linear(4, 5), (4,), 40),
        (nn.Linear(64, 256), (1, 22528, 64), 2 * 369_098_752),
        (nn.Linear(100, 100), (1, 100), 20_000),
    ],
)
def test_linear_layers_of_the_cases(layer: nn.Module, shape: tuple[int, ...], expected: int) -> None:
    with torch.device("meta"):
        values = torch.empty(shape)

    assert flops(lambda: layer.to("meta")(values)) == expected


def test_an_embedding_is_no_product() -> None:
    table = nn.Embedding(1000, 16)

    assert flops(lambda: table(torch.zeros(2, 5, dtype=torch.long))) == 0


def test_pair_distances_subtract_square_add_and_take_a_root() -> None:
    left, right = torch.ones(3, 5), torch.ones(4, 5)

    assert flops(lambda: torch.cdist(left, right)) == 12 * (5 + 5 + 4 + 1)
    assert flops(lambda: torch.cdist(left, right, p=1)) == 12 * (5 + 5 + 4)
    assert flops(lambda: F.pdist(left)) == 3 * (5 + 5 + 4 + 1)


def test_many_pair_distances_become_one_product_over_two_more_columns() -> None:
    left = torch.ones(30, 5)

    counter = counted(lambda: torch.cdist(left, left))

    assert counter.total.macs == multiplications(30, 30, 5 + 2)
    assert counter.total.flops == 2 * multiplications(30, 30, 5 + 2) + 2 * 900
