"""Changes by timestamp against batch SQL over prefixes: right ones are equal, each kind of wrong one is found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlglot import parse_one

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import StreamboundError
from streambound.recheck.oracle.spark_batch import BatchComparison, BatchStatement, batch_session
from streambound.recheck.oracle.spark_prefixes import OTHERS, RETRACTING, compare_final, compare_prefixes

CATALOG = {"streams": {"S": {"timestamp": "ts", "columns": {"k": "int", "v": "int", "ts": "bigint"}}}}
SQL = "SELECT k, AVG(v) AS a FROM S GROUP BY k"
LAST = 3 * (RETRACTING + OTHERS) + 1
ROWS = [{"k": ts % 2, "v": ts * ts, "ts": ts} for ts in range(1, LAST + 1)]


def changes() -> list[dict[str, Any]]:
    """Averages, by hand."""
    seen: dict[int, list[int]] = {0: [], 1: []}
    found: list[dict[str, Any]] = []
    for row in ROWS:
        mine = seen[row["k"]]
        if mine:
            found.append({"k": row["k"], "a": sum(mine) / len(mine), "_ts": row["ts"], "_mult": -1})
        mine.append(row["v"])
        found.append({"k": row["k"], "a": sum(mine) / len(mine), "_ts": row["ts"], "_mult": 1})
    return found


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    yield batch_session()


def compared(
    spark: Any, place: Path, printed: list[dict[str, Any]], sql: str = SQL, final: bool = False, batches: bool = False
) -> BatchComparison:
    (place / "used" / "S").mkdir(parents=True)
    (place / "used" / "S" / "0.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (place / "out.jsonl").write_text("".join(json.dumps(row) + "\n" for row in printed))
    tree, catalog = parse_one(sql, dialect="spark"), catalog_from_mapping(CATALOG, "text")
    statement = BatchStatement(sql, tree, catalog, ("k", "a"), batches=batches)
    compare = compare_final if final else compare_prefixes
    return compare(spark, statement, place / "used", place / "out.jsonl")


def test_right_changes_are_equal(spark: Any, tmp_path: Path) -> None:
    found = compared(spark, tmp_path, changes())
    assert found.equal
    assert 3 + RETRACTING <= found.timestamps < LAST and found.results >= found.timestamps


@pytest.mark.parametrize("place", [0, -1], ids=["first", "last"])
def test_a_missing_change_is_found_wherever_it_is(spark: Any, tmp_path: Path, place: int) -> None:
    printed = changes()
    gone = printed.pop(place)
    found = compared(spark, tmp_path, printed)
    assert not found.equal and found.timestamp == gone["_ts"]
    assert [cell.expected - cell.found for cell in found.cells] == [gone["_mult"]]


def test_a_change_at_a_time_without_rows_is_found(spark: Any, tmp_path: Path) -> None:
    made_up = [{"k": 5, "a": 1.0, "_ts": 1000, "_mult": n} for n in (1,)]
    found = compared(spark, tmp_path, [*changes(), *made_up])
    assert not found.equal and found.timestamp == 1000


def test_changes_of_micro_batches(spark: Any, tmp_path: Path) -> None:
    end = [row for row in changes() if row["_mult"] > 0][-2:]
    one_batch = [{**row, "_ts": LAST} for row in end]
    assert compared(spark, tmp_path / "right", one_batch, batches=True) == BatchComparison(2, 1)
    assert not compared(spark, tmp_path / "wrong", one_batch[1:], batches=True).equal


def test_final_results_are_those_of_all_rows_each_once(spark: Any, tmp_path: Path) -> None:
    last = {row["k"]: row for row in changes()}
    final = [{**row, "_ts": row["_ts"] - 1, "_mult": 1} for row in last.values()]
    taken_back = [{**final[0], "_mult": 2}, {**final[0], "_mult": -1}]
    wrong = {"missing": final[1:], "twice": [*final, final[0]], "changes": changes(), "taken": [*taken_back, final[1]]}
    assert compared(spark, tmp_path / "right", final, final=True).equal
    for name, printed in wrong.items():
        assert not compared(spark, tmp_path / name, printed, final=True).equal, name


def test_no_output_is_not_equal(spark: Any, tmp_path: Path) -> None:
    assert not compared(spark, tmp_path, []).equal


def test_what_spark_refuses_is_said(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(StreamboundError, match="Spark's batch query fails"):
        compared(spark, tmp_path, changes(), "SELECT k, nothing(v) AS a FROM S GROUP BY k")
