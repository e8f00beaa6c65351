"""Folding, weighing and drawing module trees: properties over random trees, and the cases a reader would notice."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.reports import Node, decoder, make_report, result

from torchscan.render.costs import VIEWS, Cost, add, block_costs
from torchscan.render.fold import Layout, fold, lay_out, unfold
from torchscan.render.icicle import icicle, weigh
from torchscan.render.tree import Module, build_tree
from torchscan.report.analysis import AnalysisReport


def trees(depth: int = 3) -> st.SearchStrategy[Node]:
    leaf = st.builds(
        lambda kind, own, macs: Node("x", kind, own, macs),
        st.sampled_from(["Linear", "ReLU"]),
        st.integers(0, 3),
        st.one_of(st.none(), st.integers(0, 3)),
    )

    def grow(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        return st.lists(children, min_size=1, max_size=6).map(
            lambda inner: Node("x", "Seq", children=tuple(child.named(str(at)) for at, child in enumerate(inner)))
        )

    return st.recursive(leaf, grow, max_leaves=30)


def folded(report: AnalysisReport, base: AnalysisReport | None = None, **options: int) -> Layout:
    return lay_out(fold(tree(report, base), {}, **options))


def tree(report: AnalysisReport, base: AnalysisReport | None = None) -> Module:
    return build_tree(report["layers"], "model", base["layers"] if base else ())


@given(trees())
def test_unfolding_gives_every_module_back(root: Node) -> None:
    modules = tree(make_report(root))

    found = {module.path for block in lay_out(fold(modules, {})).blocks for module in unfold(block)}

    assert found == {module.path for module in modules.walk()}


@given(trees(), st.sampled_from(VIEWS))
def test_folding_changes_no_sum(root: Node, metric: str) -> None:
    report = make_report(root)
    plain, short = folded(report, shortest_run=10**9), folded(report)

    assert block_costs(plain, [metric])[metric][0] == block_costs(short, [metric])[metric][0]


@given(trees(), st.sampled_from(("module_flops", "macs", "dmas", "operator_flops", "parameters")))
def test_the_root_costs_what_the_report_totals_say(root: Node, metric: str) -> None:
    report = make_report(root)
    total = report["totals"][metric]

    assert block_costs(folded(report), [metric])[metric][0] == Cost(total["known_value"], total["status"])


@given(trees(), st.sampled_from(VIEWS))
def test_children_never_outgrow_their_parent_and_all_blocks_are_accounted_for(root: Node, metric: str) -> None:
    layout = folded(make_report(root))
    drawn = icicle(layout, weigh(layout, [cost.size for cost in block_costs(layout, [metric])[metric]]))

    assert len(drawn.tiles) + drawn.culled + len(drawn.without_width) == len(layout.blocks)
    tiles = {tile.index: tile for tile in drawn.tiles}
    for tile in drawn.tiles:
        if layout.parents[tile.index] in tiles:
            parent = tiles[layout.parents[tile.index]]
            assert parent.x - 1e-6 <= tile.x
            assert tile.x + tile.width <= parent.x + parent.width + 1e-6
    levels: dict[int, list[tuple[float, float]]] = {}
    for tile in drawn.tiles:
        levels.setdefault(tile.level, []).append((tile.x, tile.x + tile.width))
    for row in levels.values():
        assert all(right <= left + 1e-6 for (_, right), (left, _) in pairwise(sorted(row)))


def test_equal_blocks_fold_into_one_row() -> None:
    layout = folded(make_report(decoder(32)))

    assert "blocks.{0…31}" in layout.paths
    assert len(layout.blocks) == 16
    assert layout.copies[layout.paths.index("blocks.{0…31}.mlp.up")] == 32


def test_one_changed_layer_splits_the_run() -> None:
    layout = folded(make_report(decoder(32, wide=[7])), make_report(decoder(32)))

    assert [path for path in layout.paths if path.count(".") == 1] == ["blocks.{0…6}", "blocks.7", "blocks.{8…31}"]


@pytest.mark.parametrize("name", ["macs", "dmas"])
def test_a_different_status_is_a_difference(name: str) -> None:
    report = make_report(decoder(5))
    row = next(row for row in report["layers"] if row["path"] == "blocks.2.attn.qkv")
    row["metrics"] = {**row["metrics"], name: result(name, None, "module_call")}

    assert "blocks.2" in folded(report).paths


def test_a_diagnostic_of_one_member_splits_the_run() -> None:
    modules = tree(make_report(decoder(7)))

    layout = lay_out(fold(modules, {"blocks.3.mlp": frozenset(["functional_work"])}))

    assert [path for path in layout.paths if path.count(".") == 1] == ["blocks.{0…2}", "blocks.3", "blocks.{4…6}"]


def test_names_without_an_index_stay_apart() -> None:
    same = [Node(name, "Linear", 3, 3) for name in ("query", "key", "value")]

    assert len(folded(make_report(Node("", "Net", children=tuple(same)))).blocks) == 4


def test_two_equal_siblings_stay_apart() -> None:
    assert "blocks.1" in folded(make_report(decoder(2))).paths


def test_removed_modules_stand_where_they_stood() -> None:
    def net(*names: str) -> AnalysisReport:
        return make_report(Node("", "Net", children=tuple(Node(name, "Linear", 1, 1) for name in names)))

    modules = tree(net("b", "new", "d"), net("a", "b", "c1", "c2", "d", "e"))

    assert [child.name for child in modules.children] == ["a", "b", "c1", "c2", "new", "d", "e"]


def test_a_removed_subtree_hangs_once() -> None:
    before = make_report(decoder(3))
    after = make_report(decoder(2))

    modules = tree(after, before)

    paths = [module.path for module in modules.walk()]
    assert len(paths) == len(set(paths))
    assert "blocks.2.mlp.up" in paths


def test_a_path_of_any_depth_is_no_recursion() -> None:
    report = make_report(Node("", "Net", children=(Node("a", "Linear", 1, 1),)))
    row = report["layers"][1]
    report["layers"].append({**row, "path": ".".join(["a"] * 3000), "depth": 3000})

    layout = folded(report)

    assert len(layout.blocks) == 3001
    assert (
        block_costs(layout, ["macs"])["macs"][0].known == 1
    )  # the deep row's own estimate; its container's is that sum


COMPLETE, BOUND, UNKNOWN = Cost(3, "complete"), Cost(2, "partial"), Cost(None, "unavailable")


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([COMPLETE, COMPLETE], Cost(6, "complete")),
        ([COMPLETE, BOUND], Cost(5, "partial")),
        ([COMPLETE, UNKNOWN], Cost(3, "partial")),
        ([UNKNOWN, UNKNOWN], Cost(None, "unavailable")),
        ([COMPLETE, Cost(None, "covered")], Cost(3, "complete")),
        ([Cost(None, "covered")], Cost(None, "covered")),
        ([Cost(None, "absent"), COMPLETE], Cost(3, "complete")),
        ([Cost(None, "absent")], Cost(None, "absent")),
        ([], Cost(None, "absent")),
    ],
)
def test_costs_add_with_their_status(parts: list[Cost], expected: Cost) -> None:
    assert add(parts) == expected


def test_a_subtree_owner_counts_for_its_children() -> None:
    report = make_report(Node("", "Net", children=(Node("mha", "MHA", 9, 5, children=(Node("out", "Linear", 4, 4),)),)))
    mha, out = report["layers"][1:]
    mha["metrics"]["macs"] = result("macs", 5, "module_call")
    mha["metric_ownership"] = {"macs": "subtree"}
    out["metric_owners"] = {"macs": {"path": "mha", "call_index": 0}}
    del out["metrics"]["macs"]

    assert [cost.known for cost in block_costs(folded(report), ["macs"])["macs"]] == [5, 5, None]
