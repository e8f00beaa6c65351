from __future__ import annotations

import gc
import subprocess
import sys
import weakref

import pytest
import torch
from support.counting import counted, flops
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from torchscan.operators.counter import OperatorCounter
from torchscan.operators.tally import Tally


def test_work_goes_to_the_current_tally_and_adds_up_to_the_total() -> None:
    linear, values = nn.Linear(4, 5), torch.randn(3, 4)
    counter, first, second = OperatorCounter(), Tally(), Tally()

    with torch.no_grad(), counter:
        counter.current = first
        out = linear(values)
        counter.current = second
        out.relu().sum()

    assert (first.flops, first.macs) == (120, 60)
    assert (second.flops, second.macs) == (15 + 14, 0)
    assert counter.total.flops == first.flops + second.flops
    assert counter.total.macs == first.macs + second.macs


def test_a_suspended_counter_counts_nothing() -> None:
    counter = OperatorCounter()

    with counter:
        counter.is_suspended = True
        torch.ones(3) + 1
        counter.is_suspended = False

    assert counter.report()["ignored_operators"] == []
    assert counter.total.flops == 0


def test_copies_are_noticed_on_the_tally_and_views_are_not() -> None:
    counter, copying = OperatorCounter(), Tally()
    values = torch.randn(2, 3)

    with counter:
        values.t().view(-1, 1) if values.t().is_contiguous() else values[0]
        viewed = counter.current.moves
        counter.current = copying
        torch.cat([values, values])

    assert (viewed, copying.moves) == (False, True)


def test_an_unknown_operator_is_named_and_leaves_both_totals_open() -> None:
    with torch.library._scoped_library("torchscan_tests", "DEF") as library:
        library.define("opaque(Tensor x) -> Tensor")
        library.impl("opaque", lambda x: x @ x, "CPU")
        counter = counted(lambda: torch.ops.torchscan_tests.opaque(torch.ones(2, 2)))

    report = counter.report()
    assert report["total"]["status"] == "partial"
    assert report["total"]["known_value"] == 0
    assert [found["code"] for found in report["diagnostics"]] == ["uncounted_operator"]
    assert report["diagnostics"][0]["operator"] == "torchscan_tests.opaque"
    assert not counter.total.is_macs_complete


def test_an_operator_without_a_formula_leaves_the_macs_complete_when_it_cannot_hide_a_product() -> None:
    counter = counted(lambda: torch.ones(3).sin(), formulas="native")

    assert not counter.total.is_flops_complete
    assert counter.total.is_macs_complete


def test_inference_mode_counts_composites_by_their_pieces() -> None:
    linear, values = nn.Linear(4, 5), torch.randn(2, 3, 4)

    counter = counted(torch.inference_mode()(lambda: linear(values)))

    assert counter.report()["by_operator"] == {"aten.addmm": 240}


def test_the_model_s_output_is_the_same_bit_for_bit() -> None:
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.GELU(), nn.AdaptiveAvgPool2d(2)).eval()
    images = torch.randn(2, 3, 9, 9)
    plain = net(images)

    for context in (torch.no_grad, torch.inference_mode):
        with context(), OperatorCounter():
            assert torch.equal(net(images), plain)


def test_an_exception_and_an_interrupt_leave_no_mode_behind() -> None:
    depth = torch._C._len_torch_dispatch_stack()

    for error in (ValueError, KeyboardInterrupt):

        def workload(error: type[BaseException] = error) -> None:
            torch.ones(2).sin()
            raise error

        with pytest.raises(error):
            counted(workload)
        assert torch._C._len_torch_dispatch_stack() == depth


def test_nothing_keeps_tensors_or_modules_alive() -> None:
    def run() -> tuple[OperatorCounter, weakref.ref[nn.Module], weakref.ref[torch.Tensor]]:
        net, values = nn.Linear(3, 3), torch.ones(1, 3)
        return counted(lambda: torch.fft.fft(net(values)).abs()), weakref.ref(net), weakref.ref(values)

    counter, net, values = run()
    gc.collect()

    assert (net(), values()) == (None, None)
    assert counter.total.flops > 0


def test_memory_grows_with_operators_not_with_calls() -> None:
    values = torch.ones(2)
    counter = counted(lambda: [values.add(1) for _ in range(100)])

    assert len(counter._entries) == 1
    assert counter.total.flops == 200


def test_a_second_mode_still_sees_every_operator() -> None:
    seen: list[str] = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Watch():
        flops(lambda: torch.ones(2).sin())

    assert seen == ["aten.ones.default", "aten.sin.default"]


def test_the_first_count_of_a_process_imports_no_dynamo() -> None:
    # In processor time, so that neighbours do not count. Torch's own flop_counter imports triton where it is installed,
    # as a torch built for CUDA brings it: 0.15 s with 2.14.1, against 0.003 s with the CPU's 2.13.0.
    program = (
        "import sys, time, torch\n"
        "from torchscan.operators.counter import OperatorCounter\n"
        "net = torch.nn.Linear(8, 8); x = torch.ones(1, 8); net(x)\n"
        "start = time.process_time()\n"
        "with torch.no_grad(), OperatorCounter(): net(x)\n"
        "spent = time.process_time() - start\n"
        "print('torch._dynamo' in sys.modules, spent)\n"
    )
    loaded, spent = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()

    assert loaded == "False"
    assert float(spent) < 0.25


def test_formulas_must_be_a_known_name() -> None:
    with pytest.raises(ValueError, match="'native', 'extended'; got 'mine'"):
        OperatorCounter(formulas="mine")  # type: ignore[arg-type]
