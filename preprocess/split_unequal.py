"""Preprocessing step 1 (paper): ``Si.A <> Sj.B  ->  Si.A < Sj.B | Si.A > Sj.B``, a disjoint union."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, permutations
from typing import TypeGuard

from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import admits, close, with_comparison
from streambound.analyzer.errors import TooManyBranchesError
from streambound.analyzer.query import Branch, Comparison, Condition, Op, Query, Truth, conjunction
from streambound.analyzer.work import spend
from streambound.preprocess.split_disjunctions import MOST_BRANCHES

_STEPS = 50
"""What a half costs, and how many conditions are copied at the cost of one step."""


def split_unequal(query: Query) -> Query:
    """Split ``<>`` between attributes of different streams; those within a stream stay as filters.

    A ``<>`` between bounded attributes stays too: it needs no more than their values.
    Raises TooManyBranchesError where more than `MOST_BRANCHES` branches would be needed.
    """
    return _split_all(query, _bounded)


def split_waiting(query: Query) -> Query:
    """The same, where a ``<>`` also stays if none of its values waits for ever: it is a test where partners meet.

    A value waits for ever if it is not bounded, and a tuple to compare it with may come any time later. Raises
    TooManyBranchesError.
    """
    return _split_all(query, _waits_never)


Keeps = Callable[[Facts, Comparison], bool]
"""Whether a ``<>`` stays."""


def _bounded(facts: Facts, atom: Comparison) -> bool:
    return all(map(facts.bounded, atom.attributes))


def _waits_never(facts: Facts, atom: Comparison) -> bool:
    ways = permutations(atom.attributes)
    return all(facts.bounded(own) or other.source not in facts.later[own.source] for own, other in ways)


def _split_all(query: Query, keeps: Keeps) -> Query:
    branches: list[Branch] = []
    for branch in query.branches:
        wanted = () if isinstance(branch.where, Truth) else tuple(a for a in branch.atoms if _is_join(a, branch))
        found = _split(branch, wanted, keeps) if wanted else [()]
        if len(branches) + len(found) > MOST_BRANCHES:
            span = wanted[0].span if wanted else None
            raise TooManyBranchesError(query.name, MOST_BRANCHES, file=query.file, span=span or branch.span)
        halves = [replace(branch, where=conjunction(atoms)) for atoms in found] if wanted else [branch]
        branches.extend(half for half in halves if close(half).satisfiable or not wanted)
    return replace(query, branches=tuple(branches))


def _is_join(atom: Condition, branch: Branch) -> TypeGuard[Comparison]:
    return isinstance(atom, Comparison) and atom.op is Op.NE and branch.joins_streams(atom)


def _split(branch: Branch, wanted: tuple[Comparison, ...], keeps: Keeps) -> list[tuple[Condition, ...]]:
    """The branch's conditions with every wanted ``<>`` split; stops beyond `MOST_BRANCHES`: n of them make 2^n."""
    split = {id(atom) for atom in wanted}
    rest = tuple(atom for atom in branch.atoms if id(atom) not in split)
    found: list[tuple[tuple[Condition, ...], Facts]] = [(rest, Facts(branch, close(branch)))]
    for place, atom in enumerate(wanted):
        if len(found) > MOST_BRANCHES:
            break
        if place:
            found = [(atoms, _refined(known, atoms[-1])) for atoms, known in found]
        spend(len(found) * (_STEPS + len(found[0][0]) / _STEPS) if found else 0)
        halves = ((atoms, known, half) for atoms, known in found for half in _halves(known, atom, keeps))
        found = [((*atoms, half), known) for atoms, known, half in islice(halves, MOST_BRANCHES + 1)]
    return [atoms for atoms, _ in found]


def _refined(facts: Facts, half: Condition) -> Facts:
    """The facts under a half of a ``<>``; the same facts for a ``<>`` that was not split."""
    if not isinstance(half, Comparison) or half.op is Op.NE:
        return facts
    return Facts(facts.branch, with_comparison(facts.closure, half))


def _halves(facts: Facts, atom: Comparison, keeps: Keeps) -> list[Comparison]:
    """The possible halves of a ``<>``; itself where it need not be split."""
    possible = [half for op in (Op.LT, Op.GT) if admits(facts.closure, half := replace(atom, op=op))]
    needless = len(possible) == 2 and not facts.branch.is_time(atom.left)
    return [atom] if needless and keeps(facts, atom) else possible
