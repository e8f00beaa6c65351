from __future__ import annotations

import json

import pytest
import torch
from support.small_nets import Looped, Residual, Returns, Scaled, crawl, total
from torch import nn

from torchscan import IncompleteAnalysisError, ModuleHandler, crawl_module, summary
from torchscan.report.analysis import COMPUTE_TOTALS, STORAGE_TOTALS, TOTALS


def test_a_complete_analysis_passes():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(7200, 2))
    report = crawl_module(model, (3, 32, 32), strict=True)
    assert {report["totals"][metric]["status"] for metric in TOTALS} == {"complete"}


def test_an_incomplete_one_raises_with_the_whole_report():
    with pytest.raises(IncompleteAnalysisError, match=r"module_flops is partial.*Residual") as caught:
        crawl_module(Residual(), (3,), strict=True)
    assert caught.value.report == crawl_module(Residual(), (3,))


def test_structure_mode_leaves_compute_unrequested_and_strict_content():
    report = crawl_module(Residual(), (3,), mode="structure", strict=True)
    for metric in COMPUTE_TOTALS:
        assert (total(report, metric), report["totals"][metric]["method"]) == (("unavailable", None), "not_requested")
    assert report["operator_flops"]["total"]["method"] == "not_requested"
    assert [report["totals"][metric]["status"] for metric in STORAGE_TOTALS] == ["complete"] * 6
    assert report["context"]["analysis_mode"] == "structure"


def test_strict_structure_still_checks_storage():
    module = Returns(0)
    module.lazy = nn.LazyLinear(3)
    with pytest.raises(IncompleteAnalysisError, match="parameters is unavailable"):
        crawl(module, mode="structure", strict=True)


def test_structure_mode_dispatches_to_nothing_of_ours():
    depths = []

    class Looks(nn.Module):
        def forward(self, x):
            depths.append(torch._C._len_torch_dispatch_stack())
            return x

    crawl(Looks(), mode="structure")
    crawl(Looks())
    assert depths == [0, 1]


def test_a_callers_numbers_make_a_custom_leaf_strict():
    handler = ModuleHandler(lambda call: {"module_flops": 3, "macs": 0, "dmas": 6})
    crawl(Scaled(), strict=True, custom_modules={Scaled: handler})


def test_the_native_view_takes_pytorchs_formulas_alone():
    report = crawl(Residual(), formulas="native")
    assert total(report, "operator_flops") == ("partial", 18)  # the addition has no native formula
    assert report["totals"]["operator_flops"]["method"] == "torch.utils.flop_counter.FlopCounterMode"
    assert any(each["code"] == "uncounted_operator" for each in report["diagnostics"])


def test_context_says_what_ran():
    module = Looped(1).double().eval()
    context = crawl(module, torch.ones(1, 3, dtype=torch.float64))["context"]
    assert (context["model_type"], context["execution_mode"], context["analysis_mode"], context["training_before"]) == (
        "Looped", "eval_no_grad", "full", False,
    )  # fmt: skip
    assert (context["devices"], context["dtypes"]) == (["cpu"], ["torch.float64"])
    assert context["torch_version"] == torch.__version__


def test_a_diagnostic_of_a_repeated_call_is_said_once():
    class Repeats(Looped):
        def __init__(self) -> None:
            super().__init__(50)
            self.linear = Scaled()

    found = [each for each in crawl(Repeats())["diagnostics"] if each["code"] == "unsupported_module_metric"]
    assert [(each["metric"], each["call_index"]) for each in found] == [
        ("module_flops", 0), ("macs", 0), ("dmas", 0),
    ]  # fmt: skip


def test_summary_prints_the_table_and_returns_the_report_of_a_crawl(capsys):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3))
    report = summary(model, (3,))
    assert report == crawl_module(model, (3,))
    assert "Total params: 12" in capsys.readouterr().out


def test_summary_checks_its_options_before_the_model_runs():
    for options in ({"wrap_mode": "left"}, {"max_depth": -1}):
        with pytest.raises(ValueError, match=r"wrap_mode|max_depth"):
            summary(nn.Linear(3, 3), (4,), **options)


def test_a_strict_summary_prints_first_and_checks_what_was_asked_for(capsys):
    with pytest.raises(IncompleteAnalysisError):
        summary(Residual(), (3,), strict=True)
    assert "Operator forward FLOPs: 21 FLOPs" in capsys.readouterr().out
    branches = nn.Sequential(nn.Conv2d(3, 3, 1))
    summary(branches, (3, 8, 8), receptive_field=True, effective_rf_stats=True, strict=True)
    assert "Effective stride" in capsys.readouterr().out


def test_a_strict_summary_of_receptive_fields_refuses_branches():
    class Sums(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 3, 1)

        def forward(self, x):
            return self.conv(x) + x

    handlers = {Sums: ModuleHandler(lambda call: {"module_flops": 192, "macs": 0, "dmas": 576})}
    model = nn.Sequential(Sums())
    summary(model, (3, 8, 8), strict=True, custom_modules=handlers)
    with pytest.raises(IncompleteAnalysisError, match="receptive_field of '0'"):
        summary(model, (3, 8, 8), strict=True, receptive_field=True, custom_modules=handlers)


def test_reports_are_plain_json():
    report = crawl_module(Residual(), (3,))
    assert json.loads(json.dumps(report, allow_nan=False)) == report


@pytest.mark.parametrize("mode", ["full", "structure"])
def test_every_total_of_a_model_is_about_the_model(mode):
    report = crawl_module(nn.Linear(3, 2), args=(torch.ones(1, 3),), mode=mode)
    assert {result["scope"] for result in report["totals"].values()} == {"model"}
    if mode == "full":
        assert report["operator_flops"]["total"] == {**report["totals"]["operator_flops"], "scope": "workload"}
