from __future__ import annotations

import copy
import gc
import pickle
import random
import sys
import threading
import time
import weakref
from contextlib import contextmanager

import pytest
import torch
from support.small_nets import Looped, Raises, Residual, Returns, crawl, nested, total
from torch import nn
from torch.utils.flop_counter import flop_registry

from torchscan import crawl_module, summary
from torchscan.operators.shared import Shared

MODES = ("full", "structure")
HOOKS = (
    "_forward_hooks", "_forward_pre_hooks", "_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs",
    "_forward_hooks_always_called", "_backward_hooks", "_backward_pre_hooks", "_state_dict_hooks",
)  # fmt: skip
REGISTRIES = ("_global_forward_hooks", "_global_forward_pre_hooks", "_global_forward_hooks_always_called")


def state(model: nn.Module):
    """Everything that an analysis could leave behind, in comparable form."""
    return (
        {name: dict(vars(module)) for name, module in model.named_modules()},
        {name: {table: dict(getattr(module, table)) for table in HOOKS} for name, module in model.named_modules()},
        {name: module.training for name, module in model.named_modules()},
        {name: (id(tensor), tensor.tolist()) for name, tensor in model.state_dict(keep_vars=True).items()},
    )


def process():
    """What an analysis could leave behind outside the model."""
    registries = {name: dict(getattr(nn.modules.module, name)) for name in REGISTRIES}
    return (
        torch.get_rng_state().tolist(), random.getstate(), torch.is_grad_enabled(), torch.get_num_threads(),
        torch.get_num_interop_threads(), sys.getrecursionlimit(), gc.isenabled(), gc.get_freeze_count(), registries,
        torch.get_default_dtype(), len(flop_registry),
        torch._C._len_torch_dispatch_stack(),
    )  # fmt: skip


def a_model() -> nn.Module:
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dropout(0.5), nn.ReLU(), nn.Flatten(), nn.LazyLinear(3), Residual()
    )
    model(torch.ones(2, 3, 5, 5))
    model[1].eval()  # a frozen BatchNorm inside a train() model keeps its flag
    model[0].register_forward_pre_hook(lambda module, args: None)
    model[0].register_forward_hook(lambda module, args, output: None)
    return model


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("training", [True, False])
def test_everything_is_as_it_was_after_success(mode, training):

    model = a_model()
    model[2].train(training)
    before = state(model), process()
    report = crawl_module(model, (3, 5, 5), mode=mode)
    assert (state(model), process()) == before
    assert report["context"]["training_before"] is True


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), SystemExit(3), RecursionError("deep")])
def test_everything_is_as_it_was_after_a_failure(mode, error):

    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), Raises(error))
    before = state(model), process()
    with pytest.raises(type(error)) as caught:
        crawl_module(model, (3,), mode=mode)
    assert caught.value is error
    assert (state(model), process()) == before


