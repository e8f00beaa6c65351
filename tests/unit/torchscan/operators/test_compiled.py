"""Compiled functions are counted by their source and stay compiled; functions of functions by their branches."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch._dynamo
from support.counting import counted, flops, macs
from torch import nn
from torch._dynamo.testing import CompileCounterWithBackend
from torch.nn.attention.flex_attention import flex_attention

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def fresh_compiler() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize("is_warm", [True, False])
def test_a_compiled_function_is_counted_once_and_compiled_as_often_as_without_us(is_warm: bool) -> None:
    compiler = CompileCounterWithBackend("eager")
    net = torch.compile(nn.Sequential(nn.Linear(100, 100), nn.ReLU()), backend=compiler)
    values = torch.rand(1, 100)
    with torch.no_grad():
        if is_warm:
            net(values)
        assert flops(lambda: net(values)) == 20_000 + 100
        net(values)

    assert compiler.frame_count == 1


def test_the_stance_of_the_compiler_is_as_before() -> None:
    compiler = CompileCounterWithBackend("eager")
    function = torch.compile(lambda x: x + 1, backend=compiler)

    with pytest.raises(ValueError, match="stop"):
        counted(lambda: [function(torch.ones(2)), _stop()])
    function(torch.ones(2))

    assert compiler.frame_count == 1


def _stop() -> None:
    raise ValueError("stop")


def test_eager_flex_attention_counts_its_two_products() -> None:
    query = torch.rand(1, 2, 16, 8)

    assert macs(lambda: flex_attention(query, query, query)) == 2 * (2 * 16 * 16 * 8)


@pytest.mark.parametrize(("is_long", "products"), [(True, 2), (False, 1)])
def test_only_the_branch_that_runs_counts(is_long: bool, products: int) -> None:
    def work() -> torch.Tensor:
        return torch.cond(torch.tensor(is_long), lambda x: x @ x @ x, lambda x: x @ x, (torch.rand(4, 4),))

    assert macs(work) == products * 64


def test_kernels_generated_during_the_run_leave_the_count_open(monkeypatch: pytest.MonkeyPatch) -> None:
    from torchscan.operators import counter as module

    monkeypatch.setattr(module, "can_compile", lambda: False)
    monkeypatch.setattr(module, "can_generate", lambda: True)

    counter = counted(lambda: torch.ones(3) + 1)

    assert counter.report()["total"]["status"] == "partial"
    assert counter.report()["diagnostics"][0]["operator"] == "torch.compile"
    assert not counter.total.is_macs_complete
