"""Cuts: where a value that may be any of infinitely many is compared with one of finitely many.

``S.v < T.v`` with ``T.v IN (1.5, 2.5)`` depends on two cuts: a table need only tell three kinds of ``S.v`` apart.
A range leaves finitely many values over discrete types only; a list of the other side's values does over all.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, floor, inf, nextafter

from msgspec import Struct

from streambound.analyzer.boundedness import Facts, JoinConstraint
from streambound.analyzer.closure import in_order
from streambound.analyzer.query import Attribute
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value


class Cut(Struct, frozen=True):
    """Separates the values above ``value`` from the others; ``value`` itself counts as above iff ``included``."""

    value: Value
    included: bool


def cuts(facts: Facts, own: Attribute, joins: Iterable[tuple[Attribute, JoinConstraint]]) -> tuple[Cut, ...]:
    """The cuts that decide joins of an attribute, or of equal ones; none where a partner's values are not listed."""
    found: set[Cut] = set()
    for member, join in joins:
        values = facts.listed(join.partner(member))
        if values is None:
            return ()
        included = _strict(facts, join) == (join.attribute == member)
        found.update(Cut(value, included) for value in values)
    ordered = sorted(found, key=lambda cut: (in_order(cut.value), not cut.included))
    return tuple(cut for cut in ordered if not _decided(facts, own, cut))


def _strict(facts: Facts, join: JoinConstraint) -> bool:
    pair = facts.closure.pair(join.attribute, join.other)
    limit = pair[0].limit(pair[1], pair[2]) if pair else None
    return limit is not None and limit[1]


def _decided(facts: Facts, own: Attribute, cut: Cut) -> bool:
    """Whether the conditions leave an attribute values on one side of a cut only."""
    matrix, node = facts.closure.node(own)
    number = facts.closure.ranks[cut.value] if isinstance(cut.value, str) else cut.value
    above = matrix.implies(0, node, -number, strict=not cut.included)
    return above or matrix.implies(node, 0, number, strict=cut.included)


def representatives(facts: Facts, own: Attribute, cuts: tuple[Cut, ...]) -> tuple[float | int | str, ...]:
    """The least value that the conditions leave an attribute and the least above each cut, encoded for the kernel."""
    kind = facts.branch.column(own).type
    places = tuple(_least_above(cut, kind) for cut in cuts)
    return (_least(facts, own, kind, places[0]), *places)


def _least(facts: Facts, own: Attribute, kind: DataType, first: float | int | str) -> float | int | str:
    """What stands for the values below the first cut: the least that the conditions leave, or anything below."""
    matrix, node = facts.closure.node(own)
    limit = matrix.limit(0, node)
    if limit is None:
        return first - 1 if isinstance(first, int) else -inf if isinstance(first, float) else ""
    value = facts.closure.strings[int(-limit[0])] if kind.family is Family.STRING else -limit[0]
    return _least_above(Cut(value, included=not limit[1]), kind)


def _least_above(cut: Cut, kind: DataType) -> float | int | str:
    match cut.value:
        case str(text):
            return text if cut.included else f"{text}\0"
        case number if kind.family is Family.FLOAT:
            return float(number) if cut.included else nextafter(float(number), inf)
    exact = Fraction(cut.value)
    return ceil(exact) if cut.included else floor(exact) + 1
