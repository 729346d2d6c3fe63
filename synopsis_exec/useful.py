"""Which rows some branch of a query can use: the others only advance time, and no contract on rates counts them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from streambound.analyzer.query import Atom, Comparison, Condition, NullTest, OneOf, Op
from streambound.synopsis_exec.plan_ir import Input, Plan

_TESTS = {
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.GT: operator.gt,
    Op.GE: operator.ge,
}


def useful(item: Input, plan: Plan) -> list[tuple[Atom, ...]]:
    """Conjunctions of conditions on one row of a stream or relation, one of which a useful row satisfies.

    They are the filters of its occurrences that Spark can evaluate on every row; the kernel makes all checks. Of all
    rows it is asked which key comes once.
    """
    if item.unique and item.timestamp is not None:
        return [()]
    return [
        tuple(atom for atom in (*source.times, *_needed(source.filters)) if _total(atom))
        for branch in plan.branches
        for source in branch.sources
        if source.table == item.name
    ]


def uses(item: Input, plan: Plan, column: str) -> list[tuple[Atom, ...]]:
    """The conditions of those occurrences of an input that need a column, one tuple each."""
    return [
        tuple(atom for atom in (*source.times, *_needed(source.filters)) if _total(atom))
        for branch in plan.branches
        for source in branch.sources
        if source.table == item.name and column in source.used
    ]


def _needed(filters: tuple[Atom, ...]) -> list[Atom]:
    """The filters without the IS NOT NULL that a comparison says anyway."""
    compared = {a for atom in filters if isinstance(atom, Comparison) for a in atom.attributes}
    return [f for f in filters if not (isinstance(f, NullTest) and not f.is_null and f.attribute in compared)]


def _total(atom: Atom) -> bool:
    """Whether Spark can evaluate a condition on every row: an offset between two columns could exceed their type."""
    return isinstance(atom, NullTest) or atom.right is None or not atom.offset


def is_useful(row: dict[str, Any], options: Sequence[tuple[Atom, ...]]) -> bool:
    """Whether an encoded row satisfies one of the conjunctions."""
    return any(all(holds(atom, row) for atom in atoms) for atoms in options)


def holds(atom: Condition, row: dict[str, Any]) -> bool:
    """Whether an encoded row satisfies a condition."""
    if isinstance(atom, NullTest):
        return (row[atom.attribute.column] is None) == atom.is_null
    if isinstance(atom, OneOf):
        return row[atom.attribute.column] in atom.values
    left = row[atom.left.column]
    right: Any = atom.offset if atom.right is None else row[atom.right.column]
    return left is not None and right is not None and bool(_TESTS[atom.op](left, right))
