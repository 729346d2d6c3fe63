"""What jobs read on Spark: formats, rows that are quarantined, sources and files that are refused."""

from __future__ import annotations

import bz2
import gzip
import json
import os
from codecs import BOM_UTF8
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streambound_runtime.errors import JobError
from streambound_runtime.main import main
from streambound_runtime.reading import sources
from streambound_runtime.reading.files import Files
from streambound_runtime.settings import Settings
from support.embedded import run_here
from support.jobs import FIGURE2, batches, figure2, job_of, read, run, run_with, write

INT96, REBASE = "spark.sql.parquet.outputTimestampType", "spark.sql.parquet.int96RebaseModeInWrite"


def test_bad_rows_are_quarantined_with_their_reason(tmp_path: Path) -> None:
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
    summary = run_here(figure2().job, tmp_path)
    assert {(row["row"], row["detail"]) for row in read(tmp_path / "quarantine")} == set(bad.items())
    assert all(row["stream"] == "S" for row in read(tmp_path / "quarantine"))
    assert sum(summary["quarantined"].values()) == len(bad)
    assert summary["quarantined"]["not a JSON object"] == 4
    assert summary["rows"]["S"] == len(bad) + 3
    assert [(row["A"], row["_mult"]) for row in read(tmp_path / "output")] == [(3, 1), (42, 1)]


def test_rows_that_are_not_text_are_quarantined(tmp_path: Path) -> None:
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
    summary = run_here(figure2().job, tmp_path)
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
    run(spark, figure2().job, tmp_path, report=events.append)
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
    job = job_of("SELECT S.a, R.b FROM S, R WHERE S.a = R.a", declared)
    options = ["--base", str(tmp_path), "--output", str(tmp_path / "out"), "--checkpoint", str(tmp_path / "check")]
    summary = run_with(spark, job, options, lambda event: None)
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
    job = job_of("SELECT S.a FROM S", declared)
    where = {name: str(tmp_path / name) for name in ("output", "quarantine", "checkpoint")}
    options = ["--base", str(tmp_path), *(part for name, value in where.items() for part in (f"--{name}", value))]
    summary = run_with(spark, job, options, lambda event: None)
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
    job = job_of("SELECT 1 AS one FROM S, R", declared)
    status = main(job, ["--base", str(tmp_path), "--output", str(tmp_path / "out")])
    name = "S" if kind == "streams" else "R"
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert status == 3
    assert len(errors) == 1
    assert errors[0].startswith(f"error: {name} cannot be read: {message.format(base=tmp_path)}")
    assert "SQLSTATE" not in errors[0]


STRANGE = ["[1]a{b,c}", "what?", "*", "a b%20c#ü"]


def test_directories_with_any_name(spark: Any, tmp_path: Path) -> None:
    """Spark takes some of them for patterns, and reads every row twice there, or none, if they are not escaped."""
    place = tmp_path.joinpath(*STRANGE)
    batches(place / "in")
    for depth, other in enumerate(("1ab", "whats", "any", "a b c#ü")):
        batches(tmp_path.joinpath(*STRANGE[:depth], other, *STRANGE[depth + 1 :]) / "in")
    run(spark, figure2().job, place)
    assert read(place / "output") == read(FIGURE2 / "expected.jsonl")
    (bad,) = read(place / "quarantine")
    assert bad["file"] == str(place / "in" / "S" / "part-2.jsonl")


def placed(folder: Path) -> list[str]:
    """A run whose sources and files are in a directory."""
    files = [f"--{name}={folder / name}" for name in ("output", "quarantine", "checkpoint")]
    return ["--base", str(folder), *files]


@pytest.mark.parametrize(("name", "form"), [("S [1]", "parquet"), ("S#%20ü", "json"), ("S [1] #%20ü", "csv")])
def test_files_of_a_source_with_any_name(spark: Any, tmp_path: Path, name: str, form: str) -> None:
    spark.sql("SELECT id AS a, id AS ts FROM range(5)").coalesce(1).write.format(form).save(str(tmp_path / "made"))
    (tmp_path / name).mkdir()
    (made,) = (file for file in (tmp_path / "made").iterdir() if file.name.startswith("part-"))
    made.rename(tmp_path / name / f"p {name}{made.suffix}")
    source = {"format": form, "path": name}
    stream = {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "domain": {"a": [0, 3]}, "source": source}
    options = ["--base", str(tmp_path), *(f"--{what}={tmp_path / what}" for what in ("output", "quarantine"))]
    summary = run_with(
        spark,
        job_of("SELECT S.a FROM S", {"streams": {"S": stream}}),
        [*options, "--checkpoint", str(tmp_path / "state")],
    )
    assert summary["quarantined"] == {"a is outside its domain": 1}
    assert [row["a"] for row in read(tmp_path / "output")] == [0, 1, 2, 3]
    (bad,) = read(tmp_path / "quarantine")
    assert bad["file"] == str(tmp_path / name / f"p {name}{made.suffix}")


