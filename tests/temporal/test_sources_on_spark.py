"""Relations of SEQ statements from sources of every kind that has files: what Spark has to read is judged, too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.jobs import compiled_of

ROWS = [("Ann", 1, 4), ("Bob", 2, 3), ("Bad", 5, 5), (None, 3, 9)]
TYPES = "name STRING, vb BIGINT, ve BIGINT"
Write = Callable[[Any, str], None]
FORMS: dict[str, tuple[dict[str, Any], Write]] = {
    "csv": ({"format": "csv"}, lambda rows, path: rows.write.csv(path)),
    "csv with a header": (
        {"format": "csv", "options": {"header": True}},
        lambda rows, path: rows.write.option("header", True).csv(path),
    ),
    "parquet": ({"format": "parquet"}, lambda rows, path: rows.write.parquet(path)),
    "orc": ({"format": "orc"}, lambda rows, path: rows.write.orc(path)),
    "json": ({"format": "json"}, lambda rows, path: rows.write.option("ignoreNullFields", False).json(path)),
    "json, compressed": (
        {"format": "json"},
        lambda rows, path: rows.write.options(compression="bzip2", ignoreNullFields=False).json(path),
    ),
}


@pytest.mark.parametrize(("source", "write"), FORMS.values(), ids=list(FORMS))
def test_good_rows_are_read_and_bad_ones_told(source: dict[str, Any], write: Write, spark: Any, tmp_path: Path) -> None:
    from streambound_runtime.periods.main import run, settings_of

    write(spark.createDataFrame(ROWS, TYPES).repartition(2), str(tmp_path / "w"))
    columns = {"name": "string", "vb": "bigint", "ve": "bigint"}
    relation = {"columns": columns, "period": ["vb", "ve"], "source": {**source, "path": str(tmp_path / "w")}}
    catalog = catalog_from_mapping({"relations": {"w": relation}})
    (checked,) = check_source(SourceText("q.sql", "SEQ VT (SELECT name, COUNT(*) AS n FROM w GROUP BY name)"), catalog)
    job, files = compiled_of(catalog, checked).job, (tmp_path / "out.jsonl", tmp_path / "bad.jsonl")
    summary = run(spark, job, settings_of(job, ["--output", str(files[0]), "--quarantine", str(files[1])]))
    rows, bad = ([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files)
    assert [tuple(row.values()) for row in rows] == [("Ann", 1, 1, 4, 1), ("Bob", 1, 2, 3, 1), (None, 1, 3, 9, 1)]
    assert summary["results"] == 3
    assert [(one["reason"], json.loads(one["row"])["name"]) for one in bad] == [("empty-period", "Bad")]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "w has no source in the catalog; run the job with --input DIR"),
        ({"format": "csv", "path": "nowhere"}, "w cannot be read: there is no nowhere, its source in the catalog"),
    ],
)
def test_a_relation_that_is_nowhere(source: dict[str, Any] | None, message: str, spark: Any) -> None:
    from streambound_runtime.errors import JobError
    from streambound_runtime.periods.main import run, settings_of

    columns = {"name": "string", "vb": "bigint", "ve": "bigint"}
    relation = {"columns": columns, "period": ["vb", "ve"], **({} if source is None else {"source": source})}
    catalog = catalog_from_mapping({"relations": {"w": relation}})
    (checked,) = check_source(SourceText("q.sql", "SEQ VT (SELECT name FROM w)"), catalog)
    job = compiled_of(catalog, checked).job
    with pytest.raises(JobError, match=message):
        run(spark, job, settings_of(job, []))


def test_a_run_that_fails_leaves_an_earlier_result(spark: Any, tmp_path: Path) -> None:
    from streambound_runtime.errors import JobError
    from streambound_runtime.periods.main import run, settings_of

    (tmp_path / "w.jsonl").write_text('{"name": "Ann", "vb": 1, "ve": 4}\n')
    relation = {"columns": {"name": "string", "vb": "bigint", "ve": "bigint"}, "period": ["vb", "ve"]}
    catalog = catalog_from_mapping({"relations": {"w": relation}})
    sql = "SELECT name, 1 / (_begin - 1) AS x FROM SEQ VT (SELECT name FROM w) AS v"
    (checked,) = check_source(SourceText("q.sql", sql), catalog)
    job, file = compiled_of(catalog, checked).job, tmp_path / "out.jsonl"
    file.write_text("earlier\n")
    with pytest.raises(JobError, match="Division by zero"):
        run(spark, job, settings_of(job, ["--input", str(tmp_path), "--output", str(file)]))
    assert file.read_text() == "earlier\n"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out.jsonl", "w.jsonl"]
