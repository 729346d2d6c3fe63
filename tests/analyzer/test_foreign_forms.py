"""Forms of Spark's and Flink's SQL: what is refused at its operator can be accepted (`test_findings.py` has them)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streambound.analyzer.render import render
from support.cases import lowered
from support.command_line import CATALOG, call, write
from support.product import decided


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM S MATCH_RECOGNIZE (PARTITION BY a ORDER BY ts MEASURES A.b AS x ONE ROW PER MATCH AFTER MATCH "
        "SKIP PAST LAST ROW PATTERN (A B+) WITHIN INTERVAL '1' HOUR DEFINE B AS B.b > A.b) AS m",
        "SELECT S.a FROM S, LATERAL TABLE(f(S.a)) AS t(x)",
        "SELECT a FROM S WATERMARK ts DELAY OF INTERVAL 10 SECONDS AS w WHERE a > 3",
        "MERGE INTO t USING S ON t.a = S.a WHEN MATCHED THEN UPDATE SET *",
    ],
)
def test_a_form_can_be_accepted_by_a_comment_and_by_a_baseline(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, CATALOG, "streams.toml")
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
