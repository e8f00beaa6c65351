"""Why a number is not complete: a closed list of codes."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

DiagnosticCode = Literal[
    "uncounted_operator",
    "unsupported_operator_formula",
    "incomplete_operator_formula",
    "unsupported_module_metric",
    "missing_metric_tensor",
    "module_metric_error",
    "module_forward_error",
    "custom_handler_error",
    "custom_handler_invalid",
    "custom_metric_invalid",
    "custom_metric_partial",
    "custom_metric_unavailable",
    "expanded_atomic_boundary",
    "functional_work",
    "uninitialized_parameter",
    "unsupported_token_dependency",
    "sharded_parameter",
    "opaque_module",
]


class Diagnostic(TypedDict):
    """Machine-readable explanation of an incomplete measurement. ``code`` comes from a closed list."""

    code: DiagnosticCode
    severity: Literal["warning", "error"]
    metric: str
    message: str
    path: NotRequired[str]
    call_index: NotRequired[int]
    operator: NotRequired[str]
