"""The documentation's table of module formulas, made from the families themselves: ``python -m`` writes it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from torchscan.formulas.family import Family
from torchscan.formulas.table import FAMILIES

WITHOUT_FORMULA: Mapping[str, str] = MappingProxyType(
    {
        "Module": "has no forward",
        "Container": "an old name of Module",
        "Sequential": "its children are calls of their own",
        "ModuleList": "has no forward",
        "ModuleDict": "has no forward",
        "ParameterList": "has no forward",
        "ParameterDict": "has no forward",
        "RNNBase": "the base of RNN, LSTM and GRU, which have formulas",
        "RNNCellBase": "the base of the cells, which have formulas",
        "DataParallel": "replicates its module, whose calls run in other threads",
    }
)
"""Module types of ``torch.nn`` that have no formula, and why."""

_HEADER = """\
# Module formulas

Generated from the code by `python -m torchscan.formulas.catalogue`; a test keeps the two in step.

Conventions: N elements, R rows of S, C channels, K terms or window elements. A multiply, add, divide, comparison that
picks a value, or elementary function (exp, log, tanh, erf, sqrt) is one FLOP; a dot product of K terms is 2·K − 1.
MACs are products of matrix products, convolutions, attention and normalizations, nowhere else. DMAs are the element
reads and writes of a staged dense algorithm, not bytes. Integer arithmetic counts 0 FLOPs.

Attention: batch B, target T, source S, width E, heads H of D = E/H, key and value widths K and V; Q = B·T·E, J = B·S·E,
A = B·H·T·S, R = B·H·T, I = B·T·E + B·S·K + B·S·V, P parameters; N = B·T·E, U = B·T·F for a hidden width F. Recurrent:
N rows (sequences running at each step, summed over T steps), input width I, recurrent width R, H units of g gates.

A subclass keeps its parent's formula while it keeps the parent's `forward`; one with its own `forward` has none, and
native attention needs the exact type. Outside of its boundary a call has no estimate and a diagnostic says so. Lazy
modules have become their plain types by the time they have run. `none` under the receptive field means that no single
number describes it: there is no spatial axis, or windows differ between axes or positions.
"""

_COLUMNS = ("Modules", "FLOPs", "MACs", "DMAs", "Receptive field: size, stride, padding", "Boundary")


def cells(family: Family) -> tuple[str, ...]:
    """Give the cells of a family's row; the types as the newest torch knows them."""
    names = ", ".join(f"`{kind.__name__.lstrip('_')}`" for kind in family.types)
    return (names, family.flops, family.macs, family.dmas, family.spatial, family.boundary)


def document() -> str:
    """Give the whole page as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _HEADER.rstrip("\n")
    for group in dict.fromkeys(family.group for family in FAMILIES):
        yield f"\n## {group}\n"
        yield from _line(_COLUMNS)
        yield from _line(("---",) * len(_COLUMNS))
        for family in FAMILIES:
            if family.group == group and family.types:
                yield from _line(cells(family))
    yield "\n## Without a formula\n"
    yield from _line(("Module", "Why"))
    yield from _line(("---", "---"))
    for name, reason in WITHOUT_FORMULA.items():
        yield from _line((f"`{name}`", reason))


def _line(values: tuple[str, ...]) -> Iterator[str]:
    escaped = " | ".join(cell.replace("|", "\\|") for cell in values)
    yield f"| {escaped} |"


def main() -> None:
    """Write the page to the path given, or to the repository's documentation."""
    default = Path(__file__).parents[2] / ".github" / "docs" / "modules.md"
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    target.write_text(document(), encoding="utf-8")


if __name__ == "__main__":
    main()
