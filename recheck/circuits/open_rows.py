"""The rows of a join's side that can have a partner at all (Lemma 2), as a condition of their own columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sqlglot import exp

from streambound.analyzer.algebra.schema_columns import ViewColumn
from streambound.analyzer.query import Attribute, Branch, Query
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value
from streambound.recheck.certificates.conditions import Conditions

_PLAIN = (Family.INTEGER, Family.STRING)


def open_condition(split: Query, columns: Sequence[ViewColumn]) -> exp.Expr | None:
    """What the join's closure says of the first columns of its results; None where that is nothing."""
    found = []
    for branch in split.branches:
        atoms = list(_atoms(branch, columns))
        if not atoms:
            return None
        found.append(exp.and_(*atoms))
    return exp.paren(exp.or_(*found)) if found else None


def _atoms(branch: Branch, columns: Sequence[ViewColumn]) -> Iterator[exp.Expr]:
    conditions, known = Conditions(branch), []
    for column, output in zip(columns, branch.outputs, strict=False):
        value, plain = output.value, column.type is not None and column.type.family in _PLAIN
        if not isinstance(value, Attribute) or value not in conditions.present or not plain:
            continue
        known.append((column, value))
        if conditions.listed(value):
            listed = [_literal(one) for one in _left_of_lists(conditions, value)]
            yield exp.In(this=_node(column), expressions=listed)
        elif conditions.kind(value) != "text":
            yield from _range(conditions, column, value)
    for number, (column, one) in enumerate(known):
        for other, two in known[number + 1 :]:
            if conditions.kind(one) == conditions.kind(two) and conditions.is_integer(one):
                yield from _apart(conditions, column, one, other, two)
                yield from _apart(conditions, other, two, column, one)


def _left_of_lists(conditions: Conditions, value: Attribute) -> list[Value]:
    if conditions.kind(value) == "text":
        return sorted(conditions.values(value), key=str)
    return list(conditions.possible(value, conditions.follows))


def _range(conditions: Conditions, column: ViewColumn, value: Attribute) -> Iterator[exp.Expr]:
    zero = conditions.zero(value)
    below, above = conditions.follows.bound(zero, value), conditions.follows.bound(value, zero)
    if below is not None:
        yield exp.GTE(this=_node(column), expression=_literal(-below[0]))
    if above is not None:
        yield exp.LTE(this=_node(column), expression=_literal(above[0]))


def _apart(
    conditions: Conditions, column: ViewColumn, one: Attribute, other: ViewColumn, two: Attribute
) -> Iterator[exp.Expr]:
    """``one <= two + c``."""
    bound = conditions.follows.bound(one, two)
    if bound is not None:
        right: exp.Expr = _node(other)
        if bound[0]:
            right = exp.Add(this=right, expression=_literal(bound[0]))
        yield exp.LTE(this=_node(column), expression=right)


def _node(column: ViewColumn) -> exp.Column:
    return exp.column(column.name, table=column.alias or None, quoted=True)


def _literal(value: Value | Fraction | int) -> exp.Expr:
    if isinstance(value, str):
        return exp.Literal.string(value)
    number = int(value) if Fraction(value).denominator == 1 else float(value)
    return exp.Neg(this=exp.Literal.number(-number)) if number < 0 else exp.Literal.number(number)
