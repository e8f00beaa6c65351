"""What is noted of a module call while the forward runs: as little as will do. Everything else happens afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchscan.crawl.estimate import Estimate
from torchscan.metadata.describe import Metadata
from torchscan.operators.tally import Moment, Tally

if TYPE_CHECKING:
    from torchscan.crawl.site import Site


class Call:
    """One module call. Once it is done it holds no tensor, so that activations are freed as usual.

    Attributes:
        position: place in the order in which calls began.
        input_id, output_id: identity of the first argument and of the output, to see a chain of layers.
        handled: identity of the exception that was being handled when the call began.
        hook_work: metrics to which the module's own hooks added work that no formula of the module knows.
        inner_hook_work: the same of hooks inside, where the call's formula owns what runs inside.
        before_hooks: what was counted when the forward itself was done, where the module has forward hooks of its own.
        kwargs: the keyword arguments while the call runs.
        is_done: the call returned. False after a failure, and while it runs.
    """

    __slots__ = (
        "before_hooks",
        "estimate",
        "handled",
        "hook_work",
        "index",
        "inner_hook_work",
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
        self.hook_work: tuple[str, ...] = ()
        self.inner_hook_work: tuple[str, ...] = ()
        self.before_hooks: Moment | None = None
        self.is_done = False
