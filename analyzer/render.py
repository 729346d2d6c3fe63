"""A query as canonical Spark SQL: what `explain --emit` prints and what tests compare.

The text goes back through the front end to the same query, except for spans and what SQL cannot say: merged
and finite streams stand in a comment before their SELECT.
"""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp, parse_one
from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import TokenType

from streambound.analyzer.catalog import Kind
from streambound.analyzer.durations import UNITS
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.rows import columns_of_row
from streambound.analyzer.query import (
    TRUE,
    And,
    Attribute,
    Branch,
    Comparison,
    Computed,
    Constant,
    Formula,
    Not,
    NullTest,
    OneOf,
    Op,
    Or,
    Output,
    Query,
    Source,
    TimeValue,
    Truth,
)
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value, decode
from streambound.analyzer.work import cached

_OPS: dict[Op, type[exp.Binary]] = {
    Op.LT: exp.LT,
    Op.LE: exp.LTE,
    Op.EQ: exp.EQ,
    Op.GE: exp.GTE,
    Op.GT: exp.GT,
    Op.NE: exp.NEQ,
}
_UNITS = tuple((unit, UNITS[unit]) for unit in ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"))
_EMPTY = "-- no branch is left: this query never produces a row"


def render(query: Query, pretty: bool = False) -> str:
    """The query as SQL, a SELECT per branch; a comment alone when no branch is left."""
    between = "\nUNION\n" if query.distinct else "\nUNION ALL\n"
    order = f"\nORDER BY {query.order}" if query.order and query.branches else ""
    rendered = between.join(render_branch(branch, query.distinct, pretty) for branch in query.branches)
    return rendered + order or _EMPTY


@cached(256)
def render_branch(branch: Branch, distinct: bool, pretty: bool = False) -> str:
    """One branch as a SELECT, after comments for what a pass has noted; a certificate and its check ask for the same.

    ``S(A, I), T(B, J) with I = J  ->  -- merged: S, T``
    """
    first, *others = (_source(source) for source in branch.sources)
    select = exp.Select(expressions=[render_output(output, branch) for output in branch.outputs]).from_(
        first, copy=False
    )
    for other in others:
        select.join(other, copy=False)
    if branch.where != TRUE:
        select.where(render_formula(branch.where, branch), copy=False)
    if distinct:
        select.distinct(copy=False)
    return "\n".join((*_comments(branch), select.sql("spark", pretty=pretty)))


def _comments(branch: Branch) -> list[str]:
    finite = tuple(source.alias for source in branch.of_kind(Kind.FINITE))
    notes = [("merged", group) for group in branch.merged] + ([("finite", finite)] if finite else [])
    names = [(label, ", ".join(identifier(alias).sql("spark") for alias in group)) for label, group in notes]
    return [f"-- {label}: {' '.join(group.split())}" for label, group in names]


def render_formula(formula: Formula, branch: Branch) -> exp.Expr:
    """A condition as a syntax tree."""
    match formula:
        case Comparison():
            return _comparison(formula, branch)
        case NullTest(attribute, is_null):
            test = exp.Is(this=_column(attribute, branch), expression=exp.Null())
            return test if is_null else exp.Not(this=test)
        case Truth(value, unknown):
            return exp.Null() if unknown else exp.Boolean(this=value)
        case And(parts):
            return exp.and_(*(render_formula(part, branch) for part in parts), copy=False)
        case OneOf(attribute, values):
            return _in(attribute, values, branch)
        case Or(parts) if (listed := _listed(parts)) is not None:
            return _in(*listed, branch)
        case Or(parts):
            return exp.or_(*(render_formula(part, branch) for part in parts), copy=False)
        case Not(part):
            return exp.not_(render_formula(part, branch), copy=False)


def _in(attribute: Attribute, values: tuple[Value, ...], branch: Branch) -> exp.Expr:
    return exp.In(
        this=_column(attribute, branch), expressions=[_literal(value, _type(attribute, branch)) for value in values]
    )


def _listed(parts: tuple[Formula, ...]) -> tuple[Attribute, tuple[Value, ...]] | None:
    """The attribute and values of an IN list: ``x = 1 OR x = 2  ->  x IN (1, 2)``."""
    equalities = [part for part in parts if isinstance(part, Comparison) and part.op is Op.EQ and part.right is None]
    if len(equalities) != len(parts) or len({part.left for part in equalities}) != 1:
        return None
    return equalities[0].left, tuple(part.offset for part in equalities)


def _comparison(atom: Comparison, branch: Branch) -> exp.Expr:
    kind = _type(atom.left, branch)
    condition = kind.family is Family.BOOLEAN and branch.column(atom.left).expression
    if condition and (atom.op, atom.right, atom.offset) == (Op.EQ, None, 1):
        return _column(atom.left, branch)
    right = (
        _literal(atom.offset, kind) if atom.right is None else _shifted(_column(atom.right, branch), atom.offset, kind)
    )
    return _OPS[atom.op](this=_column(atom.left, branch), expression=right)


def _shifted(column: exp.Expr, offset: Value, kind: DataType) -> exp.Expr:
    """``column + offset``, as an interval for dates and timestamps."""
    if isinstance(offset, str) or offset == 0:
        return column
    operation = exp.Add if offset > 0 else exp.Sub
    return operation(this=column, expression=_distance(max(offset, -offset), kind))


def _distance(size: Value, kind: DataType) -> exp.Expr:
    if kind.family is Family.DATE:
        return _interval(int(size), "DAY")
    if kind.family is Family.TIMESTAMP:
        unit, length = next((unit, length) for unit, length in _UNITS if int(size) % length == 0)
        return _interval(int(size) // length, unit)
    return _literal(size, kind)


def _interval(size: int, unit: str) -> exp.Expr:
    return exp.Interval(this=exp.Literal.string(str(size)), unit=exp.Var(this=unit))


def _literal(value: Value, kind: DataType) -> exp.Expr:
    if isinstance(value, str):
        return exp.Literal.string(value)
    return _constant(decode(value, kind)).copy()


@lru_cache(maxsize=1024)
def _constant(text: str) -> exp.Expr:
    """A constant's syntax tree, of which each place takes a copy."""
    return parse_one(text, dialect="spark")


def render_output(output: Output, branch: Branch) -> exp.Expr:
    """A column of the select list as a syntax tree: with AS where it is called otherwise than by itself."""
    if isinstance(output.value, Constant):
        value, kind = output.value.value, output.value.type
        constant = exp.Null() if value is None else _literal(value, kind)
        return exp.Alias(this=constant, alias=identifier(output.name))
    if isinstance(output.value, TimeValue):
        time = _time_value(output.value, branch)
        same = isinstance(time, exp.Column) and output.name == output.value.plus.column
        return time if same else exp.Alias(this=time, alias=identifier(output.name))
    if isinstance(output.value, Computed):
        parts = {f"_{place}": _column(part, branch) for place, part in enumerate(output.value.attributes, start=1)}
        tree = parsed(output.value.text).transform(lambda node: _part(node, parts))
        return exp.Alias(this=tree, alias=identifier(output.name))
    column = _column(output.value, branch)
    return column if output.name == output.value.column else exp.Alias(this=column, alias=identifier(output.name))


def _time_value(value: TimeValue, branch: Branch) -> exp.Expr:
    column, kind = _column(value.plus, branch), _type(value.plus, branch)
    if value.minus is not None:
        column = exp.Sub(this=column, expression=_column(value.minus, branch))
    elif value.type.family is not kind.family:  # the distance from a constant
        return exp.Sub(this=column, expression=_literal(-value.offset, kind))
    return _shifted(column, value.offset, kind)


def _source(source: Source) -> exp.Table | exp.Subquery:
    if source.query:
        asked = parsed(f"({source.query})").unnest().copy()
        return exp.Subquery(this=asked, alias=exp.TableAlias(this=identifier(source.alias)))
    table = exp.Table(this=identifier(source.table))
    if source.alias != source.table:
        table.set("alias", exp.TableAlias(this=identifier(source.alias)))
    return table


def _type(attribute: Attribute, branch: Branch) -> DataType:
    return branch.column(attribute).type


def _part(node: exp.Expr, parts: dict[str, exp.Expr]) -> exp.Expr:
    return parts.get(node.name, node).copy() if isinstance(node, exp.Column) else node


def _column(attribute: Attribute, branch: Branch) -> exp.Expr:
    """A column; one that is derived as its expression, in parentheses where it may be an operand."""
    expression = branch.column(attribute).expression
    if expression:
        found = _of_source(parsed(expression), attribute.source)
        return found if isinstance(found, exp.Anonymous) else exp.Paren(this=found)
    return exp.Column(this=identifier(attribute.column), table=identifier(attribute.source))


def _of_source(expression: exp.Expr, alias: str) -> exp.Expr:
    """A derived column's expression, its columns with their source's alias."""
    holder = exp.Paren(this=expression.copy())
    for column in list(columns_of_row(holder)):
        column.replace(exp.Column(this=identifier(column.name), table=identifier(alias)))
    return holder.this  # type: ignore[no-any-return]


@lru_cache(maxsize=1024)
def _plain(name: str) -> bool:
    """Whether a name needs no backquotes."""
    return exp.SAFE_IDENTIFIER_RE.match(name) is not None and [
        token.token_type for token in Spark().tokenize(name)
    ] == [TokenType.VAR]


def identifier(name: str) -> exp.Identifier:
    """A name, quoted where it must be."""
    return exp.Identifier(this=name, quoted=not _plain(name))
