"""What operators need of their inputs' rows: columns, and of some no greater values than one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.claims import ClaimedOperation
from streambound.recheck.derivation.trees import Places, PlanNode


@dataclass(frozen=True, slots=True)
class Needed:
    """At least this is needed of rows; of some columns no greater values than ``most``, nor times so long ``ago``."""

    columns: Places
    most: Mapping[int, int] = field(default_factory=dict)
    ago: dict[int, int] = field(default_factory=dict)

    def reading(self, places: Iterable[int]) -> Needed:
        """The same with the values of more columns."""
        return replace(self, columns=self.columns | frozenset(places))


def everything(node: PlanNode) -> Needed:
    """All columns."""
    return Needed(node.every)


def needed_of(claim: ClaimedOperation) -> Needed:
    """What an operation says is needed of its rows."""
    limits = ({one.column: one.most for one in several} for several in (claim.most, claim.ago))
    return Needed(frozenset(claim.columns), *limits)


def require(needed: Needed, claim: ClaimedOperation, node: PlanNode) -> None:
    """Raises RejectedError where an operation gives less than is needed."""
    given = needed_of(claim)
    if not given.columns <= node.every:
        raise RejectedError("columns that are none are needed")
    if not needed.columns <= given.columns:
        raise RejectedError("columns that are needed are not said to be")
    for limits, known in ((given.most, needed.most), (given.ago, needed.ago)):
        if any(column not in known or known[column] > most for column, most in limits.items()):
            raise RejectedError("greater values are needed, or earlier ones")


def require_place(claim: ClaimedOperation, node: PlanNode) -> None:
    """Raises RejectedError where an operation is not that of a node, or stands elsewhere in the statement."""
    at, said = node.tree.at, claim.span
    place = None if said is None else (said.line, said.column)
    if claim.operator != type(node.tree).__name__ or place != (None if at is None else (at.line, at.column)):
        raise RejectedError(f"a {claim.operator}, where the statement has a {type(node.tree).__name__}")
