"""Spark SQL over one row: columns, their values as the kernel takes them, and conditions."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streambound.analyzer.catalog import Column, Kind
from streambound.analyzer.query import Atom, Branch, Comparison, NullTest, Source, conjunction
from streambound.analyzer.render import render_formula
from streambound.analyzer.spans import Span
from streambound.analyzer.types import DataType, Family
from streambound.synopsis_exec import reasons

_LARGEST_PRECISION = 18
"""Decimals of more digits do not fit 64 bits."""
_NOWHERE = Span(0, 0, 1, 1, 1, 1)
_ENDS = {
    Family.INTEGER: (-(2**63) - 1, 2**63),
    Family.DECIMAL: (1 - 10**38, 10**38 - 1),
    Family.DATE: (reasons.FIRST_DAY - 1, reasons.LAST_DAY + 1),
    Family.TIMESTAMP: (reasons.FIRST_MOMENT - 1, reasons.LAST_MOMENT + 1),
}
"""Constants beyond these compare with a usable value as these do; Spark has no literals for many of them."""


def quoted(name: str) -> str:
    """A column name."""
    return exp.Identifier(this=name, quoted=True).sql("spark")


def cell(column: Column) -> str:
    """A column of the row."""
    return f"row.{quoted(column.name)}"


def is_large(kind: DataType) -> bool:
    """Whether a type's integers exceed 64 bits."""
    return kind.family is Family.DECIMAL and kind.precision > _LARGEST_PRECISION


def encoded(column: Column) -> str:
    """The column's value as the kernel takes it."""
    text = cell(column)
    match column.type.family:
        case Family.BOOLEAN:
            return f"CAST({text} AS INT)"
        case Family.DATE:
            return f"unix_date({text})"
        case Family.TIMESTAMP:
            return f"unix_micros(CAST({text} AS TIMESTAMP))"
        case Family.FLOAT:
            return f"CAST({text} AS DOUBLE)"
        case Family.DECIMAL if is_large(column.type):
            return f"REPLACE(CAST({text} AS STRING), '.', '')"
        case Family.DECIMAL:
            scale = column.type.scale or 0
            return f"CAST({text} * {10**scale} AS BIGINT)" if scale else f"CAST({text} AS BIGINT)"
        case Family.OTHER:
            return f"CASE WHEN {text} IS NOT NULL THEN 1 END"
    return text


def condition(atoms: Sequence[Atom], columns: tuple[Column, ...]) -> str:
    """A conjunction over one row, in Spark SQL."""
    if not atoms:
        return "TRUE"
    row = Source("row", "row", Kind.STREAM, columns, None, _NOWHERE)
    kinds = {column.name: column.type for column in columns}
    within = tuple(_within_ends(atom, kinds) for atom in atoms)
    branch = Branch((row,), conjunction(within), (), _NOWHERE)
    tree = render_formula(branch.where, branch)
    for column in tree.find_all(exp.Column):
        column.this.set("quoted", True)
    return tree.sql("spark")


def _within_ends(atom: Atom, kinds: dict[str, DataType]) -> Atom:
    """A comparison whose constant Spark can write."""
    if isinstance(atom, NullTest) or atom.right is not None or isinstance(atom.offset, str):
        return atom
    low, high = _ENDS.get(kinds[atom.left.column].family, (atom.offset, atom.offset))
    return Comparison(atom.left, atom.op, None, max(low, min(high, atom.offset)))
