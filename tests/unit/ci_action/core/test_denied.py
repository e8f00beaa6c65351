from __future__ import annotations

import pytest

from ci_action.core.config.denied import DENIED, is_denied
from ci_action.edges.workers import environment as worker_environment


@pytest.mark.parametrize(
    "name",
    ["GITHUB_TOKEN", "github_token", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "INPUT_TOKEN", "PYTHONPATH", "LD_PRELOAD"],
)
def test_credentials_and_replacements_of_our_code_are_denied(name: str) -> None:
    assert is_denied(name)


@pytest.mark.parametrize("name", ["HF_HOME", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "MY_GITHUB_TOKEN_FILE"])
def test_other_names_may_pass(name: str) -> None:
    assert not is_denied(name)


def test_the_config_refuses_what_the_worker_would_not_get() -> None:
    assert set(worker_environment.DENIED) == set(DENIED)
