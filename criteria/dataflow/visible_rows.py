"""Which rows of tables make a row of an operator visible in a statement's result: a join of tables, with conditions.

Each operator says it of its own rows: a group shows one row of its own, an outer join a pair or a row alone, a
recursion a row of its base or of one step. These are composed into select-project-join queries, whose elements and
probes are known (`criteria.witness_search`). They are another statement than the one that is judged: a witness that one
of them suggests counts when the judged one, executed, tells all subsets apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.aggregate_functions import AGGREGATES, computed_of
from streambound.analyzer.algebra.schema import schema, starred_places
from streambound.analyzer.algebra.schema_columns import Schema, meant
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.algebra.window_functions import WINDOW_FUNCTIONS, Gives, operands
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.expressions.rows import outermost_queries
from streambound.analyzer.work import spend
from streambound_runtime.promises import Domain

Values = tuple[exp.Expr | None, ...]
"""Columns as expressions over tables' rows; None for one that is not known, such as a number of rows."""
_MOST_WAYS = 4
"""Ways to make a row of an operator that are looked at."""
_STEPS = 20
_OF_ONE_ROW = {
    *(name for name, one in AGGREGATES.items() if one.kept is not None and one.of_one_value),
    *(name for name, one in WINDOW_FUNCTIONS.items() if one.continues and one.gives is Gives.VALUE),
}
"""Functions that have the value of their argument where there is one row, or rows that are alike."""


class VisibleRows(Struct, frozen=True):
    """Rows of tables that make a row: of each of the ``scans`` one, under ``conditions``, with its ``columns``.

    ``kept`` are the columns of the operator that is asked about, where it is below: those of a join are its pairs',
    those of groups their keys and what their aggregates are of.
    """

    scans: tuple[nodes.Scan, ...]
    conditions: tuple[exp.Expr, ...]
    columns: Values
    kept: Values | None = None

    def beside(self, other: VisibleRows) -> VisibleRows:
        """Both rows, as a pair."""
        kept = self.kept if self.kept is not None else other.kept
        scans, columns = (*self.scans, *other.scans), (*self.columns, *other.columns)
        return VisibleRows(scans, (*self.conditions, *other.conditions), columns, kept)

    def where(self, *conditions: exp.Expr | None) -> VisibleRows:
        """The same under more conditions; one that is not known is left out."""
        return replace(self, conditions=(*self.conditions, *(one for one in conditions if one is not None)))


