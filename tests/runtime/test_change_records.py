"""Debezium's envelopes and upserts: which rows come and go, and which records are none."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from streambound.analyzer.catalog import DeclaredTable
from streambound.api import catalog_of
from streambound.recheck.oracle.relation_states import RowChange, states
from streambound.synopsis_exec.declared_table import changes_input, changes_node, declared_table
from streambound.synopsis_exec.recorded_streams import change_writer
from streambound_runtime.decoding.decoder import Decoded, Decoder
from streambound_runtime.operators.by_tick import Row, Ticks, rows_by_time
from streambound_runtime.operators.delta import delta_of, times_of
from streambound_runtime.operators.relations import ChangingRelation

COLUMNS = {"k": "bigint", "y": "string", "d": "decimal(6,2)"}
Event = dict[str, Any]


def table(changes: dict[str, Any], source: dict[str, Any] | None = None, clock: str = "bigint") -> DeclaredTable:
    stream = {"columns": {"ts": clock}, "timestamp": "ts"}
    relation = {"columns": COLUMNS, "changes": changes, **({"source": source} if source else {})}
    found = catalog_of({"streams": {"S": stream}, "relations": {"R": relation}}).table("R")
    assert found is not None
    return found


def decoded(declared: DeclaredTable, lines: list[str | None], records: bool = False) -> Decoded:
    read = declared_table(changes_input(declared))
    return Decoder(read, lines=not records).decode(pa.table({"value": pa.array(lines, pa.string())}))


def closed(declared: DeclaredTable, found: Decoded) -> tuple[dict[int, Counter[Row]], ChangingRelation]:
    """The rows that are there after each timestamp."""
    names = found.good.schema.names[2:]
    rows = [(row["ts"], 1, tuple(row[name] for name in names)) for row in found.good.to_pylist()]
    delta = delta_of(sorted(rows, key=lambda one: one[0]), tuple(names))
    operator = ChangingRelation(changes_node("R", declared))
    changes = rows_by_time(operator.step_of({"R": delta}, Ticks(times_of([delta]))))
    now, there = Counter[Row](), dict[int, Counter[Row]]()
    for time in times_of([delta]).tolist():
        for row, weight in changes.get(time, []):
            now[row] += weight
        there[time] = +now
    return there, operator


def reasons(found: Decoded) -> list[tuple[str, str]]:
    return [(row["reason"], row["detail"]) for row in found.rejected.to_pylist()]


DEBEZIUM = {"timestamp": "ts_ms", "format": "debezium"}
UPSERT = {"timestamp": "ts", "format": "upsert", "key": ["k"]}


def database(seed: int, key: bool) -> tuple[list[Event], dict[int, Counter[Row]]]:
    """What a database's log says of some transactions, each with several statements at one time, and its table."""
    rng, rows, events = random.Random(seed), list[Row](), list[Event]()
    there = dict[int, Counter[Row]]()
    for now in range(1, 30):
        for _ in range(rng.randint(1, 4)):
            after = (rng.randint(0, 3), rng.choice("abc"), rng.choice([None, "1.50", "2.00"]))
            mine = [row for row in rows if not key or row[0] == after[0]]
            if mine and rng.random() < 0.7:
                old = rng.choice(mine)
                rows.remove(old)
                gone = rng.random() < 0.4
                events.append({"op": "d" if gone else "u", "before": old, "after": None if gone else after})
                rows += [] if gone else [after]
            elif not mine or not key:
                events.append({"op": "c", "before": None, "after": after})
                rows.append(after)
            else:
                continue
            events[-1]["ts_ms"] = now
        if any(event["ts_ms"] == now for event in events):
            there[now] = Counter((k, y, None if d is None else round(float(d) * 100)) for k, y, d in rows)
    return events, there


