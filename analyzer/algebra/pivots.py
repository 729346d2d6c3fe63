"""PIVOT and UNPIVOT of an entry of FROM as queries.

U PIVOT (SUM(v) FOR k IN ('a', 'b' AS c))
->  (SELECT g, SUM(v) FILTER (WHERE k = 'a') AS a, SUM(v) FILTER (WHERE k = 'b') AS c FROM U GROUP BY g)

U UNPIVOT (x FOR k IN (a, b AS c))
->  (SELECT g, 'a' AS k, a AS x FROM U WHERE a IS NOT NULL UNION ALL SELECT g, 'c', b FROM U WHERE b IS NOT NULL)

g are the columns that neither names. As in Spark, a count of no rows is NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

from streambound.analyzer.algebra.schema_columns import Schema


def pivoted(entry: exp.Expr, pivot: exp.Expr, given: Schema) -> exp.Subquery | None:
    """The query that a PIVOT or UNPIVOT of an entry with ``given`` columns is; None for another form of it."""
    (field, *more), values = pivot.args.get("fields") or [None], pivot.expressions
    if more or not isinstance(field, exp.In) or not values or field.args.get("query"):
        return None
    make = _unpivot if pivot.args.get("unpivot") else _pivot
    made = make(entry, pivot, field, [column.name for column in given])
    if made is None:
        return None
    alias = pivot.args.get("alias") or entry.args.get("alias") or exp.TableAlias(this=exp.to_identifier("_pivot"))
    return exp.Subquery(this=made, alias=alias.copy())


def _pivot(entry: exp.Expr, pivot: exp.Expr, field: exp.In, names: Sequence[str]) -> exp.Query | None:
    named, calls = pivot.args.get("columns") or [], pivot.expressions
    plain = all(isinstance(one.unalias(), exp.AggFunc) for one in calls)
    if not plain or not isinstance(field.this, exp.Column) or len(named) != len(calls) * len(field.expressions):
        return None
    read = {column.name.lower() for one in (*calls, field.this) for column in one.find_all(exp.Column)}
    groups = [_column(name) for name in names if name.lower() not in read]
    items = list[exp.Expr]()
    for value in field.expressions:
        for call in calls:
            constant = value.this if isinstance(value, exp.PivotAlias) else value
            items.append(exp.alias_(_of_value(call.unalias(), field.this, constant), named[len(items)].copy()))
    made = exp.Select(expressions=[*groups, *items], from_=exp.From(this=entry.copy()))
    if groups:
        made.set("group", exp.Group(expressions=[one.copy() for one in groups]))
    return made


def _of_value(call: exp.Expr, key: exp.Expr, value: exp.Expr) -> exp.Expr:
    """An aggregate of the rows in which the key has a value; NULL where there are none."""
    where = exp.Where(this=exp.NullSafeEQ(this=key.copy(), expression=value.copy()))
    found = exp.Filter(this=call.copy(), expression=where)
    if not isinstance(call, exp.Count | exp.CountIf):
        return found
    there = exp.Filter(this=exp.Count(this=exp.Star()), expression=where.copy())
    return exp.Case(ifs=[exp.If(this=exp.GT(this=there, expression=exp.Literal.number(0)), true=found)])


def _unpivot(entry: exp.Expr, pivot: exp.Expr, field: exp.In, names: Sequence[str]) -> exp.Query | None:
    columns = [one.this if isinstance(one, exp.PivotAlias) else one for one in field.expressions]
    (value, *more), key = pivot.expressions, field.this
    if more or isinstance(value, exp.Tuple) or not all(isinstance(one, exp.Column) for one in columns):
        return None
    read = {one.name.lower() for one in columns}
    sides = list[exp.Query]()
    for one, column in zip(field.expressions, columns, strict=True):
        called = one.args["alias"] if isinstance(one, exp.PivotAlias) else column
        items = [_column(name) for name in names if name.lower() not in read]
        items.append(exp.alias_(exp.Literal.string(called.name), key.name, quoted=True))
        items.append(exp.alias_(column.copy(), value.name, quoted=True))
        side = exp.Select(expressions=items, from_=exp.From(this=entry.copy()))
        if not pivot.args.get("include_nulls"):
            there = exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))
            side.set("where", exp.Where(this=there))
        sides.append(side)
    return reduce(lambda left, right: exp.Union(this=left, expression=right, distinct=False), sides)


def _column(name: str) -> exp.Expr:
    return exp.column(exp.to_identifier(name, quoted=True))
