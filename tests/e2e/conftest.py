"""One empty network and one Prism for all tests of a worker; a fresh GitHub for each test, and the judge at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.components import REPOSITORY, need
from support.rig.interpreter import torch_only_interpreter
from support.rig.network import Network, isolated_network
from support.rig.openapi import write_trimmed
from support.rig.prism import Prism, prism_proxy
from support.rig.repository import Consumer, export_working_tree
from support.rig.runner import Runner
from support.rig.scene import Scene
from support.rig.server import FakeGitHub, fake_github

SceneMaker = Callable[[Path, Consumer], Scene]


@pytest.fixture(scope="session")
def network() -> Iterator[Network]:
    with isolated_network() as made:
        yield made


@pytest.fixture(scope="session")
def proxied(network: Network, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeGitHub, Prism]]:
    with _behind_prism(network, tmp_path_factory.mktemp("prism"), "api.github.com", prefix="") as served:
        yield served


@pytest.fixture(scope="session")
def proxied_ghes(network: Network, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeGitHub, Prism]]:
    with _behind_prism(network, tmp_path_factory.mktemp("ghes"), "ghes-3.19", prefix="/api/v3") as served:
        yield served


@contextmanager
def _behind_prism(network: Network, folder: Path, name: str, *, prefix: str) -> Iterator[tuple[FakeGitHub, Prism]]:
    document = write_trimmed(folder / "openapi.json", name, prefix=prefix)
    with (
        fake_github(network, prefix=prefix) as github,
        prism_proxy(network, document, github.own_url, folder / "prism.log") as prism,
    ):
        github.public_url = prism.url
        yield github, prism


@contextmanager
def _judged(github: FakeGitHub, prism: Prism) -> Iterator[FakeGitHub]:
    before = len(prism.violations())
    github.reset()
    yield github
    assert prism.violations()[before:] == []


@pytest.fixture
def github(proxied: tuple[FakeGitHub, Prism]) -> Iterator[FakeGitHub]:
    """A fresh fake GitHub; the test fails when a request or an answer broke GitHub's description."""
    with _judged(*proxied) as fresh:
        yield fresh


@pytest.fixture(scope="module")
def shared_github(proxied: tuple[FakeGitHub, Prism]) -> Iterator[FakeGitHub]:
    """The same for all tests of a module that look at one story; no other test may come in between."""
    with _judged(*proxied) as fresh:
        yield fresh


@pytest.fixture
def ghes(proxied_ghes: tuple[FakeGitHub, Prism]) -> Iterator[FakeGitHub]:
    """The same on GitHub Enterprise Server, under ``/api/v3``."""
    with _judged(*proxied_ghes) as fresh:
        yield fresh


@pytest.fixture(scope="session")
def torch_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's interpreter: torch, pip and nothing of ours."""
    return torch_only_interpreter(tmp_path_factory.mktemp("user") / "venv")


@pytest.fixture(scope="session")
def action(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our action the way a runner would fetch it from a commit of this working tree."""
    return export_working_tree(REPOSITORY, tmp_path_factory.mktemp("action"))


@pytest.fixture(scope="session")
def make_scene(network: Network, torch_python: Path, action: Path, proxied: tuple[FakeGitHub, Prism]) -> SceneMaker:
    """Put a consumer onto the fake GitHub, with a runner that works in a folder."""
    wheelhouse = need("wheelhouse").parent

    def make(folder: Path, consumer: Consumer) -> Scene:
        github = proxied[0]
        runner = Runner(
            network=network,
            folder=folder,
            action=action,
            python=torch_python,
            api_url=github.public_url,
            results_url=github.own_url,
            wheelhouse=wheelhouse,
        )
        return Scene(github, consumer, runner)

    return make
