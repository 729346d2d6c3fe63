"""Where quarantined rows were read, and whether that is true."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.embedded import run_here
from support.jobs import job_of, read, run_with

SQL = "SELECT S.a, T.a AS b FROM S, T WHERE S.ts > T.ts AND S.a = T.a AND S.a BETWEEN 0 AND 3"
COLUMNS = {"a": "bigint", "ts": "bigint"}
STREAMS = {
    "S": {"timestamp": "ts", "columns": COLUMNS, "domain": {"a": [0, 9]}, "max_per_timestamp": 2},
    "T": {"timestamp": "ts", "columns": COLUMNS},
}
BAD = [b"nope", b'{"a": 77, "ts": 1}', b'{"a": "\xff\xf0\x9f", "ts": 1}', b'{"ts": 3}', b'{"a": 1, "ts": 7.0}', b"nope"]


def streams(folder: Path) -> None:
    """Three files of each, with lines that end in two ways, bad, blank and late ones, and rows that are too many."""
    for name, ending in (("S", b"\n"), ("T", b"\r\n")):
        (folder / name).mkdir(parents=True)
        for number in range(3):
            rows = [json.dumps({"a": n % 4, "ts": 9 * number + n}).encode() for n in range(9)]
            rows += [*BAD[number:], b"", b"  ", *BAD[:2]] + [rows[4]] * 3 + [b'{"a": 1, "ts": 0}'] * 2
            (folder / name / f"p {number}%20#ü.jsonl").write_bytes(ending.join(rows) + ending)


WAYS: dict[str, list[str]] = {
    "a batch a file": ["--files-per-batch", "1"],
    "one batch": ["--files-per-batch", "3"],
}


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    streams(tmp_path / "in")
    for name in "ST":
        for number, file in enumerate(sorted((tmp_path / "in" / name).iterdir())):
            os.utime(file, (1_600_000_000 + number,) * 2)
    found = {}
    for way, options in WAYS.items():
        job = job_of(SQL, {"streams": STREAMS})
        folders = [f"--{name}={tmp_path / way / name}" for name in ("checkpoint", "output", "quarantine")]
        (tmp_path / way).mkdir()
        run_here(job, tmp_path, *folders, *options)
        bad = read(tmp_path / way / "quarantine")
        for row in bad:
            lines = Path(row["file"]).read_bytes().splitlines()
            assert plain(lines[row["line"] - 1].decode("utf-8", "replace")) == plain(row["row"]), (way, row)
            assert Path(row["file"]).parent == tmp_path / "in" / row["stream"]
        places = Counter((row["file"], row["line"]) for row in bad)
        assert set(places.values()) == {1}, way
        found[way] = {(row["file"], row["line"]): (row["reason"], row["batch"], plain(row["row"])) for row in bad}
    assert {batch for _, batch, _ in found["a batch a file"].values()} == {0, 1, 2}
    assert {batch for _, batch, _ in found["one batch"].values()} == {0}
    codes = {code for code, _, _ in found["a batch a file"].values()}
    assert codes == {
        "not-json", "outside-domain", "not-utf8", "missing-column", "wrong-type", "late", "max-per-timestamp",
    }  # fmt: skip


def plain(text: str) -> str:
    """Without how many signs stand for broken bytes, of which Java and Python have their own mind."""
    return re.sub("\ufffd+", "\ufffd", text)


def test_bad_rows_of_a_relation_have_a_line_and_no_batch(tmp_path: Path) -> None:
    relation = {"R": {"columns": {"a": "bigint"}}}
    job = job_of("SELECT T.a FROM T, R WHERE T.a = R.a", {"streams": {"T": STREAMS["T"]}, "relations": relation})
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "T.jsonl").write_text('{"a": 1, "ts": 0}\n')
    (tmp_path / "in" / "R.jsonl").write_text('{"a": 1}\n\nnope\n{"a": "x"}\n')
    run_here(job, tmp_path)
    file = str(tmp_path / "in" / "R.jsonl")
    assert read(tmp_path / "quarantine") == [
        {"relation": "R", "reason": "not-json", "detail": "not a JSON object", "file": file, "line": 3, "row": "nope"},
        {"relation": "R", "reason": "wrong-type", "detail": "a is not a bigint", "file": file, "line": 4,
         "row": '{"a": "x"}'},
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["parquet", "csv", "json"])
def test_files_with_columns_name_the_file(spark: Any, tmp_path: Path, form: str) -> None:
    """And lines of compressed JSON their numbers."""
    folder = tmp_path / "data of S"
    for number in range(2):
        rows = [(n, 9 * number + n) if n != 5 + number else (77, 9 * number + n) for n in range(9)]
        frame = spark.createDataFrame(rows, "a BIGINT, ts BIGINT").coalesce(1)
        frame.write.mode("append").option("compression", "gzip" if form == "json" else "none").format(form).save(
            str(folder)
        )
    source = {"format": form, "path": str(folder)}
    stream = {"timestamp": "ts", "columns": COLUMNS, "domain": {"a": [0, 9]}, "source": source}
    job = job_of("SELECT S.a FROM S", {"streams": {"S": stream}})
    files = [f"--{name}={tmp_path / name}" for name in ("checkpoint", "output", "quarantine")]
    run_with(spark, job, files, lambda event: None)
    bad = read(tmp_path / "quarantine")
    assert len(bad) == len({row["file"] for row in bad}) == 2
    for row in bad:
        assert spark.read.format(form).schema("a BIGINT, ts BIGINT").load(row["file"]).where("a = 77").count() == 1
        number = json.loads(row["row"])["ts"]
        assert row.get("line") == (number % 9 + 1 if form == "json" else None)
        assert (row["reason"], row["batch"]) == ("outside-domain", 0)
