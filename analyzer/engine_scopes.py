"""The columns that names mean in a query over relations, and queries with their columns, in DuckDB's SQL."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.expressions.engine_sql import EnginePart, Outside, converted
from streambound.analyzer.types import DataType


class EngineField(Struct, frozen=True):
    """A column of an item of FROM, by its name and that item's."""

    table: str
    name: str
    kind: DataType

    @property
    def node(self) -> exp.Column:
        """The column with its table's name."""
        return exp.column(identifier(self.name), identifier(self.table))

    def is_called(self, column: exp.Column) -> bool:
        """Whether a column of an expression may be this one."""
        return column.name.lower() == self.name.lower() and column.table.lower() in ("", self.table.lower())


class EngineQuery(Struct, frozen=True):
    """A query in DuckDB's SQL, with its columns in order."""

    node: exp.Query
    columns: tuple[tuple[str, DataType], ...]

    @property
    def only(self) -> DataType:
        """The type of its one column."""
        if len(self.columns) != 1:
            raise Outside("a subquery", "it has several columns")
        return self.columns[0][1]

    def cast(self, kinds: Sequence[DataType]) -> EngineQuery:
        """The query with its columns cast to these types, which have room for all of their values."""
        if [kind for _, kind in self.columns] == list(kinds):
            return self
        names = [f"c{place}" for place in range(len(kinds))]
        fields = [EngineField("q", name, kind) for name, (_, kind) in zip(names, self.columns, strict=True)]
        parts = [converted(EnginePart(f.node, f.kind), k, "a column") for f, k in zip(fields, kinds, strict=True)]
        select = exp.select(*map(item_named, (part.node for part in parts), (name for name, _ in self.columns)))
        named = exp.TableAlias(this=identifier("q"), columns=list(map(identifier, names)))
        made = select.from_(exp.Subquery(this=self.node, alias=named))
        return EngineQuery(made, tuple((name, kind) for (name, _), kind in zip(self.columns, kinds, strict=True)))


class QueryScope(Struct, frozen=True):
    """The columns that an expression may name: those of FROM, and those of the queries ``around`` it.

    ``keys`` are the expressions in GROUP BY, each with its translation; None for a query without groups.
    """

    fields: tuple[EngineField, ...]
    around: tuple[EngineField, ...] = ()
    keys: tuple[tuple[exp.Expr, EnginePart], ...] | None = None

    def field(self, column: exp.Column) -> EngineField:
        """The column that a name means: one of FROM before one around."""
        inner = [field for field in self.fields if field.is_called(column)]
        found = inner or [field for field in self.around if field.is_called(column)]
        if len(found) != 1 or column.args.get("db"):
            raise Outside(column.sql("spark"), "it is no column here, or there are several")
        (field,) = found
        if not inner and field.table.lower() in {one.table.lower() for one in self.fields}:
            raise Outside(column.sql("spark"), "its table's name means another one in the subquery")
        return field


def resolved(node: exp.Expr, scope: QueryScope) -> exp.Expr:
    """An expression, without parentheses around it, whose columns have their tables' names; not those in subqueries."""
    holder = exp.Paren(this=node.unnest().copy())
    for column in [one for one in holder.find_all(exp.Column) if one.find_ancestor(exp.Query) is None]:
        column.replace(scope.field(column).node)
    return holder.this  # type: ignore[no-any-return]


def as_side(query: EngineQuery) -> exp.Query:
    """A query as a side of a set operation."""
    if isinstance(query.node, exp.Select):
        return query.node
    return exp.select("*").from_(exp.Subquery(this=query.node, alias=exp.TableAlias(this=identifier("q"))))


def item_named(node: exp.Expr, name: str) -> exp.Expr:
    """An item of a select list; constants need no name, and columns have theirs."""
    same = isinstance(node, exp.Literal) or (isinstance(node, exp.Column) and node.name == name)
    return node if same else exp.Alias(this=node, alias=identifier(name))


def identifier(name: str) -> exp.Identifier:
    """A name as it is written."""
    return exp.to_identifier(name, quoted=True)
