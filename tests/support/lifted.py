"""Circuits of SQL, rows for them, and what they print."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.analyzer.types import Family
from streambound.incremental.circuit import Circuit
from streambound.incremental.evaluate import SourceChange, ticks
from streambound.incremental.operators import SourceOp
from streambound.incremental.pipeline import CircuitStage, stages
from streambound.incremental.translate import translate
from streambound.incremental.zset import Value, ZSet

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent.parent / "data" / "circuits.jsonl").read_text().splitlines()
]
"""The 237 cases beyond select-project-join."""

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
Feed = tuple[tuple[Fraction, ...], list[dict[SourceOp, ZSet]]]


def circuit_of(sql: str, catalog: Mapping[str, Any]) -> Circuit:
    """The circuit of one statement, over Z-sets."""
    (statement,) = split_statements(SourceText("q.sql", sql))
    declared = catalog_from_mapping(catalog)
    lowered = lower(statement, declared)
    assert lowered.tree is not None, lowered.diagnostics
    return translate(lowered.tree, declared, lowered.queries, lowered.positions)


def stages_of(sql: str, catalog: Mapping[str, Any]) -> Iterator[CircuitStage]:
    """The circuit of one statement, and what each pass makes of it."""
    return stages(circuit_of(sql, catalog))


def fed(catalog: Mapping[str, Any], rows: Rows) -> Feed:
    """The closed timestamps and what the sources have at each."""
    found = list[SourceChange]()
    for name, body in {**catalog.get("streams", {}), **catalog.get("relations", {})}.items():
        changes = body.get("changes")
        time = body.get("timestamp") or (changes or {}).get("timestamp")
        for row in rows.get(name, ()):
            values = tuple(value_of(row.get(column)) for column in body["columns"])
            weight = -1 if changes and row.get(changes["op"]) == "delete" else 1
            found.append(SourceChange(name, values, None if time is None else Fraction(row[time]), weight))
    return ticks(found)


def value_of(value: Any) -> Value:
    """A value of JSON as circuits have it."""
    return value if value is None or isinstance(value, str) else Fraction(value)


def printed(circuit: Circuit, times: Sequence[Fraction], changes: Sequence[ZSet]) -> list[tuple[Any, ...]]:
    """What is printed, in order: values, `_ts`, `_mult`; floats to nine digits."""
    floats = [column.kind.family is Family.FLOAT for column in circuit.schema]
    found = [
        (*(_plain(value, is_float) for value, is_float in zip(row, floats, strict=True)), int(time), weight)
        for time, change in zip(times, changes, strict=True)
        for row, weight in change.items()
    ]
    return sorted(found, key=repr)


def expected(case: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """What a case expects, in the same form."""
    return sorted((tuple(_rounded(value) for value in row.values()) for row in case["expected"]), key=repr)


def _plain(value: Value, is_float: bool) -> Any:
    if not isinstance(value, Fraction):
        return value
    return _rounded(float(value)) if is_float else int(value)


def _rounded(value: Any) -> Any:
    return float(f"{value:.9g}") if isinstance(value, float) else value
