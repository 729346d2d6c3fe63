"""What operators need of their inputs' rows: columns, or sums of products that they are factors of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.claims import ClaimedOperation
from streambound.recheck.derivation.trees import Node, Places, says


@dataclass(frozen=True, slots=True)
class Needed:
    """At least this is needed of rows; of some columns no greater values than ``most``."""

    columns: Places
    factors: frozenset[Places] = frozenset()
    most: Mapping[int, int] = field(default_factory=dict)

    @property
    def every(self) -> Places:
        """All columns that are read."""
        return self.columns.union(*self.factors)

    def reading(self, places: Iterable[int]) -> Needed:
        """The same with the values of more columns."""
        return Needed(self.columns | frozenset(places), self.factors, self.most)


def everything(node: Node) -> Needed:
    """All columns."""
    return Needed(node.every)


def needed_of(claim: ClaimedOperation) -> Needed:
    """What an operation says is needed of its rows."""
    factors = frozenset(frozenset(one) for one in claim.factors)
    return Needed(frozenset(claim.columns), factors, {one.column: one.most for one in claim.most})


def require(needed: Needed, claim: ClaimedOperation, node: Node) -> None:
    """Raises RejectedError where an operation gives less than is needed."""
    given = needed_of(claim)
    if not given.every <= node.every:
        raise RejectedError("columns that are none are needed")
    if not needed.columns <= given.columns:
        raise RejectedError("columns that are needed are not said to be")
    for factor in needed.factors:
        if not factor <= given.columns and not any(factor <= one for one in given.factors):
            raise RejectedError("factors that are needed are not said to be")
    for column, most in given.most.items():
        if column not in needed.most or needed.most[column] > most:
            raise RejectedError("greater values are needed")


def factors_of(expression: exp.Expr, node: Node) -> frozenset[Places] | None:
    """The factors of an expression as a sum of products, each of the rows of one source; None where it has none."""
    read = node.read_by(expression)
    if len(frozenset[str]().union(*(says(node, place) for place in read))) < 2:
        return frozenset((read,)) - {frozenset()}
    match expression:
        case exp.Paren() | exp.Neg():
            return factors_of(expression.this, node)
        case exp.Add() | exp.Sub() | exp.Mul():
            left, right = factors_of(expression.this, node), factors_of(expression.expression, node)
            return None if left is None or right is None else left | right
    return None


def require_place(claim: ClaimedOperation, node: Node) -> None:
    """Raises RejectedError where an operation is not that of a node, or stands elsewhere in the statement."""
    at, said = node.tree.at, claim.span
    place = None if said is None else (said.line, said.column)
    if claim.operator != type(node.tree).__name__ or place != (None if at is None else (at.line, at.column)):
        raise RejectedError(f"a {claim.operator}, where the statement has a {type(node.tree).__name__}")
