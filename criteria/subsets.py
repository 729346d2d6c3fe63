"""The sum, over the sets that a partial order allows, of the products of their members' weights, as one formula.

A set is allowed if it holds with each member those that the order puts before it. The sum is worked out without listing
sets: parts that the order does not relate are factors; of the sets of one part those without some member are sets of
what need not come after it, those with it are sets of what need not come before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from streambound.analyzer.connected import components
from streambound.criteria.size import Number, Size, product, total

MOST_PARTS = 2000
"""Parts of an order beyond which its sum is not worked out."""
LONGEST = 20_000
"""Characters of a formula beyond which it is of no use."""
DEEPEST = 60
"""Parentheses in each other beyond which Python does not read a formula, or nearly."""

Members = frozenset[int]


class TooManyError(Exception):
    """The order has too many parts, or its formula is too long."""


def subsets(before: Sequence[Members], weights: Sequence[Size]) -> Size | None:
    """The sum over all sets, the empty and the full one among them; ``before`` is transitive, members are numbered.

    None for more than `MOST_PARTS` parts, or a formula that is longer than `LONGEST` or deeper than `DEEPEST`.

    >>> from streambound.criteria.size import Symbol
    >>> subsets([frozenset(), frozenset({0}), frozenset({0})], [Symbol("a"), Symbol("b"), Symbol("c")]).text
    'a*(b + 1)*(c + 1) + 1'
    """
    members = frozenset(range(len(before)))
    after = [frozenset(other for other in members if one in before[other]) for one in range(len(before))]
    try:
        return _Sum(before, after, weights).over(members)
    except TooManyError:
        return None


@dataclass
class _Sum:
    before: Sequence[Members]
    after: Sequence[Members]
    weights: Sequence[Size]
    known: dict[Members, Size] = field(default_factory=dict)

    def over(self, members: Members) -> Size:
        if members not in self.known:
            self.known[members] = Number(0)
            if len(self.known) > MOST_PARTS:
                raise TooManyError
            parts = list(self._parts(members))
            found = self._of_one(members) if len(parts) == 1 else product(map(self.over, parts))
            if len(found.text) > LONGEST or found.depth > DEEPEST:
                raise TooManyError
            self.known[members] = found
        return self.known[members]

    def _of_one(self, members: Members) -> Size:
        """The sum over sets of related members: without the one that most others are related to, and with it."""
        one = max(sorted(members), key=lambda one: len(self._related(one) & members))
        weight = product(self.weights[other] for other in sorted({one} | self.before[one] & members))
        without, rest = members - {one} - self.after[one], members - {one} - self.before[one]
        return total([product([weight, self.over(rest)]), self.over(without)])

    def _related(self, one: int) -> Members:
        return self.before[one] | self.after[one]

    def _parts(self, members: Members) -> list[Members]:
        """The members by what relates them, directly or through others."""
        return [frozenset(part) for part in components(sorted(members), self._related)]
