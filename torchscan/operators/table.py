"""The one table of operators, by packet name, and the search through it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from torchscan.operators import (
    activation,
    attention,
    convolution,
    elementwise,
    encoder,
    free,
    indexing,
    linear_algebra,
    losses,
    normalization,
    optimizers,
    pooling,
    products,
    quantized,
    randomness,
    recurrent,
    reduction,
    sampling,
    softmax,
    spectral,
)
from torchscan.operators.formula import Free, Row

FAMILIES = (
    products,
    convolution,
    attention,
    encoder,
    recurrent,
    elementwise,
    activation,
    reduction,
    softmax,
    normalization,
    pooling,
    sampling,
    indexing,
    spectral,
    linear_algebra,
    losses,
    optimizers,
    randomness,
    quantized,
    free,
)

TABLE: Mapping[str, Row] = MappingProxyType({name: row for family in FAMILIES for name, row in family.ROWS.items()})

_COPIED_VIEW = Free(free.FAMILY, "copy or movement of values", moves=True)


def row_for(name: str) -> Row | None:
    """Find an operator's row: its own, or that of the form that it is the in-place or copying twin of."""
    row = TABLE.get(name)
    if row is None and name.startswith("prims."):  # what Python decompositions dispatch, named like its aten twin
        return TABLE.get(f"aten.{name.removeprefix('prims.')}")
    if row is None and name.endswith("_") and not name.endswith("__"):
        row = TABLE.get(name[:-1])
    if row is None and name.endswith("_copy") and isinstance(TABLE.get(name.removesuffix("_copy")), Free):
        return _COPIED_VIEW
    return row
