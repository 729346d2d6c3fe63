"""The Python API says what the command line says, and its page is executed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from datetime import UTC, date, datetime
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import streambound
from streambound import Report, StreamboundError
from streambound.analyzer.errors import UsageError
from streambound.reports.formats import FORMAT_NAMES
from support.command_line import BOUNDED, CATALOG, FIGURE2, ROOT, UNBOUNDED, call

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
STATEMENTS = f"-- name: good\n{BOUNDED};\n{UNBOUNDED};\nSELECT nope FROM S;\nSELECT a FROM S TABLESAMPLE (10 PERCENT)"


BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


def test_the_page_is_executed_on_spark(spark: Any) -> None:
    names: dict[str, object] = {"spark": spark}
    assert sum("spark." in block for block in BLOCKS) == 1
    for block in BLOCKS:
        exec(compile(block, "docs/api.md", "exec"), names)


@pytest.mark.parametrize("placement", ["driver", "buckets"])
def test_a_job_runs_over_paths_and_dataframes(spark: Any, tmp_path: Path, placement: str) -> None:
    """Finite ones, paths and streaming ones give the same; an input that is none, or not all there, is refused."""
    columns = {"k": "bigint", "day": "date", "ts": "bigint"}
    catalog = {
        "streams": {name: {"timestamp": "ts", "columns": columns} for name in "ST"},
        "relations": {"R": {"columns": {"k": "bigint", "name": "string"}}},
    }
    sql = "SELECT S.day, R.name FROM S, T, R WHERE S.k = T.k AND S.k = R.k AND S.ts <= T.ts AND T.ts <= S.ts + 2"
    job = streambound.compile(sql, catalog, placement=placement)
    rows = {"S": "(1L, '2024-01-01', 3L), (2L, NULL, 1L), (1L, 'x', 2L)", "T": "(1L, NULL, 4L), (2L, NULL, 9L)"}
    frames = {name: spark.sql(f"SELECT * FROM VALUES {values} AS t(k, day, ts)") for name, values in rows.items()}
    frames["R"] = spark.sql("SELECT 1L AS k, 'one' AS name")
    for name, frame in frames.items():
        frame.coalesce(1).write.option("ignoreNullFields", False).json(str(tmp_path / name))
    found = job.run(spark, frames)
    assert found.rows() == [{"day": "2024-01-01", "name": "one", "_ts": 4, "_mult": 1}]
    assert [row["reason"] for row in found.quarantined] == ["wrong-type"]
    assert found.query is None and isinstance(found.peak_entries, int)
    assert found.to_arrow().column("day").to_pylist() == [date(2024, 1, 1)]
    paths = job.run(spark, {name: tmp_path / name for name in frames})
    assert (paths.rows(), len(paths.quarantined)) == (found.rows(), 1)
    flowing = {n: spark.readStream.schema(frames[n].schema).json(str(tmp_path / n)) for n in "ST"}
    running = job.run(spark, {**flowing, "R": frames["R"]})
    assert running.query is not None
    try:
        running.query.processAllAvailable()
        assert running.rows() == []  # nothing says that timestamp 4 is over
        assert running.query.isActive
    finally:
        running.query.stop()
    with pytest.raises(StreamboundError, match="S is a finite DataFrame, and T is none"):
        job.run(spark, {"S": frames["S"]})
    with pytest.raises(StreamboundError, match="the query reads no U"):
        job.run(spark, {**frames, "U": frames["S"]})


def test_a_block_over_relations_runs_without_spark(tmp_path: Path) -> None:
    columns = {"name": "string", "b": "bigint", "e": "bigint"}
    catalog = {"relations": {"works": {"columns": columns, "period": ["b", "e"]}}}
    rows = [("Ann", 1, 5), ("Ann", 5, 7), ("Joe", 3, 3)]
    text = "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
    (tmp_path / "works.jsonl").write_text(text, encoding="utf-8")
    run = streambound.compile("SEQ VT (SELECT name FROM works)", catalog).run(inputs=tmp_path)
    assert run.rows() == [{"name": "Ann", "_begin": 1, "_end": 7, "_mult": 1}]
    assert [(bad["line"], bad["reason"]) for bad in run.quarantined] == [(3, "empty-period")]
    around = streambound.compile("SELECT v.name FROM SEQ VT (SELECT name FROM works) AS v", catalog)
    with pytest.raises(UsageError, match="Spark runs the SQL around its SEQ blocks"):
        around.run(inputs=tmp_path)


def test_what_is_not_bounded_has_no_job() -> None:
    with pytest.raises(StreamboundError, match="its verdict is unbounded"):
        streambound.compile(UNBOUNDED, CATALOG)


def test_the_page_is_executed() -> None:
    names: dict[str, object] = {}
    assert len(BLOCKS) > 4
    for block in BLOCKS:
        if "spark." not in block:
            exec(compile(block, "docs/api.md", "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert tests
    for test in tests:
        test()  # type: ignore[operator]


def test_the_page_names_everything_that_is_offered() -> None:
    classes = {"Bound", "Catalog", "__version__"}
    assert {name for name in streambound.__all__ if name not in PAGE} <= classes
    assert set(dir(streambound)) == set(streambound.__all__)
    for name in streambound.__all__:
        assert getattr(streambound, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = streambound.nothing


def test_importing_imports_nothing_else() -> None:
    program = (
        "import sys, streambound\n"
        "ours = {name for name in sys.modules if name.startswith('streambound.')}\n"
        "assert not ours, ours\n"
        "catalog = {'streams': {'S': {'timestamp': 't', 'columns': {'t': 'bigint'}}}}\n"
        "streambound.check('SELECT 1 AS x FROM S', catalog)\n"
        "heavy = {'pyspark', 'py4j', 'sympy', 'networkx', 'numpy', 'pandas', 'pyarrow', 'rich', 'click', 'duckdb'}\n"
        "assert not heavy & {name.split('.')[0] for name in sys.modules}\n"
        "circuits = [name for name in sys.modules if name.startswith('streambound.incremental')]\n"
        "assert not circuits, circuits\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_json_is_that_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("streams.toml").write_text(CATALOG, encoding="utf-8")
    Path("q.sql").write_text(STATEMENTS, encoding="utf-8")
    theirs = call("check", "q.sql", "--format", "json", "--repairs", "--no-cache").stdout
    ours = streambound.check(STATEMENTS, "streams.toml").to_json()
    assert json.loads(ours.replace('"<sql>"', '"q.sql"').replace("<sql>", "q")) == json.loads(theirs)


@pytest.mark.parametrize("form", FORMAT_NAMES)
def test_every_format_is_rendered(form: str) -> None:
    assert streambound.check(UNBOUNDED, CATALOG).render(form)


def test_what_there_is_not_is_said() -> None:
    report = streambound.check(BOUNDED, CATALOG)
    for wrong in (
        lambda: report.render("yaml"),
        lambda: streambound.check(BOUNDED, CATALOG, criteria="mine"),
        lambda: streambound.explain("SB999"),
        lambda: streambound.explain(BOUNDED, CATALOG, stages=["nope"]),
        lambda: streambound.explain(STATEMENTS, CATALOG),
        lambda: streambound.explain(STATEMENTS, CATALOG, name="nope"),
        lambda: streambound.load_catalog("no such file"),
        lambda: streambound.load_catalog("streams = 1"),
    ):
        with pytest.raises(StreamboundError) as caught:
            wrong()
        assert caught.value.message


def test_a_report_is_a_sequence() -> None:
    report = streambound.check(STATEMENTS, CATALOG)
    assert isinstance(report, Report)
    assert [result.verdict for result in report] == ["bounded", "unbounded", "error", "unsupported"]
    assert [result.passes for result in report[:2]] == [True, False]
    assert (report[0].name, report[0].repairs) == ("good", ())
    assert report[1].repairs and report[1].bound is None and report[0].certificate is not None
    assert repr(report).startswith("<streambound.Report: 4 queries checked")
    assert [report[result.name] for result in report] == [*report]
    assert all("\n" not in repr(result) and result.verdict in repr(result) for result in report)
    with pytest.raises(KeyError, match="no statement is called 'none'"):
        report["none"]
    assert not streambound.check(UNBOUNDED, CATALOG, repairs=False)[0].repairs


def test_an_accepted_finding_passes() -> None:
    accepted = f'-- streambound: allow SB201 until=2099-12-31 reason="known"\n{UNBOUNDED}'
    assert streambound.check(accepted, CATALOG).passes
    by_catalog = CATALOG + '\n[[check.allow]]\nfiles = ["*"]\n'
    with pytest.raises(StreamboundError):
        streambound.load_catalog(by_catalog)


def test_the_papers_criteria() -> None:
    sql = "SELECT Z.a FROM S X, S Y, T Z WHERE X.ts > Y.ts AND Y.ts > Z.ts AND Z.a BETWEEN 1 AND 3"
    assert streambound.check(sql, CATALOG)[0].verdict != streambound.check(sql, CATALOG, criteria="paper")[0].verdict


def test_a_notebook_shows_the_page_in_a_frame() -> None:
    shown = streambound.check(UNBOUNDED, CATALOG)._repr_html_()
    page = re.search(r'srcdoc="([^"]*)"', shown)
    assert page is not None and unescape(page[1]).startswith("<!doctype html>")


def test_catalogs_from_a_file_a_text_and_a_dictionary_are_alike() -> None:
    sql = (FIGURE2 / "figure2.sql").read_text(encoding="utf-8")
    file = FIGURE2 / "streams.toml"
    text = file.read_text(encoding="utf-8")
    kinds = (file, str(file), text, tomllib.loads(text), streambound.load_catalog(file))
    assert {streambound.check(sql, kind)[0].bound.entries for kind in kinds} == {5}  # type: ignore[union-attr]


def test_explain_gives_queries_as_sql() -> None:
    catalog = {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}}}}
    query = "SELECT a FROM S WHERE a > 1 OR a < 0"
    assert streambound.explain(query, catalog, stages=["normal-form"], sql=True) == (
        "SELECT S.a FROM S WHERE S.a > 1 OR S.a < 0"
    )
    assert not streambound.explain(query, catalog, stages=["normal-form"]).startswith("SELECT")
    with pytest.raises(UsageError, match="stages that are queries"):
        streambound.explain(query, catalog, sql=True)


def test_a_job_runs_without_a_session(tmp_path: Path) -> None:
    columns = {"k": "bigint", "d": "decimal(5,2)", "b": "string", "at": "timestamp"}
    catalog = {"streams": {"S": {"timestamp": "at", "columns": columns}}}
    rows = ['{"k": 1, "d": 1.5, "b": "é", "at": "2026-01-31T12:00:00Z"}', '{"k": 2}']
    (tmp_path / "S.jsonl").write_text("\n".join(rows), encoding="utf-8")
    run = streambound.compile("SELECT k, d, b FROM S", catalog).run(inputs=tmp_path)
    assert run.rows() == [{"k": 1, "d": 1.5, "b": "é", "_ts": "2026-01-31T12:00:00Z", "_mult": 1}]
    assert [row["reason"] for row in run.quarantined] == ["missing-column"]
    (found,) = run.to_arrow().to_pylist()
    moment = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert found == {"k": 1, "d": Decimal("1.50"), "b": "é", "_ts": moment, "_mult": 1}
    assert run.query is None
    with pytest.raises(UsageError, match="cannot run without Spark: S is read from csv"):
        catalog["streams"]["S"]["source"] = {"format": "csv", "path": str(tmp_path)}
        streambound.compile("SELECT k FROM S", catalog).run()
