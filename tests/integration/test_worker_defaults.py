"""Targets of one side share a process, and still nothing that one of them sets builds the next one differently."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from support.measuring import measured, spec

MODELS = dedent("""
    import torch
    from torch import nn

    def plain():
        return nn.Linear(4, 3), (torch.zeros(2, 4),)

    def careless():
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        torch.set_grad_enabled(False)
        torch.set_num_threads(torch.get_num_threads() + 1)
        return plain()

    class Careless(nn.Linear):
        def forward(self, x):
            torch.set_default_dtype(torch.float64)
            return super().forward(x)

    def careless_forward():
        return Careless(4, 3), (torch.zeros(2, 4),)

    def state():
        weight = nn.Linear(1, 1).weight
        raise RuntimeError(f"{weight.dtype} {weight.device} {torch.is_grad_enabled()} {torch.get_num_threads()}")
""")


def test_what_a_target_sets_ends_with_it(tmp_path: Path) -> None:
    root = tmp_path / "worktree"
    (root / "bench").mkdir(parents=True)
    (root / "bench" / "models.py").write_text(MODELS)
    names = ("careless", "state", "careless_forward", "state", "plain")
    results = measured(tmp_path, spec(root, *names))
    reports = [result["report"] for result in results]
    assert reports[0] is not None
    assert reports[0]["context"]["dtypes"] == ["torch.float64"]  # its own defaults are its own to set
    assert reports[0]["context"]["devices"] == ["meta"]
    states = [result["failure"]["message"] for result in results if result["failure"]]
    assert states == ["torch.float32 cpu True 1"] * 2
    assert reports[4] is not None
    assert reports[4]["context"]["dtypes"] == ["torch.float32"]


def test_what_a_file_sets_when_it_is_imported_holds_for_all_of_its_targets(tmp_path: Path) -> None:
    root = tmp_path / "worktree"
    (root / "bench").mkdir(parents=True)
    (root / "bench" / "models.py").write_text(f"{MODELS}\ntorch.set_default_dtype(torch.float64)\n")
    results = measured(tmp_path, spec(root, "plain", "state"))
    assert results[0]["report"] is not None
    assert results[0]["report"]["context"]["dtypes"] == ["torch.float64"]
    assert results[1]["failure"] is not None
    assert results[1]["failure"]["message"].startswith("torch.float64 cpu")
