"""The palette itself: text stays readable, shapes stay visible, and no pair of meanings merges for any eye.

axe cannot judge text inside SVG, so this does. Contrast is WCAG 2; distance is CIE76 in Lab after simulating the three
colour deficiencies with the matrices of Machado, Oliveira and Fernandes (2009) at full severity.
"""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from torchscan.render.svg import FILLS
from torchscan.render.templates import source

CSS = source("torchscan", "report.css")
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+):(#[0-9a-f]{6})", block)) for block in re.findall(r":root\{(.*?)\}", CSS, re.DOTALL)[:2]
)
THEMES = {"light": LIGHT, "dark": DARK}
SIMULATIONS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour: str) -> tuple[float, ...]:
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: tuple[float, ...]) -> tuple[float, float, float]:
    red, green, blue = (min(1.0, max(0.0, c)) for c in rgb)
    xyz = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883,
    )
    x, y, z = (c ** (1 / 3) if c > 0.008856 else 7.787 * c + 16 / 116 for c in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one: str, other: str, simulation: str) -> float:
    matrix = SIMULATIONS[simulation]
    seen = [
        lab(tuple(sum(weight * c for weight, c in zip(row, linear(colour), strict=True)) for row in matrix))
        for colour in (one, other)
    ]
    return sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("text", ["fg", "muted", "link", "worse", "better"])
def test_text_is_readable_on_page_and_panel(theme: str, text: str) -> None:
    colours = THEMES[theme]

    assert min(contrast(colours[text], colours[ground]) for ground in ("bg", "panel")) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("fill", ["same-fill", *[f"{way}{step}" for way in ("worse", "better") for step in (1, 2, 3)]])
def test_labels_are_readable_on_every_fill(theme: str, fill: str) -> None:
    assert contrast(THEMES[theme]["fg"], THEMES[theme][fill]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_shapes_are_outlined_against_page_and_panel(theme: str) -> None:
    assert min(contrast(THEMES[theme]["stroke"], THEMES[theme][ground]) for ground in ("bg", "panel")) >= 3


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("simulation", SIMULATIONS)
@pytest.mark.parametrize("step", [1, 2, 3])
def test_worse_better_and_unchanged_stay_apart_for_every_eye(theme: str, simulation: str, step: int) -> None:
    meanings = [THEMES[theme][name] for name in (f"worse{step}", f"better{step}", "same-fill")]

    assert min(distance(one, other, simulation) for one, other in combinations(meanings, 2)) >= 10


def test_the_drawing_uses_the_palette_of_the_page() -> None:
    named = {name: colour for name, colour in FILLS.items() if name[-1].isdigit()}

    assert named == {name: LIGHT[name] for name in named}
    assert FILLS["same"] == LIGHT["same-fill"]


def test_dark_colours_are_for_screens_only() -> None:
    assert re.findall(r"@media ([^{]*)prefers-color-scheme:dark", CSS) == ["screen and ("]
