"""Generated streams fit the query and the catalog: no run would quarantine a row, and results come of them."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import NotExecutableError
from streambound.criteria.verdict import Verdict
from streambound.synopsis_exec.feeds import PHASE, Feed, feed, in_order
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.recorded import read_rows
from streambound.synopsis_exec.recorded_streams import line_writer
from streambound.synopsis_exec.simulate import replay
from streambound.synopsis_exec.verify import generated
from streambound_runtime.spec import JobSpec
from support.choices import Choices
from support.floods import floods
from support.jobs import TYPED, TYPED_SQL
from support.plans import W1, W1_SQL, plan_of
from support.product import decided
from support.profiles import MORE
from support.queries import Features, make_statement


def results(plan: Plan, rows: dict[str, list[dict[str, Any]]], job: JobSpec | None = None) -> list[Any]:
    """What a query's job, or another one, gives at each timestamp."""
    streams = {item.name: rows[item.name] for item in plan.streams}
    relations = {item.name: rows[item.name] for item in plan.relations}
    times = sorted({row[str(item.timestamp)] for item in plan.streams for row in rows[item.name]})
    return [
        (closed.timestamp, sorted(closed.results, key=repr))
        for closed in replay(job or job_spec(plan), relations, streams, times[:: max(1, len(times) // 6)])
        if closed.results
    ]


def _encoded(plan: Plan, feed: Feed, number: int) -> dict[str, list[dict[str, Any]]]:
    """The first rows of a feed through JSON and back; fails for one that a run would quarantine."""
    items = {item.name: item for item in plan.inputs}
    writers = {name: line_writer(item) for name, item in items.items()}
    lines: dict[str, list[bytes]] = {name: [] for name in items}
    pairs = [(name, row) for name, mine in feed.relations.items() for row in mine]
    for name, row in [*pairs, *islice(feed.rows, number)]:
        lines[name].append(writers[name](row).encode())
    found: dict[str, list[dict[str, Any]]] = {}
    for name, mine in lines.items():
        read = read_rows(items[name], mine)
        found[name] = [row for row in read if isinstance(row, dict)]
        assert len(found[name]) == len(read), (plan.sql, list(zip(mine, read, strict=True)))
    return found


def _check(plan: Plan, feed: Feed, number: int = 300) -> dict[str, list[dict[str, Any]]]:
    rows = _encoded(plan, feed, number)
    for stream in plan.streams:
        times = [row[str(stream.timestamp)] for row in rows[stream.name]]
        assert times == sorted(times)
        if stream.max_per_timestamp is not None:
            assert max(Counter(times).values(), default=0) <= stream.max_per_timestamp
    for relation in plan.relations:
        assert relation.rows is None or len(rows[relation.name]) <= relation.rows
    return rows


@pytest.mark.parametrize(("sql", "catalog"), [(W1_SQL, W1), (TYPED_SQL, TYPED)], ids=["w1", "typed"])
@pytest.mark.parametrize("seed", range(2))
def test_results_come_of_random_streams(sql: str, catalog: dict[str, Any], seed: int) -> None:
    plan = plan_of(sql, catalog)
    rows = _check(plan, feed(plan, seed, 300))
    assert len(results(plan, rows)) > 5


def test_random_queries() -> None:
    done = productive = 0
    for seed in range(8 * MORE):
        statement = make_statement(Choices.seeded(seed), Features(finite=20, windows=30))
        decision = decided(statement.sql, statement.catalog)
        if decision.verdict is not Verdict.BOUNDED:
            continue
        try:
            plan = make_plan(decision, catalog_from_mapping(statement.catalog))
        except NotExecutableError:
            continue
        done += 1
        _check(plan, feed(plan, None, 300))
        rows = _check(plan, feed(plan, seed, 300))
        productive += bool(results(plan, rows))
    assert done > 5
    assert productive > 0.6 * done


def test_the_adversary_sends_its_floods_in_turn() -> None:
    plan = plan_of(W1_SQL, W1)
    rows = _encoded(plan, feed(plan, None, 11 * (PHASE + 80)), 11 * (PHASE + 80))
    for flood, phase in zip(floods(plan, timestamps=80), (0, PHASE), strict=True):
        for stream in plan.streams:
            ts = str(stream.timestamp)
            mine = [{**row, ts: row[ts] - phase - 1} for row in rows[stream.name] if phase < row[ts] <= phase + 80]
            assert mine == flood.streams[stream.name]


PARTED: dict[str, Any] = {
    "streams": {
        "S": {
            "timestamp": "ts", "columns": {"a": "bigint", "part": "string", "ts": "bigint"},
            "partitions": {"column": "part", "values": ["x", "y", "z"]},
            "max_per_timestamp": 2,
        },
        "T": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}},
    }
}  # fmt: skip


@pytest.mark.parametrize("condition", ["", " AND S.part = 'y'", " AND S.part <> 'y'"])
@pytest.mark.parametrize("random", [False, True])
def test_all_partitions_bring_rows(condition: str, random: bool) -> None:
    """Those, too, of which the query wants none; no row is of another."""
    plan = plan_of(f"SELECT S.a FROM S, T WHERE S.a = T.a AND S.a BETWEEN 0 AND 3 AND S.ts > T.ts{condition}", PARTED)

    seed = 0 if random else None
    rows = _check(plan, feed(plan, seed, 2000), 2000)
    counts = Counter(row["part"] for name, row in islice(feed(plan, seed, 2000).rows, 2000) if name == "S")
    assert counts.keys() == {"x", "y", "z"}
    assert min(counts.values()) > 20
    assert len(results(plan, rows)) > 5


def test_streams_without_a_promise() -> None:
    """A job over generated streams knows that these are in order; what the catalog promises stays as it is."""
    catalog = {"streams": {**W1["streams"], "S": {**W1["streams"]["S"], "order": "none"}}}
    catalog["streams"]["T"] = {**W1["streams"]["T"], "lateness": 3}
    plan, told = in_order(plan_of(W1_SQL, catalog))
    assert told == ("S",)
    assert {stream.name: stream.arrival.lateness for stream in plan.streams} == {"S": 0, "T": 3}
    assert [item.name for item in plan.inputs] == [item.name for item in plan_of(W1_SQL, catalog).inputs]


def test_shares() -> None:
    plan = plan_of(W1_SQL, W1)
    counts = Counter(name for name, _ in islice(feed(plan, 1, 8_000, {"S": 0.01}).rows, 8_000))
    assert 0.002 < counts["S"] / counts["T"] < 0.05


def test_the_same_seed_gives_the_same_streams() -> None:
    plan = plan_of(TYPED_SQL, TYPED)
    assert generated(plan, 3) == generated(plan, 3) != generated(plan, 4)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("< 5", "<= 5"),
        ("< 5", "< 4"),
        ("0 < T", "0 <= T"),
        ("S.K = T.K", "S.K <= T.K AND T.K < 9"),
        ("< 9", "<= 9"),
        (".ts >", ".ts >="),
    ],
)
def test_generated_streams_tell_wrong_comparisons_from_right_ones(old: str, new: str) -> None:
    plan, wrong = plan_of(W1_SQL, W1), plan_of(W1_SQL.replace(old, new, 1), W1)
    kernels = [job_spec(plan), job_spec(wrong)]
    for seed in range(3):
        made = generated(plan, seed)
        items = {item.name: item for item in plan.streams}
        rows = {name: read_rows(items[name], lines) for name, lines in made.streams.items()}
        if results(plan, rows, kernels[0]) != results(plan, rows, kernels[1]):
            return
    pytest.fail(f"{new} gives the same results")
