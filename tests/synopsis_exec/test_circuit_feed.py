"""The endless streams for queries beyond joins: they fill what is kept, end what is over, and fit the catalog."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import pytest

from streambound.analyzer.errors import UsageError
from streambound.api import catalog_of
from streambound.jobs import planned_circuit
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.ended_rows import counting
from streambound.synopsis_exec.feeds import Feed, feed
from streambound.synopsis_exec.finite_rows import finite_rows
from support.catalogs import streams
from support.product import checked
from support.punctuated import bids

CATALOG = streams("S T")
LEFT = "SELECT S.a, S.b, T.b AS c FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 3"
DAYS = "SELECT S.ts DIV 86400 AS w, S.a, COUNT(*) AS n FROM S WHERE S.a BETWEEN 0 AND 9 GROUP BY S.ts DIV 86400, S.a"

EMITTED = "-- streambound: emit final\nSELECT auction, COUNT(*) AS n FROM bid GROUP BY auction"
WITH_OFFERS = (
    "-- streambound: emit final\nSELECT O.id, COUNT(*) AS n FROM offer AS O JOIN bid AS B ON B.auction = O.id "
    "AND O.ts <= B.ts GROUP BY O.id"
)


def _auctions(most: int) -> dict[str, Any]:
    catalog = bids(most)
    (promise,) = catalog["streams"]["bid"]["punctuations"]
    promise |= {"ends": {"offer": ["id"]}, "once": ["offer"]}
    offer = {"timestamp": "ts", "columns": {"id": "bigint", "ts": "bigint"}}
    return {"streams": {**catalog["streams"], "offer": offer}}


def _plan(sql: str, catalog: dict[str, Any] = CATALOG) -> PlannedCircuit:
    plan = planned_circuit(checked(sql, catalog), catalog_of(catalog))
    assert plan is not None
    return plan


def _rows(sent: Feed, number: int) -> list[tuple[str, dict[str, Any]]]:
    return list(islice(sent.rows, number))


@pytest.mark.parametrize("seed", [None, 3])
def test_rows_meet_within_the_interval_and_come_in_order(seed: int | None) -> None:
    rows = _rows(feed(_plan(LEFT), seed, 2000), 2000)
    times = [row["ts"] for _, row in rows]
    assert times == sorted(times) and times[0] > 0
    left, right = ([row for name, row in rows if name == mine] for mine in "ST")
    met = sum(any(t["a"] == s["a"] and 0 <= t["ts"] - s["ts"] <= 3 for t in right) for s in left)
    assert (0.05 if seed is None else 0.002) < met / len(left) < 0.999
    assert len({row["b"] for row in left}) > 50


@pytest.mark.parametrize("seed", [None, 3])
def test_the_streams_last_for_several_buckets(seed: int | None) -> None:
    rows = [row for _, row in _rows(feed(_plan(DAYS), seed, 3000), 3000)]
    assert 7 <= rows[-1]["ts"] // 86400 < 40
    assert seed is not None or {row["a"] for row in rows} == set(range(10))


def test_shares_and_rates() -> None:
    limited = {**CATALOG["streams"]["T"], "max_per_timestamp": 1}
    catalog = {"streams": {**CATALOG["streams"], "T": limited}}
    rows = _rows(feed(_plan(LEFT, catalog), None, 900), 900)
    times = [row["ts"] for name, row in rows if name == "T"]
    assert len(times) == len(set(times)) == 100
    names = [name for name, _ in _rows(feed(_plan(LEFT), 1, 2000, {"T": 0.1}), 2000)]
    assert 0.05 < names.count("T") / names.count("S") < 0.2


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("key", [["a"], []])
def test_a_relation_fills_and_goes_on_changing(seed: int | None, key: list[str]) -> None:
    """No change is of what is not there, and none is one row too many; the streams have partners."""
    relation = {"columns": {"a": "bigint", "v": "bigint"}, "rows": 40, "changes": {"timestamp": "ts", "op": "op"}}
    catalog = {
        **CATALOG,
        "relations": {"R": {**relation, "changes": {**relation["changes"], **({"key": key} if key else {})}}},
    }
    sql = "SELECT S.a, COUNT(*) AS n FROM S, R WHERE S.a = R.a AND S.a BETWEEN 0 AND 9 GROUP BY S.a"
    rows = _rows(feed(_plan(sql, catalog), seed, 3000), 3000)
    there, most, deletes = Counter[tuple[int, ...]](), 0, 0
    for row in (row for name, row in rows if name == "R"):
        mine = (row["a"], row["v"])
        if row["op"] == "delete":
            assert there[mine] > 0
            there, deletes = there - Counter([mine]), deletes + 1
        else:
            there = Counter(one for one in there.elements() if not key or one[0] != row["a"]) + Counter([mine])
        most = max(most, there.total())
        assert most <= 40
    assert (most == 40) and deletes > 20
    assert {row["a"] for name, row in rows if name == "S"} & {a for a, _ in there}


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("sql", [EMITTED, WITH_OFFERS])
def test_keys_end_and_others_come_in_their_place(seed: int | None, sql: str) -> None:
    """At most so many are open, none comes again, and an offer comes once; in the end all are over."""
    plan = _plan(sql, _auctions(7))
    sent = feed(plan, seed, 2000)
    rows = _rows(sent, 2000)
    assert sent.endings is not None
    rows += sent.endings()
    times = [row["ts"] for _, row in rows]
    assert times == sorted(times)
    open_keys, over, offers, most = set[int](), set[int](), set[int](), 0
    for name, row in rows:
        key = row["auction"] if name == "bid" else row["id"]
        if row.get("kind") == "closed":
            open_keys.remove(key)
            over.add(key)
            continue
        assert key not in over
        open_keys.add(key)
        most = max(most, len(open_keys))
        if name == "offer":
            assert key not in offers
            offers.add(key)
    assert most == 7 and not open_keys and len(over) > 50
    assert counting(plan.inputs, [(None, *one) for one in rows]) == [
        (None, name, row) for name, row in rows if row.get("kind") != "closed"
    ]


def test_keys_of_which_there_are_only_so_many() -> None:
    catalog = bids(2)
    catalog["streams"]["bid"]["domain"] = {"auction": {"values": [1, 2, 3]}}
    with pytest.raises(UsageError, match=r"bid\.auction has too few values"):
        _rows(feed(_plan(EMITTED, catalog), None, 200), 200)


@pytest.mark.parametrize("seed", range(3))
def test_finite_rows_of_final_results_end_all_keys(seed: int) -> None:
    """A key that does not end is not printed, and so could not be compared with batch SQL."""
    rows = [row for name, row in finite_rows(_plan(EMITTED, bids(3)), seed)[1] if name == "bid"]
    over = {row["auction"] for row in rows if row["kind"] == "closed"}
    assert over and {row["auction"] for row in rows} == over
