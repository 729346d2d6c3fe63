"""OR and IN into disjoint conjunctive branches, so that a bag keeps its multiplicities.

``a OR b  ->  a | (b AND a is not true)``
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from analyzer.closure import Closure, close, implied
from analyzer.errors import UsageError
from analyzer.query import (
    FALSE,
    TRUE,
    And,
    Atom,
    Attribute,
    Branch,
    Comparison,
    Formula,
    NullTest,
    Op,
    Or,
    Query,
    Truth,
    conjunction,
    conjuncts,
)
from analyzer.values import Value
from preprocess.normalise import conjoined, disjoined, negate, normalise, not_true
from preprocess.simplify_alternatives import apart, simplify_alternatives

MOST_BRANCHES = 4096
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
    Raises UsageError for a condition that would need more than `MOST_BRANCHES` branches.
    """
    branches: list[Branch] = []
    for branch in query.branches:
        branches.extend(_split_branch(branch))
        if len(branches) > MOST_BRANCHES:
            raise UsageError(
                f"{query.name}: the condition needs more than {MOST_BRANCHES} disjoint branches",
                remedy="split the query, or replace long IN lists by a relation",
                file=query.file,
                line=query.span.line,
            )
    return replace(query, branches=tuple(branches))


def _split_branch(branch: Branch) -> list[Branch]:
    formula = normalise(branch.where)
    if not _has_or(formula):
        return [replace(branch, where=_plain_conjunction(branch, formula))]
    formula = simplify_alternatives(branch, formula)
    kept = list(islice(_alternatives(branch, formula), MOST_BRANCHES + 1))
    if not kept:
        return [replace(branch, where=FALSE)]
    together = _merged(kept) if len(kept) <= MOST_BRANCHES else kept
    return [replace(branch, where=conjunction(atoms)) for atoms in together]


def _plain_conjunction(branch: Branch, formula: Formula) -> Formula:
    """A condition without alternatives, as written but for the ``<>`` that say nothing."""
    return formula if isinstance(formula, Truth) else conjunction(_without_idle(branch, conjuncts(formula)))


def _has_or(formula: Formula) -> bool:
    return isinstance(formula, Or) or (isinstance(formula, And) and any(_has_or(part) for part in formula.parts))


def _alternatives(branch: Branch, formula: Formula) -> Iterator[tuple[Atom, ...]]:
    """The disjoint conjunctions of a simplified formula, contradictory ones pruned."""
    if formula == FALSE:
        return
    parts = formula.parts if isinstance(formula, And) else (formula,)
    atoms = tuple(part for part in parts if isinstance(part, Comparison | NullTest))
    closure = close(replace(branch, where=conjunction(atoms)))
    if not closure.satisfiable:
        return
    choices = tuple(part for part in parts if isinstance(part, Or))
    reduced = tuple(_reduced(branch, closure, atoms, choice) for choice in choices)
    if reduced != choices:
        yield from _alternatives(branch, _simplified(branch, *atoms, *reduced))
    elif not choices:
        yield _without_idle(branch, atoms)
    else:
        choice, *others = choices
        for option, excluded in _one_by_one(branch, choice):
            yield from _alternatives(branch, _simplified(branch, *atoms, *others, option, *excluded))


def _simplified(branch: Branch, *parts: Formula) -> Formula:
    return simplify_alternatives(branch, normalise(And(parts)))


def _one_by_one(branch: Branch, choice: Or) -> Iterator[tuple[Formula, list[Formula]]]:
    """Every option of a disjunction, with the negations that keep it apart from those before it."""
    for place, option in enumerate(choice.parts):
        yield option, [not_true(other) for other in choice.parts[:place] if not apart(branch, option, other)]


def _reduced(branch: Branch, closure: Closure, atoms: tuple[Atom, ...], choice: Or) -> Formula:
    """A disjunction beside conditions that hold: without options that contradict them, nor what they imply."""
    options = []
    for option in choice.parts:
        parts = option.parts if isinstance(option, And) else (option,)
        rest = tuple(part for part in parts if not _implied(closure, part))
        if not rest:
            return TRUE
        if not _contradicts(branch, closure, atoms, rest):
            options.append(conjoined(rest))
    return disjoined(tuple(options))


