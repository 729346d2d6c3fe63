"""Forms of Spark's and Flink's SQL: none is a syntax error, each is refused at its operator, and can be accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streambound.analyzer.render import render
from support.cases import lowered
from support.command_line import CATALOG, call, write
from support.product import decided

FORMS = (
    ("SELECT window, COUNT(*) FROM S GROUP BY window(ts, '10 seconds')", "GROUP BY"),
    ("SELECT window.start AS s FROM S GROUP BY window(ts, '10 seconds', '5 seconds'), a", "GROUP BY"),
    ("SELECT COUNT(*) FROM S GROUP BY session_window(ts, '10 seconds')", "GROUP BY"),
    (
        "SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts DESC) AS rn FROM S) WHERE rn = 1",
        "ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts DESC)",
    ),
    (
        "WITH r AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts) AS rn FROM S) SELECT r.a FROM r "
        "WHERE r.rn <= 3",
        "ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts)",
    ),
    (
        "SELECT SUM(a) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) "
        "FROM S",
        "SUM(a) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)",
    ),
    (
        "SELECT * FROM TABLE(TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '10' SECOND))",
        "TABLE(TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '10' SECOND))",
    ),
    (
        "SELECT * FROM HOP(TABLE S, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '10' SECOND) AS h",
        "HOP(TABLE S, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '10' SECOND) AS h",
    ),
    (
        "SELECT * FROM TABLE(CUMULATE(DATA => TABLE S, TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '1' SECOND, "
        "SIZE => INTERVAL '10' SECOND))",
        "TABLE(CUMULATE(DATA => TABLE S, TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '1' SECOND, "
        "SIZE => INTERVAL '10' SECOND))",
    ),
    (
        "SELECT * FROM TABLE(SESSION(TABLE S, DESCRIPTOR(ts), INTERVAL '1' SECOND))",
        "TABLE(SESSION(TABLE S, DESCRIPTOR(ts), INTERVAL '1' SECOND))",
    ),
    (
        "SELECT * FROM TABLE(SESSION(TABLE S PARTITION BY a, DESCRIPTOR(ts), INTERVAL '1' SECOND))",
        "TABLE(SESSION(TABLE S PARTITION BY a, DESCRIPTOR(ts), INTERVAL '1' SECOND))",
    ),
    ("SELECT S.a FROM S JOIN T FOR SYSTEM_TIME AS OF S.ts AS t2 ON t2.a = S.a", "S.ts"),
    (
        "SELECT * FROM S MATCH_RECOGNIZE (PARTITION BY a ORDER BY ts MEASURES A.b AS x ONE ROW PER MATCH AFTER MATCH "
        "SKIP PAST LAST ROW PATTERN (A B+) WITHIN INTERVAL '1' HOUR DEFINE B AS B.b > A.b) AS m",
        "MATCH_RECOGNIZE",
    ),
    ("SELECT S.a FROM S, LATERAL TABLE(f(S.a)) AS t(x)", "LATERAL TABLE(f(S.a)) AS t(x)"),
    ("SELECT a, COUNT(*) FROM S GROUP BY a EMIT CHANGES", "EMIT"),
    ("SELECT q.a FROM (SELECT a FROM S EMIT FINAL) AS q", "EMIT"),
    ("SELECT a FROM S WATERMARK ts DELAY OF INTERVAL 10 SECONDS AS w WHERE a > 3", "WATERMARK"),
    ("SELECT a FROM S WHERE a IN (TABLE T)", "TABLE"),
    ("TABLE S", "TABLE"),
    ("MERGE INTO t USING S ON t.a = S.a WHEN MATCHED THEN UPDATE SET *", "MERGE"),
    ("EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT a FROM S", "EXECUTE"),
    ("WITH w AS (SELECT a FROM S) INSERT INTO t SELECT a FROM w", "INSERT"),
    ("FROM S INSERT INTO t SELECT a", "INSERT"),
)


@pytest.mark.parametrize(("sql", "blamed"), FORMS, ids=[sql[:60] for sql, _ in FORMS])
def test_what_is_decided_later_is_refused_at_its_operator(sql: str, blamed: str) -> None:
    ((_, result),) = lowered(sql)
    assert result.query is None
    (found,) = result.diagnostics
    assert (found.code, sql[found.span.start : found.span.end]) == ("SB110", blamed)
    assert found.message.endswith("outside the query language")


@pytest.mark.parametrize(
    ("sql", "blamed"),
    [
        ("SELECT a FROM S WHER a > 3 EMIT CHANGES", "a"),
        ("SELECT a FROM S WHERE EMIT CHANGES", "CHANGES"),
        ("SELECT * FROM S MATCH_RECOGNIZE (PARTITION BY a) WHERE", "a"),
        ("SELECT a FROM S WATERMARK ts", "ts"),
        ("SELECT a FROM S GROUP BY window(ts, '10 seconds'", "'10 seconds'"),
    ],
)
def test_a_form_hides_no_syntax_error(sql: str, blamed: str) -> None:
    ((_, result),) = lowered(sql)
    (found,) = result.diagnostics
    assert (found.code, sql[found.span.start : found.span.end]) == ("SB001", blamed)


@pytest.mark.parametrize("sql", ["SELECT a AS emit FROM S", "SELECT watermark.a FROM S AS watermark",
                                 "SELECT window.a FROM S AS window", "SELECT a session FROM S"])  # fmt: skip
def test_the_words_of_forms_are_names_elsewhere(sql: str) -> None:
    ((_, result),) = lowered(sql)
    assert result.query is not None, result.diagnostics


@pytest.mark.parametrize("number", [12, 13, 16, 19])
def test_a_form_can_be_accepted_by_a_comment_and_by_a_baseline(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, CATALOG, "streams.toml")
    sql = FORMS[number][0]
    file = write(tmp_path, sql)
    assert call("check", file).exit_code == 1
    assert call("baseline", "create", file).exit_code == 0
    assert call("check", file, "--baseline", "streambound-baseline.json").exit_code == 0
    write(tmp_path, f'-- streambound: allow SB110 reason="decided later"\n{sql}')
    result = call("check", file, "--format", "json")
    assert result.exit_code == 0
    (query,) = json.loads(result.stdout)["queries"]
    assert (query["verdict"], query["suppressed"]) == ("unsupported", True)


STREAM_FORMS = {
    "in capitals": ("SELECT a FROM STREAM S", "SELECT S.a FROM S"),
    "with an alias": ("SELECT x.a FROM STREAM S AS x JOIN STREAM T y ON x.ts = y.ts",
        "SELECT x.a FROM S AS x JOIN T AS y ON x.ts = y.ts"),
    "in small letters": ("select x.a from stream S as x", "SELECT x.a FROM S AS x"),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAM_FORMS)
def test_the_word_before_a_stream_is_read(name: str) -> None:
    """Databricks writes ``FROM STREAM t``."""
    one, other = (lowered(sql)[0][1].query for sql in STREAM_FORMS[name])
    assert one is not None and other is not None
    assert render(one) == render(other)


@pytest.mark.parametrize("sql", ["SELECT s.a FROM stream s", "SELECT a FROM STREAM", "SELECT s.a FROM `STREAM` s"])
def test_a_table_may_be_called_stream(sql: str) -> None:
    catalog = {"streams": {"stream": {"timestamp": "ts", "columns": {"a": "int", "ts": "bigint"}}}}
    assert decided(sql, catalog).query.branches[0].sources[0].table == "stream"
