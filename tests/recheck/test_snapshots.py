"""Rows with periods against the SQL at points of time: right ones are equal, each kind of wrong one is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlglot import parse_one

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.recheck.oracle.reference_periods import PeriodReference
from streambound.recheck.oracle.spark_batch import BatchComparison, BatchStatement, Cell, Snapshots, batch_session
from streambound.recheck.oracle.spark_snapshots import compare_snapshots

pytestmark = pytest.mark.filterwarnings("ignore")
ON_SPARK = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

COLUMNS = {"name": "string", "skill": "string", "vb": "bigint", "ve": "bigint"}
CATALOG = {"streams": {"works": {"timestamp": "vb", "columns": COLUMNS, "period": ["vb", "ve"]}}}
SQL = "SELECT COUNT(*) AS cnt FROM works WHERE skill = 'SP'"
WORKS = [("Ann", "SP", 3, 10), ("Joe", "NS", 8, 16), ("Sam", "SP", 8, 16), ("Ann", "SP", 18, 20)]
RIGHT = [(0, 0, 3), (1, 3, 8), (2, 8, 10), (1, 10, 16), (0, 16, 18), (1, 18, 20), (0, 20, 24)]
"""Dignös et al., Figure 1b: how many are on duty, when."""


@pytest.fixture(params=["reference", pytest.param("spark", marks=ON_SPARK)])
def session(request: pytest.FixtureRequest) -> Any:
    """What evaluates the SQL: a session of Spark, or None for the reference evaluator."""
    if request.param == "reference":
        return None
    request.getfixturevalue("spark")
    return batch_session()


def compared(
    session: Any, place: Path, printed: list[dict[str, Any]], sql: str = SQL, line: Snapshots | None = None
) -> BatchComparison:
    (place / "used" / "works").mkdir(parents=True)
    rows = (dict(zip(COLUMNS, row, strict=True)) for row in WORKS)
    (place / "used" / "works" / "0.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "out.jsonl").write_text("".join(json.dumps(row) + "\n" for row in printed))
    tree = parse_one(sql, dialect="spark")
    line = line or Snapshots(0, 24, as_of=False, whole=True)
    catalog = catalog_from_mapping(CATALOG, "text")
    if session is None:
        return PeriodReference.of(tree, catalog, line).compare(place / "used", place / "out.jsonl")
    statement = BatchStatement(sql, tree, catalog, tuple(tree.named_selects), line)
    return compare_snapshots(session, statement, place / "used", place / "out.jsonl")


def counts(found: list[tuple[int, int, int]], mult: int = 1) -> list[dict[str, Any]]:
    return [{"cnt": cnt, "_begin": begin, "_end": end, "_mult": mult} for cnt, begin, end in found]


def test_the_paper_s_counts_are_equal(session: Any, tmp_path: Path) -> None:
    found = compared(session, tmp_path, counts(RIGHT))
    assert found.equal
    assert (found.results, found.timestamps) == (7, 7)


WRONG = {
    "no row in a gap": ([row for row in RIGHT if row[0]], 0, Cell(("0",), 1, 0)),
    "a missing row": (RIGHT[:2] + RIGHT[3:], 8, Cell(("2",), 1, 0)),
    "a value too much": ([*RIGHT[:2], (3, 8, 10), *RIGHT[3:]], 8, Cell(("2",), 1, 0)),
    "an end too early": ([*RIGHT[:3], (1, 10, 15), *RIGHT[4:]], 15, Cell(("1",), 1, 0)),
    "an end too late": ([*RIGHT[:6], (0, 20, 25)], 24, Cell(("0",), 0, 1)),
    "a row cut in two": ([*RIGHT[:1], (1, 3, 5), (1, 5, 8), *RIGHT[2:]], 5, Cell(("1",), 1, 2)),
    "rows that overlap": ([*RIGHT[:3], (1, 10, 12), (1, 11, 16), *RIGHT[4:]], 11, Cell(("1",), 1, 2)),
    "after the end of time": ([*RIGHT, (0, 30, 31)], 30, Cell(("0",), 0, 1)),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_found(tmp_path: Path, case: str) -> None:
    is_found(None, tmp_path, case)


@pytest.mark.parametrize("session", [pytest.param("spark", marks=ON_SPARK)], indirect=True)
def test_spark_finds_it_too(session: Any, tmp_path: Path) -> None:
    is_found(session, tmp_path, "a row cut in two")


def is_found(session: Any, place: Path, case: str) -> None:
    rows, when, cell = WRONG[case]
    found = compared(session, place, counts(rows))
    assert (found.timestamp, cell in found.cells) == (when, True), found


def test_a_multiplicity_is_compared(session: Any, tmp_path: Path) -> None:
    found = compared(session, tmp_path, [*counts(RIGHT[:6]), *counts(RIGHT[6:], 2)])
    assert (found.timestamp, found.cells) == (20, (Cell(("0",), 1, 2),))


def test_parts_may_be_cut_but_not_overlap(session: Any, tmp_path: Path) -> None:
    line = Snapshots(0, 24, as_of=False, whole=False)
    cut = [*RIGHT[:1], (1, 3, 5), (1, 5, 8), *RIGHT[2:]]
    assert compared(session, tmp_path / "cut", counts(cut), line=line).equal
    assert not compared(session, tmp_path / "twice", [*counts(RIGHT), *counts([(1, 4, 5)])], line=line).equal


def test_rows_that_are_summed_up_may_overlap_but_not_be_too_many(session: Any, tmp_path: Path) -> None:
    """SP of Sam and of Ann overlap from 8 to 10: two rows where the longest ones are three."""
    sql = "SELECT skill FROM works"
    rows = [
        {"skill": skill, "_begin": begin, "_end": end, "_mult": 1}
        for skill, begin, end in (("SP", 3, 10), ("SP", 8, 16), ("NS", 8, 16), ("SP", 18, 20))
    ]
    summed = Snapshots(0, 24, as_of=False, whole=False, summed=True)
    assert compared(session, tmp_path / "right", rows, sql, summed).equal
    assert not compared(session, tmp_path / "fragments", rows, sql, replace(summed, summed=False)).equal
    twice = compared(session, tmp_path / "twice", [*rows, rows[1]], sql, summed)
    assert (twice.timestamp, twice.cells) == (8, (Cell(("SP",), 2, 3),))
    lacking = compared(session, tmp_path / "lacking", rows[1:], sql, summed)
    assert (lacking.timestamp, lacking.cells) == (3, (Cell(("SP",), 1, 0),))


def test_one_point_of_time(session: Any, tmp_path: Path) -> None:
    line, sql = Snapshots(9, 10, as_of=True, whole=True), "SELECT skill FROM works"
    right = [{"skill": "SP", "_mult": 2}, {"skill": "NS", "_mult": 1}]
    assert compared(session, tmp_path / "right", right, sql, line).equal
    wrong = compared(session, tmp_path / "wrong", right[:1], sql, line)
    assert (wrong.timestamp, wrong.cells) == (9, (Cell(("NS",), 1, 0),))


def test_without_an_end_time_is_over_with_the_last_row(session: Any, tmp_path: Path) -> None:
    line = Snapshots(0, None, as_of=False, whole=True)
    assert compared(session, tmp_path / "right", counts(RIGHT[:6]), line=line).equal
    assert compared(session, tmp_path / "wrong", counts(RIGHT), line=line).timestamp == 20
