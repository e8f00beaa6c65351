from __future__ import annotations

import csv
from pathlib import Path

import pytest

from torchscan.operators import catalogue
from torchscan.operators.formula import Formula, Free
from torchscan.operators.table import FAMILIES, TABLE, row_for

ROOT = Path(__file__).parents[4]


def test_the_documentation_s_table_is_the_code_s() -> None:
    page = (ROOT / catalogue.PAGE).read_text(encoding="utf-8")

    assert page == catalogue.document(), "run: python -m torchscan.operators.catalogue"


def test_no_operator_stands_in_two_families() -> None:
    assert sum(len(family.ROWS) for family in FAMILIES) == len(TABLE)


def test_every_row_says_what_it_counts_or_why_not() -> None:
    for name, row in TABLE.items():
        assert row.family, name
        assert row.reason if isinstance(row, Free) else row.text, name


@pytest.mark.parametrize(
    ("name", "like"),
    [("aten.add_", "aten.add"), ("aten._index_put_impl_", "aten._index_put_impl"), ("aten._fused_adam_", None)],
)
def test_the_in_place_form_costs_what_the_operator_costs(name: str, like: str | None) -> None:
    assert row_for(name) is row_for(like or name.removesuffix("_"))
    assert isinstance(row_for(name), Formula)


def test_a_copying_view_is_free_and_an_unknown_operator_has_no_row() -> None:
    copied = row_for("aten.transpose_copy")

    assert isinstance(copied, Free)
    assert copied.moves
    assert row_for("aten.no_such_operator") is None
    assert row_for("mylib.add") is None


def test_every_operator_that_real_models_dispatch_has_a_row() -> None:
    with (ROOT / "tests/support/zoo_operators.tsv").open(encoding="utf-8") as lines:
        seen = [line["operator"] for line in csv.DictReader(lines, delimiter="\t")]

    assert len(seen) > 250
    assert [name for name in seen if row_for(name) is None] == []
