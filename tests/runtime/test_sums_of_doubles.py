"""Operators of the engine that add doubles up, against exact sums of all rows before, each rounded once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import pytest

import streambound
from support.cases import read_queries
from support.circuits import Circuit, Printed, by_tick, checked_circuit, random_ends
from support.embedded import run_here
from support.jobs import write
from support.lifted import circuit_of, fed
from support.prefixes import recomputed
from support.profiles import MORE

STREAM: dict[str, Any] = {
    "timestamp": "ts",
    "columns": {"a": "bigint", "x": "double", "y": "double", "ts": "bigint"},
    "domain": {"a": [0, 2]},
    "max_per_timestamp": 2,
}
CATALOG: dict[str, Any] = {
    "streams": {"S": STREAM, "T": STREAM},
    "relations": {"Q": {"columns": {"a": "bigint", "z": "double"}, "rows": 3}},
}
DIFFERENT = (5e-324, 1e16, -1e16, 0.1, 0.3, -0.1, 1.0, 1 / 3, 2.5e-310, -0.0, 7.25, 1e8, 1e8 + 1)
BY_QUARTERS = (0.25, 0.5, -1.75, 3.0, 2.0**30)
"""Numbers whose sums, differences and products are doubles."""

STATEMENTS = read_queries("sums_of_doubles_statements.sql")
OF_SUMS = read_queries("sums_of_doubles_of_sums.sql")
"""Those where single rows are computed of doubles first, which the reference evaluator does not round."""


@pytest.mark.parametrize("name", [*STATEMENTS, *OF_SUMS])
def test_what_is_printed_adds_up_to_exact_sums_whatever_the_ticks(name: str) -> None:
    sql = (STATEMENTS | OF_SUMS)[name]
    printed = retracted = 0
    for seed in range(MORE):
        rows = random_rows(seed, DIFFERENT if name in STATEMENTS else BY_QUARTERS)
        wanted = exact_results(sql, rows)
        circuit = Circuit({"sql": sql, "catalog": CATALOG, "mode": "changes", "input": rows}, "batch")
        cuts = cut_at(circuit.times, random_ends(circuit.times, 8))
        found, peak, _ = circuit.run(cuts, restart=True)
        ends = [cut[-1] for cut in cuts]
        assert by_tick(as_doubles(found), ends) == by_tick(wanted, ends)
        checked = checked_circuit(sql, CATALOG)
        assert checked.circuit_bound is not None and checked.circuit_bound.entries.value is not None
        assert peak <= checked.circuit_bound.entries.value
        printed += len(found)
        retracted += any(n < 0 for _, n, _ in found)
    assert printed > 2 * MORE
    assert retracted or not checked.circuit.retracts


@pytest.mark.parametrize("name", ["groups", "variances", "above an outer join", "frames of rows", "running sums"])
def test_an_infinite_summand_is_an_error_in_words(name: str, tmp_path: Path) -> None:
    job = streambound.compile(STATEMENTS[name], {"streams": CATALOG["streams"]}, tick="batch").compiled.job
    for stream in "ST":
        write(tmp_path / "in" / f"{stream}.jsonl", {"a": 1, "x": inf, "y": 1.0, "ts": 1})
    with pytest.raises(
        OverflowError, match=r"^a number that is added up is inf, and sums are of finite numbers: leave"
    ):
        run_here(job, tmp_path)


def exact_results(sql: str, rows: dict[str, list[dict[str, Any]]]) -> Printed:
    """What the reference evaluator says of every prefix of the rows of the streams that are read."""
    read = {name: body for name, body in CATALOG["streams"].items() if f" {name}" in sql}
    relations = {name: body for name, body in CATALOG["relations"].items() if f" {name} " in sql}
    circuit = circuit_of(sql, CATALOG)
    times, given = fed({"streams": read, "relations": relations}, rows)
    found = Printed()
    for time, change in zip(times, recomputed(circuit, given), strict=True):
        for row, n in change.items():
            found[(*map(as_double, row), int(time))] += n
    return found


def random_rows(seed: int, numbers: Sequence[float]) -> dict[str, list[dict[str, Any]]]:
    random = Random(seed)

    def number() -> float | None:
        return None if random.random() < 0.1 else random.choice(numbers)

    rows: dict[str, list[dict[str, Any]]] = {
        name: [
            {"a": random.choice([None, 0, 1, 2]), "x": number(), "y": number(), "ts": time}
            for time in range(1, 14)
            for _ in range(random.randrange(3))
        ]
        for name in "ST"
    }
    return rows | {"Q": [{"a": a, "z": number()} for a in (0, 1, 1)]}


def cut_at(times: Sequence[int], ends: Sequence[int]) -> list[list[int]]:
    cuts = Counter(next(end for end in ends if time <= end) for time in times)
    return [[time for time in times if next(end for end in ends if time <= end) == cut] for cut in cuts]


def as_doubles(printed: list[tuple[int, int, tuple[Any, ...]]]) -> Printed:
    found = Printed()
    for time, n, row in printed:
        found[(*map(as_double, row), time)] += n
    return found


def as_double(value: Any) -> float | None:
    return None if value is None else float(value)
