"""ResNet-50 and GPT-2 as transformers builds them, through `torchscan-ci run` on a real repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from support.rig.repository import consumer

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

CONFIG = """
schema-version = 1

[[targets]]
id = "resnet50"
factory = "bench/models.py:resnet50"

[[targets]]
id = "gpt2"
factory = "bench/models.py:gpt2"

[[limits]]
targets = ["*"]
metric = "parameters"
max-increase = "1%"
"""
MODELS = """
import torch
import transformers


def resnet50():
    config = transformers.ResNetConfig(num_labels={labels})
    return transformers.ResNetForImageClassification(config), (torch.zeros(1, 3, 224, 224),)


def gpt2():
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config())
    return model, (), {{"input_ids": torch.zeros(1, 128, dtype=torch.long)}}
"""
RESNET_PARAMETERS = 23_512_130
LABEL_PARAMETERS = 2048 + 1  # one more class is one more row of weights and one more bias
GPT2_PARAMETERS = 124_439_808


def gpt2_macs(tokens: int = 128, width: int = 768, layers: int = 12, vocabulary: int = 50_257) -> int:
    """Work out the products of GPT-2 by hand: per token and layer 12 width^2 in linear products, and the output head.

    Attention adds two products of tokens^2 x width per layer: queries with keys, and weights with values.
    """
    linear = tokens * (layers * 12 * width * width + width * vocabulary)
    return linear + layers * 2 * tokens * tokens * width


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("real")
    made = consumer(
        folder,
        base={"torchscan.toml": CONFIG, "bench/models.py": MODELS.format(labels=2)},
        head={"bench/models.py": MODELS.format(labels=10)},
    )
    command = [sys.executable, "-P", "-m", "ci_action", "run", "--base", "main", "--head", "feature", "--json"]
    command += ["--python", sys.executable, "--out", str(folder / "out")]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "NO_COLOR": "1", "TRANSFORMERS_VERBOSITY": "error"}
    done = subprocess.run(command, cwd=made.clone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def value(document: dict[str, Any], target: str, metric: str, side: str) -> int:
    rows = next(entry["rows"] for entry in document["targets"] if entry["id"] == target)
    number: int = next(row[side]["value"] for row in rows if row["metric"] == metric)
    return number


def test_the_worked_number_is_the_published_one() -> None:
    assert gpt2_macs() == 16_114_089_984 == 31_624_200_192 // 2 + 603_979_776 // 2


def test_resnet50_has_its_published_parameters_and_grows_by_eight_classes(document: dict[str, Any]) -> None:
    assert value(document, "resnet50", "parameters", "base") == RESNET_PARAMETERS
    assert value(document, "resnet50", "parameters", "head") == RESNET_PARAMETERS + 8 * LABEL_PARAMETERS


@pytest.mark.parametrize("side", ["base", "head"])
def test_gpt2_counts_tied_weights_once_and_its_attention_wholly(document: dict[str, Any], side: str) -> None:
    assert value(document, "gpt2", "parameters", side) == GPT2_PARAMETERS
    assert value(document, "gpt2", "operator_macs", side) == gpt2_macs()
