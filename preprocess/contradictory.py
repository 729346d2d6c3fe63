"""Branches that never hold are dropped: the closure is contradictory, or no way to satisfy the ``<>`` is left.

The closure knows ``<>`` only at the ends of ranges. Three booleans that all differ are found by trying both sides.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from streambound.analyzer.closure import Closure, Sort, admits, close, implied, with_comparison
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.query import Branch, Comparison, Op, Query
from streambound.analyzer.work import cached

MOST_DECISIONS = 64
"""Sides of a ``<>`` that are tried before a branch is taken to be possible."""


@cached(64)
def contradictory(branch: Branch) -> bool:
    """Whether a branch whose condition is a conjunction has no solution, as far as that is found."""
    closure = close(branch)
    if not closure.satisfiable:
        return True
    unequal = [atom for atom in branch.atoms if isinstance(atom, Comparison) and _confined(closure, atom)]
    known = closure.restricted(dict.fromkeys(attribute for atom in unequal for attribute in atom.attributes))
    return bool(unequal) and not _assignable(known, unequal) and not _solvable(known, unequal, [MOST_DECISIONS])


def _confined(closure: Closure, atom: Comparison) -> bool:
    """Whether an atom is ``x <> y + c`` where the difference has few values: else there is always room."""
    if atom.op is not Op.NE or atom.right is None or closure.sort(atom.left) is not Sort.DISCRETE:
        return False
    matrix, x = closure.node(atom.left)
    y = closure.nodes[atom.right][1]
    return matrix.finite(x, y) and matrix.finite(y, x)


def _assignable(closure: Closure, unequal: list[Comparison]) -> bool:
    """Whether values chosen one after the other satisfy everything: a quick yes, where there is room.

    In a closure any values that fit each other fit some solution.
    """
    matrix = closure.bounds[Sort.DISCRETE]
    apart: dict[int, list[tuple[int, int]]] = {}
    for atom in unequal:
        (_, x), (_, y) = (closure.nodes[attribute] for attribute in atom.attributes)
        offset = int(atom.offset)
        apart.setdefault(x, []).append((y, offset))
        apart.setdefault(y, []).append((x, -offset))
    values = {0: 0}
    for node, others in apart.items():
        low = max((v - b for o, v in values.items() if (b := matrix.bound(o, node)) is not None), default=None)
        high = min((v + b for o, v in values.items() if (b := matrix.bound(node, o)) is not None), default=None)
        taken = {values[other] + offset for other, offset in others if other in values}
        first, step = (low, 1) if low is not None else (high or 0, -1)
        free = next(value for value in range(first, first + step * (len(taken) + 1), step) if value not in taken)
        if high is not None and free > high:
            return False
        values[node] = free
    return True


def _solvable(closure: Closure, unequal: list[Comparison], left: list[int]) -> bool:
    undecided = [atom for atom in unequal if not implied(closure, atom)]
    left[0] -= 1
    if not undecided or left[0] < 0:
        return True
    first, *others = undecided
    sides = (replace(first, op=op) for op in (Op.LT, Op.GT))
    return any(admits(closure, side) and _solvable(with_comparison(closure, side), others, left) for side in sides)


def drop_unsatisfiable(query: Query, false: Collection[int] = ()) -> tuple[Query, tuple[Diagnostic, ...]]:
    """The query without contradictory branches, and a warning for every SELECT of which nothing is left.

    ``false`` are the SELECTs whose condition is false, or NULL, whatever the rows are: ``WHERE a = NULL``.
    """
    kept = tuple(branch for branch in query.branches if not contradictory(branch))
    alive = {branch.statement for branch in kept}
    warnings = []
    for branch in query.branches:
        if branch.statement not in alive:
            alive.add(branch.statement)
            what = "this query" if len({b.statement for b in query.branches}) == 1 else "this branch of the union"
            why = "its condition is never true" if branch.statement in false else "its conditions contradict each other"
            message = f"{what} can never produce a row: {why}"
            warnings.append(
                Diagnostic(Code.NEVER_TRUE, message, query.file, branch.span, "remove or correct a condition")
            )
    return replace(query, branches=kept), tuple(warnings)
