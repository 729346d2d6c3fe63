"""The endless streams for queries beyond joins: they fill what is kept, end what is over, and fit the catalog."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from streambound.analyzer.errors import UsageError
from streambound.api import catalog_of
from streambound.jobs import planned_circuit
from streambound.synopsis_exec.circuit_feed import circuit_feed
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.feeds import Feed
from support.catalogs import streams
from support.product import checked

CATALOG = streams("S T")
LEFT = "SELECT S.a, S.b, T.b AS c FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 3"
DAYS = "SELECT S.ts DIV 86400 AS w, S.a, COUNT(*) AS n FROM S WHERE S.a BETWEEN 0 AND 9 GROUP BY S.ts DIV 86400, S.a"


def _plan(sql: str, catalog: dict[str, Any] = CATALOG) -> PlannedCircuit:
    plan = planned_circuit(checked(sql, catalog), catalog_of(catalog))
    assert plan is not None
    return plan


def _rows(feed: Feed, number: int) -> list[tuple[str, dict[str, Any]]]:
    return list(islice(feed.rows, number))


@pytest.mark.parametrize("seed", [None, 3])
def test_rows_meet_within_the_interval_and_come_in_order(seed: int | None) -> None:
    rows = _rows(circuit_feed(_plan(LEFT), seed, {}, 2000), 2000)
    times = [row["ts"] for _, row in rows]
    assert times == sorted(times) and times[0] > 0
    left, right = ([row for name, row in rows if name == mine] for mine in "ST")
    met = sum(any(t["a"] == s["a"] and 0 <= t["ts"] - s["ts"] <= 3 for t in right) for s in left)
    assert (0.05 if seed is None else 0.002) < met / len(left) < 0.999
    assert len({row["b"] for row in left}) > 50


@pytest.mark.parametrize("seed", [None, 3])
def test_the_streams_last_for_several_buckets(seed: int | None) -> None:
    rows = [row for _, row in _rows(circuit_feed(_plan(DAYS), seed, {}, 3000), 3000)]
    assert 7 <= rows[-1]["ts"] // 86400 < 40
    assert seed is not None or {row["a"] for row in rows} == set(range(10))


def test_shares_and_rates() -> None:
    limited = {**CATALOG["streams"]["T"], "max_per_timestamp": 1}
    catalog = {"streams": {**CATALOG["streams"], "T": limited}}
    rows = _rows(circuit_feed(_plan(LEFT, catalog), None, {}, 900), 900)
    times = [row["ts"] for name, row in rows if name == "T"]
    assert len(times) == len(set(times)) == 100
    names = [name for name, _ in _rows(circuit_feed(_plan(LEFT), 1, {"T": 0.1}, 2000), 2000)]
    assert 0.05 < names.count("T") / names.count("S") < 0.2


def test_relations_that_change_are_refused() -> None:
    relation = {"columns": {"a": "bigint"}, "rows": 5, "changes": {"timestamp": "ts", "op": "op"}}
    catalog = {**CATALOG, "relations": {"R": relation}}
    sql = "SELECT S.a, COUNT(*) AS n FROM S, R WHERE S.a = R.a AND S.a BETWEEN 0 AND 9 GROUP BY S.a"
    with pytest.raises(UsageError, match="reads R, which changes"):
        circuit_feed(_plan(sql, catalog), None, {}, 100)
