"""The derivation tree: what it says of each pass, fact and clause; that it fits, and agrees with the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from streambound.criteria.check import find_statement
from streambound.preprocess.pipeline import PASSES
from streambound.reports.derivation import EFFECTS, derivation, pass_effects
from streambound.reports.explanation import verdict_text
from streambound.reports.outcome import outcome
from streambound.reports.terminal import WIDTH, tree_text
from streambound.reports.text_report import text_report
from support.catalogs import PLAIN, Catalog, streams, with_relation
from support.product import checked, decided
from support.profiles import examples
from support.queries import Statement, statements

FIGURE2 = Path(__file__).resolve().parent.parent.parent / "examples" / "figure2"


def tree(sql: str, catalog: Catalog = PLAIN) -> str:
    item = checked(sql, catalog)
    assert item.decision is not None, item.diagnostics
    return tree_text(derivation(item, item.decision), color=False)


def test_figure_2() -> None:
    _, item = find_statement(str(FIGURE2 / "figure2.sql"), None, FIGURE2 / "streams.toml")
    assert item.decision is not None
    assert (
        tree_text(derivation(item, item.decision), color=False)
        == """\
figure2, a bag
├── query
│   └── SELECT S.A, T.B FROM S, T, U WHERE S.I > T.J AND T.J > U.K AND S.A > T.B AND T.B > 0 AND T.B
│       < 5
├── passes
│   └── no change by split_disjunctions, satisfiable_branches, split_unequal, merge_timestamps and
│       rename_finite
├── branch
│   ├── facts
│   │   ├── S: no stream may come later, so its rows are forgotten after a bounded time
│   │   ├── T: remembered, because S may come later
│   │   │   ├── projected: 1 <= T.B <= 4, bounded
│   │   │   └── joined: T.B < S.A, harmless (1 <= T.B <= 4)
│   │   └── U: remembered, because S or T may come later
│   ├── bag criterion
│   │   ├── (i) every projected attribute of a remembered stream is bounded: holds
│   │   └── (ii) every join of a remembered stream with one that may come later is harmless: holds
│   └── tables
│       ├── {U}: one counter; at most 1
│       └── {T, U}: 1 <= T.B <= 4; at most 4
├── Theorem 1 of the paper holds
└── verdict: bounded (constant), at most 5 entries, 76 B"""
    )


def test_every_pass_can_say_what_it_changed() -> None:
    assert list(EFFECTS) == [step.name for step in PASSES]


OLDER = "FROM S, T WHERE S.ts > T.ts"
EFFECT_CASES = [
    ("nothing", f"SELECT S.a {OLDER}", {}),
    (
        "a split and a dropped alternative",
        f"SELECT S.a {OLDER} AND S.a IN (1, 3, 9) AND S.a < 5",
        {
            "split_disjunctions": (
                "OR, IN or NOT split into 2 disjoint branches",
                "dropped the alternative at 1:58, which can never hold",
            )
        },
    ),
    (
        "a SELECT that can never produce a row",
        f"SELECT S.a {OLDER} UNION ALL SELECT S.a FROM S WHERE S.a < 1 AND S.a > 1",
        {"satisfiable_branches": ("dropped SELECT 2: the conditions contradict each other",)},
    ),
    (
        "a query that can never produce a row",
        "SELECT S.a FROM S WHERE S.a < 1 AND S.a > 1",
        {"satisfiable_branches": ("dropped the query: the conditions contradict each other",)},
    ),
    (
        "<> between streams",
        f"SELECT S.a {OLDER} AND S.a <> T.a",
        {"split_unequal": ("S.a <> T.a split into < and >: 2 branches are left",)},
    ),
    (
        "<> of which one half contradicts the rest",
        f"SELECT S.a {OLDER} AND S.a <> T.a AND S.a < 1 AND T.a > -1",
        {"split_unequal": ("S.a <> T.a split into < and >: 1 branch is left",)},
    ),
    (
        "equal timestamps",
        "SELECT S.a FROM S, T, U WHERE S.ts = T.ts AND U.ts < S.ts",
        {"merge_timestamps": ("S and T always share a timestamp",)},
    ),
    (
        "a finite stream, in one branch of a union",
        f"SELECT S.a {OLDER} AND S.ts < 9 UNION ALL SELECT S.a FROM S",
        {
            "rename_finite": (
                "S is finite: its timestamps end at 8 (in 1 of 2 branches)",
                "T is finite: its timestamps end at 7 (in 1 of 2 branches)",
            )
        },
    ),
]


@pytest.mark.parametrize(("sql", "effects"), [c[1:] for c in EFFECT_CASES], ids=[c[0] for c in EFFECT_CASES])
def test_what_the_passes_changed(sql: str, effects: dict[str, tuple[str, ...]]) -> None:
    assert {name: found for name, found in pass_effects(decided(sql, PLAIN)) if found} == effects


MIXED = with_relation(streams(s="string", v="double"), k="bigint", s="string")
LINES = [
    ("projected", f"SELECT T.a {OLDER}", PLAIN, "projected: T.a has no bound, not bounded"),
    ("half a range", f"SELECT T.a {OLDER} AND T.a > 3", PLAIN, "projected: 4 <= T.a, not bounded"),
    ("a dense range", f"SELECT T.v {OLDER} AND T.v BETWEEN 0 AND 1", MIXED,
     "projected: T.v has no bound (a range does not bound a double), not bounded"),
    ("a string constant", f"SELECT T.s {OLDER} AND T.s = 'x'", MIXED, "projected: T.s = 'x', bounded"),
    ("a relation", "SELECT T.s FROM S, T, R WHERE S.ts > T.ts AND T.s = R.s", MIXED, "projected: T.s = R.s, bounded"),
    ("a harmful join", f"SELECT 1 AS one {OLDER} AND T.a < S.a", PLAIN,
     "joined: T.a < S.a, harmful: it depends on unboundedly many T.a"),
    ("a harmful equality", f"SELECT 1 AS one {OLDER} AND T.a = S.a + 3", PLAIN,
     "joined: S.a = T.a - 3, harmful: it depends on unboundedly many T.a"),
    ("a clipped join", f"SELECT 1 AS one {OLDER} AND T.a < S.a AND T.a < 9 AND S.a > 0", PLAIN,
     "joined: T.a < S.a, harmless (T.a may be clipped)"),
    ("a finite stream", f"SELECT T.a {OLDER} AND T.ts < 4", PLAIN,
     "T: a finite stream, it brings finitely many values"),
    ("a violation", f"SELECT T.a {OLDER}", PLAIN, "at T.a (1:8) [SB201]"),
    ("nothing kept", "SELECT S.a FROM S", PLAIN, "tables: none, nothing is remembered"),
    ("a set's results", "SELECT DISTINCT S.a FROM S", PLAIN, "results: every S.a; unbounded"),
    ("a witness", f"SELECT T.a {OLDER}", PLAIN,
     "witness: of N values of T.a, every subset leads to a different output"),
    ("a self-join", "SELECT 1 AS one FROM S AS P, S AS Q WHERE P.ts < Q.ts "
     "AND Q.a = Q.b AND (P.a < Q.a OR P.a >= Q.b)", PLAIN,
     "S is used twice and was analysed as two streams, so the rejection is not proved"),
    ("the paper", f"SELECT T.a {OLDER}", PLAIN, "Theorem 1 of the paper is violated at C3"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "catalog", "line"), [c[1:] for c in LINES], ids=[c[0] for c in LINES])
def test_what_it_says(sql: str, catalog: Catalog, line: str) -> None:
    assert line in [text.lstrip("│├└─ ") for text in tree(sql, catalog).splitlines()]


def test_of_many_branches_those_that_violate_a_clause_are_shown() -> None:
    pairs = " OR ".join(f"T.a = {3 * i} AND T.b = {3 * i + 2}" for i in range(21))
    text = tree(f"SELECT T.a {OLDER} AND ({pairs} OR T.b = 1)")
    assert "(i) every projected attribute of a remembered stream is bounded: violated" in text
    assert text.count("bag criterion") == 6
    assert "and 16 more branches" in text


def test_names_cannot_reach_the_terminal() -> None:
    catalog = {"streams": {"S": {"timestamp": "ts", "columns": {"a\x1b[31m[bold]": "bigint", "ts": "bigint"}}}}
    text = tree("SELECT S.`a\x1b[31m[bold]` FROM S", catalog)
    assert "\x1b" not in text
    assert "[31m[bold]" in text


@pytest.mark.parametrize(("name", "said"), [("figure2", "holds"), ("figure2_distinct", "is violated at C1")])
def test_the_paper_is_a_matter_of_explain_and_not_of_check(name: str, said: str) -> None:
    _, item = find_statement(str(FIGURE2 / f"{name}.sql"), None, FIGURE2 / "streams.toml")
    assert f"of the paper {said}" in verdict_text(item, color=False)
    assert "of the paper" not in text_report((outcome(item),))


def test_colour_adds_nothing_but_colour() -> None:
    item = checked(f"SELECT T.a {OLDER}", PLAIN)
    assert item.decision is not None
    step = derivation(item, item.decision)
    colored = tree_text(step, color=True)
    assert "\x1b[" in colored
    assert tree_text(step, color=False) == _plain(colored)


def _plain(text: str) -> str:
    from rich.text import Text

    return "\n".join(line.rstrip() for line in Text.from_ansi(text).plain.splitlines())


@examples(40)
@given(statements())
def test_any_tree_fits_and_agrees_with_the_verdict(statement: Statement) -> None:
    item = checked(statement.sql, statement.catalog)
    if item.decision is None:
        return
    lines = tree_text(derivation(item, item.decision), color=False).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert lines[0] == f"q, a {'set' if statement.distinct else 'bag'}"
    (verdict,) = [line for line in lines if line.startswith("└── ")]
    assert verdict.startswith(f"└── verdict: {item.verdict.value}")
    whole = " ".join(line.lstrip("│├└─ ") for line in lines)
    assert (": violated" in whole) == (item.verdict != "bounded")
    harmful = " harmful: it depends" in whole or " not bounded" in whole
    assert harmful or item.verdict == "bounded"
