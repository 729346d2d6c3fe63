"""Whether a branch can never hold: its closure is contradictory, or no way to satisfy the ``<>`` in it is left.

The closure knows ``<>`` only at the ends of ranges. Three booleans that all differ are found by trying both sides.
"""

from __future__ import annotations

from dataclasses import replace

from analyzer.closure import Closure, Sort, admits, close, implied, with_comparison
from analyzer.query import Branch, Comparison, Op

MOST_DECISIONS = 64
"""Sides of a ``<>`` that are tried before a branch is taken to be possible."""


def contradictory(branch: Branch) -> bool:
    """Whether a branch whose condition is a conjunction has no solution, as far as that is found."""
    closure = close(branch)
    if not closure.satisfiable:
        return True
    unequal = [atom for atom in branch.atoms if isinstance(atom, Comparison) and _confined(closure, atom)]
    known = closure.restricted(dict.fromkeys(attribute for atom in unequal for attribute in atom.attributes))
    return bool(unequal) and not _solvable(known, unequal, [MOST_DECISIONS])


def _confined(closure: Closure, atom: Comparison) -> bool:
    """Whether an atom is ``x <> y + c`` where the difference has few values: else there is always room."""
    if atom.op is not Op.NE or atom.right is None or closure.sort(atom.left) is not Sort.DISCRETE:
        return False
    matrix, x = closure.node(atom.left)
    y = closure.nodes[atom.right][1]
    return matrix.finite(x, y) and matrix.finite(y, x)


def _solvable(closure: Closure, unequal: list[Comparison], left: list[int]) -> bool:
    undecided = [atom for atom in unequal if not implied(closure, atom)]
    left[0] -= 1
    if not undecided or left[0] < 0:
        return True
    first, *others = undecided
    sides = (replace(first, op=op) for op in (Op.LT, Op.GT))
    return any(admits(closure, side) and _solvable(with_comparison(closure, side), others, left) for side in sides)
