from __future__ import annotations

import pytest
import torch
from support.small_nets import Looped, Returns, codes, crawl, row, total
from torch import nn

from torchscan import crawl_module

STORAGE = (
    "parameters", "trainable_parameters", "frozen_parameters", "parameter_bytes", "buffer_elements", "buffer_bytes",
)  # fmt: skip


def values(report, where="totals"):
    return [report[where][metric]["value"] for metric in STORAGE]


class Tied(nn.Module):
    """Case 22: an embedding tied to the output, a parameter of its own, and a layer that never runs."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 8)
        self.output = nn.Linear(8, 50, bias=False)
        self.output.weight = self.embedding.weight
        self.extra = nn.Parameter(torch.ones(7))
        self.unused = nn.Linear(3, 3)

    def forward(self, tokens):
        return self.output(self.embedding(tokens))


def test_tied_own_and_uncalled_parameters_count_once():
    report = crawl(Tied(), torch.zeros(1, 2, dtype=torch.long))
    assert values(report)[:4] == [419, 419, 0, 419 * 4]  # 50 * 8 + 7 + 3 * 3 + 3
    assert [row(report, path)["parameters"]["parameters"]["value"] for path in ("", "embedding", "output")] == [
        7, 400, 400,
    ]  # fmt: skip


def test_a_shared_activation_and_a_parameter_beside_a_convolution():
    relu = nn.ReLU()  # case 23
    blocks = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), relu, nn.Linear(4, 4)) for _ in range(3)])
    report = crawl_module(blocks, (4,))
    assert total(report, "parameters") == ("complete", 120)
    assert [(each["path"], each["call_index"]) for each in report["layers"] if each["type"] == "ReLU"] == [
        ("0.1", 0), ("0.1", 1), ("0.1", 2),
    ]  # fmt: skip
    module = Returns(0)
    module.free, module.conv = nn.Parameter(torch.ones(1024)), nn.Conv2d(3, 6, 3)
    assert total(crawl(module), "parameters") == ("complete", 1192)


def test_views_of_one_storage_count_what_they_cover_together():
    base = torch.zeros(20)
    module = Returns(0)
    module.head, module.middle = nn.Parameter(base[:10]), nn.Parameter(base[5:15])
    module.same, module.turned = nn.Parameter(base[:10]), nn.Parameter(base[:10].view(2, 5).t())
    module.even = nn.Parameter(base[16::2])  # 2 elements that span 3
    assert total(crawl(module), "parameters") == ("complete", 18)  # 0 to 14 are 15, and 16 to 18


def test_frozen_parameters_and_buffers_count_apart():
    module = nn.Sequential(nn.Linear(3, 3, dtype=torch.float64), nn.BatchNorm1d(3, dtype=torch.float64))
    module[0].weight.requires_grad_(False)
    report = crawl_module(module, (3,))
    assert values(report) == [18, 9, 9, 18 * 8, 7, 6 * 8 + 8]
    assert [each["value"] for each in row(report, "0")["parameters"].values()] == [12, 3, 9, 96]
    assert [each["value"] for each in row(report, "1")["buffers"].values()] == [7, 56]
    assert report["context"]["dtypes"] == ["torch.float64", "torch.int64"]


def test_lazy_parameters_are_exact_after_the_forward():
    report = crawl(nn.LazyLinear(32), torch.ones(1, 16))  # case 24
    assert total(report, "parameters") == ("complete", 544)
    assert row(report, "")["parameters"]["parameters"]["value"] == 544
    assert total(report, "module_flops") == ("complete", 32 * 32)  # 16 products, 15 sums, 1 bias per output


def test_lazy_parameters_that_never_ran_are_not_zero():
    module = Returns(0)
    module.lazy = nn.LazyLinear(3)
    report = crawl(module)
    assert [report["totals"][metric]["status"] for metric in STORAGE] == ["unavailable"] * 6
    assert ("uninitialized_parameter", None, "parameters") in codes(report)
    module.linear = nn.Linear(3, 3)
    assert total(crawl(module), "parameters") == ("partial", 12)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_packed_weights_of_a_quantized_layer_count_as_logical_ones():
    module = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 5)), {nn.Linear})
    report = crawl(module, torch.ones(1, 4))
    assert total(report, "parameters") == ("complete", 25)
    assert total(report, "parameter_bytes") == ("complete", 20 + 5 * 4)
    assert total(report, "macs")[0] == "unavailable"


@pytest.mark.filterwarnings("ignore")
def test_sharded_parameters_count_globally_and_the_local_count_stands_beside():
    import torch.distributed as dist

    fake = pytest.importorskip("torch.testing._internal.distributed.fake_pg")
    tensor = pytest.importorskip("torch.distributed.tensor")
    dist.init_process_group("fake", rank=0, world_size=2, store=fake.FakeStore())
    try:
        mesh = tensor.init_device_mesh("cpu", (2,))
        module = Returns(0)
        module.weight = nn.Parameter(tensor.distribute_tensor(torch.ones(6, 4), mesh, [tensor.Shard(0)]))
        module.bias = nn.Parameter(torch.ones(3))
        report = crawl(module)
    finally:
        dist.destroy_process_group()
    assert total(report, "parameters") == ("complete", 27)
    assert total(report, "local_parameters") == ("complete", 15)
    assert ("sharded_parameter", None, "parameters") in codes(report)


def test_sharing_changes_parameters_and_not_the_cost():
    shared = Looped(100, 8)  # case 33: one Linear, called 100 times
    apart = nn.Sequential(*[nn.Linear(8, 8) for _ in range(100)])
    one, many = crawl_module(shared, (8,)), crawl_module(apart, (8,))
    assert total(one, "parameters") == ("complete", 72)
    assert total(many, "parameters") == ("complete", 7200)
    for metric in ("module_flops", "macs", "dmas", "operator_flops", "operator_macs"):
        assert total(one, metric) == total(many, metric)


def test_parameters_of_a_huge_model_need_no_memory():
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(100_000, 100_000), nn.Linear(100_000, 100_000))
    report = crawl_module(model, (100_000,))
    assert total(report, "parameters") == ("complete", 2 * (10**10 + 10**5))
    assert total(report, "macs") == ("complete", 2 * 10**10)
