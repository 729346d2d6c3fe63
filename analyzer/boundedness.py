"""Local facts of one branch, computed once: boundedness, finiteness, `later`, joins and their harm.

Paper, Definition 5 (boundedness); theory §4 (`later`, harmless joins, types). Rules combine these facts; none
recomputes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from analyzer.catalog import Kind
from analyzer.closure import Closure, Sort, close, in_order, value_lists
from analyzer.query import Attribute, Branch, Comparison, Source
from analyzer.spans import Span
from analyzer.values import Value

_DENSE = (Sort.DENSE, Sort.STRING)


@dataclass(frozen=True, slots=True)
class Join:
    """A non-redundant constraint ``attribute − other ≤ bound`` of P+ between two sources.

    ``bound`` is encoded as in `DifferenceBounds`; ``equality`` says that the difference is fixed.
    """

    attribute: Attribute
    other: Attribute
    equality: bool

    @property
    def reversed_sides(self) -> tuple[Attribute, Attribute]:
        """The two sides, the greater first."""
        return self.other, self.attribute


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound known when the relations are: the tightest of a constant and of relations' extreme values.

    ``relations`` holds ``(attribute, offset)``: its minimum (for a lower bound) or maximum (for an upper
    bound), plus the offset. Empty and without a constant: no bound.
    """

    constant: Fraction | None
    relations: tuple[tuple[Attribute, Fraction], ...] = ()

    @property
    def known(self) -> bool:
        """Whether there is any bound."""
        return self.constant is not None or bool(self.relations)


