"""Windows of windows: days of hours, what windows' groups have in common, the best of each; as DuckDB has them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import pytest

from support.circuits import checked_circuit, in_the_end, prints_as_duckdb, proved, random_rows, run_circuit

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
STREAM = {"timestamp": "ts", "columns": COLUMNS, "domain": {"b": [0, 2]}, "max_per_timestamp": 2}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}}
CALENDAR: dict[str, Any] = {
    "streams": {name: {**STREAM, "columns": {**COLUMNS, "ts": "timestamp"}} for name in ("S", "T")}
}
HOURS = 9
"""How far apart the times of rows are."""
FOURS = "(SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 4, b)"
OTHERS = "(SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM T GROUP BY ts DIV 4, b)"
INTEGERS = {
    "the greatest of the small": f"SELECT w DIV 3 AS d, MAX(n) AS m, COUNT(*) AS c FROM {FOURS} GROUP BY w DIV 3",
    "sums of the small": f"SELECT w DIV 2 AS d, b, SUM(n) AS m FROM {FOURS} WHERE n > 1 GROUP BY w DIV 2, b",
    "three sizes": f"SELECT d DIV 2 AS e, MIN(m) AS x FROM (SELECT w DIV 2 AS d, MAX(n) AS m FROM {FOURS} "
    "GROUP BY w DIV 2) GROUP BY d DIV 2",
    "a union, once": f"SELECT w, n FROM {FOURS} UNION SELECT w, n FROM {OTHERS}",
    "what both have": f"SELECT w, b, n FROM {FOURS} INTERSECT SELECT w, b, n FROM {OTHERS}",
    "what one has": f"SELECT w, b FROM {FOURS} WHERE n > 1 EXCEPT SELECT w, b FROM {OTHERS}",
    "what one has more often": f"SELECT w, n FROM {FOURS} EXCEPT ALL SELECT w, n FROM {OTHERS}",
    "rows of a union, once": "SELECT ts DIV 4 AS w, a FROM S EXCEPT SELECT ts DIV 4, a FROM T WHERE v > 0",
    "of what has no duplicates": f"SELECT w DIV 2 AS d, COUNT(*) AS c FROM (SELECT w, n FROM {FOURS} UNION "
    f"SELECT w, n FROM {OTHERS}) GROUP BY w DIV 2",
    "those before in an order of two": "SELECT w, n, COUNT(*) OVER (PARTITION BY w DIV 2 ORDER BY n, w DESC) AS r "
    "FROM (SELECT ts DIV 2 AS w, COUNT(*) AS n FROM S GROUP BY ts DIV 2)",
    "those from it on in an order of two": "SELECT w, n, SUM(n) OVER (PARTITION BY w DIV 3 ORDER BY n DESC, w "
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS r FROM (SELECT ts DIV 2 AS w, COUNT(*) AS n FROM S "
    "GROUP BY ts DIV 2)",
    "the best of each": f"SELECT w, b, n, r FROM (SELECT w, b, n, RANK() OVER (PARTITION BY w DIV 2 ORDER BY n DESC) "
    f"AS r FROM {FOURS}) WHERE r <= 2",
}
TRUNCATED = "(SELECT date_trunc('day', ts) AS h, COUNT(*) AS n FROM S GROUP BY date_trunc('day', ts))"
DATES = "(SELECT CAST(ts AS DATE) AS h, SUM(v) AS n FROM S GROUP BY CAST(ts AS DATE))"
WEEKS = "(SELECT date_trunc('week', ts) AS h, COUNT(*) AS n FROM S GROUP BY date_trunc('week', ts))"
DAY = "window(ts, '1 day')"
ENDS = f"(SELECT {DAY}.start AS s, {DAY}.end AS e, COUNT(*) AS n FROM S GROUP BY {DAY})"
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
        f"SELECT s, b, n, r FROM (SELECT {DAY}.start AS s, b, COUNT(*) AS n, RANK() OVER (PARTITION BY {DAY} "
        f"ORDER BY COUNT(*) DESC) AS r FROM S GROUP BY {DAY}, b) WHERE r < 2",
        "SELECT date_trunc('day', ts) AS s, b, COUNT(*) AS n, RANK() OVER (PARTITION BY date_trunc('day', ts) "
        "ORDER BY COUNT(*) DESC) AS r FROM S GROUP BY date_trunc('day', ts), b QUALIFY r < 2",
    ),
}


def in_calendar(sql: str, unit: int, seed: int) -> Counter[tuple[Any, ...]]:
    """What DuckDB returns of random rows whose times are timestamps, in microseconds."""
    with duckdb.connect(config={"threads": 1}) as database:
        for name, given in random_rows(unit, seed).items():
            database.execute(f"CREATE TABLE {name} (a BIGINT, b BIGINT, v BIGINT, ts TIMESTAMP)")
            rows = [list(row.values()) for row in given]
            database.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, make_timestamp(?))", rows)
        shown = database.execute(sql)
        kinds = [str(one[1]) for one in shown.description]
        epoch = {"TIMESTAMP": "epoch_us({})", "DATE": "epoch_us({}::TIMESTAMP) // 86400000000"}
        names = [f'"{one[0]}"' for one in shown.description]
        items = (epoch.get(kind, "{}").format(name) for kind, name in zip(kinds, names, strict=True))
        return Counter(database.execute(f"SELECT {', '.join(items)} FROM ({sql})").fetchall())


@pytest.mark.parametrize("sql", INTEGERS.values(), ids=list(INTEGERS))
def test_of_numbers_every_prefix_is_as_the_reference_says_and_the_end_as_duckdb(sql: str) -> None:
    prints_as_duckdb(sql, CATALOG, every_prefix=True)


@pytest.mark.parametrize(
    ("sql", "duck"), [*((one, one) for one in TIMESTAMPS.values()), *WINDOWS.values()], ids=[*TIMESTAMPS, *WINDOWS]
)
def test_of_timestamps_the_end_is_as_duckdb_says(sql: str, duck: str) -> None:
    checked, most = proved(sql, CALENDAR)
    printed = 0
    for seed, hours in ((0, HOURS), (1, HOURS), (2, 4 * HOURS), (3, 60 * HOURS)):
        unit = hours * 3_600_000_000
        found = run_circuit(checked, random_rows(unit, seed))
        assert in_the_end(found.printed) == in_calendar(duck, unit, seed)
        assert found.peak <= most
        printed += len(found.printed)
    assert printed


def test_windows_of_dates_are_refused() -> None:
    sql = f"SELECT window(h, '3 days').start AS d, SUM(n) AS m FROM {DATES} GROUP BY window(h, '3 days')"
    checked = checked_circuit(sql, CALENDAR)
    assert str(checked.verdict) == "unsupported"
    assert "a window of a DATE" in checked.diagnostics[0].message


def test_a_row_is_kept_until_its_larger_bucket_closes_and_no_longer() -> None:
    """M is the counts of both levels' open buckets."""
    checked, most = proved(INTEGERS["the greatest of the small"], CATALOG)
    rows = {"S": [{"a": 1, "b": n % 3, "v": 1, "ts": n // 2} for n in range(400)], "T": []}
    assert run_circuit(checked, rows).peak <= most < 30
