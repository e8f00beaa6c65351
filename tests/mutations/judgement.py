"""What is judged, planned and shown."""

from __future__ import annotations

from mutation import UNIT, of

_DOUBT = "    if doubt is not None:\n        return _undecided(row, limit, doubt.policy)\n"
_UNKNOWN = '    if not is_complete(row.head):\n        return _undecided(row, limit, "on_unknown")\n'
_CAP_PASSES, _NEW = "    return Decision(gate=Gate.PASS", "    if row.is_new:  # nothing"

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
            "S14 a label for another commit counts",
            "valid = accepted if accepted and accepted.head_sha == plan.commits.head_sha else None",
            "valid = accepted",
        ),
    ),
    *of(
        f"{UNIT}/core/test_every_state.py",
        "ci_action/core/deciding.py",
        ("a lower bound passes a cap", _UNKNOWN + _CAP_PASSES, _CAP_PASSES),
        ("a new target is held against nothing", _NEW, "    if False:  # nothing"),
        (
            "a missing base passes",
            '    if not is_complete(row.base):\n        return _undecided(row, limit, "on_missing_base")\n',
            "",
        ),
        ("an open interval passes", "    if change is _Change.OPEN:\n", "    if False:\n"),
        ("a doubt about the comparison passes", _DOUBT + _UNKNOWN + _NEW, _UNKNOWN + _NEW),
        ("a doubt about head passes a cap", _DOUBT + _UNKNOWN + _CAP_PASSES, _UNKNOWN + _CAP_PASSES),
        (
            "a proof is lost to a later failure",
            "change is _Change.OVER and (doubt is None or doubt.can_fail)",
            "change is _Change.OVER and doubt is None",
        ),
        (
            "a withheld change fails",
            "change is _Change.OVER and (doubt is None or doubt.can_fail)",
            "change is _Change.OVER",
        ),
        ("an overlap fails", "return _Change.OPEN if row.is_within_scatter else _Change.OVER", "return _Change.OVER"),
        ("a part that was ignored passes", "(Gate.PASS, Gate.NONE, Gate.WARN", "(Gate.NONE, Gate.PASS, Gate.WARN"),
    ),
    *of(
        f"{UNIT}/core/test_every_state.py",
        "ci_action/core/comparing.py",
        ("a contradicting result is complete", '        and result["value"] == result["known_value"]\n', ""),
    ),
    *of(
        f"{UNIT}/core/test_every_state.py",
        "ci_action/core/timing/rows.py",
        (
            "code of the other side is measured",
            'if failed is None or failed["failure"]["stage"] != "isolation":',
            "if True:",
        ),
        (
            "a failed side's rounds acquit",
            'if failed := evidence["failure"]:  # rounds',
            "if failed := None:  # rounds",
        ),
        (
            "outputs that nobody compared pass",
            "_taken_away(row, evidence) or _unchecked(planned, evidence)",
            "_taken_away(row, evidence)",
        ),
    ),
    *of(
        f"{UNIT}/core/test_every_state.py",
        "ci_action/core/judging.py",
        (
            "a head that failed after its last limited value passes",
            "if not is_open or any(row.basis is Basis.POLICY for row in target.rows):",
            "if True:",
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
