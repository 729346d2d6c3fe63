"""What a table of a set query keeps of unbounded attributes: one extremum, not their values (docs/theory-sets.md).

A partial match limits what is still to come: ``X.A < Y.B`` limits ``X.A`` by ``Y.B``. A set asks only whether some
match is completed, so that of two matches with the same key the one with the weaker limits is enough.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from msgspec import Struct

from streambound.analyzer.boundedness import Facts, JoinConstraint
from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute
from streambound.criteria.order_search import Reference


class Extremum(Struct, frozen=True):
    """A value of which only the best is kept for every key.

    With ``greatest`` it is the least of some sums ``attribute + offset`` (``of``; most often one attribute), and each
    ``(x, offset, strict)`` of ``limits`` says that a completing tuple has ``x <= value + offset`` (``<`` if strict):
    the greater the value, the better. Otherwise it is the greatest of the sums, and ``x >= value + offset``.
    """

    greatest: bool
    of: tuple[tuple[Attribute, Fraction], ...]
    limits: tuple[tuple[Attribute, Fraction, bool], ...]

    @property
    def name(self) -> str:
        """What is kept, in words: ``greatest Y.B``, ``least max(Y.B, Z.C + 2)``."""
        terms = [f"{a} {'+' if n > 0 else '-'} {abs(n)}" if n else str(a) for a, n in self.of]
        value = terms[0] if len(terms) == 1 else f"{'min' if self.greatest else 'max'}({', '.join(terms)})"
        return f"{'greatest' if self.greatest else 'least'} {value}"

    def limit(self, attribute: Attribute) -> tuple[Fraction, bool] | None:
        """The offset and strictness of the limit on an attribute; None where there is none."""
        return next(((offset, strict) for x, offset, strict in self.limits if x == attribute), None)


def limiting(facts: Facts) -> tuple[Reference, ...]:
    """The inequality joins of streams with sources to come of which an extremum is enough for a set.

    They include those with a stream that comes within a window, of which a bag keeps every value for so long. A value
    that is clipped to known limits is told apart instead, and so is one of a dense type with finitely many places.
    """
    streams = frozenset(source.alias for source in facts.branch.streams)
    return tuple(
        Reference(join.attribute, join.other, own)
        for join in facts.joins
        if not join.equality and not _clipped(facts, join)
        for own in (join.attribute, join.other)
        if own.source in streams and not _placed(facts, own, join)
    )


def _clipped(facts: Facts, join: JoinConstraint) -> bool:
    if facts.closure.sort(join.attribute) is not Sort.DISCRETE:
        return False
    return facts.limits(join.attribute)[1].known and facts.limits(join.other)[0].known


def _placed(facts: Facts, own: Attribute, join: JoinConstraint) -> bool:
    """Whether an attribute of a dense type has finitely many values, or finitely many places among its partner's."""
    dense = facts.closure.sort(own) is not Sort.DISCRETE
    return dense and (facts.bounded(own) or facts.listed(join.partner(own)) is not None)


_Limited = tuple[Attribute, bool, bool]
"""An attribute to come, whether from above, and whether strictly."""


def extrema(
    facts: Facts, references: Iterable[Reference], inside: frozenset[str], exact: frozenset[Attribute]
) -> tuple[Extremum, ...]:
    """The extrema of the table of some sources, which holds the values of ``exact`` anyway."""
    limits: dict[_Limited, dict[Attribute, Fraction]] = {}
    for reference in (one for one in references if _is_open(one, inside, exact)):
        strict, carrier, offset = _offset(facts, reference, inside)
        sums = limits.setdefault((reference.limited, reference.maximum, strict), {})
        tighter = min if reference.maximum else max
        sums[carrier] = tighter(offset, sums.get(carrier, offset))
    shared: dict[tuple[bool, tuple[tuple[Attribute, Fraction], ...]], list[tuple[Attribute, Fraction, bool]]] = {}
    for (other, greatest, strict), sums in limits.items():
        shift = _shift(facts, sums)
        of = tuple(sorted((attribute, offset - shift) for attribute, offset in sums.items()))
        shared.setdefault((greatest, of), []).append((other, shift, strict))
    return tuple(Extremum(greatest, of, tuple(found)) for (greatest, of), found in shared.items())


def _is_open(reference: Reference, inside: frozenset[str], exact: frozenset[Attribute]) -> bool:
    """Whether a match of some sources, whose values of ``exact`` are held, limits what is still to come so."""
    own = reference.own
    return own.source in inside and reference.limited.source not in inside and own not in exact


def _offset(facts: Facts, reference: Reference, inside: frozenset[str]) -> tuple[bool, Attribute, Fraction]:
    """A limit as ``x <= carrier + offset`` (or ``>=``): whether it is strict, one of the own's equals, the offset."""
    matrix, lesser = facts.closure.node(reference.lesser)
    value, strict = matrix.limit(lesser, facts.closure.nodes[reference.greater][1]) or (Fraction(0), False)
    carrier = min(a for a in facts.alike(reference.own) if a.source in inside)
    apart = facts.difference(reference.own, carrier)
    return strict, carrier, apart + (value if reference.maximum else -value)


def _shift(facts: Facts, sums: dict[Attribute, Fraction]) -> Fraction:
    """What is left to add when a limit is checked; sums of dense values are as in the condition, not rounded twice."""
    offsets = list(dict.fromkeys(sums[attribute] for attribute in sorted(sums)))
    discrete = facts.closure.sort(min(sums)) is Sort.DISCRETE
    return offsets[0] if discrete or len(offsets) == 1 else Fraction(0)
