"""Patches that let an engine keep less: they add what follows of the statement, and its rows stay the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import duckdb
import pytest
import sqlglot

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.diagnostics import FixKind
from streambound.analyzer.edits import applied
from streambound.analyzer.engine_profiles import EngineProfile, StreamEngine
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import some_statements
from streambound.criteria.check import Checked
from streambound.criteria.engines.reported import findings, read_on
from streambound.criteria.vocabulary import Verdict
from support.choices import Choices
from support.profiles import MORE

COLUMNS = 'columns = { k = "bigint", v = "bigint", ts = "timestamp", until = "timestamp" }\nlateness = "10 minutes"\n'
CATALOG = parse_catalog("".join(f'[streams.{name}]\ntimestamp = "ts"\n{COLUMNS}' for name in ("s", "t")))
START = datetime(2026, 1, 1, 11, 57)  # times of day, as DuckDB has them
MACROS = (
    "CREATE MACRO floored_seconds(x) AS floor(epoch(x))",
    "CREATE MACRO bucket(x, size) AS {'start': time_bucket(size::INTERVAL, x), 'end': time_bucket(size::INTERVAL, x)}",
)
"""Functions as Spark has them, under names that nothing translates."""
SIZES = (1, 5, 59, 60, 61, 90)


def patches(sql: str, engine: str) -> list[str]:
    """The statement after each patch that a finding of the engine has, and that keeps its rows."""
    (one,) = some_statements(SourceText("q.sql", sql))
    checked = Checked(one, Verdict.UNKNOWN, (), tree=lower(one, CATALOG).tree)
    reading = read_on(checked, CATALOG, EngineProfile(StreamEngine(engine)))
    assert reading is not None
    fixes = [fix for found in findings(reading, one.source, one.span) for fix in found.fixes]
    fixes = [fix for fix in fixes if fix.kind is FixKind.SAFE]
    assert all(fix.note == "same results" for fix in fixes)
    texts = [applied(sql, fix.edits) for fix in fixes]
    assert texts == [fix.sql for fix in fixes]
    return list(dict.fromkeys(texts))


def conditions(choices: Choices) -> str:
    """A condition that implies a range, though engines do not read one in it."""
    low, high = sorted((choices.pick(SIZES), choices.pick(SIZES)))
    sign = choices.pick(("", "-"))
    return choices.pick(
        (
            f"abs(unix_timestamp(b.ts) - unix_timestamp(a.ts)) <= {high}",
            f"unix_timestamp(b.ts) - unix_timestamp(a.ts) BETWEEN {low} AND {high}",
            f"b.ts BETWEEN a.ts AND CASE WHEN a.v > 3 AND a.k = 1 THEN a.ts ELSE a.ts + INTERVAL {high} SECONDS END",
            f"b.ts - a.ts BETWEEN INTERVAL {sign}{low} SECONDS AND INTERVAL {high} SECONDS",
            f"a.ts - b.ts <= INTERVAL {high} SECONDS AND b.ts - a.ts < INTERVAL {low} SECONDS",
            f"(b.ts BETWEEN a.ts AND a.ts + INTERVAL {low} SECONDS OR b.ts = a.ts + INTERVAL {high} SECONDS)",
            f"(b.ts = a.ts OR b.ts > a.ts AND b.ts <= a.ts + INTERVAL {high} SECONDS)",
            "date_trunc('minute', a.ts) = date_trunc('minute', b.ts)",
            "to_date(a.ts) = to_date(b.ts)",
            f"b.ts + INTERVAL {high} SECONDS BETWEEN a.ts AND a.ts + INTERVAL {low} SECONDS",
            f"b.ts BETWEEN a.ts AND a.until AND a.until <= a.ts + INTERVAL {high} SECONDS",
        )
    )


def statement(choices: Choices) -> str:
    """A join by a key and such a condition, in one of the ways to write that."""
    condition = conditions(choices)
    form = choices.integer(0, 4)
    if form == 0:
        return f"SELECT a.v AS x, b.v AS y FROM s AS a, t AS b WHERE a.k = b.k AND {condition}"
    if form == 1:
        return f"SELECT a.v AS x, b.v AS y FROM s AS a JOIN t AS b USING (k) WHERE {condition}"
    if form == 2:
        return f"SELECT a.v AS x, b.v AS y FROM s AS a JOIN t AS b ON a.k = b.k WHERE {condition} AND a.v > 1"
    kind = choices.pick(("JOIN", "LEFT JOIN", "RIGHT JOIN"))
    first, second = ("a.k = b.k", condition) if form == 3 else (condition, "a.k = b.k")
    return f"SELECT a.v AS x, b.v AS y FROM s AS a {kind} t AS b ON {first} AND {second}"


class Database:
    """Rows of the streams."""

    def __init__(self, rows: Mapping[str, Iterable[tuple[Any, ...]]]) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        for macro in MACROS:
            self.connection.execute(macro)
        for name, values in rows.items():
            self.connection.execute(f"CREATE TABLE {name} (k BIGINT, v BIGINT, ts TIMESTAMP, until TIMESTAMP)")
            listed = ", ".join(f"({k}, {v}, '{ts}', '{until}')" for k, v, ts, until in values)
            self.connection.execute(f"INSERT INTO {name} VALUES {listed}")

    @classmethod
    def drawn(cls, choices: Choices, number: int = 24) -> Database:
        """Random rows, near each other in time."""
        rows: dict[str, list[tuple[Any, ...]]] = {"s": [], "t": []}
        for values in rows.values():
            for _ in range(number):
                ts = START + timedelta(seconds=choices.integer(0, 250), microseconds=choices.pick((0, 1, 999_999)))
                until = ts + timedelta(seconds=choices.integer(0, 100))
                values.append((choices.integer(1, 2), choices.integer(1, 9), ts, until))
        return cls(rows)

    def rows(self, sql: str) -> Counter[tuple[Any, ...]]:
        text = re.sub(r"\bunix_timestamp\(", "floored_seconds(", re.sub(r"\bwindow\(", "bucket(", sql))
        return Counter(self.connection.execute(sqlglot.transpile(text, read="spark", write="duckdb")[0]).fetchall())


@pytest.mark.parametrize("engine", ["spark", "flink"])
def test_a_patch_keeps_the_rows(engine: str) -> None:
    """Random conditions, each with a patch if it implies a range, over random streams."""
    patched = compared = 0
    for seed in range(15 * MORE):
        choices = Choices.seeded(seed)
        sql = statement(choices)
        for text in patches(sql, engine):
            patched += 1
            for _ in range(2):
                database = Database.drawn(choices)
                wanted = database.rows(sql)
                assert database.rows(text) == wanted, f"{sql}\n->\n{text}"
                compared += bool(wanted)
    assert patched >= 8 * MORE and compared >= 12 * MORE


WINDOWS = "(SELECT k, v, window(ts, '1 minute') AS w FROM {}) AS {}"
GROUPED = [
    ("SELECT date_trunc('minute', ts) AS m, COUNT(*) AS n FROM s GROUP BY date_trunc('minute', ts)", "'1 minute'"),
    ("SELECT to_date(ts) AS d, k, SUM(v) AS n FROM s GROUP BY to_date(ts), k", "'1 day'"),
    ("SELECT date_trunc('hour', s.ts) AS h FROM s GROUP BY date_trunc('hour', s.ts) HAVING COUNT(*) > 3", "'1 hour'"),
    (f"SELECT a.v, b.v AS y FROM {WINDOWS.format('s', 'a')} JOIN {WINDOWS.format('t', 'b')} ON a.k = b.k "
     "AND a.w.start = b.w.start", "a.w = b.w"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "added"), GROUPED)
def test_a_key_that_says_no_more_keeps_the_groups(sql: str, added: str) -> None:
    (text,) = patches(sql, "spark")
    assert added in text.removeprefix(sql.split(" HAVING", maxsplit=1)[0])
    for seed in range(5):
        database = Database.drawn(Choices.seeded(seed))
        assert database.rows(text) == database.rows(sql) != Counter()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT date_trunc('week', ts) AS m, COUNT(*) AS n FROM s GROUP BY date_trunc('week', ts)",
        "SELECT date_trunc('month', ts) AS m, COUNT(*) AS n FROM s GROUP BY date_trunc('month', ts)",
        "SELECT date_trunc('minute', ts + INTERVAL 30 SECONDS) AS m, COUNT(*) AS n FROM s "
        "GROUP BY date_trunc('minute', ts + INTERVAL 30 SECONDS)",
        "SELECT a.k FROM (SELECT k, window(ts, '1 minute') AS w FROM s) AS a "
        "JOIN (SELECT k, window(ts, '2 minutes') AS w FROM t) AS b ON a.k = b.k AND a.w.start = b.w.start",
        "SELECT a.v FROM s AS a JOIN t AS b ON a.k = b.k AND b.ts >= a.ts",
        "SELECT k, COUNT(*) AS n FROM s GROUP BY k",
    ],
)
def test_what_does_not_follow_is_not_added(sql: str) -> None:
    """Weeks begin elsewhere than windows of seven days, windows of other lengths are others: words, and no patch."""
    assert patches(sql, "spark") == []


@pytest.mark.parametrize(
    ("sql", "added"),
    [
        ("SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
         "GROUP BY window_start", ", window_end"),
        ("SELECT a.k FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS a JOIN "
         "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS b ON a.k = b.k "
         "AND a.window_start = b.window_start", " AND a.window_end = b.window_end"),
    ],
)  # fmt: skip
def test_flink_reads_windows_by_both_of_their_ends(sql: str, added: str) -> None:
    assert patches(sql, "flink") == [sql + added]


@pytest.mark.parametrize(
    ("sql", "patched"),
    [
        ("SELECT v, COUNT(*) AS n FROM s GROUP BY v",
         "SELECT /*+ STATE_TTL('s' = '1d') */ v, COUNT(*) AS n FROM s GROUP BY v"),
        ("select a.v from s a join t b on a.k = b.k",
         "select /*+ STATE_TTL('a' = '1d', 'b' = '1d') */ a.v from s a join t b on a.k = b.k"),
    ],
)  # fmt: skip
def test_a_hint_of_flink_forgets_and_says_what_is_lost(sql: str, patched: str) -> None:
    (one,) = some_statements(SourceText("q.sql", sql))
    checked = Checked(one, Verdict.UNKNOWN, (), tree=lower(one, CATALOG).tree)
    reading = read_on(checked, CATALOG, EngineProfile(StreamEngine.FLINK))
    assert reading is not None
    fixes = {fix for found in findings(reading, one.source, one.span) for fix in found.fixes}
    assert {(fix.kind, fix.sql) for fix in fixes} == {(FixKind.CHANGES_RESULTS, patched)}
    assert all("finds nothing of its key" in fix.note for fix in fixes)
    assert not patches(patched, "flink"), "nothing is kept for ever then"
