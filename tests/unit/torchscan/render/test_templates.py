"""The one loader: a checkout reads templates/, a wheel reads the copies inside the package, escaping is explicit."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import UndefinedError
from support.components import REPOSITORY

from torchscan.render import templates


def test_a_checkout_reads_the_repository_even_beside_a_stale_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "_ROOT", REPOSITORY)  # CI runs this from an installed wheel

    folder = templates.template_folder("torchscan")

    assert folder.parts[-2:] == ("templates", "torchscan")
    assert (folder / "report.html.j2").is_file()


def test_an_installed_package_reads_its_own_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "_ROOT", tmp_path)

    assert templates.template_folder("torchscan") == tmp_path / "torchscan" / "_templates"
    assert templates.template_folder("ci_action") == tmp_path / "ci_action" / "_templates"


def test_markup_is_escaped_and_markdown_is_not() -> None:
    on, off = (templates.environment("torchscan", autoescape=flag) for flag in (True, False))

    assert on.from_string("{{ name }}").render(name="<b>") == "&lt;b&gt;"
    assert off.from_string("{{ name }}").render(name="<b>") == "<b>"


def test_an_undefined_name_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        templates.environment("torchscan", autoescape=True).from_string("{{ nothing }}").render()