@dataclass(frozen=True)
class Facts:
    """What is known of one branch whose condition is a satisfiable conjunction."""

    branch: Branch
    closure: Closure

    @classmethod
    def of(cls, branch: Branch) -> Facts:
        """The facts of a branch; closes its conditions."""
        return cls(branch, close(branch))

    # --- streams --------------------------------------------------------------------------------------------

    @cached_property
    def finite_streams(self) -> dict[str, int]:
        """Aliases of streams whose timestamp has an upper bound, with that bound (preprocessing step 3)."""
        found = {}
        for source in self.branch.streams:
            high = self.closure.interval(_time(source))[1]
            if high is not None:
                found[source.alias] = int(high)
        return found

    @cached_property
    def infinite(self) -> tuple[str, ...]:
        """Aliases of the infinite streams, in FROM order."""
        return tuple(source.alias for source in self.branch.streams if source.alias not in self.finite_streams)

    def lag(self, newer: str, older: str) -> int | None:
        """The largest possible ``newer.ts − older.ts``; None when there is no bound."""
        pair = self.closure.pair(self.time(newer), self.time(older))
        return None if pair is None else pair[0].bound(pair[1], pair[2])

    def time(self, alias: str) -> Attribute:
        """A stream's application-time attribute."""
        return _time(self.branch.source(alias))

    @cached_property
    def later(self) -> dict[str, tuple[str, ...]]:
        """For every stream S, the infinite streams T whose ``T.ts − S.ts`` has no upper bound (theory §4)."""
        return {
            source.alias: tuple(t for t in self.infinite if t != source.alias and self.lag(t, source.alias) is None)
            for source in self.branch.streams
        }

    # --- attributes -----------------------------------------------------------------------------------------

    @cached_property
    def finite_attributes(self) -> frozenset[Attribute]:
        """Attributes with finitely many values in any case: of relations, finite streams, enumerations."""
        return frozenset(a for a in self.closure.nodes if self._is_finite(a))

    @cached_property
    def _lists(self) -> dict[Attribute, tuple[Value, ...]]:
        return value_lists(self.branch)

    def _is_finite(self, attribute: Attribute) -> bool:
        source = self.branch.source(attribute.source)
        if source.kind is Kind.RELATION or source.alias in self.finite_streams:
            return not self.branch.is_time(attribute)
        return attribute in self._lists

    def bounded_above(self, x: Attribute) -> bool:
        """Whether an attribute is upper-bounded (Definition 5), counting finite attributes as constants."""
        return x in self.finite_attributes or self._limited(x, above=True)

    def bounded_below(self, x: Attribute) -> bool:
        """Whether an attribute is lower-bounded (Definition 5), counting finite attributes as constants."""
        return x in self.finite_attributes or self._limited(x, above=False)

    def _limited(self, x: Attribute, above: bool) -> bool:
        if x not in self.closure.nodes:
            return False
        matrix, node = self.closure.node(x)
        if self.closure.sort(x) in _DENSE:
            return self._pinned(x)
        return any(matrix.finite(node, anchor) if above else matrix.finite(anchor, node) for anchor in self._anchors(x))

    def _anchors(self, x: Attribute) -> tuple[int, ...]:
        return (0, *(self.closure.nodes[r][1] for r in self._finite_of_sort[self.closure.sort(x)]))

    @cached_property
    def _finite_of_sort(self) -> dict[Sort, tuple[Attribute, ...]]:
        return {sort: tuple(a for a in self.finite_attributes if self.closure.sort(a) is sort) for sort in Sort}

    def _pinned(self, x: Attribute) -> bool:
        """Whether a dense attribute equals a constant or a finite attribute: the only way to bound it."""
        matrix, node = self.closure.node(x)
        return any(matrix.equal(node, anchor) for anchor in self._anchors(x))

    def bounded(self, x: Attribute) -> bool:
        """Whether an attribute has finitely many values in results (Definition 5; theory §4, "Types")."""
        if x in self.closure.null or x in self.finite_attributes or self._is_finite(x):
            return True
        return self.bounded_above(x) and self.bounded_below(x)

    def listed(self, x: Attribute) -> tuple[Value, ...] | None:
        """The values that lists leave an attribute, its own and those of attributes it equals; None without any."""
        alike = (y for y in (x, *self.equal_to(x)) if y in self._lists)
        options = [{self._moved(value, y, x) for value in self._lists[y]} for y in alike]
        return tuple(sorted(set.intersection(*options), key=in_order)) if options else None

    def equal_to(self, x: Attribute) -> tuple[Attribute, ...]:
        """The other attributes that equal one up to a constant (exactly, over dense types and strings)."""
        if x not in self.closure.compared or x not in self.closure.nodes:
            return ()
        same = self.closure.attributes(self.closure.sort(x))
        return tuple(y for y in same if y != x and y in self.closure.compared and self._equals(x, y))

    def _equals(self, x: Attribute, y: Attribute) -> bool:
        return self.closure.equal(x, y) and (self.closure.sort(x) is Sort.DISCRETE or self._difference(x, y) == 0)

    def _difference(self, x: Attribute, y: Attribute) -> Fraction:
        pair = self.closure.pair(x, y)
        limit = pair[0].limit(pair[1], pair[2]) if pair else None
        return limit[0] if limit else Fraction(0)

    def _moved(self, value: Value, y: Attribute, x: Attribute) -> Value:
        """The value of ``x`` where ``y`` has a value and the two differ by a constant."""
        difference = self._difference(x, y)
        return value if isinstance(value, str) or difference == 0 else value + int(difference)

    def limits(self, x: Attribute) -> tuple[Limit, Limit]:
        """The lower and upper limit of a discrete attribute, by constants and relations' extreme values.

        A limit by a relation that follows from a constant says nothing more, and is left out.
        """
        matrix, node = self.closure.node(x)
        low, high = self.closure.interval(x)
        below, above = [], []
        for relation in self._finite_of_sort[self.closure.sort(x)]:
            if self.branch.source(relation.source).kind is not Kind.RELATION or relation == x:
                continue
            other = self.closure.nodes[relation][1]
            if (up := matrix.limit(node, other)) is not None and not matrix.implied_through(node, 0, other):
                above.append((relation, up[0]))
            if (down := matrix.limit(other, node)) is not None and not matrix.implied_through(other, 0, node):
                below.append((relation, -down[0]))
        if self.branch.source(x.source).kind is Kind.RELATION:
            below.append((x, Fraction(0)))
            above.append((x, Fraction(0)))
        return Limit(low, tuple(below)), Limit(high, tuple(above))

    # --- joins ----------------------------------------------------------------------------------------------

    @cached_property
    def joins(self) -> tuple[Join, ...]:
        """The non-redundant constraints of P+ between attributes of different sources.

        A constraint that follows through constants or through a third attribute is left out; so is one
        between two streams that follows through a relation's attribute, because a relation is joined as soon
        as a tuple arrives.
        """
        found = []
        for sort in (Sort.DISCRETE, Sort.DENSE, Sort.STRING):
            attributes = self.closure.attributes(sort)
            matrix = self.closure.bounds[sort]
            for x in attributes:
                i = self.closure.nodes[x][1]
                for y in attributes:
                    j = self.closure.nodes[y][1]
                    if x.source != y.source and matrix.finite(i, j) and not self._redundant(x, y):
                        found.append(Join(x, y, matrix.equal(i, j)))
        return tuple(found)

    def _redundant(self, x: Attribute, y: Attribute) -> bool:
        matrix, i = self.closure.node(x)
        j = self.closure.nodes[y][1]
        if matrix.implied_through(i, 0, j) or matrix.redundant(i, j):
            return True
        kinds = {self.branch.source(a.source).kind for a in (x, y)}
        return Kind.RELATION not in kinds and any(
            matrix.implied_through(i, self.closure.nodes[r][1], j)
            for r in self._finite_of_sort[self.closure.sort(x)]
            if self.branch.source(r.source).kind is Kind.RELATION
        )

    def joins_of(self, alias: str, partners: tuple[str, ...]) -> tuple[tuple[Attribute, Join], ...]:
        """The joins of a source with the given partners, each with the attribute that is the source's."""
        mine = []
        for join in self.joins:
            for own, other in ((join.attribute, join.other), (join.other, join.attribute)):
                if own.source == alias and other.source in partners:
                    mine.append((own, join))
        return tuple(mine)

    def harmless(self, own: Attribute, join: Join) -> bool:
        """Whether a join needs only finitely many values of ``own`` (theory §4, "harmless").

        ``A − B ≤ c`` is harmless for A when A has an upper and B a lower bound, and for B when B has a lower
        and A an upper bound: outside those bounds the outcome does not depend on the value.
        """
        if self.closure.sort(own) in _DENSE:
            return self.bounded(own)
        return self.bounded_above(join.attribute) and self.bounded_below(join.other)

    # --- positions ------------------------------------------------------------------------------------------

    def span_of(self, x: Attribute, y: Attribute | None = None) -> Span:
        """The condition to blame for a constraint: on both attributes, else on their sources, else on x."""
        comparisons = [atom for atom in self.branch.atoms if isinstance(atom, Comparison) and atom.span]
        wanted = {x} if y is None else {x, y}
        exact = [atom for atom in comparisons if wanted <= set(atom.attributes)]
        sources = {x.source} if y is None else {x.source, y.source}
        near = [atom for atom in comparisons if y and {a.source for a in atom.attributes} == sources]
        own = [atom for atom in comparisons if x in atom.attributes]
        spans = (atom.span for atom in (*exact, *near, *own) if atom.span is not None)
        return next(spans, self.branch.source(x.source).span)


def _time(source: Source) -> Attribute:
    time = source.time
    if time is None:
        raise ValueError(f"{source.alias} is a relation and has no timestamp")
    return time
