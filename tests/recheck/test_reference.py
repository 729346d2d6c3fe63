"""A run's output against the reference evaluator: right ones are equal, each kind of wrong one is found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.errors import StreamboundError
from streambound.analyzer.expressions.function import NotKnown
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.analyzer.types import parse_type
from streambound.api import catalog_of
from streambound.recheck.oracle.recorded_values import shown, value
from streambound.recheck.oracle.reference import StatementReference, circuit_of
from streambound.recheck.oracle.spark_batch import BatchComparison

CATALOG: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "ts", "columns": {"a": "bigint", "x": "double", "ts": "bigint"}},
        "T": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "timestamp"}},
    }
}
ROWS = {"S": [(1, 0.1, 3), (1, 0.2, 5), (None, None, 5), (2, 0.3, 9)]}
SUMS = "SELECT a, SUM(x) AS s FROM S GROUP BY a"
RIGHT = [
    (1, 0.1, 3, 1),
    (1, 0.1, 5, -1),
    (1, 0.3, 5, 1),
    (None, None, 5, 1),
    (2, 0.3, 9, 1),
]
"""The last digits of a sum may be others: 0.1 + 0.2 is not 0.3."""


def compared(
    place: Path,
    sql: str,
    rows: Mapping[str, Sequence[tuple[Any, ...]]],
    lines: Sequence[tuple[Any, ...]],
    final: bool = False,
    batches: bool = False,
) -> BatchComparison:
    catalog = catalog_of(CATALOG)
    (statement,) = split_statements(SourceText("q.sql", sql))
    reference = StatementReference(circuit_of(statement, catalog), catalog, final, batches)
    for name, mine in rows.items():
        columns = CATALOG["streams"][name]["columns"]
        (place / "used" / name).mkdir(parents=True)
        text = "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in mine)
        (place / "used" / name / "0.jsonl").write_text(text)
    names = (*reference.columns, "_ts", "_mult")
    (place / "out.jsonl").write_text("".join(json.dumps(dict(zip(names, line, strict=True))) + "\n" for line in lines))
    return reference.compare(place / "used", place / "out.jsonl")


def test_right_changes_are_equal(tmp_path: Path) -> None:
    assert compared(tmp_path, SUMS, ROWS, RIGHT) == BatchComparison(5, 3)


def test_rows_with_several_doubles_are_told_apart(tmp_path: Path) -> None:
    """By the second one, where the first differs in its last digit only."""
    sql, rows = "SELECT x, x * a AS y FROM S", {"S": [(1, 0.3, 1), (2, 0.3, 1)]}
    near = 0.1 + 0.2
    assert compared(tmp_path / "right", sql, rows, [(near, 0.3, 1, 1), (0.3, 0.6, 1, 1)]).equal
    assert not compared(tmp_path / "wrong", sql, rows, [(near, 0.3, 1, 2)]).equal


WRONG = {
    "a missing row": (RIGHT[:2] + RIGHT[3:], 5, (("1", "0.30000000000000004"), 1, 0)),
    "a row that stays": (RIGHT[:1] + RIGHT[2:], 5, (("1", "0.1"), -1, 0)),
    "another sum": ([*RIGHT[:4], (2, 0.31, 9, 1)], 9, (("2", "0.3"), 1, 0)),
    "a value for NULL": ([*RIGHT[:3], (None, 0.0, 5, 1), *RIGHT[4:]], 5, (("NULL", "0.0"), 0, 1)),
    "another time": ([(1, 0.1, 4, 1), *RIGHT[1:]], 3, (("1", "0.1"), 1, 0)),
    "a row too many": ([*RIGHT, (7, 1.0, 9, 1)], 9, (("7", "1.0"), 0, 1)),
    "a row twice": ([*RIGHT[:4], (2, 0.3, 9, 2)], 9, (("2", "0.3"), 1, 2)),
    "a time that no row has": ([*RIGHT, (7, 1.0, 12, 1)], 12, (("7", "1.0"), 0, 1)),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_found(tmp_path: Path, what: str) -> None:
    lines, time, (values, expected, found) = WRONG[what]
    comparison = compared(tmp_path, SUMS, ROWS, lines)
    assert comparison.timestamp == time
    assert (values, expected, found) in [(cell.values, cell.expected, cell.found) for cell in comparison.cells]


def test_changes_of_micro_batches_add_up_to_those_of_their_timestamps(tmp_path: Path) -> None:
    of_batches = [(1, 0.3, 5, 1), (None, None, 5, 1), (2, 0.3, 9, 1)]
    assert compared(tmp_path / "right", SUMS, ROWS, of_batches, batches=True) == BatchComparison(3, 2)
    assert not compared(tmp_path / "by timestamp", SUMS, ROWS, of_batches).equal
    for wrong in (of_batches[:2], of_batches[1:], [(1, 0.1, 5, 1), *of_batches[1:]], [*of_batches, (7, 1.0, 12, 1)]):
        assert not compared(tmp_path / f"wrong {wrong}", SUMS, ROWS, wrong, batches=True).equal


def test_final_results_have_any_time_and_are_printed_once(tmp_path: Path) -> None:
    sql = "SELECT ts DIV 5 AS w, COUNT(*) AS n FROM S GROUP BY ts DIV 5"
    assert compared(tmp_path / "a", sql, ROWS, [(0, 1, 4, 1), (1, 3, 9, 1)], final=True) == BatchComparison(2, 1)
    taken_back = [(0, 1, 4, 1), (1, 2, 5, 1), (1, 2, 9, -1), (1, 3, 9, 1)]
    assert not compared(tmp_path / "b", sql, ROWS, taken_back, final=True).equal


def test_times_are_moments_in_any_zone(tmp_path: Path) -> None:
    rows = {"T": [(1, "2026-01-01T01:00:00+01:00"), (2, "2026-01-01 00:00:00.5")]}
    lines = [(1, "2026-01-01T00:00:00Z", 1), (2, "2026-01-01T00:00:00.5Z", 1)]
    assert compared(tmp_path, "SELECT a FROM T", rows, lines).equal


def test_a_statement_that_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StreamboundError, match="the reference evaluator fails"):
        compared(tmp_path, "SELECT 1 DIV (a - 1) AS q FROM S", ROWS, [])


VALUES = [
    (5, "int", 5, "5"), ("x", "string", "x", "x"), (True, "boolean", 1, "true"), (None, "int", None, "NULL"),
    ("2024-02-29", "date", 19782, "2024-02-29"), (Decimal("1.5"), "double", Fraction(3, 2), "1.5"),
    ("1.005", "decimal(9,2)", Fraction(101, 100), "1.01"), (-0.05, "decimal(9,2)", Fraction(-5, 100), "-0.05"),
    (Decimal("0.1"), "float", Fraction(13421773, 134217728), "0.10000000149011612"),
    ("1970-01-01T00:00:00.25Z", "timestamp", 250_000, "1970-01-01 00:00:00.25"),
    ("many", "int", None, "NULL"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "kind", "expected", "text"), VALUES)
def test_values_of_json(written: Any, kind: str, expected: Any, text: str) -> None:
    """What is none of its type is not read by the query, or the row would not be good."""
    type_ = parse_type(kind)
    assert type_ is not None
    found = value(written, type_)
    assert found == expected and shown(found, type_) == text


@pytest.mark.parametrize(("written", "kind"), [("Infinity", "double"), (Decimal("1e400"), "double"), (5, "string")])
def test_values_that_only_spark_knows(written: Any, kind: str) -> None:
    type_ = parse_type(kind)
    assert type_ is not None
    with pytest.raises(NotKnown):
        value(written, type_)
