"""What an operator's rows are while a tree is translated: their node, and what their columns are called."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.expressions.expression import Expression, Field
from streambound.analyzer.expressions.reading import Refused, read
from streambound.analyzer.spans import Span
from streambound.analyzer.types import DataType
from streambound.incremental.circuit import CircuitColumn
from streambound.incremental.row_expression import RowExpression


class Untranslatable(Exception):
    """What no circuit is known for; ``node`` is the syntax to blame, ``span`` its place where that is known."""

    def __init__(self, message: str, node: exp.Expr | None = None, span: Span | None = None) -> None:
        super().__init__(message)
        self.node, self.span = node, span


class OuterNeeded(Exception):
    """A subquery names a column of a query two levels out."""


class NamedColumn(Struct, frozen=True):
    """A column by the FROM item that it belongs to and its name; ``hidden``: named with its alias only."""

    alias: str
    name: str
    kind: DataType
    hidden: bool = False

    def called(self, name: str, alias: str) -> bool:
        """Whether a name, which may have an alias before it, means this column."""
        if alias:
            return self.alias.lower() == alias.lower() and self.name.lower() == name.lower()
        return not self.hidden and self.name.lower() == name.lower()

    @property
    def text(self) -> str:
        """What readers see."""
        return f"{self.alias}.{self.name}" if self.alias else self.name


class BoundView(Struct, frozen=True):
    """The rows at a node and their columns; the first ``prefix`` of them are those of the query around a subquery."""

    node: int
    columns: tuple[NamedColumn, ...]
    prefix: int = 0

    def find(self, name: str, alias: str) -> int | None:
        """The position of a column; the query's own come before those of the query around it."""
        own = [i for i in range(self.prefix, len(self.columns)) if self.columns[i].called(name, alias)]
        found = own or [i for i in range(self.prefix) if self.columns[i].called(name, alias)]
        return found[0] if found else None

    @property
    def schema(self) -> tuple[CircuitColumn, ...]:
        """The columns of the node."""
        return tuple(CircuitColumn(column.text, column.kind) for column in self.columns)

    def column(self, at: int) -> RowExpression:
        """The column at a position."""
        column = self.columns[at]
        return RowExpression(Field(str(at), column.kind), column.text)

    def all_columns(self, start: int = 0) -> tuple[RowExpression, ...]:
        """The columns from a position on."""
        return tuple(map(self.column, range(start, len(self.columns))))

    def at(self, node: int) -> BoundView:
        """The same columns at another node."""
        return replace(self, node=node)


def own_parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """An expression and its parts, without what is in its subqueries."""
    if isinstance(node, exp.Query):
        return
    yield node
    for child in node.iter_expressions():
        yield from own_parts(child)


def own_columns(node: exp.Expr) -> Iterator[exp.Column]:
    """The columns that an expression names outside of its subqueries."""
    return (part for part in own_parts(node) if isinstance(part, exp.Column) and not isinstance(part.this, exp.Star))


def located(column: exp.Column, view: BoundView) -> tuple[int, list[str]] | None:
    """The position of a column, and the fields of structs that are taken of it; None where it is not there."""
    parts = [part.name for part in column.parts]
    if len(parts) > 1 and (found := view.find(parts[1], parts[0])) is not None:
        return found, parts[2:]
    found = view.find(parts[0], "")
    return None if found is None else (found, parts[1:])


def bind(node: exp.Expr, view: BoundView, replaced: dict[int, int] | None = None) -> RowExpression:
    """An expression over a view's rows; ``replaced`` are parts of it that are columns, by identity.

    Raises Untranslatable for a name that is not there, and for what has no value of a row.
    """
    kinds = {str(at): column.kind for at, column in enumerate(view.columns)}
    try:
        found: Expression = read(_over_positions(node, view, replaced or {}), kinds)
    except Refused as error:
        raise Untranslatable(str(error), node) from error
    return RowExpression(found, node.sql("spark", comments=False))


def _over_positions(node: exp.Expr, view: BoundView, replaced: dict[int, int]) -> exp.Expr:
    """The syntax with the names of positions for its columns."""
    made = replaced.get(id(node))
    if made is not None:
        return exp.column(str(made))
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        found = located(node, view)
        if found is None:
            raise Untranslatable(f"there is no column {node.sql('spark')} here", node)
        return exp.column(*reversed([str(found[0]), *found[1]]))
    if isinstance(node, exp.Query):
        raise Untranslatable("a subquery cannot be here", node)
    changed: dict[str, object] = {}
    for name, value in node.args.items():
        if isinstance(value, exp.Expr):
            changed[name] = _over_positions(value, view, replaced)
        elif isinstance(value, list):
            changed[name] = [_over_positions(v, view, replaced) if isinstance(v, exp.Expr) else v for v in value]
        else:
            changed[name] = value
    return node.__class__(**changed)
