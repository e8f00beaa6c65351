"""One line per finished target, as its two sides come in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ci_action.core.plan import Plan
    from ci_action.core.spec import TargetResult
    from ci_action.ports import Sink


class Progress:
    """Says what is measured, and each target once every side that has it is done."""

    def __init__(self, plan: Plan, sink: Sink) -> None:
        self._sink = sink
        self._ids = [target.id for target in plan.targets if not target.skipped]
        self._sides = {target.id: [side for side in ("base", "head") if target.side(side)] for target in plan.targets}
        self._seen: dict[str, dict[str, TargetResult]] = {}
        self._width = max((len(identity) for identity in self._ids), default=0)
        base, head = plan.commits.base_sha, plan.commits.measured_sha
        shown = f"base {base[:7]} → head {head[:7]}" if base else f"head {head[:7]}, no base"
        sink.progress(f"torchscan  {len(self._ids)} target{'s' * (len(self._ids) != 1)}  {shown}")

    def note(self, result: TargetResult) -> None:
        """Take one result; print the target's line when it was the last one missing."""
        seen = self._seen.setdefault(result["id"], {})
        seen[result["side"]] = result
        if result["id"] not in self._ids or set(seen) != set(self._sides[result["id"]]):
            return
        number = self._ids.index(result["id"]) + 1
        sides = "  ".join(_side(seen[side]) for side in self._sides[result["id"]])
        self._sink.progress(f"[{number}/{len(self._ids)}] {result['id']:<{self._width}}  {sides}")


def _side(result: TargetResult) -> str:
    failure, seconds = result["failure"], f"{result['seconds']:.1f} s"
    if failure is None:
        return f"{result['side']} ok {seconds}"
    return f"{result['side']} FAILED {failure['stage']} {failure['type']}"