class Visibility(Struct, frozen=True):
    """How rows of a tree's operators are made, and what is kept of those of ``operator``; of several ways the first.

    ``queries`` are the trees of subqueries in expressions, by the identity of their syntax. ``recursive`` are the
    columns and the base of the recursion around what is looked at, ``outer`` those of the row around a subquery.
    """

    catalog: Catalog
    operator: nodes.Tree
    queries: Mapping[int, nodes.Tree] = field(default_factory=dict)
    recursive: tuple[Schema, nodes.Tree] | None = None
    outer: tuple[Schema, Values] = ((), ())
    _taken: set[str] = field(default_factory=set)

    def of(self, tree: nodes.Tree) -> Iterator[VisibleRows]:
        """The ways to make a row of an operator."""
        spend(_STEPS)
        for found in islice(self._ways(tree), _MOST_WAYS):
            yield found if tree is not self.operator or found.kept is not None else replace(found, kept=found.columns)

    def _ways(self, tree: nodes.Tree) -> Iterator[VisibleRows]:
        match tree:
            case nodes.Scan():
                yield self._scan(tree)
            case nodes.Recur() if self.recursive is not None:
                yield from replace(self, recursive=None).of(self.recursive[1])
            case nodes.Alias(input) | nodes.SpjBlock(input) | nodes.Distinct(input) | nodes.AsOf(input):
                yield from self.of(input)
            case nodes.OrderBy(input) | nodes.FirstRows(input):
                yield from self.of(input)
            case nodes.Filter(input, condition):
                for below in self.of(input):
                    yield from self._filtered(below, conjuncts(condition), self._schema(input))
            case nodes.Project(input, items):
                for below in self.of(input):
                    yield replace(below, columns=tuple(self._listed(items, self._schema(input), below.columns)))
            case nodes.Bucket(input=input, time=time, columns=names):  # a bucket is known by its first time
                for below in self.of(input):
                    start = self._value(time.syntax, self._schema(input), below.columns)
                    yield replace(below, columns=(*below.columns, start, *(None for _ in names[1:])))
            case nodes.Aggregate():
                yield from self._groups(tree)
            case nodes.Over(input, calls):
                for below in self.of(input):
                    given = self._schema(input)
                    computed = (self._of_one_row(call, given, below.columns) for call in calls)
                    yield replace(below, columns=(*below.columns, *computed))
            case nodes.Join():
                yield from self._pairs(tree)
            case nodes.Union(left, right):
                for side in (right, left) if self._is_below(right) else (left, right):
                    yield from self.of(side)
            case nodes.Except(left, right) | nodes.Intersect(left, right):
                alone = isinstance(tree, nodes.Except) and not self._is_below(right)
                yield from self.of(left) if alone else ()
                for pair in self._both(left, right):
                    width = len(self._schema(left))
                    equal = zip(pair.columns[:width], pair.columns[width:], strict=True)
                    found = pair.where(*(exp.EQ(this=a.copy(), expression=b.copy()) for a, b in equal if a and b))
                    yield replace(found, columns=found.columns[:width])
            case nodes.Fixpoint(base=base, step=step):
                yield from self.of(base)
                yield from replace(self, recursive=(self._schema(tree), base)).of(step)
            case nodes.Apply(input):
                for below in self.of(input):
                    yield replace(below, columns=(*below.columns, None))

    def _is_below(self, tree: nodes.Tree) -> bool:
        return tree is self.operator or any(map(self._is_below, nodes.inputs(tree)))

    def _schema(self, tree: nodes.Tree) -> Schema:
        return schema(tree, self.catalog, self.recursive[0] if self.recursive is not None else ())

    def _scan(self, tree: nodes.Scan) -> VisibleRows:
        alias, number = tree.alias, 1
        while alias.lower() in self._taken:
            alias, number = f"{tree.alias}_{number + 1}", number + 1
        self._taken.add(alias.lower())
        columns = tuple(exp.column(one.name, table=alias, quoted=True) for one in self._schema(tree))
        return VisibleRows((replace(tree, alias=alias, changes=False),), (), columns)

    def _true(self, condition: nodes.Scalar | None, given: Schema, columns: Values) -> Iterator[exp.Expr | None]:
        for part in conjuncts(condition):
            yield self._value(part, given, columns)

    def _filtered(self, below: VisibleRows, parts: Sequence[exp.Expr], given: Schema) -> Iterator[VisibleRows]:
        """Rows for which conditions are true: beside each a row of every subquery that is asked."""
        found = [below]
        for part in parts:
            found = [one for each in found for one in islice(self._asked(each, part, given), _MOST_WAYS)]
        yield from found

    def _asked(self, below: VisibleRows, part: exp.Expr, given: Schema) -> Iterator[VisibleRows]:
        queries = list(outermost_queries(part))
        if not queries:
            yield below.where(self._value(part, given, below.columns))
            return
        tree = self.queries.get(id(queries[0])) if len(queries) == 1 and part.find(exp.Not) is None else None
        if tree is None:
            yield below
            return
        for row in replace(self, outer=(given, below.columns)).of(tree):
            holds = self._compared(part, queries[0], row.columns[0], given, below.columns)
            yield replace(below.beside(row).where(holds), columns=below.columns)

    def _compared(
        self, part: exp.Expr, query: exp.Expr, value: exp.Expr | None, given: Schema, columns: Values
    ) -> exp.Expr | None:
        """A condition on the first column of a subquery's row; None if that is unknown."""
        node = part.unnest()
        if isinstance(node, exp.In):
            own = self._value(node.this, given, columns)
            return None if own is None or value is None else exp.EQ(this=own, expression=value.copy())
        if value is None or not isinstance(node, exp.Predicate) or not isinstance(node, exp.Binary):
            return None
        asked = [any(one is query for one in side.walk()) for side in (node.this, node.expression)]
        sides = [
            value.copy() if holds else self._value(side, given, columns)
            for side, holds in zip((node.this, node.expression), asked, strict=True)
        ]
        return None if None in sides else type(node)(this=sides[0], expression=sides[1])

    def _listed(self, items: Sequence[nodes.Item], given: Schema, columns: Values) -> Iterator[exp.Expr | None]:
        for item in items:
            if isinstance(item, nodes.Star):
                yield from (columns[place] for place in starred_places(item, given))
            else:
                yield self._value(item.value.syntax, given, columns)

    def _groups(self, tree: nodes.Aggregate) -> Iterator[VisibleRows]:
        """Groups of one row each, which some of the aggregates count."""
        given = self._schema(tree.input)
        for counted in dict.fromkeys((*(call.filter for call in tree.calls if call.filter is not None), None)):
            for below in self.of(tree.input):
                keys = tuple(self._value(key.value.syntax, given, below.columns) for key in tree.keys)
                found = below.where(*self._true(counted, given, below.columns))
                if tree is self.operator:
                    arguments = (self._argument(call, given, below.columns) for call in tree.calls)
                    found = replace(found, kept=(*keys, *arguments))
                yield replace(
                    found, columns=(*keys, *(self._of_one_row(call, given, below.columns) for call in tree.calls))
                )

    def _both(self, left: nodes.Tree, right: nodes.Tree) -> Iterator[VisibleRows]:
        for one in self.of(left):
            for other in self.of(right):
                yield one.beside(other)

    def _pairs(self, tree: nodes.Join) -> Iterator[VisibleRows]:
        """Rows with a partner, which an anti join takes back; then those that are shown without one."""
        left, right = self._schema(tree.left), self._schema(tree.right)
        width, given = len(left), (*left, *right)
        for pair in self._both(tree.left, tree.right):
            found = pair.where(*self._true(tree.condition, given, pair.columns))
            found = found.where(*self._true(tree.member, given, pair.columns))
            found = found.where(*self._of_version(tree.right, left, pair))
            if tree is self.operator and found.kept is None:
                found = replace(found, kept=pair.columns)
            if tree.using:
                yield _using(tree.using, given, width, found)
            else:
                yield replace(found, columns=found.columns[:width]) if tree.kind in nodes.ONE_SIDED else found
        if tree.using or tree.kind in (nodes.JoinKind.INNER, nodes.JoinKind.SEMI):
            return
        if tree.kind is not nodes.JoinKind.RIGHT:
            for alone in self.of(tree.left):
                padded = () if tree.kind in nodes.ONE_SIDED else tuple(None for _ in right)
                yield replace(alone, columns=(*alone.columns, *padded))
        if tree.kind in (nodes.JoinKind.RIGHT, nodes.JoinKind.FULL):
            for alone in self.of(tree.right):
                yield replace(alone, columns=(*(None for _ in left), *alone.columns))

    def _of_version(self, tree: nodes.Tree, left: Schema, pair: VisibleRows) -> Iterator[exp.Expr | None]:
        """A version as of a time has the rows that came until then."""
        while isinstance(tree, nodes.Filter | nodes.Alias):
            tree = tree.input
        table = self.catalog.table(pair.scans[-1].table)
        if isinstance(tree, nodes.AsOf) and table is not None and table.changes is not None:
            came = exp.column(table.changes.timestamp.name, table=pair.scans[-1].alias, quoted=True)
            time = self._value(tree.time.syntax, left, pair.columns)
            yield None if time is None else exp.LTE(this=came, expression=time)

    def _value(self, node: exp.Expr, given: Schema, columns: Values) -> exp.Expr | None:
        """An expression with the columns that it reads replaced by what these are; None where one is not known."""
        if node.find(exp.Query) is not None:
            return None
        found = exp.Paren(this=node.copy())
        for column in list(found.find_all(exp.Column)):
            value: exp.Expr | None = None
            for schema_of, values in ((given, columns), self.outer):
                place = meant(column, schema_of)
                if place is not None:
                    value = values[place]
                    break
            if value is None:
                return None
            column.replace(value.copy() if isinstance(value, exp.Column) else exp.Paren(this=value.copy()))
        inner = found.unnest()
        inner.pop() if inner is not found else None
        return inner

    def _of_one_row(
        self, call: nodes.AggregateCall | nodes.WindowCall, given: Schema, columns: Values
    ) -> exp.Expr | None:
        """The value of a function of one row; None for a number of rows."""
        of_all = call.filter is None or isinstance(call, nodes.AggregateCall)
        return self._argument(call, given, columns) if of_all and call.function in _OF_ONE_ROW else None

    def _argument(
        self, call: nodes.AggregateCall | nodes.WindowCall, given: Schema, columns: Values
    ) -> exp.Expr | None:
        """The argument of a function."""
        computed = computed_of(call) if isinstance(call, nodes.AggregateCall) else operands(call)
        return self._value(computed[0].syntax, given, columns) if computed else None


