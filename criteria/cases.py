"""Cases of a set query's branch in each of which one extremum per component is enough (docs/theory-sets.md, "Cases").

In ``T.b < S.a AND S.a < T.c AND T.b <= 0 AND 0 <= T.c`` no value of ``S.a`` depends on both attributes of ``T``: where
``S.a <= 0`` the second condition holds anyway, where ``S.a > 0`` the first one does. Kept together, the best pairs
would be unboundedly many; so each case has tables of its own:

    P AND l <= g  ->  P AND l <= g AND l <= k  |  P AND l <= g AND l > k        where P says that k <= g

Likewise, of ``T.b <= S.a AND T.b < S.c`` one condition follows from the other where ``S.c <= S.a``, and where not.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute, Branch, Comparison, Op, conjunction
from streambound.criteria.components import fixed_for_best
from streambound.criteria.extremum import limiting
from streambound.criteria.order_search import Reference
from streambound.criteria.set import harmful_references
from streambound.criteria.synopsis import Synopsis


class Case(Struct, frozen=True):
    """A branch with the conditions of a case; its cases together are the branch."""

    branch: Branch
    conditions: tuple[Comparison, ...] = ()


def cases(branch: Branch, looks: float = inf) -> tuple[Case, ...]:
    """The cases; the branch alone where it needs none, or where none help; no more than some are looked at."""
    every_case = Case(branch)
    return tuple(_split(every_case, _Looks(looks)) or (every_case,))


class _Looks(Struct):
    """How many cases may still be looked at."""

    left: float


def _split(case: Case, looks: _Looks) -> list[Case] | None:
    """The satisfiable cases of a case, none of which needs another split; None where no cut leads there."""
    facts = Facts.of(case.branch)
    if not facts.closure.satisfiable:
        return []
    if _settled(facts):
        return [case]
    references = harmful_references(facts)
    cuts = [cut for reference in references for cut in _cuts(facts, reference)]
    for cut in dict.fromkeys((*cuts, *_between(facts, references))):
        looks.left -= 2
        if looks.left < 0:
            return None
        sides = [_with(case, cut), _with(case, replace(cut, op=Op.GT))]
        if all(_fewer(side, len(references)) for side in sides):
            found = [_split(side, looks) for side in sides]
            if all(part is not None for part in found):
                return [part for parts in found if parts for part in parts]
    return None


def synopses(facts: Facts, distinct: bool) -> Iterator[Synopsis]:
    """The ways to remember what a branch needs, the one with the fewest entries first.

    A set query keeps extrema wherever it can; where that makes several best matches, only where it must, or for more
    keys.
    """
    if not distinct:
        yield Synopsis(facts)
        return
    every, harmful = limiting(facts), harmful_references(facts)
    for linking in (False, True) if every else (False,):
        yield Synopsis(facts, every, linking)
        if set(every) != set(harmful):
            yield Synopsis(facts, harmful, linking)


def _settled(facts: Facts) -> bool:
    """Whether every table can keep one extremum per component."""
    return any(_has_best(synopsis) for synopsis in synopses(facts, distinct=True))


def _has_best(synopsis: Synopsis) -> bool:
    kept = () if synopsis.sets is None else synopsis.tables
    return all(not table.extrema or fixed_for_best(synopsis.facts, table) is not None for table in kept)


def _with(case: Case, condition: Comparison) -> Case:
    where = conjunction((case.branch.where, condition))
    return Case(replace(case.branch, where=where), (*case.conditions, condition))


def _fewer(case: Case, number: int) -> bool:
    facts = Facts.of(case.branch)
    return not facts.closure.satisfiable or len(harmful_references(facts)) < number


def _cuts(facts: Facts, reference: Reference) -> Iterator[Comparison]:
    """Where the lesser side is small enough, or the greater side great enough, for the join to hold in any case."""
    matrix, node = facts.closure.node(reference.lesser)
    value, _ = matrix.limit(node, facts.closure.nodes[reference.greater][1]) or (Fraction(0), False)
    for other, offset in _ends(facts, reference.greater, lower=True):
        yield _at_most(facts, reference.lesser, other, offset + value)
    for other, offset in _ends(facts, reference.lesser, lower=False):
        yield _at_most(facts, reference.greater, other, offset - value - (matrix.dense is False))


def _between(facts: Facts, references: tuple[Reference, ...]) -> Iterator[Comparison]:
    """Which of two attributes of a source limits a third one more, where one of the limits is strict and one is not.

    Limits of one kind have a tightest one anyway, and so have all limits of discrete types, where none is strict.
    """
    for one, other in permutations(references, 2):
        alike = (one.limited, one.maximum, one.own.source) == (other.limited, other.maximum, other.own.source)
        if alike and not _strict(facts, one) and _strict(facts, other):
            less, greater = (other.own, one.own) if one.maximum else (one.own, other.own)
            yield Comparison(less, Op.LE, greater, "" if facts.closure.sort(less) is Sort.STRING else 0)


def _strict(facts: Facts, reference: Reference) -> bool:
    matrix, lesser = facts.closure.node(reference.lesser)
    value, strict = matrix.limit(lesser, facts.closure.nodes[reference.greater][1]) or (Fraction(0), False)
    return strict and value == 0


def _ends(facts: Facts, attribute: Attribute, lower: bool) -> Iterator[tuple[Attribute | None, Fraction]]:
    """The constants and the relations' attributes that bound an attribute, each with an offset."""
    if facts.closure.sort(attribute) is not Sort.DISCRETE:
        constant = facts.closure.interval(attribute)[0 if lower else 1]
        limits: tuple[tuple[Attribute, Fraction], ...] = ()
    else:
        limit = facts.limits(attribute)[0 if lower else 1]
        constant, limits = limit.constant, limit.relations
    if constant is not None:
        yield None, constant
    yield from limits


def _at_most(facts: Facts, attribute: Attribute, other: Attribute | None, offset: Fraction) -> Comparison:
    if facts.closure.sort(attribute) is Sort.STRING:
        return Comparison(attribute, Op.LE, None, facts.closure.strings[int(offset)])
    return Comparison(attribute, Op.LE, other, int(offset) if offset.denominator == 1 else offset)
