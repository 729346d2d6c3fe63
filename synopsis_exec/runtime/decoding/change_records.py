"""Records that say how the rows of a relation change, as rows: Debezium's envelopes, and upserts by key.

Debezium: "data change events", an object with ``before``, ``after``, ``op`` and ``ts_ms``, which may be the ``payload``
of one with a ``schema``. Upserts are what Flink's upsert-kafka reads: ``{"key": …, "value": …}``, where a value that is
NULL deletes the row of the key.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from streambound_runtime.promises import UPDATE, ChangeRecords
from streambound_runtime.row_values import JsonObject, JsonValue

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"ts_ms": 1000, "ts_us": 1, "ts_ns": 0.001}
"""Microseconds of a time in Debezium's envelopes, by its name."""


def format_of(records: ChangeRecords | None) -> str:
    """The catalog's name for the format of changes."""
    return "" if records is None else "debezium" if records.debezium else "upsert"


def is_tombstone(found: JsonObject) -> bool:
    """Whether an object is what Debezium sends after a delete, with a schema."""
    return found.get("payload", found) is None and "op" not in found


def row_of_change(found: JsonObject, records: ChangeRecords) -> JsonObject | None:
    """The columns of a change in an object; None where it is none. What it lacks, the row lacks.

    >>> records = ChangeRecords(False, ("k", "y", "ts"), "op", "insert", "delete", ("k",), "ts", beside=("ts",))
    >>> row_of_change({"key": {"k": 1}, "value": None, "ts": 5}, records)
    {'k': 1, 'y': None, 'ts': 5, 'op': 'delete'}
    """
    row = _of_debezium(found, records) if records.debezium else _of_upsert(found, records)
    if row is not None:
        row |= {name: found[name] for name in records.beside if name in found}
    return row


def _of_debezium(found: JsonObject, records: ChangeRecords) -> JsonObject | None:
    payload = found.get("payload")
    envelope = payload if isinstance(payload, dict) and "op" not in found else found
    kind, before, after = (envelope.get(name) for name in ("op", "before", "after"))
    there = before if kind == "d" else after
    if kind not in ("c", "r", "u", "d") or not isinstance(there, dict):
        return None
    if kind == "u" and not isinstance(before, dict) and (before is not None or not records.key):
        return None
    row = _deleted(there, records) if kind == "d" else {n: there[n] for n in records.columns if n in there}
    old = before if kind == "u" and isinstance(before, dict) else None
    row |= {name: (old or {}).get(column) for name, column in zip(records.before, records.columns, strict=True)}
    row[records.op] = records.delete if kind == "d" else UPDATE if old is not None else records.insert
    return row | _time(envelope, records)


def _of_upsert(found: JsonObject, records: ChangeRecords) -> JsonObject | None:
    key, value = found.get("key"), found.get("value")
    if "value" not in found or not isinstance(key, dict | None) or not isinstance(value, dict | None):
        return None
    if value is None:
        if key is None:
            return None
        return _deleted(key, records) | {records.op: records.delete}
    row = {**value, **{name: one for name, one in (key or {}).items() if name in records.key}}
    return {name: row[name] for name in (*records.columns, records.time) if name in row} | {records.op: records.insert}


def _deleted(row: JsonObject, records: ChangeRecords) -> JsonObject:
    """The row of a delete, which with a key needs that alone; the time is of the change."""
    needed = records.key or records.columns
    known = {name: row[name] for name in records.columns if name in row and name != records.time}
    return {name: None for name in records.columns if name not in needed and name != records.time} | known


def _time(envelope: JsonObject, records: ChangeRecords) -> JsonObject:
    """The time that Debezium's envelope has, where it is called like one of these."""
    value: JsonValue = envelope
    *path, name = records.time.split(".")
    for part in (*path, name):
        if not isinstance(value, dict) or part not in value:
            return {}
        value = value[part]
    if records.moment and name in _UNITS and type(value) is int:
        value = _moment(value * int(_UNITS[name] * 1000) // 1000)
    return {records.time: value}


def _moment(micros: int) -> str:
    """A time as a text; one that no calendar has is no time."""
    try:
        return (_EPOCH + timedelta(microseconds=micros)).strftime("%Y-%m-%dT%H:%M:%S.%f").zfill(26)
    except OverflowError:
        return str(micros)
