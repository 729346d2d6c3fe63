"""Where the paper's theorems are wrong, as executable cases (docs/theory-paper.md), and its worked example.

Theorem 1 is not necessary: each query here violates it, is bounded, and runs within its bound M with exact results.
Theorem 2 is not sound: a query of which C1–C3 hold has 2^N histories that DuckDB tells apart.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from support.catalogs import with_relation
from support.choices import Choices
from support.encoding import Row
from support.kernel import formula_value, run_kernel
from support.oracle import Oracle, expected, prefix_expected
from support.product import blamed, criterion, decided, spanned
from support.streams import adversarial_rows, small_rows


def _catalog(**columns: str) -> dict[str, Any]:
    """Streams with one integer column each, as the paper writes them: ``X="c"``; an empty name is no column."""
    return {
        "streams": {
            name: {"timestamp": "ts", "columns": {**({column: "bigint"} if column else {}), "ts": "bigint"}}
            for name, column in columns.items()
        }
    }


XYZ = _catalog(X="A", Y="B", Z="C")
CHAIN = "X.ts > Y.ts AND Y.ts > Z.ts"
NOT_NECESSARY: dict[str, tuple[str, set[tuple[str, str]], int]] = {
    "C3: projected from a grandchild": (
        f"SELECT Z.C FROM X, Y, Z WHERE {CHAIN} AND 0 < Z.C AND Z.C < 4", {("C3", "Z.C")}, 6),
    "C1: two parents": (
        "SELECT X.A FROM X, Y, Z WHERE X.ts > Z.ts AND Y.ts > Z.ts AND 0 < X.A AND X.A < 4", {("C1", "Z.None")}, 5),
    "C2: a join of grandparent and grandchild": (
        f"SELECT 1 AS one FROM X, Y, Z WHERE {CHAIN} AND X.A < Z.C AND 0 < X.A AND X.A < 4 AND 0 < Z.C AND Z.C < 4",
        {("C2", "Z.C")}, 4),
}  # fmt: skip
NO_LONGER_C5 = f"SELECT 1 AS one FROM X, Y, Z WHERE {CHAIN} AND Z.C < Y.B AND 0 < Z.C AND Z.C < 4"
"""Y.B is unbounded and compared only with an older stream. The bound on Z.C that makes the query bounded also makes
the comparison redundant in every LTO query in which Y.B is unbounded (Z.C < 4 < Y.B), so that C5 accepts it."""


@pytest.mark.parametrize("name", NOT_NECESSARY)
def test_theorem_1_is_not_necessary(name: str) -> None:
    sql, culprits, _ = NOT_NECESSARY[name]
    decision = decided(sql, XYZ)
    assert decision.verdict == "bounded"
    assert criterion(decision, "bag") is True
    assert criterion(decision, "theorem-1") is False
    assert {condition for condition, _ in blamed(decision, 1)} == {name[:2]}
    assert {culprit for culprit in blamed(decision, 1) if culprit[0] != "C1"} <= culprits | {("C2", "X.A")}


@pytest.mark.parametrize("name", NOT_NECESSARY)
def test_what_theorem_1_rejects_runs_within_the_bound(name: str) -> None:
    sql, _, most = NOT_NECESSARY[name]
    decision = decided(sql, XYZ)
    printed = 0
    for make in (small_rows, adversarial_rows):
        rows = make(Choices.seeded(2), XYZ, 10)
        run = run_kernel(decision, XYZ, rows)
        truth = prefix_expected(sql, XYZ, rows)
        assert run.printed == truth
        assert formula_value(decision, XYZ, rows) == most
        assert run.peak <= most
        printed += sum(sum(counts.values()) for counts in truth.values())
    assert printed > 0


def test_an_unbounded_attribute_compared_only_with_older_streams() -> None:
    decision = decided(NO_LONGER_C5, XYZ)
    assert decision.verdict == "bounded"
    assert criterion(decision, "theorem-1") is True
    for seed in range(3):
        rows = adversarial_rows(Choices.seeded(seed), XYZ, 10)
        run = run_kernel(decision, XYZ, rows)
        assert run.printed == prefix_expected(NO_LONGER_C5, XYZ, rows)
        assert run.peak <= 4


def test_with_a_relation_c5_rejects_it_although_it_is_bounded() -> None:
    """A relation's values bound Z.C without separating it from Y.B, so the comparison survives in every LTO query."""
    catalog = with_relation(XYZ, c="bigint")
    sql = f"SELECT 1 AS one FROM X, Y, Z, R WHERE {CHAIN} AND Z.C < Y.B AND Z.C = R.c"
    decision = decided(sql, catalog)
    assert decision.verdict == "bounded"
    assert blamed(decision, 1) == [("C5", "Y.B")]
    for seed in range(3):
        rows = adversarial_rows(Choices.seeded(seed), catalog, 10)
        run = run_kernel(decision, catalog, rows)
        assert run.printed == prefix_expected(sql, catalog, rows)


def test_the_first_case_names_c3_at_the_projected_attribute() -> None:
    sql = NOT_NECESSARY["C3: projected from a grandchild"][0]
    (violation,) = decided(sql, XYZ).criteria[1].violations
    assert (violation.condition, violation.stream, violation.attribute) == ("C3", "Z", "C")
    assert spanned(sql, violation.span) == "Z.C"


# --- Theorem 2 ---------------------------------------------------------------------------------------------------

