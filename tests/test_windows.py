"""Groups of buckets of time: each job prints what the reference evaluator says of every prefix, and keeps at most M."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from streambound.cli import main
from streambound.incremental.evaluate import evaluate_once
from support.circuits import checked_circuit, random_rows, reference, run_circuit
from support.lifted import circuit_of, fed, printed
from support.prefixes import prefixes
from support.profiles import MORE

SECOND, DAY = 1_000_000, 86_400_000_000
CATALOG = {
    "streams": {
        name: {
            "timestamp": "ts",
            "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "timestamp"},
            "domain": {"b": [0, 2]},
            "max_per_timestamp": 2,
        }
        for name in ("S", "T")
    }
}
NEAR = "S.b = T.b AND T.ts BETWEEN S.ts - INTERVAL '3' SECOND AND S.ts + INTERVAL '2' SECOND"
VALUES = "COUNT(*) AS n, SUM(v) AS total, MIN(v) AS least, COUNT(DISTINCT v) AS different"
BOUNDED = {
    f"SELECT window.start AS z, a, {VALUES} FROM S GROUP BY a, window(ts, '4 seconds')": SECOND,
    f"SELECT window.end AS z, {VALUES} FROM S GROUP BY window(ts, '4 seconds', '4 seconds', '1 second')": SECOND,
    f"SELECT a, window.start AS z, {VALUES} FROM S GROUP BY a, window(ts, '5 seconds', '2 seconds')": SECOND,
    f"SELECT window.end AS z, window.start AS y, {VALUES} FROM S GROUP BY window(ts, '6 seconds', '3 seconds')": SECOND,
    "SELECT window.start AS z, MAX(v) FILTER (WHERE a > 2) AS x FROM S GROUP BY window(ts, '4 seconds')": SECOND,
    "SELECT a, session_window.start AS z, session_window.end AS y, COUNT(*) AS n, SUM(v) AS t, MAX(v) AS x "
    "FROM S GROUP BY a, session_window(ts, '2 seconds')": SECOND,
    "SELECT session_window.start AS z, session_window.end AS y, COUNT(DISTINCT b) AS n "
    "FROM S GROUP BY session_window(ts, '2 seconds')": SECOND,
    "SELECT window_start, window_end, SUM(v) AS t FROM TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '4' SECONDS) "
    "WHERE v > 1 GROUP BY window_start, window_end": SECOND,
    f"SELECT date_trunc('minute', ts) AS z, a, {VALUES} FROM S GROUP BY date_trunc('minute', ts), a": 10 * SECOND,
    f"SELECT date_trunc('month', ts) AS z, {VALUES} FROM S GROUP BY date_trunc('month', ts)": 9 * DAY,
    f"SELECT date_trunc('quarter', ts) AS z, {VALUES} FROM S GROUP BY date_trunc('quarter', ts)": 29 * DAY,
    f"SELECT to_date(ts) AS z, a, {VALUES} FROM S GROUP BY to_date(ts), a": 10_000 * SECOND,
    f"SELECT ts AS z, a, {VALUES} FROM S GROUP BY ts, a": SECOND,
    f"SELECT window.start AS z, S.a, T.b, COUNT(*) AS n, SUM(S.v * T.v) AS t FROM S, T WHERE {NEAR} "
    "GROUP BY window(S.ts, '4 seconds'), S.a, T.b": SECOND,
    f"SELECT window.start AS z, S.a, T.a AS y, COUNT(*) AS n FROM S, T WHERE {NEAR} "
    "GROUP BY window(S.ts, '4 seconds', '2 seconds'), S.a, T.a": SECOND,
    f"SELECT to_date(S.ts) AS z, S.a, T.a AS y, COUNT(DISTINCT T.v) AS n FROM S, T WHERE {NEAR} "
    "GROUP BY to_date(S.ts), S.a, T.a": 20_000 * SECOND,
    "SELECT window.start AS z, S.a, T.b, COUNT(*) AS n FROM S, T WHERE T.ts < S.ts AND S.b = T.b "
    "GROUP BY window(S.ts, '4 seconds'), S.a, T.b": SECOND,
    f"SELECT S.b, session_window.start AS z, session_window.end AS y, COUNT(*) AS n FROM S, T WHERE {NEAR} "
    "GROUP BY S.b, session_window(S.ts, '1 second')": SECOND,
}
"""Statements, and the unit of the times of their rows."""


@pytest.mark.parametrize("seed", range(1, 1 + MORE))
@pytest.mark.parametrize("sql", BOUNDED)
def test_a_job_prints_the_changes_of_every_prefix(sql: str, seed: int) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert checked.verdict == "bounded", checked.diagnostics
    rows = random_rows(BOUNDED[sql], seed)
    run = run_circuit(checked, rows)
    assert run.printed and run.prints(reference(sql, CATALOG, rows))
    bound = checked.circuit_bound
    assert bound is not None and bound.entries.value is not None
    assert run.peak <= bound.entries.value or bound.entries.value == 0


@pytest.mark.parametrize("sql", BOUNDED)
def test_final_results_are_those_of_all_rows_each_once(sql: str) -> None:
    rows = random_rows(BOUNDED[sql], 4)
    circuit = circuit_of(sql, CATALOG)
    read = {name: body for name, body in CATALOG["streams"].items() if name in sql.split("FROM", 1)[1]}
    _, given = fed({"streams": read}, rows)
    last = evaluate_once(circuit, prefixes(given)[-1])
    found = run_circuit(checked_circuit(sql, CATALOG), rows, final=True).printed
    expected = Counter({row[:-2]: row[-1] for row in printed(circuit, [Fraction(0)], [last])})
    assert Counter({row[:-1]: n for row, n in found.items()}) == expected
    times = [row[-1] for row in found]
    assert times == sorted(times)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT b, COUNT(*) AS n FROM S GROUP BY b",
        "SELECT S.b FROM S LEFT ANTI JOIN T ON S.b = T.b AND T.ts >= S.ts",
    ],
)
def test_what_may_be_taken_back_for_ever_has_no_final_results(sql: str) -> None:
    checked = checked_circuit(f"-- streambound: emit final\n{sql}", CATALOG)
    assert checked.verdict == "unsupported"
    assert checked.diagnostics


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ("COUNT(*) AS n, SUM(v) AS N", "two columns of the select list are named n"),
        ("COUNT(*) AS _ts", "_ts is a column that the job adds itself"),
        ("window", "window has the type struct<start:timestamp,end:timestamp>"),
    ],
)
def test_results_have_columns_that_can_be_written(items: str, why: str, tmp_path: Path) -> None:
    file, known = tmp_path / "q.sql", tmp_path / "streams.toml"
    file.write_text(f"SELECT {items} FROM S GROUP BY window(ts, '4 seconds')")
    known.write_text('[streams.S]\ntimestamp = "ts"\ncolumns = { v = "bigint", ts = "timestamp" }\n')
    result = CliRunner().invoke(main, ["compile", str(file), "--catalog", str(known)])
    assert result.exit_code == 1 and why in result.stderr, result.output


def test_what_is_unbounded_is_so_whatever_is_asked_for() -> None:
    for mode in ("changes", "final"):
        sql = f"-- streambound: emit {mode}\nSELECT a, COUNT(*) AS n FROM S GROUP BY a"
        assert checked_circuit(sql, CATALOG).verdict == "unbounded"


def test_final_results_may_be_asked_for_where_windows_close() -> None:
    for sql in BOUNDED:
        assert checked_circuit(f"-- streambound: emit final\n{sql}", CATALOG).verdict == "bounded"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT window.start AS z, COUNT(*) AS n FROM S, T WHERE S.a = T.a GROUP BY window(S.ts, '4 seconds')",
        "SELECT hour(ts) AS z, a, COUNT(*) AS n FROM S GROUP BY hour(ts), a",
        "SELECT a, session_window.start AS z, session_window.end AS y, COUNT(DISTINCT v) AS n FROM S "
        "GROUP BY a, session_window(ts, '2 seconds')",
    ],
)
def test_what_does_not_close_is_not_bounded(sql: str) -> None:
    assert checked_circuit(sql, CATALOG).verdict in ("unbounded", "unknown")


@pytest.mark.parametrize(
    ("sql", "entries"),
    [
        ("SELECT COUNT(*) FROM S GROUP BY window(ts, '4 seconds')", "1"),
        ("SELECT a, COUNT(*) FROM S GROUP BY a, window(ts, '4 seconds', '2 seconds')", "15999996"),
        ("SELECT b, COUNT(*) FROM S GROUP BY b, window(ts, '4 seconds', '2 seconds')", "8"),
        ("SELECT a, COUNT(*) FROM S GROUP BY a, session_window(ts, '2 seconds')", "4000000"),
        ("SELECT to_date(ts), COUNT(*) FROM S GROUP BY to_date(ts)", "1"),
    ],
)
def test_the_number_of_entries_is_that_of_open_windows(sql: str, entries: str) -> None:
    bound = checked_circuit(sql, CATALOG).circuit_bound
    assert bound is not None
    assert str(bound.entries.value) == entries
