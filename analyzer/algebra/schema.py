"""The columns of an operator's rows: whose they are, their names, and what the catalog declares of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Alias,
    AsOf,
    Distinct,
    Except,
    Filter,
    FirstRows,
    Fixpoint,
    Intersect,
    Item,
    Join,
    JoinKind,
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
)
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.columns import Column
from streambound.analyzer.expressions.dialect import parsed as parsed_text


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column of an operator's rows.

    ``alias`` is the FROM item that it belongs to, empty in the result of a SELECT. ``column`` is the declared column
    whose values it has, None for a computed one; ``time`` says that it is an application time.
    """

    alias: str
    name: str
    column: Column | None = None
    time: bool = False

    def called(self, name: str, alias: str = "") -> bool:
        """Whether a name, which may have an alias before it, can mean this column."""
        return self.name.lower() == name.lower() and (not alias or self.alias.lower() == alias.lower())


Schema = tuple[ViewColumn, ...]
"""The columns of an operator's rows, in order."""


def schema(tree: Tree, catalog: Catalog, recursive: Schema = ()) -> Schema:
    """The columns of a tree's rows. ``recursive``: those of the relation that a `Fixpoint` around it defines."""
    match tree:
        case Scan(table=table, alias=alias):
            declared = catalog.table(table)
            columns = declared.columns if declared else ()
            time = declared.timestamp if declared else None
            return tuple(ViewColumn(alias, column.name, column, column.name == time) for column in columns)
        case Recur(alias=alias):
            return tuple(replace(found, alias=alias) for found in recursive)
        case Alias(input, alias, names):
            inner = schema(input, catalog, recursive)
            return tuple(
                replace(found, alias=alias, name=name)
                for found, name in zip(inner, names or [found.name for found in inner], strict=False)
            )
        case Project(input, items) | Over(input, items) | Aggregate(input=input, items=items):
            return tuple(_listed(items, schema(input, catalog, recursive)))
        case Join(kind, left, right, _, using):
            mine = schema(left, catalog, recursive)
            if kind in (JoinKind.SEMI, JoinKind.ANTI):
                return mine
            return joined(mine, schema(right, catalog, recursive), using)
        case Union(left) | Except(left) | Intersect(left):
            return schema(left, catalog, recursive)
        case Fixpoint(base=base):
            return schema(base, catalog, recursive)
        case AsOf(input) | Filter(input) | Distinct(input) | OrderBy(input) | FirstRows(input) | SpjBlock(input):
            return schema(input, catalog, recursive)


def joined(left: Schema, right: Schema, using: tuple[str, ...]) -> Schema:
    """The columns of pairs of rows: those that USING names come first, once."""
    once = [found for name in using for found in left if found.called(name)]
    rest = [found for found in (*left, *right) if not any(found.called(name) for name in using)]
    return (*once, *rest)


def _listed(items: tuple[Item, ...], given: Schema) -> Iterator[ViewColumn]:
    for item in items:
        if isinstance(item, Star):
            yield from (replace(found, alias="") for found in starred(item, given))
            continue
        syntax = parsed(item.value)
        found = _meant(syntax, given) if isinstance(syntax, exp.Column) else None
        yield replace(found, alias="", name=item.name) if found else ViewColumn("", item.name)


def starred(star: Star, given: Schema) -> Schema:
    """The columns that a ``*`` stands for."""
    mine = (found for found in given if not star.alias or found.alias.lower() == star.alias.lower())
    return tuple(found for found in mine if not any(found.called(name) for name in star.without))


def _meant(column: exp.Column, given: Schema) -> ViewColumn | None:
    return next((found for found in given if found.called(column.name, column.table)), None)


def parsed(scalar: Scalar) -> exp.Expr:
    """An expression's syntax: as it was written, or that of its text."""
    return scalar.syntax if scalar.syntax is not None else parsed_text(scalar.text)
