"""What is judged, planned and shown."""

from __future__ import annotations

from mutation import UNIT, of

MUTATIONS = [
    *of(
        f"{UNIT}/core/test_judging.py",
        "ci_action/core/judging.py",
        (
            "S13 head's limits count",
            "limits = plan.base_config.limits if plan.base_config else ()",
            "limits = plan.head_config.limits if plan.head_config else ()",
        ),
        (
            "B51 nothing measured is a pass",
            "if not any(target.is_measured or target.skipped for target in targets):",
            "if False:",
        ),
        (
            "B51 a lower bound passes",
            "if not is_complete(row.head):\n        return _UNJUDGED",
            "if False:\n        return _UNJUDGED",
        ),
        ("B44 a new target is held against nothing", "if row.word is Word.NEW:", "if False:"),
        (
            "S14 a label for another commit counts",
            "valid = accepted if accepted and accepted.head_sha == plan.commits.head_sha else None",
            "valid = accepted",
        ),
    ),
    *of(
        f"{UNIT}/core/test_planning.py",
        "ci_action/core/planning.py",
        ("S13 head chooses what is skipped", "or base != head:", "or False:"),
    ),
    *of(
        f"{UNIT}/render/test_escape.py",
        "ci_action/render/escape.py",
        ("S7 a bar ends the cell", '.replace("|", "\\\\|")', ""),
        (
            "S7 a backtick ends the span",
            'fence = "`" * (max(map(len, _BACKTICKS.findall(shown)), default=0) + 1)',
            'fence = "`"',
        ),
        ("S7 text that cannot be seen", 'if category(sign) in _HIDDEN and sign != " " else sign', "if False else sign"),
        (
            "S25 a marker inside data",
            'shown = _MARKER.sub(r"torchscan-action\\\\u{3a}", name(text, length))',
            "shown = name(text, length)",
        ),
    ),
    *of(
        f"{UNIT}/render/test_fit.py",
        "ci_action/render/fit.py",
        (
            "B2 characters instead of bytes",
            'if len(text.encode("utf-8")) <= most_bytes:',
            "if len(text) <= most_bytes:",
        ),
    ),
]
