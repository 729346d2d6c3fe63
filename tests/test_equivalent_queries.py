"""Equivalent ways to write a query get the same verdict, the same bound, the same culprits and the same theorem.

What may differ is in docs/theory-conditions.md, "Equivalent queries". `tests/cases/sizes/` has operators.
"""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import Any

import pytest

from streambound.criteria.bound import bound
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from support.catalogs import PLAIN, streams, with_domain
from support.choices import Choices
from support.kernel import run_kernel
from support.oracle import Oracle
from support.product import criterion, decided
from support.same_queries import SAME
from support.streams import small_rows

UNPLACED = ("SB204",)
"""Of two extreme values that are one too many, either may be blamed."""


_THEOREMS = ("theorem-1", "theorem-2")


def _check(first: str, second: str, catalog: dict[str, Any], joins: bool = False) -> Decision:
    """The decision of two equivalent statements; ``joins``: they state other joins, of which the theorems speak."""
    one, other = decided(first, catalog), decided(second, catalog)
    assert other.verdict == one.verdict
    assert _blamed(other) == _blamed(one)
    assert _bound(other) == _bound(one)
    assert joins or [criterion(other, name) for name in _THEOREMS] == [criterion(one, name) for name in _THEOREMS]
    return one


def _blamed(decision: Decision) -> set[tuple[str, str, str | None]]:
    """The culprits by their tables: an alias has no meaning."""
    tables = {source.alias: source.table for branch in decision.query.branches for source in branch.sources}
    violations = (v for v in decision.criteria[0].violations if v.code not in UNPLACED)
    return {(violation.code, tables[violation.stream], violation.attribute) for violation in violations}


def _bound(decision: Decision) -> object:
    """M: its number, its formula as a function, and the same for the tables, by the streams that they are about."""
    found = bound(decision.derivation.split) if decision.verdict is Verdict.BOUNDED else None
    if found is None:
        return None
    tables = {source.alias: source.table for branch in decision.query.branches for source in branch.sources}
    names = (
        re.sub(r"\w+", lambda m: tables.get(m[0], m[0]), t.table.partition(":")[2] or t.table) for t in found.tables
    )
    sets = Counter(tuple(sorted(re.findall(r"\w+", name))) for name in names)
    return found.entries.value, _values(found.entries.text), sets


def _values(formula: str) -> tuple[int, ...]:
    """A formula at some points, the same for the same symbols: equal for formulas that are equal."""
    names = sorted(set(re.findall(r"[A-Za-z_]\w*", formula)) - {"min", "max"})
    values = []
    for point in range(12):
        known = {n: Random(f"{n} {point}").randint(-20 if n.startswith(("min", "max")) else 0, 20) for n in names}
        values.append(eval(formula, {"__builtins__": {}}, {**known, "min": min, "max": max}))
    return tuple(values)


# --- statements ---------------------------------------------------------------------------------------------------

WRITTEN = "SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.a = S.b AND T.a BETWEEN 1 AND 4"
UNION = "SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.a = 1 UNION SELECT S.b FROM S, T WHERE S.ts = T.ts"
CHAIN = "SELECT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND T.ts > U.ts AND U.a = 1 AND T.b = 2"
OPEN = "SELECT T.a FROM S, T WHERE S.ts > T.ts AND S.a < T.a AND T.a > 0"
STATEMENTS = [
    ("another order of FROM", WRITTEN, WRITTEN.replace("S, T", "T, S")),
    ("JOIN and ON", WRITTEN, "SELECT T.a FROM S JOIN T ON T.a = S.b AND S.ts > T.ts WHERE T.a BETWEEN 1 AND 4"),
    ("CROSS JOIN", WRITTEN, WRITTEN.replace("S, T", "T CROSS JOIN S")),
    ("other aliases", OPEN, "SELECT y.a FROM S AS x, T AS y WHERE x.ts > y.ts AND x.a < y.a AND y.a > 0"),
    ("a table in parentheses", WRITTEN, WRITTEN.replace("S, T", "(SELECT * FROM S) AS S, T")),
    (
        "a condition inside of FROM",
        OPEN,
        "SELECT T.a FROM S, (SELECT * FROM T WHERE T.a > 0) AS T WHERE S.ts > T.ts AND S.a < T.a",
    ),
    ("a statement in another one", WRITTEN, f"SELECT w.a FROM ({WRITTEN}) AS w"),
    ("a statement of a common table", OPEN, f"WITH w AS ({OPEN}) SELECT w.a FROM w"),
    ("sides of a union", UNION, " UNION ".join(reversed(UNION.replace("S.b FROM", "S.b AS a FROM").split(" UNION ")))),
    ("a time that follows from others", CHAIN, f"{CHAIN} AND S.ts > U.ts"),
    ("sides of comparisons", OPEN, "SELECT T.a FROM S, T WHERE T.ts < S.ts AND T.a > S.a AND 0 < T.a"),
]


