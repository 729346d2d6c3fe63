"""Windows of time and of rows, beyond what each statement says (`test_statements.py`): units, final results, sizes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from streambound.cli import main
from support.circuits import TWO_STREAMS as INTEGERS
from support.circuits import (
    certificate_of,
    checked_circuit,
    in_the_end,
    proof_of,
    proved,
    random_rows,
    reference,
    run_circuit,
    states_of,
    with_smaller_states,
)
from support.profiles import MORE

SECOND, DAY = 1_000_000, 86_400_000_000
COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "timestamp"}
CATALOG: dict[str, Any] = {
    "streams": {name: {**body, "columns": COLUMNS} for name, body in INTEGERS["streams"].items()}
}
OVER = "OVER (PARTITION BY b ORDER BY ts"
VALUES = "COUNT(*) AS n, SUM(v) AS total, MIN(v) AS least, COUNT(DISTINCT v) AS different"
FOURS = "(SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 4, b)"
GROUPS = "(SELECT a, window.start AS z, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds'))"
NEAR = "S.b = T.b AND T.ts BETWEEN S.ts - INTERVAL '3' SECOND AND S.ts + INTERVAL '2' SECOND"
CALENDAR = {
    f"SELECT date_trunc('minute', ts) AS z, a, {VALUES} FROM S GROUP BY date_trunc('minute', ts), a": 10 * SECOND,
    f"SELECT date_trunc('month', ts) AS z, {VALUES} FROM S GROUP BY date_trunc('month', ts)": 9 * DAY,
    f"SELECT date_trunc('quarter', ts) AS z, {VALUES} FROM S GROUP BY date_trunc('quarter', ts)": 29 * DAY,
    f"SELECT to_date(ts) AS z, a, {VALUES} FROM S GROUP BY to_date(ts), a": 10_000 * SECOND,
    f"SELECT to_date(S.ts) AS z, S.a, T.a AS y, COUNT(DISTINCT T.v) AS n FROM S, T WHERE {NEAR} "
    "GROUP BY to_date(S.ts), S.a, T.a": 20_000 * SECOND,
    f"SELECT a, session_window.start AS z, {VALUES}, MAX_BY(v, ts) AS late, ARRAY_AGG(v ORDER BY ts) AS every, "
    "SUM(v * v) AS squares FROM S GROUP BY a, date(ts), session_window(ts, '2 hours')": 3600 * SECOND,
    "SELECT to_date(ts) AS z, b, SUM(unix_timestamp(nx) - unix_timestamp(ts)) AS t FROM (SELECT b, ts, LEAD(ts) OVER "
    "(PARTITION BY b ORDER BY ts) AS nx FROM S) WHERE nx <= ts + INTERVAL 2 HOURS GROUP BY to_date(ts), b": 2400
    * SECOND,
    "SELECT a, session_window.start AS z, session_window.end AS y, COUNT(*) AS n, SUM(v) AS t, MAX(v) AS x, "
    "COUNT(DISTINCT b) AS different FROM (SELECT a, b, v, ts FROM S WHERE b IN (1, 2) UNION ALL "
    "SELECT b, 1, v + 1, ts FROM T WHERE v > 0) GROUP BY a, session_window(ts, '2 seconds')": SECOND,
}
"""Statements, and the unit of the times of their rows."""
FINAL = {
    **CALENDAR,
    f"SELECT a, window.start AS z, {VALUES} FROM S GROUP BY a, window(ts, '5 seconds', '2 seconds')": SECOND,
    f"SELECT ts AS z, a, {VALUES} FROM S GROUP BY ts, a": SECOND,
    f"SELECT window.start AS z, S.a, T.b, COUNT(*) AS n, SUM(S.v * T.v) AS t FROM S, T WHERE {NEAR} "
    "GROUP BY window(S.ts, '4 seconds'), S.a, T.b": SECOND,
    f"SELECT x.z, x.n, COUNT(*) AS k, SUM(x.t) AS t FROM {GROUPS} AS x GROUP BY x.z, x.n": SECOND,
}


@pytest.mark.parametrize("sql", CALENDAR)
def test_units_of_the_calendar_print_the_changes_of_every_prefix(sql: str) -> None:
    checked, most = proved(sql, CATALOG)
    rows = random_rows(CALENDAR[sql], 1)
    run = run_circuit(checked, rows)
    assert run.printed and run.prints(reference(sql, CATALOG, rows, run.ends))
    assert run.peak <= most


@pytest.mark.parametrize("sql", FINAL)
def test_final_results_are_those_of_all_rows_each_once(sql: str) -> None:
    rows = random_rows(FINAL[sql], 4)
    checked = checked_circuit(f"-- streambound: emit final\n{sql}", CATALOG)
    assert checked.verdict == "bounded", checked.diagnostics
    found = run_circuit(checked, rows, final=True).printed
    assert in_the_end(found) == in_the_end(reference(sql, CATALOG, rows)) != {}
    assert set(found.values()) == {1}
    times = [row[-1] for row in found]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("sql", "verdict"),
    [
        ("SELECT b, COUNT(*) AS n FROM S GROUP BY b", "unsupported"),
        ("SELECT S.b FROM S LEFT ANTI JOIN T ON S.b = T.b AND T.ts >= S.ts", "unsupported"),
        ("SELECT a, COUNT(*) AS n FROM S GROUP BY a", "unbounded"),
    ],
)
def test_what_may_be_taken_back_for_ever_has_no_final_results(sql: str, verdict: str) -> None:
    checked = checked_circuit(f"-- streambound: emit final\n{sql}", CATALOG)
    assert checked.verdict == verdict
    assert checked.diagnostics


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ("COUNT(*) AS n, SUM(v) AS N", "two columns of the select list are named n"),
        ("COUNT(*) AS _ts", "_ts is a column that the job adds itself"),
    ],
)
def test_results_have_columns_that_can_be_written(items: str, why: str, tmp_path: Path) -> None:
    file, known = tmp_path / "q.sql", tmp_path / "streams.toml"
    file.write_text(f"SELECT {items} FROM S GROUP BY window(ts, '4 seconds')")
    known.write_text('[streams.S]\ntimestamp = "ts"\ncolumns = { v = "bigint", ts = "timestamp" }\n')
    result = CliRunner().invoke(main, ["compile", str(file), "--catalog", str(known)])
    assert result.exit_code == 1 and why in result.stderr, result.output


# --- sizes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "kept"),
    [
        (f"SELECT w, b, SUM(n) OVER (PARTITION BY b ORDER BY w) AS s FROM {FOURS}", 20),
        (
            "SELECT b, w, n, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY w DESC) AS r "
            f"FROM {FOURS}) WHERE r <= 2",
            20,
        ),
        (f"SELECT w DIV 3 AS d, MAX(n) AS m, COUNT(*) AS c FROM {FOURS} GROUP BY w DIV 3", 30),
    ],
    ids=["running totals", "first windows", "windows of windows"],
)
def test_closed_windows_are_not_kept(sql: str, kept: int) -> None:
    checked, most = proved(sql, INTEGERS)
    rows = {"S": [{"a": 1, "b": n % 3, "v": 1, "ts": n // 2} for n in range(600)], "T": []}
    assert run_circuit(checked, rows).peak <= min(most, kept)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT S.a, S.v, COUNT(T.v) AS n, MAX(S.v) AS m FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND "
        "S.ts + INTERVAL '2' SECOND GROUP BY S.a, S.v, window(S.ts, '4 seconds')",
        f"SELECT l.z, l.a + l.n AS k, COUNT(r.n) AS n FROM {GROUPS} AS l LEFT JOIN "
        f"{GROUPS.replace('FROM S', 'FROM T')} AS r ON l.z = r.z GROUP BY l.z, l.a + l.n",
    ],
    ids=["rows", "groups"],
)
def test_groups_of_a_joins_side_are_as_many_as_its_rows(sql: str) -> None:
    """Counted twice; partners that come more often make pairs, which are no groups."""
    several = {**CATALOG["streams"], "T": {**CATALOG["streams"]["T"], "max_per_timestamp": 20}}
    sizes = []
    for catalog in (CATALOG, {"streams": several}):
        certificate = certificate_of(checked := checked_circuit(sql, catalog))
        assert proof_of(checked, certificate).faults == ()
        sizes.append(states_of(certificate)[-1]["size"]["value"])
        assert all(proof_of(checked, smaller).faults for smaller in with_smaller_states(certificate))
    assert sizes[0] == sizes[1]


def test_values_of_sessions_are_those_of_a_day_and_the_gap_after_it() -> None:
    """At midnight there are 24 values in yesterday's session, and one in today's."""
    rows = {"S": [{"a": 1, "b": 0, "v": n, "ts": n * 3600 * SECOND} for n in range(72)], "T": []}
    sql = "SELECT COUNT(DISTINCT v) AS n FROM S GROUP BY date(ts), session_window(ts, '2 hours')"
    checked, most = proved(sql, CATALOG)
    assert most == (26 * 3600 * SECOND - 1 + 2 * 3600 * SECOND) * 2
    assert run_circuit(checked, rows, ticks=None).peak == 24 + 1 + 2
    certificate = certificate_of(checked)
    assert all(proof_of(checked, smaller).faults for smaller in with_smaller_states(certificate))


def test_rows_of_which_not_all_columns_are_needed_are_in_windows() -> None:
    sql = "SELECT a, VAR_POP(v) AS p FROM (SELECT DISTINCT a, b, v, ts FROM S) GROUP BY a, window(ts, '4 seconds')"
    rows = random_rows(SECOND, 2)
    run = run_circuit(checked_circuit(sql, CATALOG), rows)
    assert run.prints(reference(sql, CATALOG, rows, run.ends))


@pytest.mark.parametrize(("key", "most"), [("S.b, T.b", 5 * 3 + 2), ("S.a, T.b", 5 + 2 + 2)])
def test_pairs_in_a_window_are_rows_of_one_stream_with_partners_or_of_the_other_alone(key: str, most: int) -> None:
    """An open window has five rows of S with three of T each; a row of T says S.a, which equals T.a, as well."""
    catalog = {"streams": {name: {**INTEGERS["streams"][name], "max_per_timestamp": 1} for name in ("S", "T")}}
    sql = (
        f"SELECT S.ts DIV 6 AS w, COUNT(*) AS n FROM S JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts - 2 AND S.ts "
        f"GROUP BY S.ts DIV 6, {key}"
    )
    checked, bound = proved(sql, catalog)
    rows = {name: [{"a": 1, "b": n, "v": n, "ts": n} for n in range(20)] for name in ("S", "T")}
    assert run_circuit(checked, rows, ticks=None).peak == bound == most


def test_values_of_a_window_are_as_many_as_rows_of_it_may_change() -> None:
    """Beside a number of groups that only the open buckets say."""
    rows = {"S": [{"a": n, "b": 0, "v": n, "ts": n // 2 * SECOND} for n in range(8)], "T": []}
    sql = (
        "SELECT window.start AS z, MAX(S.v) AS m FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + "
        "INTERVAL '1' SECOND GROUP BY window(S.ts, '4 seconds')"
    )
    checked, most = proved(sql, CATALOG)
    assert 4 < run_circuit(checked, rows, ticks=None).peak <= most


def test_groups_of_each_time_are_as_many_as_rows_by_the_rate() -> None:
    columns = {"a": "bigint", "ts": "timestamp"}
    stream = {"timestamp": "ts", "columns": columns, "max_rate": {"rows": 10, "per": "1 second"}}
    catalog = {"streams": {"S": stream, "T": stream}}
    sql = "SELECT S.a, COUNT(*) AS n FROM S JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE"
    checked, most = proved(f"{sql} GROUP BY S.a, S.ts", catalog)
    assert most == 2 * 60 * 10
    certificate = certificate_of(checked)
    for state in states_of(certificate):
        told = dict(state["size"])
        state["size"].update(value=36_000_000_000, formula="60000000*60*rate_S")
        assert proof_of(checked, certificate).faults
        state["size"].update(told)


def test_a_window_waits_no_longer_for_a_stream_that_ends_than_it_must() -> None:
    """Where no row of the stream that ends comes later than the other's, it waits for none."""
    free = {name: {**body, "domain": {}} for name, body in INTEGERS["streams"].items()}
    sql, sizes = "SELECT S.ts DIV 4 AS w, COUNT(*) AS n FROM S JOIN T ON S.b = T.b AND T.b BETWEEN 0 AND 3", []
    for more in ("AND T.ts <= S.ts", ""):
        bound = checked_circuit(f"{sql} {more} WHERE T.ts <= 20 GROUP BY S.ts DIV 4", {"streams": free}).circuit_bound
        assert bound is not None
        sizes += [state.size.value for state in bound.states if state.name.startswith("groups")]
    assert sizes == [1, 6]


