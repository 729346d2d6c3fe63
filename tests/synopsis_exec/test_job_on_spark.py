"""Generated jobs on Spark: results, quarantine, micro-batches, restarts, and the stop at the bound."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analyzer.catalog import catalog_from_mapping
from analyzer.errors import NotExecutableError
from synopsis_exec.codegen import job_text
from synopsis_exec.plan import make_plan
from synopsis_exec.simulate import load_kernel
from tests.support.encoding import multiset
from tests.support.product import decided
from tests.synopsis_exec.test_codegen import FIGURE2, ROOT, figure2_job

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TYPED: dict[str, Any] = {
    "streams": {
        "odd name": {
            "timestamp": "at",
            "columns": {
                "k`ey": "string", "d": "decimal(9,2)", "big": "decimal(30,4)", "born": "date", "seen": "timestamp",
                "ok": "boolean", "x": "double", "n": "int", "at": "timestamp",
            },
            "domain": {"n": [0, 9]},
        },
        "T": {"timestamp": "at", "columns": {"n": "int", "at": "timestamp"}},
    },
    "relations": {"R": {"columns": {"n": "int", "name": "string"}}},
}  # fmt: skip
TYPED_SQL = (
    'SELECT o.`k``ey` AS `the "key"`, o.d, o.big, o.born, o.seen, o.ok, o.x, R.name, -1.5 AS c FROM `odd name` o, T, R '
    "WHERE o.at <= T.at AND T.at <= o.at + INTERVAL 10 SECONDS AND o.n = R.n AND T.n = o.n AND o.d <> 1.5"
)


def kernel(sql: str, catalog: dict[str, Any]) -> Any:
    return load_kernel(job_text(make_plan(decided(sql, catalog), catalog_from_mapping(catalog))))


def write(file: Path, *rows: object, modified: float | None = None) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    if modified is not None:
        os.utime(file, (modified, modified))


def read(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def run(
    spark: Any, job: Any, tmp_path: Path, *more: str, report: Callable[[dict[str, Any]], None] = lambda event: None
) -> dict[str, Any]:
    folders = {name: str(tmp_path / name) for name in ("checkpoint", "output", "quarantine")}
    options = [part for name, value in folders.items() for part in (f"--{name}", value)]
    summary: dict[str, Any] = job.run(spark, job.arguments(["--input", str(tmp_path / "in"), *options, *more]), report)
    return summary


def test_figure_2_from_the_catalogs_sources(spark: Any, tmp_path: Path) -> None:
    job = load_kernel(figure2_job())
    options = ["--base", str(FIGURE2), "--output", str(tmp_path / "out"), "--checkpoint", str(tmp_path / "check")]
    summary = job.run(spark, job.arguments(options), lambda event: None)
    assert (tmp_path / "out").read_text() == (FIGURE2 / "expected.jsonl").read_text()
    assert summary["rows"] == {"S": 2, "T": 4, "U": 2}
    assert (summary["peak"], summary["limit"], summary["quarantined"]) == (4, 5, {})


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
    assert {(row["row"], row["reason"]) for row in read(tmp_path / "quarantine")} == set(bad.items())
    assert all(row["stream"] == "S" for row in read(tmp_path / "quarantine"))
    assert sum(summary["quarantined"].values()) == len(bad)
    assert summary["quarantined"]["not a JSON object"] == 4
    assert summary["rows"]["S"] == len(bad) + 3
    assert [(row["A"], row["_mult"]) for row in read(tmp_path / "output")] == [(3, 1), (42, 1)]


def test_every_type_is_read_and_written(spark: Any, tmp_path: Path) -> None:
    row = {
        "k`ey": "it's", "d": 2.25, "big": 0, "born": "2001-02-03", "seen": "2024-01-01T00:00:00.5Z",
        "ok": True, "x": 1.5, "n": 3, "at": "2024-01-01T00:00:00Z",
    }  # fmt: skip
    exact = json.dumps(row).replace('"big": 0', '"big": -12345678901234567890123456.1234')
    nulls = {**row, "k`ey": None, "born": None, "seen": None, "ok": None, "x": None, "big": None, "d": -0.05}
    outside = {**row, "n": 10}
    nan = json.dumps(row).replace("1.5", "NaN")
    late = {**row, "at": "2024-01-01T00:00:05.000001Z"}
    write(tmp_path / "in" / "odd name.jsonl", exact, nulls, outside, nan, late, {**row, "d": 1.5})
    write(tmp_path / "in" / "T.jsonl", {"n": 3, "at": "2024-01-01T00:00:10Z"}, {"n": 3, "at": "2024-01-01T00:00:11Z"})
    write(tmp_path / "in" / "R.jsonl", {"n": 3, "name": "three"}, {"n": None, "name": "none"}, {"n": "x", "name": ""})
    summary = run(spark, kernel(TYPED_SQL, TYPED), tmp_path)
    found = read(tmp_path / "output")
    assert [result["_ts"] for result in found] == ["2024-01-01T00:00:10Z"] * 3 + ["2024-01-01T00:00:11Z"]
    assert found[0] == {
        'the "key"': None, "d": -0.05, "big": None, "born": None, "seen": None, "ok": None, "x": None,
        "name": "three", "c": -1.5, "_ts": "2024-01-01T00:00:10Z", "_mult": 1,
    }  # fmt: skip
    assert '"big":-12345678901234567890123456.1234,' in (tmp_path / "output").read_text()
    assert {"born": "2001-02-03", "seen": "2024-01-01T00:00:00.500000Z", "ok": True}.items() <= found[1].items()
    assert summary["quarantined"] == {"n is outside its domain": 1, "x is NaN": 1, "n is not an int": 1}


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
    assert {row["row"]: row["reason"] for row in read(tmp_path / "quarantine")} == texts
    assert summary["quarantined"] == {"not UTF-8": 1, "not a JSON object": 2}
    assert [(row["A"], row["_mult"]) for row in read(tmp_path / "output")] == [(42, 2)]


def test_no_valid_row_overflows_in_a_filter(spark: Any, tmp_path: Path) -> None:
    """The kernel's integers have no limit; Spark's have, so it must not compute with them."""
    far = f"S.a < {10**60} AND S.y <= DATE '9999-12-31' + INTERVAL 99999999 DAYS AND S.d > -{10**50}"
    sql = f"SELECT S.a, S.b FROM S, T WHERE T.ts > S.ts AND S.a + 5 <= S.b AND S.c - 7 < S.a AND {far}"
    columns = {"a": "bigint", "b": "bigint", "c": "bigint", "y": "date", "d": "decimal(38,2)", "ts": "bigint"}
    declared = with_bounds({"streams": {name: {"timestamp": "ts", "columns": columns} for name in "ST"}})
    low, high = -(2**63), 2**63 - 1
    values = [(1, low), (1, high), (low, high), (high, low), (high, high), (low, low), (1, 6), (2, 6)]
    rows = [
        {"a": a, "b": b, "c": c, "y": "9999-12-31", "d": 1, "ts": 0} for a, b in values for c in (low, 0, high)
    ]  # fmt: skip
    write(tmp_path / "in" / "S.jsonl", *rows)
    write(tmp_path / "in" / "T.jsonl", {**rows[0], "ts": 1})
    summary = run(spark, kernel(sql, declared), tmp_path)
    found = {(row["a"], row["b"]): row["_mult"] for row in read(tmp_path / "output")}
    wanted = Counter((r["a"], r["b"]) for r in rows if r["a"] + 5 <= r["b"] and r["c"] - 7 < r["a"])
    assert found == wanted
    assert len(found) > 2
    assert summary["quarantined"] == {}


def with_bounds(catalog: dict[str, Any]) -> dict[str, Any]:
    """The widest domain there is, so that a and b may be remembered."""
    for body in catalog["streams"].values():
        body["domain"] = {name: [-(2**63), 2**63 - 1] for name in "ab"}
    return catalog


def test_a_relation_with_more_rows_than_declared_stops_the_job(spark: Any, tmp_path: Path) -> None:
    declared = {
        "streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}}},
        "relations": {"R": {"columns": {"a": "bigint"}, "rows": 2}},
    }
    job = kernel("SELECT S.a FROM S, R WHERE S.a = R.a", declared)
    write(tmp_path / "in" / "S.jsonl", {"a": 1, "ts": 0})
    write(tmp_path / "in" / "R.jsonl", {"a": 1}, {"a": 2}, {"a": "x"})
    assert run(spark, job, tmp_path)["rows"] == {"S": 1, "R": 3}
    write(tmp_path / "in" / "R.jsonl", {"a": 1}, {"a": 2}, {"a": 2})
    with pytest.raises(job.JobError, match="relation R has 3 rows, more than the catalog's rows = 2") as caught:
        run(spark, job, tmp_path / "again", "--input", str(tmp_path / "in"))
    assert (caught.value.kind, caught.value.status) == ("rows", 1)


def batches(folder: Path) -> None:
    """Figure 2's tuples over three files per stream, one of them late."""
    rows = {
        "S": [[{"A": 42, "I": 0}], [{"A": 42, "I": 5}], [{"A": 1, "I": 9}, {"A": 42, "I": 1}]],
        "T": [[{"B": 7, "J": 0}, {"B": 2, "J": 2}], [{"B": 3, "J": 5}, {"B": 1, "J": 4}], [{"B": 1, "J": 9}]],
        "U": [[{"C": 0, "K": 1}], [{"C": 0, "K": 3}], [{"C": 0, "K": 9}]],
    }
    for name, files in rows.items():
        for number, content in enumerate(files):
            write(folder / name / f"part-{number}.jsonl", *content, modified=1_600_000_000 + number)


