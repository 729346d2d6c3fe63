"""What operators need of their inputs' rows: columns, and of some no greater values than one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.claims import ClaimedOperation
from streambound.recheck.derivation.trees import Places, PlanNode


@dataclass(frozen=True, slots=True)
class Needed:
    """At least this is needed of rows: of some columns no greater values than ``most``, or so far ``apart``."""

    columns: Places
    most: Mapping[int, int] = field(default_factory=dict)
    apart: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def at(self, places: Mapping[int, int]) -> Needed:
        """The limits of columns that are at other places, and of no others."""
        most = {places[one]: most for one, most in self.most.items() if one in places}
        pairs = ((one, other, most) for (one, other), most in self.apart.items() if one in places and other in places)
        return Needed(frozenset(), most, {(places[one], places[other]): most for one, other, most in pairs})

    def reading(self, places: Iterable[int]) -> Needed:
        """The same with the values of more columns."""
        return replace(self, columns=self.columns | frozenset(places))


def everything(node: PlanNode) -> Needed:
    """All columns."""
    return Needed(node.every)


def needed_of(claim: ClaimedOperation) -> Needed:
    """What an operation says is needed of its rows."""
    most = {one.column: one.most for one in claim.most}
    apart = {(one.column, one.other): one.most for one in claim.apart}
    return Needed(frozenset(claim.columns), most, apart)


def require(needed: Needed, claim: ClaimedOperation, node: PlanNode) -> None:
    """Raises RejectedError where an operation gives less than is needed."""
    given = needed_of(claim)
    if not given.columns <= node.every:
        raise RejectedError("columns that are none are needed")
    if not needed.columns <= given.columns:
        raise RejectedError("columns that are needed are not said to be")
    if any(column not in needed.most or needed.most[column] > most for column, most in given.most.items()):
        raise RejectedError("greater values are needed")
    if any(pair not in needed.apart or needed.apart[pair] > most for pair, most in given.apart.items()):
        raise RejectedError("values are needed that are further apart")


def require_place(claim: ClaimedOperation, node: PlanNode) -> None:
    """Raises RejectedError where an operation is not that of a node, or stands elsewhere in the statement."""
    at, said = node.tree.at, claim.span
    place = None if said is None else (said.line, said.column)
    if claim.operator != type(node.tree).__name__ or place != (None if at is None else (at.line, at.column)):
        raise RejectedError(f"a {claim.operator}, where the statement has a {type(node.tree).__name__}")
