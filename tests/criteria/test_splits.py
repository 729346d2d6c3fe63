"""What a violation in one branch of a split says about the whole query, and (3) over dense types."""

from __future__ import annotations

import pytest

from support.catalogs import streams
from support.product import blamed, decided

YZ = streams("Y Z", c="bigint")
MADE_UP = "Y.a = Y.b AND (Z.b < Y.a OR Z.b >= Y.b)"
"""Y.a = Y.b, with which the alternatives together leave nothing to remember of Z.b."""
SPLITS = [
    ("a projection shows, whatever the others do", "SELECT Z.a", "Y.a = Z.b OR Y.b = Z.b", "unbounded"),
    ("one alternative is a filter", "SELECT 1 AS one", "Y.a = Z.b OR Y.a = 3", "unbounded"),
    ("the filter may come first", "SELECT 1 AS one", "Y.a = 3 OR Y.a = Z.b", "unbounded"),
    ("IN beside an equality", "SELECT 1 AS one", "Y.a = Z.a AND Z.b IN (1, 2)", "unbounded"),
    ("the halves of one <>", "SELECT 1 AS one", "Y.a <> Z.a", "unbounded"),
    ("the halves of <> in several branches", "SELECT 1 AS one", "Y.a <> Z.a AND Z.b IN (1, 2)", "unbounded"),
    ("the set criterion's equality", "SELECT DISTINCT 1 AS one", "Y.a = Z.b OR Y.a = 3", "unbounded"),
    (
        "alternatives that make up for each other",
        "SELECT 1 AS one",
        "Z.b < Y.a AND Y.b > 0 OR Z.b >= Y.a AND Y.b >= 1",
        "bounded",
    ),
    (
        "the same as a set",
        "SELECT DISTINCT 1 AS one",
        "Z.b = Y.a AND Y.b > 0 OR Z.b <> Y.a AND Y.b >= 1",
        "bounded",
    ),
    ("the same through an equality", "SELECT 1 AS one", MADE_UP, "unknown"),
    ("a tautology splits nothing", "SELECT 1 AS one", "Z.b < Y.a OR Z.b >= Y.a", "bounded"),
]


@pytest.mark.parametrize(("select", "condition", "verdict"), [c[1:] for c in SPLITS], ids=[c[0] for c in SPLITS])
def test_splits(select: str, condition: str, verdict: str) -> None:
    assert decided(f"{select} FROM Y, Z WHERE Y.ts > Z.ts AND ({condition})", YZ).verdict == verdict


def test_what_is_not_proved_is_said() -> None:
    decision = decided(f"SELECT 1 AS one FROM Y, Z WHERE Y.ts > Z.ts AND ({MADE_UP})", YZ)
    assert decision.diagnostics[0].code == "SB207"
    assert blamed(decision)


@pytest.mark.parametrize("kind", ["double", "string", "bigint"])
def test_a_range_over_a_dense_type_keeps_extrema_apart(kind: str) -> None:
    """The four-stream query of docs/theory-bags.md scaled into a range: bounded over integers, not over dense types."""
    catalog = streams("W X Y Z", v=kind)
    low, high = ("'a'", "'b'") if kind == "string" else ("0", "10")
    decision = decided(
        "SELECT DISTINCT 1 AS one FROM W, X, Y, Z WHERE W.ts > X.ts AND X.ts > Y.ts AND Y.ts > Z.ts "
        f"AND X.v < Z.v AND W.v < Y.v AND X.v < {high} AND Z.v > {low} AND W.v < {high} AND Y.v > {low}",
        catalog,
    )
    assert decision.verdict == ("bounded" if kind == "bigint" else "unbounded")


def test_a_list_with_gaps_is_not_a_range() -> None:
    catalog = streams("Y Z")
    catalog["streams"]["Z"]["domain"] = {"a": [1, 5, 9]}
    assert decided("SELECT Z.b FROM Y, Z WHERE Y.ts > Z.ts AND Z.a = 3", catalog).verdict == "bounded"
    assert decided("SELECT Z.b FROM Y, Z WHERE Y.ts > Z.ts AND Z.a > 1 AND Z.a < 5", catalog).verdict == "bounded"
    assert decided("SELECT Z.b FROM Y, Z WHERE Y.ts > Z.ts AND Z.a = 5", catalog).verdict == "unbounded"
