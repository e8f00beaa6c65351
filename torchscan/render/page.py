"""One HTML file from a template: style, script and data inlined, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from torchscan.render.costs import VIEWS
from torchscan.render.evidence import Evidence
from torchscan.render.labels import METRICS, visible
from torchscan.render.module_rows import COLUMNS
from torchscan.render.templates import environment, source

LARGEST_DOWNLOAD_BYTES = 1024**2
_OWNER = "torchscan"


def html_page(template: str, page: Any, *, report_json: str, island: str = "") -> str:
    """Fill a template. ``report_json`` is offered as a download where it is small enough to carry along."""
    script = source(_OWNER, "report.js")
    written = (
        environment(_OWNER, autoescape=True)
        .get_template(template)
        .render(
            page=page,
            labels=METRICS,
            style=Markup(_style()),  # noqa: S704 # our own file
            script=Markup(script),  # noqa: S704 # our own file; the policy names its hash
            script_hash=script_hash(script),
            island=Markup(island),  # noqa: S704 # JSON with every character of markup escaped
            download=_download(report_json),
        )
    )
    return visible(written)


def script_hash(script: str) -> str:
    """Name a script in a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


@lru_cache(maxsize=1)
def _style() -> str:
    """Complete the style sheet with rules that follow from tables: which map shows, how narrow cells are labelled."""
    views = "\n".join(f"section:has([value={name}]:checked) [data-metric={name}]{{display:block}}" for name in VIEWS)
    cells = "\n".join(
        f'.r i:nth-child({at})::before{{content:"{METRICS[name]} "}}' for at, name in enumerate(COLUMNS, start=4)
    )
    return source(_OWNER, "report.css").replace("VIEW_RULES", views).replace("CELL_LABELS", cells)


def json_island(value: Any) -> str:
    """Write JSON that may stand inside a script element: nothing in it can end the element or start markup."""
    written = json.dumps(value, separators=(",", ":"))
    return written.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def evidence_island(found: Sequence[Evidence | None]) -> str:
    """Write evidence as numbers into one table of strings."""
    strings: dict[str, int] = {}
    columns: dict[tuple[str, ...], int] = {}

    def at(text: str) -> int:
        return strings.setdefault(text, len(strings))

    rows = [
        [
            columns.setdefault(each.columns, len(columns)),
            [[at(cell) for cell in row] for row in each.rows],
            [at(note) for note in each.notes],
        ]
        for each in found
        if each is not None
    ]
    heads = [[at(name) for name in names] for names in columns]
    return json_island({"rows": rows, "columns": heads, "strings": [visible(text) for text in strings]})


def _download(report_json: str) -> str:
    if not report_json or len(report_json) > LARGEST_DOWNLOAD_BYTES:
        return ""
    packed = gzip.compress(report_json.encode(), mtime=0)  # no clock: equal reports give equal pages
    return f"data:application/gzip;base64,{base64.b64encode(packed).decode()}"
