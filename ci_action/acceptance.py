"""Was an exceeded limit accepted? The owner's label counts for the commit it was set on, and only by a writer.

What GitHub's timeline says of commits can be forged by their dates, so it is not asked. Instead the event that started
the run is: it names the measured head, and the label must have been set by that event or after it, with no forced push
since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci_action.core.verdict import Acceptance

if TYPE_CHECKING:
    from ci_action.core.trigger import Trigger
    from ci_action.ports import GitHub, TimelineEvent

FORCED = "head_ref_force_pushed"


def read_acceptance(github: GitHub, number: int, label: str, trigger: Trigger) -> Acceptance | None:
    """The acceptance that holds for the head of ``trigger`` now, or None. Raises PublishError."""
    timeline = github.timeline(number)
    setting = _standing(timeline, label)
    if setting is None or not _is_of_this_head(setting, timeline, label, trigger):
        return None
    if github.pull_state(number).head_sha != trigger.head_sha or not github.can_write(setting.actor):
        return None
    return Acceptance(label=label, actor=setting.actor, head_sha=trigger.head_sha)


def _standing(timeline: list[TimelineEvent], label: str) -> TimelineEvent | None:
    """The event that set the label, unless it was taken away again."""
    about = [event for event in timeline if event.label == label and event.kind in {"labeled", "unlabeled"}]
    return about[-1] if about and about[-1].kind == "labeled" else None


def _is_of_this_head(setting: TimelineEvent, timeline: list[TimelineEvent], label: str, trigger: Trigger) -> bool:
    # A head that was run, left by a forced push, and reached again by a plain one: the label was set for what stood
    # there in between. Times have seconds, so an equal one may be later.
    since = min(setting.at, trigger.at) if trigger.is_first_run else setting.at
    if any(event.kind == FORCED and event.at >= since for event in timeline):
        return False
    is_the_trigger = trigger.action == "labeled" and trigger.label == label and trigger.actor == setting.actor
    return is_the_trigger or setting.at > trigger.at
