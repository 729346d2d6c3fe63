"""The bag criterion, clause by clause: positive and negative cases beside their SQL."""

from __future__ import annotations

import pytest

from support.catalogs import PLAIN, Catalog, streams, with_domain, with_relation
from support.product import blamed, decided, spanned

RELATION = with_relation(PLAIN)
TYPED = with_relation(streams(d="double", s="string", m="decimal(9,2)", n="decimal", f="boolean", t="date"))
OLDER = "FROM S, T WHERE S.ts > T.ts"
"""T is remembered, S is not."""

BOUNDED: dict[str, tuple[str, Catalog]] = {
    # (i) projections
    "one stream is never remembered": ("SELECT S.a, S.b FROM S", PLAIN),
    "the newest stream may be projected": (f"SELECT S.a {OLDER}", PLAIN),
    "a range bounds an integer": (f"SELECT T.a {OLDER} AND T.a BETWEEN 1 AND 9", PLAIN),
    "a constant bounds anything": (f"SELECT T.s {OLDER} AND T.s = 'x'", TYPED),
    "a bound through the other stream": (
        f"SELECT T.a {OLDER} AND T.a < S.a AND S.a < 5 AND T.a > 0", PLAIN),
    "a bound through an offset": (
        f"SELECT T.a {OLDER} AND T.a < S.a + 3 AND T.a > S.b - 2 AND S.a < 5 AND S.b > 0", PLAIN),
    "constants only": (f"SELECT 1 AS one {OLDER}", PLAIN),
    "an attribute that must be NULL": (f"SELECT T.a {OLDER} AND T.a IS NULL", PLAIN),
    # (ii) joins
    "clipping: hi(A) and lo(B) are known": (f"SELECT 1 AS one {OLDER} AND T.a < S.a AND T.a < 9 AND S.a > 0", PLAIN),
    "clipping the greater side": (f"SELECT 1 AS one {OLDER} AND S.a < T.a AND S.a < 9 AND T.a > 0", PLAIN),
    "an equality on a bounded attribute": (f"SELECT 1 AS one {OLDER} AND S.a = T.a AND T.a BETWEEN 0 AND 3", PLAIN),
    "an equality bounded on the other side": (f"SELECT 1 AS one {OLDER} AND S.a = T.a AND S.a BETWEEN 0 AND 3", PLAIN),
    "a join that follows through a constant": (f"SELECT 1 AS one {OLDER} AND T.a < 3 AND S.a > 3 AND T.a < S.a", PLAIN),
    "joins with older streams only": (
        "SELECT 1 AS one FROM S, T, U WHERE S.ts > U.ts AND T.ts > U.ts AND S.ts > T.ts "
        "AND T.a > U.a AND U.a > 0 AND T.a < 6", PLAIN),
    "a redundant join with a later stream": (
        "SELECT 1 AS one FROM S, T WHERE S.ts > T.ts AND T.a < T.b AND T.b < S.a AND T.a < S.a "
        "AND T.b < 9 AND S.a > 0", PLAIN),
    "unrelated streams with bounded attributes": (
        "SELECT S.a, T.a FROM S, T WHERE S.a BETWEEN 0 AND 2 AND T.a BETWEEN 0 AND 2", PLAIN),
    # later(S) is empty: windows
    "simultaneous tuples need no bound": ("SELECT T.a FROM S, T WHERE S.ts = T.ts AND S.b = T.b", PLAIN),
    "a window on both sides": ("SELECT T.a, S.a FROM S, T WHERE S.ts BETWEEN T.ts - 2 AND T.ts + 3", PLAIN),
    "a window through a third stream": (
        "SELECT T.a FROM S, T, U WHERE S.ts <= U.ts + 2 AND U.ts <= T.ts + 2 AND S.ts > T.ts", PLAIN),
    # relations
    "a relation's attribute may be projected": ("SELECT R.a FROM S, T, R WHERE S.ts > T.ts", RELATION),
    "equal to a relation's attribute": ("SELECT T.a FROM S, T, R WHERE S.ts > T.ts AND T.a = R.a", RELATION),
    "between a relation's attributes": (
        "SELECT T.a FROM S, T, R WHERE S.ts > T.ts AND T.a > R.a AND T.a < R.b", RELATION),
    "a double equal to a relation's": ("SELECT T.d FROM S, T, R WHERE S.ts > T.ts AND T.d = R.d", TYPED),
    "a join that follows through a relation": (
        "SELECT 1 AS one FROM S, T, R WHERE S.ts > T.ts AND T.a < R.a AND R.a < S.a", RELATION),
    # finite streams
    "a finite stream is remembered whole": (f"SELECT T.a {OLDER} AND T.ts < 6", PLAIN),
    "equal to a finite stream's attribute": (
        "SELECT T.a FROM S, T, U WHERE S.ts > T.ts AND U.ts < 6 AND T.a = U.a", PLAIN),
    "a finite stream that is the newest ends the query": (f"SELECT T.a {OLDER} AND S.ts < 6", PLAIN),
    # types
    "a decimal with a scale is discrete": (f"SELECT T.m {OLDER} AND T.m BETWEEN 0.5 AND 1.5", TYPED),
    "a boolean is bounded": (f"SELECT T.f {OLDER}", TYPED),
    "a boolean join": (f"SELECT 1 AS one {OLDER} AND T.f = S.f", TYPED),
    "a date range": (f"SELECT T.t {OLDER} AND T.t BETWEEN DATE '2024-01-01' AND DATE '2024-01-31'", TYPED),
    "an IN list of strings": (f"SELECT T.s {OLDER} AND T.s IN ('x', 'y')", TYPED),
    "a declared range": (f"SELECT T.a {OLDER}", with_domain(PLAIN, "T", "a", [0, 99])),
    "a declared list of strings": (f"SELECT T.s {OLDER}", with_domain(TYPED, "T", "s", ["a", "b"])),
    "a declared list of doubles": (
        f"SELECT 1 AS one {OLDER} AND T.d < S.d", with_domain(TYPED, "T", "d", [0.5, 1.5, 2.5])),
}  # fmt: skip

