"""The lines around the numbers: which commits, which run, under which conditions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ci_action.render.escape import code, name, prose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ci_action.core.facts import Facts
    from ci_action.core.plan import Plan
    from ci_action.core.spec import TargetResult

SHORT_SHA = 7
_VERSION = re.compile(r"\d[0-9A-Za-z.+]{0,30}")


def facts_line(plan: Plan, facts: Facts) -> str:
    """Write ``head a1b2c3d vs base 9f8e7d6 (main) · run 7101 · HTML reports``."""
    head = _commit(plan.commits.head_sha, facts)
    base = "no base" if plan.commits.base_sha is None else f"base {_commit(plan.commits.base_sha, facts)}"
    parts = [f"head {head} vs {base}"]
    url = facts.repository_url
    if url and facts.run_id is not None:
        parts.append(f"[run {facts.run_id}]({url}/actions/runs/{facts.run_id})")
    if facts.artifact_url:
        parts.append(f"[HTML reports]({facts.artifact_url}) (zip, sign-in)")
    return " · ".join(parts)


def conditions(plan: Plan, facts: Facts, results: Iterable[TargetResult], *, has_timings: bool) -> list[str]:
    """List under which conditions the numbers hold, for the footer."""
    torch = _versions(results)
    threads = plan.policy.threads
    machine = [_words(facts.platform)] if facts.platform else []
    machine += [f"{threads} thread{'' if threads == 1 else 's'}"] if threads else []
    commits = plan.commits
    parts = [
        f"torchscan {name(facts.torchscan_version)} on both sides",
        f"torch {' and '.join(map(_words, torch))}" if torch else "",
        ", ".join(machine),
        f"limits: {code(plan.base_config.source)} at base"
        if plan.base_config
        else f"limits: none, {plan.why_report_only}",
        f"base {code(commits.base_ref)}: {_words(commits.base_reason)}" if commits.base_sha else "",
        "FLOPs, MACs and parameters are formula counts, not speed",
        "latency is a block median, not request p95" if has_timings else "",
    ]
    return [part for part in parts if part]


def plain_commits(plan: Plan) -> str:
    """Write both commits without links: ``base 9f8e7d6 → head a1b2c3d``."""
    base = plan.commits.base_sha
    return f"base {base[:SHORT_SHA] if base else 'none'} → head {plan.commits.head_sha[:SHORT_SHA]}"


def _commit(sha: str, facts: Facts) -> str:
    short = f"`{sha[:SHORT_SHA]}`"
    return f"[{short}]({facts.repository_url}/commit/{sha})" if facts.repository_url else short


def _versions(results: Iterable[TargetResult]) -> list[str]:
    """Name each torch version once, base's first."""
    found = [result["report"]["context"]["torch_version"] for result in results if result["report"]]
    return list(dict.fromkeys(found))


def _words(text: str) -> str:
    """Give plain words as they are; anything that could act in Markdown as code."""
    return text if prose(text) == text or _VERSION.fullmatch(text) else code(text)


def reproduction(facts: Facts) -> str:
    """Write the command that does the same elsewhere."""
    return f"Reproduce: {code(facts.reproduction, length=300)}" if facts.reproduction else ""