def test_batches_close_what_every_stream_has_passed(spark: Any, tmp_path: Path) -> None:
    batches(tmp_path / "in")
    events: list[dict[str, Any]] = []
    summary = run(spark, load_kernel(figure2_job()), tmp_path, report=events.append)
    assert read(tmp_path / "output") == read(FIGURE2 / "expected.jsonl")
    assert [event["closed"] for event in events[:-1]] == [0, 2, 3]  # timestamps 0 and 1 of S and 0 of T join nothing
    assert [event["rows"] for event in events[:-1]] == [4, 4, 4]
    assert events[-1] == summary
    assert read(tmp_path / "quarantine") == [
        {"stream": "S", "reason": "late: its timestamp is closed already", "row": '{"A": 42, "I": 1}'}
    ]


@pytest.mark.parametrize("moment", ["before the state is saved", "after the state is saved"])
def test_a_restart_repeats_nothing_and_loses_nothing(spark: Any, tmp_path: Path, moment: str) -> None:
    batches(tmp_path / "in")
    expected = read(FIGURE2 / "expected.jsonl")
    job = load_kernel(figure2_job())
    save = job.Job.save

    def fail_in_second_batch(self: Any, batch: int) -> None:
        if moment.startswith("after"):
            save(self, batch)
        if batch == 1:
            raise RuntimeError("killed")
        if moment.startswith("before"):
            save(self, batch)

    job.Job.save = fail_in_second_batch
    with pytest.raises(RuntimeError, match="killed"):
        run(spark, job, tmp_path)
    job.Job.save = save
    events: list[dict[str, Any]] = []
    summary = run(spark, job, tmp_path, report=events.append)
    assert [event["batch"] for event in events[:-1]] == [1, 2]
    assert read(tmp_path / "output") == expected
    assert summary["rows"] == {"S": 4, "T": 5, "U": 3}
    assert len(read(tmp_path / "quarantine")) == 1
    again = run(spark, job, tmp_path)
    assert again == summary
    assert read(tmp_path / "output") == expected


