"""Operators in ticks: what they print of some timestamps together is what they would print at each, added up."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from random_queries import Tally
from test_circuit_corpus import CASES

import streambound
from streambound.analyzer.errors import UsageError
from streambound.synopsis_exec.job_file import job_in
from streambound_runtime.text import printed
from support.circuits import Circuit, Printed, by_tick, checked_once, expected, rounded
from support.embedded import CATALOG, counted, run_here, streams
from support.jobs import read, write
from support.profiles import MORE


def bounded(case: dict[str, Any]) -> bool:
    checked = checked_once(case["sql"], case["catalog"])
    return checked.circuit is not None and str(checked.verdict) == "bounded"


BOUNDED = [case for case in CASES if case["verdict"] == "bounded"]
WITHOUT = {"trap_semi_ineq_past_0"}
"""Cases of which the engine has not all operators: a semi join that keeps the least or greatest time."""


@pytest.mark.parametrize("case", BOUNDED, ids=lambda case: case["name"])
def test_public_cases_in_ticks(case: dict[str, Any]) -> None:
    """Restarts change nothing; there never are more entries than M, and in the end they are the same for all ticks.

    Of some cases each timestamp is a tick, too.
    """
    if not bounded(case) or case["name"] in WITHOUT:
        return
    circuit, wanted = Circuit(case, "batch"), expected(case["expected"])
    checked = checked_once(case["sql"], case["catalog"])
    assert checked.circuit_bound is not None
    random, left, times = Random(case["name"]), set[int](), circuit.times
    several = [[[time] for time in times]] if BOUNDED.index(case) % 4 == 0 else []
    several += [cut_at_random(random, times) for _ in range(2 * bool(times))]
    for cuts in several:
        printed, peak, entries = circuit.run(cuts, restart=random.random() < 0.5)
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


def test_what_has_no_operator_yet_is_refused_with_a_way_out() -> None:
    (case,) = (case for case in BOUNDED if case["name"] in WITHOUT)
    with pytest.raises(UsageError, match="no such operator yet") as refused:
        Circuit(case, "batch")
    assert refused.value.remedy == "leave --tick out"


STATEMENTS = {
    "groups": "SELECT a, COUNT(*) AS n, MAX(b) AS b FROM S GROUP BY a",
    "final groups": "-- streambound: emit final\nSELECT ts DIV 5 AS five, COUNT(*) AS n FROM S GROUP BY ts DIV 5",
    "a left join": "SELECT S.a, T.b FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 3",
    "a join below groups": "SELECT S.a, COUNT(T.b) AS n FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND "
                           "S.ts + 3 GROUP BY S.a",
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
        summary = run_here(job, folder, "--files-per-batch", files)
        assert summary["limit"] is None or summary["peak"] <= summary["limit"]
        rows = [{key: value for key, value in row.items() if key != "_ts"} for row in read(folder / "output")]
        bad = sorted((row["stream"], row["reason"], row["row"]) for row in read(folder / "quarantine"))
        left.append((counted(rows), bad))
    assert left[0] == left[1] == left[2]
    assert left[0][0]


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


@pytest.mark.slow
def test_random_statements_are_what_duckdb_returns_after_each_tick() -> None:
    tally = Tally(tick="batch")
    for seed in range(100, 100 + 4 * MORE):
        tally.seed(seed)
    assert tally.wrong == []
    assert tally.counts["counted"] > 20 * MORE
    assert tally.counts["bounded"] and tally.counts["retired"] and tally.counts["retracted"], tally.told
