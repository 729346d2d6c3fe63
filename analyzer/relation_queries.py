"""Subqueries that read relations alone: they are decided when a row of a stream arrives.

EXISTS (SELECT 1 FROM R WHERE R.k = S.a)  ->  a boolean of S's row, one more column of it

A subquery in a subquery may name columns of that one, and no others: so it is in Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.to_sql import to_sql
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.expressions.reading import Refused, told
from streambound.analyzer.expressions.registry import refusal
from streambound.analyzer.expressions.rows import marked, outermost_queries
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.work import by_identity

Outer = Callable[[exp.Column], exp.Expr]
"""What a column stands for that the subquery has not."""
Queries = Mapping[int, nodes.Tree]
"""The trees of subqueries in expressions, by the identity of their syntax."""


_ONE_SELECT = (
    nodes.Filter,
    nodes.Join,
    nodes.Project,
    nodes.Aggregate,
    nodes.Over,
    nodes.Distinct,
    nodes.OrderBy,
    nodes.FirstRows,
)
"""What one SELECT is lowered to, over the items of its FROM."""


@by_identity
def never_changes(tree: nodes.Tree, catalog: Catalog, recurs: bool = False) -> bool:
    """Whether a tree's rows are read from relations that do not change; ``recurs``: so are those of `Recur`.

    That is when their facts say so, which take much longer, but for versions of a relation as of a row's time.
    """
    match tree:
        case nodes.AsOf():  # another relation for each row, of which Spark's batch SQL knows nothing
            return False
        case nodes.Scan():
            declared = catalog.table(tree.table)
            return declared is not None and declared.is_fixed
        case nodes.Recur():
            return recurs
    return all(never_changes(one, catalog, recurs or isinstance(tree, nodes.Fixpoint)) for one in nodes.inputs(tree))


@by_identity
def is_static(tree: nodes.Tree, catalog: Catalog) -> bool:
    """Whether a tree's rows never change and are computed once, when a job starts; a recursion's the job computes."""
    return never_changes(tree, catalog) and not _recurs(tree)


def _recurs(tree: nodes.Tree) -> bool:
    return isinstance(tree, nodes.Fixpoint | nodes.Recur) or any(map(_recurs, nodes.inputs(tree)))


def existence(
    tree: nodes.Tree,
    condition: nodes.Scalar | None,
    catalog: Catalog,
    queries: Queries,
    outer: Callable[[exp.Column], exp.Expr],
) -> exp.Expr:
    """An expression for whether a relation has a row that satisfies a condition on it and the outer row."""
    body = tree if condition is None else nodes.Filter(tree, condition)
    selected = nodes.Project(body, (nodes.Named("1", nodes.Scalar(exp.Literal.number(1))),))
    return exp.Exists(this=closed(selected, catalog, queries, outer))


def closed(tree: nodes.Tree, catalog: Catalog, queries: Queries, outer: Outer) -> exp.Query:
    """The SQL of a subquery, with columns that it lacks, in its WHERE or ON, replaced by the row's; raises Refused."""
    return to_sql(_Closing(catalog, queries, lambda column: marked(outer(column))).tree(tree, outermost=True))


