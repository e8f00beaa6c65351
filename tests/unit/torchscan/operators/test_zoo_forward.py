"""The zoo's evaluation forwards: complete, right in their products, and equal to PyTorch's counter in its own view."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import torch
from support.zoo import ZOO
from torch.utils.flop_counter import FlopCounterMode

from torchscan.operators.counter import OperatorCounter

pytestmark = pytest.mark.filterwarnings("ignore")

with (Path(__file__).parents[3] / "support/zoo_reference.tsv").open(encoding="utf-8") as lines:
    REFERENCE = {line["model"]: line for line in csv.DictReader(lines, delimiter="\t")}

# The reference has no number for the quantized model: two layers of 2 x 16 x 32 and 2 x 32 x 4.
PRODUCT_FLOPS = {
    **{name: int(line["product_flops_explicit"]) for name, line in REFERENCE.items()},
    "plain_quantized_dynamic": 2 * (2 * 16 * 32 + 2 * 32 * 4),
}
# PyTorch's module tracker asserts on a view of a parameter under no_grad; ours must not.
CRASHES_PYTORCH_S_COUNTER = {"perceiver"}


@pytest.mark.parametrize("name", ZOO)
def test_a_forward_is_complete_and_its_products_are_right(name: str) -> None:
    module, args, kwargs = ZOO[name]()
    module.eval()
    extended, native, reference = OperatorCounter(), OperatorCounter(formulas="native"), FlopCounterMode(display=False)

    with torch.no_grad(), extended:
        module(*args, **kwargs)
    report = extended.report()

    assert report["diagnostics"] == []
    assert report["total"]["status"] == "complete"
    assert extended.total.is_macs_complete
    assert 2 * extended.total.macs == PRODUCT_FLOPS[name]
    if name in CRASHES_PYTORCH_S_COUNTER:
        return
    for counter in (native, reference):
        torch.manual_seed(1)
        with torch.no_grad(), counter:
            module(*args, **kwargs)
    theirs = reference.get_flop_counts().get("Global", {})
    assert native.report()["by_operator"] == {str(operator): count for operator, count in theirs.items()}
    assert native.total.macs == extended.total.macs


# Every plain model, and of the rest those that dispatch composites of a kind of their own.
WHOLE_COMPOSITES = [name for name in ZOO if name.startswith("plain_")] + [
    "beit", "depth_anything", "detr", "fnet", "llama_gqa", "mixtral_moe", "segformer", "t5", "vits",
]  # fmt: skip


@pytest.mark.parametrize("name", WHOLE_COMPOSITES)
def test_inference_mode_counts_what_no_grad_counts(name: str) -> None:
    counts = []
    for mode in (torch.no_grad, torch.inference_mode):
        module, args, kwargs = ZOO[name]()
        module.eval()
        torch.manual_seed(1)
        counter = OperatorCounter()
        with mode(), counter:
            module(*args, **kwargs)
        counts.append((counter.total.flops, counter.total.macs, counter.report()["total"]["status"]))

    assert counts[0] == counts[1]