@pytest.mark.parametrize(("first", "second"), [c[1:] for c in STATEMENTS], ids=[c[0] for c in STATEMENTS])
def test_statements(first: str, second: str) -> None:
    _check(first, second, streams("S T U"))


# --- conditions --------------------------------------------------------------------------------------------------

LISTED = with_domain(streams("S T", f="boolean", d="double", s="string"), "T", "b", [1, 2, 4])
ALTERNATIVES = [
    ("adjacent integers", "T.a IN (1, 2, 3)", "T.a BETWEEN 1 AND 3"),
    ("integers in any order, twice", "T.a IN (7, 2, 1, 2)", "T.a = 7 OR T.a > 0 AND T.a <= 2"),
    ("neighbours in a declared list", "T.b = 2 OR T.b = 4", "T.b >= 2"),
    ("a whole declared list", "T.b IN (1, 2, 4) AND T.a = 1", "T.b IS NOT NULL AND T.a = 1"),
    ("both truth values", "(T.f OR NOT T.f) AND T.a = 1", "T.f IS NOT NULL AND T.a = 1"),
    ("overlapping ranges", "T.a > 0 AND T.a < 5 OR T.a > 3 AND T.a < 9", "T.a BETWEEN 1 AND 8"),
    ("doubles that meet", "T.d < 1D AND T.a = 1 OR T.d >= 1D AND T.a = 1", "T.d IS NOT NULL AND T.a = 1"),
    ("strings that meet", "(T.s < 'b' OR T.s = 'b') AND T.a = 1", "T.s <= 'b' AND T.a = 1"),
    ("a hole", "(T.a < 3 OR T.a > 3) AND T.a BETWEEN 1 AND 5", "T.a <> 3 AND T.a BETWEEN 1 AND 5"),
    ("less, equal or greater", "(S.a < T.a OR S.a = T.a OR S.a > T.a) AND T.a = 1", "S.a IS NOT NULL AND T.a = 1"),
    ("a common condition", "T.a = 1 AND S.b = 1 OR T.a = 1 AND S.b = 3", "S.b IN (3, 1) AND T.a = 1"),
    ("a common bound", "T.a > 0 AND (T.a < 3 OR T.a < 5 AND S.b = 1)", "T.a > 0 AND T.a < 5 AND (T.a < 3 OR S.b = 1)"),
    ("one that can never hold", "T.a = 1 AND (S.b = 2 OR T.a > 3 AND S.b = 3)", "T.a = 1 AND S.b = 2"),
    ("one that always holds", "T.a = 1 AND (S.b = 2 OR T.a < 3)", "T.a = 1"),
    ("a negation", "NOT (T.a < 1 OR T.a > 4) AND NOT (S.b <> 3 AND S.b <> 5)", "T.a BETWEEN 1 AND 4 AND S.b IN (3, 5)"),
    ("NULL or not", "(T.b IS NULL OR T.b IS NOT NULL) AND T.a = 1", "T.a = 1"),
    ("NULL or anything", "(T.d IS NULL OR T.d > 5D OR T.d <= 5D) AND T.a = 1", "T.a = 1"),
    ("NULL or either truth value", "(T.f OR NOT T.f OR T.f IS NULL) AND T.a = 1", "T.a = 1"),
    ("not NULL and not NULL", "NOT (T.b IS NULL AND T.b IS NOT NULL) AND T.a = 1", "T.a = 1"),
    (
        "NULL or any order",
        "(S.a < T.b OR S.a >= T.b OR S.a IS NULL OR T.b IS NULL) AND T.a = 1",
        "T.a = 1",
    ),
    ("NULL or a condition", "(S.b IS NULL OR S.b IS NOT NULL AND T.a = 1) AND T.a = 1", "T.a = 1"),
    ("both sides shifted", "S.a < T.a AND T.a < 9 AND S.a > 0", "S.a + 2 < T.a + 2 AND T.a + 1 < 10 AND S.a > 0"),
    ("the negation of both", "T.a = 1 AND (S.b = 2 OR S.b = 4)", "T.a = 1 AND NOT (S.b <> 2 AND S.b <> 4)"),
    ("an equality as two", "T.a = S.b AND T.a = 2", "T.a <= S.b AND T.a >= S.b AND T.a = 2"),
    ("a list as a range with a hole", "T.a IN (1, 3)", "T.a BETWEEN 1 AND 3 AND T.a <> 2"),
    ("a range in two halves", "T.a > 0 AND T.a < 5", "T.a > 0 AND (T.a < 3 OR T.a >= 3 AND T.a < 5)"),
    ("a truth value, compared", "T.f AND T.a = 1", "T.f = TRUE AND T.a = 1"),
    ("a truth value that is not the other one", "T.f AND T.a = 1", "NOT T.f = FALSE AND T.a = 1"),
    ("a condition or itself and more", "T.a = 1 AND S.b = 2", "(T.a = 1 OR T.a = 1 AND S.b = 2) AND S.b = 2"),
    ("a condition twice", "T.a = 1 AND S.b > 0", "S.b > 0 AND T.a = 1 AND S.b > 0"),
    (
        "weaker conditions",
        "T.a > 0 AND T.a < 5 AND S.b < T.a",
        "T.a > 0 AND T.a < 5 AND S.b < T.a AND T.a < 7 AND T.a <> 9 AND S.b <> T.a",
    ),
    ("what is not NULL", "T.a > 0 AND T.a < 5", "T.a > 0 AND T.a IS NOT NULL AND T.a < 5"),
    (
        "what follows",
        "S.a < T.a AND T.a <= T.b AND T.b < 5 AND S.a > 0",
        "S.a < T.a AND T.a <= T.b AND T.b < 5 AND S.a > 0 AND S.a < T.b AND T.a < 5",
    ),
    (
        "made up for",
        "S.a < T.a AND S.b > 0 OR S.a >= T.a AND S.b >= 1",
        "T.a IS NOT NULL AND S.a IS NOT NULL AND S.b > 0",
    ),
]