@pytest.mark.parametrize("mode", MODES)
def test_the_observed_output_equals_the_plain_one_bit_for_bit(mode):
    class Keeps(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = a_model().eval()
            self.seen = []

        def forward(self, x):
            self.seen.append(self.body(x))
            return self.seen[-1]

    torch.manual_seed(0)
    model, x = Keeps(), torch.randn(2, 3, 5, 5)
    with torch.no_grad():
        model.eval()(x)
    crawl_module(model, args=(x,), mode=mode)
    plain, observed = model.seen
    assert torch.equal(plain, observed)


def test_a_model_that_draws_random_numbers_gives_the_generators_back():
    class Draws(nn.Module):
        def forward(self, x):
            random.random()
            return x + torch.rand_like(x)

    before = process()
    crawl_module(Draws(), (3,))
    assert process() == before


def test_evaluation_mode_and_no_gradients_hold_during_the_forward():
    seen = []

    class Looks(nn.Module):
        def forward(self, x):
            seen.append((self.training, torch.is_grad_enabled(), (x * self.weight).requires_grad))
            return x

    module = Looks()
    module.weight = nn.Parameter(torch.ones(3))
    crawl_module(module, (3,))
    assert seen == [(False, False, False)]
    assert module.training


def test_an_own_train_method_is_not_called():
    class Merges(nn.Linear):
        def train(self, mode=True):
            raise AssertionError("merging adapters is more than looking")

    crawl_module(Merges(3, 3), (3,))


def test_a_users_attributes_do_not_collide_with_ours():
    model = nn.Sequential(nn.Linear(3, 3))
    for name in ("path", "calls", "site", "tally", "node", "output", "total_ops", "__flops__", "name", "depth"):
        setattr(model[0], name, name)
    model[0].register_buffer("parameters_", torch.ones(2))
    before = state(model)
    assert crawl_module(model, (3,))["layers"][1]["path"] == "0"
    assert state(model) == before


def test_nothing_keeps_the_model_or_its_inputs_alive():
    model, x = nn.Sequential(nn.Linear(3, 3), Residual()), torch.ones(1, 3)
    gone = [weakref.ref(module) for module in model.modules()] + [weakref.ref(x)]
    gc.collect()
    gc.disable()
    try:
        report = crawl_module(model, args=(x,))
        del model, x
        assert [each() for each in gone] == [None] * 5
        assert report["layers"]
    finally:
        gc.enable()


def test_activations_are_freed_while_the_forward_runs():
    alive: list[int] = []

    class Watches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linears = nn.ModuleList([nn.Linear(3, 3) for _ in range(5)])

        def forward(self, x):
            seen = []
            for linear in self.linears:
                x = linear(x)
                seen.append(weakref.ref(x))
                alive.append(sum(each() is not None for each in seen))
            return x

    crawl_module(Watches(), (3,))
    assert alive == [1] * 5


def test_modules_nest_as_deep_as_the_plain_forward_runs():
    model = nested(235, nn.Linear(2, 2))
    model(torch.ones(1, 2))
    for mode in MODES:
        assert len(crawl_module(model, (2,), mode=mode)["layers"]) == 236


def test_the_table_of_a_deep_model_is_printed(capsys):
    summary(nested(235, nn.Linear(2, 2)), (2,))
    assert "Total params: 6" in capsys.readouterr().out


def test_repeated_analyses_say_the_same():
    model = a_model()
    first, second = (crawl_module(model, (3, 5, 5)) for _ in range(2))
    assert first == second


def test_an_in_place_first_operator_changes_the_callers_input_as_a_plain_call_does():
    x, plain = -torch.ones(1, 3), -torch.ones(1, 3)
    crawl_module(nn.Sequential(nn.ReLU(inplace=True)), args=(x,))
    nn.ReLU(inplace=True)(plain)
    assert torch.equal(x, plain)


def test_a_deep_copy_made_by_the_forward_runs_afterwards():
    class Copies(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)
            self.copies = []

        def forward(self, x):
            self.copies.append(copy.deepcopy(self.linear))
            return self.copies[0](x)

    module = Copies()
    crawl_module(module, (3,))
    assert module.copies[0](torch.ones(1, 3)).shape == (1, 3)


def test_an_analysis_inside_an_analysis():
    from torchscan import ModuleHandler

    inner: list[object] = []

    def estimate(call):
        inner.append(crawl_module(call.module, args=call.args)["totals"]["macs"]["value"])
        return {}

    report = crawl_module(nn.Sequential(nn.Linear(3, 3)), (3,), custom_modules={nn.Linear: ModuleHandler(estimate)})
    assert inner == [9]
    assert report["totals"]["macs"]["value"] == 9
    assert report["totals"]["operator_macs"]["value"] == 9


def test_an_application_that_froze_its_heap_keeps_it_frozen():
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        crawl_module(nn.Linear(3, 3), (3,))
        assert gc.get_freeze_count() > 0.9 * before > 0  # a frozen object may still die; unfreezing would leave none
    finally:
        gc.unfreeze()


def test_many_calls_stay_linear_in_rows():
    report = crawl_module(Looped(2000), (3,))
    assert len(report["layers"]) == 2001
    assert report["totals"]["macs"]["value"] == 2000 * 9
    assert [each["call_index"] for each in report["layers"][1:]] == list(range(2000))


def test_a_module_that_returns_nothing_is_described():
    assert crawl_module(Returns(None), (3,))["layers"][0]["output"] == {"kind": "none"}


def test_flags_that_the_forward_switches_are_given_back():
    class Trains(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            return self.train().linear(x)

    model = Trains().eval()
    crawl(model)
    assert not any(module.training for module in model.modules())


def test_a_module_may_be_pickled_by_the_forward():
    class Saves(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            return pickle.loads(pickle.dumps(self.linear))(x) + self.linear(x)

    report = crawl(Saves())
    assert [row["path"] for row in report["layers"]] == ["", "linear"]
    assert total(report, "operator_macs") == ("complete", 18)


def test_analyses_in_several_threads_leave_the_process_as_it_was():
    limit, together = sys.getrecursionlimit(), threading.Barrier(4)

    class Waits(nn.Module):
        def __init__(self, after) -> None:
            super().__init__()
            self.after = after

        def forward(self, x):
            together.wait(timeout=30)
            time.sleep(self.after)
            return x

    threads = [threading.Thread(target=crawl, args=(Waits(after),)) for after in (0.06, 0.0, 0.04, 0.02)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sys.getrecursionlimit() == limit


def test_overlapping_changes_of_the_process_end_with_the_last():
    seen = []

    @contextmanager
    def change():
        seen.append("made")
        yield
        seen.append("taken back")

    shared = Shared(change)
    shared.__enter__()
    shared.__enter__()
    shared.__exit__()
    assert seen == ["made"]
    shared.__exit__()
    assert seen == ["made", "taken back"]
