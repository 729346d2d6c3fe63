"""Relations that a query computes of relations alone, in FROM: they are computed once, when a job starts.

FROM S JOIN (SELECT k, COUNT(*) AS n FROM R GROUP BY k) AS c ON …  ->  FROM S JOIN c ON …, c a relation like any other

Theory (docs/theory-conditions.md, "Relations without state"): its rows are as static as those that it is computed of.
"""

from __future__ import annotations

from collections import Counter

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import ViewColumn
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.columns import Column
from streambound.analyzer.expressions.reading import Refused
from streambound.analyzer.relation_queries import Queries, closed, is_static
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value
from streambound_runtime.promises import Domain

_OPERATORS = (
    nodes.Scan,
    nodes.Alias,
    nodes.Filter,
    nodes.Project,
    nodes.Aggregate,
    nodes.Join,
    nodes.Distinct,
    nodes.Union,
    nodes.Except,
    nodes.Intersect,
)
"""What gives the same rows of the same rows: the others take some of several, in whatever order they come."""
_ANY_ORDER = ("ANY_VALUE", "FIRST", "LAST", "FIRST_VALUE", "LAST_VALUE", "ARRAY_AGG", "COLLECT_LIST", "COLLECT_SET",
              "LISTAGG", "STRING_AGG")  # fmt: skip
"""Aggregates whose value may depend on the order of rows."""


class ComputedRelation(Struct, frozen=True):
    """A relation's rows: Spark SQL over relations of the catalog; its columns, and the most rows, if that is known."""

    query: str
    columns: tuple[Column, ...]
    rows: int | None


def has_to_be_computed(tree: nodes.Tree, catalog: Catalog, distinct: bool) -> bool:
    """Whether a subquery in FROM reads relations alone and is more than a select-project-join block.

    ``distinct``: the statement's result is a set, so that duplicates inside of it do not matter.
    """
    if not is_static(tree, catalog) or not _may_be_computed(tree):
        return False
    return not _in_block(tree, distinct)


def _may_be_computed(tree: nodes.Tree) -> bool:
    if isinstance(tree, nodes.Aggregate) and any(call.function in _ANY_ORDER for call in tree.calls):
        return False
    return isinstance(tree, _OPERATORS) and all(map(_may_be_computed, nodes.inputs(tree)))


def _in_block(tree: nodes.Tree, distinct: bool) -> bool:
    match tree:
        case nodes.Aggregate() | nodes.Except() | nodes.Intersect() | nodes.Scan(table=""):
            return False
        case nodes.Join(kind=kind) if kind is nodes.JoinKind.FULL:
            return False
        case nodes.Distinct() | nodes.Union(distinct=True) if not distinct:
            return False
    return all(_in_block(one, distinct) for one in nodes.inputs(tree))


def computed_relation(tree: nodes.Alias, catalog: Catalog, queries: Queries) -> ComputedRelation:
    """The relation that a subquery in FROM is; raises Refused."""
    from streambound.analyzer.algebra.facts import facts  # most statements compute none, and need no facts

    def outer(column: exp.Column) -> exp.Expr:
        raise Refused(f"{column.sql('spark')} is no column here", column, mismatch=True)

    fields = schema(tree, catalog)
    names = Counter(field.name.lower() for field in fields)
    for field in fields:
        if names[field.name.lower()] > 1:
            raise Refused(f"two columns are named {field.name}", tree.syntax or exp.Null(), "name them apart with AS")
        if field.type is None or field.type.family is Family.OTHER:
            message = f"the type of {field.name} is not known here"
            raise Refused(message, tree.syntax or exp.Null(), "write CAST(… AS type) around it")
    columns = tuple(Column(f.name, f.type, _domain(f)) for f in fields if f.type is not None)
    query = closed(tree.input, catalog, queries, outer)
    if tree.columns:
        alias = exp.TableAlias(this=exp.to_identifier("q", quoted=True), columns=list(map(_quoted, tree.columns)))
        query = exp.select("*").from_(exp.Subquery(this=query, alias=alias))
    return ComputedRelation(query.sql("spark"), columns, facts(tree, catalog).rows)


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def _domain(field: ViewColumn) -> Domain[Value] | None:
    """The domain of a column whose values are those of a declared one."""
    same = field.column is not None and field.column.type == field.type
    return field.column.domain if same and field.column is not None else None
