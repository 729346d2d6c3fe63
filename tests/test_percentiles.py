"""MEDIAN and percentiles: verdicts and M, which runs attain, and results against DuckDB and Spark."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import duckdb
import pytest

from streambound.criteria.judged import CircuitBound
from streambound.recheck.oracle.prove import prove
from streambound.reports.circuit_witness_report import tables_of
from streambound.reports.witness_report import json_rows
from streambound_runtime.engine.aggregates import of_kept_values
from streambound_runtime.engine.tables import DOUBLE
from streambound_runtime.operators.circuit_plan import GroupValue
from support.circuits import by_tick, certificate_of, checked_circuit, is_bounded, proof_of, run_circuit
from support.prefix_sql import PrefixSql, six_digits
from support.profiles import MORE

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "s": "string", "ts": "bigint"}
STREAM = {"timestamp": "ts", "max_per_timestamp": 3, "columns": COLUMNS, "domain": {"a": [0, 1], "b": [0, 4]}}
TABLE = {"columns": {"k": "bigint", "y": "bigint"}, "changes": {"timestamp": "ts", "op": "op"}, "rows": 4}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}, "relations": {"R": TABLE}}
NEAR = "T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2"
BOUNDED = {
    "SELECT MEDIAN(b) AS m FROM S": 1 + 6,
    "SELECT a, MEDIAN(b) AS m, COUNT(*) AS n FROM S GROUP BY a": 3 + 18,
    "SELECT MEDIAN(v) AS m FROM S WHERE v BETWEEN 0 AND 3": 1 + 4,
    "SELECT MEDIAN(DISTINCT b) AS m FROM S": 1 + 6,
    "SELECT MEDIAN(b) FILTER (WHERE v > 1) AS m FROM S": 1 + 6,
    "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY b) AS m, "
    "PERCENTILE_DISC(0.3) WITHIN GROUP (ORDER BY b DESC) AS d FROM S": 1 + 6 + 6,
    "SELECT PERCENTILE_CONT(0.2) WITHIN GROUP (ORDER BY b DESC) AS m, MAX(v) AS x FROM S": 1 + 6,
    "SELECT PERCENTILE_CONT(0) WITHIN GROUP (ORDER BY v) AS m, "
    "PERCENTILE_DISC(0) WITHIN GROUP (ORDER BY v DESC) AS x FROM S": 1,
    f"SELECT MEDIAN(S.b) AS m, COUNT(*) AS n FROM S JOIN T ON {NEAR}": None,
    "SELECT MEDIAN(T.b) AS m FROM S JOIN T ON T.b = S.b": None,
    "SELECT ts DIV 4 AS w, MEDIAN(v) AS m FROM S GROUP BY ts DIV 4": None,
    "SELECT MEDIAN(n) AS m, MEDIAN(n) FILTER (WHERE n > 2) AS x FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a)": None,
    "SELECT R.k, MEDIAN(R.y) AS m, PERCENTILE_DISC(0.4) WITHIN GROUP (ORDER BY y) AS d FROM R GROUP BY R.k": None,
    "SELECT a, MEDIAN(b) AS m FROM S GROUP BY a HAVING MEDIAN(b) > 1": 3 + 18,
}


def some_rows(seed: int, end: int = 51) -> dict[str, list[dict[str, Any]]]:
    rng, found, there = random.Random(seed), dict[str, list[dict[str, Any]]](S=[], T=[], R=[]), list[dict[str, Any]]()
    highest = {"a": 1, "b": 4, "v": 6}
    for now in range(1, end):
        for name in "ST":
            for _ in range(rng.randint(0, 3)):
                values = {c: None if rng.random() < 0.1 else rng.randint(0, top) for c, top in highest.items()}
                found[name].append({**values, "s": "x", "ts": now})
        if there and (len(there) == 4 or rng.random() < 0.4):
            found["R"].append({**there.pop(rng.randrange(len(there))), "op": "delete", "ts": now})
        else:
            there.append({"k": rng.randint(0, 1), "y": rng.choice([None, 1, 2, 3])})
            found["R"].append({**there[-1], "op": "insert", "ts": now})
    return found


def of_batch_sql(sql: str, rows: dict[str, list[dict[str, Any]]]) -> Counter[tuple[Any, ...]]:
    """What DuckDB returns at each timestamp more than before."""
    read = {name: mine for name, mine in rows.items() if f" {name} " in f"{sql} ".replace(")", " ")}
    return PrefixSql(CATALOG).changes(sql, read)


@pytest.mark.parametrize("sql", BOUNDED)
def test_changes_are_those_of_batch_sql_within_m(sql: str) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert checked.verdict == "bounded" and checked.circuit is not None, checked.diagnostics
    proof = proof_of(checked, certificate_of(checked))
    assert not proof.faults
    peaks = []
    for seed in range(MORE):
        rows = some_rows(seed, 36 if BOUNDED[sql] is None else 51)  # enough to fill what has an M
        run = run_circuit(checked, rows, ticks=6 if BOUNDED[sql] is not None and not seed else 4)
        assert by_tick(six_digits(run.printed), run.ends) == by_tick(of_batch_sql(sql, rows), run.ends)
        assert proof.entries is not None and run.peak <= proof.entries.most
        peaks.append(run.peak)
    if (most := BOUNDED[sql]) is not None:
        assert CircuitBound(checked.circuit.states).entries.value == most
        # the count allows for NULL, which the job does not keep, where v may be NULL
        assert max(peaks) == (most if "BETWEEN" in sql else most - most // 6)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MEDIAN(v) AS m FROM S",
        "SELECT PERCENTILE(v, 0.9) AS m FROM S",
        "SELECT MEDIAN(DISTINCT v) AS m FROM S",
        "SELECT MEDIAN(S.b) AS m FROM S, T WHERE S.ts < T.ts AND S.v < T.v",
        "SELECT v, MEDIAN(b) AS m FROM S GROUP BY v",
        "SELECT PERCENTILE(S.v, 1) AS m FROM S, T WHERE S.v < T.v",
        "SELECT MEDIAN(v) AS m, window(CAST(ts AS TIMESTAMP), '4 seconds') AS w FROM S GROUP BY v",
    ],
)
def test_what_is_not_bounded_is_not_accepted(sql: str) -> None:
    assert not is_bounded(sql, CATALOG)


@pytest.mark.parametrize(
    "call",
    [
        "MEDIAN(v)",
        "MEDIAN(v) FILTER (WHERE b = 1)",
        "PERCENTILE(v, 0.25)",
        "PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY v DESC)",
        "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY v DESC)",
        "MODE() WITHIN GROUP (ORDER BY v)",
        "MODE() WITHIN GROUP (ORDER BY v DESC) FILTER (WHERE b = 1)",
    ],
)
def test_duckdb_tells_all_subsets_of_a_witness_apart(call: str) -> None:
    streams = {"S": {key: value for key, value in STREAM.items() if key != "max_per_timestamp"}}
    checked = checked_circuit(f"SELECT {call} AS m FROM S WHERE a = 1", {"streams": streams})
    found = checked.circuit_witness
    assert checked.verdict == "unbounded" and found is not None
    witness, tables = found.of_size(4), tables_of(found.statement, checked.statement)
    assert witness is not None and checked.statement.tree is not None and checked.catalog is not None
    parts = [[json_rows(tables, rows) for rows in part] for part in (witness.elements, witness.probes)]
    always = json_rows(tables, witness.always)
    assert prove(checked.statement.tree, checked.catalog, always, *parts).states == 16


def test_a_median_of_distinct_values_has_no_witness_of_every_size() -> None:
    """To move it past an element takes as many probe rows as there are elements."""
    streams = {"S": {key: value for key, value in STREAM.items() if key != "max_per_timestamp"}}
    assert (
        checked_circuit("SELECT MEDIAN(DISTINCT v) AS m FROM S WHERE a = 1", {"streams": streams}).verdict == "unknown"
    )


def percentile(call: str, values: list[Any]) -> Any:
    function, part, descending, distinct = CALLS[call]
    value = GroupValue("m", function, "double", values=0, distinct=distinct, part=part, descending=descending)
    with duckdb.connect() as database:
        database.execute("CREATE TABLE given (v DOUBLE)")
        database.executemany("INSERT INTO given VALUES (?)", [[one] for one in values if one is not None])
        kept = "(SELECT v, CAST(count(*) AS HUGEINT) AS w FROM given GROUP BY v)"
        return database.sql(of_kept_values(value, DOUBLE, DOUBLE, kept, ())).fetchall()[0][0]


CALLS = {
    "MEDIAN(x)": ("median", 0.5, False, False),
    "MEDIAN(DISTINCT x)": ("median", 0.5, False, True),
    "PERCENTILE(x, 0.7)": ("percentile", 0.7, False, False),
    "PERCENTILE(DISTINCT x, 0.3)": ("percentile", 0.3, False, True),
    "PERCENTILE_CONT(0.3) WITHIN GROUP (ORDER BY x DESC)": ("percentile_cont", 0.3, True, False),
    "PERCENTILE_DISC(0.07) WITHIN GROUP (ORDER BY x)": ("percentile_disc", 0.07, False, False),
    "PERCENTILE_DISC(0.55) WITHIN GROUP (ORDER BY x DESC)": ("percentile_disc", 0.55, True, False),
}


def test_values_are_those_of_spark_to_the_last_bit(spark: Any) -> None:
    rng = random.Random(3)
    bags = [[rng.choice([rng.randint(-9, 9), rng.random()]) for _ in range(n)] for n in (1, 2, 3, 7, 20, 100, 200)]
    bags += [[float("nan"), 1.0, 2.0], [0.1] * 7 + [0.2] * 7, [1e308, -1e308], list(range(100)), [0.1, 0.7, None]]
    for bag in bags:
        values = [None if one is None else float(one) for one in bag]
        rows = spark.createDataFrame([(one,) for one in values], "x double")
        (expected,) = rows.selectExpr(*CALLS).collect()
        assert list(map(repr, expected)) == [repr(percentile(call, values)) for call in CALLS], bag
