"""Comment, index and terminal say every result in a word and a sign; each state's numbers stay apart."""

from __future__ import annotations

import re

import pytest
from support.scenes import ZOO, counts, rendered, scene
from support.verdicts import config, limit, number, report

from ci_action.render.states import RESULTS

# state: a scene that shows it, its result, base and head as printed
SHOWN = {
    "partial": ("partial_evidence", "lost", "4.096 G", "≥ 3.871 G"),
    "not comparable": ("incomparable_method", "incomparable", "8.178 G", "9.000 G"),
    "new": ("new_and_removed", "new", "absent", "618.0 M"),
    "removed": ("new_and_removed", "removed", "100", "absent"),
    "inconclusive": ("inconclusive", "unclear", "18.70 ms", "19.51 ms"),
    "over": ("one_regression", "over", r"[\d.]+ M", r"[\d.]+ M"),
}


@pytest.mark.parametrize("state", SHOWN)
def test_a_row_has_word_sign_and_both_sides_in_every_view(state: str) -> None:
    scene_name, result, base, head = SHOWN[state]
    glyph, mark = RESULTS[result]
    made, gap = rendered(scene_name), "[ \u00a0]"
    base, head = base.replace(" ", gap), head.replace(" ", gap)

    assert re.search(rf"\| {glyph} {result} \|.*\| {base} → {head} \|", made.comment)
    assert re.search(rf"^{result} .* {base} +{head} ", made.terminal, re.MULTILINE)
    cells = rf"<i>{re.escape(mark)}</i>{result}<th.*<td>{base}<td>{head}<td"
    assert re.search(cells, made.pages["index.html"])


def test_what_was_not_measured_is_a_dash_and_a_word() -> None:
    made = rendered("head_failed")

    assert "| 🚫 failed | `vit_b_16` |" in made.comment
    assert re.search(r"^failed .*—.*not measured on head", made.terminal, re.MULTILINE)
    assert "<td>—" in made.pages["index.html"]
    assert not re.search(r"<td[^>]*>0<", made.pages["index.html"])


def test_a_measured_zero_is_a_zero_and_no_dash() -> None:
    heads = {"resnet50": counts("resnet50", operator_flops=0)}
    made = scene(heads, names=ZOO[:1]).render()

    assert re.search(r"\| 8\.178.G → 0 \|", made.comment)
    assert '<td title="0">0<' in made.pages["index.html"]


def test_an_unavailable_number_is_a_dash_where_a_zero_would_be_wrong() -> None:
    heads = {"resnet50": counts("resnet50", operator_flops=number("operator_flops", None))}
    made = scene(heads, names=ZOO[:1]).render()

    assert re.search(r"⚠️ lost \| `resnet50` \| operator FLOPs \| 8\.178.G → — \|", made.comment)
    assert "→ 0 |" not in made.comment


def test_a_cap_may_be_proven_by_a_lower_bound_which_keeps_its_sign() -> None:
    heads = {"net": report(operator_flops=number("operator_flops", 5_000_000_000, bound=True))}
    cap = limit("operator_flops", max=1e9, text="max 1 G")
    made = scene(heads, names=("net",), base=config("net", limits=(cap,))).render()

    assert re.search(r"❌ over \| `net` .*→ ≥.5\.000.G \|", made.comment)


def test_signs_differ_in_shape() -> None:
    marks = [mark for result, (_, mark) in RESULTS.items() if result != "unmeasured"]  # it shares that of "failed"

    assert len(set(marks)) == len(marks)


def test_evidence_lost_beside_the_table_is_told_without_a_sign_that_no_row_shows() -> None:
    bases = {"net": report(operator_flops=100, module_flops=100)}
    heads = {"net": report(operator_flops=200, module_flops=number("module_flops", 90, bound=True))}
    made = scene(
        heads, bases, names=("net",), base=config("net", limits=(limit(max_increase=0.05, text="+5%"),))
    ).render()

    assert "Of `net` module FLOPs can no longer be measured in full; no limit covers them." in made.comment
    assert "≥ is a lower bound" not in made.comment
