"""Operators in ticks: what they print of some timestamps together is what they would print at each, added up."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from random_queries import Tally
from test_circuit_corpus import CASES

import streambound
from streambound.synopsis_exec.job_file import job_in
from streambound_runtime import database
from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.engine.over import SqlOver
from streambound_runtime.errors import JobError
from streambound_runtime.operators.delta import Delta
from streambound_runtime.placement.on_driver import operator_of
from streambound_runtime.spec import JobSpec
from streambound_runtime.text import printed
from support.circuits import (
    TWO_STREAMS,
    Circuit,
    Printed,
    by_tick,
    checked_circuit,
    expected,
    random_rows,
    reference,
    rounded,
)
from support.embedded import CATALOG as STREAMS
from support.embedded import counted, run_here, streams
from support.jobs import read, write
from support.profiles import MORE


def bounded(case: dict[str, Any]) -> bool:
    checked = checked_circuit(case["sql"], case["catalog"])
    return checked.circuit is not None and str(checked.verdict) == "bounded"


BOUNDED = [case for case in CASES if case["verdict"] == "bounded"]


@pytest.mark.xdist_group("corpus")
@pytest.mark.parametrize("case", BOUNDED, ids=lambda case: case["name"])
def test_public_cases_in_ticks(case: dict[str, Any]) -> None:
    """There never are more entries than M; of every fourth case restarts change nothing, and in the end entries are the
    same for all ticks. `test_embedded` has each timestamp as a tick, of some.
    """
    if not bounded(case):
        return
    circuit, wanted = Circuit(case, "batch"), expected(case["expected"])
    checked = checked_circuit(case["sql"], case["catalog"])
    assert checked.circuit_bound is not None
    random, left, times = Random(case["name"]), set[int](), circuit.times
    every = BOUNDED.index(case) % 4 == 0
    for number in range((1 + every) * MORE * bool(times)):
        cuts = cut_at_random(random, times)
        printed, peak, entries = circuit.run(cuts, restart=number % 2 == every)
        ends = [cut[-1] for cut in cuts]
        assert by_tick(with_times(printed), ends) == by_tick(wanted, ends)
        assert checked.circuit_bound.entries.value is None or peak <= checked.circuit_bound.entries.value
        left.add(entries)
    assert len(left) <= 1


def cut_at_random(random: Random, times: list[int]) -> list[list[int]]:
    places = sorted({0, *random.sample(range(len(times)), random.randrange(min(5, len(times)))), len(times)})
    return [times[start:stop] for start, stop in pairwise(places)]


def with_times(printed: list[tuple[int, int, tuple[Any, ...]]]) -> Printed:
    found = Printed()
    for time, n, row in printed:
        found[(*map(rounded, row), time)] += n
    return found


CATALOG = {**STREAMS, "relations": {"R": {"columns": {"x": "bigint"}}}}
STATEMENTS = {
    "groups": "SELECT a, COUNT(*) AS n, MAX(b) AS b FROM S GROUP BY a",
    "final groups": "-- streambound: emit final\nSELECT ts DIV 5 AS five, COUNT(*) AS n FROM S GROUP BY ts DIV 5",
    "a left join": "SELECT S.a, T.b FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 3",
    "final groups beside a relation": "-- streambound: emit final\nSELECT g.five, g.n, R.x FROM (SELECT ts DIV 5 AS "
                                      "five, COUNT(*) AS n FROM S GROUP BY ts DIV 5) AS g JOIN R ON g.n > R.x",
    "a final semi join": "-- streambound: emit final\nSELECT a, b FROM S WHERE EXISTS (SELECT 1 FROM T WHERE "
                         "T.a = S.a AND T.ts BETWEEN S.ts + 1 AND S.ts + 3)",
    "a join below groups": "SELECT S.a, COUNT(T.b) AS n FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND "
                           "S.ts + 3 GROUP BY S.a",
    "the least value so far": "SELECT a, b FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.b < S.b AND T.a = S.a AND "
                              "T.ts < S.ts - 2)",
    "the first rows": "SELECT a, b, rn FROM (SELECT a, b, ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts) AS rn FROM S) "
                      "AS q WHERE rn <= 2",
    "rows of one stream only": "SELECT a FROM S EXCEPT SELECT a FROM T WHERE a < 5",
}  # fmt: skip


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_run_in_ticks_leaves_what_a_run_by_timestamps_does(name: str, tmp_path: Path) -> None:
    """In batches of one file or of all; bad and late rows are the same."""
    left = []
    for tick, files in (("timestamp", "9"), ("batch", "9"), ("batch", "1")):
        folder = tmp_path / f"{tick} {files}"
        job = streambound.compile(STATEMENTS[name], CATALOG, tick=tick).compiled.job
        assert job_in(f"JOB = {printed(job)}") == job
        streams(folder, late=False)
        write(folder / "in" / "R.jsonl", {"x": 3}, {"x": 12})
        summary = run_here(job, folder, "--files-per-batch", files)
        assert summary["limit"] is None or summary["peak"] <= summary["limit"]
        output = read(folder / "output")
        assert "emit final" not in STATEMENTS[name] or all(row["_mult"] > 0 for row in output)
        rows = [{key: value for key, value in row.items() if key != "_ts"} for row in output]
        bad = sorted((row["stream"], row["reason"], row["row"]) for row in read(folder / "quarantine"))
        left.append((counted(rows), bad))
    assert left[0] == left[1] == left[2]
    assert left[0][0]


ASKING = [
    "EXISTS (SELECT 1 FROM T WHERE T.v < S.v AND T.ts < S.ts)",
    "NOT EXISTS (SELECT 1 FROM T WHERE T.v > S.v AND T.ts <= S.ts AND T.b = S.b)",
    "NOT EXISTS (SELECT 1 FROM T WHERE T.v >= S.v AND T.a >= S.v AND T.b <= S.b AND T.ts < S.ts - 3)",
    "EXISTS (SELECT 1 FROM T WHERE T.b = S.b AND T.ts < S.ts)",
    "EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.v < S.v AND T.ts BETWEEN S.ts - 5 AND S.ts - 2)",
    "NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 4 AND S.ts + 3)",
    "EXISTS (SELECT 1 FROM T WHERE T.ts < S.ts)",
]


@pytest.mark.parametrize("asked", ASKING)
def test_rows_find_older_ones_of_their_tick_and_of_those_before(asked: str) -> None:
    sql, found = f"SELECT a, v FROM S WHERE {asked}", 0
    for seed in range(2 * MORE):
        rows = random_rows(1, seed, 30)
        circuit = Circuit({"sql": sql, "catalog": TWO_STREAMS, "mode": "changes", "input": rows}, "batch")
        wanted = reference(sql, TWO_STREAMS, rows)
        for cuts in ([circuit.times], cut_at_random(Random(seed), circuit.times)):
            printed, _, _ = circuit.run(cuts, restart=bool(seed % 2))
            ends = [cut[-1] for cut in cuts]
            assert by_tick(with_times(printed), ends) == by_tick(wanted, ends), seed
            found += len(printed)
    assert found


PERIODS = {
    "time": {"domain": [0, 40]},
    "streams": {
        name: {
            "timestamp": "vb",
            "columns": {"a": "bigint", "x": "double", "vb": "bigint", "ve": "bigint"},
            "period": ["vb", "ve"],
            "max_valid": 4,
        }
        for name in ("r", "s")
    },
    "relations": {"u": {"columns": {"a": "bigint", "vb": "bigint", "ve": "bigint"}, "period": ["vb", "ve"]}},
}
BLOCKS = {
    "groups": "SEQ VT (SELECT a, COUNT(*) AS n, AVG(x + 1) AS m FROM r GROUP BY a)",
    "a global aggregate": "SEQ VT (SELECT COUNT(*) AS n FROM r)",
    "an outer join": "SEQ VT (SELECT r.a, s.x FROM r LEFT JOIN s ON r.a = s.a AND r.x < s.x)",
    "a relation": "SEQ VT (SELECT r.x FROM r JOIN u ON r.a + 1 = u.a)",
    "parts": "-- streambound: emit parts\nSEQ VT (SELECT r.x, s.a FROM r JOIN s ON r.a = s.a)",
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_run_of_rows_with_periods_in_ticks(name: str, tmp_path: Path) -> None:
    """The rows that are one too many at a time are the same ones."""
    left = []
    for tick, files in (("timestamp", "9"), ("batch", "9"), ("batch", "1")):
        folder = tmp_path / f"{tick} {files}"
        job = streambound.compile(BLOCKS[name], PERIODS, tick=tick).compiled.job
        assert job_in(f"JOB = {printed(job)}") == job
        for number, stream in ((number, stream) for number in range(3) for stream in ("r", "s")):
            times = range(10 * number, 10 * number + 10)
            rows = [{"a": t % 3, "x": t / 2, "vb": t, "ve": t + (4 if stream == "r" else 6)} for t in times]
            write(folder / "in" / stream / f"{number}.jsonl", *rows, modified=1_600_000_000 + number)
        write(folder / "in" / "u.jsonl", {"a": 1, "vb": 3, "ve": 30}, {"a": 2, "vb": 0, "ve": 12})
        summary = run_here(job, folder, "--files-per-batch", files)
        assert summary["limit"] is None or summary["peak"] <= summary["limit"]
        bad = sorted((row["stream"], row["reason"], row["row"]) for row in read(folder / "quarantine"))
        left.append((counted(read(folder / "output")), bad))
    assert left[0] == left[1] == left[2]
    assert left[0][0]
    assert bool(left[0][1]) == ("s" in {stream.name for stream in job.streams})


def test_a_row_and_its_retraction_in_one_tick_cancel(tmp_path: Path) -> None:
    found = {}
    for tick in ("timestamp", "batch"):
        job = streambound.compile("SELECT COUNT(*) AS n FROM S", CATALOG, tick=tick).compiled.job
        streams(tmp_path / tick, late=False)
        run_here(job, tmp_path / tick, "--files-per-batch", "9")
        found[tick] = [(row["n"], row["_ts"], row["_mult"]) for row in read(tmp_path / tick / "output")]
    assert len(found["timestamp"]) > 20
    assert len(found["batch"]) <= 3
    assert [row for row in found["batch"] if row[2] > 0][-1][0] == [r for r in found["timestamp"] if r[2] > 0][-1][0]


def test_a_sum_beyond_its_type_is_an_error_in_words(tmp_path: Path) -> None:
    tables = {"streams": {"S": {"timestamp": "ts", "columns": {"v": "bigint", "ts": "bigint"}}}}
    job = streambound.compile("SELECT SUM(v) AS total FROM S", tables, tick="batch").compiled.job
    write(tmp_path / "in" / "S.jsonl", *({"v": 2**62, "ts": time} for time in range(3)))
    with pytest.raises(OverflowError, match="the sum does not fit bigint"):
        run_here(job, tmp_path)


def test_memory_that_is_full_is_an_error_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_instance", database._instance.__wrapped__)
    monkeypatch.setattr(database, "_memory", lambda: "8MiB")
    tables = {
        "streams": {"S": {"timestamp": "ts", "columns": {"k": "bigint", "ts": "bigint"}, "max_per_timestamp": 10**6}}
    }
    job = streambound.compile("SELECT ts, k FROM S GROUP BY ts, k", tables, tick="batch").compiled.job
    rows = {"k": np.arange(400_000), "ts": np.zeros(400_000, dtype=np.int64)}
    operator = operator_of(job, {})
    with pytest.raises(JobError, match=r"a batch and what is kept need more memory: .* used\); let batches be smaller"):
        operator.step({"S": Delta(rows["ts"], None, rows)})


def test_the_states_of_several_windows_have_limits_of_their_own() -> None:
    """The last row for LAG, and no row of a time that is over."""
    tables = {"streams": {"S": {"timestamp": "ts", "columns": {"v": "bigint", "ts": "bigint"}}}}
    frame = "ORDER BY ts RANGE BETWEEN CURRENT ROW AND CURRENT ROW"
    for calls in ("LAG(v) OVER (ORDER BY ts), SUM(v) OVER ({})", "SUM(v) OVER ({}), LAG(v) OVER (ORDER BY ts)"):
        plan = streambound.compile(f"SELECT {calls.format(frame)} FROM S", tables, tick="batch").compiled.job.plan
        of_calls = {one.name: one.calls[0].function for one in plan.operators if isinstance(one, SqlOver)}
        assert {of_calls[one.operator]: one.at_most for one in plan.kept} == {"lag": 1, "sum": 0}


@pytest.mark.slow
def test_random_statements_are_what_duckdb_returns_after_each_tick() -> None:
    tally = Tally(tick="batch")
    for seed in range(100, 100 + MORE):
        tally.seed(seed)
    assert tally.wrong == []
    assert tally.counts["counted"] > 5 * MORE
    assert tally.counts["bounded"] and tally.counts["retired"] and tally.counts["retracted"], tally.told


def test_a_tick_takes_the_entries_that_its_rows_look_up() -> None:
    """Its time goes with its rows, however large the state is."""
    table = {"timestamp": "ts", "columns": dict.fromkeys(("k", "v", "ts"), "bigint")}
    sql = "SELECT S.v, T.v AS w FROM S, T WHERE S.k = T.k AND S.ts <= T.ts AND T.ts <= S.ts + 1000"
    job = streambound.compile(sql, {"streams": {"S": table, "T": table}}).compiled.job
    assert isinstance(job, JobSpec)
    engine, every = operator_of(job, {}), np.arange(500)
    (block,) = (one for one in engine.operators.values() if isinstance(one, SqlBlock))
    engine.step({"S": Delta(every, None, {"k": every, "v": every})})
    for keys in ([3, 4, 9], [7], [800]):
        found = engine.step({"T": Delta(np.full(len(keys), 600), None, {"k": np.array(keys), "v": np.array(keys)})})
        assert (
            found.size
            == engine.session.size(engine.tables[block.name].temporary("keys_0_0"))
            == sum(key < 500 for key in keys)
        )
