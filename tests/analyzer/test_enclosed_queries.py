"""The query inside CREATE and INSERT: its name, its place, and what later statements of the file read of it."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.render import render
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.check import check_source
from streambound.criteria.vocabulary import Verdict
from support.cases import lowered
from support.kernel import run_kernel
from support.oracle import Oracle

ENCLOSED = [
    "CREATE VIEW v AS {}", "CREATE OR REPLACE VIEW v AS {}", "CREATE TEMPORARY VIEW v COMMENT 'AS SELECT' AS {}",
    "CREATE OR REPLACE GLOBAL TEMP VIEW IF NOT EXISTS v TBLPROPERTIES ('a' = 'b') AS ({})",
    "create table v as {}", "CREATE OR REPLACE TABLE IF NOT EXISTS v USING delta PARTITIONED BY (a) AS {}",
    "CREATE TEMPORARY TABLE v (c BIGINT) AS {}", "CREATE TABLE v WITH ('connector' = 'kafka') AS {}",
    "CREATE STREAMING TABLE v AS {}", "CREATE STREAM v WITH (kafka_topic = 'v') AS {}",
    "CREATE OR REFRESH STREAMING TABLE v (CONSTRAINT c CHECK (a > 1)) AS {}",
    "CREATE MATERIALIZED VIEW v AS {}", "REPLACE TABLE v AS {}", "CACHE LAZY TABLE v OPTIONS ('a' = 'b') AS {}",
    "INSERT INTO v {}", "INSERT INTO TABLE v (a, b) {}", "INSERT INTO v ({})", "INSERT INTO v BY NAME {}",
    "INSERT OVERWRITE v {}", "INSERT OVERWRITE TABLE v PARTITION (d = 'x') IF NOT EXISTS {}",
    "INSERT INTO v WITH ('sink.parallelism' = '2') {}", "INSERT INTO v REPLACE WHERE a > 3 {}",
]  # fmt: skip


@pytest.mark.parametrize("text", ENCLOSED)
@pytest.mark.parametrize("query", ["SELECT a FROM S WHERE a < 5", "WITH w AS (SELECT a FROM S) SELECT a FROM w"])
def test_the_query_inside_is_read_where_it_stands(text: str, query: str) -> None:
    sql = text.format(query)
    (statement,) = split_statements(SourceText("file.sql", sql))
    assert (statement.name, statement.tree is not None) == ("v", True)
    assert sql[statement.span.start : statement.span.end].strip("()") == query
    ((_, found),) = lowered(sql)
    ((_, plain),) = lowered(query)
    assert found.query is not None
    assert plain.query is not None
    assert render(found.query) == render(plain.query)
    wrong = text.format("SELECT\n  nope FROM S")
    ((_, found),) = lowered(wrong)
    assert [(d.code, wrong[d.span.start : d.span.end], d.span.line) for d in found.diagnostics] == [
        ("SB102", "nope", 2)
    ]


def test_a_repair_is_one_of_the_query_inside() -> None:
    catalog = catalog_from_mapping(STREAMS)
    sql = "-- before\nINSERT INTO t\n  SELECT DISTINCT a FROM S"
    (item,) = check_source(SourceText("q.sql", sql), catalog)
    assert item.verdict is Verdict.UNBOUNDED
    from streambound.criteria.repairs.repair import with_repairs

    fixes = with_repairs(item).diagnostics[0].fixes
    assert any(fix.sql == "SELECT DISTINCT a, S.ts DIV 10 AS bucket FROM S" for fix in fixes)
    assert all(edit.span.start > sql.index("SELECT") for fix in fixes for edit in fix.edits if edit.file == "q.sql")


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("INSERT INTO t SELECT a FROM S", ["t"]),
        ("INSERT INTO db.`my t` SELECT a FROM S", ["db.my_t"]),
        ("-- name: other\nINSERT INTO t SELECT a FROM S", ["other"]),
        ("INSERT INTO t\n-- name: other\nSELECT a FROM S", ["other"]),
        ("INSERT INTO t SELECT a FROM S; INSERT INTO t SELECT b FROM S", ["t:1", "t:2"]),
        ("INSERT INTO t SELECT a FROM S;\n-- name: b\nINSERT INTO t SELECT b FROM S", ["t", "b"]),
        ("SET x = 1; SELECT a FROM S; INSERT INTO t SELECT a FROM S", ["file:1", "file:2", "t"]),
        ("INSERT OVERWRITE DIRECTORY '/tmp/x' USING parquet SELECT a FROM S", ["file"]),
    ],
)
def test_the_target_names_the_query_unless_a_comment_does(sql: str, names: list[str]) -> None:
    source = SourceText("file.sql", sql)
    assert [statement.name for statement in split_statements(source)] == names
    for number, name in enumerate(names):
        assert [statement.name for statement in split_statements(source, [number])] == [name]


# --- views -----------------------------------------------------------------------------------------------------------

STREAMS: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"}},
        "T": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}},
    },
    "relations": {"R": {"columns": {"a": "bigint", "n": "bigint"}}},
}
ROWS = {
    "S": [{"a": i % 7, "b": i % 5 - 1, "ts": i // 2} for i in range(40)],
    "T": [{"a": i % 4, "ts": i} for i in range(25)],
    "R": [{"a": i, "n": i % 2} for i in range(5)],
}
VIEWS = (
    "CREATE VIEW v AS SELECT a, b FROM S WHERE b < 3; SELECT v.a, R.n FROM v JOIN R ON R.a = v.a",
    "CREATE VIEW v (x, y) AS SELECT a, b FROM S WHERE b > 0; INSERT INTO t SELECT y FROM V WHERE x = 2",
    "CREATE VIEW v AS SELECT a, b FROM S; CREATE VIEW w AS SELECT b FROM v WHERE a < 4; SELECT b FROM w WHERE b <> 1",
    "CREATE VIEW r2 AS SELECT a FROM R; WITH q AS (SELECT S.b FROM S, r2 WHERE S.a = r2.a) SELECT q.b FROM q, r2 "
    "WHERE r2.a < q.b",
    "CREATE VIEW v AS SELECT a FROM S; (SELECT v.a FROM v)",
    "CREATE VIEW v AS SELECT S.a, S.ts FROM S WHERE S.a > 1 AND S.a < 5; SELECT v.a FROM v, T WHERE v.ts < T.ts",
)


@pytest.mark.parametrize("sql", VIEWS)
def test_a_view_means_what_it_means_in_duckdb(sql: str) -> None:
    catalog = catalog_from_mapping(STREAMS)
    item = check_source(SourceText("q.sql", sql), catalog)[-1]
    assert item.decision is not None, item.diagnostics
    oracle = Oracle(STREAMS, ROWS)
    *views, last = sql.split("; ")
    for view in views:
        oracle._database.execute(view.replace("CREATE VIEW", "CREATE TEMP VIEW"))
    wanted = oracle.prefix_expected(last.removeprefix("INSERT INTO t "))
    assert sum(map(len, wanted.values())) > 0
    assert run_kernel(item.decision, STREAMS, ROWS).printed == wanted
    assert oracle.prefix_expected(item.statement.sql) == wanted


def test_a_view_that_is_created_again_is_the_old_one_for_what_came_before() -> None:
    views = "CREATE VIEW v AS SELECT a FROM S; CREATE VIEW w AS SELECT a FROM v; CREATE OR REPLACE VIEW v AS"
    (*_, (_, found)) = lowered(f"{views} SELECT a FROM T; SELECT w.a FROM w UNION ALL SELECT a FROM v")
    assert found.query is not None
    assert " ".join(render(found.query).split()) == "SELECT S.a FROM S UNION ALL SELECT T.a FROM T"


def test_what_is_wrong_with_a_view_is_said_where_it_stands() -> None:
    sql = (
        "CREATE VIEW v AS SELECT a FROM S WHERE a IS NULL;\nSELECT DISTINCT v.a, nope FROM v;\nSELECT DISTINCT a FROM v"
    )
    (_, first, second) = check_source(SourceText("q.sql", sql), catalog_from_mapping(STREAMS))
    assert [(d.code, sql[d.span.start : d.span.end]) for d in first.diagnostics] == [("SB102", "nope")]
    assert second.verdict is Verdict.BOUNDED
    sql = "CREATE VIEW v AS\nSELECT KURTOSIS(a) AS a FROM S;\nSELECT a FROM v LIMIT 3;\nSELECT a FROM v"
    (_, limited, plain) = check_source(SourceText("q.sql", sql), catalog_from_mapping(STREAMS))
    for one in (limited, plain):
        assert [(d.message, d.span.line) for d in one.diagnostics] == [
            ("the aggregate KURTOSIS is outside the query language", 2)
        ]
    sql = "CREATE VIEW v AS\nSELECT a FROM S;\nSELECT a FROM v LIMIT 3"
    (_, limited) = check_source(SourceText("q.sql", sql), catalog_from_mapping(STREAMS))
    message = "LIMIT alone is outside the query language"
    assert [(d.message, d.span.line) for d in limited.diagnostics] == [(message, 3)]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CREATE VIEW v AS SELECT a FROM S WHERE; SELECT a FROM v", "the view v of line 1 is not understood"),
        (
            "CREATE VIEW v AS SELECT a FROM S; WITH v AS (SELECT a FROM T) SELECT a FROM v",
            "v is a view of line 1 and the name of a WITH",
        ),
    ],
)
def test_a_view_that_cannot_be_read_is_refused_at_its_name(sql: str, message: str) -> None:
    item = check_source(SourceText("q.sql", sql), catalog_from_mapping(STREAMS))[-1]
    assert item.verdict is Verdict.UNSUPPORTED
    assert [(d.message, d.span.start) for d in item.diagnostics] == [(message, len(sql) - 1)]


KEPT_UP_TO_DATE = ["MATERIALIZED VIEW", "OR REFRESH STREAMING TABLE", "LIVE TABLE", "OR REFRESH LIVE VIEW"]


def test_a_table_is_not_read_by_what_follows() -> None:
    sql = "CREATE TABLE v AS SELECT a FROM S; SELECT a FROM v"
    item = check_source(SourceText("q.sql", sql), catalog_from_mapping(STREAMS))[-1]
    assert [d.code for d in item.diagnostics] == ["SB101"]


@pytest.mark.parametrize("created", KEPT_UP_TO_DATE)
@pytest.mark.parametrize("read", ["v", "STREAM(v)", "STREAM(LIVE.v)", "LIVE.v", "STREAM v"])
def test_results_that_are_kept_up_to_date_are_read_as_a_view(created: str, read: str) -> None:
    sql = f"CREATE {created} v AS SELECT a, ts FROM S WHERE a = 3; SELECT COUNT(*) AS n FROM {read} GROUP BY a"
    found = check_source(SourceText("q.sql", sql), catalog_from_mapping(STREAMS))
    assert [item.verdict for item in found] == [Verdict.BOUNDED] * 2


@pytest.mark.parametrize("created", KEPT_UP_TO_DATE)
def test_results_that_the_catalog_declares_are_read_as_it_says(created: str) -> None:
    """They are of a stream: a column that the query inside does not return is known."""
    declared = {"timestamp": "at", "columns": {"b": "bigint", "at": "bigint"}}
    catalog = catalog_from_mapping({"streams": {**STREAMS["streams"], "v": declared}})
    sql = f"CREATE {created} V AS SELECT a FROM S; SELECT b FROM v"
    assert [item.verdict for item in check_source(SourceText("q.sql", sql), catalog)] == [Verdict.BOUNDED] * 2
