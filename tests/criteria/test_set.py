"""The set criterion, clause by clause: positive and negative cases beside their SQL."""

from __future__ import annotations

import pytest

from support.catalogs import PLAIN, Catalog, streams, with_domain, with_relation
from support.product import blamed, criterion, decided, spanned

TYPED = with_relation(streams(d="double", s="string", f="boolean"))
OLDER = "FROM S, T WHERE S.ts > T.ts"
CHAIN = "FROM W, X, Y, Z WHERE W.ts > X.ts AND X.ts > Y.ts AND Y.ts > Z.ts"
FOUR = streams("W X Y Z")

BOUNDED: dict[str, tuple[str, Catalog]] = {
    # (1)
    "a bounded projection": (f"SELECT DISTINCT S.a {OLDER} AND S.a BETWEEN 0 AND 5", PLAIN),
    "constants only": (f"SELECT DISTINCT 1 AS one {OLDER}", PLAIN),
    "a boolean projection": ("SELECT DISTINCT S.f FROM S", TYPED),
    "a relation's attribute": ("SELECT DISTINCT R.s FROM S, R WHERE S.a > 0", TYPED),
    "equal to a relation's attribute": ("SELECT DISTINCT S.s FROM S, R WHERE S.s = R.s", TYPED),
    "a finite stream's attribute": ("SELECT DISTINCT S.a FROM S WHERE S.ts < 6", PLAIN),
    "a declared domain": ("SELECT DISTINCT S.a FROM S", with_domain(PLAIN, "S", "a", [0, 9])),
    # (2)
    "an equality on a bounded attribute": (
        f"SELECT DISTINCT 1 AS one {OLDER} AND S.a = T.a AND T.a BETWEEN 0 AND 3", PLAIN),
    "an equality of simultaneous tuples": ("SELECT DISTINCT 1 AS one FROM S, T WHERE S.ts = T.ts AND S.a = T.a", PLAIN),
    # (3)
    "one maximum": (f"SELECT DISTINCT 1 AS one {OLDER} AND S.a < T.a", PLAIN),
    "one minimum": (f"SELECT DISTINCT 1 AS one {OLDER} AND S.a > T.a", PLAIN),
    "the maximum of a grandchild": (
        "SELECT DISTINCT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND T.ts > U.ts AND S.a < U.a", PLAIN),
    "a maximum per key": (
        f"SELECT DISTINCT T.b {OLDER} AND S.a < T.a AND T.b BETWEEN 0 AND 3", PLAIN),
    "two maxima of one attribute": (
        f"SELECT DISTINCT 1 AS one {OLDER} AND S.a < T.a AND S.b < T.a", PLAIN),
    "two maxima of equal attributes": (
        f"SELECT DISTINCT 1 AS one {OLDER} AND S.a < T.a AND S.b < T.b AND T.a = T.b", PLAIN),
    "the second is harmless": (
        f"SELECT DISTINCT 1 AS one {OLDER} AND S.a < T.a AND S.b < T.b AND S.b < 9 AND T.b > 0", PLAIN),
    "two maxima of streams that nothing connects": (
        "SELECT DISTINCT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND S.ts > U.ts AND S.a < T.a AND S.b < U.a", PLAIN),
}  # fmt: skip

VIOLATED: dict[str, tuple[str, Catalog, str, list[tuple[str, str]], str]] = {
    # (1)
    "an unbounded projection": ("SELECT DISTINCT S.a FROM S", PLAIN, "unbounded", [("(1)", "S.a")], "S.a"),
    "the newest stream's too, unlike in a bag": (
        f"SELECT DISTINCT S.a {OLDER}", PLAIN, "unbounded", [("(1)", "S.a")], "S.a"),
    "even when all are simultaneous": (
        "SELECT DISTINCT S.a FROM S, T WHERE S.ts = T.ts", PLAIN, "unbounded", [("(1)", "S.a")], "S.a"),
    "strings": (
        "SELECT DISTINCT S.s FROM S WHERE S.s > 'a' AND S.s < 'b'", TYPED, "unbounded", [("(1)", "S.s")], "S.s"),
    # (2)
    "an unbounded equality": (
        f"SELECT DISTINCT 1 AS one {OLDER} AND S.a = T.a", PLAIN, "unbounded", [("(2)", "T.a")], "S.a = T.a"),
    "an equality bounded below only": (
        f"SELECT DISTINCT 1 AS one {OLDER} AND S.a = T.a AND S.a > 0", PLAIN, "unbounded", [("(2)", "T.a")],
        "S.a = T.a"),
    # (3)
    "two maxima of one tuple": (
        f"SELECT DISTINCT 1 AS one {OLDER} AND S.a < T.a AND S.b < T.b", PLAIN, "unbounded",
        [("(3)", "T.b")], "S.b < T.b"),
    "a maximum and a minimum": (
        f"SELECT DISTINCT 1 AS one {OLDER} AND S.a < T.a AND S.b > T.a", PLAIN, "unbounded",
        [("(3)", "T.a")], "S.b > T.a"),
    "the paper's missing case: maxima of two remembered streams": (
        f"SELECT DISTINCT 1 AS one {CHAIN} AND X.a < Z.a AND W.a < Y.a", FOUR, "unbounded",
        [("(3)", "Z.a")], "X.a < Z.a"),
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDED)
def test_bounded(name: str) -> None:
    decision = decided(*BOUNDED[name])
    assert (decision.verdict, blamed(decision)) == ("bounded", [])
    assert decision.diagnostics == ()


@pytest.mark.parametrize("name", VIOLATED)
def test_violated(name: str) -> None:
    sql, catalog, verdict, culprits, first = VIOLATED[name]
    decision = decided(sql, catalog)
    assert (decision.verdict, blamed(decision)) == (verdict, culprits)
    violation = decision.criteria[0].violations[0]
    assert spanned(sql, violation.span) == first
    assert decision.diagnostics[0].code == violation.code
    assert violation.code in {"(1)": {"SB201"}, "(2)": {"SB203"}, "(3)": {"SB204"}}[violation.condition]


def test_the_same_statement_as_a_bag_and_as_a_set() -> None:
    bag, dedup = (decided(f"SELECT {word} 1 AS one {OLDER} AND S.a < T.a", PLAIN) for word in ("", "DISTINCT"))
    assert (bag.verdict, dedup.verdict) == ("unbounded", "bounded")
    bag, dedup = (decided(f"SELECT {word} S.a {OLDER}", PLAIN) for word in ("", "DISTINCT"))
    assert (bag.verdict, dedup.verdict) == ("bounded", "unbounded")
    assert [result.name for result in bag.criteria] == ["bag", "theorem-1"]
    assert [result.name for result in dedup.criteria] == ["set", "theorem-2"]
    assert criterion(dedup, "theorem-2") is False
