"""The documentation's table of operators, made from the formulas themselves: ``python -m`` writes it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from torchscan.operators.formula import Formula
from torchscan.operators.table import TABLE

PAGE = Path(".github/docs/operators.md")

_HEADER = """\
# Operator formulas

Generated from the code by `python -m torchscan.operators.catalogue`; a test keeps the two in step.

One dispatch mode sees every operator that runs. N: elements written (of the first input, for a backward or a
reduction). R: rows, groups or results. S: values of a row. K: terms, or values of a window. C: channels. A special
function, comparison or selection is one operation. Products count two FLOPs per multiply-accumulate whatever the dtype,
as PyTorch's own counter does, and their half is `operator_macs`; fused biases are left out.

- PyTorch's registered formula wins over ours, the caller's `custom_mapping` over both; one exception: the weight
  gradient of a grouped convolution is divided by its groups, in both views, where PyTorch's formula is not
  (pytorch#183405).
- The in-place form (`add_`), `out=` and every overload cost what the operator costs.
- Integer and boolean arithmetic counts nothing and is listed under `ignored_operators`.
- Complex tensors that the run makes itself (a Fourier transform, `view_as_complex`) count their real arithmetic: a
  product of two is 4 multiplies and 2 adds. Those that the caller supplies make the count a lower bound.
- Sparse, quantized and nested tensors make the count a lower bound. A nested tensor that an evaluation encoder makes of
  a padded batch counts as padded.
- Attention counts its two products in every fused form, causal or masked alike. Where PyTorch dispatches the explicit
  form instead, its scale, mask and softmax are operators of their own and count; on meta tensors, outside of training,
  they are taken back, since a device with memory would have run the fused form.
- A composite operator that inference mode dispatches whole is counted by its pieces; a higher-order operator by the
  branches that run. Functions compiled by `torch.compile` run their eager source while counted.
- An operator outside this table is named by an `uncounted_operator` diagnostic, and the total is partial.
"""


class Line(NamedTuple):
    """One row of the page: operators of a family that share a cost."""

    family: str
    cost: str
    macs: str
    operators: tuple[str, ...]


def lines() -> list[Line]:
    """Give the table's rows, families in the table's order, equal costs gathered."""
    gathered: dict[tuple[str, str, str], list[str]] = {}
    for name, row in TABLE.items():
        if isinstance(row, Formula):
            macs = "half the FLOPs" if row.is_product else "counted" if row.macs is not None else "0"
            key = (row.family, row.text, macs)
        else:
            key = (row.family, f"0: {row.reason}", "0")
        gathered.setdefault(key, []).append(name)
    ranks = {family: rank for rank, family in enumerate(dict.fromkeys(family for family, _, _ in gathered))}
    ordered = sorted(gathered.items(), key=lambda item: ranks[item[0][0]])
    return [Line(*key, tuple(names)) for key, names in ordered]


def document() -> str:
    """Give the whole page as Markdown."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    yield _HEADER.rstrip("\n")
    for family, rows in groupby(lines(), key=lambda line: line.family):
        yield f"\n## {family[0].upper()}{family[1:]}\n"
        yield "| Operators | FLOPs | MACs |"
        yield "| --- | --- | --- |"
        for line in rows:
            names = ", ".join(f"`{name.removeprefix('aten.')}`" for name in line.operators)
            yield f"| {names} | {line.cost.replace('|', chr(92) + '|')} | {line.macs} |"


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    target.write_text(document(), encoding="utf-8")
