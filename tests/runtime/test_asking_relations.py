"""Rows that ask relations, without Spark: NULLs, errors and restarts. `test_rows_that_ask` compares with batch SQL."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.jobs import planned_circuit
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.plan import make_plan
from streambound_runtime.embedded import why_not_embedded
from streambound_runtime.errors import JobError
from streambound_runtime.spec import JobSpec
from support.embedded import counted, run_here
from support.jobs import read, write
from support.streams import Rows

COLUMNS = {"a": "bigint", "s": "string"}
ASKING: dict[str, Any] = {
    "streams": {"S": {"timestamp": "ts", "columns": {**COLUMNS, "ts": "bigint"}}},
    "relations": {name: {"columns": COLUMNS, "rows": 9} for name in "RQ"},
}
LARGEST = 2**63 - 1


def job_checked(sql: str, catalog: dict[str, Any]) -> JobSpec | None:
    """The job of a statement; None where it is not bounded."""
    declared = catalog_from_mapping(catalog)
    (found,) = check_source(SourceText("q.sql", sql), declared)
    if found.verdict != "bounded":
        return None
    if found.decision is not None:
        return job_spec(make_plan(found.decision, found.catalog or declared))
    plan = planned_circuit(found, found.catalog or declared)
    assert plan is not None
    return job_spec(plan, tick="timestamp")


def written(folder: Path, rows: Rows) -> None:
    """The rows of each table in two files, in order of time."""
    for name, mine in rows.items():
        ordered = sorted(mine, key=lambda row: row.get("ts", 0))
        for part, some in enumerate((ordered[: len(ordered) // 2], ordered[len(ordered) // 2 :])):
            write(folder / "in" / name / f"{part}.jsonl", *some, modified=1_600_000_000 + part)


def ran(folder: Path, sql: str, *more: str, **rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """The results of a statement over rows of S, R and Q."""
    job = job_checked(sql, ASKING)
    assert job is not None and why_not_embedded(job) is None
    for name in "SRQ":
        (folder / "in" / name).mkdir(parents=True, exist_ok=True)
        write(folder / "in" / name / "0.jsonl", *rows.get(name, []))
    run_here(job, folder, *more)
    return Counter(tuple(row.values())[:-2] for row in read(folder / "output") for _ in range(row["_mult"]))


def row(a: int | None, s: str | None = "x", **more: int) -> dict[str, Any]:
    return {"a": a, "s": s, **more}


NULLS = [row(1, ts=1), row(2, ts=2), row(None, ts=3)]


@pytest.mark.parametrize(
    ("condition", "relation", "expected"),
    [
        ("S.a NOT IN (SELECT a FROM R)", [], {1, 2, None}),
        ("S.a NOT IN (SELECT a FROM R)", [row(1)], {2}),
        ("S.a NOT IN (SELECT a FROM R)", [row(1), row(None)], set()),
        ("S.a IN (SELECT a FROM R)", [row(1), row(None)], {1}),
        ("NOT (S.a IN (SELECT a FROM R) AND S.s = 'x')", [row(1), row(None)], set()),
        ("S.a NOT IN (SELECT a FROM R WHERE R.s = S.s) OR S.a = 1", [row(None, "y")], {1, 2, None}),
        ("NOT EXISTS (SELECT 1 FROM R WHERE R.a = S.a)", [row(1), row(None)], {2, None}),
        ("(SELECT COUNT(*) FROM R WHERE R.a = S.a) = 0", [row(1), row(1)], {2, None}),
        ("(SELECT SUM(a) FROM R WHERE R.a = S.a) IS NULL", [row(1)], {2, None}),
    ],
)
def test_null_is_what_it_is_in_sql(
    tmp_path: Path, condition: str, relation: list[dict[str, Any]], expected: set[int | None]
) -> None:
    found = ran(tmp_path, f"SELECT S.a FROM S WHERE {condition}", S=NULLS, R=relation)
    assert found == Counter((a,) for a in expected)


def test_a_relation_asks_itself_and_others(tmp_path: Path) -> None:
    sql = (
        "SELECT S.s, R.s AS r FROM S JOIN R ON R.a = S.a WHERE R.a = (SELECT MAX(a) FROM R) OR R.s IN (SELECT s FROM Q)"
    )
    relation = [row(1, "one"), row(2, "two"), row(3, "three"), row(3, None)]
    stream = [row(a, str(a), ts=a) for a in (1, 2, 3)]
    found = ran(tmp_path, sql, S=stream, R=relation, Q=[row(0, "two")])
    assert found == Counter([("2", "two"), ("3", "three"), ("3", None)])


@pytest.mark.parametrize(
    ("sql", "relation", "words"),
    [
        ("SELECT S.s, R.s AS r FROM S LEFT JOIN R ON R.a = S.a + 1", [row(1)], "S: .* raises ARITHMETIC_OVERFLOW"),
        ("SELECT S.s, (SELECT R.s FROM R WHERE R.a = S.a) AS r FROM S", [row(LARGEST), row(LARGEST)],
         "S: .* raises SCALAR_SUBQUERY_TOO_MANY_ROWS"),
        ("SELECT S.s, q.n FROM S JOIN (SELECT s, SUM(a) AS n FROM R GROUP BY s) AS q ON q.s = S.s",
         [row(LARGEST), row(1)], r"the relation \w+ cannot be computed: it raises ARITHMETIC_OVERFLOW"),
        ("SELECT S.s FROM S WHERE S.a > (SELECT AVG(a) FROM R)", [row(LARGEST)], "S: .* is computed by Spark only"),
    ],
)  # fmt: skip
def test_a_subquery_that_raises_an_error_stops_the_run(
    tmp_path: Path, sql: str, relation: list[dict[str, Any]], words: str
) -> None:
    with pytest.raises(JobError, match=words):
        ran(tmp_path, sql, S=[row(LARGEST, ts=1)], R=relation)


def test_an_expression_around_a_subquery_is_the_rows_own(tmp_path: Path) -> None:
    sql = "SELECT S.a FROM S WHERE 10 DIV S.a > (SELECT COUNT(*) FROM R)"
    found = ran(tmp_path, sql, S=[row(0, ts=1), row(2, ts=2), row(9, ts=3)], R=[row(1), row(1)])
    assert found == Counter([(2,)])
    (bad,) = (json.loads(line) for line in (tmp_path / "quarantine").read_text().splitlines())
    assert (bad["reason"], json.loads(bad["row"])["ts"]) == ("expression", 1)
    assert "DIVIDE_BY_ZERO" in bad["detail"]


def test_a_restart_reads_the_relation_again(tmp_path: Path) -> None:
    """What waits in the checkpoint, and what comes then, gives what one run gives."""
    sql = "SELECT a, n FROM (SELECT S.a, COUNT(R.s) AS n FROM S LEFT JOIN R ON R.a = S.a GROUP BY S.a) AS g"
    catalog = {**ASKING, "streams": {"S": {**ASKING["streams"]["S"], "domain": {"a": [0, 4]}}}}
    job = job_checked(sql, catalog)
    assert job is not None and why_not_embedded(job) is None
    rows = {"S": [row(n % 4, ts=n) for n in range(12)], "R": [row(1), row(1, "y"), row(3, None)], "Q": []}
    written(tmp_path / "once", rows)
    run_here(job, tmp_path / "once")
    written(tmp_path / "twice", {**rows, "S": rows["S"][:7]})
    run_here(job, tmp_path / "twice", "--trigger", "available")
    write(tmp_path / "twice" / "in" / "S" / "2.jsonl", *rows["S"][7:], modified=1_600_000_009)
    run_here(job, tmp_path / "twice")
    (once, twice) = (counted(read(tmp_path / name / "output")) for name in ("once", "twice"))
    assert once == twice and once


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT S.a, S.a IN (SELECT a FROM R) AS v FROM S",
        "SELECT S.a FROM S WHERE (S.a IN (SELECT a FROM R)) IS NULL",
        "SELECT S.a FROM S WHERE (S.a IN (SELECT a FROM R)) = false",
        "SELECT S.a FROM S WHERE (S.a IN (SELECT a FROM R)) = (S.s IN (SELECT s FROM Q))",
        "SELECT S.a FROM S WHERE COALESCE(S.a IN (SELECT a FROM R), true)",
    ],
)
def test_in_is_left_to_spark_where_its_null_matters(sql: str) -> None:
    """Spark makes FALSE of it."""
    job = job_checked(sql, ASKING)
    assert job is not None
    assert "is computed by Spark only" in (why_not_embedded(job) or "")
