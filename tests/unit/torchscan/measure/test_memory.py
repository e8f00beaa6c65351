from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn

from torchscan.process import measure_peak_memory

FLOAT = 4


def delta(workload: Any) -> int:
    return measure_peak_memory(workload, device="cpu")["delta_bytes"]


def test_the_quickstarts_numbers_come_out_in_a_fresh_process() -> None:
    # weights 128*128 + bias 128 + inputs 32*128 floats: 82,432 bytes; the output adds 32*128 floats: 98,816 (0.094 MiB)
    script = (
        "import torch; from torchscan.process import measure_peak_memory as peak\n"
        "model, inputs = torch.nn.Linear(128, 128).eval(), torch.randn(32, 128)\n"
        "workload = torch.inference_mode()(lambda: model(inputs))\n"
        "print(*(peak(workload, device='cpu')[key] for key in ('baseline_bytes', 'peak_bytes', 'delta_bytes')))"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["82432", "98816", "16384"]


def test_the_mapping_has_the_documented_keys() -> None:
    peak = measure_peak_memory(lambda: torch.cos(torch.ones(8)), device=torch.device("cpu"))
    assert list(peak) == ["device", "metric", "baseline_bytes", "peak_bytes", "delta_bytes"]
    assert (peak["device"], peak["metric"]) == ("cpu", "pytorch_tensor_bytes")


def test_a_tensor_that_dies_makes_room_for_the_next() -> None:
    def workload() -> None:
        for _ in range(5):
            torch.zeros(1000)

    assert delta(workload) == 1000 * FLOAT


def test_tensors_that_live_together_add_up() -> None:
    assert delta(lambda: [torch.zeros(1000) for _ in range(5)]) == 5 * 1000 * FLOAT


def test_views_and_in_place_operators_take_nothing() -> None:
    held = torch.zeros(100, 10)
    assert delta(lambda: held.view(10, 100).t().add_(1)) == 0


def test_a_slice_holds_its_whole_storage() -> None:
    def workload() -> list[torch.Tensor]:
        return [torch.zeros(1000)[:1], torch.zeros(1)]

    assert delta(workload) == 1001 * FLOAT


def test_a_resize_in_place_counts() -> None:
    held = torch.zeros(10)
    assert delta(lambda: held.resize_(1000)) == 990 * FLOAT


def test_activations_saved_for_backward_are_alive_until_backward() -> None:
    # x -> exp -> exp -> sum: at the peak both results of exp, the scalar, its gradient and the first product live
    leaf = torch.zeros(1000, requires_grad=True)
    forward_only = delta(lambda: leaf.detach().exp().exp().sum())
    trained = delta(lambda: leaf.exp().exp().sum().backward())
    assert forward_only == 2 * 1000 * FLOAT
    assert trained >= 3 * 1000 * FLOAT


def test_gradients_of_an_earlier_step_are_in_the_baseline() -> None:
    # given gradients that only C++ holds so far
    layer = nn.Linear(100, 100, bias=False)
    data = torch.ones(1, 100)
    without = measure_peak_memory(lambda: None, device="cpu")["baseline_bytes"]
    layer(data).sum().backward()
    # when they are measured, then they are counted once
    assert measure_peak_memory(lambda: None, device="cpu")["baseline_bytes"] == without + 100 * 100 * FLOAT


def test_tied_weights_count_once() -> None:
    before = measure_peak_memory(lambda: None, device="cpu")["baseline_bytes"]
    embedding = nn.Embedding(50, 8)
    head = nn.Linear(8, 50, bias=False)
    head.weight = embedding.weight
    assert measure_peak_memory(lambda: None, device="cpu")["baseline_bytes"] == before + 50 * 8 * FLOAT


def test_meta_tensors_take_no_memory() -> None:
    with torch.device("meta"):
        layer, data = nn.Linear(10_000, 10_000), torch.ones(64, 10_000)
    assert delta(lambda: layer(data)) == 0


def test_sparse_tensors_count_their_indices_and_values() -> None:
    # 3 non-zeros of a matrix: 2 x 3 int64 indices and 3 floats
    dense = torch.diag(torch.ones(3))
    assert delta(dense.to_sparse) >= 2 * 3 * 8 + 3 * FLOAT


def test_subclasses_that_wrap_tensors_count_what_they_hold() -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    held = TwoTensor(torch.ones(1000), torch.ones(1000))
    assert delta(lambda: held + 1) == 2 * 1000 * FLOAT


class Scratching(torch.Tensor):
    """A wrapper whose every operator takes 5,000 floats for a moment."""

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)

    def __init__(self, inner: torch.Tensor) -> None:
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        torch.zeros(5000)
        return func(*(arg.inner if isinstance(arg, Scratching) else arg for arg in args), **(kwargs or {}))


def test_operators_inside_a_subclass_are_seen() -> None:
    held = Scratching(torch.ones(10))
    assert delta(lambda: held + 1) >= 5000 * FLOAT


def test_two_measurements_agree() -> None:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    data = torch.ones(2, 5, 16)
    first = measure_peak_memory(lambda: layer(data).sum().backward(), device="cpu")
    layer.zero_grad()
    layer(data).sum().backward()
    second = measure_peak_memory(lambda: layer(data).sum().backward(), device="cpu")
    layer.zero_grad()
    third = measure_peak_memory(lambda: layer(data).sum().backward(), device="cpu")
    assert first["peak_bytes"] == third["peak_bytes"]
    assert second["baseline_bytes"] > first["baseline_bytes"]


def test_the_workload_runs_exactly_once_and_its_error_comes_through() -> None:
    calls = []
    with pytest.raises(LookupError, match="mine"):
        measure_peak_memory(lambda: calls.append(1) or {}["mine"], device="cpu")
    assert calls == [1]
    # and no mode is left behind
    assert torch.utils._python_dispatch._len_torch_dispatch_stack() == 0
