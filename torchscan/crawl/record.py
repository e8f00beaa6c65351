"""What is noted of a module call while the forward runs: as little as will do. Everything else happens afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchscan.crawl.estimate import Estimate
from torchscan.metadata.describe import Metadata
from torchscan.operators.tally import Tally

if TYPE_CHECKING:
    from torchscan.crawl.site import Site


class Call:
    """One module call. Once it is done it holds no tensor, so that activations are freed as usual.

    Attributes:
        position: place in the order in which calls began.
        input_id, output_id: identity of the first argument and of the output, to see a chain of layers.
        handled: identity of the exception that was being handled when the call began.
        has_hook_work: the module's own hooks did arithmetic, which no formula of the module knows.
        flops_before_hooks: FLOPs when the forward itself was done, where the module has forward hooks of its own.
        kwargs: the keyword arguments while the call runs.
        is_done: the call returned. False after a failure, and while it runs.
    """

    __slots__ = (
        "estimate",
        "flops_before_hooks",
        "handled",
        "has_hook_work",
        "index",
        "input",
        "input_id",
        "is_done",
        "kwargs",
        "output",
        "output_id",
        "parent",
        "position",
        "site",
        "tally",
    )

    def __init__(
        self,
        site: Site,
        position: int,
        parent: Call | None,
        received: Metadata,
        input_id: int,
        handled: int,
        kwargs: dict[str, Any] | None,
    ) -> None:
        self.site = site
        self.position = position
        self.parent = parent
        self.index = site.calls
        self.input = received
        self.input_id = input_id
        self.handled = handled
        self.kwargs = kwargs
        self.tally = Tally()
        self.output: Metadata | None = None
        self.output_id = 0
        self.estimate: Estimate | None = None
        self.has_hook_work = False
        self.flops_before_hooks: int | float | None = None
        self.is_done = False