@pytest.mark.parametrize("word", ["SELECT", "SELECT DISTINCT"])
@pytest.mark.parametrize(("first", "second"), [c[1:] for c in ALTERNATIVES], ids=[c[0] for c in ALTERNATIVES])
def test_alternatives(first: str, second: str, word: str) -> None:
    texts = [f"{word} 1 AS one FROM S, T WHERE S.ts > T.ts AND ({where})" for where in (first, second)]
    assert _check(*texts, LISTED, joins=True).verdict is Verdict.BOUNDED
    branches = [len(decided(text, LISTED).derivation.split.branches) for text in texts]
    assert branches[0] == branches[1]


@pytest.mark.parametrize("word", ["SELECT", "SELECT DISTINCT"])
@pytest.mark.parametrize("name", SAME)
def test_equivalent_conditions(name: str, word: str) -> None:
    """Bounded or not."""
    first, second = (
        f"{word} 1 AS one FROM S, T{', U' if 'U.' in where else ''} WHERE S.ts > T.ts AND {where}"
        for where in SAME[name]
    )
    _check(first, second, PLAIN, joins=True)


# --- contradictions -----------------------------------------------------------------------------------------------

CONTRADICTIONS = [
    ("a gap between integers", "T.a > 1 AND T.a < 2", "SB150"),
    ("a cycle through a join", "S.a < T.a AND T.a <= T.b AND T.b < S.a", "SB150"),
    ("time", "S.ts < T.ts", "SB150"),
    ("every alternative", "(T.a < 1 AND T.a > 3 OR T.b = 3 AND S.a < T.a AND S.a > T.a)", "SB150"),
    ("a list beside a range", "T.a IN (1, 5) AND T.a BETWEEN 2 AND 4", "SB150"),
    ("one alternative", "T.a = 2 AND (T.a > 3 OR S.b = 1)", "SB151"),
]

