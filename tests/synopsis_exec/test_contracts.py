"""Contracts at run time: rows per timestamp, the stop at a bad row, counters that are wide, duplicates as rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.recorded import recorded_rows
from streambound.synopsis_exec.useful import useful
from streambound_runtime import results
from streambound_runtime.errors import JobError
from support.circuits import circuit_plan
from support.embedded import run_here
from support.fed import Fed
from support.jobs import job_of, read, write
from support.kernel import Kernel
from support.product import decided

COLUMNS = {"a": "bigint", "ts": "bigint"}
SQL = "SELECT T.a FROM S, T WHERE S.ts > T.ts AND 0 < T.a AND T.a < 5"


def declared(**more: Any) -> dict[str, Any]:
    return {"streams": {name: {"timestamp": "ts", "columns": COLUMNS, **more} for name in ("S", "T")}}


def crowded_input(folder: Path) -> None:
    """Two files of T: four useful rows at 5, of which the second file brings one; three useless ones."""
    first = [{"a": a, "ts": 5} for a in (4, 2, 3, 9, 9, 9)]
    for number, rows in enumerate([first, [{"a": 1, "ts": 5}, {"a": 1, "ts": 6}, {"a": 2, "ts": 6}]]):
        write(folder / "T" / f"{number}.jsonl", *rows, modified=1_600_000_000 + number)
    for number, ts in enumerate((5, 8)):
        write(folder / "S" / f"{number}.jsonl", {"a": 0, "ts": ts}, modified=1_600_000_000 + number)


def test_rows_beyond_max_per_timestamp_are_quarantined(tmp_path: Path) -> None:
    """Only rows that the query can use count; of one batch those with the least texts stay, of several the first."""
    crowded_input(tmp_path / "in")
    summary = run_here(job_of(SQL, declared(max_per_timestamp=2)), tmp_path)
    assert summary["quarantined"] == {"more than max_per_timestamp = 2 rows": 2}
    assert [json.loads(row["row"]) for row in read(tmp_path / "quarantine")] == [{"a": 4, "ts": 5}, {"a": 1, "ts": 5}]
    assert [(row["a"], row["_ts"], row["_mult"]) for row in read(tmp_path / "output")] == [
        (1, 8, 1), (2, 8, 2), (3, 8, 1)
    ]  # fmt: skip


def test_rows_beyond_max_rate_are_quarantined(tmp_path: Path) -> None:
    """Three in any four units of time, those of earlier batches among them; the time between makes room again."""
    crowded_input(tmp_path / "in")
    write(tmp_path / "in" / "T" / "2.jsonl", *({"a": 3, "ts": ts} for ts in (8, 9, 9, 9, 9)), modified=1_600_000_002)
    write(tmp_path / "in" / "S" / "2.jsonl", {"a": 0, "ts": 10}, modified=1_600_000_002)
    summary = run_here(job_of(SQL, declared(max_rate={"rows": 3, "per": 4})), tmp_path)
    assert summary["quarantined"] == {"more than max_rate = 3 rows per 4": 5}
    bad = [(row["reason"], json.loads(row["row"])) for row in read(tmp_path / "quarantine")]
    gone = [{"a": 1, "ts": 5}, {"a": 1, "ts": 6}, {"a": 2, "ts": 6}, {"a": 3, "ts": 8}, {"a": 3, "ts": 9}]
    assert bad == [("max-rate", row) for row in gone]
    assert sum(row["_mult"] for row in read(tmp_path / "output") if row["_ts"] == 10) == 6


@pytest.mark.parametrize("contract", [{"max_per_timestamp": 3}, {"max_rate": {"rows": 6, "per": 2}}])
def test_explain_leaves_out_the_same_rows(tmp_path: Path, contract: dict[str, Any]) -> None:
    catalog = declared(**contract)
    plan = make_plan(decided(SQL, catalog), catalog_from_mapping(catalog))
    rows = [{"a": (7 * i) % 9, "ts": i % 4} for i in range(60)]
    write(tmp_path / "in" / "T.jsonl", *rows)
    write(tmp_path / "in" / "S.jsonl", {"a": 0, "ts": 9})
    replayed = recorded_rows(plan.streams[1], tmp_path / "in", useful(plan.streams[1], plan))
    summary = run_here(job_spec(plan), tmp_path)
    assert summary["quarantined"] == dict(replayed.quarantined)
    kept = [row["a"] for row in replayed.rows if 0 < row["a"] < 5]
    assert {row["a"]: row["_mult"] for row in read(tmp_path / "output")} == {a: kept.count(a) for a in set(kept)}
    assert len(kept) <= 3 * 4 < sum(0 < row["a"] < 5 for row in rows)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{", "not a JSON object: {"),
        ('{"a": 1}', 'ts is missing: {"a": 1}'),
        ('{"a": 2, "ts": 0}', 'more than max_per_timestamp = 1 rows: {"a": 2, "ts": 0}'),
    ],
)
def test_a_violation_stops_the_job_where_the_catalog_says_so(tmp_path: Path, bad: str, reason: str) -> None:
    """Nothing of the batch is kept, so that the corrected rows can be read again; S may still quarantine."""
    catalog = declared(max_per_timestamp=1)
    catalog["streams"]["T"]["on_violation"] = "stop"
    job = job_of(SQL, catalog)
    write(tmp_path / "in" / "S.jsonl", "{", {"a": 0, "ts": 9})
    write(tmp_path / "in" / "T.jsonl", {"a": 1, "ts": 0}, bad)
    with pytest.raises(JobError) as caught:
        run_here(job, tmp_path)
    where = f" in {tmp_path / 'in' / 'T.jsonl'}, line 2"
    assert str(caught.value) == f"T breaks its contract{where}: {reason}"
    assert (caught.value.kind, caught.value.status) == ("contract", 1)
    assert not (tmp_path / "output").exists()
    write(tmp_path / "in" / "T.jsonl", {"a": 1, "ts": 0})
    summary = run_here(job, tmp_path, "--checkpoint", str(tmp_path / "new"))
    assert summary["quarantined"] == {"not a JSON object": 1}
    assert [row["a"] for row in read(tmp_path / "output")] == [1]


def test_a_bad_row_of_a_relation_stops_the_job_where_the_catalog_says_so(tmp_path: Path) -> None:
    catalog = declared()
    catalog["relations"] = {"R": {"columns": {"a": "bigint"}, "on_violation": "stop"}}
    job = job_of("SELECT S.a FROM S, R WHERE S.a = R.a", catalog)
    write(tmp_path / "in" / "S.jsonl", {"a": 1, "ts": 9})
    write(tmp_path / "in" / "R.jsonl", {"a": 1}, *({"a": "x" * 500} for _ in range(3)))
    with pytest.raises(
        JobError,
        match=r"R breaks its contract in .*/R.jsonl, line 2: a is not a bigint: .*x…, and 2 more in this batch",
    ):
        run_here(job, tmp_path)


def test_duplicates_as_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_of("SELECT T.a FROM S, T WHERE S.ts > T.ts AND 0 < T.a AND T.a < 5", declared())
    monkeypatch.setattr(results, "_COPIES", 2)
    write(tmp_path / "in" / "T.jsonl", *({"a": a, "ts": 0} for a in (1, 1, 1, 1, 1, 2)))
    write(tmp_path / "in" / "S.jsonl", {"a": 0, "ts": 1})
    summary = run_here(job, tmp_path, "--multiplicity", "rows")
    assert read(tmp_path / "output") == [{"a": a, "_ts": 1, "_mult": 1} for a in (1, 1, 1, 1, 1, 2)]
    assert summary["results"] == 6


@pytest.mark.parametrize(("counters", "most"), [("bigint", 2**63 - 1), ("decimal", 10**38 - 1)])
def test_counts_beyond_their_type_raise_and_never_wrap(counters: str, most: int) -> None:
    """One S beside `most` pairs of T and U; then one pair more."""
    catalog: dict[str, Any] = declared()
    catalog["streams"]["U"] = catalog["streams"]["T"]
    catalog["counters"] = counters
    job = job_of("SELECT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND S.ts > U.ts", catalog)
    for more in (0, 1):
        synopsis = Kernel(job, {})
        assert synopsis.close(7, {name: [{"a": 0, "ts": 7}] for name in "TU"}) == []
        synopsis.counted("{T, U}", most)
        if more:
            assert synopsis.close(8, {"T": [{"a": 0, "ts": 8}]}) == []
            with pytest.raises(OverflowError, match=f"more than {most} duplicates"):
                synopsis.close(9, {"S": [{"a": 0, "ts": 9}]})
        else:
            assert synopsis.close(9, {"S": [{"a": 0, "ts": 9}]}) == [((1,), most)]


FIVE_PAIRS = "FROM S, T, U, V, W, X WHERE S.a = 1 AND " + " AND ".join(f"S.ts > {n}.ts AND {n}.a = 1" for n in "TUVWX")
COPIES = 9000


@pytest.mark.parametrize(
    ("counters", "select", "says"),
    [
        ("bigint", f"SELECT S.a {FIVE_PAIRS}", f"more than {2**63 - 1} duplicates"),
        ("decimal", f"SELECT S.a {FIVE_PAIRS}", ""),
        ("bigint", f"SELECT S.a {FIVE_PAIRS} EXCEPT ALL SELECT S.a FROM S WHERE S.a = 3", f"more than {2**63 - 1} dup"),
        ("decimal", f"SELECT S.a {FIVE_PAIRS} EXCEPT ALL SELECT S.a FROM S WHERE S.a = 3", ""),
        ("decimal", f"SELECT S.a, COUNT(*) AS n {FIVE_PAIRS} GROUP BY S.a",
         "groups 2: the count does not fit bigint"),
    ],
)  # fmt: skip
def test_results_with_more_duplicates_than_64_bits_hold(tmp_path: Path, counters: str, select: str, says: str) -> None:
    """Joins and circuits alike: `_mult` grows with `counters`, the query's own columns keep their types."""
    catalog: dict[str, Any] = {"streams": {n: {"timestamp": "ts", "columns": COLUMNS} for n in "STUVWX"}}
    declared = catalog_from_mapping({**catalog, "counters": counters})
    checked = check_source(SourceText("q.sql", select), declared)[0]
    plan = make_plan(checked.decision, declared) if checked.decision is not None else circuit_plan(checked)
    job = job_spec(plan, tick="timestamp")
    assert job.multiplicity == {"bigint": "bigint", "decimal": "decimal(38,0)"}[counters]
    fed, copies = Fed(job, tmp_path), [json.dumps({"a": 1, "ts": 1})] * COPIES
    batch = {**dict.fromkeys("TUVWX", copies), "S": [json.dumps({"a": 1, "ts": 5})]}
    if says:
        with pytest.raises(OverflowError, match=says):
            fed.feed({**batch}, 0)
            fed.driver.finish()
        return
    fed.feed(batch, 0)
    fed.start()
    fed.feed({"S": [json.dumps({"a": 1, "ts": 9})]}, 1)
    fed.driver.finish()
    assert [(row["_ts"], row["_mult"]) for row in read(tmp_path / "out.jsonl")] == [(5, COPIES**5), (9, COPIES**5)]