@pytest.mark.parametrize(
    ("folder", "path", "form"),
    [
        ("S", "S", "parquet"),
        ("S [1]", "S [1]", "csv"),
        ("S/in", "S/*", "parquet"),
        ("day=1/S", "day=1/S", "csv"),
        ("day=1/S", "day=1/S", "parquet"),
    ],
)
def test_directories_that_say_a_columns_value(spark: Any, tmp_path: Path, form: str, folder: str, path: str) -> None:
    frame = spark.sql("SELECT id AS a, id % 2 AS shard, id AS ts FROM range(6)")
    frame.write.partitionBy("shard").format(form).save(str(tmp_path / folder))
    columns = {"a": "bigint", "ts": "bigint", "shard": "int"}
    stream = {"timestamp": "ts", "columns": columns, "source": {"format": form, "path": path}}
    job = job_of("SELECT S.a, S.shard FROM S", {"streams": {"S": stream}})
    run_with(spark, job, placed(tmp_path))
    assert [(row["a"], row["shard"]) for row in read(tmp_path / "output")] == [(n, n % 2) for n in range(6)]


def test_directories_say_nothing_of_json_whose_lines_keep_their_numbers(spark: Any, tmp_path: Path) -> None:
    write(tmp_path / "S" / "shard=1" / "1.jsonl", {"a": 1, "shard": 2, "ts": 1}, {"a": 2, "ts": 2})
    columns = {"a": "bigint", "shard": "int", "ts": "bigint"}
    stream = {"timestamp": "ts", "columns": columns, "source": {"format": "json", "path": "S"}}
    run_with(spark, job_of("SELECT S.a, S.shard FROM S", {"streams": {"S": stream}}), placed(tmp_path))
    assert [(row["a"], row["shard"]) for row in read(tmp_path / "output")] == [(1, 2)]
    (bad,) = read(tmp_path / "quarantine")
    assert (bad["reason"], bad["line"]) == ("missing-column", 2)
    assert bad["file"] == str(tmp_path / "S" / "shard=1" / "1.jsonl")


PIECES = (b"{}", b"a", b" ", b"\xff", b"\xc3\xa4", b"\xe2\x80\xa8", b"\x85", b"\x0b", b"\x1c", b"\n", b"\r", b"\r\n")


def test_lines_are_those_that_spark_finds(spark: Any, tmp_path: Path) -> None:
    """They end at line feeds and carriage returns alone; a mark of the order of bytes is no part of the first."""
    dice = Random(5)
    for number in range(200):
        content = dice.choice((b"", BOM_UTF8)) + b"".join(dice.choices(PIECES, k=dice.randrange(30)))
        (tmp_path / f"{number}.jsonl").write_bytes(content)
    table = job_of(
        "SELECT 1 AS one FROM S", {"streams": {"S": {"timestamp": "a", "columns": {"a": "bigint"}}}}
    ).streams[0]
    paths = sorted(f"file:{file}" for file in tmp_path.iterdir())
    reader = Files(spark, table, Settings(input=str(tmp_path)))
    ours = {
        (raw.file, *line) for raw in reader.raws(paths) for line in zip(*raw.rows.to_pydict().values(), strict=True)
    }
    told = spark.read.text([*paths]).selectExpr("input_file_name()", "CAST(value AS BINARY)").toArrow()
    theirs, numbers = set(), Counter[str]()
    for file, line in zip(*told.to_pydict().values(), strict=True):
        numbers[file] += 1
        theirs.add((file.removeprefix("file://"), line, numbers[file]))
    assert ours == theirs and len(ours) > 500


