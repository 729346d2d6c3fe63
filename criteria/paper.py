"""What Theorems 1 and 2 speak of: their fragment of the language, stated joins, and the paper's own definitions.

The theorems are claimed for modified LTO queries. Every clause but Theorem 2's C3 depends on an LTO query only through
P+ before the orders were added, so that it is decided without enumerating them (docs/theory.md, "Deciding without
enumeration"); the tests compare with the enumeration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from analyzer.boundedness import Facts
from analyzer.closure import Sort, close
from analyzer.query import Attribute, Branch, Comparison, Kind, Op, Query, conjunction
from criteria.dependency_graph import DependencyGraph, vertex_names
from preprocess.merge_timestamps import merge_timestamps
from preprocess.rename_finite import rename_finite


def applies(query: Query) -> bool:
    """Whether the paper speaks of a split query: no windows, no offsets between attributes."""
    return all(
        not isinstance(atom, Comparison)
        or atom.right is None
        or isinstance(atom.offset, str)
        or atom.offset == 0
        for branch in query.branches
        for atom in branch.atoms
    )


def split_weak(query: Query) -> Query:
    """The paper has no ``<=``: between streams, ``x <= y  ->  x < y | x = y``."""
    return replace(query, branches=tuple(part for branch in query.branches for part in _split_weak(branch)))


def _split_weak(branch: Branch) -> list[Branch]:
    for atom in branch.atoms:
        if isinstance(atom, Comparison) and atom.op in (Op.LE, Op.GE) and _joins_streams(atom, branch):
            rest = tuple(other for other in branch.atoms if other is not atom)
            strict = Op.LT if atom.op is Op.LE else Op.GT
            halves = [
                replace(branch, where=conjunction((*rest, replace(atom, op=op)))) for op in (strict, Op.EQ)
            ]
            return [part for half in halves if close(half).satisfiable for part in _split_weak(half)]
    return [branch]


def _joins_streams(atom: Comparison, branch: Branch) -> bool:
    if atom.right is None or atom.left.source == atom.right.source:
        return False
    return all(branch.source(attribute.source).kind is not Kind.RELATION for attribute in atom.attributes)


def preprocessed(query: Query) -> tuple[PaperBranch, ...]:
    """The branches as the theorems take them: strict, merged, with finite streams renamed."""
    ready = rename_finite(merge_timestamps(split_weak(query)))
    return tuple(PaperBranch(Facts.of(branch)) for branch in ready.branches)


@dataclass(frozen=True)
class PaperBranch:
    """One preprocessed branch with the paper's vocabulary."""

    facts: Facts

    @cached_property
    def graph(self) -> DependencyGraph:
        """G(Q)."""
        return DependencyGraph.of(self.facts)

    @cached_property
    def vertex(self) -> dict[str, str]:
        """The vertex of each infinite stream."""
        return vertex_names(self.facts)

    @cached_property
    def stated_joins(self) -> tuple[Comparison, ...]:
        """The joins that the query states between attributes of different infinite streams."""
        return tuple(
            atom
            for atom in self.facts.branch.atoms
            if isinstance(atom, Comparison)
            and atom.right is not None
            and not self.facts.branch.is_time(atom.left)
            and self.apart(atom.left, atom.right)
        )

    def apart(self, x: Attribute, y: Attribute) -> bool:
        """Whether two attributes belong to different infinite streams (Si, Sj with i ≠ j)."""
        return (
            x.source in self.vertex
            and y.source in self.vertex
            and self.vertex[x.source] != self.vertex[y.source]
        )

    @cached_property
    def projected(self) -> tuple[tuple[Attribute, int], ...]:
        """The projected attributes of infinite streams, with their place in the select list."""
        outputs = enumerate(self.facts.branch.outputs)
        return tuple(
            (o.value, i)
            for i, o in outputs
            if isinstance(o.value, Attribute) and o.value.source in self.vertex
        )

    # --- Definition 5 ------------------------------------------------------------------------------------------

    def bounded(self, x: Attribute) -> bool:
        """Definition 5; over dense types only an equality bounds."""
        return self.facts.bounded(x)

    def _at(self, x: Attribute) -> tuple[bool, bool]:
        """Whether P+ bounds an attribute below and above by constants."""
        matrix, node = self.facts.closure.node(x)
        return matrix.finite(0, node), matrix.finite(node, 0)

    # --- Definitions 8 and 9 -----------------------------------------------------------------------------------

    @cached_property
    def references(self) -> tuple[tuple[Attribute, Attribute], ...]:
        """The non-redundant ``x < y`` of P+ between different streams (Definition 8)."""
        closure = self.facts.closure
        pairs = []
        for sort in (Sort.DISCRETE, Sort.DENSE, Sort.STRING):
            for x in closure.attributes(sort):
                for y in closure.attributes(sort):
                    if self.apart(x, y) and closure.implies_less(x, y) and not self.redundant(x, y):
                        pairs.append((x, y))
        return tuple(pairs)

    def redundant(self, x: Attribute, y: Attribute) -> bool:
        """Definition 8: something lies strictly between, or a constant separates the two."""
        closure = self.facts.closure
        matrix, i = closure.node(x)
        j = closure.nodes[y][1]
        if matrix.finite(i, 0) and matrix.finite(0, j) and matrix.implied_through(i, 0, j):
            return True
        between = (a for a in closure.attributes(closure.sort(x)) if a not in (x, y))
        return any(closure.implies_less(x, e) and closure.implies_less(e, y) for e in between)

    def max_ref(self, vertex: str) -> frozenset[Attribute]:
        """Attributes that are in ``MaxRef`` of a stream in some LTO query (Definition 9)."""
        return frozenset(
            y for x, y in self.references if self.vertex[y.source] == vertex and self._greater_end(x, y)
        )

    def min_ref(self, vertex: str) -> frozenset[Attribute]:
        """Attributes that are in ``MinRef`` of a stream in some LTO query (Definition 9)."""
        return frozenset(
            x for x, y in self.references if self.vertex[x.source] == vertex and self._lesser_end(x, y)
        )

    def _greater_end(self, x: Attribute, y: Attribute) -> bool:
        """Whether ``x < y`` survives in an LTO query in which ``y`` is unbounded: both above, or both below, all constants."""
        if self.bounded(y):
            return False
        return (not self.facts.bounded_above(y) and not self._at(x)[1]) or not self.facts.bounded_below(y)

    def _lesser_end(self, x: Attribute, y: Attribute) -> bool:
        if self.bounded(x):
            return False
        return (not self.facts.bounded_below(x) and not self._at(y)[0]) or not self.facts.bounded_above(x)
