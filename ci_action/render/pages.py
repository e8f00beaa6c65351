"""The artifact: an index page, one page per target, and the verdict as JSON. Each file works alone, offline."""

from __future__ import annotations

from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from ci_action.core.document import to_json, verdict_document
from ci_action.core.metrics import label
from ci_action.render.escape import name
from ci_action.render.headline import state_counts
from ci_action.render.index_view import index_columns, index_rows, limits_in_words
from ci_action.render.lines import plain_commits
from torchscan.render.document import render_report
from torchscan.render.templates import environment, source
from torchscan.render.units import text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ci_action.core.facts import Facts
    from ci_action.core.plan import Plan
    from ci_action.core.spec import TargetResult
    from ci_action.core.verdict import Verdict
    from ci_action.render.view import Results, View
    from torchscan.report.analysis import AnalysisReport

HIDE_EQUAL_ABOVE = 20
"""From this many targets on the index opens without the unchanged ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileView:
    """One file of the artifact, so that a reader can tell whether it is the one that was made."""

    name: str
    size: str
    sha256: str


def make_pages(view: View, verdict: Verdict, plan: Plan, facts: Facts, results: Results) -> dict[str, str]:
    """Build every file of the report."""
    files: dict[str, str] = {}
    names: dict[str, str] = {}
    for index, target in enumerate(verdict.targets):
        page = _target_page(target.id, results)
        if page is not None:
            names[target.id] = f"m-{index:03d}.html"
            files[names[target.id]] = page
    files["result.json"] = to_json(verdict_document(verdict, plan))
    return {"index.html": _index(view, verdict, plan, facts, names, files), **files}


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
                return render_report(report, before=before, title=words)
    return None


def _report(side: Mapping[str, TargetResult], identity: str) -> AnalysisReport | None:
    result = side.get(identity)
    return result["report"] if result else None


def _index(
    view: View, verdict: Verdict, plan: Plan, facts: Facts, names: Mapping[str, str], files: Mapping[str, str]
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
        rows=index_rows(verdict, columns, names),
        hides_equal=len(verdict.targets) > HIDE_EQUAL_ABOVE,
        limits=limits_in_words(base_config.limits if base_config else ()),
        run=_run_facts(plan, facts),
        files=[_file(file, content) for file, content in files.items()],
        name=name,
        style=source("ci_action", "index.css"),
        script=script,
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _run_facts(plan: Plan, facts: Facts) -> list[tuple[str, str]]:
    commits = plan.commits
    found = [
        ("Head", commits.head_sha),
        ("Measured commit", commits.measured_sha),
        ("Base", f"{commits.base_sha} ({commits.base_ref}: {commits.base_reason})" if commits.base_sha else "none"),
        ("Limits from", f"{plan.base_config.source} at base" if plan.base_config else "nowhere: base has no config"),
        ("torchscan", facts.torchscan_version),
        ("Machine", facts.platform),
        ("Repository", facts.repository or ""),
        ("Run", f"{facts.run_id}, attempt {facts.run_attempt}" if facts.run_id else ""),
        ("Code of the fork", facts.fork or ""),
        ("Reproduce", facts.reproduction or ""),
    ]
    return [(title, name(value, 300)) for title, value in found if value]


def _file(file: str, content: str) -> FileView:
    data = content.encode("utf-8")
    return FileView(name=file, size=text(len(data), "bytes"), sha256=sha256(data).hexdigest())
