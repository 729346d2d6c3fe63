"""Repairs of statements beyond joins: each kind of change where it helps, where it does not, and what it means."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import streambound
from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.diagnostics import Fix
from streambound.analyzer.spans import SourceText
from streambound.api import SQL
from streambound.criteria.check import Checked, check_source
from streambound.criteria.large_bound import rows_in_words, without_rate
from streambound.criteria.repairs.repair import RULES, with_repairs
from streambound.criteria.vocabulary import Verdict
from support.cases import CASES, Case, read_cases
from support.patching import CATALOG, catalog_text, patched, patched_by_lines
from support.profiles import MORE

FILE = "q.sql"
TEXT = (CASES / "repairs_beyond_joins.toml").read_text(encoding="utf-8")
KINDS = {"open keys", "not exists", "as of", "window", "bucket", "distinct", "relation", "domain"}
CIRCUITS = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "data" / "circuits.jsonl").read_text(encoding="utf-8").splitlines()
]
CASES_OF_REPAIRS = read_cases("repairs_beyond_joins.cases")


SHARED = pytest.mark.xdist_group("repairs beyond joins")
"""Tests of the same repairs, which are found once, in one process."""


@cache
def checked(sql: str, catalog: str = TEXT) -> Checked:
    return check_source(SourceText(FILE, sql), parse_catalog(catalog, CATALOG))[0]


@cache
def fixes(sql: str) -> tuple[Fix, ...]:
    repairs = with_repairs(checked(sql), thorough=True).repairs
    return repairs.fixes if repairs else ()


def shown(kind: str, sql: str) -> str:
    """The repairs of one kind (or of ``all``) with the lines that they add."""
    lines = []
    for fix in fixes(sql):
        if kind in ("all", "+".join(fix.changes)):
            lines.append(f"{fix.kind}: {fix.title} ({fix.note})")
            for hunk in fix.hunks:
                lines += [f"  {hunk.file}:{hunk.line} -{len(hunk.removed)}", *(f"  + {line}" for line in hunk.added)]
    return "\n".join(lines) or "none"


@SHARED
@pytest.mark.parametrize("case", CASES_OF_REPAIRS, ids=str)
def test_cases(case: Case) -> None:
    assert shown(case.name.partition(":")[0], case.text) == case.expected


@SHARED
@pytest.mark.parametrize("case", CASES_OF_REPAIRS, ids=str)
def test_every_case_is_bounded_once_repaired_and_was_not_before(case: Case) -> None:
    texts = {FILE: case.text, CATALOG: TEXT}
    before = checked(case.text)
    assert before.decision is None
    assert before.verdict in (Verdict.UNBOUNDED, Verdict.UNKNOWN, Verdict.UNSUPPORTED)
    for fix in fixes(case.text):
        after = patched(texts, fix)
        assert patched_by_lines(texts, fix) == after
        again = checked(after[FILE], after[CATALOG])
        assert again.verdict is Verdict.BOUNDED
        bound = again.circuit_bound or again.bound
        assert bound is not None
        number = bound.entries.value
        told = bound.entries.text if number is None else f"{number:,}"
        told = "nothing is remembered" if number == 0 else f"at most {told} {'entry' if number == 1 else 'entries'}"
        assert again.catalog is not None
        assert fix.note.endswith(rows_in_words(bound.entries, without_rate(again.catalog)) or told)


def test_every_kind_of_change_has_a_positive_and_a_negative_case() -> None:
    assert len(RULES) == len(KINDS)
    assert {case.name.partition(":")[0] for case in CASES_OF_REPAIRS if case.expected != "none"} >= KINDS - {"domain"}
    assert {case.name.partition(":")[0] for case in CASES_OF_REPAIRS if case.expected == "none"} >= KINDS - {"as of"}


@pytest.mark.parametrize(
    "sql, entries",
    [
        ("SELECT a, COUNT(*) AS n FROM S WHERE v > 3 OR b > 3 GROUP BY a HAVING a BETWEEN 4 AND 5", 2),
        ("SELECT x.a, x.n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS x WHERE x.n > 3 AND x.a IN (4, 5)", 2),
        ("WITH x AS (SELECT a, v, COUNT(*) AS n FROM S GROUP BY a, v) SELECT n FROM x WHERE a = 4 AND v = 1", 1),
    ],
)
def test_a_condition_above_groups_needs_no_repair(sql: str, entries: int) -> None:
    bound = checked(sql).circuit_bound
    assert bound is not None and bound.entries.value == entries


ROWS = (-1, 0, 3, 9, 12)


@pytest.mark.parametrize("seed", range(3))
def test_not_exists_differs_from_not_in_by_nulls_only(seed: int) -> None:
    """What the title and the note say, by DuckDB: without NULLs both are the same, with them NOT EXISTS gives more."""
    import duckdb

    random = Random(seed)
    sql = "SELECT S.a FROM S WHERE S.a NOT IN (SELECT T.b FROM T WHERE T.a > 0)"
    (asked,) = (fix for fix in fixes(sql) if fix.changes == ("not exists",))
    for nulls in (False, True):
        values = (*ROWS, None) if nulls else ROWS
        with duckdb.connect(config={"threads": 1}) as db:
            for table in "ST":
                db.execute(f"CREATE TABLE {table} (a BIGINT, b BIGINT, v BIGINT, ts BIGINT)")
                rows = [[random.choice(values) for _ in range(4)] for _ in range(12)]
                db.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", rows)
            before, exists = (Counter(db.execute(text).fetchall()) for text in (sql, asked.sql))
        assert before <= exists if nulls else before == exists


WITHOUT = ("nested_0021",)
"""Groups below a join: no time above can limit them, nor the values of a recursion."""
CORPUS = [case for case in CIRCUITS if case["verdict"] != "bounded"]


@pytest.mark.slow
@pytest.mark.parametrize("case", CORPUS[:: 1 if MORE > 1 else 4], ids=lambda case: case["name"])
def test_statements_of_the_corpus_that_are_not_bounded_have_a_repair(case: dict[str, Any]) -> None:
    """One of four, through the public API: each repair makes its statement bounded, with the catalog it changes."""
    text = catalog_text(case["catalog"])
    found = streambound.check(case["sql"], parse_catalog(text, CATALOG))[0]
    assert found.verdict == "unbounded"
    assert found.repairs or "RECURSIVE" in case["sql"] or case["name"] in WITHOUT
    for fix in found.repairs:
        after = patched({SQL: case["sql"], CATALOG: text}, fix)
        assert fix.sql == after[SQL].strip()
        again = streambound.check(fix.sql, parse_catalog(after[CATALOG], CATALOG), repairs=False)[0]
        assert again.verdict == "bounded" and again.bound is not None


def test_the_corpus_has_them() -> None:
    assert len(CORPUS) == 76
