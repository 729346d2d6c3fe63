"""What holds of every tree that SQL has: a name means one column below, sides fit, recursion is in its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.schema import joined, schema, starred
from streambound.analyzer.algebra.schema_columns import Schema, meant, places_of
from streambound.analyzer.algebra.verify_types import ill_typed
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.toml_reader import suggest


class ColumnName(NamedTuple):
    """A column as an expression names it, and the columns that it may mean: of the operator's input, or around that.

    ``sorts``: it is a key of ORDER BY, which may mean a column of the select list, or one below it.
    """

    column: exp.Column
    given: Schema
    around: Schema
    sorts: bool


def violations(tree: nodes.Tree, catalog: Catalog, recursive: tuple[str, Schema] | None = None) -> tuple[str, ...]:
    """The faults of a tree, operator by operator from the top; empty for a tree that a pass may return.

    ``recursive``: the relation that a `Fixpoint` around the tree defines, and its columns.
    """
    return tuple(_violations(tree, catalog, recursive, ()))


def _violations(
    tree: nodes.Tree, catalog: Catalog, recursive: tuple[str, Schema] | None, around: Schema
) -> Iterator[str]:
    """``around``: the columns of the row that a subquery is of."""
    columns = recursive[1] if recursive else ()
    given = [schema(under, catalog, columns) for under in nodes.inputs(tree)]
    yield from _of_operator(tree, given, catalog, recursive, around)
    for under in nodes.inputs(tree):
        own = (
            (tree.name, schema(tree.base, catalog))
            if isinstance(tree, nodes.Fixpoint) and under is tree.step
            else recursive
        )
        outside = (*around, *given[0]) if isinstance(tree, nodes.Apply) and under is tree.subquery else around
        yield from _violations(under, catalog, own, outside)


def _of_operator(
    tree: nodes.Tree, given: list[Schema], catalog: Catalog, recursive: tuple[str, Schema] | None, around: Schema
) -> Iterator[str]:
    """The faults of one operator over inputs of those columns."""
    yield from ill_typed(tree, given, catalog)
    match tree:
        case nodes.Scan(table=table) if catalog.table(table) is None:
            yield f"Scan: {catalog.file} declares no {table}"
        case nodes.Recur(name=name) if recursive is None or recursive[0] != name:
            yield f"Recur: nothing around it defines {name}"
        case nodes.Alias(columns=names) if names and len(names) != len(given[0]):
            yield f"Alias: {len(names)} names for {len(given[0])} columns"
        case nodes.Union() | nodes.Except() | nodes.Intersect() | nodes.Fixpoint() if len(given[0]) != len(given[1]):
            yield f"{type(tree).__name__}: {len(given[0])} columns and {len(given[1])}"
        case nodes.Join(using=using):
            lacking = [name for name in using for side in given if not any(f.called(name) for f in side)]
            yield from (f"Join: one side has no column {name}" for name in lacking)
        case nodes.Bucket(kind=kind, slide=slide) if (kind is nodes.BucketKind.SESSION) != (not slide):
            yield f"Bucket: a {kind} one has {'a' if slide else 'no'} slide"
    name, (scalars, named) = type(tree).__name__, _named(tree, given, catalog)
    known = (*named, *around)
    for scalar in scalars:
        for column in _columns(scalar.syntax) if scalar else ():
            if meant(column, known) is None:
                yield f"{name}: its input has no column {column.sql('spark')}"
    for item in getattr(tree, "items", ()):
        if isinstance(item, nodes.Star) and not starred(item, named):
            yield f"{name}: its input has no {item.alias}.*"


def names(tree: nodes.Tree, catalog: Catalog, recursive: Schema = (), around: Schema = ()) -> Iterator[ColumnName]:
    """The names of columns in a tree, outside of the subqueries of expressions, from the bottom to the top.

    ``recursive`` and ``around`` as for `schema`, and the columns of the row that a subquery is of.
    """
    for under in nodes.inputs(tree):
        own = schema(tree.base, catalog) if isinstance(tree, nodes.Fixpoint) and under is tree.step else recursive
        outside = around
        if isinstance(tree, nodes.Apply) and under is tree.subquery:
            outside = (*around, *schema(tree.input, catalog, recursive))
        yield from names(under, catalog, own, outside)
    scalars, named = _named(tree, [schema(under, catalog, recursive) for under in nodes.inputs(tree)], catalog)
    for scalar in scalars:
        for column in _columns(scalar.syntax) if scalar else ():
            yield ColumnName(column, named, around, isinstance(tree, nodes.OrderBy))


def _named(tree: nodes.Tree, given: list[Schema], catalog: Catalog) -> tuple[list[nodes.Scalar | None], Schema]:
    """The expressions of an operator over inputs of those columns, and the columns that these may name."""
    match tree:
        case nodes.Join():
            return [tree.condition, tree.member], joined(given[0], given[1], ())
        case nodes.OrderBy():  # it may name what is below the projection, too
            return _scalars(tree), tuple(f for under in _below(tree.input) for f in schema(under, catalog))
        case (
            nodes.Filter()
            | nodes.Project()
            | nodes.Over()
            | nodes.Bucket()
            | nodes.Aggregate()
            | nodes.Apply()
            | nodes.FirstRows()
        ):
            return _scalars(tree), given[0]
    return [], ()


def _below(tree: nodes.Tree) -> Iterator[nodes.Tree]:
    while True:
        yield tree
        if len(nodes.inputs(tree)) != 1 or isinstance(tree, nodes.Alias | nodes.SpjBlock):
            return
        (tree,) = nodes.inputs(tree)


def _scalars(tree: nodes.Tree) -> list[nodes.Scalar | None]:
    match tree:
        case nodes.Filter(condition=condition):
            return [condition]
        case nodes.OrderBy(keys=keys):
            return [key.value for key in keys]
        case nodes.Project(items=items):
            return [item.value for item in items if isinstance(item, nodes.Named)]
        case nodes.Bucket(time=time, keys=own):
            return [time, *own]
        case nodes.Apply(operands=operands):
            return list(operands)
        case nodes.Over(calls=calls):
            return [scalar for call in calls for scalar in (*_of_call(call), *call.partition)]
        case nodes.Aggregate(keys=named, calls=aggregates):
            return [*(key.value for key in named), *(scalar for call in aggregates for scalar in _of_call(call))]
    return []


def _of_call(call: nodes.AggregateCall | nodes.WindowCall) -> list[nodes.Scalar | None]:
    return [*call.arguments, call.filter, *(key.value for key in call.order)]


def _columns(node: exp.Expr) -> Iterator[exp.Column]:
    """The columns that an expression names outside of its own subqueries, however deep it is."""
    for one in node.walk(bfs=False, prune=lambda found: isinstance(found, exp.Query)):
        if isinstance(one, exp.Column) and not isinstance(one.this, exp.Star):
            yield one


def outer_columns(tree: nodes.Tree, catalog: Catalog, recursive: Schema = ()) -> tuple[exp.Column, ...]:
    """The columns that a subquery's tree names and lacks: they are of the row outside.

    A subquery in one of its expressions counts with all that it names and what is around it lacks.
    """
    return tuple(_outer_columns(tree, catalog, recursive, ()))


def _outer_columns(tree: nodes.Tree, catalog: Catalog, recursive: Schema, around: Schema) -> Iterator[exp.Column]:
    given = tuple(found for under in nodes.inputs(tree) for found in schema(under, catalog, recursive))
    below = (
        tuple(f for under in _below(tree) for f in schema(under, catalog)) if isinstance(tree, nodes.OrderBy) else ()
    )
    left = schema(tree.left, catalog, recursive) if isinstance(tree, nodes.Join) else ()
    scalars = [tree.condition, tree.member] if isinstance(tree, nodes.Join) else _scalars(tree)
    scalars = [tree.time] if isinstance(tree, nodes.AsOf) else scalars
    known, sorted_by = (*given, *around), (*given, *below, *around)
    for scalar in scalars:
        for column in _columns(scalar.syntax) if scalar else ():
            if meant(column, sorted_by) is None:
                yield column
        for query in scalar.syntax.find_all(exp.Query) if scalar else ():
            for column in query.find_all(exp.Column):
                if column.table and meant(column, known) is None:
                    named = {one.alias_or_name.lower() for one in query.find_all(exp.Table, exp.Subquery)}
                    if column.table.lower() not in named:
                        yield column
    for under in nodes.inputs(tree):
        inner = schema(tree.base, catalog) if isinstance(tree, nodes.Fixpoint) and under is tree.step else recursive
        beside = left if isinstance(tree, nodes.Join) and under is tree.right and is_version(under) else ()
        if isinstance(tree, nodes.Apply) and under is tree.subquery:
            beside = schema(tree.input, catalog, recursive)
        yield from _outer_columns(under, catalog, inner, (*around, *beside))


def is_version(tree: nodes.Tree) -> bool:
    """Whether a tree is a relation as of a time, which the row beside it, or outside of it, may have."""
    return isinstance(tree, nodes.AsOf) or (isinstance(tree, nodes.Alias) and is_version(tree.input))


def check_names(tree: nodes.Tree, catalog: Catalog, positions: Positions) -> None:
    """Raises Finding for the first name, from the bottom of the tree, that no column has, or several have."""
    for name in names(tree, catalog):
        mine = [name.given[place] for place in places_of(name.column, name.given)]
        if not mine and meant(name.column, name.around) is None:
            raise _unknown(name, positions)
        if len(mine) > 1 and not name.sorts:
            raise _ambiguous(name, tuple(mine), positions)


def _unknown(name: ColumnName, positions: Positions) -> Finding:
    column, given = name.column, (*name.given, *name.around)
    aliases = dict.fromkeys(found.alias for found in given if found.alias)
    if column.table and column.table.lower() not in map(str.lower, aliases):
        message = f"no stream, relation or subquery {column.table!r} in this FROM"
        field = f"a field of a subquery's struct has a name there: … {column.table}.{column.name} AS {column.name}"
        is_struct = any(found.called(column.table) for found in given)
        help = field if is_struct else suggest(column.table, aliases)
        return positions.finding(Code.UNKNOWN_STREAM, message, column, help)
    if column.table:
        known = [f"{found.alias}.{found.name}" for found in given if found.alias]
        message, help = f"{column.table} has no column {column.name!r}", suggest(f"{column.table}.{column.name}", known)
    else:
        message = f"nothing in this FROM has a column {column.name!r}"
        help = suggest(column.name, [found.name for found in given])
    return positions.finding(Code.UNKNOWN_COLUMN, message, column, help)


def _ambiguous(name: ColumnName, found: Schema, positions: Positions) -> Finding:
    aliases = list(dict.fromkeys(one.alias for one in found if one.alias))
    if len(aliases) < 2:
        message = f"{len(found)} columns are called {name.column.name!r}"
        help = "give each of them a name of its own, with AS"
    else:
        message = f"column {name.column.name!r} is ambiguous: {' and '.join(aliases)} have it"
        help = f"write {aliases[0]}.{name.column.name}"
    return positions.finding(Code.AMBIGUOUS_COLUMN, message, name.column, help)
