"""What other engines would give other results for is said at its place (SB152), and nothing is said of the rest."""

from __future__ import annotations

import random

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.codes import Code
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.criteria.vocabulary import Verdict

CATALOG = catalog_from_mapping(
    {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "ts": "timestamp"}}}}
)
QUERY = "SELECT a FROM S"
HINTS = ("STATE_TTL('S' = '1d')", "OPTIONS('a' = 'b')", "LOOKUP('table' = 'S', 'retry' = '(2)')", "early_fire")
SILENT_HINTS = ("BROADCAST(S)", "REPARTITION(3)", "COALESCE (1)", "SHUFFLE_HASH(S, t)", "merge(S)")
NOT_READ = {
    "SET 'table.exec.state.ttl' = '1 h'": "SET 'table.exec.state.ttl' = '1 h'",
    "set table.exec.state.ttl = 36000": "set table.exec.state.ttl = 36000",
    "SET TIME ZONE 'Europe/Berlin'": "SET TIME ZONE 'Europe/Berlin'",
    "SET spark.sql.session.timeZone = America/New_York": "SET spark.sql.session.timeZone = America/New_York",
    "SET spark.sql.ansi.enabled=false": "SET spark.sql.ansi.enabled=false",
    "SET spark.sql.legacy.timeParserPolicy = LEGACY": "SET spark.sql.legacy.timeParserPolicy = LEGACY",
    f"CREATE STREAMING TABLE t (CONSTRAINT c EXPECT (f(a, (b)) > 0) ON VIOLATION DROP ROW) AS {QUERY}":
        "CONSTRAINT c EXPECT (f(a, (b)) > 0) ON VIOLATION DROP ROW",
    f"CREATE VIEW t (a COMMENT 'x', CONSTRAINT c EXPECT (a > 0) ON VIOLATION FAIL UPDATE) AS {QUERY}":
        "CONSTRAINT c EXPECT (a > 0) ON VIOLATION FAIL UPDATE",
    f"CREATE TABLE t WITH ROW FILTER f ON (a) AS {QUERY}": "ROW FILTER f",
    f"INSERT INTO t /*+ OPTIONS('sink.parallelism' = '2') */ {QUERY}": "OPTIONS('sink.parallelism' = '2')",
}  # fmt: skip
READ_OR_HARMLESS = (
    "SET 'parallelism.default' = '4'", "SET spark.sql.shuffle.partitions = 8", "SET TIME ZONE 'UTC'",
    "SET spark.sql.session.timeZone = UTC", "SET spark.sql.ansi.enabled = true", "SET", "RESET table.exec.state.ttl",
    "SET 'table.exec.state.ttl' = '0 ms'",
    f"CREATE STREAMING TABLE t (CONSTRAINT c EXPECT (a > 0)) TBLPROPERTIES ('a' = 'b') PARTITIONED BY (a) AS {QUERY}",
    f"CREATE TABLE t (PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'kafka') AS {QUERY}",
    f"CREATE VIEW t COMMENT 'CONSTRAINT c EXPECT (a) ON VIOLATION DROP ROW' AS {QUERY}",
    f"{QUERY} /* STATE_TTL('S' = '1d') */ -- /*+ OPTIONS('a' = 'b') */",
    "INSERT INTO t PARTITION (d = 'x') SELECT a FROM S WHERE a = length('/*+ OPTIONS(1) */')",
)  # fmt: skip


def marked(sql: str) -> list[str]:
    """The stretches that warnings are at."""
    found = [one for item in check_source(SourceText("q.sql", sql), CATALOG) for one in item.diagnostics]
    assert all(one.help for one in found if one.code is Code.NOT_READ)
    return [sql[one.span.start : one.span.end] for one in found if one.code is Code.NOT_READ]


@pytest.mark.parametrize("sql", NOT_READ)
def test_what_is_not_read_is_said_at_its_place(sql: str) -> None:
    assert marked(sql) == [NOT_READ[sql]]
    assert marked(f"SELECT b FROM S;\n{sql};\nSELECT b FROM S") == [NOT_READ[sql]]


@pytest.mark.parametrize("sql", READ_OR_HARMLESS)
def test_what_changes_no_result_is_passed_over(sql: str) -> None:
    assert marked(sql) == []


def test_hints_are_found_wherever_they_stand() -> None:
    """In any number, between any two tokens of a query, also those that the parser takes for comments."""
    choose = random.Random(38)
    words = ["SELECT", "a", ",", "b", "FROM", "S", "WHERE", "a", ">", "1", "AND", "b", "IN", "(", "1", ",", "2", ")"]
    for _ in range(200):
        text, expected = list(words), list[str]()
        for place in sorted(choose.sample(range(1, len(words) + 1), choose.randint(1, 3)), reverse=True):
            hints = choose.choices((*HINTS, *SILENT_HINTS), k=choose.randint(1, 3))
            text.insert(place, f"/*+ {choose.choice([', ', ' ']).join(hints)} */")
            expected = [hint for hint in hints if hint in HINTS] + expected
        assert marked(" ".join(text)) == expected, text


def test_verdicts_are_those_without_it() -> None:
    sql = f"SET 'table.exec.state.ttl' = '1 h'; {QUERY} /*+ OPTIONS('a' = 'b') */; SELECT DISTINCT a FROM S"
    verdicts = [item.verdict for item in check_source(SourceText("q.sql", sql), CATALOG)]
    assert verdicts == [Verdict.NO_QUERY, Verdict.BOUNDED, Verdict.UNBOUNDED]
