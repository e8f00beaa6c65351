"""Decide what is measured and whose word counts, before anything runs."""

from __future__ import annotations

from fnmatch import fnmatchcase
from posixpath import join, normpath
from typing import TYPE_CHECKING

from ci_action.core.config.changes import config_notes
from ci_action.core.plan import Plan, PlannedTarget
from ci_action.core.spec import TargetSpec
from ci_action.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci_action.core.config.entries import Config, Target
    from ci_action.core.event import PullRequest
    from ci_action.core.plan import Commits
    from ci_action.core.spec import Side

_STARTER = """neither side has a config. Write torchscan.toml (or run `torchscan-ci init`), for example:

[[targets]]
id = "my-model"
factory = "bench/models.py:my_model"  # returns a module and its arguments

[[limits]]
metric = "operator_flops"
max-increase = "5%"
"""


LATE = "the base branch lists it since this branch left it: update the branch"


def make_plan(
    commits: Commits,
    *,
    base_config: Config | None,
    head_config: Config | None,
    own_base_config: Config | None = None,
    pull_request: PullRequest | None = None,
    working_directory: str = ".",
    changed_paths: Sequence[str] | None = None,
    base_fault: str = "",
) -> Plan:
    """Pair the targets of both configs by id: base's order first, then those that are new on head.

    ``base_config`` judges. ``own_base_config`` is what the measured base commit has, where that is another commit of
    the base branch: how base is built is read there, as far as it has the target.
    ``changed_paths`` are paths from the repository's root; None means that it is not known, so nothing is skipped.
    ``base_fault``: why base's config is not known, as a clause.

    Raises:
        ConfigError: where neither side has a config.
    """
    if base_config is None and head_config is None:
        raise ConfigError(_STARTER)
    base = {target.id: target for target in base_config.targets} if base_config else {}
    head = {target.id: target for target in head_config.targets} if head_config else {}
    has_moved = commits.policy_sha not in {None, commits.base_sha}
    own = {target.id: target for target in own_base_config.targets} if own_base_config else {}
    own = own if has_moved else base
    targets = tuple(
        _late(base[identity])
        if identity not in own and identity not in head
        else PlannedTarget(
            id=identity,
            base=own.get(identity) or base.get(identity),
            head=head.get(identity),
            ruling=base.get(identity),
            skipped=_skipped(base.get(identity), head.get(identity), changed_paths, working_directory),
        )
        for identity in {**base, **head}
    )
    return Plan(
        commits=commits,
        targets=targets,
        base_config=base_config,
        head_config=head_config,
        own_base_config=own_base_config,
        config_notes=() if base_fault else config_notes(base_config, head_config, own_base_config),
        pull_request=pull_request,
        working_directory=working_directory,
        base_fault=base_fault,
    )


def _late(entry: Target) -> PlannedTarget:
    """Return a target that the base branch lists since head left it. Head has not removed what it never had."""
    return PlannedTarget(id=entry.id, base=entry, head=entry, ruling=entry, unproven=LATE)


def target_specs(plan: Plan, side: Side) -> list[TargetSpec]:
    """List what one side's worker builds. ``index`` is the target's place in the plan, the same on both sides.

    Factory and analysis come from the side's own entry. The device comes from base: a pull request that moves a target
    to another device would be compared with nothing.
    """
    specs: list[TargetSpec] = []
    for index, planned in enumerate(plan.targets):
        entry = planned.side(side)
        if entry is None or planned.skipped or planned.unproven:
            continue
        specs.append(
            {
                "index": index,
                "id": planned.id,
                "factory": entry.factory,
                "analysis": entry.analysis,
                "device": planned.policy.device,
            }
        )
    return specs


def installs(plan: Plan) -> dict[Side, tuple[str, ...]]:
    """Give each side's install command, none where both share one interpreter. Base says whether, each side how."""
    if plan.policy.environment == "shared":
        return {}
    own: dict[Side, Config | None] = {side: plan.side_config(side) for side in ("base", "head")}
    return {side: (config and config.install) or plan.policy.install for side, config in own.items()}


def _skipped(base: Target | None, head: Target | None, changed: Sequence[str] | None, working_directory: str) -> str:
    """Say why a target need not be measured. Base's ``paths`` count, and only an unchanged entry is skipped."""
    if changed is None or base is None or head is None or not base.paths or base != head:
        return ""
    patterns = [normpath(join(working_directory, path)) for path in base.paths]
    if any(_is_under(path, pattern) for path in changed for pattern in patterns):
        return ""
    return f"nothing under {', '.join(base.paths)} changed"


def _is_under(path: str, pattern: str) -> bool:
    return pattern == "." or path == pattern or path.startswith(f"{pattern}/") or fnmatchcase(path, pattern)
