"""OR and IN into disjoint conjunctive branches, so that a bag keeps its multiplicities.

``a OR b  ->  a | (b AND a is not true)``
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analyzer.closure import Closure, close, implied
from analyzer.errors import UsageError
from analyzer.query import (
    FALSE,
    And,
    Atom,
    Branch,
    Comparison,
    Formula,
    NullTest,
    Op,
    Or,
    Query,
    conjunction,
    conjuncts,
)
from preprocess.normalise import normalise, not_true

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
        return [replace(branch, where=formula)]
    kept: list[tuple[Atom, ...]] = []
    for atoms in _alternatives(branch, formula):
        kept.append(atoms)
        if len(kept) > MOST_BRANCHES:
            break
    if not kept:
        return [replace(branch, where=FALSE)]
    return [replace(branch, where=conjunction(atoms)) for atoms in _merged(kept)]


def _has_or(formula: Formula) -> bool:
    return isinstance(formula, Or) or (isinstance(formula, And) and any(_has_or(part) for part in formula.parts))


def _alternatives(branch: Branch, formula: Formula) -> Iterator[tuple[Atom, ...]]:
    """The disjoint conjunctions of a normalised formula, contradictory ones pruned."""
    parts = formula.parts if isinstance(formula, And) else (formula,)
    atoms = tuple(part for part in parts if isinstance(part, Comparison | NullTest))
    if formula == FALSE:
        return
    closure = close(replace(branch, where=conjunction(atoms)))
    if not closure.satisfiable:
        return
    parts = tuple(part for part in parts if not (isinstance(part, Or) and _any_implied(closure, part)))
    choice = next((part for part in parts if isinstance(part, Or)), None)
    if choice is None:
        yield tuple(atom for atom in conjuncts(conjunction(parts)) if not _idle_inequality(closure, atom))
        return
    rest = tuple(part for part in parts if part is not choice)
    excluded: tuple[Formula, ...] = ()
    for option in choice.parts:
        yield from _alternatives(branch, normalise(And((*rest, option, *excluded))))
        excluded = (*excluded, not_true(option))


def _any_implied(closure: Closure, choice: Or) -> bool:
    """Whether some option of a disjunction already holds, so that it splits nothing."""
    return any(isinstance(option, Comparison) and implied(closure, option) for option in choice.parts)


def _idle_inequality(closure: Closure, atom: Atom) -> bool:
    """Whether a ``<>`` says nothing new: ``x = 3`` makes ``x <> 1`` idle."""
    return isinstance(atom, Comparison) and atom.op is Op.NE and implied(closure, atom)


def _merged(branches: list[tuple[Atom, ...]]) -> list[tuple[Atom, ...]]:
    """Put together branches that differ in one comparison only, so that a tautology splits nothing.

    ``x < y | x >= y  ->  x IS NOT NULL AND y IS NOT NULL``
    """
    merged = True
    while merged:
        merged = False
        for i, first in enumerate(branches):
            for j in range(i + 1, len(branches)):
                together = _merge_pair(first, branches[j])
                if together is not None:
                    branches = [*branches[:i], together, *branches[i + 1 : j], *branches[j + 1 :]]
                    merged = True
                    break
            if merged:
                break
    return branches


def _merge_pair(first: tuple[Atom, ...], second: tuple[Atom, ...]) -> tuple[Atom, ...] | None:
    plain_first, plain_second = ({_plain(atom): atom for atom in atoms} for atoms in (first, second))
    only_first = [atom for plain, atom in plain_first.items() if plain not in plain_second]
    only_second = [atom for plain, atom in plain_second.items() if plain not in plain_first]
    if len(only_first) != 1 or len(only_second) != 1:
        return None
    a, b = only_first[0], only_second[0]
    if not (isinstance(a, Comparison) and isinstance(b, Comparison)) or (a.left, a.right, a.offset) != (
        b.left,
        b.right,
        b.offset,
    ):
        return None
    key = frozenset({a.op, b.op})
    if key not in _UNION_OF:
        return None
    op = _UNION_OF[key]
    rest = tuple(atom for atom in first if atom != a)
    if op is not None:
        return (*rest, replace(a, op=op))
    return (*rest, *(NullTest(attribute, False, a.span) for attribute in dict.fromkeys(a.attributes)))


def _plain(atom: Atom) -> Atom:
    return replace(atom, span=None)