UNBOUNDED: dict[str, tuple[str, Catalog, list[tuple[str, str]], str]] = {
    # (i)
    "an unbounded projection": (f"SELECT T.a {OLDER}", PLAIN, [("(i)", "T.a")], "T.a"),
    "bounded on one side only": (f"SELECT T.a {OLDER} AND T.a > 0", PLAIN, [("(i)", "T.a")], "T.a"),
    "not the attribute that is bounded": (f"SELECT T.b {OLDER} AND T.a IN (1, 2)", PLAIN, [("(i)", "T.b")], "T.b"),
    "unrelated streams wait for each other": (
        "SELECT S.a, 1 AS one FROM S, T", PLAIN, [("(i)", "S.a")], "S.a"),
    "at most three older is no bound on how much newer": (
        "SELECT T.a FROM S, T WHERE S.ts >= T.ts - 3", PLAIN, [("(i)", "T.a")], "T.a"),
    # (ii)
    "an unbounded equality": (f"SELECT 1 AS one {OLDER} AND S.a = T.a", PLAIN, [("(ii)", "T.a")], "S.a = T.a"),
    "an unbounded inequality": (f"SELECT 1 AS one {OLDER} AND S.a < T.a", PLAIN, [("(ii)", "T.a")], "S.a < T.a"),
    "clipped on the wrong side": (
        f"SELECT 1 AS one {OLDER} AND T.a < S.a AND T.a > 0 AND S.a > 0", PLAIN, [("(ii)", "T.a")], "T.a < S.a"),
    "bounds on the newer side do not help below": (
        f"SELECT 1 AS one {OLDER} AND T.a < S.a AND S.a > 0", PLAIN, [("(ii)", "T.a")], "T.a < S.a"),
    "a grandparent": (
        "SELECT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND T.ts > U.ts AND S.a < U.a", PLAIN,
        [("(ii)", "U.a")], "S.a < U.a"),
    "a window after which a third stream comes": (
        "SELECT 1 AS one FROM S, T, U WHERE S.ts BETWEEN T.ts AND T.ts + 2 AND U.ts > S.ts AND T.a = U.a", PLAIN,
        [("(ii)", "T.a")], "T.a = U.a"),
    # relations and finite streams
    "a relation on one side only": (
        "SELECT T.a FROM S, T, R WHERE S.ts > T.ts AND T.a > R.a", RELATION, [("(i)", "T.a")], "T.a"),
    "a finite stream does not bound the others": (
        "SELECT T.a FROM S, T, U WHERE S.ts > T.ts AND U.ts < 6", PLAIN, [("(i)", "T.a")], "T.a"),
    # types
    "a range of doubles is infinite": (
        f"SELECT T.d {OLDER} AND T.d BETWEEN 0.5D AND 1.5D", TYPED, [("(i)", "T.d")], "T.d"),
    "a range of strings is infinite": (
        f"SELECT T.s {OLDER} AND T.s BETWEEN 'a' AND 'b'", TYPED, [("(i)", "T.s")], "T.s"),
    "a decimal without a scale is dense": (
        f"SELECT T.n {OLDER} AND T.n BETWEEN 0.5 AND 1.5", TYPED, [("(i)", "T.n")], "T.n"),
    "doubles cannot be clipped": (
        f"SELECT 1 AS one {OLDER} AND T.d < S.d AND T.d < 9D AND S.d > 0D", TYPED, [("(ii)", "T.d")], "T.d < S.d"),
    "a declared range of doubles is infinite": (
        f"SELECT T.d {OLDER}", with_domain(TYPED, "T", "d", [0.5, 1.5]), [("(i)", "T.d")], "T.d"),
    # several at once
    "every violation is reported": (
        f"SELECT T.a, T.b {OLDER} AND S.a < T.a", PLAIN,
        [("(i)", "T.a"), ("(i)", "T.b"), ("(ii)", "T.a")], "T.a"),
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDED)
def test_bounded(name: str) -> None:
    decision = decided(*BOUNDED[name])
    assert (decision.verdict, blamed(decision)) == ("bounded", [])
    assert decision.criteria[0].holds
    assert decision.diagnostics == ()


