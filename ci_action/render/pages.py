"""The artifact: an index page, one page per target, and the verdict as JSON. Each file works alone, offline."""

from __future__ import annotations

from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from ci_action.core.document import to_json, verdict_document
from ci_action.core.metrics import label
from ci_action.render.benchmark_page import benchmark_page
from ci_action.render.escape import name
from ci_action.render.headline import state_counts
from ci_action.render.index_view import Links, index_columns, index_rows, limits_in_words
from ci_action.render.lines import plain_commits
from ci_action.render.markdown import rows_table
from torchscan.render.document import render_report
from torchscan.render.page import packed
from torchscan.render.templates import environment, source
from torchscan.render.units import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ci_action.core.facts import Facts
    from ci_action.core.plan import Plan
    from ci_action.core.spec import TargetResult
    from ci_action.core.verdict import TargetVerdict, Verdict
    from ci_action.render.view import Results, View
    from torchscan.report.analysis import AnalysisReport

HIDE_EQUAL_ABOVE = 20
"""From this many targets on the index opens without the unchanged ones."""

MOST_COPIED_ROWS = 100
"""Rows of "What changed" that the page also holds as Markdown."""
MOST_ROWS = 500
"""Rows of "What changed"; those beyond are in the verdict's JSON."""
MOST_LISTED_FILES = 100
SUMS = "SHA256SUMS"
"""Where the sums of more files than the page lists are kept, as ``sha256sum -c`` reads them."""
_COLUMNS = {
    "failed": ("Target", "Side", "Stage", "What happened"),
    "changed": ("Result", "Target", "Metric", "Base", "Head", "Change", "Limit"),
    "causes": ("Module call", "Target", "Metric", "Base", "Head", "Change"),
    "limits": ("Targets", "Metric", "Limit", "When exceeded"),
    "files": ("File", "Holds", "Size", "SHA-256"),
}
"""What a narrow page writes before each cell, by table."""
LARGEST_DOWNLOAD = 48_000
"""Characters of the packed verdict that the page carries along; a larger one lies beside it."""

_FIRST_MAP: Literal["operator_flops"] = "operator_flops"
"""The map that opens first: the one whose rows can be complete on any model and add up to the total."""

_WAY_BACK = '<nav class="note" aria-label="Report"><a href="index.html">All targets</a></nav>'


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file of the artifact, and what it holds in words."""

    words: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileView:
    """One file of the artifact, so that a reader can tell whether it is the one that was made."""

    name: str
    words: str
    size: str
    sha256: str


def make_pages(view: View, verdict: Verdict, plan: Plan, facts: Facts, results: Results) -> dict[str, str]:
    """Build every file of the report."""
    files: dict[str, PageFile] = {}
    links: dict[str, Links] = {}
    for index, target in enumerate(verdict.targets):
        own = _target_pages(index, target, plan, facts, results)
        links[target.id] = Links(*(next((file for file in own if file.startswith(kind)), None) for kind in "mb"))
        files |= own
    files["result.json"] = PageFile("the verdict as JSON", to_json(verdict_document(verdict, plan)))
    if len(files) > MOST_LISTED_FILES:
        files[SUMS] = PageFile("SHA-256 of every other file", _sums(files))
    index_page = _index(view, verdict, plan, facts, links, files)
    return {"index.html": index_page, **{file: content.text for file, content in files.items()}}


def _target_pages(index: int, target: TargetVerdict, plan: Plan, facts: Facts, results: Results) -> dict[str, PageFile]:
    """Draw a target's model and its benchmark, as far as there is something to draw. Names never come from targets."""
    found = {}
    model = None if facts.is_foreign else _target_page(target.id, results)  # what crossed holds no whole tree
    if model is not None:
        found[f"m-{index:03d}.html"] = PageFile(f"model of {name(target.id)}", model)
    benchmark = benchmark_page(
        target,
        commits=plain_commits(plan),
        version=facts.torchscan_version,
        model_page=next(iter(found), None),
    )
    if benchmark is not None:
        found[f"b-{index:03d}.html"] = PageFile(f"benchmark of {name(target.id)}", benchmark)
    return found


