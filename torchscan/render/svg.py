"""The map of one metric as a standalone SVG: no script, no reference to anything outside, readable by any viewer."""

from __future__ import annotations

from dataclasses import dataclass

from torchscan.render.labels import METRICS, shorten, visible
from torchscan.render.map_view import MOST_CHIPS, Bar, Chip, MapView
from torchscan.render.page_view import Page
from torchscan.render.templates import environment
from torchscan.render.totals_view import Total

WIDTH = 1200
MARGIN = 24
_LINE = 20
_CHIP_HEIGHT = 22
_CHARACTER = 7.0  # mean width of a 12 px system font
_MOST_BARS = 10

FILLS = {
    "same": "#ececec",
    "part": "url(#hatch)",
    "new": "#ffffff",
    "gone": "none",
    "worse1": "#fbd9c3",
    "worse2": "#f0b080",
    "worse3": "#d9782f",
    "better1": "#c4def7",
    "better2": "#92c5ef",
    "better3": "#4d9ad6",
}


@dataclass(frozen=True, slots=True)
class Placed:
    """A chip or a legend entry at its place."""

    x: float
    y: int
    width: float
    text: str
    look: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything on the sheet, top to bottom."""

    height: int
    view: MapView
    total: Total
    map_y: int
    legend: list[Placed]
    chips: list[Placed]
    notes: list[tuple[int, str]]
    bars: list[tuple[int, Bar]]
    bars_y: int
    facts: str


def svg_page(page: Page) -> str:
    """Draw the page's chosen metric."""
    view = next(view for view in page.maps if view.metric == page.metric)
    drawing = _drawing(page, view)
    written = (
        environment("torchscan", autoescape=True)
        .get_template("report.svg.j2")
        .render(page=page, drawing=drawing, label=METRICS[page.metric], fills=FILLS, width=WIDTH, margin=MARGIN)
    )
    return visible(written)


def _drawing(page: Page, view: MapView) -> Drawing:
    total = next((total for total in page.totals if total.name == page.metric), None)
    if total is None:
        raise ValueError(f"totals: the report has no {page.metric}, so it cannot be drawn")
    map_y = 132 + (_LINE if page.withheld else 0)
    y = map_y + (view.height if view.tiles else 0) + 12
    legend = _flow([(text, look) for look, text in _legend(is_comparison=page.is_comparison)], y)
    y = legend[-1].y + _CHIP_HEIGHT + 10
    notes = []
    if view.gap:
        notes.append((y + 12, view.gap))
        y += _LINE
    if view.culled:
        notes.append((y + 12, f"{view.culled} small blocks are too narrow to draw."))
        y += _LINE
    chips: list[Placed] = []
    if view.chips:
        notes.append((y + 12, "Without width; chips have no scale:"))
        chips = _flow([(_chip_text(chip), "chip") for chip in view.chips[:MOST_CHIPS]], y + _LINE)
        y = chips[-1].y + _CHIP_HEIGHT + 10
    if view.more_chips:
        notes.append((y + 12, f"and {view.more_chips} more"))
        y += _LINE
    bars_y = y + 24
    bars = [(bars_y + 12 + _LINE * (1 + at), bar) for at, bar in enumerate(view.bars[:_MOST_BARS])]
    height = (bars[-1][0] if bars else y) + 28
    return Drawing(height, view, total, map_y, legend, chips, notes, bars, bars_y, shorten(page.fact_line, 170))


def _legend(*, is_comparison: bool) -> list[tuple[str, str]]:
    if not is_comparison:
        return [("same", "complete"), ("part", "hatched: lower bound ≥")]
    return [
        ("same", "unchanged"),
        ("part", "hatched: lower bound ≥"),
        *[(f"worse{step}", f"more, {size}") for step, size in enumerate(("≤ 1%", "≤ 10%", "above"), start=1)],
        *[(f"better{step}", f"less, {size}") for step, size in enumerate(("≤ 1%", "≤ 10%", "above"), start=1)],
        ("new", "dashed: new"),
        ("gone", "outlined: removed"),
    ]


def _chip_text(chip: Chip) -> str:
    return f"{chip.name}: {chip.state}"


def _flow(items: list[tuple[str, str]], y: int) -> list[Placed]:
    """Set items in rows, each as wide as its text."""
    placed = []
    x = float(MARGIN)
    for text, look in items:
        width = round(len(text) * _CHARACTER + (20 if look == "chip" else 34), 1)
        if x + width > WIDTH - MARGIN and x > MARGIN:
            x, y = float(MARGIN), y + _CHIP_HEIGHT + 6
        placed.append(Placed(round(x, 1), y, width, text, look))
        x += width + (6 if look == "chip" else 10)
    return placed
