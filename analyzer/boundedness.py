"""Local facts of one branch, computed once: boundedness, finiteness, `later`, joins and their harm.

Paper, Definition 5 (boundedness); docs/theory-bags.md (`later`, harmless joins, types). Rules combine these facts; none
recomputes one.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import chain, product
from typing import NamedTuple

from msgspec import Struct

from streambound.analyzer.catalog import Kind
from streambound.analyzer.closure import Closure, Sort, close, in_order, value_lists
from streambound.analyzer.query import Attribute, Branch, Comparison, Op, Source
from streambound.analyzer.spans import Span
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value
from streambound.analyzer.work import spend

_DENSE = (Sort.DENSE, Sort.STRING)
_STEPS_A_LAG = 2


class JoinConstraint(NamedTuple):
    """A non-redundant constraint ``attribute − other ≤ bound`` of P+ between two sources.

    ``bound`` is encoded as in `DifferenceBounds`; ``equality`` says that the difference is fixed.
    """

    attribute: Attribute
    other: Attribute
    equality: bool

    def partner(self, own: Attribute) -> Attribute:
        """The other side."""
        return self.other if own == self.attribute else self.attribute


class Limit(Struct, frozen=True):
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


class Facts(Struct, frozen=True, dict=True):
    """The facts of one branch whose condition is a satisfiable conjunction."""

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
        if (newer, older) not in self._lags:
            spend(_STEPS_A_LAG)
            pair = self.closure.pair(self.time(newer), self.time(older))
            self._lags[newer, older] = None if pair is None else pair[0].bound(pair[1], pair[2])
        return self._lags[newer, older]

    @cached_property
    def _lags(self) -> dict[tuple[str, str], int | None]:
        return {}

    def never_newer(self, older: str, newer: str) -> bool:
        """Whether a tuple of ``older`` is never newer than the tuple of ``newer`` that it joins."""
        lag = self.lag(older, newer)
        return lag is not None and lag <= 0

    def time(self, alias: str) -> Attribute:
        """A stream's application-time attribute."""
        return self._times[alias]

    @cached_property
    def _times(self) -> dict[str, Attribute]:
        return {source.alias: _time(source) for source in self.branch.streams}

    @cached_property
    def later(self) -> dict[str, tuple[str, ...]]:
        """For every stream S, the infinite streams T whose ``T.ts − S.ts`` has no upper bound."""
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
    def lists(self) -> dict[Attribute, tuple[Value, ...]]:
        """The values that declared lists and `OneOf` conditions leave attributes."""
        return value_lists(self.branch)

    def _is_finite(self, attribute: Attribute) -> bool:
        source = self.branch.source(attribute.source)
        if source.kind is Kind.RELATION or source.alias in self.finite_streams:
            return not self.branch.is_time(attribute)
        return attribute in self.lists

    def one_value(self, x: Attribute) -> bool:
        """Whether an attribute is of the key of which the branch has one value, or of its one row of a stream."""
        key = self.branch.source(x.source).one_key
        return key is not None and (key.once or x.column in key.attributes)

    def one_row(self, alias: str) -> bool:
        """Whether a stream has one row at most: its one key has no more."""
        key = self.branch.source(alias).one_key
        return key is not None and key.once

    @cached_property
    def _of_one_key(self) -> frozenset[Attribute]:
        """The attributes of a key of which there is one value, known before any row comes."""
        keys = {s.alias: s.one_key.attributes for s in self.branch.streams if s.one_key is not None}
        return frozenset(a for a in self.closure.nodes if a.column in keys.get(a.source, ()))

    def bounded_above(self, x: Attribute) -> bool:
        """Whether an attribute is upper-bounded (Definition 5), counting finite attributes as constants."""
        return x in self._bounded_above

    def bounded_below(self, x: Attribute) -> bool:
        """Whether an attribute is lower-bounded (Definition 5), counting finite attributes as constants."""
        return x in self._bounded_below

    @cached_property
    def _bounded_above(self) -> frozenset[Attribute]:
        known = self.finite_attributes | self._of_one_key
        return known | {x for x in self.closure.nodes if self._limited(x, above=True)}

    @cached_property
    def _bounded_below(self) -> frozenset[Attribute]:
        known = self.finite_attributes | self._of_one_key
        return known | {x for x in self.closure.nodes if self._limited(x, above=False)}

    def _limited(self, x: Attribute, above: bool) -> bool:
        matrix, node = self.closure.node(x)
        if self.closure.sort(x) in _DENSE:
            return self._pinned(x)
        anchors = self._anchors[self.closure.sort(x)]
        return any(matrix.finite(node, anchor) if above else matrix.finite(anchor, node) for anchor in anchors)

    @cached_property
    def _anchors(self) -> dict[Sort, tuple[int, ...]]:
        """The nodes that bound what they are compared with: the constant's, and those of finite attributes."""
        return {sort: (0, *(self.closure.nodes[r][1] for r in self._finite_of_sort[sort])) for sort in Sort}

    @cached_property
    def _finite_of_sort(self) -> dict[Sort, tuple[Attribute, ...]]:
        return {sort: tuple(a for a in self.closure.attributes(sort) if a in self.finite_attributes) for sort in Sort}

    def _pinned(self, x: Attribute) -> bool:
        """Whether a dense attribute equals a constant or a finite attribute: the only way to bound it."""
        matrix, node = self.closure.node(x)
        return any(matrix.equal(node, anchor) for anchor in self._anchors[self.closure.sort(x)])

    def bounded(self, x: Attribute) -> bool:
        """Whether an attribute has finitely many values in results (Definition 5; docs/theory-bags.md, "Types")."""
        if x in self.closure.null or x in self.finite_attributes or self._is_finite(x) or self.one_value(x):
            return True
        return self.bounded_above(x) and self.bounded_below(x)

    def listed(self, x: Attribute) -> tuple[Value, ...] | None:
        """The values that lists leave an attribute, its own and those of attributes it equals; None without any."""
        alike = (y for y in (x, *self.equal_to(x)) if y in self.lists)
        options = [{self._moved(value, y, x) for value in self.lists[y]} for y in alike]
        return tuple(sorted(set.intersection(*options), key=in_order)) if options else None

    def equal_to(self, x: Attribute) -> tuple[Attribute, ...]:
        """The other attributes that equal one up to a constant (exactly, over dense types and strings)."""
        return tuple(y for y in self.alike(x) if y != x)

    def alike(self, x: Attribute) -> tuple[Attribute, ...]:
        """An attribute and those that equal it as in `equal_to`: the same tuple for all of them."""
        return self._alike.get(x, (x,))

    @cached_property
    def _alike(self) -> dict[Attribute, tuple[Attribute, ...]]:
        found: dict[Attribute, tuple[Attribute, ...]] = {}
        for sort, matrix in self.closure.bounds.items():
            named = self._named(sort)
            for nodes in matrix.classes:
                rest = [named[node] for node in nodes if node and named[node] in self.closure.compared]
                while rest:
                    members = tuple(y for y in rest if sort is Sort.DISCRETE or self.difference(rest[0], y) == 0)
                    found.update(dict.fromkeys(members, members))
                    rest = [y for y in rest if y not in members]
        return found

    def _named(self, sort: Sort) -> dict[int, Attribute]:
        return {self.closure.nodes[attribute][1]: attribute for attribute in self.closure.attributes(sort)}

    def difference(self, x: Attribute, y: Attribute) -> Fraction:
        """The greatest ``x − y``: the only one where it is fixed; 0 where there is none."""
        pair = self.closure.pair(x, y)
        limit = pair[0].limit(pair[1], pair[2]) if pair else None
        return limit[0] if limit else Fraction(0)

    def _moved(self, value: Value, y: Attribute, x: Attribute) -> Value:
        """The value of ``x`` where ``y`` has a value and the two differ by a constant."""
        difference = self.difference(x, y)
        return value if isinstance(value, str) or difference == 0 else value + int(difference)

    def limits(self, x: Attribute) -> tuple[Limit, Limit]:
        """The lower and upper limit of a discrete attribute, by constants and relations' extreme values.

        A relation's limit that is no tighter than a constant's is left out.
        """
        if x not in self._limits:
            self._limits[x] = self._lower_and_upper(x)
        return self._limits[x]

    @cached_property
    def _limits(self) -> dict[Attribute, tuple[Limit, Limit]]:
        return {}

    def _lower_and_upper(self, x: Attribute) -> tuple[Limit, Limit]:
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

    def extreme_constants(self, x: Attribute) -> tuple[Fraction, Fraction] | None:
        """The least and the greatest constant that conditions or bounds compare attributes of that type with."""
        kind = self.branch.column(x).type
        return self._extreme_constants.get((kind.family, kind.scale))

    @cached_property
    def _extreme_constants(self) -> dict[tuple[Family, int | None], tuple[Fraction, Fraction]]:
        found: dict[tuple[Family, int | None], tuple[Fraction, Fraction]] = {}
        for attribute, value in self._constants():
            kind = self.branch.column(attribute).type
            least, most = found.get((kind.family, kind.scale), (value, value))
            found[kind.family, kind.scale] = min(least, value), max(most, value)
        return found

    def _constants(self) -> Iterator[tuple[Attribute, Fraction]]:
        for atom in self._comparisons:
            if atom.right is None and not isinstance(atom.offset, str) and not self.branch.is_time(atom.left):
                yield atom.left, Fraction(atom.offset)
        for attribute in self.closure.attributes(Sort.DISCRETE):
            yield from ((attribute, limit) for limit in self.closure.interval(attribute) if limit is not None)

    # --- joins ----------------------------------------------------------------------------------------------

    @cached_property
    def joins(self) -> tuple[JoinConstraint, ...]:
        """The non-redundant constraints of P+ between attributes of different sources.

        Left out is what follows through constants, through a third attribute, or through an equality and a comparison
        within one row: ``S.b = T.b AND S.b >= T.a`` says ``T.b >= T.a``. Of equal attributes of one source the first
        by name stands for all. Between two streams what follows through a relation's attribute is left out, too,
        because a relation is joined as soon as a tuple arrives; and between infinite ones what follows through a
        finite stream's, because whatever waits for that stream is forgotten when it ends.
        """
        return tuple(join for sort in (Sort.DISCRETE, Sort.DENSE, Sort.STRING) for join in self._joins(sort))

    @cached_property
    def unequal(self) -> tuple[Comparison, ...]:
        """The ``<>`` between different sources that no pass has split: checked when both are there."""
        return tuple(
            atom
            for atom in self.branch.atoms
            if isinstance(atom, Comparison) and atom.op is Op.NE and len({a.source for a in atom.attributes}) == 2
        )

    @cached_property
    def joined(self) -> frozenset[frozenset[str]]:
        """The pairs of sources with a condition between them: a join, or a ``<>``."""
        pairs = {frozenset((join.attribute.source, join.other.source)) for join in self.joins}
        return frozenset(pairs | {frozenset(a.source for a in atom.attributes) for atom in self.unequal})

    def _joins(self, sort: Sort) -> Iterator[JoinConstraint]:
        matrix, named = self.closure.bounds[sort], self._named(sort)
        classes = {nodes: self._one_per_source(named, nodes) for nodes in matrix.classes[1:]}
        rank = {node: min(map(self._permanence, mine)) for mine in classes.values() for node in mine.values()}
        within = ((nodes, nodes) for nodes in classes)
        between = (pair for pair in matrix.links() if classes[pair[0]].keys().isdisjoint(classes[pair[1]]))
        ends = (product(classes[x].values(), classes[y].values()) for x, y in chain(within, between))
        for i, j in sorted(chain.from_iterable(ends)):
            x, y = named[i], named[j]
            own = min(self._permanence(x.source), self._permanence(y.source))
            if x.source != y.source and own <= min(rank[i], rank[j]):
                yield JoinConstraint(x, y, matrix.equal(i, j))

    @staticmethod
    def _one_per_source(named: dict[int, Attribute], nodes: tuple[int, ...]) -> dict[str, int]:
        """Of each source in a class the first of its nodes by name."""
        in_order = sorted(nodes, key=lambda node: named[node].column, reverse=True)
        return {named[node].source: node for node in in_order}

    def _permanence(self, alias: str) -> int:
        """Whether a source is there from the start (0), complete at some time (1), or never (2)."""
        relation = self.branch.source(alias).kind is Kind.RELATION
        return 0 if relation else 1 if alias in self.finite_streams else 2

    def joins_of(self, alias: str, partners: tuple[str, ...]) -> tuple[tuple[Attribute, JoinConstraint], ...]:
        """The joins of a source with the given partners, each with the attribute that is the source's."""
        ends = self._joins_of_source.get(alias, ())
        return tuple((own, join) for own, join in ends if join.partner(own).source in partners)

    @cached_property
    def _joins_of_source(self) -> dict[str, list[tuple[Attribute, JoinConstraint]]]:
        found: dict[str, list[tuple[Attribute, JoinConstraint]]] = {}
        for join in self.joins:
            for own in (join.attribute, join.other):
                found.setdefault(own.source, []).append((own, join))
        return found

    @cached_property
    def joins_on(self) -> dict[Attribute, tuple[JoinConstraint, ...]]:
        """The joins of every attribute that has any."""
        found: dict[Attribute, list[JoinConstraint]] = {}
        for join in self.joins:
            for own in (join.attribute, join.other):
                found.setdefault(own, []).append(join)
        return {own: tuple(joins) for own, joins in found.items()}

    def harmless(self, own: Attribute, join: JoinConstraint) -> bool:
        """Whether a join needs only finitely many values of ``own`` (docs/theory-bags.md).

        ``A − B ≤ c`` is harmless for A when A has an upper and B a lower bound, and for B when B has a lower
        and A an upper bound: outside those bounds the outcome does not depend on the value. Over dense types it is
        harmless where the partner's values are listed, so that only the place among them counts. Of a stream with one
        row at most every join is.
        """
        if self.one_row(own.source):
            return True
        if self.closure.sort(own) in _DENSE:
            placed = not join.equality and self.listed(join.partner(own)) is not None
            return placed or self.bounded(own)
        return self.bounded_above(join.attribute) and self.bounded_below(join.other)

    # --- positions ------------------------------------------------------------------------------------------

    def span_of(self, x: Attribute, y: Attribute | None = None) -> Span:
        """The condition to blame for a constraint: on both attributes, else on their sources, else on x."""
        own = self._comparisons_on.get(x, [])
        if y is not None:
            exact = [atom for atom in own if y in atom.attributes]
            own = exact or self._comparisons_between.get(frozenset((x.source, y.source))) or own
        return next((atom.span for atom in own if atom.span is not None), self.branch.source(x.source).span)

    @cached_property
    def _comparisons_on(self) -> dict[Attribute, list[Comparison]]:
        found: dict[Attribute, list[Comparison]] = {}
        for atom in self._located:
            for attribute in dict.fromkeys(atom.attributes):
                found.setdefault(attribute, []).append(atom)
        return found

    @cached_property
    def _comparisons_between(self) -> dict[frozenset[str], list[Comparison]]:
        found: dict[frozenset[str], list[Comparison]] = {}
        for atom in self._located:
            found.setdefault(frozenset(attribute.source for attribute in atom.attributes), []).append(atom)
        return found

    @property
    def _located(self) -> Iterator[Comparison]:
        return (atom for atom in self._comparisons if atom.span)

    @cached_property
    def _comparisons(self) -> tuple[Comparison, ...]:
        return tuple(atom for atom in self.branch.atoms if isinstance(atom, Comparison))


def _time(source: Source) -> Attribute:
    time = source.time
    if time is None:
        raise ValueError(f"{source.alias} is a relation and has no timestamp")
    return time