def _target_page(identity: str, results: Results) -> str | None:
    """Draw a target: both sides, or the one that can be drawn. A report that is refused costs its page, not the run."""
    base, head = (_report(side, identity) for side in (results.base, results.head))
    title = name(identity)
    for report, before, words in (
        (head, base, title),
        (head, None, f"{title} (head only)"),
        (base, None, f"{title} (base only)"),
    ):
        if report is not None:
            with suppress(ValueError):
                return _with_way_back(render_report(report, before=before, title=words, metric=_FIRST_MAP))
    return None


def _with_way_back(page: str) -> str:
    """Link the index from a page of the library, which knows no index. Nothing that it escaped can open a header."""
    return page.replace("<header>", f"<header>\n{_WAY_BACK}", 1)


def _report(side: Mapping[str, TargetResult], identity: str) -> AnalysisReport | None:
    result = side.get(identity)
    return result["report"] if result else None


def _index(
    view: View,
    verdict: Verdict,
    plan: Plan,
    facts: Facts,
    links: Mapping[str, Links],
    files: Mapping[str, PageFile],
) -> str:
    columns = index_columns(verdict)
    script = source("ci_action", "index.js")
    base_config = plan.base_config
    jinja = environment("ci_action", autoescape=True)
    return jinja.get_template("index.html.j2").render(
        view=view,
        verdict=verdict,
        facts=facts,
        commits=plain_commits(plan),
        columns=[label(metric) for metric in columns],
        counts=state_counts(verdict),
        rows=index_rows(verdict, columns, links),
        hides_equal=len(verdict.targets) > HIDE_EQUAL_ABOVE,
        limits=limits_in_words(base_config.limits if base_config else ()),
        run=_run_facts(plan, facts),
        files=[] if SUMS in files else [_file(file, content) for file, content in files.items()],
        sums=SUMS if SUMS in files else "",
        file_count=len(files),
        file_size=text(sum(len(content.text.encode()) for content in files.values()), "bytes"),
        most_rows=MOST_ROWS,
        copied=rows_table(view.rows) if 0 < len(view.rows) <= MOST_COPIED_ROWS else "",
        download=_download(files["result.json"].text),
        name=name,
        style=source("ci_action", "index.css").replace("NARROW_LABELS", _narrow_labels(columns)),
        script=script,
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _run_facts(plan: Plan, facts: Facts) -> list[tuple[str, str]]:
    commits = plan.commits
    found = [
        ("Head", commits.head_sha),
        ("Measured commit", commits.measured_sha if commits.measured_sha != commits.head_sha else ""),
        ("Base", f"{commits.base_sha} ({commits.base_ref}: {commits.base_reason})" if commits.base_sha else "none"),
        (
            "Limits from",
            f"{plan.base_config.source} at base" if plan.base_config else f"nowhere: {plan.why_report_only}",
        ),
        ("torchscan", facts.torchscan_version),
        ("Machine", facts.platform),
        ("Repository", facts.repository or ""),
        ("Run", f"{facts.run_id}, attempt {facts.run_attempt}" if facts.run_id else ""),
        ("Code of the fork", facts.fork or ""),
        ("Reproduce", facts.reproduction or ""),
    ]
    return [(title, name(value, 300)) for title, value in found if value]


def _narrow_labels(metrics: Sequence[str]) -> str:
    """Write the labels of a narrow page's cells as rules: in every cell they would be a third of the page."""
    tables = {**_COLUMNS, "targets": ("Result", "Target", *map(label, metrics))}
    return "\n".join(
        f'  #{table} td:nth-child({at})::before, #{table} th:nth-child({at})::before {{ content: "{words}"; }}'
        for table, labels in tables.items()
        for at, words in enumerate(labels, start=1)
    )


def _sums(files: Mapping[str, PageFile]) -> str:
    return "".join(f"{sha256(content.text.encode()).hexdigest()}  {file}\n" for file, content in files.items())


def _download(verdict_json: str) -> str:
    """Carry the verdict along, so that the page tells all even where it stands alone."""
    address = packed(verdict_json)
    return address if len(address) <= LARGEST_DOWNLOAD else ""


def _file(file: str, content: PageFile) -> FileView:
    data = content.text.encode("utf-8")
    return FileView(name=file, words=content.words, size=text(len(data), "bytes"), sha256=sha256(data).hexdigest())
