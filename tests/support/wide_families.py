"""Queries of so many streams that one table stands for all sets of them, with what one can tell of M at a glance."""

from __future__ import annotations

from typing import Any

from streambound.analyzer.boundedness import Facts
from streambound.criteria.bound import QueryBound, bound
from streambound.criteria.size import Size
from streambound.criteria.tables import SynopsisTable
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from support.against_sql import Printed, printed_as_sql_says
from support.certificates import rejections
from support.choices import Choices
from support.product import decided
from support.queries import Statement
from support.streams import adversarial_rows, small_rows

Catalog = dict[str, Any]


def families_of(found: QueryBound) -> list[tuple[Facts, SynopsisTable, Size]]:
    """The families of a bound, each with its branch's facts and its size."""
    return [(b.facts, t.layout, t.size) for b in found.branches for t in b.tables if t.layout.members]


def wide(shape: str, number: int) -> tuple[str, Catalog]:
    """A query of many streams Y, X1, X2, …, all with one of four keys."""
    xs = [f"X{i}" for i in range(1, number + 1)]
    half = number // 2
    order = {
        "star": [f"{x}.ts > Y.ts" for x in xs],
        "weak star": [f"{x}.ts >= Y.ts" for x in xs],
        "finite": [*(f"{x}.ts > Y.ts" for x in xs[1:]), "X1.ts <= 6"],
        "tree": [f"{x}.ts > {xs[i // 3 - 1] if i > 2 else 'Y'}.ts" for i, x in enumerate(xs)],
        "two stars": [*(f"{x}.ts > Y.ts" for x in xs[1:half]), *(f"{x}.ts > X1.ts" for x in xs[half:])],
        "hub of a star": [*(f"{x}.ts > Y.ts" for x in xs[1:]), *(f"X1.ts > {x}.ts" for x in xs[1:])],
        "fence": [
            *(f"{x}.ts > Y.ts" for x in xs),
            *(f"{x}.ts > {y}.ts" for i, x in enumerate(xs[half:]) for y in xs[max(0, i - 1) : i + 1]),
        ],
        "waiting": [f"{x}.ts > Y.ts + 2" for x in xs],
        "window": [f"{x}.ts > Y.ts AND {x}.ts <= Y.ts + 3" for x in xs],
        "window, any key": [f"{x}.ts > Y.ts AND {x}.ts <= Y.ts + 3" for x in xs],
        "one window, any key": [*(f"{x}.ts > Y.ts" for x in xs), "X1.ts <= Y.ts + 3"],
        "two ends, any key": [*(f"{x}.ts > Y.ts" for x in xs[2:]), "X1.ts <= 4", "X2.ts <= 6"],
        "some windows": [f"{x}.ts > Y.ts" + f" AND {x}.ts <= Y.ts + 3" * (i % 2) for i, x in enumerate(xs)],
        "relation": [f"{x}.k = R.k AND {x}.ts < X1.ts" for x in xs[1:]],
    }[shape]
    joined = {"relation": [], "one window, any key": xs[:1], "two ends, any key": xs[:2]}.get(shape, xs)
    keys = [f"{x}.k = Y.k" for x in joined] if shape != "relation" else ["X1.k = R.k"]
    where = " AND ".join([*order, *keys, *(["Y.k BETWEEN 0 AND 3"] if "any key" not in shape else [])])
    column = {"k": "bigint", "ts": "bigint"}
    catalog: Catalog = {
        "streams": {n: {"timestamp": "ts", "max_per_timestamp": 2, "columns": column} for n in ("Y", *xs)},
        "relations": {"R": {"columns": {"k": "bigint"}}} if shape == "relation" else {},
    }
    selected = "Y.k" if len(joined) in (0, number) else "1 AS one"
    return f"SELECT {selected} FROM Y, {', '.join(xs)}{', R' * (shape == 'relation')} WHERE {where}", catalog


WIDE = {
    "star": (12, 4 * (2**12 - 1)),
    "weak star": (12, 4 * (2**12 - 1)),
    "finite": (12, None),
    "tree": (13, None),
    "two stars": (26, 4 * (2**12 + 2**13)),
    "hub of a star": (13, 4 * 2**12),
    "fence": (16, None),
    "waiting": (12, 4 * 3 * (2**12 - 1)),
    "window": (12, 3 * 2 * (2**12 - 1)),
    "window, any key": (12, None),
    "one window, any key": (12, (3 * 2 + 4) * (2**12 - 1)),
    "two ends, any key": (12, None),
    "some windows": (12, 4 * 4 * (2**12 - 1)),
    "relation": (12, None),
}
"""How many streams, and M where one can tell it at a glance."""


def wide_bound(shape: str, number: int) -> tuple[Decision, QueryBound]:
    """A wide query decided, with its bound."""
    decision = decided(*wide(shape, number))
    found = bound(decision.derivation.split)
    assert found is not None
    return decision, found


def certified_family(statement: Statement) -> tuple[Decision, QueryBound] | None:
    """A statement's decision and its bound, which is certified; None for one that is not bounded, or has no family."""
    decision = decided(statement.sql, statement.catalog)
    if decision.verdict is not Verdict.BOUNDED:
        return None
    found = bound(decision.derivation.split)
    assert found is not None, statement.sql
    if not families_of(found):
        return None
    assert not rejections(decision, found), statement.sql
    return decision, found


def run_on_random_rows(statement: Statement, decision: Decision, choices: Choices) -> Printed | None:
    """What its job prints, which is what SQL says; None where there is no job."""
    rows = (adversarial_rows if choices.chance(40) else small_rows)(choices, statement.catalog)
    return printed_as_sql_says(statement.sql, decision, statement.catalog, rows)
