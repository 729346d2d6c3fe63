"""What holds of every tree that SQL has: names are found below, sides fit together, recursion is in its place."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Alias,
    AsOf,
    Except,
    Filter,
    FirstRows,
    Fixpoint,
    Intersect,
    Item,
    Join,
    Named,
    OrderBy,
    Over,
    Project,
    Recur,
    Scalar,
    Scan,
    SpjBlock,
    Star,
    Tree,
    Union,
    inputs,
)
from streambound.analyzer.algebra.schema import Schema, ViewColumn, joined, parsed, schema, starred
from streambound.analyzer.catalog import Catalog


def violations(tree: Tree, catalog: Catalog, recursive: tuple[str, Schema] | None = None) -> tuple[str, ...]:
    """What is wrong with a tree, an operator at a time from its top; empty for one that a pass may hand on.

    ``recursive``: the relation that a `Fixpoint` around the tree defines, and its columns.
    """
    return tuple(_violations(tree, catalog, recursive))


def _violations(tree: Tree, catalog: Catalog, recursive: tuple[str, Schema] | None) -> Iterator[str]:
    columns = recursive[1] if recursive else ()
    yield from _of_operator(tree, [schema(under, catalog, columns) for under in inputs(tree)], catalog, recursive)
    for under in inputs(tree):
        own = (
            (tree.name, schema(tree.base, catalog)) if isinstance(tree, Fixpoint) and under is tree.step else recursive
        )
        yield from _violations(under, catalog, own)


def _of_operator(
    tree: Tree, given: list[Schema], catalog: Catalog, recursive: tuple[str, Schema] | None
) -> Iterator[str]:
    """What is wrong with one operator over inputs of those columns."""
    match tree:
        case Scan(table=table) if catalog.table(table) is None:
            yield f"Scan: {catalog.file} declares no {table}"
        case Recur(name=name) if recursive is None or recursive[0] != name:
            yield f"Recur: nothing around it defines {name}"
        case Alias(columns=names) if names and len(names) != len(given[0]):
            yield f"Alias: {len(names)} names for {len(given[0])} columns"
        case Union() | Except() | Intersect() | Fixpoint() if len(given[0]) != len(given[1]):
            yield f"{type(tree).__name__}: {len(given[0])} columns and {len(given[1])}"
        case Join(using=using):
            lacking = [name for name in using for side in given if not any(f.called(name) for f in side)]
            yield from (f"Join: one side has no column {name}" for name in lacking)
            yield from _unknown(tree, [tree.condition], joined(given[0], given[1], ()))
        case Filter() | OrderBy() | Project() | Over() | Aggregate() | AsOf() | FirstRows():
            below = tree.input
            if isinstance(tree, OrderBy):  # it may name what is below the projection, too
                below_schemas = [schema(under, catalog) for under in _below(below)]
                yield from _unknown(tree, _scalars(tree), tuple(f for s in below_schemas for f in s))
            else:
                listed = _names(getattr(tree, "items", ()))
                yield from _unknown(tree, _scalars(tree), (*given[0], *listed))


def _below(tree: Tree) -> Iterator[Tree]:
    while True:
        yield tree
        if len(inputs(tree)) != 1 or isinstance(tree, Alias | SpjBlock):
            return
        (tree,) = inputs(tree)


def _names(items: tuple[Item, ...]) -> Schema:
    """The names that a select list gives: GROUP BY, HAVING and QUALIFY may use them."""
    return tuple(ViewColumn("", item.name) for item in items if isinstance(item, Named))


def _scalars(tree: Tree) -> list[Scalar | None]:
    match tree:
        case Filter(condition=condition):
            return [condition]
        case OrderBy(keys=keys):
            return list(keys)
        case AsOf(time=time):
            return [time]
        case Project(items=items):
            return _values(items)
        case Over(items=items, qualify=qualify):
            return [*_values(items), qualify]
        case Aggregate(keys=keys, items=items, having=having):
            return [*keys, *_values(items), having]
    return []


def _values(items: tuple[Item, ...]) -> list[Scalar | None]:
    return [item.value for item in items if isinstance(item, Named)]


def _unknown(tree: Tree, scalars: list[Scalar | None], given: Schema) -> Iterator[str]:
    """The columns that an operator's expressions name, outside of their own subqueries, and its input lacks."""
    name = type(tree).__name__
    for scalar in scalars:
        for column in _columns(parsed(scalar)) if scalar else ():
            if not any(field.called(column.name, column.table) for field in given):
                yield f"{name}: its input has no column {column.sql('spark')}"
    for item in getattr(tree, "items", ()):
        if isinstance(item, Star) and not starred(item, given):
            yield f"{name}: its input has no {item.alias}.*"


def _columns(node: exp.Expr) -> Iterator[exp.Column]:
    if isinstance(node, exp.Query):
        return
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        yield node
    for child in node.iter_expressions():
        yield from _columns(child)