def line(event: Event) -> str:
    images = {name: event[name] and dict(zip(COLUMNS, event[name], strict=True)) for name in ("before", "after")}
    return json.dumps({**event, **images, "source": {"table": "r"}})


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("key", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_a_log_of_debezium_gives_the_database_s_rows_in_any_order_within_a_time(
    seed: int, key: bool, wrapped: bool
) -> None:
    events, there = database(seed, key)
    random.Random(seed).shuffle(events)
    lines = [f'{{"schema": {{}}, "payload": {line(event)}}}' if wrapped else line(event) for event in events]
    declared = table({**DEBEZIUM, **({"key": ["k"]} if key else {})})
    found, operator = closed(declared, decoded(declared, [*lines]))
    assert found == there and operator.rejected == []


@pytest.mark.parametrize("key", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_the_oracle_of_relations_says_the_same(seed: int, key: bool) -> None:
    events, there = database(seed, key)
    changes = []
    for event in events:
        for name, deletes in (("before", True), ("after", False)):
            if event[name] is not None:
                k, y, d = event[name]
                row = (k, y, None if d is None else round(float(d) * 100))
                changes.append(RowChange(event["ts_ms"], deletes, row, images=True))
    assert {time: Counter(rows) for time, rows in states(changes, [0] if key else [])} == there


def test_without_the_row_before_a_key_says_what_is_replaced() -> None:
    declared = table({**DEBEZIUM, "key": ["k"]})
    events = [
        {"op": "r", "before": None, "after": (1, "a", None), "ts_ms": 1},
        {"op": "u", "before": None, "after": (1, "b", None), "ts_ms": 2},
        {"op": "u", "before": None, "after": (1, "c", None), "ts_ms": 3},
        {"op": "u", "before": None, "after": (1, "d", None), "ts_ms": 3},
        {"op": "d", "before": (1, None, None), "after": None, "ts_ms": 4},
        {"op": "u", "before": (2, "x", None), "after": (2, "y", None), "ts_ms": 5},
    ]
    found, operator = closed(declared, decoded(declared, [*map(line, events)]))
    rows = {1: (1, "a", None), 2: (1, "b", None), 3: (1, "b", None), 5: (2, "y", None)}
    assert found == {time: Counter([rows[time]] if time in rows else []) for time in range(1, 6)}
    assert [(one.reason, one.time) for one in operator.rejected] == [("ambiguous-change", 3)] * 2


def test_a_tombstone_of_debezium_is_no_row_and_other_records_are_bad() -> None:
    declared = table(DEBEZIUM, {"format": "kafka", "options": {}})
    good = line({"op": "c", "before": None, "after": (1, "a", "1.5"), "ts_ms": 1})
    assert [*decoded(declared, [good, None, '{"schema": null, "payload": null}'], True).good_at] == [0]
    bad = [
        line({"op": "t", "before": None, "after": None, "ts_ms": 1}),
        line({"op": "c", "before": None, "after": None, "ts_ms": 1}),
        line({"op": "u", "before": None, "after": (1, "a", None), "ts_ms": 1}),
        '{"k": 1, "y": "a", "d": null, "ts_ms": 1}',
        '{"op": "c", "after": {"k": 1, "y": "a"}, "ts_ms": 1}',
        '{"op": "c", "after": {"k": 1, "y": "a", "d": null}}',
        "[]",
    ]
    found = decoded(declared, [*bad], True)
    no_change = ("not-a-change", "not a change of a row, as debezium has it")
    missing = [("missing-column", f"{name} is missing") for name in ("d", "ts_ms")]
    assert reasons(found) == [*[no_change] * 4, *missing, ("not-json", "not a JSON object")]
    assert [row["row"] for row in found.rejected.to_pylist()] == bad


@pytest.mark.parametrize(
    ("name", "value", "micros"),
    [("ts_ms", 1_600_000_000_123, 1_600_000_000_123_000), ("ts_us", 5, 5), ("ts_ns", 1_999, 1)],
)
@pytest.mark.parametrize("where", ["", "source."])
def test_times_of_envelopes(name: str, value: int, micros: int, where: str) -> None:
    declared = table({**DEBEZIUM, "timestamp": f"{where}{name}"}, clock="timestamp")
    event = {"op": "c", "after": dict.fromkeys(COLUMNS), **({"source": {name: value}} if where else {name: value})}
    found = decoded(declared, [json.dumps(event)])
    assert found.good.column("ts").to_pylist() == [micros]


def test_a_time_that_no_calendar_has() -> None:
    declared = table(DEBEZIUM, clock="timestamp")
    found = decoded(declared, [line({"op": "c", "before": None, "after": (1, "a", None), "ts_ms": 10**17})])
    assert reasons(found) == [("wrong-type", "ts_ms is not a timestamp")]


def test_upserts_replace_by_key_and_null_deletes() -> None:
    declared = table(UPSERT)
    records = [
        {"key": {"k": 1}, "value": {"k": 1, "y": "a", "d": 1}, "ts": 1},
        {"key": {"k": 2}, "value": {"y": "b", "d": 1.25, "ts": 1}},
        {"key": {"k": 1}, "value": {"k": 1, "y": "c", "d": None}, "ts": 2},
        {"key": {"k": 1}, "value": None, "ts": 3},
        {"key": {"k": 7}, "value": None, "ts": 4},
        {"key": None, "value": {"k": 2, "y": "e", "d": 0}, "ts": 5},
    ]
    found, operator = closed(declared, decoded(declared, [*map(json.dumps, records)]))
    b = (2, "b", 125)
    assert found == {
        1: Counter([(1, "a", 100), b]),
        2: Counter([(1, "c", None), b]),
        3: Counter([b]),
        4: Counter([b]),
        5: Counter([(2, "e", 0)]),
    }
    assert [(one.reason, one.time) for one in operator.rejected] == [("absent-row", 4)]


def test_records_that_are_no_upserts() -> None:
    bad = ['{"k": 1, "y": "a"}', '{"key": {"k": 1}}', '{"key": 1, "value": null}', '{"key": null, "value": null}']
    late = '{"key": {"k": 1}, "value": null}'
    found = decoded(table(UPSERT), [*bad, late])
    no_change = ("not-a-change", "not a change of a row, as upsert has it")
    assert reasons(found) == [*[no_change] * 4, ("missing-column", "ts is missing")]


@pytest.mark.parametrize(
    "changes", [{**DEBEZIUM, "key": ["k"]}, DEBEZIUM, {**DEBEZIUM, "timestamp": "source.ts_us"}, UPSERT]
)
def test_what_is_written_is_read(changes: dict[str, Any]) -> None:
    declared = table(changes)
    item = changes_input(declared)
    rng, write, rows = random.Random(1), change_writer(item), []
    for _ in range(50):
        old = {name: None if rng.random() < 0.2 else rng.choice("ab") for name in ("y",)}
        row: dict[str, Any] = {"k": rng.randint(0, 3), "y": rng.choice("ab"), "d": rng.randint(0, 500)}
        kinds = ["insert", "delete", *(["update"] if changes["format"] == "debezium" else [])]
        row |= {str(item.timestamp): rng.randint(1, 10**15), "op": rng.choice(kinds)}
        if row["op"] == "delete" and "key" in changes:
            row |= {"y": None, "d": None} if changes["format"] == "upsert" else {}
        if len(kinds) == 3:
            row |= {"before k": 1, "before y": old["y"], "before d": 5}
            row |= dict.fromkeys(("before k", "before y", "before d")) if row["op"] != "update" else {}
        rows.append(row)
    found = decoded(declared, [write(row).rstrip("\n") for row in rows])
    assert found.rejected.num_rows == 0
    shown = [{("ts" if name == item.timestamp else name): value for name, value in row.items()} for row in rows]
    assert [{**row, "d": row["d"] and int(row["d"])} for row in found.good.drop_columns("part").to_pylist()] == [
        {name: row[name] for name in found.good.schema.names if name != "part"} for row in shown
    ]