@pytest.mark.parametrize(
    ("columns", "kinds"),
    [("A, at, ts", ("INT96", "LEGACY")), ("a, at, ts", ("INT96", "CORRECTED")), ("a, at, ts", ("INT96", "LEGACY"))],
    ids=["another case", "times of 96 bits", "an older calendar"],
)
def test_parquet_that_arrow_would_read_otherwise(
    spark: Any, tmp_path: Path, columns: str, kinds: tuple[str, str]
) -> None:
    """As Spark reads it, the number of an int in a column of bigint, too."""
    values = "(1, TIMESTAMP'2024-01-01 10:00:00.123456', 1L), (2, TIMESTAMP'0999-01-01 00:00:00', 2L)"
    kept = {name: spark.conf.get(name) for name in (INT96, REBASE)}
    try:
        for name, value in zip((INT96, REBASE), kinds, strict=True):
            spark.conf.set(name, value)
        spark.sql(f"SELECT * FROM VALUES {values} AS t({columns})").coalesce(1).write.parquet(str(tmp_path / "S"))
    finally:
        for name, value in kept.items():
            spark.conf.set(name, value)
    declared = {"a": "bigint", "at": "timestamp", "ts": "bigint"}
    stream = {"timestamp": "ts", "columns": declared, "source": {"format": "parquet", "path": "S"}}
    job = job_of("SELECT S.a, S.at FROM S", {"streams": {"S": stream}})
    run_with(spark, job, placed(tmp_path))
    assert [(row["a"], row["at"]) for row in read(tmp_path / "output")] == [
        (1, "2024-01-01T10:00:00.123456Z"),
        (2, "0999-01-01T00:00:00Z"),
    ]


def test_batches_are_sized_by_bytes_unless_a_number_of_files_is_given(spark: Any, tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path / "in" / "S" / f"{number}.jsonl", {"a": number, "ts": number}, modified=1_600_000_000 + number)
    job = job_of(
        "SELECT S.a FROM S", {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}}}}
    )
    for options, number in (([], 1), (["--files-per-batch", "2"], 3)):
        events: list[dict[str, Any]] = []
        files = [f"--output={tmp_path / 'out'}", f"--checkpoint={tmp_path / str(number)}"]
        run_with(spark, job, ["--input", str(tmp_path / "in"), *files, *options], events.append)
        assert len(events) == number + 1
        assert [row["a"] for row in read(tmp_path / "out")] == [*range(5)]


def test_a_batch_has_no_more_bytes_than_its_source_says_but_for_its_last_file(spark: Any, tmp_path: Path) -> None:
    for number in range(6):
        write(tmp_path / "S" / f"{number}.jsonl", {"a": number, "ts": number}, modified=1_600_000_000 + number)
    of_two = {"maxBytesPerTrigger": 2 * (tmp_path / "S" / "0.jsonl").stat().st_size}
    source = {"format": "json", "path": "S", "options": of_two}
    stream = {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "source": source}
    events: list[dict[str, Any]] = []
    run_with(spark, job_of("SELECT S.a FROM S", {"streams": {"S": stream}}), placed(tmp_path), events.append)
    assert [event["rows"] for event in events[:-1]] == [2, 2, 2]
    assert [row["a"] for row in read(tmp_path / "output")] == [*range(6)]


def test_a_file_that_spark_would_ignore_is_refused(spark: Any, tmp_path: Path) -> None:
    for name in ("S", "T/_1", "U"):
        write(tmp_path / "in" / f"{name}.jsonl")
    job = figure2().job
    with pytest.raises(JobError, match=r"Spark ignores .*_1\.jsonl"):
        run(spark, job, tmp_path)


NAMES = ["b[1]", "b{x}", "b*", "b?", "b\\", "b]", "b}", "b[", "b{", "a b", "b%20", "b:c", "b#", "b%", "ü", "b,c", "b^$"]
"""What may be in the name of a file: signs of a pattern, and others that a URI writes otherwise."""


def written(file: Path, number: int) -> None:
    """A file of one row, in the format that its name says."""
    file.parent.mkdir(exist_ok=True)
    text = f"{number},7\n" if file.suffix == ".csv" else f'{{"a": {number}, "ts": 7}}\n'
    if file.suffix == ".parquet":
        pq.write_table(pa.table({"a": [number], "ts": [7]}), file)
    else:
        file.write_bytes(bz2.compress(text.encode()) if file.suffix == ".bz2" else text.encode())


