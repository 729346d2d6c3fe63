"""A statement in DuckDB's dialect, its constants as Spark means them."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp, parse_one

from streambound.analyzer.constants import Folded
from streambound.analyzer.findings import Positions
from streambound.analyzer.literals import LiteralReader
from streambound.analyzer.spans import SourceText
from streambound.analyzer.types import Family
from streambound.analyzer.values import decode

_READER = LiteralReader(Positions(SourceText("", ""), ()))
"""It has no places to report, as what is translated has been read before."""
_TIMES = (exp.DType.DATE, *exp.DataType.TEMPORAL_TYPES)


def duckdb_text(statement: exp.Expr) -> str:
    """The statement with its numerals and casts of constants folded, as DuckDB gives them other types.

    >>> from sqlglot import parse_one
    >>> duckdb_text(parse_one("SELECT CAST(1.5 AS DECIMAL), k FROM S", dialect="spark"))
    'SELECT 2, k FROM S'
    """
    if statement.find(exp.Anonymous):
        statement = parse_one(statement.sql("spark"), dialect="spark")  # whose functions DuckDB may call otherwise
    return statement.transform(_continuous).transform(_folded).sql(dialect="duckdb")


def _continuous(node: exp.Expr) -> exp.Expr:
    """PERCENTILE of doubles, as DuckDB's QUANTILE is a discrete one, and those of decimals are decimals."""
    match node:
        case exp.Quantile(this=value, args={"quantile": part}):
            kinds = value.expressions if isinstance(value, exp.Distinct) else [value]
            if isinstance(value, exp.Distinct) and len(kinds) == 2:
                part = kinds.pop()
        case exp.Median(this=value):
            kinds, part = value.expressions if isinstance(value, exp.Distinct) else [value], exp.Literal.number("0.5")
        case exp.WithinGroup(this=exp.PercentileCont() | exp.PercentileDisc(), expression=exp.Order(expressions=[key])):
            key.set("this", exp.cast(key.this, "double"))
            return node
        case _:
            return node
    of = exp.cast(kinds[0].copy(), "double")
    given = exp.Distinct(expressions=[of]) if isinstance(value, exp.Distinct) else of
    return exp.Anonymous(this="QUANTILE_CONT", expressions=[given, part.copy()])


def _folded(node: exp.Expr) -> exp.Expr:
    constant = _READER.constant(node) if _is_read_otherwise(node) else None
    literal = None if constant is None else _literal(constant)
    return node if literal is None else literal


def _is_read_otherwise(node: exp.Expr) -> bool:
    """Whether DuckDB might take a node for another constant."""
    match node:
        case exp.Literal():
            return not node.is_string and not isinstance(node.parent, exp.Interval | exp.DataTypeParam)
        case exp.Cast(this=exp.Literal(is_string=True)) if type(node) is exp.Cast:
            return node.to.this in _TIMES
    return isinstance(node, exp.Cast | exp.Neg)


def _literal(constant: Folded) -> exp.Expr | None:
    """A constant in DuckDB; None for a time outside the years 1 to 9999, which is read alike."""
    value, kind = constant.value, constant.kind
    if isinstance(value, str):
        return exp.Literal.string(value)
    if value is None:
        return exp.null()
    match kind.family:
        case Family.FLOAT:
            return exp.cast(exp.Literal.string(repr(float(value))), "double")
        case Family.DECIMAL:
            return _number(decode(value * 10 ** (kind.scale or 0), kind))
        case Family.BOOLEAN:
            return exp.Boolean(this=bool(value))
        case Family.INTEGER:
            return _number(str(Fraction(value)))
    _, text, beyond = decode(int(value), kind).split("'")
    return None if beyond else exp.cast(exp.Literal.string(text), kind.family.value)


def _number(text: str) -> exp.Expr:
    number = exp.Literal.number(text.removeprefix("-"))
    return exp.Neg(this=number) if text.startswith("-") else number
