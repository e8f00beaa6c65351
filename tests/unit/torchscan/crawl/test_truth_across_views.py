from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # its usual name
from support.small_nets import Residual, Returns, Scaled, codes, crawl, measured, total
from torch import nn

WORK = ("module_flops", "macs", "dmas")


def statuses(report):
    return [report["totals"][metric]["status"] for metric in WORK]


class Weighted(nn.Module):
    """A container that multiplies its child's output by a weight itself."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.weight = nn.Parameter(torch.ones(3, 3))

    def forward(self, x):
        return self.linear(x) @ self.weight


class Beside(nn.Module):
    """A Linear, and some functional work beside it."""

    def __init__(self, work) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.work = work

    def forward(self, x):
        return self.work(self.linear(x))


def test_a_product_beside_a_child_leaves_every_module_metric_partial():
    report = crawl(Weighted())
    assert [total(report, metric) for metric in ("module_flops", "macs")] == [("partial", 18), ("partial", 9)]
    assert statuses(report) == ["partial"] * 3
    assert ("functional_work", "", "macs") in codes(report)
    assert total(report, "operator_macs") == ("complete", 18)


def test_a_residual_add_leaves_macs_complete():
    report = crawl(nn.Sequential(Residual()))
    assert statuses(report) == ["partial", "complete", "partial"]
    assert total(report, "macs") == ("complete", 9)
    assert ("functional_work", "0", "module_flops") in codes(report)
    assert not [each for each in codes(report) if each[1] == ""]  # the outer container itself did nothing


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (lambda x: x, ["complete"] * 3),
        (lambda x: x.view(-1, 1), ["complete"] * 3),
        (lambda x: x.permute(1, 0)[:2], ["complete"] * 3),
        (lambda x: torch.cat([x, x]), ["complete", "complete", "partial"]),
        (lambda x: x.clone(), ["complete", "complete", "partial"]),
        (lambda x: x.sin(), ["partial", "complete", "partial"]),
        (lambda x: F.softmax(x, -1), ["partial", "complete", "partial"]),
        (lambda x: F.layer_norm(x, (3,)), ["partial", "partial", "partial"]),
        (lambda x: F.rms_norm(x, (3,)), ["partial", "partial", "partial"]),
        (lambda x: x * x.pow(2).mean(-1, keepdim=True), ["partial", "partial", "partial"]),
        (lambda x: (x * x).sum(-1), ["partial", "partial", "partial"]),
        (lambda x: x.var(-1), ["partial", "partial", "partial"]),
        (lambda x: torch.addcmul(x, x, x), ["partial", "partial", "partial"]),
        (lambda x: torch.linalg.solve(torch.eye(3), x.T), ["partial", "partial", "partial"]),
        (lambda x: x * x.sigmoid() + x, ["partial", "complete", "partial"]),
        (lambda x: F.linear(x, torch.ones(2, 3)), ["partial", "partial", "partial"]),
        (lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]), ["partial", "partial", "partial"]),
    ],
)
def test_functional_work_touches_the_metrics_that_it_affects(work, expected):
    assert statuses(crawl(Beside(work))) == expected


def test_a_subclass_with_its_own_forward_has_no_formula():
    class Doubled(nn.Linear):
        def forward(self, x):
            return super().forward(super().forward(x))

    report = crawl(Doubled(3, 3))
    assert statuses(report) == ["unavailable"] * 3
    assert ("unsupported_module_metric", "", "macs") in codes(report)
    assert total(report, "operator_macs") == ("complete", 18)


def test_a_subclass_that_keeps_the_forward_keeps_the_formula():
    class Named(nn.Linear):
        pass

    assert total(crawl(Named(3, 3)), "macs") == ("complete", 9)


def test_an_unsupported_leaf_is_unavailable_and_its_model_a_lower_bound():
    report = crawl(nn.Sequential(nn.Linear(3, 3), Scaled()))
    assert [measured(report, "1", metric) for metric in WORK] == [("unavailable", None)] * 3
    assert [total(report, metric) for metric in WORK] == [("partial", 18), ("partial", 9), ("partial", 18)]
    assert {each for each in codes(report) if each[1] == "1"} == {
        ("unsupported_module_metric", "1", metric) for metric in WORK
    }


def test_a_leaf_that_only_looks_at_its_input_costs_nothing():
    class Flattens(nn.Module):
        def forward(self, x):
            return x.flatten(1)[:, 1:]

    assert [total(crawl(Flattens()), metric) for metric in WORK] == [("complete", 0)] * 3


def test_a_leaf_that_copies_has_no_data_movement_count():
    class Rolls(nn.Module):
        def forward(self, x):
            return torch.cat([x[:, 1:], x[:, :1]], 1)

    assert statuses(crawl(Rolls())) == ["complete", "complete", "unavailable"]


def test_complex_and_sparse_calls_are_not_complete():
    complex_report = crawl(nn.Linear(3, 2, dtype=torch.complex64), torch.ones(1, 3, dtype=torch.complex64))
    sparse_report = crawl(nn.Linear(4, 6), torch.eye(4).to_sparse())
    for report in (complex_report, sparse_report):
        assert "complete" not in statuses(report)
        assert total(report, "operator_flops")[0] != "complete"
    assert sparse_report["inputs"]["args"][0]["layout"] == "torch.sparse_coo"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_scripted_module_is_named_and_never_complete():
    scripted = torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.ReLU())).train()
    report = crawl(nn.Sequential(scripted, nn.Linear(3, 3)))
    assert [each["path"] for each in report["layers"]] == ["", "0", "1"]
    assert total(report, "macs") == ("partial", 9)
    assert total(report, "parameters") == ("complete", 24)
    assert report["totals"]["operator_flops"]["status"] == "partial"
    assert report["totals"]["operator_macs"]["status"] == "partial"
    assert ("opaque_module", "0", "module_metrics") in codes(report)
    assert scripted.training
    assert crawl(scripted)["totals"]["macs"]["status"] == "unavailable"


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(("wrap", "path"), [(nn.Sequential, "0"), (lambda conv: conv, "")])
def test_arithmetic_of_a_pre_hook_makes_the_formula_a_lower_bound(wrap, path):
    report = crawl(wrap(nn.utils.weight_norm(nn.Conv2d(3, 8, 3))), torch.ones(1, 3, 6, 6))
    assert measured(report, path, "macs") == ("complete", 3456)  # case 20: 8 x 16 outputs of 27 products
    assert measured(report, path, "module_flops") == ("partial", 6912)
    assert ("functional_work", path, "module_flops") in codes(report)


@pytest.mark.parametrize(
    ("hook", "expected"), [(lambda *call: call[-1] * 2, "partial"), (lambda *call: None, "complete")]
)
@pytest.mark.parametrize(("wrap", "path"), [(nn.Sequential, "0"), (lambda linear: linear, "")])
def test_arithmetic_of_a_forward_hook_makes_the_formula_a_lower_bound(hook, expected, wrap, path):
    linear = nn.Linear(3, 3)
    linear.register_forward_hook(hook)
    report = crawl(wrap(linear))
    assert measured(report, path, "module_flops") == (expected, 18)
    assert measured(report, path, "macs") == ("complete", 9)
    assert not [name for name in linear._forward_hooks if not isinstance(name, int)]


def test_a_parametrized_weight_is_work_of_its_own_rows():
    module = nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 8, 3))
    report = crawl(module, torch.ones(1, 3, 6, 6))
    assert measured(report, "", "macs") == ("complete", 3456)
    assert [each["path"] for each in report["layers"]] == [
        "", "parametrizations.weight", "parametrizations.weight.0",
    ]  # fmt: skip
    assert total(report, "operator_macs") == ("complete", 3456)


def test_views_are_two_methods_and_never_merge():
    report = crawl(Returns(0), torch.ones(1))
    assert report["totals"]["module_flops"]["method"] != report["totals"]["operator_flops"]["method"]


def test_eval_dropout_and_embedding_cost_nothing():
    assert total(crawl(nn.Dropout()), "module_flops") == ("complete", 0)
    report = crawl(nn.Embedding(10, 4), torch.zeros(1, 2, dtype=torch.long))
    assert total(report, "module_flops") == ("complete", 0)
    assert total(report, "macs") == ("complete", 0)


def test_only_executed_work_counts():
    class Chooses(nn.Module):  # case 35
        def __init__(self) -> None:
            super().__init__()
            self.small, self.large = nn.Linear(3, 3), nn.Linear(3, 300)

        def forward(self, x):
            return self.large(x) if x.sum() < 0 else self.small(x)

    assert total(crawl(Chooses()), "operator_macs") == ("complete", 9)


def test_a_shared_layer_under_three_parents_counts_each_call_once():
    linear = nn.Linear(100, 100)  # case 15
    model = nn.Sequential(nn.Sequential(linear), nn.Sequential(linear), nn.Sequential(linear))
    assert total(crawl(model, torch.ones(1, 100)), "macs") == ("complete", 30_000)
