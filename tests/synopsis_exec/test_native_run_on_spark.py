"""Spark's own operators of statements beyond joins, and what they return beside batch SQL over the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from streambound.api import catalog_of
from streambound.jobs import planned_circuit
from streambound.recheck.oracle.spark_batch import BatchStatement
from streambound.recheck.oracle.spark_results import ResultCounts, rows_counts, run_counts
from streambound.synopsis_exec import memory_processes
from streambound.synopsis_exec.measuring import run_native
from streambound.synopsis_exec.memory_processes import Load, event_of
from streambound.synopsis_exec.native_run import NativeRun, run_operators
from streambound.synopsis_exec.recorded_streams import write_part
from streambound.synopsis_exec.stream_sizes import CountedRows
from support.catalogs import streams
from support.plans import plan_of
from support.product import checked, parsed

CATALOG = streams("S T")
WINDOW = "SELECT S.ts DIV 10 AS w, S.a, COUNT(*) AS n FROM S GROUP BY S.ts DIV 10, S.a"
LEFT = "SELECT S.a, S.b, T.b AS c FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 3"
BATCHES = 4
ROWS = [(("S", "T")[n % 2], {"a": n % 3, "b": n, "ts": 1 + n // 4}) for n in range(160)]

Native = Callable[..., tuple[NativeRun, BatchStatement]]


@pytest.fixture
def native(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Native:
    """Run a statement in this process in four batches, to the last of which ``late`` rows are added."""

    def watch(folder: Path, request: Any, *others: Any) -> Any:
        said: list[Any] = []
        status = run_native(json.loads(json.dumps(request)), said.append)
        return status, [event_of(json.dumps(one)) for one in said]

    def call(sql: str, columns: int, late: tuple[Any, ...] = ()) -> Any:
        counted = CountedRows(plan_of("SELECT S.a FROM S, T WHERE S.ts = T.ts", CATALOG))
        rows = list(counted.pass_on(iter(ROWS)))
        each = len(rows) // BATCHES
        cut = [rows[number * each : (number + 1) * each] for number in range(BATCHES)]
        for number, mine in enumerate([*cut[:-1], [*cut[-1], *late]]):
            for name in ("S", "T"):
                lines = [json.dumps(row) + "\n" for other, row in mine if other == name]
                write_part(tmp_path / "in", name, number, lines)
        (tmp_path / "native.log").touch()
        catalog = catalog_of(CATALOG)
        statement = BatchStatement(sql, parsed(sql), catalog, tuple(f"c{n}" for n in range(columns)))
        inputs = plan_of("SELECT S.a FROM S, T WHERE S.ts = T.ts", CATALOG).inputs
        load = Load(len(rows), BATCHES, "512m", len(rows), 60)
        return run_operators(tmp_path, statement, inputs, load, counted, lambda rows: None), statement

    monkeypatch.setattr(memory_processes, "watch", watch)
    return call


def _counts(spark: Any, found: tuple[NativeRun, BatchStatement]) -> ResultCounts:
    run, statement = found
    assert run.output is not None and run.native.ended == "done", run.native
    return rows_counts(spark, statement, run.rows, run.output, None if run.native.complete else run.closed)


def test_a_windowed_aggregation_returns_what_batch_sql_does_and_keeps_open_windows(spark: Any, native: Native) -> None:
    run, statement = native(WINDOW, 3)
    assert [sample.tuples for sample in run.native.samples] == [40, 80, 120, 160]
    assert all(3 <= sample.state_rows <= 9 for sample in run.native.samples)
    assert _counts(spark, (run, statement)) == ResultCounts(14, 0, 0)


def test_late_rows_are_dropped_and_their_results_missing_or_wrong(spark: Any, native: Native) -> None:
    late = [("S", {"a": 0, "b": 1, "ts": 2}), ("S", {"a": 7, "b": 1, "ts": 2})]
    run, statement = native(WINDOW, 3, late=tuple(late))
    counts = _counts(spark, (run, statement))
    # Spark counts one row less of group 0, and has no group 7.
    assert (run.native.dropped, counts) == (2, ResultCounts(15, 2, 1))


def test_an_outer_join_within_an_interval(spark: Any, native: Native) -> None:
    run, statement = native(LEFT, 3)
    assert all(sample.state_rows > 0 for sample in run.native.samples)
    counts = _counts(spark, (run, statement))
    assert counts.expected > 100 and (counts.missing, counts.wrong) == (0, 0)


def test_duplicates_and_groups_without_an_end_are_kept_for_ever(spark: Any, native: Native) -> None:
    run, statement = native("SELECT DISTINCT S.a FROM S", 1)
    assert run.native.samples[-1].state_rows == 3
    assert _counts(spark, (run, statement)) == ResultCounts(3, 0, 0)


def test_complete_mode_where_no_watermark_ends_a_group(spark: Any, native: Native) -> None:
    run, statement = native("SELECT S.b, COUNT(*) AS n FROM S GROUP BY S.b", 2)
    assert "append" in run.native.complete and run.native.samples[-1].state_rows == 80
    assert _counts(spark, (run, statement)) == ResultCounts(80, 0, 0)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (LEFT.replace(" AND T.ts BETWEEN S.ts AND S.ts + 3", ""), "not supported without a watermark"),
        ("SELECT S.a FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.a = S.a)", "Streaming query is not allowed in sub"),
        ("SELECT S.a FROM S EXCEPT SELECT T.a FROM T", "Except on a streaming DataFrame"),
    ],
)
def test_what_spark_refuses_is_said_in_its_words(native: Native, sql: str, reason: str) -> None:
    run, _ = native(sql, 1 if "S.b" not in sql else 3)
    assert reason in run.native.refused and run.native.samples == () and run.output is None


def test_what_a_job_printed_is_summed_up(spark: Any, tmp_path: Path) -> None:
    write_part(tmp_path / "in", "S", 0, [json.dumps(row) + "\n" for name, row in ROWS if name == "S"])
    sql = "SELECT S.a, COUNT(*) AS n FROM S GROUP BY S.a"
    statement = BatchStatement(sql, parsed(sql), catalog_of(CATALOG), ("a", "n"))
    printed = [(0, 27, 1), (1, 26, 1), (1, 26, -1), (1, 25, 1), (2, 27, 1), (2, 27, 1)]
    lines = [json.dumps({"a": a, "n": n, "_ts": "9", "_mult": number}) for a, n, number in printed]
    (tmp_path / "out.jsonl").write_text("\n".join(lines))
    found = run_counts(spark, statement, tmp_path / "in", tmp_path / "out.jsonl")
    assert asdict(found) == {"expected": 3, "missing": 1, "wrong": 2}


def test_rows_of_a_relation_that_changes_are_those_that_are_left(spark: Any, tmp_path: Path) -> None:
    """Batch SQL reads what replaced and deleted rows leave; for a stream of changes Spark has no operator."""
    changes = {"timestamp": "ts", "op": "op", "key": ["k"]}
    relation = {"columns": {"k": "bigint", "v": "bigint"}, "rows": 9, "changes": changes}
    catalog = {**CATALOG, "relations": {"R": relation}}
    told = [(1, 5, "insert"), (2, 5, "insert"), (1, 6, "insert"), (2, 5, "delete"), (3, 7, "insert")]
    lines = [json.dumps({"k": k, "v": v, "op": op, "ts": ts}) + "\n" for ts, (k, v, op) in enumerate(told, start=1)]
    write_part(tmp_path / "in", "R", 0, lines)
    sql = "SELECT R.k, SUM(R.v) AS v FROM R GROUP BY R.k"
    statement = BatchStatement(sql, parsed(sql), catalog_of(catalog), ("k", "v"))
    printed = [(1, 5, 1), (2, 5, 1), (1, 5, -1), (1, 6, 1), (3, 7, 1)]
    rows = [json.dumps({"k": k, "v": v, "_ts": "9", "_mult": number}) for k, v, number in printed]
    (tmp_path / "out.jsonl").write_text("\n".join(rows))
    found = run_counts(spark, statement, tmp_path / "in", tmp_path / "out.jsonl")
    assert asdict(found) == {"expected": 2, "missing": 0, "wrong": 1}  # the row of 2 was not taken back
    plan = planned_circuit(checked(sql, catalog), catalog_of(catalog))
    assert plan is not None
    load, counted = Load(5, 1, "512m", 5, 60), CountedRows(plan)
    run = run_operators(tmp_path, statement, plan.inputs, load, counted, lambda rows: None)
    assert run.native.refused.startswith("Spark has no such operator: a row of R that is replaced or deleted")
