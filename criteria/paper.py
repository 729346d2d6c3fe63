"""What Theorems 1 and 2 speak of: their fragment of the language, stated joins, and the paper's own definitions.

The theorems are claimed for modified LTO queries. Every clause but Theorem 2's C3 is decided by P+ before the orders
are added, without enumerating them (docs/theory-paper.md, "Deciding without enumeration"); the tests compare with the
enumeration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice, pairwise

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Closure, Sort, close, with_comparison
from streambound.analyzer.query import Attribute, Branch, Comparison, Op, Query, conjunction
from streambound.criteria.dependency_graph import DependencyGraph, vertex_names
from streambound.criteria.projected_time import time_as_value
from streambound.criteria.violation import CriterionResult, Violation
from streambound.preprocess.contradictory import contradictory
from streambound.preprocess.count_lto import count_lto
from streambound.preprocess.derive_lto import derive_lto, order_constants
from streambound.preprocess.merge_timestamps import merge_timestamps
from streambound.preprocess.rename_finite import rename_finite

MOST_STRICT = 16
"""Strict branches that a theorem is tried on: many ``<=`` between streams make exponentially many."""

MOST_LTO = 256
"""LTO queries that are looked at one by one, beside relations; where there are more, nothing is said."""

MOST_CELLS = 500_000
"""Cells of matrices that may be closed for either, at most: a wide query is tried on fewer of them."""

Clause = Callable[["PaperBranch"], Iterator[Violation | None]]
"""A condition of a theorem: yields its violations in one branch; None where it is not decided there."""


def applies(query: Query) -> bool:
    """Whether the paper speaks of a split query: no windows, no offsets between attributes, no times but in orders."""
    return not any(branch.time_values or time_as_value(branch) for branch in query.branches) and all(
        not isinstance(atom, Comparison) or atom.right is None or isinstance(atom.offset, str) or atom.offset == 0
        for branch in query.branches
        for atom in branch.atoms
    )


def strict_branches(query: Query) -> Iterator[Branch]:
    """The paper has no ``<=``: between streams, ``x <= y  ->  x < y | x = y``. Lazy, since n of them make 2^n."""
    for branch in query.branches:
        yield from _strict(branch, close(branch), weak_joins(branch))


def lto_queries(split: Query) -> int | None:
    """The number of LTO queries that a split query stands for; None where they would have to be enumerated."""
    if 2 ** max((len(weak_joins(branch)) for branch in split.branches), default=0) > MOST_STRICT:
        return None
    total = 0
    for branch in strict_branches(split):
        counted = count_lto(branch)
        if counted is None:
            return None
        total += counted
    return total


def weak_joins(branch: Branch) -> tuple[Comparison, ...]:
    """The ``<=`` and ``>=`` between attributes of different streams."""
    return tuple(
        atom
        for atom in branch.atoms
        if isinstance(atom, Comparison) and atom.op in (Op.LE, Op.GE) and branch.joins_streams(atom)
    )


def _strict(branch: Branch, closure: Closure, weak: tuple[Comparison, ...]) -> Iterator[Branch]:
    if not weak:
        yield branch
        return
    atom, rest = weak[0], weak[1:]
    for op in (Op.LT if atom.op is Op.LE else Op.GT, Op.EQ):
        refined = with_comparison(closure, replace(atom, op=op))
        if refined.satisfiable:
            atoms = tuple(replace(other, op=op) if other is atom else other for other in branch.atoms)
            yield from _strict(replace(branch, where=conjunction(atoms)), refined, rest)


def preprocessed(query: Query) -> Iterator[PaperBranch]:
    """The branches as the theorems take them: strict, merged, with finite streams renamed. Lazy."""
    for branch in strict_branches(query):
        ready = rename_finite(merge_timestamps(replace(query, branches=(branch,))))
        yield PaperBranch(Facts.of(ready.branches[0]))


def theorem_result(name: str, query: Query, clauses: tuple[Clause, ...]) -> CriterionResult | None:
    """A theorem's clauses on every branch of a split query.

    One violated branch is enough to violate it. None where the paper does not speak of the query, where a clause is
    not decided and no other is violated, and where none of the first `MOST_STRICT` branches violates it and there are
    more.
    """
    if not applies(query):
        return None
    most = min(map(_tried, query.branches), default=MOST_STRICT)
    if most == 0:
        return None
    strict = list(islice(strict_branches(query), most + 1))
    branches = preprocessed(replace(query, branches=tuple(strict[:most])))
    found = tuple(dict.fromkeys(v for branch in branches for clause in clauses for v in clause(branch)))
    violations = tuple(violation for violation in found if violation is not None)
    undecided = len(strict) > most or None in found
    return None if not violations and undecided else CriterionResult(name, not violations, violations)


def _tried(branch: Branch) -> int:
    """How many strict branches of a branch a theorem is tried on; none where finding the first takes too long."""
    weak, cells = len(weak_joins(branch)), _cells(close(branch))
    if weak == 0:
        return MOST_STRICT
    return 0 if weak * cells > 8 * MOST_CELLS else max(1, min(MOST_STRICT, MOST_CELLS // cells))


def _cells(closure: Closure) -> int:
    return sum(matrix.size**2 for matrix in closure.bounds.values())


class PaperBranch(Struct, frozen=True, dict=True):
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
        return x.source in self.vertex and y.source in self.vertex and self.vertex[x.source] != self.vertex[y.source]

    @cached_property
    def projected(self) -> tuple[tuple[Attribute, int], ...]:
        """The projected attributes of infinite streams, with their place in the select list."""
        outputs = enumerate(self.facts.branch.outputs)
        return tuple(
            (attribute, i) for i, o in outputs for attribute in o.attributes if attribute.source in self.vertex
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
    def decides_references(self) -> bool:
        """Whether it can be said which references there are: by P+, or by LTO queries that are not too many."""
        return self.lto_branches is not None or not self._needs_orders

    @cached_property
    def lto_branches(self) -> tuple[PaperBranch, ...] | None:
        """The branch's LTO queries, where they have to be looked at one by one and are not too many; else None."""
        if not self._needs_orders:
            return None
        most = min(MOST_LTO, MOST_CELLS // _cells(self.facts.closure))
        found = list(islice(derive_lto(self.facts.branch), most + 1))
        return tuple(PaperBranch(Facts.of(lto)) for lto in found) if len(found) <= most else None

    @cached_property
    def _needs_orders(self) -> bool:
        """P+ is enough unless a relation or finite stream bounds an attribute that constants leave unbounded.

        LTO queries do not order attributes with a relation's.
        """
        return any(self._bounded_by_relation(attribute) for attribute in self.facts.closure.nodes)

    def _bounded_by_relation(self, x: Attribute) -> bool:
        if x.source not in self.vertex or self.facts.branch.is_time(x):
            return False
        below, above = self._at(x)
        return (self.facts.bounded_below(x) and not below) or (self.facts.bounded_above(x) and not above)

    @cached_property
    def references(self) -> tuple[tuple[Attribute, Attribute], ...]:
        """The non-redundant ``x < y`` of P+ between different streams (Definition 8)."""
        return tuple(pair for sort in (Sort.DISCRETE, Sort.DENSE, Sort.STRING) for pair in self._references(sort))

    def _references(self, sort: Sort) -> Iterator[tuple[Attribute, Attribute]]:
        """Nothing lies strictly between the two, and no constant separates them."""
        matrix, attributes = self.facts.closure.bounds[sort], self.facts.closure.attributes(sort)
        for i, j in matrix.covers():
            x, y = attributes[i - 1], attributes[j - 1]
            if self.apart(x, y) and not matrix.implied_through(i, 0, j):
                yield x, y

    def kept(self, join: Comparison) -> bool:
        """Whether a stated join is not redundant in some LTO query (Definition 8); equalities never are."""
        x, y = join.left, join.right
        if y is None or join.op is Op.EQ:
            return True
        pairs = {Op.LT: ((x, y),), Op.GT: ((y, x),)}.get(join.op, ((x, y), (y, x)))
        if self.facts.closure.sort(x) is not Sort.DISCRETE:
            return join.op is Op.NE or pairs[0] in self.references
        return any(self._can_be_neighbours(lesser, greater) for lesser, greater in pairs)

    def _can_be_neighbours(self, x: Attribute, y: Attribute) -> bool:
        """Whether ``y = x + 1`` has a solution in which no constant is either: in its order nothing lies between."""
        closure = self.facts.closure.restricted((x, y))
        closure = closure.with_less(y, x, strict=False, offset=1).with_less(x, y, strict=True)
        if not closure.satisfiable:
            return False
        low, high = (None if end is None else int(end) for end in closure.interval(x))
        constants = order_constants(self.facts.branch, x)
        for below, above in pairwise((None, *constants, None)):
            least = max((c for c in (low, None if below is None else below + 1) if c is not None), default=None)
            most = min((c for c in (high, None if above is None else above - 2) if c is not None), default=None)
            if (least is None or most is None or least <= most) and self._possible(x, y, least, most):
                return True
        return False

    def _possible(self, x: Attribute, y: Attribute, least: int | None, most: int | None) -> bool:
        """Whether ``y = x + 1`` between two limits of ``x`` also satisfies every ``<>``, as far as that is found."""
        branch = self.facts.branch
        if not any(isinstance(atom, Comparison) and atom.op is Op.NE for atom in branch.atoms):
            return True
        ends = ((Op.GE, least), (Op.LE, most))
        limits = (Comparison(x, op, None, end) for op, end in ends if end is not None)
        where = conjunction((branch.where, Comparison(y, Op.EQ, x, 1), *limits))
        return not contradictory(replace(branch, where=where))

    @cached_property
    def partner(self) -> dict[Attribute, Attribute]:
        """For every attribute with references, here or in an LTO query, the other one of the first."""
        found: dict[Attribute, Attribute] = {}
        for x, y in (pair for branch in (self, *(self.lto_branches or ())) for pair in branch.references):
            found.setdefault(x, y)
            found.setdefault(y, x)
        return found

    @cached_property
    def _lesser_of(self) -> dict[str, list[tuple[Attribute, Attribute]]]:
        """The references of every vertex in which it has the lesser attribute."""
        return {v: [(x, y) for x, y in self.references if self.vertex[x.source] == v] for v in self.graph.vertices}

    @cached_property
    def _greater_of(self) -> dict[str, list[tuple[Attribute, Attribute]]]:
        """The references of every vertex in which it has the greater attribute."""
        return {v: [(x, y) for x, y in self.references if self.vertex[y.source] == v] for v in self.graph.vertices}

    def maxima(self, vertex: str) -> frozenset[Attribute]:
        """``MaxRef`` of a stream in this very branch, taken as an LTO query (Definition 9)."""
        return frozenset(y for _, y in self._greater_of[vertex] if not self.bounded(y))

    def minima(self, vertex: str) -> frozenset[Attribute]:
        """``MinRef`` of a stream in this very branch, taken as an LTO query (Definition 9)."""
        return frozenset(x for x, _ in self._lesser_of[vertex] if not self.bounded(x))

    def max_ref(self, vertex: str) -> frozenset[Attribute]:
        """Attributes that are in ``MaxRef`` of a stream in some LTO query (Definition 9)."""
        if self.lto_branches is not None:
            return frozenset(y for lto in self.lto_branches for y in lto.maxima(vertex))
        return frozenset(y for x, y in self._greater_of[vertex] if self._greater_end(x, y))

    def min_ref(self, vertex: str) -> frozenset[Attribute]:
        """Attributes that are in ``MinRef`` of a stream in some LTO query (Definition 9)."""
        if self.lto_branches is not None:
            return frozenset(x for lto in self.lto_branches for x in lto.minima(vertex))
        return frozenset(x for x, y in self._lesser_of[vertex] if self._lesser_end(x, y))

    def _greater_end(self, x: Attribute, y: Attribute) -> bool:
        """Whether ``x < y`` survives in an LTO query where ``y`` is unbounded: both beyond all constants on a side."""
        if self.bounded(y) or self.facts.closure.sort(y) is not Sort.DISCRETE:
            return not self.bounded(y)
        return (not self.facts.bounded_above(y) and not self._at(x)[1]) or not self.facts.bounded_below(y)

    def _lesser_end(self, x: Attribute, y: Attribute) -> bool:
        if self.bounded(x) or self.facts.closure.sort(x) is not Sort.DISCRETE:
            return not self.bounded(x)
        return (not self.facts.bounded_below(x) and not self._at(y)[0]) or not self.facts.bounded_above(x)
