"""Views whose rows close with a bucket of time, and joins, aggregates and functions over windows above them.

Each job prints what the reference evaluator says of every prefix, and keeps at most M.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from streambound.analyzer.errors import NotExecutableError
from support.circuits import (
    Circuit,
    certificate_of,
    checked_circuit,
    proof_of,
    random_ends,
    random_rows,
    reference,
    run_circuit,
    states_of,
    with_smaller_states,
)
from support.profiles import MORE

SECOND = 1_000_000
COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "timestamp"}
CATALOG = {
    "streams": {
        name: {"timestamp": "ts", "columns": COLUMNS, "domain": {"b": [0, 2]}, "max_per_timestamp": 2}
        for name in ("S", "T")
    }
}
"""Only b is bounded: whatever else is remembered, is so because it closes."""


def counts(stream: str, key: str = "a", window: str = "'4 seconds'", more: str = "COUNT(*) AS n, SUM(v) AS t") -> str:
    keys = f"{key}, " if key else ""
    return (
        f"(SELECT {keys}window.start AS z, window.end AS y, {more} FROM {stream} GROUP BY {keys}window(ts, {window}))"
    )


BEST = "(SELECT x.z, MAX(x.n) AS most FROM {} AS x GROUP BY x.z)"
NEAR = "T.b = S.b AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND"
LATE = f"(SELECT S.a, window.end AS y, COUNT(*) AS n FROM S, T WHERE {NEAR} GROUP BY S.a, window(S.ts, '4 seconds'))"
AROUND = "T.a = S.a AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND"
HOPS = "'4 seconds', '2 seconds'"
BOUNDED = {
    "equal windows": f"SELECT l.a, l.n, r.n AS m FROM {counts('S')} AS l JOIN {counts('T')} AS r "
    "ON l.z = r.z AND l.a = r.a",
    "both ends": f"SELECT l.a, r.t FROM {counts('S')} AS l JOIN {counts('T')} AS r ON l.z = r.z AND l.y = r.y",
    "the hottest of each window": f"SELECT l.a, l.n, l.z FROM {counts('S', window=HOPS)} AS l "
    f"JOIN {BEST.format(counts('S', window=HOPS))} AS r ON l.z = r.z AND l.n >= r.most",
    "without a partner": f"SELECT l.a, l.z, r.n FROM {counts('S')} AS l LEFT JOIN {counts('T')} AS r "
    "ON l.z = r.z AND l.n < r.n",
    "semi": f"SELECT l.a, l.z FROM {counts('S')} AS l LEFT SEMI JOIN {counts('T')} AS r ON l.z = r.z AND l.a = r.a",
    "anti": f"SELECT l.a, l.z FROM {counts('S')} AS l LEFT ANTI JOIN {counts('T')} AS r ON l.z = r.z AND l.a = r.a",
    "the window before": f"SELECT l.a, l.n, r.n AS m FROM {counts('S')} AS l JOIN {counts('S')} AS r "
    "ON l.z = r.y AND l.a = r.a",
    "windows that overlap": f"SELECT l.a, l.n, r.n AS m FROM {counts('S', window=HOPS)} AS l JOIN {counts('T')} AS r "
    "ON l.z <= r.z AND l.y >= r.z AND l.a = r.a",
    "one that closes later": f"SELECT l.a, l.n, r.t FROM {LATE} AS l JOIN {counts('S')} AS r ON l.y = r.y",
    "one that closes earlier": f"SELECT l.a, r.n, l.t FROM {counts('S')} AS l LEFT JOIN {LATE} AS r ON l.y = r.y",
    "rows of a window": "SELECT S.a, S.v, S.ts FROM S JOIN (SELECT MAX(v) AS x, window.end AS y FROM S "
    "GROUP BY window(ts, '4 seconds')) AS r ON S.v = r.x "
    "WHERE S.ts BETWEEN r.y - INTERVAL '4' SECOND AND r.y",
    "rows before a window": f"SELECT S.a, r.n FROM S JOIN {counts('T', key='')} AS r "
    "ON S.ts < r.z AND S.ts >= r.z - INTERVAL '3' SECOND",
    "rows that no window has": f"SELECT S.a, S.ts FROM S LEFT ANTI JOIN {counts('T', key='b')} AS r "
    "ON S.ts >= r.z AND S.ts < r.y AND S.b = r.b",
    "a view first": f"SELECT S.a, r.n FROM {counts('T', key='')} AS r JOIN S ON S.ts >= r.z AND S.ts < r.y",
    "three": f"SELECT l.a, l.n, r.n AS m, m.t FROM {counts('S')} AS l JOIN {counts('T')} AS r "
    f"ON l.z = r.z AND l.a = r.a JOIN {counts('T', key='b')} AS m ON m.z = r.z",
    "an aggregate of a join": "SELECT j.z, COUNT(*) AS n, MAX(j.n) AS x FROM (SELECT l.z, l.n, r.t "
    f"FROM {counts('S')} AS l JOIN {counts('T')} AS r ON l.z = r.z AND l.n <= r.n) AS j GROUP BY j.z",
    "an aggregate of groups": f"SELECT x.z, x.n, COUNT(*) AS k, SUM(x.t) AS t FROM {counts('S')} AS x "
    "GROUP BY x.z, x.n",
    "least and different": "SELECT x.y, MIN(x.t) AS l, COUNT(DISTINCT x.n) AS d "
    f"FROM {counts('S', window=HOPS)} AS x GROUP BY x.y",
    "first of a join": "SELECT * FROM (SELECT l.a, l.z, r.n, ROW_NUMBER() OVER "
    f"(PARTITION BY l.z ORDER BY r.n DESC, l.a) "
    f"AS place FROM {counts('S')} AS l JOIN {counts('T')} AS r ON l.z = r.z) WHERE place <= 2",
    "a join of ranks": "SELECT l.a, l.place, r.n FROM (SELECT x.a, x.z, RANK() OVER "
    f"(PARTITION BY x.z ORDER BY x.n DESC) "
    f"AS place FROM {counts('S')} AS x) AS l JOIN {counts('T')} AS r "
    "ON l.z = r.z AND l.a = r.a WHERE l.place <= 3",
    "first rows of each window": "SELECT * FROM (SELECT a, v, window_start AS z, ROW_NUMBER() OVER (PARTITION BY "
    "window_start, window_end ORDER BY v DESC, ts) AS place FROM TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '4' SECONDS"
    ")) WHERE place <= 2",
    "rows of windows that overlap": "SELECT a, v, window_end AS y, COUNT(*) OVER (PARTITION BY window_end, a) AS n "
    "FROM HOP(TABLE S, DESCRIPTOR(ts), INTERVAL '2' SECONDS, INTERVAL '5' SECONDS) WHERE v > 0",
    "a join of rows in windows": "SELECT l.v, r.v AS w, l.window_start AS z FROM (SELECT * FROM TUMBLE(TABLE S, "
    "DESCRIPTOR(ts), INTERVAL '4' SECONDS)) AS l JOIN (SELECT * FROM TUMBLE(TABLE T, DESCRIPTOR(ts), "
    "INTERVAL '4' SECONDS)) AS r ON l.a = r.a AND l.window_start = r.window_start AND l.window_end = r.window_end",
    "rows of windows without a partner": "SELECT l.v, l.window_start AS z FROM (SELECT * FROM TUMBLE(TABLE S, "
    "DESCRIPTOR(ts), INTERVAL '4' SECONDS)) AS l WHERE NOT EXISTS (SELECT 1 FROM (SELECT * FROM TUMBLE(TABLE T, "
    "DESCRIPTOR(ts), INTERVAL '4' SECONDS)) AS r WHERE l.a = r.a AND l.window_start = r.window_start)",
    "the window before, by order": "SELECT x.z, x.n, LAG(x.n) OVER (ORDER BY x.z) AS before "
    f"FROM {counts('S', key='')} AS x",
    "two groups before": "SELECT x.z, x.a, x.n - LAG(x.n, 2) OVER (ORDER BY x.z, x.n DESC, x.a) AS more "
    f"FROM {counts('S', window=HOPS)} AS x",
    "the mean of three windows": "SELECT x.y, x.b, AVG(x.n) OVER (PARTITION BY x.b ORDER BY x.y ROWS BETWEEN "
    f"2 PRECEDING AND CURRENT ROW) AS m FROM {counts('S', key='b')} AS x WHERE x.b IS NOT NULL",
    "the window before, of rows that come late": "SELECT x.y, LAG(x.n) OVER (ORDER BY x.y, x.a) AS before "
    f"FROM {LATE} AS x",
    "windows of differences": "SELECT d.z, MAX(d.more) AS most FROM (SELECT x.z, x.n - LAG(x.n) OVER (ORDER BY x.z, "
    f"x.a) AS more FROM {counts('S')} AS x) AS d GROUP BY d.z",
    "rows in windows": "SELECT a, ts, window_start AS z, window_end AS y "
    "FROM HOP(TABLE S, DESCRIPTOR(ts), INTERVAL '2' SECONDS, INTERVAL '5' SECONDS)",
    "the busiest window of each key": "SELECT x.b, MAX(x.n) AS most, MIN(x.t) AS least, SUM(x.n) AS n "
    f"FROM {counts('S', key='a, b')} AS x GROUP BY x.b",
    "the busiest window": f"SELECT MAX(x.n) AS most, MIN(x.t + x.n) AS least FROM {counts('S', window=HOPS)} AS x",
    "the busiest window that may change late": f"SELECT MIN(x.n) AS least, MAX(x.a) AS a FROM {LATE} AS x",
    "the most of some windows": f"SELECT x.n, MAX(x.t) AS t FROM {counts('S')} AS x WHERE x.n IN (1, 2) GROUP BY x.n",
    "windows of rows without a partner": "SELECT window.start AS z, COUNT(*) AS n FROM S "
    f"WHERE NOT EXISTS (SELECT 1 AS one FROM T WHERE {AROUND}) GROUP BY window(S.ts, '4 seconds')",
    "windows of rows with a partner": "SELECT window.end AS y, S.a, SUM(S.v) AS t FROM S "
    f"LEFT SEMI JOIN T ON {AROUND} GROUP BY S.a, window(S.ts, {HOPS})",
    "windows of a left join": "SELECT window.start AS z, S.b, COUNT(T.v) AS n, SUM(T.v) AS t, MAX(T.v + S.v) AS m "
    f"FROM S LEFT JOIN T ON {AROUND} GROUP BY S.b, window(S.ts, {HOPS})",
    "windows of a right join": "SELECT window.start AS z, T.a, COUNT(S.v) AS n, COUNT(*) AS k FROM S "
    f"RIGHT JOIN T ON {AROUND} GROUP BY T.a, window(T.ts, '3 seconds')",
    "rows of a left join, each with what it is joined with": "SELECT S.a, S.v, COUNT(T.v) AS n, MAX(S.v) AS m FROM S "
    f"LEFT JOIN T ON {AROUND} GROUP BY S.a, S.v, window(S.ts, '4 seconds')",
    "rows of windows that overlap, each with what it is joined with": "SELECT S.a, window.end AS y, SUM(T.v) AS t "
    f"FROM S LEFT JOIN T ON {AROUND} GROUP BY S.a, window(S.ts, {HOPS})",
    "groups, each with what it is joined with": "SELECT l.z, l.a + l.n AS k, COUNT(r.n) AS n "
    f"FROM {counts('S')} AS l LEFT JOIN {counts('T')} AS r ON l.z = r.z GROUP BY l.z, l.a + l.n",
    "minutes of a left join": "SELECT date_trunc('minute', S.ts) AS z, COUNT(T.v) AS n, MIN(S.v) AS m "
    f"FROM S LEFT JOIN T ON {AROUND} GROUP BY date_trunc('minute', S.ts)",
    "minutes of windows": "SELECT date_trunc('minute', x.z) AS m, MAX(x.n) AS n, COUNT(*) AS k "
    f"FROM {counts('S')} AS x GROUP BY date_trunc('minute', x.z)",
    "minutes of ends of windows": "SELECT date_trunc('minute', x.y) AS m, x.b, MIN(x.t) AS n, AVG(x.n) AS k "
    f"FROM {counts('S', key='a, b', window=HOPS)} AS x GROUP BY date_trunc('minute', x.y), x.b",
    "all that ever was": f"SELECT COUNT(*) AS n, SUM(x.t) AS t FROM {counts('S')} AS x",
    "all of a join": f"SELECT COUNT(r.n) AS n FROM {counts('S')} AS l LEFT JOIN {counts('T')} AS r ON l.z = r.z",
    "calendar": "SELECT l.z, l.n, r.n AS m FROM (SELECT date_trunc('minute', ts) AS z, a, COUNT(*) AS n FROM S "
    "GROUP BY date_trunc('minute', ts), a) AS l JOIN (SELECT date_trunc('minute', ts) AS z, a, COUNT(*) AS n FROM T "
    "GROUP BY date_trunc('minute', ts), a) AS r ON l.z = r.z AND l.a = r.a",
    "sessions": "SELECT l.a, l.y, l.n FROM (SELECT a, session_window.start AS z, session_window.end AS y, "
    "COUNT(*) AS n FROM S GROUP BY a, session_window(ts, '2 seconds')) AS l JOIN (SELECT a, session_window.start AS z, "
    "session_window.end AS y, COUNT(*) AS n FROM T GROUP BY a, session_window(ts, '2 seconds')) AS r "
    "ON l.y = r.y AND l.n <= r.n",
}  # fmt: skip


HOUR = 3_600 * SECOND


@pytest.mark.parametrize("seed", range(1, 1 + MORE))
@pytest.mark.parametrize("name", BOUNDED)
def test_a_job_prints_the_changes_of_every_prefix_and_forgets_what_has_closed(name: str, seed: int) -> None:
    """An hour later all has closed: the same rows again need no more entries than before."""
    checked = checked_circuit(BOUNDED[name], CATALOG)
    assert checked.verdict == "bounded", checked.diagnostics
    first = random_rows((10 if name == "calendar" else 1) * SECOND, seed, 25)
    rows = {
        stream: [{**row, "ts": row["ts"] + n * HOUR} for n in range(2) for row in first[stream]] for stream in first
    }
    ends = random_ends(sorted({row["ts"] for mine in first.values() for row in mine}), 3)
    run = run_circuit(checked, rows, ticks=[end + n * HOUR for n in range(2) for end in ends])
    assert run.printed and run.prints(reference(BOUNDED[name], CATALOG, rows))
    bound = checked.circuit_bound
    assert bound is not None and bound.entries.value is not None
    assert run.peak <= bound.entries.value or bound.entries.value == 0
    assert run.peak_within(HOUR, HOUR + ends[-1] + 1) <= run.peak_within(0, HOUR) + 1


NESTED = ("an aggregate of groups", "least and different", "an aggregate of a join")


@pytest.mark.parametrize("name", NESTED)
def test_final_results_above_windows_are_those_of_all_rows_each_once(name: str) -> None:
    rows = random_rows(SECOND, 4)
    checked = checked_circuit(f"-- streambound: emit final\n{BOUNDED[name]}", CATALOG)
    assert checked.verdict == "bounded", checked.diagnostics
    expected = Counter[tuple[Any, ...]]()
    for row, n in reference(BOUNDED[name], CATALOG, rows).items():
        expected[row[:-1]] += n
    found = run_circuit(checked, rows, final=True).printed
    assert Counter({row[:-1]: n for row, n in found.items()}) == Counter({row: n for row, n in expected.items() if n})
    assert set(found.values()) == {1}


def test_results_have_columns_of_different_names() -> None:
    checked = checked_circuit("SELECT b, COUNT(*) AS n, SUM(v) AS N FROM S GROUP BY b", CATALOG)
    with pytest.raises(NotExecutableError, match="two columns of the select list are named n"):
        run_circuit(checked, {})


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT l.n, r.n AS m FROM {counts('S')} AS l JOIN {counts('T')} AS r ON l.a = r.a",
        f"SELECT l.n, r.n AS m FROM {counts('S')} AS l JOIN {counts('T')} AS r ON l.z <= r.z",
        f"SELECT l.n, r.n AS m FROM {counts('S')} AS l JOIN {counts('T')} AS r ON l.z = r.y OR l.n = r.n",
        f"SELECT S.a, r.n FROM S JOIN {counts('T')} AS r ON S.a = r.a",
        f"SELECT S.a, r.n FROM S JOIN {counts('T')} AS r ON S.ts > r.y",
        f"SELECT x.a, COUNT(*) AS n FROM {counts('S')} AS x GROUP BY x.a",
        f"SELECT x.a, MAX(x.n) AS n FROM {counts('S')} AS x GROUP BY x.a",
    ],
)
def test_what_does_not_close_is_not_bounded(sql: str) -> None:
    assert checked_circuit(sql, CATALOG).verdict not in ("bounded", "error")


@pytest.mark.parametrize(
    ("name", "entries"),
    [("both ends", 31_999_992), ("the window before", 39_999_992), ("rows of a window", 8_000_000)],
)
def test_the_number_of_entries_is_that_of_what_is_open(name: str, entries: int) -> None:
    bound = checked_circuit(BOUNDED[name], CATALOG).circuit_bound
    assert bound is not None
    assert bound.entries.value == entries


@pytest.mark.parametrize("name", [name for name in BOUNDED if name.endswith("each with what it is joined with")])
def test_groups_of_a_joins_side_are_as_many_as_its_rows(name: str) -> None:
    """Counted twice; partners that come more often make pairs, which are no groups."""
    several = {**CATALOG["streams"], "T": {**CATALOG["streams"]["T"], "max_per_timestamp": 20}}
    sizes = []
    for catalog in (CATALOG, {"streams": several}):
        checked = checked_circuit(BOUNDED[name], catalog)
        certificate = certificate_of(checked)
        assert proof_of(checked, certificate).faults == ()
        sizes.append(states_of(certificate)[-1]["size"]["value"])
        assert all(proof_of(checked, smaller).faults for smaller in with_smaller_states(certificate))
    assert sizes[0] == sizes[1]


BEST_OF_CLOSED = tuple(name for name in BOUNDED if name.startswith("the busiest"))


IN_TURN = ("the window before, by order", "two groups before", "the mean of three windows")


@pytest.mark.parametrize("name", [*BEST_OF_CLOSED, *IN_TURN])
def test_what_is_kept_of_closed_windows_outlives_a_restart_and_is_counted_again(name: str) -> None:
    circuit = Circuit(
        {"sql": BOUNDED[name], "catalog": CATALOG, "mode": "changes", "input": random_rows(SECOND, 6)}, "batch"
    )
    ticks = circuit.cuts()
    whole = circuit.run(ticks, restart=False)
    assert circuit.run(ticks, restart=True) == whole
    checked = checked_circuit(BOUNDED[name], CATALOG)
    certificate = certificate_of(checked)
    assert proof_of(checked, certificate).faults == ()
    assert all(proof_of(checked, smaller).faults for smaller in with_smaller_states(certificate))


@pytest.mark.parametrize("order", ["x.z DESC", "x.n", "x.n, x.z"])
def test_in_another_order_a_row_may_come_before_any_closed_one(order: str) -> None:
    sql = f"SELECT x.z, LAG(x.n) OVER (ORDER BY {order}) AS l FROM {counts('S')} AS x"
    assert str(checked_circuit(sql, CATALOG).verdict) == "unknown"


@pytest.mark.parametrize("kind", ["LEFT", "RIGHT", "FULL", "LEFT ANTI"])
def test_a_join_that_nothing_satisfies_has_the_rows_of_its_sides_in_columns_of_their_types(kind: str) -> None:
    shown = "S.b, COUNT(*) AS n" if kind == "LEFT ANTI" else "S.b, COUNT(T.b) AS n, SUM(T.v) AS t"
    sql = f"SELECT {shown} FROM S {kind} JOIN T ON S.a = T.v AND S.a < T.v GROUP BY S.b"
    checked, rows = checked_circuit(sql, CATALOG), random_rows(SECOND, 3)
    assert checked.verdict == "bounded" and checked.circuit is not None
    wanted = reference(sql, CATALOG, rows)
    assert wanted and run_circuit(checked, rows).prints(wanted)


@pytest.mark.parametrize("name", [name for name in BOUNDED if name.startswith(("windows of", "minutes of"))])
def test_windows_above_joins_and_other_windows_are_counted_again(name: str) -> None:
    checked = checked_circuit(BOUNDED[name], CATALOG)
    certificate = certificate_of(checked)
    assert proof_of(checked, certificate).faults == ()
    assert all(proof_of(checked, smaller).faults for smaller in with_smaller_states(certificate))


def test_values_of_a_window_are_as_many_as_rows_of_it_may_change() -> None:
    """Beside a number of groups that only the open buckets say."""
    rows = {"S": [{"a": n, "b": 0, "v": n, "ts": n // 2 * SECOND} for n in range(8)], "T": []}
    sql = (
        "SELECT window.start AS z, MAX(S.v) AS m FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + "
        "INTERVAL '1' SECOND GROUP BY window(S.ts, '4 seconds')"
    )
    checked = checked_circuit(sql, CATALOG)
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.value is not None
    assert 4 < run_circuit(checked, rows, ticks=None).peak <= checked.circuit_bound.entries.value


def test_a_decimal_is_compared_with_an_average_of_decimals_which_has_more_places() -> None:
    sql = (
        "SELECT S.a, S.v FROM S JOIN (SELECT ts AS z, AVG(v) AS m FROM T GROUP BY ts) AS r ON S.ts = r.z AND S.v > r.m"
    )
    decimals = {
        "streams": {s: {**body, "columns": {**COLUMNS, "v": "decimal(9,2)"}} for s, body in CATALOG["streams"].items()}
    }
    checked, rows = checked_circuit(sql, decimals), random_rows(SECOND, 8)
    assert checked.verdict == "bounded", checked.diagnostics
    wanted = reference(sql, CATALOG, rows)
    assert wanted and run_circuit(checked, rows).prints(wanted)


def test_groups_of_each_time_are_as_many_as_rows_by_the_rate() -> None:
    columns = {"a": "bigint", "ts": "timestamp"}
    stream = {"timestamp": "ts", "columns": columns, "max_rate": {"rows": 10, "per": "1 second"}}
    catalog = {"streams": {"S": stream, "T": stream}}
    sql = "SELECT S.a, COUNT(*) AS n FROM S JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE"
    checked = checked_circuit(f"{sql} GROUP BY S.a, S.ts", catalog)
    bound = checked.circuit_bound
    assert bound is not None and bound.entries.value == 2 * 60 * 10, bound
    certificate = certificate_of(checked)
    assert not proof_of(checked, certificate).faults
    for state in states_of(certificate):
        told = dict(state["size"])
        state["size"].update(value=36_000_000_000, formula="60000000*60*rate_S")
        assert proof_of(checked, certificate).faults
        state["size"].update(told)