def test_a_checkpoint_of_another_job_is_refused(spark: Any, tmp_path: Path) -> None:
    batches(tmp_path / "in")
    job = load_kernel(figure2_job())
    run(spark, job, tmp_path)
    saved, said = job.SAVED, "is of another query; give this job a new directory"
    for part, what in (("query", said), ("catalog", "of another catalog"), ("tables", "that keeps other tables")):
        job.SAVED = {**saved, part: "another"}
        with pytest.raises(job.JobError, match=what) as caught:
            run(spark, job, tmp_path)
        assert (caught.value.kind, caught.value.status) == ("state", 2)
    job.SAVED, job.FORMAT = saved, job.FORMAT + 1
    with pytest.raises(job.JobError, match="saved by a version of streambound that lays it out in another way"):
        run(spark, job, tmp_path)
    job.FORMAT -= 1
    with pytest.raises(job.JobError, match="of other sources"):
        run(spark, job, tmp_path, "--input", str(FIGURE2 / "data"))
    assert run(spark, job, tmp_path)["results"] > 0


def test_a_damaged_checkpoint_is_a_clear_error(spark: Any, tmp_path: Path) -> None:
    """Nothing runs on a state that is cut, changed or missing, or of another age than Spark's part."""
    batches(tmp_path / "in")
    job = load_kernel(figure2_job())
    run(spark, job, tmp_path)
    state = tmp_path / "checkpoint" / "state" / "2.json"
    damages: list[tuple[str, Callable[[Path], object]]] = [
        ("state/2.json", lambda file: file.write_text("{")),
        ("state/2.json", lambda file: file.write_bytes(state.read_bytes()[:-1])),
        ("state/2.json", lambda file: file.write_text(state.read_text().replace('"peak": 4', '"peak": 5'))),
        ("state/2.json", lambda file: file.unlink()),
        ("job.json", lambda file: file.write_text(file.read_text()[:-5])),
        ("spark/commits", shutil.rmtree),
        ("spark/offsets/2", lambda file: file.write_text(file.read_text()[:-5])),
        ("spark/commits/2", lambda file: file.write_text("")),
        ("spark/sources/1/0", lambda file: file.write_bytes(b"\xff")),
        ("spark/metadata", lambda file: file.write_text("{")),
    ]
    for number, (file, damage) in enumerate(damages):
        checkpoint = shutil.copytree(tmp_path / "checkpoint", tmp_path / f"copy {number}")
        damage(checkpoint / file)
        with pytest.raises(job.JobError, match=f"the checkpoint is damaged: .*{file} is missing or was") as caught:
            run(spark, job, tmp_path, "--checkpoint", str(checkpoint), "--output", str(tmp_path / "never"))
        assert (caught.value.kind, caught.value.status) == ("state", 3)
    assert not (tmp_path / "never").exists()
    assert '"peak": 4' in state.read_text()


