"""A real Chromium that may not reach anything, and a page that remembers what it did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import Visit
from support.components import need

sync_api = pytest.importorskip("playwright.sync_api")

ARGUMENTS = [
    "--no-sandbox",  # tests run as root in containers
    "--disable-gpu",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    path = need("chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(path), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Visit]]:
    contexts = []

    def open_page(
        html: str,
        *,
        fragment: str = "",
        width: int = 1280,
        dark: bool = False,
        script: bool = True,
    ) -> Visit:
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_text(html, encoding="utf-8")
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
        )
        contexts.append(context)
        seen = Visit(context.new_page())
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.on("console", lambda message: seen.complaints.append(message.text))
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.goto(file.as_uri() + fragment)
        return seen

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def axe() -> str:
    return (need("axe")).read_text(encoding="utf-8")
