"""What is noted of a module call while the forward runs: as little as will do. Everything else happens afterwards."""

from __future__ import annotations

from typing import Any

from torchscan.crawl.estimate import Estimate
from torchscan.crawl.tree import Node
from torchscan.metadata.describe import Metadata
from torchscan.operators.tally import Tally


class Site:
    """A module's place in the tree, and what its calls share.

    Attributes:
        calls: how often it was called so far.
        is_opaque: what its calls do inside cannot be observed.
        estimates: estimates of earlier calls, by the descriptions of input and output.
        operators: FLOPs dispatched while the module was the innermost one, by operator.
    """

    __slots__ = ("calls", "estimates", "is_opaque", "node", "operators")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.is_opaque = node.is_opaque
        self.calls = 0
        self.estimates: dict[Any, Estimate] = {}
        self.operators: dict[str, int | float] = {}


class Call:
    """One module call. Holds metadata, ids and numbers: no tensor, so that activations are freed as usual.

    Attributes:
        position: place in the order in which calls began.
        input_id, output_id: identity of the first argument and of the output, to see a chain of layers.
        handled: identity of the exception that was being handled when the call began.
        is_prepared_by_work: the module's own pre-hooks did arithmetic, which no formula of the module knows.
        is_done: the call returned. False after a failure, and while it runs.
    """

    __slots__ = (
        "estimate",
        "handled",
        "index",
        "input",
        "input_id",
        "is_done",
        "is_prepared_by_work",
        "output",
        "output_id",
        "parent",
        "position",
        "site",
        "tally",
    )

    def __init__(
        self, site: Site, position: int, parent: Call | None, received: Metadata, input_id: int, handled: int
    ) -> None:
        self.site = site
        self.position = position
        self.parent = parent
        self.index = site.calls
        self.input = received
        self.input_id = input_id
        self.handled = handled
        self.tally = Tally()
        self.output: Metadata | None = None
        self.output_id = 0
        self.estimate: Estimate | None = None
        self.is_prepared_by_work = False
        self.is_done = False
