"""The documented workflows as they stand there; only the installation of torch, which the rig has, is dropped."""

from __future__ import annotations

import re

from support.components import REPOSITORY


def recipe(heading: str) -> list[str]:
    """Give the workflows below a heading of the recipes."""
    text = (REPOSITORY / ".github" / "docs" / "recipes.md").read_text(encoding="utf-8")
    part = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```yaml\n(.*?)^```", part, flags=re.MULTILINE | re.DOTALL)
    assert blocks, f"the recipes lost their heading {heading!r}"
    return [re.sub(r"^\s*- run: .*pip install.*\n", "", block, flags=re.MULTILINE) for block in blocks]
