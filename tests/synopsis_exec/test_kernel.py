"""Kernels of generated jobs, timestamp by timestamp: the paper's example, windows, ends of streams, sets, limits."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.simulate import ClosedTimestamp, replay
from streambound.synopsis_exec.variables import Names
from streambound_runtime.engine.block_joins import LONG_AGO
from streambound_runtime.spec import JobSpec
from support.jobs import FIGURE2, figure2
from support.kernel import Kernel
from support.product import decided

Rows = dict[str, list[dict[str, Any]]]
CATALOG: dict[str, Any] = {
    "streams": {
        name: {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "s": "string", "ts": "bigint"}}
        for name in ("S", "T", "U")
    },
    "relations": {"R": {"columns": {"a": "bigint", "b": "bigint"}}, "Q": {"columns": {"a": "bigint", "b": "bigint"}}},
}


def stream(*values: tuple[int, Any]) -> list[dict[str, Any]]:
    """Rows of ``(timestamp, a)``; b repeats a."""
    return [{"a": a, "b": a, "s": None, "ts": ts} for ts, a in values]


def job_of(sql: str, catalog: dict[str, Any] | None = None) -> JobSpec:
    declared = catalog or CATALOG
    return job_spec(make_plan(decided(sql, declared), catalog_from_mapping(declared)))


def synopsis_of(sql: str, relations: Rows | None = None, catalog: dict[str, Any] | None = None) -> Kernel:
    return Kernel(job_of(sql, catalog), relations or {})


def steps(sql: str, streams: Rows, relations: Rows | None = None) -> list[ClosedTimestamp]:
    filled = {"R": [], "Q": [], **(relations or {})}
    return list(replay(job_of(sql), filled, streams, tables=True))


def returned(found: list[ClosedTimestamp]) -> dict[int, list[tuple[tuple[Any, ...], int]]]:
    return {step.timestamp: [(tuple(row.values()), n) for row, n in step.results] for step in found if step.results}


def test_synopses_of_the_papers_figure_2_after_each_step() -> None:
    rows = {
        name: [json.loads(line) for line in (FIGURE2 / "data" / f"{name}.jsonl").read_text().splitlines()]
        for name in ("S", "T", "U")
    }
    found = list(replay(figure2().job, {}, rows, tables=True))
    tables = {step.timestamp: step.tables for step in found}
    assert tables == {
        0: {"{U}": {}, "{T, U}": {}},
        1: {"{U}": {(): 1}, "{T, U}": {}},
        2: {"{U}": {(): 1}, "{T, U}": {(2,): 1}},
        3: {"{U}": {(): 2}, "{T, U}": {(2,): 1}},
        4: {"{U}": {(): 2}, "{T, U}": {(1,): 2, (2,): 1}},  # the paper's s_p
        5: {"{U}": {(): 2}, "{T, U}": {(1,): 2, (2,): 1, (3,): 2}},  # with s_n, (3)×2
    }
    assert returned(found) == {5: [((42, 1), 2), ((42, 2), 1)]}


def test_a_job_is_read_and_its_plan_runs_without_spark() -> None:
    program = (
        "import sys\n"
        "sys.modules['pyspark'] = None\n"
        "from streambound.synopsis_exec.job_file import job_in\n"
        "from streambound_runtime.main import main\n"
        "from streambound.synopsis_exec.simulate import operator_of_circuit\n"
        "print(operator_of_circuit(job_in(sys.stdin.read()).plan, {}).limit)\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=figure2().text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "5\n"), done.stderr


def test_a_window_forgets_what_is_too_old() -> None:
    found = steps(
        "SELECT S.a FROM S, T WHERE S.ts <= T.ts AND T.ts <= S.ts + 2",
        {"S": stream((0, 1), (1, 2), (4, 3)), "T": stream((2, 0), (3, 0), (4, 0), (7, 0))},
    )
    assert returned(found) == {2: [((1,), 1), ((2,), 1)], 3: [((2,), 1)], 4: [((3,), 1)]}
    assert [step.tables["{S}"] for step in found] == [
        {(1, 0): 1}, {(1, 0): 1, (2, 1): 1}, {(2, 1): 1}, {}, {(3, 4): 1}, {},
    ]  # fmt: skip


def test_a_delay_does_not_tell_old_timestamps_apart() -> None:
    found = steps(
        "SELECT S.a FROM S, T WHERE T.ts >= S.ts + 3 AND S.a BETWEEN 0 AND 1",
        {"S": stream((0, 1), (1, 1), (9, 1)), "T": stream((3, 0), (20, 0))},
    )
    assert returned(found) == {3: [((1,), 1)], 20: [((1,), 3)]}
    assert found[-1].tables == {"{S}": {(1, LONG_AGO): 3}}


def test_a_table_that_waits_for_a_finite_stream_is_dropped_when_it_ends() -> None:
    found = steps(
        "SELECT S.a FROM S, T WHERE T.ts < 5 AND S.ts < T.ts",
        {"S": stream((0, 1), (3, 2), (6, 3)), "T": stream((2, 0), (4, 0), (7, 0))},
    )
    assert returned(found) == {2: [((1,), 1)], 4: [((1,), 1), ((2,), 1)]}
    assert found[-1].entries == 0


def test_values_are_clipped_where_the_future_cannot_tell_them_apart() -> None:
    found = steps(
        "SELECT 1 AS one FROM S, T WHERE S.ts < T.ts AND S.a < T.a AND S.a < 3 AND T.a > 0",
        {"S": stream((0, -(10**12)), (0, -5), (0, 0), (0, 2), (0, 3)), "T": stream((1, 1), (2, 2), (3, 10))},
    )
    assert found[0].tables == {"{S}": {(0,): 3, (2,): 1}}
    assert returned(found) == {1: [((1,), 3)], 2: [((1,), 3)], 3: [((1,), 4)]}


def test_equality_joins_look_up() -> None:
    sql = "SELECT S.a, T.b FROM S, T WHERE S.ts > T.ts AND S.a = T.a AND T.a BETWEEN 0 AND 9 AND T.b BETWEEN 0 AND 9"
    rows = [{"a": a, "b": b, "s": None, "ts": ts} for ts, (a, b) in enumerate([(1, 2), (1, 3), (2, 2), (1, 2)])]
    found = steps(sql, {"T": rows, "S": stream((9, 1), (10, 7))})
    assert returned(found) == {9: [((1, 2), 2), ((1, 3), 1)]}
    (branch,) = job_of(sql).plan.operators[0].synopsis.branches
    assert [name for t in branch.transitions for join in t.joins for name, _ in join.equal] == ["t_a"]


def test_relations_are_joined_with_each_other_once_and_an_empty_one_gives_nothing() -> None:
    sql = "SELECT S.a, Q.b FROM S, T, R, Q WHERE S.ts < T.ts AND S.a = R.a AND R.b = Q.a AND T.a = 1"
    relations = {"R": [{"a": 1, "b": 5}, {"a": 1, "b": 5}, {"a": 2, "b": None}], "Q": [{"a": 5, "b": None}]}
    streams = {"S": stream((0, 1), (0, 2), (0, None)), "T": stream((1, 1))}
    assert returned(steps(sql, streams, relations)) == {1: [((1, None), 2)]}
    nothing = steps(sql, streams, {**relations, "Q": []})
    assert returned(nothing) == {}
    assert [step.entries for step in nothing] == [0, 0]


def test_null_compares_with_nothing() -> None:
    found = steps("SELECT S.a, S.s FROM S WHERE S.a <> 3 OR S.s IS NULL", {"S": stream((0, None), (0, 3), (0, 4))})
    assert returned(found) == {0: [((None, None), 1), ((3, None), 1), ((4, None), 1)]}


def test_a_stream_used_twice_gets_its_rows_for_both() -> None:
    found = steps("SELECT x.a FROM S x, S y WHERE x.ts = y.ts AND x.a = y.a", {"S": stream((0, 1), (0, 1), (0, 2))})
    assert returned(found) == {0: [((1,), 4), ((2,), 1)]}


def test_branches_add_up() -> None:
    sql = "SELECT S.a FROM S WHERE S.a > 1 UNION ALL SELECT T.a FROM T UNION ALL SELECT 7 AS x FROM T WHERE T.a = 1"
    found = steps(sql, {"S": stream((0, 1), (0, 7)), "T": stream((0, 1), (0, 7))})
    assert returned(found) == {0: [((1,), 1), ((7,), 3)]}


def test_a_set_returns_each_result_once() -> None:
    found = steps(
        "SELECT DISTINCT S.a FROM S, T WHERE S.ts > T.ts AND S.a BETWEEN 1 AND 3",
        {"T": stream((0, 0), (1, 0)), "S": stream((0, 1), (1, 2), (1, 2), (2, 2), (3, 1), (3, 2))},
    )
    assert returned(found) == {1: [((2,), 1)], 3: [((1,), 1)]}
    assert found[-1].tables == {"{T}": {(): 1}, "results": {(2,): 1, (1,): 1}}


def test_counts_are_exact_and_never_wrap() -> None:
    names = [f"x{i}" for i in range(1, 4)]
    order = " AND ".join(f"{a}.ts < {b}.ts" for a, b in pairwise(names))
    synopsis = synopsis_of(f"SELECT 1 AS one FROM {', '.join(f'S {name}' for name in names)} WHERE {order}")
    assert [synopsis.close(now, {"S": stream((now, 1))}) for now in (1, 2)] == [[], []]
    synopsis.counted("{x1, x2}", 2**63 - 2)
    assert synopsis.close(5, {"S": stream((5, 1))}) == [((1,), 2**63 - 2)]
    with pytest.raises(OverflowError, match="timestamp 6 has more than 9223372036854775807 duplicates"):
        synopsis.close(6, {"S": stream((6, 1), (6, 2))})


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT S.a, T.b FROM S, T WHERE S.ts > T.ts AND S.a = T.a AND T.a BETWEEN 0 AND 9 AND T.b BETWEEN 0 AND 9",
        "SELECT S.a, T.s FROM S, T WHERE S.ts >= T.ts AND S.ts <= T.ts + 3 AND S.a = T.a",
        "SELECT DISTINCT S.a FROM S, T WHERE S.ts > T.ts AND S.a BETWEEN 0 AND 9 AND T.a = S.a",
    ],
)
def test_state_survives_arrow(sql: str) -> None:
    straight, restarted = synopsis_of(sql), synopsis_of(sql)
    for now in range(12):
        rows = {"S": stream((now, now % 3), (now, 1)), "T": stream((now, now % 2))}
        expected = straight.close(now, rows)
        saved = restarted.dump()
        restarted = synopsis_of(sql)
        restarted.load(saved)
        assert restarted.close(now, rows) == expected
        assert restarted.tables() == straight.tables()


def test_floats_of_any_size_survive_arrow() -> None:
    """Of integers those beyond 64 bits are written in another way."""
    names = {name: {"timestamp": "ts", "columns": {"a": "double", "ts": "bigint"}} for name in "ST"}
    sql = "SELECT S.a FROM S, T WHERE S.ts <= T.ts AND T.ts <= S.ts + 2"
    first, second = (synopsis_of(sql, catalog={"streams": names}) for _ in range(2))
    first.close(0, {"S": [{"a": a, "ts": 0} for a in (-1e300, 2.0**63, float("-inf"), float("inf"), 0.5, None)]})
    second.load(first.dump())
    assert second.tables() == first.tables()
    assert second.entries() == 6


def test_the_limit_uses_the_relations_as_they_are() -> None:
    sql = "SELECT R.b FROM S, T, R WHERE S.ts < T.ts AND S.a = R.a"
    assert synopsis_of(sql, {"R": [{"a": i, "b": i} for i in range(7)]}).limit == 7
    assert synopsis_of(sql, {"R": []}).limit == 0


def test_there_is_no_limit_where_a_rate_is_not_declared() -> None:
    sql = "SELECT S.a FROM S, T WHERE S.ts <= T.ts AND T.ts <= S.ts + 2"
    assert synopsis_of(sql).limit is None
    declared = {**CATALOG, "streams": {**CATALOG["streams"], "S": {**CATALOG["streams"]["S"], "max_per_timestamp": 4}}}
    assert synopsis_of(sql, catalog=declared).limit == 8


def test_names_are_python_names_and_unique() -> None:
    names = Names(("close",))
    given = [names.new(wanted) for wanted in ("S.a", "s a", "S_A", "class", "ключ", "", "9", "close")]
    assert len(set(given)) == len(given)
    assert all(name.isidentifier() and name != "class" for name in given)


def test_aliases_that_run_together_keep_apart() -> None:
    """`a`, `b_c` and `a_b`, `c` would name the same variables."""
    sql = (
        "SELECT a.a FROM S a, T b_c, U a_b, S c WHERE a.a = 1 AND b_c.a = 2 AND a_b.a = 3 AND c.a = 4 "
        "AND a.ts < b_c.ts AND a_b.ts < c.ts"
    )
    streams = {"S": stream((0, 1), (3, 4)), "T": stream((1, 2), (2, 2)), "U": stream((2, 3))}
    assert returned(steps(sql, streams)) == {3: [((1,), 2)]}
