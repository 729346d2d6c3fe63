"""Preprocessing step 1 (paper): ``Si.A <> Sj.B  ->  Si.A < Sj.B | Si.A > Sj.B``, a disjoint union."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from analyzer.boundedness import Facts
from analyzer.closure import close
from analyzer.errors import TooManyBranchesError
from analyzer.query import Branch, Comparison, Condition, Op, Query, Truth, conjunction

MOST_BRANCHES = 512


def split_unequal(query: Query) -> Query:
    """Split ``<>`` between attributes of different streams; those within a stream stay as filters.

    In a bag query a ``<>`` between bounded attributes stays too: whichever half it takes, their values are remembered.
    Raises TooManyBranchesError where more than `MOST_BRANCHES` branches would be needed.
    """
    branches: list[Branch] = []
    for branch in query.branches:
        branches.extend(islice(_split(branch, query.distinct), MOST_BRANCHES + 1))
        if len(branches) > MOST_BRANCHES:
            atom = next(atom for atom in branch.atoms if _splits(atom, branch))
            raise TooManyBranchesError(query.name, MOST_BRANCHES, file=query.file, span=atom.span or branch.span)
    return replace(query, branches=tuple(branches))


def _split(branch: Branch, distinct: bool, kept: int = 0) -> Iterator[Branch]:
    """The branches of one; its first ``kept`` conditions stay."""
    atoms = () if isinstance(branch.where, Truth) else branch.atoms
    place = next((i for i, atom in enumerate(atoms) if i >= kept and _splits(atom, branch)), None)
    if place is None:
        yield branch
        return
    atom, rest = atoms[place], (*atoms[:place], *atoms[place + 1 :])
    assert isinstance(atom, Comparison)
    halves = (replace(branch, where=conjunction((*rest, replace(atom, op=op)))) for op in (Op.LT, Op.GT))
    possible = [half for half in halves if close(half).satisfiable]
    if len(possible) == 2 and not distinct and _finite(atom, branch):
        yield from _split(branch, distinct, place + 1)
    else:
        for half in possible:
            yield from _split(half, distinct, place)


def _finite(atom: Comparison, branch: Branch) -> bool:
    facts = Facts.of(branch)
    return not branch.is_time(atom.left) and all(facts.bounded(attribute) for attribute in atom.attributes)


def _splits(atom: Condition, branch: Branch) -> bool:
    return isinstance(atom, Comparison) and atom.op is Op.NE and branch.joins_streams(atom)
