"""One HTML file from a template: style, script and data inlined, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from torchscan.render.costs import VIEWS
from torchscan.render.evidence import Evidence
from torchscan.render.labels import METRICS, visible
from torchscan.render.module_rows import COLUMNS
from torchscan.render.templates import environment, source
from torchscan.render.tree_markup import cells_markup, tree_markup
from torchscan.render.units import exact

LARGEST_DOWNLOAD_BYTES = 1024**2
_OWNER = "torchscan"
_LABELS = 3  # a row of evidence begins with its call, input and output; costs follow
_SHEETS = {"report.html.j2": "model.css", "benchmark.html.j2": "benchmark.css"}


def html_page(template: str, page: Any, *, report_json: str, island: str = "") -> str:
    """Fill a template. ``report_json`` is offered as a download where it is small enough to carry along."""
    script = source(_OWNER, "report.js")
    written = (
        environment(_OWNER, autoescape=True)
        .get_template(template)
        .render(
            page=page,
            labels=METRICS,
            tree_markup=tree_markup,
            cells_markup=cells_markup,
            style=Markup(style_of(template)),  # noqa: S704 # our own file
            script=Markup(script),  # noqa: S704 # our own file; the policy names its hash
            script_hash=script_hash(script),
            island=Markup(island),  # noqa: S704 # JSON with every character of markup escaped
            download=packed(report_json),
        )
    )
    return visible(written)


def script_hash(script: str) -> str:
    """Name a script in a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


@lru_cache(maxsize=4)
def style_of(template: str) -> str:
    """Put a page's own rules before those of every page, which hold the last word on print.

    Some follow from tables: which map shows, how cells of a narrow page are labelled.
    """
    shown = ",\n".join(f":has([value={name}]:checked)~[data-metric={name}]" for name in VIEWS)
    cells = "\n".join(
        f'i:nth-child({at})::before{{content:"{METRICS[name]} "}}' for at, name in enumerate(COLUMNS, start=4)
    )
    own = source(_OWNER, _SHEETS[template])
    own = own.replace("VIEW_RULES", f"{shown}{{display:block}}").replace("CELL_LABELS", cells)
    return own + source(_OWNER, "report.css")


def json_island(value: Any) -> str:
    """Write JSON that may stand inside a script element: nothing in it can end the element or start markup."""
    written = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return written.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def evidence_island(found: Sequence[Evidence]) -> str:
    """Write evidence compactly. What comes up again is a number: notes and shapes into a table, columns into another.

    The script writes out the digits of the costs, which no other number of a row holds.
    """
    texts: Counter[str | int] = Counter([text for each in found for text in each.notes])
    texts.update([text for each in found for row in each.rows for text in row[:_LABELS]])
    strings = {text: at for at, text in enumerate([text for text, times in texts.items() if times > 1])}
    columns = {names: at for at, names in enumerate(dict.fromkeys([each.columns for each in found]))}
    rows = [
        [
            columns[each.columns],
            [[*_short(row[:_LABELS], strings), *map(_plain, row[_LABELS:])] for row in each.rows],
            _short(each.notes, strings),
        ]
        for each in found
    ]
    return json_island({"rows": rows, "columns": list(columns), "strings": [visible(str(text)) for text in strings]})


def _short(texts: Iterable[str | int], strings: Mapping[str | int, int]) -> list[str | int]:
    return [strings[text] if text in strings else visible(str(text)) for text in texts]


def _plain(cost: str | int) -> str | int:
    """Keep a number that a script reads without loss."""
    return cost if isinstance(cost, str) or 0 <= cost < 2**53 else exact(cost)


def packed(report_json: str) -> str:
    """Give JSON as the address of a gzip file inside the page; nothing where it is too large to carry along."""
    if not report_json or len(report_json) > LARGEST_DOWNLOAD_BYTES:
        return ""
    data = gzip.compress(report_json.encode(), mtime=0)  # no clock: equal reports give equal pages
    return f"data:application/gzip;base64,{base64.b64encode(data).decode()}"
