"""Rows with lineages against the SQL in possible worlds: right ones are equal, each kind of wrong one is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlglot import parse_one

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.recheck.oracle.reference_periods import PeriodReference
from streambound.recheck.oracle.spark_batch import BatchComparison, BatchStatement, Snapshots, batch_session
from streambound.recheck.oracle.spark_lineages import compare_lineages

pytestmark = pytest.mark.filterwarnings("ignore")
ON_SPARK = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

OWN = {"id": "string", "p": "double", "vb": "bigint", "ve": "bigint"}
PERIOD = {"timestamp": "vb", "period": ["vb", "ve"], "key": "id", "probability": "p"}
CATALOG = {
    "streams": {
        "a": {"columns": {"name": "string", "loc": "string", **OWN}, **PERIOD},
        "b": {"columns": {"hotel": "string", "place": "string", **OWN}, **PERIOD},
    }
}
ROWS = {
    "a": [("Ann", "ZAK", "a1", 0.7, 2, 8), ("Jim", "WEN", "a2", 0.8, 7, 10)],
    "b": [
        ("hotel1", "SOR", "b1", 0.9, 1, 4),
        ("hotel2", "ZAK", "b2", 0.6, 4, 6),
        ("hotel1", "ZAK", "b3", 0.7, 5, 8),
    ],
}
"""Papaioannou et al., Figure 1a."""
LEFT = [
    ("Ann", "ZAK", None, None, 2, 4, "a.a1", 0.7),
    ("Ann", "ZAK", "hotel2", "ZAK", 4, 6, "a.a1 & b.b2", 0.42),
    ("Ann", "ZAK", "hotel1", "ZAK", 5, 8, "a.a1 & b.b3", 0.49),
    ("Ann", "ZAK", None, None, 4, 5, "a.a1 & !b.b2", 0.28),
    ("Ann", "ZAK", None, None, 5, 6, "a.a1 & !(b.b2 | b.b3)", 0.084),
    ("Ann", "ZAK", None, None, 6, 8, "a.a1 & !b.b3", 0.21),
    ("Jim", "WEN", None, None, 7, 10, "a.a2", 0.8),
]
"""The left join of a and b, with the probabilities that the lineages have."""
SQL = "SELECT * FROM a LEFT JOIN b ON a.loc = b.place"
ANTI = "SELECT name FROM (SELECT * FROM a WHERE name <> 'Jim') AS q LEFT ANTI JOIN b ON q.loc = b.place"
NAMES = ("name", "loc", "hotel", "place")


@pytest.fixture(params=["reference", pytest.param("spark", marks=ON_SPARK)])
def session(request: pytest.FixtureRequest) -> Any:
    """What evaluates the SQL: a session of Spark, or None for the reference evaluator."""
    if request.param == "reference":
        return None
    request.getfixturevalue("spark")
    return batch_session()


def compared(
    session: Any,
    place: Path,
    printed: list[tuple[Any, ...]],
    sql: str = SQL,
    names: tuple[str, ...] = NAMES,
    bounds: bool = False,
) -> BatchComparison:
    for name, rows in ROWS.items():
        (place / "used" / name).mkdir(parents=True)
        columns = CATALOG["streams"][name]["columns"]
        lines = (json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
        (place / "used" / name / "0.jsonl").write_text("".join(lines))
    columns = (*names, "_begin", "_end", "_lineage", *(("_p_low", "_p_high") if bounds else ("_p",)), "_mult")
    rows = (json.dumps(dict(zip(columns, (*row, 1), strict=True))) + "\n" for row in printed)
    (place / "out.jsonl").write_text("".join(rows))
    line = Snapshots(None, None, as_of=False, whole=True, lineages=True)
    tree = parse_one(sql, dialect="spark")
    catalog = catalog_from_mapping(CATALOG | {"probabilities": "bounds" if bounds else "exact"}, "text")
    if session is None:
        return PeriodReference.of(tree, catalog, line).compare(place / "used", place / "out.jsonl")
    statement = BatchStatement(sql, tree, catalog, (*names, "in a world"), line)
    return compare_lineages(session, statement, place / "used", place / "out.jsonl")


def test_the_paper_s_left_join_is_equal(session: Any, tmp_path: Path) -> None:
    found = compared(session, tmp_path, LEFT)
    assert found.equal
    assert found.results > 8


def test_probabilities_are_between_their_bounds(session: Any, tmp_path: Path) -> None:
    rows = [(*row, row[-1] + 0.1) for row in LEFT]
    assert compared(session, tmp_path, rows, bounds=True).equal
    rows[2] = (*LEFT[2][:-1], 0.5, 0.6)  # it is 0.49
    assert not compared(session, tmp_path / "above", rows, bounds=True).equal


def test_an_anti_join_of_a_selection(session: Any, tmp_path: Path) -> None:
    rows = [(name, *rest) for name, _, hotel, _, *rest in LEFT if hotel is None and name != "Jim"]
    assert compared(session, tmp_path, rows, ANTI, ("name",)).equal


def test_a_join_of_three_tables_is_in_one_world(session: Any, tmp_path: Path) -> None:
    sql = "SELECT a.name, x.hotel FROM a JOIN b AS x ON a.loc = x.place JOIN b AS y ON x.hotel <> y.hotel"
    rows = [("Ann", hotel, 5, 6, "a.a1 & b.b2 & b.b3", 0.294) for hotel in ("hotel1", "hotel2")]
    assert compared(session, tmp_path, rows, sql, ("name", "hotel")).equal
    assert not compared(session, tmp_path / "less", rows[1:], sql, ("name", "hotel")).equal


EXPECTED = """SELECT hotel, v.n FROM b JOIN
    (SELECT place, EXPECTED(COUNT(*)) AS n FROM b GROUP BY place HAVING COUNT(*) > 0) AS v ON v.place = b.place"""
MEANS = [
    ("hotel1", 0.9, 1, 4, "b.b1", 0.9),
    ("hotel2", 0.6, 4, 5, "b.b2", 0.6),
    ("hotel2", 1.3, 5, 6, "b.b2", 0.6),
    ("hotel1", 1.3, 5, 6, "b.b3", 0.7),
    ("hotel1", 0.7, 6, 8, "b.b3", 0.7),
]


def test_what_is_expected_is_a_mean_of_all_worlds(tmp_path: Path) -> None:
    assert compared(None, tmp_path, MEANS, EXPECTED, ("hotel", "n")).equal
    wrong = [(hotel, 1.2 if mean == 1.3 else mean, *rest) for hotel, mean, *rest in MEANS]
    found = compared(None, tmp_path / "wrong", wrong, EXPECTED, ("hotel", "n"))
    assert (found.timestamp, found.cells[0].values[:2]) == (5, ("hotel1", "1.2"))


def other(place: int, **changed: Any) -> list[tuple[Any, ...]]:
    names = (*NAMES, "begin", "end", "lineage", "p")
    row = dict(zip(names, LEFT[place], strict=True)) | changed
    return [*LEFT[:place], tuple(row.values()), *LEFT[place + 1 :]]


WRONG = {
    "a missing row": LEFT[1:],
    "an end too early": other(0, end=3),
    "an end too late": other(6, end=11),
    "a negation that lacks a row": other(4, lineage="a.a1 & !b.b2", p=0.28),
    "no negation": other(5, lineage="a.a1", p=0.7),
    "a match that is none": [*LEFT, ("Jim", "WEN", "hotel1", "ZAK", 7, 8, "a.a2 & b.b3", 0.56)],
    "another value": other(1, hotel="hotel1"),
    "a row that goes on": [*other(6, end=8), ("Jim", "WEN", None, None, 8, 10, "a.a2", 0.8)],
    "another probability": other(3, p=0.3),
    "a row twice": [*LEFT, LEFT[0]],
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_found(tmp_path: Path, what: str) -> None:
    assert not compared(None, tmp_path, WRONG[what]).equal


@pytest.mark.parametrize("session", [pytest.param("spark", marks=ON_SPARK)], indirect=True)
def test_spark_finds_it_too(session: Any, tmp_path: Path) -> None:
    assert not compared(session, tmp_path, WRONG["a match that is none"]).equal
