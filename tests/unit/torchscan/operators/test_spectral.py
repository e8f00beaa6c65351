"""Fourier transforms and direct solvers."""

from __future__ import annotations

import pytest
import torch
from support.counting import counted, flops


def test_a_transform_is_five_n_log_n_and_half_of_it_for_a_real_side() -> None:
    made_here = torch.rand(16)

    assert flops(lambda: torch.fft.rfft(made_here)) == 5 * 16 * 4 / 2
    assert flops(lambda: torch.fft.irfft(torch.fft.rfft(made_here))) == 2 * 5 * 16 * 4 / 2
    assert flops(lambda: torch.fft.fft(torch.fft.fft(made_here))) == 5 * 16 * 4 / 2 + 5 * 16 * 4


def test_several_axes_are_transformed_in_turn_and_batches_add_up() -> None:
    assert flops(lambda: torch.fft.rfft2(torch.rand(8, 16))) == (8 * 5 * 16 * 4 + 16 * 5 * 8 * 3) / 2
    assert flops(lambda: torch.fft.rfft(torch.rand(7, 12))) == 7 * flops(lambda: torch.fft.rfft(torch.rand(12)))


def test_complex_arithmetic_on_a_spectrum_counts_its_real_operations() -> None:
    signal = torch.rand(16)
    transform = 5 * 16 * 4 / 2

    def work() -> None:
        spectrum = torch.fft.rfft(signal)  # nine values
        (spectrum * spectrum + spectrum).abs()

    assert flops(work) == transform + 9 * (6 + 2 + 4)


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (lambda: torch.linalg.det(torch.eye(6)), 2 * 6**3 // 3 + 6),
        (lambda: torch.linalg.slogdet(torch.eye(6)), 2 * 6**3 // 3 + 3 * 6),
        (lambda: torch.linalg.cholesky(torch.eye(6)), 6**3 // 3),
        (lambda: torch.linalg.inv(torch.eye(6)), 2 * 6**3),
        (lambda: torch.linalg.solve(torch.eye(6), torch.ones(6, 2)), 2 * 6**3 // 3 + 2 * 36 * 2),
        (lambda: torch.linalg.solve_triangular(torch.eye(6), torch.ones(6, 2), upper=True), 36 * 2),
        (lambda: torch.linalg.cross(torch.ones(4, 3), torch.ones(4, 3)), 36),
        (lambda: torch.linalg.lu_factor(torch.eye(6)), 2 * 6**3 // 3),
    ],
)
def test_direct_solvers_count_their_leading_terms(work: object, expected: int) -> None:
    assert flops(work) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("work", [torch.linalg.eigvalsh, torch.linalg.svdvals, torch.linalg.eigvals])
def test_iterative_solvers_have_no_count_and_say_so(work: object) -> None:
    report = counted(lambda: work(torch.eye(4))).report()  # type: ignore[operator]

    assert report["total"]["status"] == "partial"
    assert report["diagnostics"][0]["code"] == "uncounted_operator"
