"""Random statements whose alternatives may make up for each other, wholly or beyond some constant of time or value.

A condition on two streams, what is left of it, and guards (``T.ts > 8``, ``T.c <> 5``, ``T.c IN (…)``, a window) are
combined by OR, UNION and UNION ALL. Many of these are bounded although each branch needs unbounded memory, some only
from a timestamp on; many are not. Sizes of a witness below and above the constants tell.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from support.choices import Choices
from support.queries import NEGATED, Statement

LATEST = 12
"""No constant of time is greater, so that witnesses of some sizes would come before and after it."""
LONG_LIST = "(1, 3, 5, 7, 9, 12, 20, 50, 60)"


def make_compensating_statement(choices: Choices) -> Statement:
    """A statement of two to four alternatives over two or three streams (which may be one stream)."""
    c = choices
    sources = _sources(c)
    aliases = list(sources)
    kind = c.weighted([(70, "bigint"), (15, "double"), (15, "string")])
    order = _order(c, aliases)
    alternatives = [[*order, *part] for part in _alternatives(c, aliases, kind)]
    output = c.weighted([(70, "1 AS one"), (15, f"{aliases[0]}.d AS out"), (15, f"{aliases[-1]}.c AS out")])
    distinct = c.chance(35)
    start = f"SELECT {'DISTINCT ' if distinct else ''}{output} FROM " + ", ".join(
        alias if alias == table else f"{table} AS {alias}" for alias, table in sources.items()
    )
    union = c.chance(50)
    if union:
        word = " UNION " if distinct else " UNION ALL "
        sql = word.join(f"{start} WHERE {' AND '.join(part)}" for part in alternatives)
    else:
        own = [" AND ".join(part[len(order) :]) for part in alternatives]
        sql = f"{start} WHERE {' AND '.join([*order, '(' + ' OR '.join(f'({part})' for part in own) + ')'])}"
    columns = {"c": kind, "d": "bigint", "ts": "bigint"}
    tables = sorted(set(sources.values()) - {"R"})
    catalog: dict[str, Any] = {"streams": {name: {"timestamp": "ts", "columns": columns} for name in tables}}
    if "R" in sources.values():
        catalog["relations"] = {"R": {"columns": {"c": kind, "d": "bigint"}}}
    return Statement(sql, catalog, distinct, windows=False, finite=False, union=union)


def _sources(c: Choices) -> dict[str, str]:
    """Aliases and their tables."""
    return c.weighted(
        [
            (50, {"S": "S", "T": "T"}),
            (20, {"S": "S", "T": "T", "U": "U"}),
            (15, {"s": "S", "t": "S"}),
            (8, {"S": "S", "T": "T", "V": "T"}),
            (7, {"S": "S", "T": "T", "R": "R"}),
        ]
    )


def _order(c: Choices, aliases: list[str]) -> list[str]:
    streams = [alias for alias in aliases if alias != "R"]
    pairs = list(pairwise(streams))
    return [f"{new}.ts > {old}.ts" for new, old in pairs if c.chance(80)]


def _alternatives(c: Choices, aliases: list[str], kind: str) -> list[list[str]]:
    """Conditions, and what is left where they do not hold, under guards."""
    first = _comparison(c, aliases, kind)
    parts = [[first], [_left(c, first)]]
    if c.chance(40):
        second = _comparison(c, aliases, kind)
        parts = [[first], [_left(c, first), second], [_left(c, first), _left(c, second)]]
    guarded = [
        [*part, *(_guard(c, aliases, kind) for _ in range(c.weighted([(35, 0), (55, 1), (10, 2)])))] for part in parts
    ]
    if c.chance(25):
        guarded.append([_guard(c, aliases, kind)])
    return guarded


def _comparison(c: Choices, aliases: list[str], kind: str) -> str:
    x, y = aliases[0], c.pick(aliases[1:])
    if c.chance(25):
        return f"{x}.d {c.pick(list(NEGATED))} {y}.d + {c.integer(0, 9)}"
    return f"{x}.c {c.pick(list(NEGATED))} {y}.c"


def _left(c: Choices, condition: str) -> str:
    """Mostly the opposite."""
    left, op, right = condition.split(" ", 2)
    return f"{left} {NEGATED[op] if c.chance(85) else c.pick(list(NEGATED))} {right}"


def _guard(c: Choices, aliases: list[str], kind: str) -> str:
    """A condition that holds, or not, from some time or value on."""
    alias = c.pick(aliases)
    if alias != "R" and c.chance(60):
        if c.chance(15) and len(aliases) > 1 and "R" not in aliases:
            return f"{aliases[0]}.ts <= {aliases[1]}.ts + {c.integer(1, 9)}"
        return f"{alias}.ts {c.pick(['>', '>=', '<>', '<', '<='])} {c.integer(0, LATEST)}"
    if c.chance(30):
        return f"{alias}.d {c.pick(['IN', 'NOT IN'])} {LONG_LIST}" if c.chance(60) else f"{alias}.d IS NOT NULL"
    return f"{alias}.c {c.pick(list(NEGATED))} {_literal(c, kind)}"


def _literal(c: Choices, kind: str) -> str:
    match kind:
        case "double":
            return c.pick(["0.5D", "0.25D", "2.0D", "60.0D"])
        case "string":
            return c.pick(["'b'", "'a'", "'v000002'", "'w'"])
    return str(c.pick([4, 0, -3, 12, 70]))
