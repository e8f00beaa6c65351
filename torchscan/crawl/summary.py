"""``summary``: the analysis of ``crawl_module``, printed as a table and returned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import torch
from torch import nn

from torchscan.crawl.crawl import crawl_module
from torchscan.crawl.inputs import Shape
from torchscan.crawl.strict import require_complete
from torchscan.formulas.handler import ModuleHandler
from torchscan.render.summary_table import check_table_options, summary_table
from torchscan.report.analysis import AnalysisReport


def summary(
    module: nn.Module,
    input_shape: list[Shape] | Shape | None = None,
    wrap_mode: str = "mid",
    max_depth: int | None = None,
    receptive_field: bool = False,
    effective_rf_stats: bool = False,
    *,
    dtype: torch.dtype | Iterable[torch.dtype] | None = None,
    args: tuple[Any, ...] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    device: str | torch.device | None = None,
    strict: bool = False,
    mode: Literal["full", "structure"] = "full",
    custom_modules: Mapping[type[nn.Module], ModuleHandler] | None = None,
    custom_mapping: Mapping[Any, Callable[..., int | float]] | None = None,
    formulas: Literal["extended", "native"] = "extended",
) -> AnalysisReport:
    """Print and return a module report; use ``mode="structure"`` for shapes and counts only.

    The arguments that ``crawl_module`` has mean what they mean there. ``strict`` also checks the receptive field of
    each row when it is asked for.

    Args:
        wrap_mode: where a long cell is cut: at its ``start``, ``mid`` or ``end``.
        max_depth: depth of the deepest module shown; None shows all.
        receptive_field: add a column with the receptive field, in input elements.
        effective_rf_stats: add columns with effective stride and padding, in input elements.

    Raises:
        ValueError: an unknown ``wrap_mode`` or a negative ``max_depth``, and as in ``crawl_module``.
        IncompleteAnalysisError: ``strict`` and a requested metric is not complete; the table is printed first.
    """
    check_table_options(wrap_mode, max_depth)
    report = crawl_module(
        module,
        input_shape,
        dtype,
        args=args,
        kwargs=kwargs,
        device=device,
        mode=mode,
        custom_modules=custom_modules,
        custom_mapping=custom_mapping,
        formulas=formulas,
    )
    table = summary_table(
        report,
        wrap_mode=wrap_mode,
        max_depth=max_depth,
        receptive_field=receptive_field,
        effective_rf_stats=effective_rf_stats,
    )
    print(table)  # noqa: T201 # the table is what a caller of summary asks for
    if strict:
        asked = ("receptive_field",) * receptive_field
        asked += ("effective_stride", "effective_padding") * effective_rf_stats
        require_complete(report, asked)
    return report