@pytest.mark.parametrize("name", UNBOUNDED)
def test_unbounded(name: str) -> None:
    sql, catalog, culprits, first = UNBOUNDED[name]
    decision = decided(sql, catalog)
    assert (decision.verdict, blamed(decision)) == ("unbounded", culprits)
    result = decision.criteria[0]
    assert not result.holds
    assert spanned(sql, result.violations[0].span) == first
    assert [d.code for d in decision.diagnostics] == list(dict.fromkeys(v.code for v in result.violations))
    for violation in result.violations:
        expected = {"(i)": {"SB201"}, "(ii)": {"SB202", "SB203"}}[violation.condition]
        assert violation.code in expected
        assert violation.message
        assert violation.help


def test_the_span_is_that_of_the_column_in_the_select_list_and_not_of_its_alias() -> None:
    sql = "SELECT S.b,\n       T.a AS late\nFROM S, T\nWHERE S.ts > T.ts"
    (violation,) = decided(sql, PLAIN).criteria[0].violations
    assert (violation.span.line, violation.span.column, violation.span.end_line, violation.span.end_column) == (
        2,
        8,
        2,
        11,
    )


def test_the_span_survives_a_subquery() -> None:
    sql = "SELECT q.a FROM S JOIN (SELECT T.a, T.ts FROM T WHERE T.b = 3) AS q ON S.ts > q.ts"
    (violation,) = decided(sql, PLAIN).criteria[0].violations
    assert spanned(sql, violation.span) == "q.a"


def test_equality_and_inequality_have_codes_of_their_own() -> None:
    equality = decided(f"SELECT 1 AS one {OLDER} AND S.a = T.a", PLAIN)
    inequality = decided(f"SELECT 1 AS one {OLDER} AND S.a < T.a", PLAIN)
    assert [d.code for d in (*equality.diagnostics, *inequality.diagnostics)] == ["SB203", "SB202"]
