"""Statements that select application times: random ones with times, and differences of two, in their select lists."""

from __future__ import annotations

from dataclasses import replace

import sqlglot
from sqlglot import exp

from support.choices import Choices
from support.queries import Features, Statement, make_statement

MADE = replace(Features(), windows=60, finite=15, unions=12, timestamps=25, distinct=45)


def make_timed_statement(choices: Choices, features: Features = MADE) -> Statement:
    """A random statement with one to three times, the same ones in each branch of a union."""
    statement = make_statement(choices, features)
    tree = sqlglot.parse_one(statement.sql, read="spark")
    selects = [tree] if isinstance(tree, exp.Select) else [tree.this, tree.expression]
    streams = set.intersection(*({*_streams(select, statement)} for select in selects))
    if not streams:
        return statement
    moments = any(body["columns"]["ts"] == "timestamp" for body in statement.catalog["streams"].values())
    for number in range(choices.integer(1, 3)):
        text = _time(choices, sorted(streams), moments)
        for select in selects:
            select.append("expressions", exp.alias_(sqlglot.parse_one(text, read="spark"), f"time{number}"))
    if choices.chance(25):
        for select in selects:
            select.set("expressions", select.expressions[-choices.integer(1, 1) :])
    return replace(statement, sql=tree.sql("spark"))


def _streams(select: exp.Expression, statement: Statement) -> list[str]:
    """The aliases of a SELECT's FROM that are streams themselves."""
    entries = [select.args["from_"].this, *(join.this for join in select.args.get("joins") or ())]
    tables = (entry for entry in entries if isinstance(entry, exp.Table))
    return [table.alias_or_name for table in tables if table.name in statement.catalog["streams"]]


def _time(choices: Choices, streams: list[str], moments: bool) -> str:
    one, other = choices.pick(streams), choices.pick(streams)
    if one != other and choices.chance(50):
        return f"{one}.ts - {other}.ts"
    shift = choices.integer(-2, 3)
    if choices.chance(70) or not shift:
        return f"{one}.ts"
    sign = "+" if shift > 0 else "-"
    return f"{one}.ts {sign} INTERVAL {abs(shift)} SECONDS" if moments else f"{one}.ts {sign} {abs(shift)}"
