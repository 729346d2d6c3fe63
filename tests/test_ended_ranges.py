"""Punctuations that name ranges of keys: what is remembered of them, and jobs over streams that send them."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.ended_rows import counting
from streambound_runtime.operators.ended_ranges import EndedRanges, values_between
from support.circuits import (
    Circuit,
    checked_circuit,
    circuit_plan,
    proved,
    restarts_and_other_ticks_change_nothing,
    run_circuit,
)
from support.prefix_sql import PrefixSql
from support.profiles import MORE

Row = dict[str, Any]
MOST = 4
UNIVERSE = range(40)
COLUMNS = {"shop": "int", "auction": "bigint", "first": "bigint", "price": "bigint", "kind": "string", "ts": "bigint"}
PROMISE = {"attributes": ["shop", "auction"], "since": "first", "column": "kind", "value": "closed", "max_open": MOST}
CATALOG = {"streams": {"bid": {"timestamp": "ts", "columns": COLUMNS, "punctuations": [PROMISE]}}}
COUNTS = "SELECT shop, auction, COUNT(*) AS n, SUM(price) AS total FROM bid GROUP BY shop, auction"
DISTINCT = "SELECT DISTINCT auction, shop FROM bid"

Keys = frozenset[int | None]


def keys_between(low: int | None, high: int | None) -> Keys:
    """The keys that a record names, one by one."""
    some = frozenset(key for key in UNIVERSE if (low is None or low <= key) and (high is None or key <= high))
    return some | {None} if low is None and high is None else some


class Known:
    """What is known of keys that are over: sets of keys that touch are one, and the oldest go."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.sets: list[tuple[int | None, Keys]] = []

    def add(self, shop: int | None, keys: Keys) -> None:
        around = keys | {key + step for key in keys if key is not None for step in (-1, 1)}
        near = [mine for other, mine in self.sets if other == shop and mine & around]
        whole = keys.union(*near)
        if keys and (shop, whole) not in self.sets:
            rest = [(other, mine) for other, mine in self.sets if other != shop or mine not in near]
            self.sets = [*rest, (shop, whole)][-self.most :]

    def has(self, shop: int | None, key: int | None) -> bool:
        return any(other == shop and key in mine for other, mine in self.sets)


ENDS = st.one_of(st.none(), st.sampled_from(UNIVERSE))
RECORDS = st.lists(st.tuples(st.sampled_from((None, 0, 1)), ENDS, ENDS), max_size=12)


@given(RECORDS, st.integers(1, 4))
def test_ranges_that_touch_are_one_and_the_oldest_go(records: list[tuple[int | None, ...]], most: int) -> None:
    ended, known = EndedRanges(most), Known(most)
    for shop, low, high in records:
        if low is None or high is None or low <= high:
            ended.add((shop,), values_between(low, high))
            known.add(shop, keys_between(low, high))
        again = EndedRanges(most)
        again.load(ended.dump())
        assert len(ended) == len(again) == len(known.sets) <= most
        for key in (None, *UNIVERSE):
            assert (((shop,), key) in ended) == (((shop,), key) in again) == known.has(shop, key)


def stream(seed: int, number: int = 60) -> list[Row]:
    """Rows in order of time, some of them after their key has ended; a key that has ended does not return otherwise."""
    random, found, over = Random(seed), list[Row](), {shop: set[int | None]() for shop in (None, 0, 1)}
    open_now = set[tuple[int | None, int | None]]()

    def row(shop: int | None, auction: int | None, now: int, kind: str = "bid", first: int | None = None) -> Row:
        price = random.choice((None, 1, 2, 3))
        return {"shop": shop, "auction": auction, "first": first, "price": price, "kind": kind, "ts": now}

    for now in range(number):
        for _ in range(random.choice((0, 1, 2, 3))):
            shop = random.choice((None, 0, 1))
            left = [key for key in (None, *UNIVERSE) if key not in over[shop]]
            key = (shop, random.choice(left)) if left else None
            if key is not None and len(open_now) < MOST:
                open_now.add(key)
            if open_now:
                found.append(row(*random.choice(sorted(open_now, key=repr)), now))
            if over[shop] and random.random() < 0.3:
                found.append(row(shop, random.choice(sorted(over[shop], key=repr)), now, "late"))
        if random.random() < 0.3:
            shop, *ends = random.choice((None, 0, 1)), *sorted((random.choice(UNIVERSE), random.choice(UNIVERSE)))
            low, high = random.choice(((None, ends[0]), (ends[0], ends[1]), (ends[1], ends[1]), (ends[1], None)))
            low, high = (None, None) if random.random() < 0.1 else (low, high)
            over[shop] |= keys_between(low, high)
            open_now = {(other, key) for other, key in open_now if other != shop or key not in over[shop]}
            found.append(row(shop, high, now, "closed", low))
    known = Known(MOST)
    for now in range(number):  # what comes late, and is not known to, would be a new key that may be one too many
        found = [r for r in found if r["ts"] != now or r["kind"] != "late" or known.has(r["shop"], r["auction"])]
        for r in (r for r in found if (r["ts"], r["kind"]) == (now, "closed")):
            known.add(r["shop"], keys_between(r["first"], r["auction"]))
    return found


