"""Which source tokens reach an output token: a small algebra that is closed over native attention stacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from torchscan.formulas.handler import UnsupportedCall

Kind = Literal["all", "same_position", "prefix", "none"]


@dataclass(frozen=True, slots=True)
class Relation:
    """What every output position depends on.

    Attributes:
        kind: ``all`` source tokens, the token at the ``same_position``, the ``prefix`` up to that position, or none.
        limit: for ``all``, the number of source tokens from the first on; None for every one.
        first_position: outputs before this position depend on nothing.
    """

    kind: Kind
    limit: int | None = None
    first_position: int = 0

    def described(self) -> dict[str, Any]:
        """Give the relation as it stands in a report."""
        words: dict[str, Any] = {"kind": self.kind}
        if self.limit is not None:
            words["limit"] = self.limit
        if self.first_position:
            words["first_position"] = self.first_position
        return words


ALL = Relation("all")
PREFIX = Relation("prefix")
SAME = Relation("same_position")
NONE = Relation("none")


def union(first: Relation, second: Relation) -> Relation:
    """Join two dependencies on one source: an output depends on what either names."""
    pair = {first, second}
    if len(pair) == 1 or NONE in pair:
        return second if first == NONE else first
    if ALL in pair:
        return ALL
    kinds = {relation.kind for relation in pair}
    limited = next((relation for relation in pair if relation.kind == "all"), None)
    if limited is not None and kinds <= {"all", "prefix"}:
        # compose() limits to the length of the shorter sequence, which no prefix passes.
        return Relation("all", max(relation.limit or 0 for relation in pair))
    if kinds == {"prefix"}:
        return Relation("prefix", None, min(relation.first_position for relation in pair))
    if kinds == {"prefix", "same_position"}:
        return _prefix_or_same(*sorted(pair, key=lambda relation: relation.kind))
    raise UnsupportedCall(f"{first} joined with {second} is none of the relations that a report can name")


def _prefix_or_same(prefix: Relation, same: Relation) -> Relation:
    """Join where the first position, its own prefix, is all that the prefix leaves to the other relation."""
    if prefix.first_position <= same.first_position:
        return prefix
    if prefix.first_position == 1 and same.first_position == 0:
        return PREFIX
    raise UnsupportedCall(f"{prefix} joined with {same} is none of the relations that a report can name")


def compose(outer: Relation, inner: Relation, middle: int, source: int) -> Relation:
    """Chain two dependencies: output on ``middle`` tokens, and those on ``source`` tokens.

    An output that depends on all of the middle tokens sees what the last of them sees: where that is a prefix, it is
    as many source tokens as there are middle ones.
    """
    if NONE in (outer, inner):
        return NONE
    if outer == SAME:
        return inner
    if inner == SAME:
        return outer
    if outer.first_position or inner.first_position or "same_position" in (outer.kind, inner.kind):
        raise UnsupportedCall(f"{outer} after {inner} is none of the relations that a report can name")
    if outer.kind == "all" and inner.kind == "prefix":
        reached = min(middle if outer.limit is None else outer.limit, source)
        return ALL if reached == source else Relation("all", reached)
    return inner  # all tokens of an unmasked layer, or a prefix of a prefix
