"""How far values must be told apart: limits outside which the future cannot tell them apart (docs/theory-bags.md).

A join ``A − B ≤ c`` depends on A only from ``lo(B) + c`` on, on B only up to ``hi(A) − c``. The limits of what is still
to come are constants and relations' extreme values, or, where there are none, values of finite streams: those that the
partial match itself holds, since every tuple that completes it is compared with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from streambound.analyzer.boundedness import Facts, JoinConstraint, Limit
from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute

Ends = tuple[tuple[Limit, ...], tuple[Limit, ...]]
"""Lower limits, to the least of which smaller values are raised, and upper ones; empty: values are kept as they are."""
Open = tuple[Attribute, JoinConstraint]
"""An attribute of a table, and a join of it with one outside."""


def clip(facts: Facts, kept: Attribute, joins: Sequence[Open], limiting: frozenset[Attribute] = frozenset()) -> Ends:
    """The limits of the attribute ``kept``, whose joins, and those of its equals, with attributes outside are given.

    An attribute that is joined in both directions, or for equality, is bounded itself and kept as it is. ``limiting``
    are attributes of finite streams that the table holds as they are.
    """
    lesser = direction(facts, kept, joins)
    if lesser is None:
        return (), ()
    limits = tuple(_limit(facts, kept, member, join, limiting) for member, join in joins)
    if not all(limit.known for limit in limits):
        return (), ()
    return (limits, ()) if lesser else ((), limits)


def direction(facts: Facts, kept: Attribute, joins: Sequence[Open]) -> bool | None:
    """Whether an attribute is the lesser side of all these joins (False: the greater); None when it is neither."""
    if kept not in facts.closure.nodes or facts.closure.sort(kept) is not Sort.DISCRETE:
        return None
    directions = {join.attribute == member for member, join in joins}
    return None if len(directions) != 1 or any(join.equality for _, join in joins) else directions.pop()


def _limit(
    facts: Facts, kept: Attribute, member: Attribute, join: JoinConstraint, limiting: frozenset[Attribute]
) -> Limit:
    """``lo(B) + c`` for ``A − B ≤ c`` where the member is A, ``hi(A) − c`` where it is B, as a limit of ``kept``."""
    lesser, other = join.attribute == member, join.partner(member)
    limit = facts.limits(other)[0 if lesser else 1]
    if not limit.known:
        limit = Limit(None, tuple(end for end in _ends(facts, other, lesser) if end[0] in limiting))
    c = facts.difference(join.attribute, join.other)
    offset = facts.difference(kept, member) + (c if lesser else -c)
    constant = None if limit.constant is None else limit.constant + offset
    return Limit(constant, tuple((attribute, value + offset) for attribute, value in limit.relations))


# --- finite streams ---------------------------------------------------------------------------------------------------


def limits_within(facts: Facts, x: Attribute, inside: frozenset[str]) -> tuple[Limit, Limit]:
    """`Facts.limits` of a discrete attribute; a side that has none gets those by finite streams that are ``inside``."""
    low, high = facts.limits(x)
    return (
        low if low.known else Limit(None, stream_limits(facts, x, True, inside)),
        high if high.known else Limit(None, stream_limits(facts, x, False, inside)),
    )


def clipped_to(
    facts: Facts, kept: Attribute, joins: Sequence[Open], inside: frozenset[str], exact: frozenset[Attribute]
) -> Iterator[Attribute]:
    """The attributes of finite streams ``inside`` to clip an attribute to, of those that do best one that is ``exact``
    anyway; none where its values are limited, or something else limits those that it is compared with.
    """
    lesser = direction(facts, kept, joins)
    if lesser is None or facts.listed(kept) is not None:
        return
    if all(limit.known for limit in limits_within(facts, kept, inside)):
        return
    for other in (join.partner(member) for member, join in joins):
        if not facts.limits(other)[0 if lesser else 1].known:
            ends = stream_limits(facts, other, lesser, inside)
            yield from sorted((a for a, _ in ends), key=lambda a: exact.isdisjoint(facts.alike(a)))[:1]


def stream_limits(
    facts: Facts, x: Attribute, lower: bool, inside: frozenset[str]
) -> tuple[tuple[Attribute, Fraction], ...]:
    """The attributes of some finite streams that bound an attribute, each with an offset; one that says no more than
    another one is left out.
    """
    found = [end for end in _ends(facts, x, lower) if end[0].source in inside]
    return tuple(end for place, end in enumerate(found) if not _follows(facts, x, lower, found, place))


def _ends(facts: Facts, x: Attribute, lower: bool) -> Iterator[tuple[Attribute, Fraction]]:
    """All finite streams' attributes that bound an attribute, by table and column."""
    matrix, node = facts.closure.node(x)
    mine = (a for a in facts.closure.attributes(facts.closure.sort(x)) if a.source in facts.finite_streams and a != x)
    for other in sorted(mine, key=lambda a: (facts.branch.source(a.source).table, a.column, a.source)):
        end = facts.closure.nodes[other][1]
        limit = matrix.limit(end, node) if lower else matrix.limit(node, end)
        if limit is not None:
            yield other, -limit[0] if lower else limit[0]


def _follows(facts: Facts, x: Attribute, lower: bool, ends: list[tuple[Attribute, Fraction]], place: int) -> bool:
    """Whether a bound follows from another one; of two that follow from each other the first stays."""
    return any(
        _through(facts, x, lower, ends[place][0], other)
        and (number < place or not _through(facts, x, lower, other, ends[place][0]))
        for number, (other, _) in enumerate(ends)
        if number != place
    )


def _through(facts: Facts, x: Attribute, lower: bool, end: Attribute, middle: Attribute) -> bool:
    """Whether the bound of ``x`` by one attribute follows through another one."""
    matrix, node = facts.closure.node(x)
    first, second = facts.closure.nodes[end][1], facts.closure.nodes[middle][1]
    return matrix.implied_through(first, second, node) if lower else matrix.implied_through(node, second, first)
