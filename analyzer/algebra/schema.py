"""The columns of an operator's rows: whose they are, their names, and what the catalog declares of them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.aggregate_functions import computed_of
from streambound.analyzer.algebra.row_expressions import type_of, type_of_call
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn, meant
from streambound.analyzer.algebra.window_functions import operands
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.constants import BOOLEAN, Folded
from streambound.analyzer.expressions.function import ANY
from streambound.analyzer.expressions.kinds import common
from streambound.analyzer.types import DataType
from streambound.analyzer.work import by_identity, spend

_STEPS = 3


@by_identity
def schema(tree: nodes.Tree, catalog: Catalog, recursive: Schema = ()) -> Schema:
    """The columns of a tree's rows. ``recursive``: those of the relation that a `Fixpoint` around it defines."""
    found = _schema(tree, catalog, recursive)
    spend(_STEPS * (1 + len(found)))
    return found


def _schema(tree: nodes.Tree, catalog: Catalog, recursive: Schema) -> Schema:
    match tree:
        case nodes.Scan(table=table, alias=alias):
            declared = catalog.table(table)
            columns = declared.columns if declared else ()
            time = declared.timestamp if declared else None
            return tuple(
                ViewColumn(alias, column.name, column, column.name == time, column.type, column.name != time)
                for column in columns
            )
        case nodes.Recur(alias=alias):
            return tuple(replace(found, alias=alias) for found in recursive)
        case nodes.Alias(input, alias, names):
            inner = schema(input, catalog, recursive)
            return tuple(
                replace(found, alias=alias, name=name)
                for found, name in zip(inner, names or [found.name for found in inner], strict=False)
            )
        case nodes.Project(input, items):
            return tuple(_listed(items, schema(input, catalog, recursive)))
        case nodes.Aggregate(input, keys, calls):
            given = schema(input, catalog, recursive)
            return (*grouped(keys, given), *(_computed(call, given, bool(keys)) for call in calls))
        case nodes.Over(input, calls):
            given = schema(input, catalog, recursive)
            return (*given, *(_computed(call, given, grouped=True) for call in calls))
        case nodes.Bucket(input=input, time=time, columns=names, alias=alias):
            given = schema(input, catalog, recursive)
            kind = type_of(time.syntax, given)[0]
            return (*given, *(ViewColumn(alias, name, type=kind, nullable=False) for name in names))
        case nodes.Apply(input, subquery, kind, name):
            asked = schema(subquery, catalog, recursive)
            found = asked[0].type if kind is nodes.ApplyKind.SCALAR and asked else BOOLEAN
            nullable = kind is not nodes.ApplyKind.EXISTS
            return (*schema(input, catalog, recursive), ViewColumn("", name, type=found, nullable=nullable))
        case nodes.Join(kind, left, right, _, using):
            mine = schema(left, catalog, recursive)
            if kind in nodes.ONE_SIDED:
                return mine
            other = schema(right, catalog, recursive)
            mine = _padded(mine) if kind in (nodes.JoinKind.RIGHT, nodes.JoinKind.FULL) else mine
            other = _padded(other) if kind in (nodes.JoinKind.LEFT, nodes.JoinKind.FULL) else other
            return joined(mine, other, using)
        case nodes.Union(left, right):
            return combined(schema(left, catalog, recursive), schema(right, catalog, recursive))
        case nodes.Except(left, right) | nodes.Intersect(left, right):
            mine, other = schema(left, catalog, recursive), schema(right, catalog, recursive)
            return tuple(replace(one, type=_common(one, two)) for one, two in zip(mine, other, strict=False))
        case nodes.Fixpoint(base=base, step=step):
            first = schema(base, catalog, recursive)
            open_end = tuple(replace(found, nullable=True) for found in first)
            return combined(first, schema(step, catalog, open_end))
        case (
            nodes.AsOf(input)
            | nodes.Filter(input)
            | nodes.Distinct(input)
            | nodes.OrderBy(input)
            | nodes.FirstRows(input)
            | nodes.SpjBlock(input)
        ):
            return schema(input, catalog, recursive)


def _padded(columns: Schema) -> Schema:
    """The columns of a side that a row may have no partner on."""
    return tuple(replace(found, nullable=True) for found in columns)


