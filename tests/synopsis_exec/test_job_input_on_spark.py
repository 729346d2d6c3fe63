"""What generated jobs read on Spark: formats, rows that are quarantined, sources and files that are refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from synopsis_exec.test_codegen import figure2_job

from streambound.synopsis_exec.simulate import load_kernel
from support.jobs import batches, kernel, read, run, write

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_bad_rows_are_quarantined_with_their_reason(spark: Any, tmp_path: Path) -> None:
    bad = {
        "not json": "not a JSON object",
        '{"A": 1, "I": 9} {"A": 2, "I": 9}': "not a JSON object",
        '{"A": 1, "I": 9': "not a JSON object",
        "[1]": "not a JSON object",
        '{"I": 9}': "A is missing",
        '{"A": "x", "I": 9}': "A is not a bigint",
        '{"A": 99999999999999999999, "I": 9}': "A is not a bigint",
        '{"A": 1}': "I is missing",
        '{"A": 1, "I": null}': "I, the timestamp, is NULL",
        '{"A": 1, "I": -1}': "I is before 0, where time starts",
    }
    write(tmp_path / "in" / "S.jsonl", *bad, {"A": 42, "I": 5}, "", {"A": None, "I": 5}, {"A": 3, "I": 5, "more": []})
    write(tmp_path / "in" / "T.jsonl", {"B": 2, "J": 2})
    write(tmp_path / "in" / "U.jsonl", {"C": 0, "K": 1})
    summary = run(spark, load_kernel(figure2_job()), tmp_path)
    assert {(row["row"], row["detail"]) for row in read(tmp_path / "quarantine")} == set(bad.items())
    assert all(row["stream"] == "S" for row in read(tmp_path / "quarantine"))
    assert sum(summary["quarantined"].values()) == len(bad)
    assert summary["quarantined"]["not a JSON object"] == 4
    assert summary["rows"]["S"] == len(bad) + 3
    assert [(row["A"], row["_mult"]) for row in read(tmp_path / "output")] == [(3, 1), (42, 1)]


def test_rows_that_are_not_text_are_quarantined(spark: Any, tmp_path: Path) -> None:
    good, long = b'{"A": 42, "I": 5}', b'{"A": 42, "I": 5, "more": "' + b"y" * 5_000_000 + b'"}'
    bad = {
        b'{"A": 1, "I": 9, "m": "a\xff"}': "not UTF-8",
        b'{"A": 1, "I": 9, "m": "\0"}': "not a JSON object",
        b"\0\1\2": "not a JSON object",
    }
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "S.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([good, *bad, long]))
    write(tmp_path / "in" / "T.jsonl", {"B": 2, "J": 2})
    write(tmp_path / "in" / "U.jsonl", {"C": 0, "K": 1})
    summary = run(spark, load_kernel(figure2_job()), tmp_path)
    texts = {text.decode("utf-8", "replace"): reason for text, reason in bad.items()}
    assert {row["row"]: row["detail"] for row in read(tmp_path / "quarantine")} == texts
    assert summary["quarantined"] == {"not UTF-8": 1, "not a JSON object": 2}
    assert [(row["A"], row["_mult"]) for row in read(tmp_path / "output")] == [(42, 2)]


def test_files_whose_times_do_not_follow_their_names_are_one_batch(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batches(tmp_path / "in")
    for file in (tmp_path / "in").glob("*/*.jsonl"):
        os.utime(file, (1_600_000_000, 1_600_000_000))
    events: list[dict[str, Any]] = []
    run(spark, load_kernel(figure2_job()), tmp_path, report=events.append)
    assert len(events) == 2
    assert "read as one batch" in capsys.readouterr().err
    assert (42, 1, 5, 2) in [tuple(row.values()) for row in read(tmp_path / "output")]


def test_other_sources_of_the_catalog(spark: Any, tmp_path: Path) -> None:
    declared = {
        "streams": {
            "S": {
                "timestamp": "ts",
                "columns": {"unused": "string", "a": "bigint", "ts": "bigint"},
                "domain": {"a": [0, 9]},
                "source": {"format": "csv", "path": "S", "options": {"header": True}},
            }
        },
        "relations": {
            "R": {"columns": {"a": "bigint", "b": "date"}, "source": {"format": "parquet", "path": "R.parquet"}}
        },
    }
    (tmp_path / "S").mkdir()
    (tmp_path / "S" / "1.csv").write_text("unused,a,ts\nx,1,0\ny,2,0\nz,zz,1\nw,10,1\nv,1,\n")
    frame = spark.sql("SELECT * FROM VALUES (1L, DATE '2024-01-02'), (1L, NULL) AS t(a, b)")
    frame.coalesce(1).write.parquet(str(tmp_path / "R.parquet"))
    job = kernel("SELECT S.a, R.b FROM S, R WHERE S.a = R.a", declared)
    options = ["--base", str(tmp_path), "--output", str(tmp_path / "out"), "--checkpoint", str(tmp_path / "check")]
    summary = job.run(spark, job.arguments(options), lambda event: None)
    assert read(tmp_path / "out") == [
        {"a": 1, "b": None, "_ts": 0, "_mult": 1},
        {"a": 1, "b": "2024-01-02", "_ts": 0, "_mult": 1},
    ]
    assert summary["quarantined"] == {
        "a is outside its domain": 1,
        "not a row of the declared columns": 1,
        "ts, the timestamp, is NULL": 1,
    }


def test_the_whole_contract_is_checked_in_other_formats_too(spark: Any, tmp_path: Path) -> None:
    """Columns that the query does not use count; a binary text in Parquet is no reason to stop."""
    columns = {"unused": "string", "more": "array<int>", "a": "bigint", "ts": "bigint"}
    stream = {"timestamp": "ts", "columns": columns, "domain": {"unused": ["x", "y"]}}
    source = {"format": "parquet", "path": "S"}
    declared = {"streams": {"S": {**stream, "source": source}}}
    rows = "('x', array(1), 1L, 0L), ('z', NULL, 2L, 1L), (CAST(X'ff' AS STRING), NULL, 3L, 2L), (NULL, NULL, 4L, 3L)"
    spark.sql(f"SELECT * FROM VALUES {rows} AS t(unused, more, a, ts)").write.parquet(str(tmp_path / "S"))
    job = kernel("SELECT S.a FROM S", declared)
    where = {name: str(tmp_path / name) for name in ("output", "quarantine", "checkpoint")}
    options = ["--base", str(tmp_path), *(part for name, value in where.items() for part in (f"--{name}", value))]
    summary = job.run(spark, job.arguments(options), lambda event: None)
    assert summary["quarantined"] == {"unused is not UTF-8": 1, "unused is outside its domain": 1}
    assert [row["a"] for row in read(tmp_path / "output")] == [1, 4]
    assert json.loads(read(tmp_path / "quarantine")[1]["row"])["unused"] == "\ufffd"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"format": "csv", "path": "R.csv"}, "there is no {base}/R.csv, its source in the catalog"),
        ({"format": "json", "path": "none/*.json"}, "there is no {base}/none/*.json, its source in the catalog"),
        ({"format": "parquet", "path": "file:/nowhere"}, "Path does not exist: file:/nowhere."),
        ({"format": "nosuch", "path": ""}, "Failed to find the data source: nosuch."),
        ({"format": "csv", "path": ""}, "its source in the catalog has no path"),
    ],
)
@pytest.mark.parametrize("kind", ["streams", "relations"])
def test_a_source_that_cannot_be_read_is_one_message(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], source: dict[str, Any], message: str, kind: str
) -> None:
    here = {"format": "csv", "path": "S"}
    (tmp_path / "S").mkdir()
    declared = {
        "streams": {"S": {"timestamp": "ts", "columns": {"ts": "bigint"}, "source": here}},
        "relations": {"R": {"columns": {"a": "bigint"}, "source": here}},
    }
    declared[kind]["S" if kind == "streams" else "R"]["source"] = source
    job = kernel("SELECT 1 AS one FROM S, R", declared)
    job.session = lambda: spark
    status = job.main(["--base", str(tmp_path), "--output", str(tmp_path / "out")])
    name = "S" if kind == "streams" else "R"
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert status == 3
    assert len(errors) == 1
    assert errors[0].startswith(f"error: {name} cannot be read: {message.format(base=tmp_path)}")
    assert "SQLSTATE" not in errors[0]


@pytest.mark.parametrize("name", ["[1]", "a{b,c}", "what?", "*"])
def test_directories_that_spark_would_take_for_patterns_are_refused(spark: Any, tmp_path: Path, name: str) -> None:
    """Spark 4.3 reads every row twice there, or none."""
    for stream in ("S", "T/1", "T/2", "U"):
        write(tmp_path / name / "in" / f"{stream}.jsonl")
    job = load_kernel(figure2_job())
    with pytest.raises(job.JobError, match="for a pattern; rename it"):
        run(spark, job, tmp_path / name)


def test_a_file_that_spark_would_ignore_is_refused(spark: Any, tmp_path: Path) -> None:
    for name in ("S", "T/_1", "U"):
        write(tmp_path / "in" / f"{name}.jsonl")
    job = load_kernel(figure2_job())
    with pytest.raises(job.JobError, match=r"Spark ignores .*_1\.jsonl"):
        run(spark, job, tmp_path)
