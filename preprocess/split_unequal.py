"""Preprocessing step 1 (paper): ``Si.A <> Sj.B  ->  Si.A < Sj.B | Si.A > Sj.B``, a disjoint union."""

from __future__ import annotations

from dataclasses import replace

from analyzer.closure import close
from analyzer.query import Branch, Comparison, Condition, Kind, Op, Query, Truth, conjunction


def split_unequal(query: Query) -> Query:
    """Split every ``<>`` between attributes of different streams; those within a stream stay as filters."""
    return replace(query, branches=tuple(part for branch in query.branches for part in _split(branch)))


def _split(branch: Branch) -> list[Branch]:
    if isinstance(branch.where, Truth):
        return [branch]
    for atom in branch.atoms:
        if isinstance(atom, Comparison) and _joins_streams(atom, branch):
            rest = tuple(other for other in branch.atoms if other is not atom)
            halves: list[tuple[Condition, ...]] = [(*rest, replace(atom, op=op)) for op in (Op.LT, Op.GT)]
            branches = [replace(branch, where=conjunction(half)) for half in halves]
            return [part for half in branches if close(half).satisfiable for part in _split(half)]
    return [branch]


def _joins_streams(atom: Comparison, branch: Branch) -> bool:
    if atom.op is not Op.NE or atom.right is None or atom.left.source == atom.right.source:
        return False
    return all(branch.source(attribute.source).kind is not Kind.RELATION for attribute in atom.attributes)