def test_more_entries_than_the_bound_stop_the_job(spark: Any, tmp_path: Path) -> None:
    batches(tmp_path / "in")
    job = load_kernel(figure2_job())
    with pytest.raises(job.JobError, match="2 entries at timestamp 2, more than its bound M = 1") as caught:
        run(spark, job, tmp_path, "--limit", "1")
    assert (caught.value.kind, caught.value.status) == ("limit", 1)
    assert not (tmp_path / "output").exists()


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


CORPUS = [json.loads(line) for line in (ROOT / "tests" / "data" / "corpus.jsonl").read_text().splitlines()]
ANSWERED = [case for case in CORPUS if case.get("expected")]


@pytest.mark.parametrize("case", ANSWERED[::9], ids=lambda case: case["name"])
def test_corpus_queries_on_spark(spark: Any, tmp_path: Path, case: dict[str, Any]) -> None:
    try:
        job = kernel(case["sql"], case["catalog"])
    except NotExecutableError:
        assert case["projection"] == "set"
        return
    for name, rows in case["input"].items():
        write(tmp_path / "in" / f"{name}.jsonl", *rows)
    run(spark, job, tmp_path)
    assert multiset(read(tmp_path / "output")) == multiset(case["expected"])


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


def test_streams_without_rows(spark: Any, tmp_path: Path) -> None:
    for name in ("S", "T", "U"):
        write(tmp_path / "in" / f"{name}.jsonl")
    summary = run(spark, load_kernel(figure2_job()), tmp_path)
    assert (summary["rows"], summary["results"]) == ({"S": 0, "T": 0, "U": 0}, 0)
    assert read(tmp_path / "output") == read(tmp_path / "quarantine") == []


def test_a_batch_is_folded_in_slices(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = load_kernel(figure2_job())
    monkeypatch.setattr(job, "SLICE", 3)
    rows = range(50)
    write(tmp_path / "in" / "S.jsonl", *({"A": 9, "I": 7 * i % 50} for i in rows))
    write(tmp_path / "in" / "T.jsonl", *({"B": 1 + i % 4, "J": 11 * i % 50} for i in rows))
    write(tmp_path / "in" / "U.jsonl", *({"C": 0, "K": 3 * i % 50} for i in rows))
    run(spark, job, tmp_path)
    # For S at t: every T at 1..t-1 with every U before it; each timestamp has one tuple of each stream.
    found = {row["_ts"]: 0 for row in read(tmp_path / "output")}
    for row in read(tmp_path / "output"):
        found[row["_ts"]] += row["_mult"]
    assert found == {t: (t - 1) * t // 2 for t in range(2, 50)}


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
