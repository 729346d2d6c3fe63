"""Jobs on Spark, run by the runtime: whole streams, the stop at the bound, and what the catalog says of sizes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from streambound_runtime.errors import JobError
from support.embedded import run_here
from support.jobs import FIGURE2, TYPED, TYPED_SQL, batches, figure2, job_of, read, run, run_with, write


def test_figure_2_from_the_catalogs_sources(spark: Any, tmp_path: Path) -> None:
    job = figure2().job
    options = ["--base", str(FIGURE2), "--output", str(tmp_path / "out"), "--checkpoint", str(tmp_path / "check")]
    summary = run_with(spark, job, options, lambda event: None)
    assert (tmp_path / "out").read_text() == (FIGURE2 / "expected.jsonl").read_text()
    assert summary["rows"] == {"S": 2, "T": 4, "U": 2}
    assert (summary["peak"], summary["limit"], summary["quarantined"]) == (4, 5, {})


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
    summary = run(spark, job_of(TYPED_SQL, TYPED), tmp_path)
    found = read(tmp_path / "output")
    assert [result["_ts"] for result in found] == ["2024-01-01T00:00:10Z"] * 3 + ["2024-01-01T00:00:11Z"]
    assert found[0] == {
        'the "key"': None, "d": -0.05, "big": None, "born": None, "seen": None, "ok": None, "x": None,
        "name": "three", "c": -1.5, "_ts": "2024-01-01T00:00:10Z", "_mult": 1,
    }  # fmt: skip
    assert '"big":-12345678901234567890123456.1234,' in (tmp_path / "output").read_text()
    assert {"born": "2001-02-03", "seen": "2024-01-01T00:00:00.500000Z", "ok": True}.items() <= found[1].items()
    assert summary["quarantined"] == {"n is outside its domain": 1, "x is NaN": 1, "n is not an int": 1}


def test_no_valid_row_overflows_in_a_filter(tmp_path: Path) -> None:
    """The kernel's integers have no limit; Spark's have, so it must not compute with them."""
    far = f"S.a <= {2**63 - 1} AND S.y <= DATE '9999-12-31' + INTERVAL 99999999 DAYS AND S.d > -{10**35}"
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
    summary = run_here(job_of(sql, declared), tmp_path)
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


def test_a_relation_with_more_rows_than_declared_stops_the_job(tmp_path: Path) -> None:
    declared = {
        "streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}}},
        "relations": {"R": {"columns": {"a": "bigint"}, "rows": 2}},
    }
    job = job_of("SELECT S.a FROM S, R WHERE S.a = R.a", declared)
    write(tmp_path / "in" / "S.jsonl", {"a": 1, "ts": 0})
    write(tmp_path / "in" / "R.jsonl", {"a": 1}, {"a": 2}, {"a": "x"})
    assert run_here(job, tmp_path)["rows"] == {"S": 1, "R": 3}
    write(tmp_path / "in" / "R.jsonl", {"a": 1}, {"a": 2}, {"a": 2})
    with pytest.raises(JobError, match="relation R has 3 rows, more than the catalog's rows = 2") as caught:
        run_here(job, tmp_path, "--checkpoint", str(tmp_path / "again"))
    assert (caught.value.kind, caught.value.status) == ("rows", 1)


def test_more_entries_than_the_bound_stop_the_job(tmp_path: Path) -> None:
    batches(tmp_path / "in")
    job = figure2().job
    with pytest.raises(JobError, match="2 entries at timestamp 2, more than its bound M = 1") as caught:
        run_here(job, tmp_path, "--limit", "1")
    assert (caught.value.kind, caught.value.status) == ("limit", 1)
    assert not (tmp_path / "output").exists()


def test_streams_without_rows(spark: Any, tmp_path: Path) -> None:
    for name in ("S", "T", "U"):
        write(tmp_path / "in" / f"{name}.jsonl")
    summary = run(spark, figure2().job, tmp_path)
    assert (summary["rows"], summary["results"]) == ({"S": 0, "T": 0, "U": 0}, 0)
    assert read(tmp_path / "output") == read(tmp_path / "quarantine") == []
