"""Random queries of all kinds: every stage of their circuits says what DuckDB says of every prefix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from streambound.analyzer.types import Family
from streambound.incremental.circuit import Circuit
from streambound.incremental.evaluate import evaluate
from streambound.incremental.zset import Value, ZSet
from support.any_queries import CATALOG, any_query, any_rows
from support.choices import Choices
from support.lifted import fed, stages_of
from support.prefix_sql import PrefixSql, Results
from support.prefixes import recomputed
from support.profiles import MORE

SEEDS, PARTS = 20 * MORE, 4


def views(circuit: Circuit, times: Sequence[Fraction], changes: Sequence[ZSet]) -> dict[int, Results]:
    """The view at each timestamp, of its changes; no row of it has a negative weight."""
    floats = [column.kind.family is Family.FLOAT for column in circuit.schema]
    total, found = ZSet(), {}
    for time, change in zip(times, changes, strict=True):
        total += change
        assert all(weight > 0 for _, weight in total.items())
        found[int(time)] = Counter({_plain(row, floats): weight for row, weight in total.items()})
    return found


def _plain(row: Sequence[Value], floats: Sequence[bool]) -> tuple[Any, ...]:
    return tuple(
        value if not isinstance(value, Fraction) else float(f"{float(value):.6g}") if is_float else int(value)
        for value, is_float in zip(row, floats, strict=True)
    )


def differing(sql: str, rows: dict[str, list[dict[str, Any]]], wanted: dict[int, Results]) -> list[str]:
    """The stages whose results differ from what is wanted."""
    times, given = fed(CATALOG, rows)
    found = []
    for stage in stages_of(sql, CATALOG):
        if stage.over != "streams":
            changes = recomputed(stage.circuit, given) if stage.over == "Z-sets" else evaluate(stage.circuit, given)
            if views(stage.circuit, times, changes) != wanted:
                found.append(stage.name)
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_every_stage_says_what_duckdb_says_of_every_prefix(part: int) -> None:
    database, used, answered = PrefixSql(CATALOG), Counter[str](), 0
    for seed in range(part * SEEDS, (part + 1) * SEEDS):
        choices = Choices.seeded(seed)
        (sql, operators), rows = any_query(choices), any_rows(choices)
        try:
            wanted = database.results(sql, rows)
        except duckdb.BinderException:  # names that Spark can tell apart
            continue
        assert differing(sql, rows, wanted) == [], (seed, sql)
        if any(wanted.values()):
            answered += 1
            used.update(name for name, number in operators.items() if number)
    assert answered > SEEDS // 3
    assert len(used) > 15, used


def test_a_wrong_circuit_is_found() -> None:
    """The comparison is not empty: rows that are left out make a difference."""
    sql = "SELECT q1.a, COUNT(*) AS n FROM S AS q1 GROUP BY q1.a"
    row = {"a": 1, "b": 1, "v": 1, "ts": 1}
    wanted = PrefixSql(CATALOG).results(sql, {"S": [row, row]})
    assert differing(sql, {"S": [row, row]}, wanted) == []
    assert len(differing(sql, {"S": [row]}, wanted)) == 5
