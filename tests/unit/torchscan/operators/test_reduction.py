"""Reductions and scans: K terms take K - 1 operations."""

from __future__ import annotations

import pytest
import torch
from support.counting import flops

X = torch.rand(3, 4)


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (X.sum, 11),
        (lambda: X.sum(1), 12 - 3),
        (X.mean, 12),
        (lambda: X.mean(0), 12),
        (X.prod, 11),
        (lambda: X.amax(1), 12 - 3),
        (X.max, 11),
        (lambda: X.max(1), 12 - 3),
        (lambda: X.argmax(1), 12 - 3),
        (X.var, 48),
        (lambda: X.std(1), 48 + 3),
        (lambda: torch.var_mean(X), 48),
        (X.norm, 24),
        (lambda: torch.linalg.vector_norm(X, 1), 23),
        (lambda: torch.linalg.vector_norm(X, 3), 36),
        (lambda: torch.linalg.vector_norm(X, float("inf"), dim=1), 24 - 3),
        (lambda: torch.norm(X, dim=1), 24),
        (lambda: X.logsumexp(1), 48),
        (lambda: X.cumsum(1), 12 - 3),
        (lambda: X.cumprod(0), 12 - 4),
        (lambda: X.cummax(1), 12 - 3),
        (lambda: torch.aminmax(X), 22),
        (lambda: torch.ones(3, 4, dtype=torch.bool).sum(), 0),
        (lambda: torch.ones(5, dtype=torch.int64).cumsum(0), 0),
    ],
)
def test_worked_numbers(work: object, expected: int) -> None:
    assert flops(work) == expected  # type: ignore[arg-type]


def test_a_logsumexp_equals_its_formula_written_out() -> None:
    def written() -> torch.Tensor:
        largest = X.amax(1, keepdim=True)
        return (X - largest).exp().sum(1).log() + largest[:, 0]

    assert flops(written) == flops(lambda: X.logsumexp(1))
