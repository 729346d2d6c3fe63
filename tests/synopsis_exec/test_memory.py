"""What `memory` makes of the reports of its processes, and the query that it gives to Spark's own join."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.errors import StreamboundError
from streambound.api import catalog_of, statement_of
from streambound.jobs import batch_statement
from streambound.synopsis_exec import memory, memory_processes, native_run
from streambound.synopsis_exec.feeds import feed
from streambound.synopsis_exec.job_file import compiled
from streambound.synopsis_exec.measuring import Process, resident, running
from streambound.synopsis_exec.memory import Measurement, measure
from streambound.synopsis_exec.memory_processes import Load, event_of
from streambound.synopsis_exec.spark_progress import progress_of, spark_state
from streambound.synopsis_exec.stream_sizes import CountedRows, sizes
from support.plans import W1, W1_SQL, plan_of

LOAD = Load(tuples=100, batches=4, heap="512m", native_tuples=50, native_seconds=9)
SIZES = {"heap": 1, "java": 2, "python": 3, "state_rows": 0, "state_bytes": 0}
TOLD = {"rows": 50, "closed": 9, "limit": None, "quarantined": 0, "pending": 0, "waits_for": {}, "results": 1}
JOB = [
    {"batch": 0, "tuples": 50, "seconds": 1.0, "entries": 3, "peak": 4, "bytes": 40, **TOLD, **SIZES},
    {"batch": 1, "tuples": 100, "seconds": 2.0, "entries": 3, "peak": 3, "bytes": 39, **TOLD, **SIZES},
    {"summary": "q", "rows": {}, "quarantined": {"late": 2}, "results": 7, "peak": 4, "limit": None, "waited_for": {}},
]
NATIVE = [{"batch": 0, "tuples": 25, "seconds": 1.0, **SIZES, "state_rows": 25}, {"ended": True}]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Measurement]:
    """Measure with given reports of the processes, their exit status and their logs."""

    def call(
        job: list[Any], native: list[Any] = NATIVE, status: int = 0, log: str = "", sql: str = W1_SQL, catalog: Any = W1
    ) -> Any:
        def watch(folder: Path, request: Any, heap: str, file: Path, seconds: Any, on_rows: Any) -> Any:
            assert heap == "512m"
            file.write_text(log if request["what"] == "native" else "")
            if request["what"] == "native":
                assert seconds == 9 + native_run.GRACE
                assert request["tuples"] == [25, 50]
                assert len(list(Path(request["input"]).glob("T/*.jsonl"))) == 2
                return status, [event_of(json.dumps(event)) for event in native]
            assert len(list((folder / "in" / "S").iterdir())) == 4
            return (0 if "summary" in job[-1] else 1), [event_of(json.dumps(event)) for event in job]

        monkeypatch.setattr(memory_processes, "watch", watch)
        monkeypatch.setattr(memory, "check_spark", lambda: None)
        plan, known = plan_of(sql, catalog), catalog_of(catalog)
        statement = batch_statement(statement_of(sql, known, None), known, plan)
        return measure(compiled(plan), statement, feed(plan, 0, 100), "random", LOAD)

    return call


def test_a_measurement(measured: Callable[..., Measurement]) -> None:
    found = measured(JOB)
    assert (found.peak, found.limit, found.constant, found.stopped) == (4, 36, True, "")
    assert (found.results, found.quarantined, sum(found.rows.values())) == (7, 2, 100)
    assert [(sample.tuples, sample.bytes) for sample in found.samples] == [(50, 40), (100, 39)]
    assert (found.bytes, found.limit_bytes) == (40, 36 * (9 + 9 + 8))  # two numbers and how many
    assert found.native is not None
    assert (found.native.ended, found.native.samples[0].state_rows) == ("done", 25)


def test_more_entries_than_m(measured: Callable[..., Measurement]) -> None:
    found = measured([{**JOB[0], "peak": 37}, *JOB[1:]])
    assert (found.peak, found.constant) == (37, False)


def test_entries_that_are_larger_than_they_can_be(measured: Callable[..., Measurement]) -> None:
    assert measured([{**JOB[0], "bytes": 936}, *JOB[1:]]).constant
    assert not measured([{**JOB[0], "bytes": 937}, *JOB[1:]]).constant


def test_a_job_that_stops_at_its_bound(measured: Callable[..., Measurement]) -> None:
    found = measured([JOB[0], {"error": "limit", "message": "the synopsis has 37 entries"}])
    assert (found.constant, found.stopped, len(found.samples)) == (False, "the synopsis has 37 entries", 1)


def test_m_is_as_the_job_says_where_spark_computes_what_it_is_of(measured: Callable[..., Measurement]) -> None:
    columns = {"a": "bigint", "ts": "bigint"}
    catalog = {
        "streams": {name: {"timestamp": "ts", "columns": columns} for name in "ST"},
        "relations": {"R": {"columns": {"k": "bigint", "v": "bigint"}, "rows": 20}},
    }
    sql = (
        "SELECT S.a FROM S, T, (SELECT k, MAX(v) AS m FROM R GROUP BY k) q "
        "WHERE S.a >= 0 AND S.a < q.m AND S.a = T.a AND S.ts < T.ts"
    )
    found = measured([{**JOB[0], "limit": 4}, *JOB[1:]], sql=sql, catalog=catalog)
    assert (found.formula, found.limit, found.limit_bytes, found.curve) == ("max(0, max_q_m)", 4, None, "at M")
    with pytest.raises(StreamboundError, match="of what Spark computes of relations and of the streams' rates"):
        measured(JOB, sql=sql, catalog=catalog)


def test_a_job_that_fails(measured: Callable[..., Measurement]) -> None:
    with pytest.raises(StreamboundError, match="no such file"):
        measured([{"error": "input", "message": "no such file"}])


@pytest.mark.parametrize(
    ("native", "status", "log", "expected"),
    [
        ([{"refused": "[X] no"}], 0, "", ("", "[X] no", "", "")),
        ([{"keyed": "why"}, *NATIVE], 0, "", ("done", "", "why", "")),
        ([NATIVE[0], {"stopped": True}], 0, "", ("stopped", "", "", "")),
        ([NATIVE[0]], 3, "java.lang.OutOfMemoryError: Java heap space", ("out of memory", "", "", "")),
        ([NATIVE[0], {"refused": "Answer is empty"}], 0, "OutOfMemoryError", ("out of memory", "", "", "")),
        ([NATIVE[0]], -9, "", ("stopped", "", "", "")),
        ([NATIVE[0], {"refused": "boom"}], 0, "", ("failed", "", "", "boom")),
        ([], 1, "x\nValueError: no disk\n", ("failed", "", "", "ValueError: no disk")),
    ],
)  # fmt: skip
def test_how_sparks_own_join_ends(
    measured: Callable[..., Measurement], native: list[Any], status: int, log: str, expected: tuple[str, ...]
) -> None:
    found = measured(JOB, native, status, log).native
    assert found is not None
    assert (found.ended, found.refused, found.keyed, found.reason) == expected


def test_one_stream_is_no_join(measured: Callable[..., Measurement]) -> None:
    found = measured(JOB, sql="SELECT S.K FROM S WHERE S.K < 3").native
    assert found is not None and "reads one stream" in found.refused


def test_m_of_the_streams_that_were_sent() -> None:
    catalog = {
        "streams": {n: {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}} for n in "ST"},
        "relations": {"R": {"columns": {"a": "bigint"}}},
    }
    plan = plan_of("SELECT T.a, S.a AS s FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 3", catalog)
    counted = CountedRows(plan)
    for _, _ in zip(range(100), counted.pass_on(feed(plan, None, 100).rows), strict=False):
        pass
    assert counted.rates == {"S": 8, "T": 8}
    assert sizes(plan, plan.bound.entries, {}, counted.rates, counted.brought) == {"c_T": 8}
    plan = plan_of("SELECT T.a FROM S, T, R WHERE S.ts > T.ts AND T.a > R.a AND T.a < 9", catalog)
    rows = {"R": [{"a": 3}, {"a": None}, {"a": 7}]}
    assert sizes(plan, plan.bound.entries, rows, {"S": 1, "T": 1}, {}) == {"min_R_a": 3}


def test_m_is_evaluated_on_the_values_that_a_finite_stream_brings_before_it_ends() -> None:
    columns = {"a": "bigint", "ts": "bigint"}
    catalog = {"streams": {name: {"timestamp": "ts", "columns": columns} for name in "STF"}}
    plan = plan_of("SELECT T.a FROM S, T, F WHERE S.ts > T.ts AND F.ts < 3 AND T.a > F.a AND T.a < 9", catalog)
    rows = [("F", 0, 4), ("T", 1, 0), ("F", 1, None), ("F", 2, 6), ("F", 2, 5), ("F", 3, 1)]
    counted = CountedRows(plan)
    assert len(list(counted.pass_on((name, {"a": a, "ts": ts}) for name, ts, a in rows))) == len(rows)
    assert sizes(plan, plan.bound.entries, {}, counted.rates, counted.brought) == {
        "c_F": 2,
        "c_T": 1,
        "min_F_a": 4,
    }


def test_spark_state_sums_operators() -> None:
    one = {"stateOperators": [{"numRowsTotal": 2, "memoryUsedBytes": 10}, {"numRowsTotal": 3, "memoryUsedBytes": 1}]}
    assert spark_state([progress_of(json.dumps(each)) for each in (one, {})]) == {"state_rows": 5, "state_bytes": 11}


def test_resident_memory_of_a_tree_of_processes() -> None:
    processes = {
        1: Process(0, "init", 1), 2: Process(1, "python", 10), 3: Process(2, "java", 100),
        4: Process(3, "python3.12", 1000), 5: Process(1, "java", 10_000), 6: Process(3, "java", 100),
    }  # fmt: skip
    assert resident(2, processes) == {"java": 100, "python": 1010}
    mine = running()[os.getpid()]
    assert mine.resident > 1_000_000
    assert resident(os.getpid())["python"] >= 1_000_000