class _Closing(Struct, frozen=True):
    """Puts into a subquery what ``outer`` gives for the columns that it lacks."""

    catalog: Catalog
    queries: Queries
    outer: Outer

    def tree(self, tree: nodes.Tree, outermost: bool) -> nodes.Tree:
        """A tree of the subquery; ``outermost``: of the SELECT that it is."""
        if isinstance(tree, nodes.Bucket):
            message = "a window of time in a subquery is outside the query language"
            raise Refused(message, tree.syntax or tree.time.syntax)
        below = isinstance(tree, _ONE_SELECT) and outermost
        under = {name: self.tree(one, below) for name, one in nodes.named_inputs(tree).items()}
        given = tuple(found for one in nodes.inputs(tree) for found in schema(one, self.catalog))
        grouped = isinstance(tree, nodes.Filter | nodes.Join) and isinstance(
            nodes.inputs(tree)[0], nodes.Aggregate | nodes.Over
        )
        lacking = outermost and isinstance(tree, nodes.Filter | nodes.Join) and not grouped
        return _mapped(replace(tree, **under), lambda scalar: self.scalar(scalar, given, lacking))

    def scalar(self, scalar: nodes.Scalar, given: Schema, lacking: bool) -> nodes.Scalar:
        """An expression over rows with the ``given`` columns; ``lacking``: it may name the row's, too."""
        original = scalar.syntax
        holder = exp.Paren(this=original.copy())
        for call in holder.find_all(exp.Anonymous):
            if (refused := refusal(call.name.lower(), call.name)) is not None:
                raise Refused(*told(refused, original))
        for place, query in zip(outermost_queries(holder), outermost_queries(original), strict=True):
            place.replace(self._nested(query, given))
        for column in [found for found in holder.find_all(exp.Column) if found.find_ancestor(exp.Query) is None]:
            if isinstance(column.this, exp.Star) or any(f.called(column.name, column.table) for f in given):
                continue
            if not lacking:
                message = f"{column.sql('spark')} is no column here"
                help = "in a subquery, columns of the row outside may stand in its WHERE and ON"
                raise Refused(message, original, help, mismatch=True)
            column.replace(self.outer(column))
        return nodes.Scalar(holder.this)

    def _nested(self, query: exp.Query, given: Schema) -> exp.Query:
        """A subquery in an expression over rows with the ``given`` columns."""
        tree = self.queries.get(id(query))
        if tree is None or not is_static(tree, self.catalog):
            raise Refused("this subquery in a subquery is outside the query language", query)

        def around(column: exp.Column) -> exp.Expr:
            if any(field.called(column.name, column.table) for field in given):
                return column.copy()
            message = f"{column.sql('spark')} is no column of this subquery, nor of the one around it"
            raise Refused(message, query, "a subquery can name columns of the query that it stands in, and no others")

        return to_sql(_Closing(self.catalog, self.queries, around).tree(tree, outermost=True))


def _mapped(tree: nodes.Tree, own: Callable[[nodes.Scalar], nodes.Scalar]) -> nodes.Tree:
    """An operator with its expressions changed."""
    match tree:
        case nodes.Filter(condition=condition):
            return replace(tree, condition=own(condition))
        case nodes.Join(condition=condition) if condition is not None:
            return replace(tree, condition=own(condition))
        case nodes.Project(items=items):
            return replace(tree, items=_listed(items, own))
        case nodes.Aggregate(keys=keys, calls=calls):
            grouped = tuple(replace(key, value=own(key.value)) for key in keys)
            made = tuple(_called(call, own) for call in calls)
            return replace(tree, keys=grouped, calls=made)
        case nodes.Over(calls=windows):
            over = tuple(_called(call, own) for call in windows)
            return replace(tree, calls=over)
    return tree


def _listed(items: tuple[nodes.Item, ...], own: Callable[[nodes.Scalar], nodes.Scalar]) -> tuple[nodes.Item, ...]:
    return tuple(replace(item, value=own(item.value)) if isinstance(item, nodes.Named) else item for item in items)


Call = TypeVar("Call", nodes.AggregateCall, nodes.WindowCall)


def _called(call: Call, own: Callable[[nodes.Scalar], nodes.Scalar]) -> Call:
    arguments = tuple(own(one) for one in call.arguments)
    order = tuple(replace(key, value=own(key.value)) for key in call.order)
    made = replace(call, arguments=arguments, order=order)
    if call.filter is not None:
        made = replace(made, filter=own(call.filter))
    if isinstance(made, nodes.WindowCall):
        return replace(made, partition=tuple(own(one) for one in made.partition))
    return made


def kind_of_only(tree: nodes.Tree, catalog: Catalog) -> DataType | None:
    """The type of the one column of a subquery; None where it is not known here. Raises Refused for several columns."""
    while isinstance(tree, nodes.Distinct | nodes.OrderBy | nodes.FirstRows):
        tree = tree.input
    columns = schema(tree, catalog)
    if len(columns) != 1:
        message = f"a subquery that is a value has one column, not {len(columns)}"
        raise Refused(message, tree.syntax or exp.Null(), mismatch=True)
    kind = columns[0].type
    return None if kind is None or kind.family is Family.OTHER else kind
