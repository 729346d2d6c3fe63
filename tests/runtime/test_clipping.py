"""Rows that are clipped and combined before they come to the operator leave the same tables and results."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given

from streambound.synopsis_exec.job_file import compiled
from streambound.synopsis_exec.simulate import operator_of_circuit
from streambound_runtime.decoding.json_objects import encoded_array
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.operators.clipping import clipped, clips
from streambound_runtime.operators.pending import Pending, combined
from streambound_runtime.spec import JobSpec, Stream
from support.choices import Choices, drawn
from support.jobs import job_of
from support.kernel_cases import Case, make_case, plan_of
from support.profiles import MORE, examples
from support.queries import Features

COLUMNS = {"a": "bigint", "b": "bigint", "ts": "bigint"}
STREAMS: dict[str, Any] = {name: {"timestamp": "ts", "columns": COLUMNS} for name in "STU"}
CATALOG: dict[str, Any] = {"streams": STREAMS, "relations": {"R": {"columns": {"a": "bigint", "b": "bigint"}}}}
RELATIONS = {"R": [{"a": 3, "b": 1}, {"a": 7, "b": 2}]}
INF = float("inf")


def open_table(stream: Stream, rows: list[dict[str, Any]]) -> pa.Table:
    kinds = {column.name: sql_type(column.type) for column in stream.columns}
    columns = [pa.array([row[stream.timestamp] for row in rows], pa.int64())]
    columns += [encoded_array([row[name] for row in rows], kinds[name]) for name in stream.needs]
    fields = [pa.field("", pa.int64()), *(pa.field(name, kinds[name].encoded) for name in stream.needs)]
    return pa.table(columns, schema=pa.schema(fields))


def check(case: Case, job: JobSpec) -> Counter[str]:
    """As a cluster does it and as the driver does it alone; how many rows come to the driver, and came."""
    relations, encoded = case.encoded()
    ends, seen = clips(job, relations), Counter(clipped=0)
    here, there = Pending(job.streams), Pending(job.streams)
    for number, stream in enumerate(job.streams):
        rows = open_table(stream, encoded.get(stream.name, []))
        tasks = [rows.slice(start, 30) for start in range(0, rows.num_rows, 30)]
        alike = [combined(task) for task in tasks]
        fewer = [combined(clipped(task, stream, ends[number])) for task in tasks]
        here.add(stream.name, tasks)
        there.add(stream.name, fewer)
        seen["clipped"] += len(ends[number])
        seen["saved"] += sum(table.num_rows for table in alike) - sum(table.num_rows for table in fewer)
    operators = [operator_of_circuit(job.plan, relations, job.streams) for _ in range(2)]
    for until in [*here.open()[2::3].tolist(), None]:
        one, other = ([*waiting.closed(until, 1 << 20)] for waiting in (here, there))
        if not one:
            continue
        results = [operator.step(delta) for operator, delta in zip(operators, (*one, *other), strict=True)]
        left, right = (sorted(zip(r.time, r.weights(), r.rows(), strict=True), key=str) for r in results)
        assert left == right, case.sql
        seen["results"] += len(left)
        dumps = [operator.dump() for operator in operators]
        kept = [{name: Counter(map(str, table.to_pylist())) for name, table in dump.items()} for dump in dumps]
        assert kept[0] == kept[1], case.sql
        assert operators[0].peak == operators[1].peak
    return seen


def seen_of(case: Case) -> Counter[str] | None:
    plan = plan_of(case)
    return None if plan is None else check(case, compiled(plan, "driver").job)


@pytest.mark.slow
@examples(20)
@given(drawn(lambda choices: make_case(choices, Features(), hostile=choices.chance(50))))
def test_clipped_rows_give_the_same(case: Case) -> None:
    assume(seen_of(case) is not None)


def compared(dice: Choices) -> Case:
    """Unions of joins by inequalities, most of whose sides are bounded, with filters and a relation here and there."""

    def branch() -> str:
        streams = dice.pick((("S", "T"), ("S", "T"), ("T", "S", "U"), ("S", "S AS A")))
        names = [stream.split()[-1] for stream in streams]
        column = lambda: f"{dice.pick(names)}.{dice.pick('ab')}"  # noqa: E731
        sign = lambda: dice.pick(("<", "<=", ">", ">="))  # noqa: E731
        found = [
            f"{one}.a {sign()} {other}.{dice.pick('ab')} + {dice.integer(-3, 3)}" for one, other in pairwise(names)
        ]
        found += [
            f"{one}.ts {dice.pick(('<', '<=', '='))} {other}.ts" for one, other in pairwise(names) if dice.chance(60)
        ]
        found += [
            f"{column()} BETWEEN {dice.integer(-6, 0)} AND {dice.integer(1, 8)}" for _ in range(dice.integer(1, 4))
        ]
        found += [f"{column()} {dice.pick(('<>', '<', '>'))} {dice.integer(-9, 9)}"] if dice.chance(40) else []
        found += [f"{column()} {sign()} {column()}"] if dice.chance(20) else []
        related = dice.chance(25)
        found += [f"{column()} {dice.pick(('<', '>', '='))} R.{dice.pick('ab')}"] if related else []
        output = dice.pick(("1", column()))
        sources = ", ".join([*streams, "R"] if related else streams)
        return f"SELECT {output} AS x FROM {sources} WHERE {' AND '.join(found)}"

    sql, word = branch(), dice.pick((" UNION ALL ", " UNION "))
    for _ in range(dice.integer(0, 1)):
        sql += word + branch()

    def value() -> int | None:
        return dice.pick(
            (dice.integer(-10, 10), dice.integer(-10, 10), dice.integer(-10, 10), None, 2**63 - 1, -(2**63))
        )

    rows: dict[str, Any] = {
        name: [{"a": value(), "b": value(), "ts": dice.integer(1, 5)} for _ in range(40)] for name in "STU"
    }
    relation = [{"a": dice.integer(-4, 9), "b": dice.integer(-4, 9)} for _ in range(dice.integer(0, 3))]
    return Case(sql, CATALOG, {**rows, "R": relation})


QUERIES = {
    "SELECT T.b FROM S, T WHERE T.ts < S.ts AND T.a < S.a AND S.a BETWEEN 0 AND 9 AND T.b IN (1, 2)": {"T": (-1, INF)},
    "SELECT T.b FROM S, T WHERE T.a < S.a AND S.a BETWEEN 0 AND 9 AND T.b IN (1, 2)": {"T": (-1, INF)},
    "SELECT T.b FROM S, T WHERE T.ts <= S.ts AND T.a > S.a AND S.a BETWEEN 0 AND 9 AND T.b = 1": {"T": (-INF, 10)},
    # also where the row itself is selected, or compared otherwise, by another branch
    "SELECT T.b FROM S, T WHERE T.a < S.a AND S.a BETWEEN 0 AND 9 AND T.b = 1 UNION ALL SELECT T.a FROM T": {},
    "SELECT T.b FROM S, T WHERE T.a < S.a AND S.a BETWEEN 0 AND 9 AND T.b = 1 UNION ALL "
    "SELECT T.b FROM T, U WHERE T.ts < U.ts AND T.a < U.a AND U.a BETWEEN -20 AND 3 AND T.b = 2": {"T": (-21, INF)},
    "SELECT T.b FROM S, T WHERE T.a < S.a AND S.a BETWEEN 0 AND 9 AND T.b = 1 UNION ALL "
    "SELECT T.b FROM T, U WHERE T.ts < U.ts AND T.a > U.a AND U.a BETWEEN -20 AND 3 AND T.b = 2": {},
    # a filter that tells values beyond the end apart
    "SELECT T.b FROM S, T WHERE T.a < S.a AND S.a BETWEEN 0 AND 9 AND T.b = 1 AND T.a <> -5": {},
    "SELECT T.b FROM S, T WHERE T.a < S.a AND S.a BETWEEN 0 AND 9 AND T.b = 1 AND T.a <> 5": {"T": (-1, INF)},
    "SELECT T.b FROM S, T WHERE T.a < S.a AND S.a BETWEEN 0 AND 9 AND T.b = 1 AND T.a >= -3": {},
    "SELECT T.b FROM S, T WHERE T.a < S.a AND S.a BETWEEN 0 AND 9 AND T.b = 1 AND T.a < T.b": {"T": (-1, INF)},
    "SELECT S.b FROM S, T, U WHERE S.ts < T.ts AND T.ts < U.ts AND S.a < T.b AND T.b < U.a AND T.b BETWEEN 1 AND 5 AND "
    "S.b = 1 AND U.a < 100": {"S": (0, INF)},
}  # fmt: skip


@pytest.mark.parametrize("sql", QUERIES)
def test_what_is_clipped(sql: str) -> None:
    job = job_of(sql, CATALOG)
    found = {s.name: ends["a"] for s, ends in zip(job.streams, clips(job, RELATIONS), strict=True) if ends}
    assert found == QUERIES[sql]
    seen = Counter[str]()
    for seed in range(4):
        dice = Choices.seeded(seed)
        rows = {
            name: [{"a": dice.integer(-30, 30), "b": dice.integer(0, 3), "ts": dice.integer(1, 4)} for _ in range(60)]
            for name in "STU"
        }
        seen += check(Case(sql, CATALOG, rows), job)
    assert seen["results"] > 0
    assert (seen["saved"] > 3) == bool(found)


@pytest.mark.slow
def test_inequalities_give_the_same_and_many_rows_are_clipped() -> None:
    total = Counter[str]()
    for seed in range(75 * MORE):
        total += seen_of(compared(Choices.seeded(seed))) or Counter()
    assert total["clipped"] > 5 * MORE and total["saved"] > 12 * MORE and total["results"] > 50 * MORE, total


def test_columns_that_say_the_bucket_and_large_or_listed_values_are_left() -> None:
    kinds = {"a": "decimal(30,0)", "b": "double", "s": "string", "k": "bigint", "ts": "bigint"}
    streams = {name: {"timestamp": "ts", "columns": kinds} for name in "ST"}
    for column, high in (("a", "9"), ("b", "9D"), ("s", "'x'")):
        sql = f"SELECT T.k FROM S, T WHERE T.{column} < S.{column} AND S.{column} <= {high} AND T.k = 1 AND T.ts < S.ts"
        try:
            job = job_of(sql, {"streams": streams})
        except Exception:
            continue
        assert clips(job, {}) == ({}, {})
