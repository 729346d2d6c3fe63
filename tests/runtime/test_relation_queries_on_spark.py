"""What asks relations when a row arrives: results are those of DuckDB on every prefix, wherever rows are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streambound_runtime.placement import on_driver
from support.choices import Choices
from support.jobs import job_of, read, run_with, write
from support.oracle import Oracle, by_timestamp
from support.streams import Rows, small_rows

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]

CATALOG: dict[str, Any] = {
    "streams": {name: {"timestamp": "ts", "columns": {"a": "bigint", "s": "string", "ts": "bigint"}} for name in "ST"},
    "relations": {"R": {"columns": {"a": "bigint", "s": "string"}, "rows": 50}},
}
SOON = "T.ts >= S.ts AND T.ts <= S.ts + 2"
QUERIES = {
    "left": "SELECT S.a, R.s, coalesce(R.s, 'none') AS named FROM S LEFT JOIN R ON R.a = S.a",
    "left, of two streams": f"SELECT S.a, R.s, T.s AS t FROM S LEFT JOIN R ON R.a = S.a AND R.s > S.s JOIN T ON {SOON}",
    "left, using": "SELECT * EXCEPT (s), S.s AS s, R.s AS t FROM S LEFT JOIN R USING (a)",
    "right": "SELECT S.a, R.s FROM R RIGHT JOIN S ON R.a = S.a AND R.s <> 'b'",
    "semi": "SELECT S.a, S.s FROM S SEMI JOIN R ON R.a = S.a",
    "anti": f"SELECT S.a, T.a AS t FROM S ANTI JOIN R USING (a) JOIN T ON {SOON}",
    "exists": "SELECT S.a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a < S.a AND s = 'a') OR S.s = 'z'",
    "not in": "SELECT S.a, S.s FROM S WHERE S.a NOT IN (SELECT a FROM R WHERE s = 'ab')",
    "a value": "SELECT S.a, (SELECT max(R.s) FROM R WHERE R.a = S.a) AS m, (SELECT count(*) FROM R) AS n FROM S",
    "compared": "SELECT DISTINCT S.s FROM S WHERE S.a > (SELECT avg(a) FROM R) AND S.s IN ('a', 'b', 'ab')",
    "grouped": "WITH k AS (SELECT a, count(*) AS n FROM R GROUP BY a) SELECT S.a FROM S JOIN T USING (a) "
               f"SEMI JOIN k ON k.a = S.a AND n < 3 WHERE {SOON}",
}  # fmt: skip


def with_results(sql: str) -> tuple[Rows, dict[int, Any]]:
    """Random rows, and what DuckDB makes of them at each timestamp: those of the first seed that gives results."""
    for seed in range(50):
        rows = small_rows(Choices.seeded(seed), CATALOG, 12)
        found = {now: new for now, new in Oracle(CATALOG, rows).prefix_expected(sql).items() if new}
        if len(found) > 2:
            return rows, found
    raise AssertionError("no rows give results")


def ran(spark: Any, folder: Path, name: str, placement: str | None) -> dict[int, Any]:
    """What a run over a folder's input prints."""
    files = [f"--{kind}={folder / f'{name} {placement} {kind}'}" for kind in ("output", "checkpoint")]
    run_with(
        spark, job_of(QUERIES[name], CATALOG, placement), ["--input", str(folder), "--files-per-batch", "1", *files]
    )
    return by_timestamp(read(folder / f"{name} {placement} output"))


@pytest.mark.parametrize("name", QUERIES)
def test_results_are_those_of_batch_sql_on_every_prefix(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rows, expected = with_results(QUERIES[name])
    for stream in "ST":
        ordered = sorted(rows[stream], key=lambda row: row["ts"])
        half = len(ordered) // 2
        for part, some in enumerate((ordered[:half], ordered[half:])):
            write(tmp_path / stream / f"{part}.jsonl", *some, modified=1_600_000_000 + part)
    write(tmp_path / "R.jsonl", *rows["R"])
    assert ran(spark, tmp_path, name, None) == expected
    monkeypatch.setattr(on_driver, "is_local", lambda spark: False)
    assert ran(spark, tmp_path, name, "driver") == expected
