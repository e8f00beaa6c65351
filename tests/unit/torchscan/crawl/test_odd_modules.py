from __future__ import annotations

import threading
from contextlib import nullcontext

import pytest
import torch
from support.small_nets import Residual, Returns, codes, crawl, measured, row, total
from torch import nn

from torchscan import crawl_module


def paths(report):
    return [each["path"] for each in report["layers"]]


class Compiled:
    """Counts how often torch's compiler compiles."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, graph, inputs):
        self.times += 1
        return graph.forward


def test_a_compiled_model_is_counted_once_layer_by_layer():
    report = crawl(torch.compile(nn.Linear(1000, 1000), backend=Compiled()), torch.ones(1, 1000))  # case 34
    assert paths(report) == ["", "_orig_mod"]
    assert total(report, "macs") == ("complete", 1_000_000)
    assert total(report, "operator_macs") == ("complete", 1_000_000)


def test_a_compiled_child_is_observed():
    child = torch.compile(nn.Sequential(nn.Linear(3, 3)), backend=Compiled())
    report = crawl(nn.Sequential(child, nn.ReLU()))
    assert paths(report) == ["", "0", "0._orig_mod", "0._orig_mod.0", "1"]
    assert total(report, "macs") == ("complete", 9)


@pytest.mark.parametrize("mode", ["full", "structure"])
def test_compiled_code_is_still_compiled_afterwards(mode):
    first, warmed = Compiled(), Compiled()
    cold = torch.compile(nn.Linear(3, 3).eval(), backend=first)
    warm = torch.compile(nn.Linear(3, 3).eval(), backend=warmed)
    x = torch.ones(1, 3)
    warm(x)
    for model in (cold, warm):
        crawl(model, x, mode=mode)
        model(x)
        model(x)
    assert (first.times, warmed.times) == (1, 1)


def test_a_module_compiled_in_place_is_observed():
    backend, module = Compiled(), Residual()
    module.compile(backend=backend)
    report = crawl(module)
    assert paths(report) == ["", "linear"]
    assert total(report, "macs") == ("complete", 9)
    module(torch.ones(1, 3))
    assert backend.times == 1


@pytest.mark.parametrize("in_place", [True, False])
def test_where_compiled_modules_cannot_run_eagerly_they_are_named(in_place, monkeypatch):
    monkeypatch.setattr("torchscan.crawl.tree.CAN_RUN_EAGERLY", False)  # as before torch 2.6
    monkeypatch.setattr("torchscan.crawl.undisturbed.eager_stance", nullcontext)
    inner = Residual()
    compiled = torch.compile(inner, backend=Compiled())
    if in_place:
        inner.compile(backend=Compiled())
    report = crawl(nn.Sequential(inner if in_place else compiled))
    assert paths(report) == ["", "0"]
    assert ("opaque_module", "0", "module_metrics") in codes(report)
    assert total(report, "macs") == ("unavailable", None)
    assert report["totals"]["operator_flops"]["status"] == "partial"


def test_data_parallel_on_the_cpu_is_observed():
    report = crawl(nn.DataParallel(nn.Linear(3, 2)))
    assert paths(report) == ["", "module"]
    assert total(report, "macs") == ("complete", 6)


def test_work_in_other_threads_is_named_and_never_complete():
    class Threads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.here, self.there = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            worker = threading.Thread(target=lambda: self.there(x))
            worker.start()
            worker.join()
            return self.here(x)

    report = crawl(Threads())
    assert paths(report) == ["", "here"]
    assert ("opaque_module", "there", "module_metrics") in codes(report)
    for metric in ("module_flops", "macs", "dmas", "operator_flops", "operator_macs"):
        assert report["totals"][metric]["status"] == "partial"


def test_lazy_modules_are_observed_under_their_new_type():
    model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d())
    report = crawl(model, torch.ones(1, 3, 8, 8))
    assert [each["type"] for each in report["layers"]] == ["Sequential", "Conv2d", "BatchNorm2d"]
    assert measured(report, "0", "macs") == ("complete", 4 * 36 * 27)
    assert row(report, "0")["parameters"]["parameters"]["value"] == 112


def test_truth_equality_and_length_of_a_module_are_never_asked():
    class Touchy(nn.Sequential):
        def __bool__(self):
            raise RuntimeError("no truth value")

        def __len__(self):
            raise TypeError("no length")

        def __eq__(self, other):
            raise RuntimeError("no equality")

        __hash__ = None

    class Holds(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.touchy = Touchy(nn.Linear(3, 3))

        def forward(self, x):
            return self.touchy(x)

    for mode in ("full", "structure"):
        assert paths(crawl(Holds(), mode=mode)) == ["", "touchy", "touchy.0"]


def test_a_view_of_a_parameter_may_be_returned():
    class Queries(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.queries = nn.Parameter(torch.ones(1, 3))
            self.linear = nn.Linear(3, 2)

        def forward(self, x):
            return self.linear(self.queries.expand(2, -1))

    assert total(crawl(nn.Sequential(Queries())), "macs") == ("complete", 12)
    with torch.inference_mode():
        assert total(crawl(nn.Sequential(Queries())), "macs") == ("complete", 12)


def test_a_bare_parameter_may_be_returned():
    module = Returns(nn.Parameter(torch.ones(2)))
    with torch.inference_mode():
        assert row(crawl(nn.Sequential(module)), "0")["output"]["shape"] == [2]


@pytest.mark.parametrize("use_reentrant", [True, False])
@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
def test_activation_checkpointing_is_observed(use_reentrant):
    from torch.utils.checkpoint import checkpoint

    class Checkpoints(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            return checkpoint(self.linear, x, use_reentrant=use_reentrant)

    assert total(crawl(Checkpoints()), "macs") == ("complete", 9)


@pytest.mark.parametrize("mode", ["full", "structure"])
def test_a_model_of_fake_tensors_is_analysed_as_the_real_one(mode):
    from torch._subclasses.fake_tensor import FakeTensorMode

    def model():
        return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))

    with FakeTensorMode():
        fake = crawl_module(model(), args=(torch.ones(1, 3, 8, 8),), mode=mode)
    real = crawl_module(model(), args=(torch.ones(1, 3, 8, 8),), mode=mode)
    assert fake["layers"] == real["layers"]
    assert fake["totals"] == real["totals"]


def test_a_model_on_meta_is_analysed_as_the_real_one():
    def model():
        return nn.Sequential(nn.Embedding(10, 8), nn.LSTM(8, 4), Returns(0))

    real = crawl(model(), torch.zeros(3, 2, dtype=torch.long))
    with torch.device("meta"):
        meta = crawl(model(), torch.zeros(3, 2, dtype=torch.long))
    assert [each["metrics"] for each in meta["layers"]] == [each["metrics"] for each in real["layers"]]
    assert meta["totals"] == real["totals"]


def test_a_forward_set_on_the_instance_has_no_formula():
    module = nn.Linear(3, 3)
    module.forward = lambda x: x * 2
    report = crawl(nn.Sequential(module))
    assert measured(report, "0", "macs") == ("unavailable", None)


def test_children_in_a_plain_list_are_work_of_their_holder():
    class Hides(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = [nn.Linear(3, 3)]

        def forward(self, x):
            return self.hidden[0](x)

    report = crawl(Hides())
    assert paths(report) == [""]
    assert total(report, "macs") == ("unavailable", None)
    assert total(report, "operator_macs") == ("complete", 9)


def test_a_module_that_takes_no_hooks_is_named_and_its_work_is_not_lost():
    class Refuses(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)
            self._forward_hooks = None

        def __call__(self, x):
            return self.linear(x) * 2

    report = crawl(nn.Sequential(Refuses()))
    assert paths(report) == ["", "0.linear"]
    assert ("opaque_module", "0", "module_metrics") in codes(report)
    assert total(report, "macs") == ("complete", 9)
    assert total(report, "module_flops") == ("partial", 18)
    assert total(report, "operator_flops") == ("complete", 21)


def test_a_none_child_is_skipped():
    module = nn.Sequential(nn.Linear(3, 3))
    module.register_module("downsample", None)
    module.forward = module[0].forward
    assert paths(crawl(module)) == [""]


def test_scalars_and_empty_batches_are_inputs_too():
    assert total(crawl(nn.ReLU(), torch.tensor(1.0)), "module_flops") == ("complete", 1)  # case 27
    assert total(crawl(nn.Linear(3, 3), torch.ones(0, 3)), "macs") == ("complete", 0)


class Refuses(nn.Module):
    """A module whose hook tables cannot even be read."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    @property
    def _forward_pre_hooks(self):
        raise RuntimeError("no hooks here")

    @_forward_pre_hooks.setter
    def _forward_pre_hooks(self, tables) -> None:
        """Let torch's own constructor pass."""

    def __call__(self, x):
        return self.linear(x)


@pytest.mark.parametrize("wrap", [lambda module: module, nn.Sequential])
def test_a_module_whose_hook_tables_raise_leaves_no_hook_on_the_others(wrap):
    model = wrap(Refuses())
    report = crawl(model)
    assert total(report, "macs") == ("complete", 9)
    assert not any(module._forward_hooks for module in model.modules())