def joined(left: Schema, right: Schema, using: tuple[str, ...]) -> Schema:
    """The columns of pairs of rows: those that USING names come first, once; of these one side is always there."""
    named = [[next((f for f in side if f.called(name)), None) for side in (left, right)] for name in using]
    once = [_merged(one, other) for one, other in named if one is not None]
    rest = [found for found in (*left, *right) if not any(found.called(name) for name in using)]
    return (*once, *rest)


def grouped(keys: tuple[nodes.Named, ...], given: Schema) -> Schema:
    """The columns that the keys of an `Aggregate` are, over an input of those columns."""
    return tuple(_grouped(key, given) for key in keys)


def _grouped(key: nodes.Named, given: Schema) -> ViewColumn:
    """The column of a key: the input's own, where it is one, with its alias."""
    syntax = key.value.syntax
    place = meant(syntax, given) if isinstance(syntax, exp.Column) else None
    if place is None:
        kind, nullable = type_of(syntax, given)
        return ViewColumn("", key.name, type=kind, nullable=nullable)
    return given[place] if not key.alias else replace(given[place], alias="", name=key.name)


def _computed(call: nodes.AggregateCall | nodes.WindowCall, given: Schema, grouped: bool) -> ViewColumn:
    """The column of an aggregate, or of a function over a window; ``grouped``: it has a row to be computed of."""
    computed = computed_of(call) if isinstance(call, nodes.AggregateCall) else operands(call)
    arguments = [type_of(one.syntax, given) for one in computed]
    kind, nullable = type_of_call(call, arguments, grouped)
    return ViewColumn("", call.name, type=kind, nullable=nullable)


def _merged(one: ViewColumn, other: ViewColumn | None) -> ViewColumn:
    return one if other is None else replace(one, nullable=one.nullable and other.nullable, type=_common(one, other))


def combined(left: Schema, right: Schema) -> Schema:
    """The columns of two sides by position: by the names of the first, of a type that has the values of both."""
    return tuple(
        replace(
            one,
            type=_common(one, other),
            nullable=one.nullable or other.nullable,
            column=one.column if one.column == other.column else None,
            time=one.time and other.time,
        )
        for one, other in zip(left, right, strict=False)
    )


def _common(one: ViewColumn, other: ViewColumn) -> DataType | None:
    """The type of what is a value of one column or of the other; None where it is not known."""
    if one.type is None or other.type is None or one.type == other.type:
        return one.type if one.type == other.type else None
    found = common([Folded(None, one.type), Folded(None, other.type)])
    return None if found == ANY else found


def _listed(items: tuple[nodes.Item, ...], given: Schema) -> Iterator[ViewColumn]:
    for item in items:
        if isinstance(item, nodes.Star):
            yield from (replace(found, alias="") for found in starred(item, given))
            continue
        syntax = item.value.syntax
        place = meant(syntax, given) if isinstance(syntax, exp.Column) else None
        if place is not None:
            yield replace(given[place], alias="", name=item.name)
            continue
        kind, nullable = type_of(syntax, given)
        yield ViewColumn("", item.name, type=kind, nullable=nullable)


def without_added(item: nodes.Item, added: Schema) -> nodes.Item:
    """An item of a list over rows to which columns were added: no star shows them."""
    if not isinstance(item, nodes.Star):
        return item
    names = (one.name for one in added if not item.alias or one.alias.lower() == item.alias.lower())
    return replace(item, without=(*item.without, *names))


def starred(star: nodes.Star, given: Schema) -> Schema:
    """The columns that a ``*`` stands for."""
    return tuple(given[place] for place in starred_places(star, given))


def starred_places(star: nodes.Star, given: Schema) -> tuple[int, ...]:
    """The places of the columns that a ``*`` stands for."""
    mine = (p for p, found in enumerate(given) if not star.alias or found.alias.lower() == star.alias.lower())
    return tuple(place for place in mine if not any(given[place].called(name) for name in star.without))


def qualified(scalar: nodes.Scalar, given: Schema) -> exp.Expr:
    """An expression with the aliases of the columns that it names, so that it means the same beside other sources.

    Names in its own subqueries stay as they are, and so does an expression that has no other ones without an alias.
    """
    node = scalar.syntax.copy()
    bare = [one for one in node.find_all(exp.Column) if not one.table and one.find_ancestor(exp.Query) is None]
    named = False
    for one in bare:
        found = [column.alias for column in given if column.called(one.name)]
        if len(found) == 1 and found[0]:
            one.set("table", exp.to_identifier(found[0], quoted=True))
            named = True
    return node if named else scalar.syntax
