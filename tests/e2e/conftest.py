"""One empty network and one Prism for all tests of a worker; a fresh GitHub for each test, and the judge at its end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.rig.interpreter import torch_only_interpreter
from support.rig.network import Network, isolated_network
from support.rig.openapi import write_trimmed
from support.rig.prism import Prism, prism_proxy
from support.rig.server import FakeGitHub, fake_github


@pytest.fixture(scope="session")
def network() -> Iterator[Network]:
    with isolated_network() as made:
        yield made


@pytest.fixture(scope="session")
def proxied(network: Network, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeGitHub, Prism]]:
    yield from _behind_prism(network, tmp_path_factory.mktemp("prism"), "api.github.com", prefix="")


@pytest.fixture(scope="session")
def proxied_ghes(network: Network, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeGitHub, Prism]]:
    yield from _behind_prism(network, tmp_path_factory.mktemp("prism-ghes"), "ghes-3.19", prefix="/api/v3")


def _behind_prism(network: Network, folder: Path, name: str, *, prefix: str) -> Iterator[tuple[FakeGitHub, Prism]]:
    document = write_trimmed(folder / "openapi.json", name, prefix=prefix)
    with (
        fake_github(network, prefix=prefix) as github,
        prism_proxy(network, document, github.own_url, folder / "prism.log") as prism,
    ):
        github.public_url = prism.url
        yield github, prism


@pytest.fixture
def github(proxied: tuple[FakeGitHub, Prism]) -> Iterator[FakeGitHub]:
    """A fresh fake GitHub; the test fails when a request or an answer broke GitHub's description."""
    yield from _judged(*proxied)


@pytest.fixture
def ghes(proxied_ghes: tuple[FakeGitHub, Prism]) -> Iterator[FakeGitHub]:
    """The same on GitHub Enterprise Server, under ``/api/v3``."""
    yield from _judged(*proxied_ghes)


def _judged(github: FakeGitHub, prism: Prism) -> Iterator[FakeGitHub]:
    before = len(prism.violations())
    github.reset()
    yield github
    assert prism.violations()[before:] == []


@pytest.fixture(scope="session")
def torch_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's interpreter: torch and nothing of ours."""
    return torch_only_interpreter(tmp_path_factory.mktemp("user") / "venv")
