"""Joins of a stream with a view that changes, and scalar subqueries: verdicts, bounds, and outputs at random."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from streambound.criteria.check import Checked
from streambound.incremental.feed import SourceChange, ticks
from streambound.incremental.translate import translate
from support.circuits import certificate_of, checked_circuit, rounded, run_circuit, states_of
from support.prefixes import recomputed
from support.profiles import MORE

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}


def catalog(domain: dict[str, list[int]] | None = None) -> dict[str, Any]:
    streams: dict[str, Any] = {}
    for name in ("S", "T"):
        streams[name] = {"columns": COLUMNS, "timestamp": "ts", "max_per_timestamp": 3}
    streams["S"]["domain"] = domain or {}
    return {"streams": streams}


VIEW = "(SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T {where} GROUP BY T.a) AS w"


def reference(checked: Checked, rows: dict[str, list[dict[str, Any]]]) -> Counter[tuple[Any, ...]]:
    """The difference that each timestamp makes, each prefix evaluated anew."""
    assert checked.tree is not None and checked.catalog is not None
    changes = [
        SourceChange(
            name,
            tuple(None if row[c] is None else Fraction(row[c]) for c in COLUMNS),
            Fraction(row["ts"]),
        )
        for name, some in rows.items()
        for row in some
    ]
    times, given = ticks(changes)
    found: Counter[tuple[Any, ...]] = Counter()
    deltas = recomputed(translate(checked.tree, checked.catalog, {}), given)
    for time, delta in zip(times, deltas, strict=True):
        for row, n in delta.items():
            found[(*map(rounded, row), int(time))] += n
    return Counter({row: n for row, n in found.items() if n})


def some_rows(rng: random.Random, times: int) -> dict[str, list[dict[str, Any]]]:
    def one(now: int) -> dict[str, Any]:
        values = {name: None if rng.random() < 0.1 else rng.randint(-1, 4) for name in ("a", "b", "v")}
        return {**values, "ts": now}

    return {name: [one(now) for now in range(times) for _ in range(rng.randint(0, 2))] for name in ("S", "T")}


def some_query(rng: random.Random) -> str:
    limits = rng.choice(["S.a BETWEEN 0 AND 3", "S.a BETWEEN 1 AND 2 AND S.b BETWEEN 0 AND 3"])
    where = rng.choice(["", "WHERE T.a BETWEEN 0 AND 2", "WHERE T.a >= 1 AND T.b < 3"])
    more = rng.choice(["", " AND w.n > 1", " AND S.a < w.n", " AND S.a <> w.sv"])
    shown = rng.choice(["S.a", "S.a, S.b"]) if "S.b" in limits else "S.a"
    view = VIEW.format(where=where)
    match rng.randint(0, 5):
        case 5:
            return "SELECT w.n FROM S JOIN (SELECT COUNT(*) AS n FROM T) AS w ON TRUE"
        case 0:
            return f"SELECT {shown}, w.sv, w.n FROM S JOIN {view} ON S.a = w.g WHERE {limits}{more}"
        case 1:
            return f"SELECT {shown}, w.hi FROM S LEFT JOIN {view} ON S.a = w.g{more} WHERE {limits}"
        case 2:
            kind = rng.choice(["SEMI", "ANTI"])
            return f"SELECT {shown} FROM S LEFT {kind} JOIN {view} ON S.a = w.g{more} WHERE {limits}"
        case 3:
            return f"SELECT COUNT(*) AS c, SUM(w.sv) AS s FROM S JOIN {view} ON S.a = w.g WHERE {limits}{more}"
    agg = rng.choice(["COUNT(*)", "MAX(T.v)", "SUM(T.v)", "MIN(T.b)"])
    op = rng.choice(["<", "<=", ">", "=", "<>"])
    return f"SELECT {shown} FROM S WHERE {limits} AND S.a {op} (SELECT {agg} AS n FROM T)"


@pytest.mark.parametrize("seed", range(30 * MORE))
def test_random_joins_with_views_print_the_difference_of_each_prefix_within_their_bound(seed: int) -> None:
    rng = random.Random(seed)
    checked = checked_circuit(some_query(rng), catalog())
    assert checked.verdict == "bounded", checked.diagnostics
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.value is not None
    for _ in range(2):
        rows = some_rows(rng, rng.randint(1, 8))
        run = run_circuit(checked, rows)
        assert run.prints(reference(checked, rows))
        assert run.peak <= checked.circuit_bound.entries.value


def some_comparison(rng: random.Random) -> str:
    """Rows that wait for a view, by columns without limits that are only compared with columns that have some."""
    view = VIEW.format(where="WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2")
    op = rng.choice(["<", "<=", ">", ">=", "=", "<>"])
    compared = rng.choice(
        ["S.v {} w.hi", "S.v + 1 {} w.hi", "w.hi {} S.v", "S.v {} w.g - 1", "S.v {} w.hi AND S.v > 0"]
    )
    match rng.randint(0, 3):
        case 0:
            return (
                f"SELECT S.a, w.n FROM S JOIN {view} ON S.a = w.g AND {compared.format(op)} WHERE S.a BETWEEN 0 AND 3"
            )
        case 1:
            kind = rng.choice(["LEFT", "LEFT SEMI", "LEFT ANTI"])
            return (
                f"SELECT S.a FROM S {kind} JOIN {view} ON S.a = w.g AND {compared.format(op)} WHERE S.a BETWEEN 0 AND 3"
            )
        case 2:
            return f"SELECT S.a FROM S WHERE S.a BETWEEN 0 AND 3 AND S.v <= 3 AND S.v {op} (SELECT COUNT(*) FROM T)"
    asked = f"(SELECT {rng.choice(['MIN', 'MAX'])}(T.b) FROM T WHERE T.b BETWEEN 1 AND 2)"
    return f"SELECT S.a FROM S WHERE S.a BETWEEN 0 AND 3 AND S.v {op} {asked}"


@pytest.mark.parametrize("seed", range(30 * MORE))
def test_what_is_only_compared_with_a_view_is_clipped(seed: int) -> None:
    rng = random.Random(seed)
    sql = some_comparison(rng)
    checked = checked_circuit(sql, catalog())
    assert checked.verdict == "bounded", (sql, checked.diagnostics)
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.value is not None
    for _ in range(2):
        rows = some_rows(rng, rng.randint(1, 8))
        for row in rows["S"]:
            row["v"] = None if row["v"] is None else row["v"] * rng.choice((1, 1, 5, -7))
        run = run_circuit(checked, rows)
        assert run.prints(reference(checked, rows)), sql
        assert run.peak <= checked.circuit_bound.entries.value


def test_most_comparisons_at_random_are_clipped() -> None:
    several = [checked_circuit(some_comparison(random.Random(seed)), catalog()) for seed in range(60)]
    assert sum("'clipped'" in repr(states_of(certificate_of(checked))) for checked in several) > 30


@pytest.mark.parametrize(
    ("sql", "verdict"),
    [
        ("SELECT S.v FROM S JOIN {view} ON S.a = w.g WHERE S.a BETWEEN 0 AND 3", "unbounded"),
        ("SELECT S.a, w.n FROM S JOIN {view} ON S.a = w.g WHERE S.a BETWEEN 0 AND 3", "bounded"),
        ("SELECT S.b FROM S WHERE S.b BETWEEN 0 AND 3 AND S.a <= 3 AND S.a > (SELECT COUNT(*) AS n FROM T)", "bounded"),
        ("SELECT S.a FROM S WHERE S.a > (SELECT MAX(T.v) AS n FROM T)", "unbounded"),
        ("SELECT S.a FROM S WHERE S.a <= 5 AND S.a < (SELECT SUM(T.v) AS n FROM T)", "unbounded"),
    ],
)
def test_what_waits_for_a_view_must_be_bounded_on_the_open_part(sql: str, verdict: str) -> None:
    assert checked_circuit(sql.format(view=VIEW.format(where="")), catalog()).verdict == verdict


def test_only_groups_that_a_row_can_meet_count() -> None:
    sql = f"SELECT S.b, w.n FROM S JOIN {VIEW.format(where='')} ON S.a = w.g"
    checked = checked_circuit(sql, catalog({"a": [1, 3], "b": [0, 1]}))
    assert checked.circuit_bound is not None
    assert [state.size.value for state in checked.circuit_bound.states if "right" in state.name] == [3]
