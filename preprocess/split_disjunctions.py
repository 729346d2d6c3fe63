"""OR and IN into disjoint conjunctive branches, so that a bag keeps its multiplicities.

``a OR b  ->  a | (b AND a is not true)``
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from analyzer.closure import Closure, close, implied
from analyzer.errors import TooManyBranchesError
from analyzer.query import (
    FALSE,
    And,
    Attribute,
    Branch,
    Comparison,
    Condition,
    Formula,
    NullTest,
    OneOf,
    Op,
    Or,
    Query,
    conjunction,
    conjuncts,
    first_span,
)
from analyzer.spans import Span
from analyzer.values import Value
from preprocess.gather_lists import gather_lists
from preprocess.normalise import normalise, not_true

MOST_BRANCHES = 512
"""Disjoint branches that are looked at: n independent choices make 2^n."""

MOST_CONDITIONS = 200_000
"""Conditions that are read on the way to them: each alternative of n excludes those before it."""

_UNION_OF = {
    frozenset({Op.LT, Op.EQ}): Op.LE,
    frozenset({Op.GT, Op.EQ}): Op.GE,
    frozenset({Op.LT, Op.GT}): Op.NE,
    frozenset({Op.LE, Op.NE}): None,
    frozenset({Op.GE, Op.NE}): None,
    frozenset({Op.LE, Op.GT}): None,
    frozenset({Op.LT, Op.GE}): None,
    frozenset({Op.EQ, Op.NE}): None,
    frozenset({Op.LE, Op.GE}): None,
}
"""What two comparisons of the same things say together; None is "neither is NULL"."""


def split_disjunctions(query: Query) -> Query:
    """Every branch as disjoint branches whose conditions are conjunctions.

    Contradictory branches are kept only when nothing else is left of a SELECT, so that it can be reported.
    Raises TooManyBranchesError for a condition that would need more than `MOST_BRANCHES` branches.
    """
    branches: list[Branch] = []
    for branch in query.branches:
        try:
            branches.extend(_split_branch(branch))
            complete = len(branches) <= MOST_BRANCHES
        except (_TooMuch, RecursionError):
            complete = False
        if not complete:
            span = _first_choice(normalise(branch.where)) or branch.span
            raise TooManyBranchesError(query.name, MOST_BRANCHES, file=query.file, span=span)
    return replace(query, branches=tuple(branches))


class _TooMuch(Exception):
    """More than `MOST_CONDITIONS` were read."""


def _split_branch(branch: Branch) -> list[Branch]:
    formula = gather_lists(branch, normalise(branch.where))
    if not _has_or(formula):
        return [replace(branch, where=formula)]
    kept = list(islice(_alternatives(branch, formula, [MOST_CONDITIONS]), MOST_BRANCHES + 1))
    if not kept:
        return [replace(branch, where=FALSE)]
    together = _merged(kept) if len(kept) <= MOST_BRANCHES else kept
    return [replace(branch, where=conjunction(atoms)) for atoms in together]


def _first_choice(formula: Formula) -> Span | None:
    """The span of a normalised formula's first OR; None without one."""
    match formula:
        case And(parts):
            return next((span for part in parts if (span := _first_choice(part)) is not None), None)
        case Or():
            return first_span(formula)
    return None


def _has_or(formula: Formula) -> bool:
    return isinstance(formula, Or) or (isinstance(formula, And) and any(_has_or(part) for part in formula.parts))


def _alternatives(branch: Branch, formula: Formula, left: list[int]) -> Iterator[tuple[Condition, ...]]:
    """The disjoint conjunctions of a normalised formula, contradictory ones pruned."""
    if formula == FALSE:
        return
    parts = formula.parts if isinstance(formula, And) else (formula,)
    left[0] -= len(parts)
    if left[0] < 0:
        raise _TooMuch
    atoms = tuple(part for part in parts if isinstance(part, Comparison | NullTest | OneOf))
    closure = close(replace(branch, where=conjunction(atoms)))
    if not closure.satisfiable:
        return
    parts = tuple(part for part in parts if not (isinstance(part, Or) and _any_implied(closure, part)))
    choice = next((part for part in parts if isinstance(part, Or)), None)
    if choice is None:
        yield _without_idle(branch, conjuncts(conjunction(parts)))
        return
    rest = tuple(part for part in parts if part is not choice)
    excluded: tuple[Formula, ...] = ()
    for option in sorted(choice.parts, key=_joins):
        yield from _alternatives(branch, gather_lists(branch, normalise(And((*rest, option, *excluded)))), left)
        excluded = (*excluded, not_true(option))


