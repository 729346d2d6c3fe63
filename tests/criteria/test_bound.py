"""The bound M: numbers and formulas of hand-counted cases, and what it is made of."""

from __future__ import annotations

from contextlib import suppress

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.query import Query
from streambound.analyzer.spans import SourceText
from streambound.criteria import bound as bound_module
from streambound.criteria.bound import bound, counted
from streambound.criteria.check import check_source
from streambound.reports.explanation import verdict_text
from streambound.synopsis_exec.plan import make_plan
from support.catalogs import PLAIN, Catalog, streams, with_domain, with_relation
from support.kernel import actual_sizes, formula_value
from support.product import decided

RELATION = with_relation(PLAIN)
RATED: Catalog = {
    "streams": {name: {**body, "max_per_timestamp": 4} for name, body in streams(s="string")["streams"].items()},
    "relations": {"R": {"columns": {"a": "bigint", "s": "string"}, "rows": 10}},
}
OLDER = "FROM S, T WHERE S.ts > T.ts"

CASES: dict[str, tuple[str, Catalog, int | str]] = {
    "one stream keeps nothing": ("SELECT S.a FROM S", PLAIN, 0),
    "a counter": (f"SELECT S.a {OLDER}", PLAIN, 1),
    "one counter per value": (f"SELECT T.a {OLDER} AND T.a BETWEEN 1 AND 4", PLAIN, 4),
    "one counter per pair of values": (f"SELECT T.a, T.b {OLDER} AND T.a BETWEEN 1 AND 4 AND T.b IN (1, 2)", PLAIN, 8),
    "a value that follows is not kept": (f"SELECT T.a, T.b {OLDER} AND T.a = T.b AND T.a BETWEEN 1 AND 4", PLAIN, 4),
    "a constant is one value": (f"SELECT T.a {OLDER} AND T.a = 4", PLAIN, 1),
    "a filter alone is not kept": (f"SELECT S.a {OLDER} AND T.a BETWEEN 1 AND 4", PLAIN, 1),
    "a declared domain and NULL": (f"SELECT T.a {OLDER}", with_domain(PLAIN, "T", "a", [0, 9]), 11),
    "a boolean and NULL": (f"SELECT T.f {OLDER}", streams(f="boolean"), 3),
    "a boolean that is compared": (f"SELECT T.f {OLDER} AND T.f = S.f", streams(f="boolean"), 2),
    "clipped: only 1 to 8 matter, and all below is as 1": (
        f"SELECT 1 AS one {OLDER} AND T.a < S.a AND T.a < 9 AND S.a > 1", PLAIN, 8),
    "the same, of a value that equals another": (
        f"SELECT 1 AS one {OLDER} AND T.a = T.b AND T.a < S.a AND T.a < 9 AND S.a > 1", PLAIN, 8),
    "the same, of a value that equals another up to an offset": (
        "SELECT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND T.ts = U.ts AND T.a = U.a + 3 AND U.a < S.a AND T.a < 9 "
        "AND S.a > 1", PLAIN, 5),
    "the same, beside a relation that differs": (
        f"SELECT 1 AS one {OLDER.replace('T ', 'T, R ')} AND T.a <> R.a AND T.a < S.a AND T.a < 9 AND S.a > 1",
        RELATION, 8),
    "two suffixes of a chain": (
        "SELECT U.a FROM S, T, U WHERE S.ts > T.ts AND T.ts > U.ts AND U.a BETWEEN 1 AND 3", PLAIN, 6),
    "two parents: three tables": (
        "SELECT U.a FROM S, T, U WHERE S.ts > U.ts AND T.ts > U.ts AND U.a BETWEEN 1 AND 3", PLAIN, 9),
    "unrelated streams wait for each other": (
        "SELECT S.a, T.a AS ta FROM S, T WHERE S.a BETWEEN 1 AND 2 AND T.a BETWEEN 1 AND 3", PLAIN, 5),
    "a window keeps its tuples": (f"SELECT T.a, S.a AS sa {OLDER} AND S.ts <= T.ts + 3", RATED, 12),
    "simultaneous tuples keep nothing": ("SELECT T.a FROM S, T WHERE S.ts = T.ts", PLAIN, 0),
    "as many as a relation has rows": ("SELECT T.s FROM S, T, R WHERE S.ts > T.ts AND T.s = R.s", RATED, 10),
    "a relation's row says what two streams keep": (
        "SELECT T.a, U.s FROM S, T, U, R WHERE S.ts > T.ts AND S.ts > U.ts AND T.ts = U.ts AND T.a = R.a AND U.s = R.s",
        RATED, 10),
    "whichever of two equal columns is selected": (
        "SELECT T.s FROM S, T, R WHERE S.ts > T.ts AND T.s = R.s AND S.a = R.a", RATED, 10),
    "results of which a relation's row says all": (
        "SELECT DISTINCT T.s, S.a FROM S, T, R WHERE S.ts > T.ts AND T.s = R.s AND S.a = R.a", RATED, 20),
    "results of a relation's columns are its rows": (
        "SELECT DISTINCT R.s, R.a FROM S, T, R WHERE S.ts > T.ts AND T.s = R.s", RATED, 20),
    "a constant limit, beside a relation that only constants bound": (
        "SELECT T.a FROM S, T, R WHERE S.ts > T.ts AND T.a BETWEEN 0 AND 5 AND R.b BETWEEN 3 AND 7", RELATION, 6),
    "a value that differs from another, of a set": (
        f"SELECT DISTINCT 1 AS one {OLDER} AND S.a <> T.a AND S.a BETWEEN 0 AND 3 AND T.a BETWEEN 1 AND 4", PLAIN, 5),
    "no branch where a timestamp is NULL": (
        "SELECT 1 AS x FROM S, T WHERE S.a BETWEEN 0 AND 3 AND T.a BETWEEN 0 AND 3 AND (S.ts > T.ts OR S.a = T.a)",
        PLAIN, 5),
    "contradictions keep nothing": (f"SELECT T.a {OLDER} AND T.a < 1 AND T.a > 1", PLAIN, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_hand_counted(name: str) -> None:
    sql, catalog, most = CASES[name]
    decision = decided(sql, catalog)
    assert decision.verdict == "bounded"
    found = bound(decision.derivation.split)
    assert found is not None
    assert found.entries.value == most


def test_a_formula_where_the_catalog_gives_no_number() -> None:
    decision = decided(f"SELECT T.a, S.a AS sa {OLDER} AND S.ts <= T.ts + 3", PLAIN)
    found = bound(decision.derivation.split)
    assert found is not None
    assert found.entries.value is None
    rows = {"T": [{"a": 1, "b": 1, "ts": 1}] * 5}
    assert formula_value(decision, PLAIN, rows) == 15


def test_a_range_between_a_relations_extremes() -> None:
    decision = decided("SELECT T.a FROM S, T, R WHERE S.ts > T.ts AND T.a > R.a AND T.a < R.b", RELATION)
    found = bound(decision.derivation.split)
    assert found is not None
    assert found.entries.value is None
    rows = {"R": [{"a": 0, "b": 5}, {"a": 7, "b": 11}]}
    assert actual_sizes(RELATION, rows).items() >= {"rows_R": 2, "min_R_a": 0, "max_R_b": 11}.items()
    limit = formula_value(decision, RELATION, rows)
    assert limit is not None
    assert limit >= 7  # 1 to 4, and 8 to 10


SETS: dict[str, tuple[str, str]] = {
    "one extremum": (f"{OLDER} AND S.a < T.a", "2"),
    "one extremum of two attributes": (f"{OLDER} AND S.a < T.a AND S.a < T.b", "2"),
    "one that limits two attributes": (f"{OLDER} AND S.a < T.a AND S.b < T.a - 3", "2"),
    "per value of another attribute": (f"{OLDER} AND S.a < T.a AND S.b = T.b AND S.b BETWEEN 1 AND 4", "5"),
    "per clipped value of the same attribute": (
        "FROM S, T, U WHERE S.ts > T.ts AND T.ts > U.ts AND S.a < U.a AND T.a < U.a AND U.a > 0 AND T.a < 7", "9"),
    "per timestamp of a window": (f"{OLDER} AND S.ts <= T.ts + 4 AND S.a < T.a", "min(4, 4*c_T) + 1"),
    "every tuple of a window": (f"{OLDER} AND S.ts <= T.ts + 4 AND S.a < T.a AND S.b > T.b", "4*c_T + 1"),
    "where only a finite stream bounds": (
        "FROM S, T, U WHERE S.ts > T.ts AND U.ts < 6 AND T.a < U.a AND T.b < S.b AND S.b < U.b",
        "20*c_S*c_T + 5*c_T + 12*c_U + 1"),
    "per row of a relation that links two streams": (
        "FROM S, T, U, R WHERE S.ts > T.ts AND S.ts > U.ts AND S.a < T.a AND S.b < U.a AND T.b = R.a AND U.b = R.b",
        "3*rows_R + 1"),
    "in two cases": (f"{OLDER} AND T.a < S.a AND S.a < T.b AND T.a <= 0 AND T.b >= 0", "5"),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_a_set_keeps_one_extremum(name: str) -> None:
    rest, entries = SETS[name]
    found = bound(decided(f"SELECT DISTINCT 1 AS one {rest}", RELATION).derivation.split)
    assert found is not None
    assert found.entries.text == entries


@pytest.mark.parametrize("rest", [*(rest for rest, _ in SETS.values()), "FROM S"])
def test_it_is_computed_once(rest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks: the criterion of a set, the check, a report, the plan of the job."""
    calls: list[Query] = []
    monkeypatch.setattr(bound_module, "bound", lambda split, repeats: (calls.append(split), bound(split, repeats))[1])
    catalog = catalog_from_mapping(RELATION)
    (checked,) = check_source(SourceText("q.sql", f"SELECT DISTINCT 1 AS one {rest}"), catalog)
    assert checked.bound is not None and checked.decision is not None
    verdict_text(checked, False)
    with suppress(NotExecutableError):
        make_plan(checked.decision, catalog)
    assert len(calls) == 1
    assert counted.cache_info().misses <= len(checked.bound.branches)


def test_a_tighter_range_never_needs_more() -> None:
    sizes = []
    for high in range(1, 9):
        found = bound(decided(f"SELECT T.a {OLDER} AND T.a BETWEEN 1 AND {high}", PLAIN).derivation.split)
        assert found is not None
        sizes.append(found.entries.value)
    assert sizes == list(range(1, 9))