REMOVABLE = [
    ("T.a < 2 AND (T.a > 3 AND S.b = 1 OR S.b = 2 OR T.a = 1)", 1),
    ("T.a < 2 AND (S.b = 2 OR (NOT (T.a <= 2)))", 1),
    ("T.a IN (0, 1, 8, -9) AND T.a BETWEEN 0 AND 2", 2),
    ("T.a > 0 AND (T.a IS NULL OR S.b IN (1, 2) OR T.a IN (-1, 1))", 2),
    ("T.a = 1 AND (T.a NOT BETWEEN 0 AND 2 OR S.b = 1)", 1),
    ("T.a NOT BETWEEN 1 AND 2 AND T.a BETWEEN 1 AND 3 AND S.b IN (0, 1)", 0),
    ("NOT (T.a >= 1 AND S.b = 1) AND T.a > 0 AND T.a < 3", 0),
]
"""Conditions with alternatives that can never hold, and how many; halves of other operators are none."""


@pytest.mark.parametrize(("where", "many"), REMOVABLE)
def test_an_alternative_that_can_never_hold_can_be_removed(where: str, many: int) -> None:
    sql = f"SELECT S.a FROM S, T WHERE S.ts > T.ts AND {where}"
    decision = decided(sql, PLAIN)
    marked = [diagnostic.span for diagnostic in decision.diagnostics]
    assert [diagnostic.code for diagnostic in decision.diagnostics] == ["SB151"] * many
    text = sql
    for span in sorted(marked, reverse=True):
        before, after = text[: span.start], text[span.end :]
        joined = re.sub(r"( OR|,) $", "", before)
        text = joined + after if joined != before else before + re.sub(r"^( OR|,) ", "", after)
    without = decided(text, PLAIN)
    assert not without.diagnostics and without.verdict == decision.verdict and _bound(without) == _bound(decision)
    results = [
        [Oracle(PLAIN, small_rows(Choices.seeded(seed), PLAIN)).counts(each) for seed in range(20)]
        for each in (sql, text)
    ]
    assert results[0] == results[1] and any(results[0])


@pytest.mark.parametrize("word", ["SELECT", "SELECT DISTINCT"])
@pytest.mark.parametrize(("where", "code"), [c[1:] for c in CONTRADICTIONS], ids=[c[0] for c in CONTRADICTIONS])
def test_what_can_never_hold_is_reported_and_costs_nothing(where: str, code: str, word: str) -> None:
    decision = decided(f"{word} T.a FROM S, T WHERE S.ts > T.ts AND {where}", PLAIN)
    assert decision.verdict is Verdict.BOUNDED
    assert [diagnostic.code for diagnostic in decision.diagnostics] == [code]
    found = bound(decision.derivation.split)
    assert found is not None
    if code == "SB151":
        alone = decided(f"{word} T.a FROM S, T WHERE S.ts > T.ts AND T.a = 2 AND S.b = 1", PLAIN)
        assert _bound(decision) == _bound(alone)
        return
    assert (found.entries.value, found.entries.text, found.tables) == (0, "0", ())
    run = run_kernel(decision, PLAIN, small_rows(Choices.seeded(1), PLAIN), together=1)
    assert len(run.entries) > 3
    assert not any(run.printed.values()) and run.peak == run.limit == 0