@pytest.mark.parametrize(
    ("placement", "forms", "uri"),
    [
        ("stateless", ["csv"], True),
        ("driver", ["json", "csv"], False),
        ("buckets", ["parquet", "json.bz2"], True),
    ],
)
def test_every_file_is_read_once_whatever_its_name_and_age(
    spark: Any, tmp_path: Path, placement: str, forms: list[str], uri: bool
) -> None:
    """One that comes later is older than Spark would read; hidden ones are not read. Spark opens none with a colon."""
    names = ["a", *(name for name in NAMES if ":" not in name or {*forms} <= {"json", "parquet"})]
    streams, ends = {}, [*range(len(names) + 1)]
    for name, form in zip("ST", forms, strict=False):
        for number, called in enumerate(names):
            written(tmp_path / name / f"{called}.{form}", number)
            os.utime(tmp_path / name / f"{called}.{form}", (1_600_000_000 + number,) * 2)
        for hidden in ("_x", ".x"):
            (tmp_path / name / f"{hidden}.{form}").write_text("nothing")
        source = {"format": form.split(".")[0], "path": f"file:{tmp_path / name}" if uri else name}
        columns = {"a": "bigint", "ts": "bigint"}
        streams[name] = {"timestamp": "ts", "columns": columns, "source": source, "lateness": 100}
        streams[name]["domain"] = {"a": [0, 99]}
    joined = "SELECT S.a FROM S, T WHERE S.a = T.a AND S.ts <= T.ts"
    job = job_of(joined if forms[1:] else "SELECT S.a FROM S", {"streams": streams}, placement)
    assert job.placement.where == placement
    run_with(spark, job, [*placed(tmp_path), "--trigger", "available"])
    for name, form in zip("ST", forms, strict=False):
        written(tmp_path / name / f"old.{form}", ends[-1])
        os.utime(tmp_path / name / f"old.{form}", (0, 0))
    summary = run_with(spark, job, placed(tmp_path))
    assert summary["rows"] == dict.fromkeys(streams, len(ends))
    assert summary["quarantined"] == {}
    assert sorted(row["a"] for row in read(tmp_path / "output")) == ends


def test_files_beside_directories_that_say_a_columns_value_are_read(spark: Any, tmp_path: Path) -> None:
    """Those in other directories are not, as in Spark."""
    for number, name in enumerate(["top.jsonl", "day=1/in.jsonl", "day=1/hour=2/deep.jsonl", "old/gone.jsonl"]):
        write(tmp_path / "S" / name, {"a": number, "ts": number}, modified=1_600_000_000 + number)
    source = {"format": "json", "path": "S"}
    for path in ("S", "S/", "S*", f"file:{tmp_path}/S"):
        stream = {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "source": {**source, "path": path}}
        options = [option for option in placed(tmp_path) if "checkpoint" not in option]
        check = f"--checkpoint={tmp_path / 'checks' / path.replace('/', '-')}"
        run_with(spark, job_of("SELECT S.a FROM S", {"streams": {"S": stream}}), [*options, check])
        assert [row["a"] for row in read(tmp_path / "output")] == [0, 1, 2], path


def test_a_source_that_is_a_hidden_file_is_refused(spark: Any, tmp_path: Path) -> None:
    write(tmp_path / "_S.json", {"ts": 1})
    stream = {"timestamp": "ts", "columns": {"ts": "bigint"}, "source": {"format": "json", "path": "_S.json"}}
    with pytest.raises(JobError, match=r"S cannot be read: Spark ignores .*_S\.json, because its name starts with _"):
        run_with(spark, job_of("SELECT S.ts FROM S", {"streams": {"S": stream}}), placed(tmp_path))


def test_batches_of_compressed_files_are_sized_by_what_is_in_them(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_BYTES_OF_TEXT", 20_000)
    (tmp_path / "S").mkdir()
    for number in range(4):
        file = tmp_path / "S" / f"{number}.json.gz"
        line = json.dumps({"a": number, "ts": number, "more": "x" * 9000}).encode() + b"\n"
        file.write_bytes(gzip.compress(line))
        os.utime(file, (1_600_000_000 + number,) * 2)
    source = {"format": "json", "path": "S"}
    stream = {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "source": source}
    events: list[dict[str, Any]] = []
    run_with(spark, job_of("SELECT S.a FROM S", {"streams": {"S": stream}}), placed(tmp_path), events.append)
    assert [event["rows"] for event in events[:-1]] == [2, 2]
    assert [row["a"] for row in read(tmp_path / "output")] == [*range(4)]
