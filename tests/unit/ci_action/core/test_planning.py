from __future__ import annotations

from dataclasses import replace

import pytest
from support.verdicts import COMMITS, config, limit, plan, target

from ci_action.core.config.entries import Benchmark
from ci_action.core.planning import make_plan, target_specs
from ci_action.errors import ConfigError


def test_targets_are_paired_by_id_in_bases_order() -> None:
    made = plan(config("a", "gone"), config("new", "a"))

    assert [(item.id, item.base is not None, item.head is not None) for item in made.targets] == [
        ("a", True, True),
        ("gone", True, False),
        ("new", False, True),
    ]


def test_each_side_builds_from_its_own_entry_under_one_index() -> None:
    made = plan(
        config(target("a", factory="old.py:a"), "b"), config("b", target("a", factory="new.py:a", analysis="structure"))
    )

    assert [(spec["index"], spec["factory"], spec["analysis"]) for spec in target_specs(made, "base")] == [
        (0, "old.py:a", "full"),
        (1, "bench/models.py:b", "full"),
    ]
    assert [(spec["index"], spec["factory"], spec["analysis"]) for spec in target_specs(made, "head")] == [
        (0, "new.py:a", "structure"),
        (1, "bench/models.py:b", "full"),
    ]


def test_device_is_bases() -> None:
    made = plan(config(target("a", device="cpu")), config(target("a", device="meta")))

    assert target_specs(made, "head")[0]["device"] == "cpu"


def test_a_side_builds_only_what_it_lists() -> None:
    made = plan(config("gone"), config("new"))

    assert [spec["id"] for spec in target_specs(made, "base")] == ["gone"]
    assert [spec["id"] for spec in target_specs(made, "head")] == ["new"]


def test_limits_are_bases_even_when_head_has_none() -> None:
    made = plan(config("a", limits=(limit(max=1),)), config("a"))

    assert made.policy.limits == (limit(max=1),)
    assert made.config_notes == ("limits: changed in this pull request; takes effect after the merge.",)


def test_a_limit_that_only_moved_is_not_a_change() -> None:
    assert plan(config("a", limits=(limit(line=3),)), config("a", limits=(limit(line=9),))).config_notes == ()


def test_each_base_owned_key_is_named() -> None:
    base = config(target("a", benchmark=Benchmark(pairs=10)), threads=1, accept_label="ok")
    head = config(target("a", benchmark=Benchmark(pairs=50)), threads=8, accept_label="yes", memory_limit_bytes=1)

    assert [note.split(":")[0] for note in plan(base, head).config_notes] == [
        "accept-label",
        "threads",
        "memory-limit",
        "benchmark",
    ]


def test_what_worktrees_are_filled_with_is_named_too() -> None:
    notes = plan(config("a"), config("a", submodules=True, lfs=True)).config_notes
    assert [note.split(":")[0] for note in notes] == ["submodules", "lfs"]


def test_no_config_on_base_is_report_only() -> None:
    made = plan(None, config("a", limits=(limit(max=1),)))

    assert made.is_report_only
    assert "judges nothing" in made.config_notes[0]


def test_a_removed_config_removes_every_target() -> None:
    made = make_plan(COMMITS, base_config=config("a"), head_config=None)

    assert [item.head for item in made.targets] == [None]


def test_no_config_at_all_says_what_to_write() -> None:
    with pytest.raises(ConfigError, match=r"\[\[targets\]\]"):
        make_plan(COMMITS, base_config=None, head_config=None)


@pytest.mark.parametrize(
    ("changed", "skips"),
    [
        (["docs/index.md"], True),
        (["models/net.py"], False),
        (["models"], False),
        (["models2/net.py"], True),
        (["bench/zoo.py"], False),
        ([], True),
        (None, False),
    ],
)
def test_a_target_is_skipped_when_nothing_under_its_paths_changed(changed: list[str] | None, skips: bool) -> None:
    made = plan(config(target("a", paths=("models", "bench/*.py"))), changed_paths=changed)

    assert bool(made.targets[0].skipped) is skips
    assert bool(target_specs(made, "head")) is not skips


def test_paths_are_relative_to_the_working_directory() -> None:
    fields = {"changed_paths": ["packages/a/models/x.py"], "working_directory": "packages/a"}

    assert not plan(config(target("a", paths=("models",))), **fields).targets[0].skipped


def test_a_pull_request_cannot_skip_by_editing_paths() -> None:
    base, head = config(target("a", paths=("models",))), config(target("a", paths=("nothing",)))

    assert not plan(base, head, changed_paths=["models/x.py"]).targets[0].skipped
    assert not plan(base, head, changed_paths=["torchscan.toml"]).targets[0].skipped


MOVED = replace(COMMITS, policy_sha="f" * 40)


def test_where_the_base_branch_moved_on_its_tip_rules_and_each_side_is_built_as_its_own_commit_says() -> None:
    tip = config(target("a", factory="tip.py:a", device="meta"), limits=(limit(max=1),))
    own = config(target("a", factory="old.py:a"), limits=(limit(max=9),))
    made = make_plan(MOVED, base_config=tip, own_base_config=own, head_config=config(target("a", factory="new.py:a")))
    assert made.policy.limits == (limit(max=1),)
    assert [spec["factory"] for side in ("base", "head") for spec in target_specs(made, side)] == [
        "old.py:a",
        "new.py:a",
    ]
    assert {spec["device"] for side in ("base", "head") for spec in target_specs(made, side)} == {"meta"}
    assert "The limits of its tip count" in made.config_notes[0]


def test_a_target_that_only_the_tip_lists_is_not_removed_but_unknown() -> None:
    made = make_plan(MOVED, base_config=config("a", "late"), own_base_config=config("a"), head_config=config("a"))
    late = made.targets[1]
    assert (late.id, late.unproven != "") == ("late", True)
    assert [spec["id"] for spec in target_specs(made, "head")] == ["a"]


def test_a_target_that_head_removed_is_removed_also_where_the_tip_rules() -> None:
    made = make_plan(MOVED, base_config=config("a"), own_base_config=config("a"), head_config=config())
    assert (made.targets[0].head, made.targets[0].unproven) == (None, "")
