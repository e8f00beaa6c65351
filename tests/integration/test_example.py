"""The bundled example: what it builds, and the whole job on it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import torch

from ci_action.example import HERE, build_repository
from ci_action.main import main
from torchscan import crawl_module

RESNET50_PARAMETERS = 23_512_130  # 25,557,032 of the 1,000-class network less 998 classes of 2,048 weights and a bias
GPT2_PARAMETERS = 124_439_808  # 50,257 x 768 + 1,024 x 768 + 12 x 7,087,872 + 2 x 768
GPT2_MACS = 16_114_089_984  # at 128 tokens: 31,624,200,192 / 2 in linear products, 603,979,776 / 2 in attention


@pytest.fixture
def zoo(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The example's package, as where transformers is not installed."""
    monkeypatch.syspath_prepend(str(HERE / "base"))
    for name in ("gpt", "resnet"):
        monkeypatch.setattr(import_module(f"zoo.{name}"), "find_spec", lambda _: None)
    yield sys.modules["zoo"]
    for name in [name for name in sys.modules if name.split(".")[0] == "zoo"]:
        del sys.modules[name]


def test_without_transformers_the_same_networks_are_built_in_plain_torch(zoo: ModuleType) -> None:
    with torch.device("meta"):
        resnet, gpt = zoo.resnet.resnet50(), zoo.gpt.gpt2()  # type: ignore[attr-defined]
    assert type(resnet).__module__.startswith("zoo.")
    assert sum(parameter.numel() for parameter in resnet.parameters()) == RESNET50_PARAMETERS
    assert sum(parameter.numel() for parameter in gpt.parameters()) == GPT2_PARAMETERS


def test_the_plain_gpt_does_the_same_work(zoo: ModuleType) -> None:
    with torch.device("meta"):
        gpt, ids = zoo.gpt.gpt2(), torch.zeros(1, 128, dtype=torch.long)  # type: ignore[attr-defined]
    assert crawl_module(gpt, args=(ids,))["totals"]["operator_macs"]["value"] == GPT2_MACS


def test_the_two_states_differ_in_one_file(tmp_path: Path) -> None:
    build_repository(tmp_path / "repo")
    changed = [path.relative_to(HERE / "head").as_posix() for path in (HERE / "head").rglob("*.py")]
    assert changed == ["zoo/cnn.py"]
    assert (tmp_path / "repo" / "torchscan.toml").exists()


def test_the_demo_runs_the_whole_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("GITHUB_")]:
            patch.delenv(name)
        assert main(["demo", "--out", str(out), "--python", sys.executable]) == 0
    said = capsys.readouterr().out
    assert "Regression: cnn operator MACs" in said
    assert "exit code 1" in said
    assert said.rstrip().endswith(f"Report: {out / 'index.html'}")
    targets = {target["id"]: target for target in json.loads((out / "result.json").read_text())["targets"]}
    values = {
        identity: {row["metric"]: (row["base"]["value"], row["head"]["value"]) for row in target["rows"]}
        for identity, target in targets.items()
    }
    assert values["resnet50"]["parameters"] == (RESNET50_PARAMETERS,) * 2
    assert values["gpt2"]["parameters"] == (GPT2_PARAMETERS,) * 2
    assert values["gpt2"]["operator_macs"] == (GPT2_MACS,) * 2
    # 3x3 convolutions to 32 at 32x32, 64 at 16x16 and 128 (192) at 8x8, then a linear layer to 10 classes
    shared = 9 * (3 * 32 * 32**2 + 32 * 64 * 16**2)
    assert values["cnn"]["operator_macs"] == tuple(shared + 9 * 64 * width * 8**2 + width * 10 for width in (128, 192))
