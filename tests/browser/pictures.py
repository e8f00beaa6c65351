"""python tests/browser/pictures.py REPORT_FOLDER: the README's pictures, from a real run's pages (`torchscan-ci demo`).

Light and dark, wide and narrow; 256 colours keep each under about 60 KiB.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from playwright.sync_api import sync_playwright

OUT = Path(__file__).resolve().parents[2] / ".github/docs/images"
SHOTS: list[tuple[str, str, Literal["light", "dark"], tuple[int, int]]] = [
    ("page-light", "m-000.html", "light", (1180, 900)),
    ("page-dark", "m-000.html", "dark", (1180, 900)),
    ("index-light", "index.html", "light", (1180, 620)),
    ("index-narrow", "index.html", "dark", (390, 620)),
]


def shoot(browser: Any, folder: Path) -> None:
    for name, page_name, scheme, (width, height) in SHOTS:
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto((folder / page_name).resolve().as_uri())
        picture = Image.open(io.BytesIO(page.screenshot()))
        picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(OUT / f"{name}.png", optimize=True)
        print(name, (OUT / f"{name}.png").stat().st_size // 1024, "KiB")


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        shoot(browser, Path(sys.argv[1]))
        browser.close()


if __name__ == "__main__":
    main()