def _implied(closure: Closure, part: Formula) -> bool:
    """Whether a condition follows from conditions beside it."""
    match part:
        case Comparison():
            return implied(closure, part)
        case NullTest(attribute, is_null):
            return attribute in (closure.null if is_null else closure.compared)
        case And(parts):
            return all(_implied(closure, inner) for inner in parts)
        case Or(parts):
            return any(_implied(closure, inner) for inner in parts)
    return False


def _contradicts(branch: Branch, closure: Closure, atoms: tuple[Atom, ...], parts: tuple[Formula, ...]) -> bool:
    """Whether a conjunction contradicts conditions beside it; what it says in disjunctions does not count."""
    added = tuple(part for part in parts if isinstance(part, Comparison | NullTest))
    if len(added) == 1 and closure.compared.issuperset(added[0].attributes):
        return _implied(closure, negate(added[0]))
    return bool(added) and not close(replace(branch, where=conjunction((*atoms, *added)))).satisfiable


def _without_idle(branch: Branch, atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """The conjunction without each ``<>`` that follows from the others: ``x = 3 AND x <> 1  ->  x = 3``."""
    unequal = tuple(atom for atom in atoms if isinstance(atom, Comparison) and atom.op is Op.NE)
    if not unequal or not close(replace(branch, where=conjunction(atoms))).satisfiable:
        return atoms
    others = tuple(atom for atom in atoms if not (isinstance(atom, Comparison) and atom.op is Op.NE))
    present = {a for atom in others if not (isinstance(atom, NullTest) and atom.is_null) for a in atom.attributes}
    closure = close(replace(branch, where=conjunction(atoms)), tighten=False)
    idle = {id(atom) for atom in unequal if present.issuperset(atom.attributes) and implied(closure, atom)}
    return tuple(atom for atom in atoms if id(atom) not in idle)


def _merged(branches: list[tuple[Atom, ...]]) -> list[tuple[Atom, ...]]:
    """Put together branches that differ in one comparison only, so that a tautology splits nothing.

    ``x < y | x >= y  ->  x IS NOT NULL AND y IS NOT NULL``
    """
    kept: dict[int, tuple[Atom, ...]] = {}
    places: dict[_Key, int] = {}
    for place, atoms in enumerate(branches):
        while (found := _partner(atoms, kept, places)) is not None:
            place, atoms = found
            places = {key: other for key, other in places.items() if other != place}
        kept[place] = atoms
        places.update((key, place) for key in _keys(atoms))
    return [kept[place] for place in sorted(kept)]


_Subject = tuple[Attribute, Attribute | None, Value]
_Key = tuple[frozenset[Atom], _Subject]
"""What a branch says beside one comparison, and what that compares."""


def _keys(atoms: tuple[Atom, ...]) -> dict[_Key, Comparison]:
    plain = frozenset(_plain(atom) for atom in atoms)
    comparisons = [atom for atom in atoms if isinstance(atom, Comparison)]
    return {(plain - {_plain(atom)}, (atom.left, atom.right, atom.offset)): atom for atom in comparisons}


def _partner(
    atoms: tuple[Atom, ...], kept: dict[int, tuple[Atom, ...]], places: dict[_Key, int]
) -> tuple[int, tuple[Atom, ...]] | None:
    """The place of an earlier branch that differs in one comparison only, and what the two say together."""
    for key, second in _keys(atoms).items():
        if key in places:
            earlier = kept[places[key]]
            together = _together(earlier, _keys(earlier)[key], second)
            if together is not None:
                return places[key], together
    return None


def _together(atoms: tuple[Atom, ...], first: Comparison, second: Comparison) -> tuple[Atom, ...] | None:
    """A branch with one of its comparisons replaced by its union with another."""
    key = frozenset({first.op, second.op})
    if key not in _UNION_OF:
        return None
    op = _UNION_OF[key]
    rest = tuple(atom for atom in atoms if _plain(atom) != _plain(first))
    if op is not None:
        return (*rest, replace(first, op=op))
    return (*rest, *(NullTest(attribute, False, first.span) for attribute in dict.fromkeys(first.attributes)))


def _plain(atom: Atom) -> Atom:
    return replace(atom, span=None)
