"""A failing forward still teaches: its exception carries the rows up to the failing call."""

from __future__ import annotations

from traceback import walk_tb

from torchscan.crawl.assemble import Observation, layers_so_far
from torchscan.operators.counter import OperatorCounter

ROWS_ATTRIBUTE = "torchscan_rows"


def teach(error: BaseException, observation: Observation) -> None:
    """Put the layer records so far on an exception: as an attribute for programs, as a note for people."""
    calls = observation.recorder.calls
    innermost = next((call for call in reversed(calls) if not call.is_done), None)
    if innermost is None:
        return
    node = innermost.site.node
    where = f"{node.path!r} ({type(node.module).__name__}, call {innermost.index})" if node.path else "the model itself"
    done = sum(call.is_done for call in calls)
    try:
        setattr(error, ROWS_ATTRIBUTE, layers_so_far(observation))
        error.add_note(
            f"torchscan: the forward failed in {where}{_operator(error)}, after {done} completed module calls; "
            f"their records are in this exception's `{ROWS_ATTRIBUTE}`"
        )
    except Exception:  # noqa: BLE001, S110 # it may take no attributes; nothing of ours may replace it
        pass


def _operator(error: BaseException) -> str:
    """Name the operator in which the exception arose: PyTorch's own words often leave it out."""
    dispatch = OperatorCounter.__torch_dispatch__.__code__
    frames = [frame for frame, _ in walk_tb(error.__traceback__) if frame.f_code is dispatch]
    return f", in the operator {frames[-1].f_locals['func']}" if frames else ""