FOUR = _catalog(W="D", X="C", Y="A", Z="B")
NOT_SOUND = (
    "SELECT DISTINCT 1 AS one FROM W, X, Y, Z "
    "WHERE W.ts > X.ts AND X.ts > Y.ts AND Y.ts > Z.ts AND X.C < Z.B AND W.D < Y.A"
)
N = 6


def test_theorem_2_accepts_the_four_streams_and_the_set_criterion_does_not() -> None:
    decision = decided(NOT_SOUND, FOUR)
    assert criterion(decision, "theorem-2") is True
    assert decision.verdict in ("unknown", "unbounded")
    assert {condition for condition, _ in blamed(decision)} == {"(3)"}


def _history(chosen: tuple[int, ...]) -> dict[str, list[Row]]:
    """For each i in I in order ``Z(i)``, then ``Y(N − i)``."""
    return {
        "Z": [{"B": i, "ts": 2 * place} for place, i in enumerate(chosen)],
        "Y": [{"A": N - i, "ts": 2 * place + 1} for place, i in enumerate(chosen)],
    }


def _answers(chosen: tuple[int, ...]) -> tuple[bool, ...]:
    """Whether the probe ``X(k − 1)``, ``W(N − k − 1)`` makes the query print something, for every k."""
    found = []
    for k in range(1, N + 1):
        probe = {"X": [{"C": k - 1, "ts": 100}], "W": [{"D": N - k - 1, "ts": 101}]}
        found.append(bool(expected(NOT_SOUND, FOUR, {**_history(chosen), **probe})))
    return tuple(found)


def test_theorem_2_is_not_sound_because_every_subset_must_be_told_apart() -> None:
    every = [tuple(i for i in range(1, N + 1) if mask >> (i - 1) & 1) for mask in range(2**N)]
    answers = {chosen: _answers(chosen) for chosen in every}
    assert answers == {chosen: tuple(k in chosen for k in range(1, N + 1)) for chosen in every}
    assert len(set(answers.values())) == 2**N


def test_the_histories_print_nothing_themselves() -> None:
    """Otherwise the output could tell them apart, and nothing would have to be remembered."""
    assert Oracle(FOUR, _history(tuple(range(1, N + 1)))).rows(NOT_SOUND) == []


def test_a_maximum_newer_than_what_it_is_stored_with_gives_wrong_results() -> None:
    """The paper's strategy keeps one maximum of Z.B beside Y's tuples: 100 arrives after Y, and X(50) would match."""
    catalog = _catalog(X="C", Y="", Z="B")
    sql = f"SELECT DISTINCT 1 AS one FROM X, Y, Z WHERE {CHAIN} AND X.C < Z.B"
    rows = {"Z": [{"B": 5, "ts": 1}, {"B": 100, "ts": 3}], "Y": [{"ts": 2}], "X": [{"C": 50, "ts": 4}]}
    assert expected(sql, catalog, rows) == []
    newer = {**rows, "Y": [{"ts": 2}, {"ts": 3}], "X": [{"C": 4, "ts": 4}]}
    assert expected(sql, catalog, newer) == [{"one": 1, "_ts": 4, "_mult": 1}]


# --- the worked example (Figure 2) -------------------------------------------------------------------------------

FIGURE_2 = {
    "streams": {
        "S": {"timestamp": "I", "columns": {"A": "bigint", "I": "bigint"}},
        "T": {"timestamp": "J", "columns": {"B": "bigint", "J": "bigint"}},
        "U": {"timestamp": "K", "columns": {"C": "bigint", "K": "bigint"}},
    }
}
FIGURE_2_FROM = "FROM S, T, U\nWHERE S.I > T.J AND T.J > U.K AND S.A > T.B AND 0 < T.B AND T.B < 5"
FIGURE_2_ROWS = {
    "S": [{"A": 42, "I": 0}, {"A": 42, "I": 5}],
    "T": [{"B": 7, "J": 0}, {"B": 2, "J": 2}, {"B": 1, "J": 4}, {"B": 3, "J": 5}],
    "U": [{"C": 1, "K": 1}, {"C": 3, "K": 3}],
}


def test_figure_2_is_bounded_as_a_bag() -> None:
    decision = decided(f"SELECT S.A, T.B\n{FIGURE_2_FROM}", FIGURE_2)
    assert decision.verdict == "bounded"
    assert [(result.name, result.holds) for result in decision.criteria] == [("bag", True), ("theorem-1", True)]


def test_figure_2_is_unbounded_as_a_set() -> None:
    sql = f"SELECT DISTINCT S.A, T.B\n{FIGURE_2_FROM}"
    decision = decided(sql, FIGURE_2)
    assert decision.verdict == "unbounded"
    assert blamed(decision) == [("(1)", "S.A")]
    assert blamed(decision, 1) == [("C1", "S.A")]
    assert spanned(sql, decision.criteria[1].violations[0].span) == "S.A"


def test_figure_2_prints_what_the_paper_says() -> None:
    sql = f"SELECT S.A, T.B\n{FIGURE_2_FROM}"
    truth = {5: Counter({(42, 2): 1, (42, 1): 2})}
    assert {now: rows for now, rows in prefix_expected(sql, FIGURE_2, FIGURE_2_ROWS).items() if rows} == truth
    run = run_kernel(decided(sql, FIGURE_2), FIGURE_2, FIGURE_2_ROWS)
    assert {now: rows for now, rows in run.printed.items() if rows} == truth
    assert run.peak <= (formula_value(decided(sql, FIGURE_2), FIGURE_2, FIGURE_2_ROWS) or 0)