def test_the_model_of_verify_is_that_of_brute_force() -> None:
    plan, late = circuit_plan(checked_circuit(COUNTS, CATALOG)), 0
    assert isinstance(plan, PlannedCircuit)
    for seed in range(20):
        rows = stream(seed)
        late += sum(row["kind"] == "late" for row in rows)
        left = [row for _, _, row in counting(plan.streams, [(None, "bid", row) for row in rows])]
        assert left == [row for row in rows if row["kind"] == "bid"]
    assert late > 50


@pytest.mark.parametrize(("sql", "entries"), [(COUNTS, 3 * MOST), (DISTINCT, 3 * MOST)])
def test_changes_are_those_of_batch_sql_without_the_late_rows(sql: str, entries: int) -> None:
    checked, printed = checked_circuit(sql, CATALOG), 0
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.number == entries
    for seed in range(MORE):
        rows = stream(seed, 30)
        found = run_circuit(checked, {"bid": rows}, ticks=None)
        good = [row for row in rows if row["kind"] == "bid"]
        assert found.printed == PrefixSql(CATALOG).changes(sql, {"bid": good})
        assert found.peak <= entries
        printed += len(found.printed)
    assert printed


def test_groups_are_final_when_a_range_ends_them() -> None:
    checked = checked_circuit(f"-- streambound: emit final\n{COUNTS}", CATALOG)
    for seed in range(2 * MORE):
        rows = stream(seed)
        found = run_circuit(checked, {"bid": rows}, final=True)
        expected, counts = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
        for now in range(60):
            mine = [row for row in rows if row["ts"] == now]
            counts.update((row["shop"], row["auction"]) for row in mine if row["kind"] == "bid")
            for row in (row for row in mine if row["kind"] == "closed"):
                for auction in keys_between(row["first"], row["auction"]):
                    if n := counts.pop((row["shop"], auction), 0):
                        expected[row["shop"], auction, n] += 1
        assert Counter((shop, auction, n) for shop, auction, n, *_ in found.printed.elements()) == expected
        assert expected.total() > 3


@pytest.mark.parametrize("mode", ["changes", "final"])
def test_restarts_and_other_ticks_change_nothing(mode: str) -> None:
    text = f"-- streambound: emit final\n{COUNTS}" if mode == "final" else COUNTS
    case = {"sql": text, "catalog": CATALOG, "mode": mode, "input": {"bid": stream(7)}}
    restarts_and_other_ticks_change_nothing(Circuit(case, "batch"))


# --- streams that end keys together ---------------------------------------------------------------------------------

HALL = {"auction": "bigint", "first": "bigint", "kind": "string", "ts": "bigint"}
ONLINE = {"item": "bigint", "low": "bigint", "over": "boolean", "price": "int", "ts": "bigint"}
BOTH = {
    "attributes": ["auction"],
    "since": "first",
    "column": "kind",
    "value": "closed",
    "max_open": MOST,
    "together": {"online": ["item"]},
}
ALONE = {"attributes": ["item"], "since": "low", "column": "over", "value": True}
TWO = {
    "streams": {
        "hall": {"timestamp": "ts", "columns": HALL, "punctuations": [BOTH]},
        "online": {"timestamp": "ts", "columns": ONLINE, "punctuations": [ALONE]},
    }
}
UNION = "SELECT k, COUNT(*) AS n FROM (SELECT auction AS k FROM hall UNION ALL SELECT item FROM online) t GROUP BY k"
JOIN = "SELECT h.auction, COUNT(*) AS n FROM hall h JOIN online o ON o.item = h.auction GROUP BY h.auction"
EITHER = "SELECT auction AS k FROM hall EXCEPT SELECT item FROM online"


def hall(auction: int | None, now: int, first: int | None = None, kind: str = "bid") -> Row:
    return {"auction": auction, "first": first, "kind": kind, "ts": now}


