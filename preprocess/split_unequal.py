"""Preprocessing step 1 (paper): ``Si.A <> Sj.B  ->  Si.A < Sj.B | Si.A > Sj.B``, a disjoint union."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TypeGuard

from analyzer.boundedness import Facts
from analyzer.closure import Closure, close, with_comparison
from analyzer.errors import TooManyBranchesError
from analyzer.query import Branch, Comparison, Condition, Op, Query, Truth, conjunction
from preprocess.split_disjunctions import MOST_BRANCHES


def split_unequal(query: Query) -> Query:
    """Split ``<>`` between attributes of different streams; those within a stream stay as filters.

    In a bag query a ``<>`` between bounded attributes stays too: it needs no more than their values.
    Raises TooManyBranchesError where more than `MOST_BRANCHES` branches would be needed.
    """
    branches: list[Branch] = []
    for branch in query.branches:
        wanted = () if isinstance(branch.where, Truth) else tuple(a for a in branch.atoms if _is_join(a, branch))
        found = _split(branch, wanted, query.distinct)
        if len(branches) + len(found) > MOST_BRANCHES:
            span = wanted[0].span if wanted else None
            raise TooManyBranchesError(query.name, MOST_BRANCHES, file=query.file, span=span or branch.span)
        branches.extend(half for half in found if close(half).satisfiable or not wanted)
    return replace(query, branches=tuple(branches))


def _is_join(atom: Condition, branch: Branch) -> TypeGuard[Comparison]:
    return isinstance(atom, Comparison) and atom.op is Op.NE and branch.joins_streams(atom)


def _split(branch: Branch, wanted: tuple[Comparison, ...], distinct: bool) -> list[Branch]:
    """The branch with every wanted ``<>`` split; stops beyond `MOST_BRANCHES`, since n of them make 2^n."""
    if not wanted:
        return [branch]
    rest = tuple(atom for atom in branch.atoms if atom not in wanted)
    found: list[tuple[tuple[Condition, ...], Closure]] = [(rest, close(branch))]
    for atom in wanted:
        if len(found) <= MOST_BRANCHES:
            halves = (
                ((*atoms, half), refined)
                for atoms, closure in found
                for half, refined in _halves(branch, closure, atom, distinct)
            )
            found = list(islice(halves, MOST_BRANCHES + 1))
    return [replace(branch, where=conjunction(atoms)) for atoms, _ in found]


def _halves(branch: Branch, closure: Closure, atom: Comparison, distinct: bool) -> list[tuple[Comparison, Closure]]:
    """The possible halves of a ``<>`` with the closure under each; itself where it need not be split."""
    halves = [replace(atom, op=op) for op in (Op.LT, Op.GT)]
    possible = [(half, refined) for half in halves if (refined := with_comparison(closure, half)).satisfiable]
    facts = Facts(branch, closure)
    needless = not distinct and not branch.is_time(atom.left) and all(map(facts.bounded, atom.attributes))
    return [(atom, closure)] if needless and len(possible) == len(halves) else possible
