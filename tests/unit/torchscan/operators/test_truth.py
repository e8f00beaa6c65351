"""What must never be complete by accident: sparse, complex, nested and quantized tensors, faulty formulas."""

from __future__ import annotations

import pytest
import torch
from support.counting import counted, flops, operators_of
from torch import nn
from torch.ao.quantization import quantize_dynamic

from torchscan.operators.counter import OperatorCounter

VIEWS = ("native", "extended")


def is_open(counter: OperatorCounter) -> bool:
    report = counter.report()
    return report["total"]["status"] == "partial" and not counter.total.is_macs_complete and bool(report["diagnostics"])


@pytest.mark.parametrize("formulas", VIEWS)
@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr"])
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_sparse_products_are_a_gap(layout: str, formulas: str) -> None:
    layer, sparse = nn.Linear(4, 6), getattr(torch.eye(4), layout)()

    counter = counted(lambda: sparse @ layer.weight.t(), formulas=formulas)

    assert is_open(counter)
    assert counter.total.flops == 0


def test_a_sparse_input_to_a_linear_layer_is_a_gap() -> None:
    assert is_open(counted(lambda: nn.Linear(4, 6)(torch.eye(4).to_sparse())))


@pytest.mark.parametrize("formulas", VIEWS)
def test_a_complex_layer_is_a_lower_bound(formulas: str) -> None:
    layer, values = nn.Linear(4, 6, dtype=torch.complex64), torch.rand(3, 4, dtype=torch.complex64)

    counter = counted(lambda: layer(values), formulas=formulas)

    assert is_open(counter)
    assert counter.total.flops == 144
    assert operators_of(counter.report(), "incomplete_operator_formula") == ["aten.addmm"]


def test_complex_arithmetic_on_the_caller_s_numbers_leaves_only_the_flops_open() -> None:
    values = torch.rand(3, dtype=torch.complex64)

    counter = counted(lambda: values * 2)

    assert counter.report()["total"]["status"] == "partial"
    assert counter.total.is_macs_complete


def test_a_complex_literal_is_the_caller_s_number() -> None:
    assert counted(lambda: torch.ones(3) * 1j).report()["total"]["status"] == "partial"
    assert flops(lambda: torch.fft.rfft(torch.rand(16)) * 1j) == 5 * 16 * 4 / 2 + 9 * 6


def test_the_caller_s_formula_completes_complex_arithmetic() -> None:
    values = torch.rand(3, dtype=torch.complex64)
    six = {torch.ops.aten.mul: lambda left, right, *, out_shape: 6 * out_shape[0]}

    assert flops(lambda: values * 2, custom_mapping=six) == 18


def test_complex_numbers_drawn_by_a_factory_are_the_caller_s() -> None:
    assert counted(lambda: torch.rand(3, dtype=torch.complex64) * 2).report()["total"]["status"] == "partial"


def test_a_parameter_viewed_as_complex_is_made_on_the_way() -> None:
    filter_ = nn.Parameter(torch.rand(9, 2))

    def work() -> torch.Tensor:
        return torch.fft.irfft(torch.fft.rfft(torch.rand(16)) * torch.view_as_complex(filter_))

    assert flops(work) == 2 * 5 * 16 * 4 / 2 + 9 * 6
    assert counted(lambda: work().sum().backward(), grad=True).report()["total"]["status"] == "complete"


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
def test_nested_tensors_from_the_caller_are_a_gap_and_no_crash(layout: torch.layout) -> None:
    nested = torch.nested.nested_tensor([torch.rand(2, 8), torch.rand(3, 8)], layout=layout)

    assert is_open(counted(lambda: nn.Linear(8, 6)(nested)))
    assert is_open(counted(lambda: nested * 2))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_dynamically_quantized_layer_counts_its_product_and_other_quantized_work_is_a_gap() -> None:
    layer = quantize_dynamic(nn.Sequential(nn.Linear(4, 5)), {nn.Linear})
    values = torch.quantize_per_tensor(torch.rand(3, 4), 0.1, 0, torch.quint8)

    assert flops(lambda: layer(torch.rand(3, 4))) == 120
    assert is_open(counted(lambda: torch.relu(values)))
    assert counted(lambda: layer(torch.rand(3, 4)), formulas="native").report()["total"]["status"] == "partial"


class Labelled(torch.Tensor):
    """A subclass that does nothing but keep its type."""


def test_a_plain_tensor_subclass_counts_like_a_tensor() -> None:
    values = torch.rand(3, 4).as_subclass(Labelled)

    assert flops(lambda: nn.Linear(4, 5)(values).relu()) == 120 + 15


@pytest.mark.parametrize(
    ("result", "words"),
    [(float("nan"), "finite"), (-1, "0 or more"), (True, "number"), ("many", "number"), (None, "number")],
)
def test_a_formula_that_returns_nonsense_is_named(result: object, words: str) -> None:
    formulas = {torch.ops.aten.sin: lambda shape, *, out_shape: result}

    report = counted(lambda: torch.ones(3).sin(), custom_mapping=formulas).report()

    assert report["total"]["known_value"] == 0
    assert operators_of(report, "unsupported_operator_formula") == ["aten.sin"]
    assert words in report["diagnostics"][0]["message"]


def test_a_formula_that_raises_does_not_end_the_run() -> None:
    def formula(shape: object, *, out_shape: object) -> int:
        raise ZeroDivisionError("no luck")

    counter = counted(lambda: torch.ones(3).sin(), custom_mapping={torch.ops.aten.sin: formula})

    assert is_open(counter)
    assert "ZeroDivisionError: no luck" in counter.report()["diagnostics"][0]["message"]


def test_a_view_of_a_parameter_under_no_grad_is_survived() -> None:
    values = nn.Parameter(torch.ones(1, 3))

    assert flops(lambda: values.expand(2, -1)) == 0
    assert flops(torch.inference_mode()(lambda: values)) == 0