def _joins(formula: Formula) -> bool:
    """Whether a formula is no plain condition on one source: it compares several, or asks for NULL.

    Plain conditions come first: what they exclude then keeps the others apart by conditions on one source, which
    proves more (`criteria.verdict.proved_for_all`).
    """
    match formula:
        case Comparison():
            return len({attribute.source for attribute in formula.attributes}) > 1
        case OneOf():
            return False
        case And(parts) | Or(parts):
            return any(_joins(part) for part in parts)
    return True


def _any_implied(closure: Closure, choice: Or) -> bool:
    """Whether some option of a disjunction already holds, so that it splits nothing."""
    return any(_implied(closure, option) for option in choice.parts)


def _implied(closure: Closure, option: Formula) -> bool:
    match option:
        case Comparison():
            return implied(closure, option)
        case NullTest(attribute, is_null):
            return attribute in (closure.null if is_null else closure.compared)
    return False


def _without_idle(branch: Branch, atoms: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """The conjunction without each ``<>`` that follows from the others: ``x = 3 AND x <> 1  ->  x = 3``."""
    unequal = tuple(atom for atom in atoms if isinstance(atom, Comparison) and atom.op is Op.NE)
    if not unequal:
        return atoms
    others = tuple(atom for atom in atoms if not (isinstance(atom, Comparison) and atom.op is Op.NE))
    present = {a for atom in others if not (isinstance(atom, NullTest) and atom.is_null) for a in atom.attributes}
    closure = close(replace(branch, where=conjunction(atoms)), tighten=False)
    idle = {id(atom) for atom in unequal if present.issuperset(atom.attributes) and implied(closure, atom)}
    return tuple(atom for atom in atoms if id(atom) not in idle)


def _merged(branches: list[tuple[Condition, ...]]) -> list[tuple[Condition, ...]]:
    """Put together branches that differ in one comparison only, so that a tautology splits nothing.

    ``x < y | x >= y  ->  x IS NOT NULL AND y IS NOT NULL``
    """
    kept: dict[int, tuple[Condition, ...]] = {}
    places: dict[_Key, int] = {}
    for place, atoms in enumerate(branches):
        while (found := _partner(atoms, kept, places)) is not None:
            place, atoms = found
            places = {key: other for key, other in places.items() if other != place}
        kept[place] = atoms
        places.update((key, place) for key in _keys(atoms))
    return [kept[place] for place in sorted(kept)]


_Subject = tuple[Attribute, Attribute | None, Value]
_Key = tuple[frozenset[Condition], _Subject]
"""What a branch says beside one comparison, and what that compares."""


def _keys(atoms: tuple[Condition, ...]) -> dict[_Key, Comparison]:
    plain = frozenset(_plain(atom) for atom in atoms)
    comparisons = [atom for atom in atoms if isinstance(atom, Comparison)]
    return {(plain - {_plain(atom)}, (atom.left, atom.right, atom.offset)): atom for atom in comparisons}


def _partner(
    atoms: tuple[Condition, ...], kept: dict[int, tuple[Condition, ...]], places: dict[_Key, int]
) -> tuple[int, tuple[Condition, ...]] | None:
    """The place of an earlier branch that differs in one comparison only, and what the two say together."""
    for key, second in _keys(atoms).items():
        if key in places:
            earlier = kept[places[key]]
            together = _together(earlier, _keys(earlier)[key], second)
            if together is not None:
                return places[key], together
    return None


def _together(atoms: tuple[Condition, ...], first: Comparison, second: Comparison) -> tuple[Condition, ...] | None:
    """A branch with one of its comparisons replaced by its union with another."""
    key = frozenset({first.op, second.op})
    if key not in _UNION_OF:
        return None
    op = _UNION_OF[key]
    rest = tuple(atom for atom in atoms if _plain(atom) != _plain(first))
    if op is not None:
        return (*rest, replace(first, op=op))
    return (*rest, *(NullTest(attribute, False, first.span) for attribute in dict.fromkeys(first.attributes)))


def _plain(atom: Condition) -> Condition:
    return replace(atom, span=None)