def _using(names: Sequence[str], given: Schema, width: int, pair: VisibleRows) -> VisibleRows:
    """Pairs that agree in columns of the same names, which come first."""
    places = [[p for p, one in enumerate(given) if one.called(name)] for name in names]
    named = {place for both in places for place in both}
    equal = [(pair.columns[both[0]], pair.columns[both[-1]]) for both in places if both]
    found = pair.where(*(exp.EQ(this=a.copy(), expression=b.copy()) for a, b in equal if a and b))
    rest = (one for place, one in enumerate(pair.columns) if place not in named)
    return replace(found, columns=(*(one for one, _ in equal), *rest))


def with_streams(catalog: Catalog) -> Catalog:
    """A catalog in which relations that change are streams of inserted rows."""
    return replace(catalog, tables=tuple(_as_stream(table) for table in catalog.tables))


def _as_stream(table: DeclaredTable) -> DeclaredTable:
    changes = table.changes
    if changes is None:
        return table
    inserted = replace(changes.op, domain=Domain(values=(changes.insert,)))
    own = (changes.timestamp.name, changes.op.name)
    columns = (*(one for one in table.columns if one.name not in own), changes.timestamp, inserted)
    return replace(table, kind=Kind.STREAM, columns=columns, timestamp=changes.timestamp.name, changes=None, rows=None)
