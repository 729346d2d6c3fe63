"""Which column of an operator a name in a SEQ block means."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Star
from streambound.analyzer.codes import Code
from streambound.analyzer.constants import BIGINT, DOUBLE, STRING
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.reading import Refused, read
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.toml_reader import suggest
from streambound.analyzer.types import DataType, Family
from streambound.temporal.scalars import over, text

PERIOD = "a snapshot has no period; restrict with FROM … TO …"
LINEAGE = "it names the row's random variable or its probability, which the result has as _lineage and _p"


class SeenColumn(Struct, frozen=True):
    """A column that may be named: by the ``aliases`` (in small letters) of FROM items and its name.

    ``place`` is the operator's column. ``shown``: it is in ``*`` and needs no alias. ``hidden`` says why it cannot be
    named at all, ``refused`` why it cannot be used. ``type`` is a relation's column's.
    """

    aliases: frozenset[str]
    name: str
    place: int
    shown: bool = True
    hidden: str = ""
    refused: str = ""
    type: DataType | None = None

    def called(self, name: str, alias: str) -> bool:
        """Whether a name, which may have an alias before it, can mean this column."""
        if self.name.lower() != name.lower():
            return False
        return alias.lower() in self.aliases if alias else self.shown


Columns = tuple[SeenColumn, ...]


class UnknownName(Finding):
    """A name that no column of its block has; one of the block around it may."""

    def __init__(self, diagnostic: Diagnostic, node: exp.Column, names: SeenNames) -> None:
        super().__init__(diagnostic)
        self.node, self.names = node, names


def renamed(columns: Columns, alias: str, names: tuple[str, ...] = ()) -> Columns:
    """The columns of a subquery under one alias, and under other names if there are some."""
    shown = [column for column in columns if column.shown and not column.hidden]
    new = names or tuple(column.name for column in shown)
    aliases = frozenset({alias.lower()}) if alias else frozenset[str]()
    return tuple(replace(column, aliases=aliases, name=name) for column, name in zip(shown, new, strict=True))


def shifted(columns: Columns, by: int) -> Columns:
    """The columns of a right side, counted on from those of the left one."""
    return tuple(column if column.hidden else replace(column, place=column.place + by) for column in columns)


class SeenNames(Struct, frozen=True):
    """The columns that a block's expressions can name."""

    columns: Columns
    positions: Positions

    def place(self, node: exp.Column) -> int:
        """The place of the column that a name means; raises Finding for none, or several."""
        found = self.found(node, self.columns)
        if found is None:
            raise self.unknown(node)
        return found

    def seen(self, node: exp.Column) -> SeenColumn | None:
        """The column that a name means; None where none has it."""
        matches = [column for column in self.columns if column.called(node.name, node.table)]
        return next((column for column in matches if not column.hidden), None)

    def condition(self, node: exp.Expr) -> None:
        """Raise Finding for a column or literal of another type than BOOLEAN where Spark takes none for a condition.

        What AND joins are conditions of their own. Below OR and NOT Spark casts a text, beside what is none.
        """
        inner = node.unnest()
        if isinstance(inner, exp.And):
            self.condition(inner.left)
            self.condition(inner.right)
        else:
            self._is_true(inner, text=False)

    def _is_true(self, node: exp.Expr, text: bool) -> None:
        """Raise Finding for what has no truth value; a ``text`` may have one."""
        node = node.unnest()
        if isinstance(node, exp.Connector):
            sides = (node.left, node.right)
            texts = [self._is_text(side) for side in sides]
            for side in sides:
                self._is_true(side, text=not all(texts))
        elif isinstance(node, exp.Not):
            self._is_true(node.this, text=True)
        elif (kind := self.type(node)) is not None and kind.name != "void":
            if kind.family is Family.BOOLEAN or (text and kind.family is Family.STRING):
                return
            shown = node.name if isinstance(node, exp.Column) else node.sql("spark")
            message = f"{shown} is {kind.with_article}, and no condition"
            help = f"compare it with a value, or write CAST({shown} AS BOOLEAN)"
            raise self.positions.finding(Code.TYPE_MISMATCH, message, node, help)

    def _is_text(self, node: exp.Expr) -> bool:
        kind = self.type(node.unnest())
        return kind is not None and kind.family is Family.STRING

    def type(self, node: exp.Expr) -> DataType | None:
        """The type of an expression; None where it is not known."""
        if isinstance(node, exp.Literal):
            return STRING if node.is_string else BIGINT if whole_number(node) is not None else DOUBLE
        if isinstance(node, exp.Column):
            column = self.seen(node)
            return column.type if column is not None else None
        named = {found: self.seen(found) for found in node.find_all(exp.Column)}
        known = {f"c{one.place}": one.type for one in named.values() if one is not None and one.type is not None}
        if not all(one is not None and f"c{one.place}" in known for one in named.values()):
            return None
        try:
            return read(parsed(text(over(node, self.place))), known).kind
        except (Refused, Finding):
            return None

    def summed(self, node: exp.Expr, function: str) -> None:
        """Raise Finding for what has no sum and no mean in Spark."""
        kind = self.type(node)
        if kind is not None and kind.family in (Family.BOOLEAN, Family.DATE):
            message = f"{function} of {kind.with_article}, which has no sum"
            help = "sum a number, such as CASE WHEN … THEN 1 ELSE 0 END, or a number of days"
            raise self.positions.finding(Code.TYPE_MISMATCH, message, node, help)

    def found(self, node: exp.Column, columns: Columns) -> int | None:
        """The place of the column that a name means; None where none has it, raises Finding where several have."""
        matches = [column for column in columns if column.called(node.name, node.table)]
        seen = [column for column in matches if not column.hidden]
        if not seen and matches:
            message = f"{node.name} cannot be named in a SEQ block: {matches[0].hidden}"
            raise self.positions.finding(Code.UNKNOWN_COLUMN, message, node)
        if len({column.place for column in seen}) > 1:
            owners = sorted({alias for column in seen for alias in column.aliases})
            help = f"write {owners[0]}.{node.name}" if owners[1:] else "give each of them a name of its own, with AS"
            raise self.positions.finding(Code.AMBIGUOUS_COLUMN, f"column {node.name!r} is ambiguous", node, help)
        if seen and seen[0].refused:
            raise self.positions.finding(Code.UNSUPPORTED, f"{node.name} {seen[0].refused}", node)
        return seen[0].place if seen else None

    def unknown(self, node: exp.Column) -> UnknownName:
        """The finding for a name that no column has."""
        written = f"{node.table}.{node.name}" if node.table else node.name
        known = [name for column in self.columns if not column.hidden for name in _spelled(column, bool(node.table))]
        message = f"no column {written!r} in this FROM"
        told = self.positions.finding(Code.UNKNOWN_COLUMN, message, node, suggest(written, known))
        return UnknownName(told.diagnostic, node, self)

    def starred(self, star: Star) -> Columns:
        """The columns that a ``*`` stands for; raises Finding where that is none."""
        alias = star.alias.lower()
        mine = [c for c in self.columns if not c.hidden and (alias in c.aliases if alias else c.shown)]
        without = {name.lower() for name in star.without}
        found = tuple(column for column in mine if column.name.lower() not in without)
        at = star.syntax or exp.Null()
        there = {column.name.lower() for column in mine}
        for name in star.without:
            if name.lower() not in there:
                hidden = next((c.hidden for c in self.columns if c.hidden and c.name.lower() == name.lower()), "")
                why = f"{name} cannot be named in a SEQ block: {hidden}" if hidden else f"* has no column {name!r}"
                raise self.positions.finding(Code.UNKNOWN_COLUMN, why, at)
        if not found:
            message = f"{star.alias}.* stands for no column" if alias else "* stands for no column"
            raise self.positions.finding(Code.UNKNOWN_COLUMN, message, at)
        bad = next((column for column in found if column.refused), None)
        if bad is not None:
            raise self.positions.finding(Code.UNSUPPORTED, f"{bad.name} {bad.refused}", at, "list the columns")
        return found


def _spelled(column: SeenColumn, qualified: bool) -> Iterable[str]:
    return (f"{alias}.{column.name}" for alias in column.aliases) if qualified else (column.name,)