# --- types ------------------------------------------------------------------------------------------------------------


def with_type(kind: str, catalog: dict[str, Any]) -> dict[str, Any]:
    """The catalog with another type of v."""
    streams = catalog["streams"].items()
    return {"streams": {name: {**body, "columns": {**body["columns"], "v": kind}} for name, body in streams}}


@pytest.mark.parametrize("kind", ["double", "decimal(9,2)"])
@pytest.mark.parametrize(
    "frame", ["ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "RANGE BETWEEN 3 PRECEDING AND CURRENT ROW", ""]
)
def test_sums_over_windows_of_decimals_and_doubles(kind: str, frame: str) -> None:
    """A decimal is encoded as so many hundredths, its mean with four places more; rounded half up."""
    sql = f"SELECT a, ts, SUM(v) {OVER} {frame}) AS s, AVG(v) {OVER} {frame}) AS m FROM S"
    rows = {"S": random_rows(1, 7)["S"]}
    run = run_circuit(proved(sql, with_type(kind, INTEGERS))[0], rows)
    expected: Counter[tuple[Any, ...]] = Counter()
    for (a, ts, total, mean, now), n in reference(sql, INTEGERS, rows).items():
        if mean is not None and kind != "double":
            whole = Fraction(mean).limit_denominator(1000) * 10_000
            mean = floor(abs(whole) + Fraction(1, 2)) * (1 if whole > 0 else -1)
        expected[a, ts, total, mean, now] += n
    assert expected and run.prints(expected)


def test_an_infinite_number_that_is_added_up_is_an_error_with_a_way_out() -> None:
    rows = [{"a": 1, "b": 1, "v": value, "ts": ts} for ts, value in enumerate((1.5, float("-inf")), 1)]
    checked = checked_circuit(f"SELECT AVG(v) {OVER}) AS s FROM S", with_type("double", INTEGERS))
    with pytest.raises(OverflowError, match="added up is -inf, and sums are of finite numbers: leave it out in WHERE"):
        run_circuit(checked, {"S": rows})


def test_a_decimal_is_compared_with_an_average_of_decimals_which_has_more_places() -> None:
    sql = (
        "SELECT S.a, S.v FROM S JOIN (SELECT ts AS z, AVG(v) AS m FROM T GROUP BY ts) AS r ON S.ts = r.z AND S.v > r.m"
    )
    checked, rows = proved(sql, with_type("decimal(9,2)", CATALOG))[0], random_rows(SECOND, 8)
    wanted = reference(sql, CATALOG, rows)
    assert wanted and run_circuit(checked, rows).prints(wanted)


# --- windows of windows of the calendar, which DuckDB knows by other words --------------------------------------------

HOURS = 9
"""How far apart the times of rows are."""
TRUNCATED = "(SELECT date_trunc('day', ts) AS h, COUNT(*) AS n FROM S GROUP BY date_trunc('day', ts))"
DATES = "(SELECT CAST(ts AS DATE) AS h, SUM(v) AS n FROM S GROUP BY CAST(ts AS DATE))"
WEEKS = "(SELECT date_trunc('week', ts) AS h, COUNT(*) AS n FROM S GROUP BY date_trunc('week', ts))"
WINDOW = "window(ts, '1 day')"
ENDS = f"(SELECT {WINDOW}.start AS s, {WINDOW}.end AS e, COUNT(*) AS n FROM S GROUP BY {WINDOW})"
TIMESTAMPS = {
    "weeks of days": f"SELECT date_trunc('week', h) AS d, MAX(n) AS m FROM {TRUNCATED} GROUP BY date_trunc('week', h)",
    "months of dates": f"SELECT date_trunc('month', h) AS d, MIN(n) AS m FROM {DATES} GROUP BY date_trunc('month', h)",
    "hours of dates": f"SELECT date_trunc('hour', h) AS d, COUNT(*) AS m FROM {DATES} GROUP BY date_trunc('hour', h)",
    "months of weeks": f"SELECT date_trunc('month', h) AS d, MAX(n) AS m, SUM(n) AS k FROM {WEEKS} "
    "GROUP BY date_trunc('month', h)",
    "days of days": f"SELECT CAST(h AS DATE) AS d, MAX(n) AS m FROM {TRUNCATED} GROUP BY CAST(h AS DATE)",
}
WINDOWS = {
    "windows of days": (
        f"SELECT window(h, '3 days').start AS d, MAX(n) AS m FROM {TRUNCATED} GROUP BY window(h, '3 days')",
        f"SELECT time_bucket(INTERVAL 3 DAYS, h, TIMESTAMP '1970-01-01') AS d, MAX(n) AS m FROM {TRUNCATED} GROUP BY 1",
    ),
    "windows of windows": (
        f"SELECT window(s, '4 days').end AS d, MAX(n) AS m, COUNT(*) AS c FROM {ENDS} GROUP BY window(s, '4 days')",
        "SELECT time_bucket(INTERVAL 4 DAYS, h, TIMESTAMP '1970-01-01') + INTERVAL 4 DAYS AS d, MAX(n) AS m, "
        f"COUNT(*) AS c FROM {TRUNCATED} GROUP BY 1",
    ),
    "hopping windows of the ends of windows": (
        "SELECT window(e, '4 days', '2 days').start AS d, SUM(n) AS m "
        f"FROM {ENDS} GROUP BY window(e, '4 days', '2 days')",
        "SELECT time_bucket(INTERVAL 2 DAYS, h + INTERVAL 1 DAY, TIMESTAMP '1970-01-01') - x * INTERVAL 2 DAYS AS d, "
        f"SUM(n) AS m FROM {TRUNCATED}, (VALUES (0), (1)) AS v(x) GROUP BY 1",
    ),
    "weeks of the ends of windows": (
        f"SELECT date_trunc('week', e) AS d, COUNT(*) AS c FROM {ENDS} GROUP BY date_trunc('week', e)",
        f"SELECT date_trunc('week', h + INTERVAL 1 DAY) AS d, COUNT(*) AS c FROM {TRUNCATED} GROUP BY 1",
    ),
    "the best of a window, beside its groups": (
        f"SELECT s, b, n, r FROM (SELECT {WINDOW}.start AS s, b, COUNT(*) AS n, RANK() OVER (PARTITION BY {WINDOW} "
        f"ORDER BY COUNT(*) DESC) AS r FROM S GROUP BY {WINDOW}, b) WHERE r < 2",
        "SELECT date_trunc('day', ts) AS s, b, COUNT(*) AS n, RANK() OVER (PARTITION BY date_trunc('day', ts) "
        "ORDER BY COUNT(*) DESC) AS r FROM S GROUP BY date_trunc('day', ts), b QUALIFY r < 2",
    ),
}


def in_calendar(sql: str, unit: int, seed: int) -> Counter[tuple[Any, ...]]:
    """What DuckDB returns of random rows of S, whose times are timestamps, in microseconds."""
    with duckdb.connect(config={"threads": 1}) as database:
        rows = [
            f"({', '.join('NULL' if v is None else str(v) for v in row.values())})"
            for row in random_rows(unit, seed)["S"]
        ]
        values = f"(VALUES {', '.join(rows)}) AS v(a, b, v, ts)"
        database.execute(f"CREATE TABLE S AS SELECT * REPLACE (make_timestamp(ts) AS ts) FROM {values}")
        shown = database.execute(sql)
        kinds = [str(one[1]) for one in shown.description]
        epoch = {"TIMESTAMP": "epoch_us({})", "DATE": "epoch_us({}::TIMESTAMP) // 86400000000"}
        names = [f'"{one[0]}"' for one in shown.description]
        items = (epoch.get(kind, "{}").format(name) for kind, name in zip(kinds, names, strict=True))
        return Counter(database.execute(f"SELECT {', '.join(items)} FROM ({sql})").fetchall())


@pytest.mark.parametrize(
    ("sql", "duck"), [*((one, one) for one in TIMESTAMPS.values()), *WINDOWS.values()], ids=[*TIMESTAMPS, *WINDOWS]
)
def test_of_timestamps_the_end_is_as_duckdb_says(sql: str, duck: str) -> None:
    checked, most = proved(sql, CATALOG)
    printed = 0
    for seed, hours in ((0, HOURS), (2, 60 * HOURS)):
        unit = hours * 3_600_000_000
        found = run_circuit(checked, random_rows(unit, seed))
        assert in_the_end(found.printed) == in_calendar(duck, unit, seed)
        assert found.peak <= most
        printed += len(found.printed)
    assert printed


def test_windows_of_dates_are_refused() -> None:
    sql = f"SELECT window(h, '3 days').start AS d, SUM(n) AS m FROM {DATES} GROUP BY window(h, '3 days')"
    checked = checked_circuit(sql, CATALOG)
    assert str(checked.verdict) == "unsupported"
    assert "a window of a DATE" in checked.diagnostics[0].message


DAILY = "(SELECT CAST(ts AS DATE) AS d, b, COUNT(*) AS n FROM S GROUP BY CAST(ts AS DATE), b)"
DAYS_APART = {
    "DATE_SUB": ("y.d = date_sub(t.d, 1)", "y.d = t.d - 1"),
    "DATE_ADD": ("date_add(y.d, 2) = t.d", "y.d + 2 = t.d"),
    "an interval": ("y.d = t.d - INTERVAL 1 DAY", "y.d = t.d - 1"),
    "a number": ("t.d = y.d + 3", "t.d = y.d + 3"),
    "DATEDIFF": ("datediff(t.d, y.d) = 1", "t.d - y.d = 1"),
    "up to some days": ("t.d > y.d AND t.d <= date_add(y.d, 2)", "t.d > y.d AND t.d <= y.d + 2"),
}


@pytest.mark.parametrize("name", DAYS_APART)
def test_a_day_meets_those_before(name: str) -> None:
    sql = f"SELECT t.d, t.n - y.n AS more FROM {DAILY} AS t JOIN {DAILY} AS y ON t.b = y.b AND {{}}"
    here, there = DAYS_APART[name]
    checked, most = proved(sql.format(here), CATALOG)
    assert most < 200
    printed = 0
    for seed in range(3 * MORE):
        run = run_circuit(checked, random_rows(DAY // 3, seed))
        assert in_the_end(run.printed) == in_calendar(sql.format(there), DAY // 3, seed)
        assert run.peak <= most
        printed += len(run.printed)
        if printed and seed + 1 >= MORE:
            return
    raise AssertionError("nothing is printed")


def test_days_that_are_not_apart_by_a_number_wait_for_ever() -> None:
    sql = f"SELECT t.d, y.n FROM {DAILY} AS t JOIN {DAILY} AS y ON t.b = y.b AND y.d = date_sub(t.d, t.n)"
    assert str(checked_circuit(sql, CATALOG).verdict) != "bounded"