def online(item: int | None, now: int, low: int | None = None, over: bool | None = None) -> Row:
    return {"item": item, "low": low, "over": over, "price": 1, "ts": now}


def test_a_union_combines_ranges() -> None:
    """ "Propagation invariants" (Tucker, 2005), Union: [5, 15] of one input and [10, 20] of the other end [10, 15]."""
    bids = [hall(8, 0), hall(12, 0)]
    rows = {
        "hall": [*bids, hall(15, 1, 5, "closed"), hall(12, 2)],
        "online": [online(17, 0), online(20, 3, 10, True), online(8, 4), online(12, 5)],
    }
    found = run_circuit(checked_circuit(UNION, TWO), rows, ticks=None)
    assert found.printed[8, 2, 4] == 1, "the second input may still have 8"
    assert not [row for row in found.printed if row[-1] in (2, 5)], "12 is over in the first input, then in both"
    rows["online"][1] = online(25, 3, 20, True)
    later = run_circuit(checked_circuit(f"-- streambound: emit final\n{UNION}", TWO), rows, ticks=None, final=True)
    assert not later.printed, "[5, 15] and [20, 25] have nothing in common"
    rows["online"][1] = online(20, 3, 10, True)
    final = run_circuit(checked_circuit(f"-- streambound: emit final\n{UNION}", TWO), rows, ticks=None, final=True)
    assert final.printed == Counter({(12, 1, 3): 1}), "17 is not over in the first input"


def two_streams(seed: int, number: int = 60) -> dict[str, list[Row]]:
    """Rows of both, which each stream ends by ranges from the beginning, so that all of them are known."""
    random, ends = Random(seed), [0, 0]
    found: dict[str, list[Row]] = {"hall": [], "online": []}
    had = set[int]()
    for now in range(number):
        for _ in range(random.choice((0, 1, 2, 3))):
            had = {key for key in had if key >= min(ends)}
            key = random.choice([*had, *range(min(ends), min(ends) + 7)])
            if key in had or len(had) < MOST:
                if key >= ends[0] and random.random() < 0.5:
                    found["hall"].append(hall(key, now))
                    had.add(key)
                elif key >= ends[1]:
                    found["online"].append(online(key, now))
                    had.add(key)
        for place in range(2):
            if random.random() < 0.3:
                ends[place] = min(ends[place] + random.choice((1, 2)), ends[1 - place] + 4)
                record = hall(ends[0] - 1, now, None, "closed") if place == 0 else online(ends[1] - 1, now, None, True)
                found[("hall", "online")[place]].append(record)
    return found


@pytest.mark.parametrize(("sql", "entries"), [(UNION, 5 * MOST), (JOIN, 6 * MOST), (EITHER, 4 * MOST)])
def test_changes_of_two_streams_are_those_of_batch_sql(sql: str, entries: int) -> None:
    (checked, most), printed, peak = proved(sql, TWO), 0, 0
    assert most == entries
    plan = circuit_plan(checked)
    assert isinstance(plan, PlannedCircuit)
    for seed in range(MORE):
        rows, random = two_streams(seed, 30), Random(seed)
        late = [hall(random.randrange(60), 60), online(random.randrange(60), 60)]
        sent = {"hall": [*rows["hall"], late[0]], "online": [*rows["online"], late[1]]}
        good = {
            name: [row for row in rows[name] if row.get("kind") != "closed" and not row.get("over")] for name in rows
        }
        last = [max((r["auction"] for r in rows["hall"] if r["kind"] == "closed"), default=-1)]
        last.append(max((r["item"] for r in rows["online"] if r["over"]), default=-1))
        keys = late[0]["auction"], late[1]["item"]
        for name, row, key, end in zip(good, late, keys, last, strict=True):
            good[name] += [row] if key > end else []
        assert [row for _, _, row in counting(plan.streams, [(None, n, r) for n in sent for r in sent[n]])] == [
            row for name in good for row in good[name]
        ]
        found = run_circuit(checked, rows, ticks=None)
        assert found.printed == PrefixSql(TWO).changes(sql, {n: [r for r in good[n] if r not in late] for n in good})
        printed, peak = printed + len(found.printed), max(peak, found.peak)
    assert printed and peak <= entries


def test_restarts_of_two_streams_change_nothing() -> None:
    case = {"sql": f"-- streambound: emit final\n{UNION}", "catalog": TWO, "mode": "final", "input": two_streams(3)}
    restarts_and_other_ticks_change_nothing(Circuit(case, "batch"))
