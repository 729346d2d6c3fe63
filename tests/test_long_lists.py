"""Long IN lists are one condition: what it says of results, of the bound M, and of what the job remembers."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import pytest
from msgspec.structs import replace

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.query import OneOf
from streambound.analyzer.render import render
from streambound.analyzer.spans import SourceText
from streambound.criteria.bound import bound
from streambound.criteria.check import Checked, check_source
from streambound.preprocess.split_disjunctions import MOST_BRANCHES
from streambound.preprocess.subjects import LONGEST_SPLIT
from support.choices import Choices
from support.kernel import run_kernel
from support.oracle import prefix_expected
from support.product import decided
from support.profiles import MORE
from support.streams import adversarial_rows, small_rows

COLUMNS = {"a": "bigint", "b": "bigint", "c": "string", "d": "double", "e": "date", "ts": "bigint"}
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "ts", "columns": COLUMNS, "max_per_timestamp": 3},
        "T": {"timestamp": "ts", "columns": COLUMNS, "domain": {"b": [0, 2, 4, 6, 8, 10]}, "max_per_timestamp": 3},
    },
    "relations": {"R": {"columns": {"a": "bigint", "c": "string"}, "rows": 4}},
}
DATES = ", ".join(f"DATE '2024-01-0{day}'" for day in (1, 2, 3, 5, 8))
CASES = [
    ("not needed later", "SELECT 1 AS x FROM S, T WHERE S.ts < T.ts AND S.a IN (0, 2, 4, 6, 9)", 1),
    ("as alternatives, one of them twice",
     "SELECT S.a FROM S, T WHERE S.ts < T.ts AND (S.a = 0 OR S.a = 2 OR S.a = 4 OR S.a = 6 OR S.a = 2 OR S.a = 9)",
     5),
    ("texts, joined", "SELECT T.a FROM S, T WHERE S.ts < T.ts AND S.c = T.c AND T.c IN ('', 'a', 'b', 'x', 'y')", 5),
    ("doubles", "SELECT S.d FROM S, T WHERE S.ts < T.ts AND S.d IN (0, 0.5, 1, 1.5, -2.25)", 5),
    ("dates", f"SELECT S.e FROM S, T WHERE S.ts < T.ts AND S.e IN ({DATES})", 5),
    ("two lists", "SELECT S.a FROM S, T WHERE S.ts < T.ts AND S.a IN (0, 2, 4, 6, 9) AND S.a IN (1, 2, 3, 5, 9)", 2),
    ("moved", "SELECT T.b FROM S, T WHERE S.ts < T.ts AND S.a = T.a + 1 AND T.a IN (0, 2, 4, 6, 9)", 5),
    ("within a declared list, joined",
     "SELECT T.a FROM S, T WHERE S.ts < T.ts AND S.b = T.b AND S.b IN (0, 2, 4, 8, 9)", 4),
    ("beside an OR", "SELECT S.b FROM S, T WHERE S.ts < T.ts AND S.b = 1 AND (S.a IN (0, 2, 4, 6, 9) OR S.c = 'a')", 3),
    ("a relation's", "SELECT S.b FROM S, T, R WHERE S.ts > T.ts AND T.a = R.a AND R.a IN (0, 1, 2, 4, 7)", 1),
    ("neither in nor anything else",
     "SELECT 1 AS x FROM S, T WHERE S.ts < T.ts AND NOT (S.a IN (0, 2, 4, 6, 9) AND S.b = 1)", 3),
    ("distinct", "SELECT DISTINCT S.a FROM S, T WHERE S.ts < T.ts AND S.a IN (0, 2, 4, 6, 9)", 10),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "most"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_job_agrees_with_sql_and_keeps_within_the_bound(sql: str, most: int) -> None:
    decision = decided(sql, CATALOG)
    found = bound(decision.derivation.split)
    assert decision.verdict == "bounded"
    assert found is not None and found.entries.value == most
    results = 0
    for seed, make in product(range(4 * MORE), (small_rows, adversarial_rows)):
        rows = make(Choices.seeded(seed), CATALOG, 8)
        run = run_kernel(decision, CATALOG, rows)
        expected = prefix_expected(sql, CATALOG, rows)
        assert run.printed == expected
        assert run.peak <= most
        results += sum(map(len, expected.values()))
        if results and make is adversarial_rows and seed + 1 >= MORE:
            return
    raise AssertionError("nothing is printed")


def test_it_is_one_branch_and_prints_as_it_was_written() -> None:
    listed = ", ".join(str(2 * i) for i in range(LONGEST_SPLIT + 1))
    split = decided(f"SELECT S.a FROM S WHERE S.a IN ({listed})", CATALOG).derivation.split
    (branch,) = split.branches
    assert [type(atom) for atom in branch.atoms] == [OneOf]
    assert render(replace(split, branches=(branch,))) == f"SELECT S.a FROM S WHERE S.a IN ({listed})"


def test_a_short_list_is_split() -> None:
    listed = ", ".join(str(2 * i) for i in range(LONGEST_SPLIT))
    split = decided(f"SELECT S.a FROM S WHERE S.a IN ({listed})", CATALOG).derivation.split
    assert len(split.branches) == LONGEST_SPLIT


# --- large conditions ---------------------------------------------------------------------------------------------


def _check(condition: str, tables: str = "S, T", word: str = "SELECT") -> Checked:
    sql = f"{word} 1 AS x FROM {tables} WHERE {condition}"
    (checked,) = check_source(SourceText("q.sql", sql), catalog_from_mapping(CATALOG))
    return checked


@pytest.mark.parametrize("word", ["IN", "NOT IN"])
def test_a_list_of_five_thousand_values(word: str) -> None:
    checked = _check(f"S.ts < T.ts AND S.a {word} ({', '.join(str(3 * i) for i in range(5000))})")
    assert checked.verdict == "bounded"
    assert checked.bound is not None and checked.bound.entries.value == 1


def test_many_constants_excluded_one_by_one() -> None:
    checked = _check("S.ts < T.ts AND " + " AND ".join(f"S.a <> {2 * i}" for i in range(1500)))
    assert checked.verdict == "bounded"
    assert checked.lto_queries == 3001 - 1500


def _chain(length: int, more: str = "") -> tuple[str, str]:
    names = [f"s{i}" for i in range(length)]
    links = [f"{x}.ts < {y}.ts AND {x}.a <> {y}.a" for x, y in pairwise(names)]
    bounds = [f"{name}.a BETWEEN 0 AND 7" for name in names] if more else []
    return " AND ".join([*links, *bounds]), ", ".join(f"S {name}" for name in names)


@pytest.mark.parametrize("word", ["SELECT", "SELECT DISTINCT"])
def test_a_chain_of_unequal_bounded_attributes_is_not_split(word: str) -> None:
    checked = _check(*_chain(24, "bounded"), word)
    assert checked.verdict == "bounded"
    assert checked.decision is not None and len(checked.decision.derivation.split.branches) == 1


TOO_MANY = {
    "a chain of <>": _chain(20),
    "alternatives that exclude each other": (" AND ".join(f"(S.a > {i} OR S.b < {-i})" for i in range(300)), "S, T"),
}


@pytest.mark.parametrize("name", TOO_MANY)
def test_more_branches_than_are_looked_at_are_unknown_and_blamed(name: str) -> None:
    checked = _check(*TOO_MANY[name])
    assert checked.verdict == "unknown"
    (diagnostic,) = checked.diagnostics
    assert diagnostic.code == "SB209" and diagnostic.help and f"{MOST_BRANCHES:,}" in diagnostic.message
    blamed = checked.source.text[diagnostic.span.start : diagnostic.span.end]
    assert blamed == ("s0.a <> s1.a" if name == "a chain of <>" else "S.a > 0")


@pytest.mark.parametrize("domain", [[0, 3], [0, 2, 4]])
def test_unequal_bounded_attributes_of_two_streams(domain: list[int]) -> None:
    columns = {"a": "bigint", "b": "bigint", "ts": "bigint"}
    catalog = {
        "streams": {n: {"timestamp": "ts", "columns": columns, "domain": {"a": domain}} for n in ("S", "T", "U")}
    }
    for sql, most in (
        ("SELECT U.b FROM S, T, U WHERE S.ts < T.ts AND T.ts < U.ts AND S.a <> T.a AND T.a <> U.a + 1", None),
        ("SELECT T.b FROM S, T WHERE S.ts < T.ts AND S.a <> T.a", 4 if len(domain) == 2 else 3),
    ):
        decision = decided(sql, catalog)
        assert decision.verdict == "bounded" and len(decision.derivation.split.branches) == 1
        found = bound(decision.derivation.split)
        assert found is not None and (most is None or found.entries.value == most)
        for seed in range(4):
            rows = small_rows(Choices.seeded(seed), catalog, 9)
            run = run_kernel(decision, catalog, rows)
            assert run.printed == prefix_expected(sql, catalog, rows)
            assert found.entries.value is not None and run.peak <= found.entries.value
