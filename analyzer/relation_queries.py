"""Subqueries that read relations alone: they are decided when a row of a stream arrives.

EXISTS (SELECT 1 FROM R WHERE R.k = S.a)  ->  a boolean of S's row, computed by Spark
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.facts import ViewKind, facts
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Distinct,
    Filter,
    FirstRows,
    Item,
    Join,
    Named,
    OrderBy,
    Project,
    Scalar,
    Tree,
    inputs,
    named_inputs,
)
from streambound.analyzer.algebra.schema import Schema, ViewColumn, parsed, schema
from streambound.analyzer.algebra.to_sql import to_sql
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.constants import DOUBLE, kind_of
from streambound.analyzer.expressions.expression import Expression
from streambound.analyzer.expressions.reading import Refused, read, told
from streambound.analyzer.expressions.registry import refusal
from streambound.analyzer.expressions.rows import marked
from streambound.analyzer.types import DataType, Family

Outer = Callable[[exp.Column], exp.Expr]
"""What a column stands for that the subquery has not."""
_SUM_DIGITS, _MEAN_PLACES = 10, 4
"""Spark's sums of decimals have so many more digits, and its means so many more places."""


def is_static(tree: Tree, catalog: Catalog) -> bool:
    """Whether a tree's rows are read from relations that do not change."""
    return facts(tree, catalog).change is ViewKind.STATIC


def existence(
    tree: Tree, condition: Scalar | None, catalog: Catalog, outer: Callable[[exp.Column], exp.Expr]
) -> exp.Expr:
    """Whether a relation has a row that satisfies a condition, which may name columns of the row that is asked for."""
    body = tree if condition is None else Filter(tree, condition)
    selected = Project(body, (Named("1", Scalar("1", exp.Literal.number(1))),))
    return exp.Exists(this=closed(selected, catalog, outer))


def closed(tree: Tree, catalog: Catalog, outer: Outer) -> exp.Query:
    """The SQL of a subquery, with columns that it lacks, in its WHERE or ON, replaced by the row's; raises Refused."""
    return to_sql(_closed(tree, catalog, outer, outermost=True))


def _closed(tree: Tree, catalog: Catalog, outer: Outer, outermost: bool) -> Tree:
    def own(scalar: Scalar, given: Schema) -> Scalar:
        node = parsed(scalar).copy()
        if node.find(exp.Query):
            raise Refused("a subquery in a subquery is outside the query language", parsed(scalar))
        for call in node.find_all(exp.Anonymous):
            if (refused := refusal(call.name.lower(), call.name)) is not None:
                raise Refused(*told(refused, parsed(scalar)))
        holder = exp.Paren(this=node)
        for column in list(node.find_all(exp.Column)):
            if isinstance(column.this, exp.Star) or any(f.called(column.name, column.table) for f in given):
                continue
            if not outermost or not isinstance(tree, Filter | Join):
                message = f"{column.sql('spark')} is no column here"
                help = "in a subquery, columns of the row outside may stand in its WHERE and ON"
                raise Refused(message, parsed(scalar), help, mismatch=True)
            column.replace(marked(outer(column)))
        return Scalar(holder.this.sql("spark"), holder.this)

    below = isinstance(tree, Filter | Join | Project | Aggregate | Distinct | OrderBy | FirstRows) and outermost
    under = {name: _closed(one, catalog, outer, below) for name, one in named_inputs(tree).items()}
    given = tuple(found for one in inputs(tree) for found in schema(one, catalog))
    match tree:
        case Filter(condition=condition):
            return replace(tree, condition=own(condition, given), **under)  # type: ignore[arg-type]
        case Join(condition=condition) if condition is not None:
            return replace(tree, condition=own(condition, given), **under)  # type: ignore[arg-type]
        case Project(items=items):
            return replace(tree, items=_listed(items, given, own), **under)  # type: ignore[arg-type]
        case Aggregate(keys=keys, items=items, having=having):
            named = (*given, *(ViewColumn("", item.name) for item in items if isinstance(item, Named)))
            grouped = tuple(own(key, named) for key in keys)
            kept = own(having, named) if having is not None else None
            return replace(tree, keys=grouped, items=_listed(items, given, own), having=kept, **under)  # type: ignore[arg-type]
    return replace(tree, **under)  # type: ignore[arg-type]


def _listed(items: tuple[Item, ...], given: Schema, own: Callable[[Scalar, Schema], Scalar]) -> tuple[Item, ...]:
    return tuple(replace(item, value=own(item.value, given)) if isinstance(item, Named) else item for item in items)


def kind_of_only(tree: Tree, catalog: Catalog) -> DataType | None:
    """The type of the one column of a subquery; None where it is not known here. Raises Refused for several columns."""
    while isinstance(tree, Distinct | OrderBy | FirstRows):
        tree = tree.input
    columns = schema(tree, catalog)
    if len(columns) != 1:
        message = f"a subquery that is a value has one column, not {len(columns)}"
        raise Refused(message, tree.syntax or exp.Null(), mismatch=True)
    if columns[0].column is not None:
        return columns[0].column.type
    if not isinstance(tree, Project | Aggregate) or not isinstance(item := tree.items[0], Named):
        return None
    kinds = {
        (field.alias.lower(), field.name.lower()): field.column.type
        for field in schema(tree.input, catalog)
        if field.column is not None
    }
    return _kind(parsed(item.value), kinds)


def _kind(node: exp.Expr, kinds: dict[tuple[str, str], DataType]) -> DataType | None:
    """The type of an item, by the types of its input's columns."""
    if isinstance(node, exp.AggFunc):
        return _aggregate_kind(node, kinds)
    names = {name: kind for (_, name), kind in kinds.items()}
    plain = node.copy().transform(lambda one: exp.column(one.name.lower()) if isinstance(one, exp.Column) else one)
    try:
        found: Expression = read(plain, names)
    except (Refused, KeyError):
        return None
    return found.kind if found.kind.family is not Family.OTHER else None


def _aggregate_kind(node: exp.AggFunc, kinds: dict[tuple[str, str], DataType]) -> DataType | None:
    if isinstance(node, exp.Count):
        return kind_of("bigint")
    inner = node.this.unnest() if isinstance(node.this, exp.Expr) else None
    argument = _kind(inner, kinds) if inner is not None and not isinstance(inner, exp.Distinct) else None
    if argument is None:
        return None
    match node, argument.family:
        case ((exp.Max() | exp.Min() | exp.AnyValue() | exp.First()), _):
            return argument
        case exp.Sum(), Family.INTEGER:
            return kind_of("bigint")
        case exp.Sum(), Family.DECIMAL:
            return kind_of(f"decimal({min(argument.precision + _SUM_DIGITS, 38)},{argument.scale or 0})")
        case exp.Avg(), Family.DECIMAL:
            places = (argument.scale or 0) + _MEAN_PLACES
            return kind_of(f"decimal({min(argument.precision + _MEAN_PLACES, 38)},{min(places, 38)})")
        case ((exp.Sum() | exp.Avg()), Family.INTEGER | Family.FLOAT):
            return DOUBLE
    return None
