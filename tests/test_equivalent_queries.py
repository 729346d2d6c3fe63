"""Equivalent ways to write a query get the same verdict, the same bound, the same culprits and the same theorem.

The rewrites keep the meaning (`tests/test_rewrites.py`). What may differ is in docs/theory.md, "Equivalent queries".
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given

from streambound.criteria.bound import bound
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from support.catalogs import PLAIN, streams, with_domain
from support.choices import Choices, drawn
from support.kernel import run_kernel
from support.oracle import Oracle
from support.product import criterion, decided
from support.profiles import MORE, examples
from support.queries import MANY_ALTERNATIVES, Features, make_statement
from support.rewrites import REWRITES, kinds_of, rewritten
from support.streams import small_rows

UNPLACED = ("SB204",)
"""Of two extreme values that are one too many, either may be blamed."""


@dataclass(frozen=True)
class Pair:
    """A statement, the same written otherwise, and how; ``joins`` says that it states other joins."""

    sql: str
    other: str
    catalog: dict[str, Any] = field(repr=False)
    steps: tuple[str, ...]
    joins: bool


def _pair(choices: Choices, features: Features = MANY_ALTERNATIVES) -> Pair:
    statement = make_statement(choices, features)
    text, steps, kinds = statement.sql, [], kinds_of(statement.catalog)
    for _ in range(choices.integer(1, 4)):
        rewrite = choices.pick(REWRITES)
        changed = rewritten(text, rewrite, kinds, choices)
        if changed is not None:
            text = changed
            steps.append(rewrite)
    names = tuple(rewrite.name for rewrite in steps)
    return Pair(statement.sql, text, statement.catalog, names, any(rewrite.joins for rewrite in steps))


def _check(pair: Pair) -> Decision:
    first, second = (decided(sql, pair.catalog) for sql in (pair.sql, pair.other))
    assert second.verdict == first.verdict, pair
    assert _blamed(second) == _blamed(first), pair
    assert _bound(second) == _bound(first), pair
    if not pair.joins:
        assert [criterion(second, name) for name in _THEOREMS] == [criterion(first, name) for name in _THEOREMS], pair
    return first


_THEOREMS = ("theorem-1", "theorem-2")


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


@examples(50)
@given(drawn(_pair))
def test_many_alternatives_and_chains(pair: Pair) -> None:
    _check(pair)


@examples(30)
@given(drawn(lambda choices: _pair(choices, Features())))
def test_the_whole_language(pair: Pair) -> None:
    _check(pair)


def test_a_fixed_sample_has_every_verdict_and_bounds_of_every_kind() -> None:
    """So that the properties above cannot become true by comparing nothing."""
    counts: Counter[str] = Counter()
    for seed in range(60 * MORE):
        pair = _pair(Choices.seeded(seed), Features() if seed % 2 else MANY_ALTERNATIVES)
        counts["changed"] += pair.other != pair.sql
        decision = _check(pair)
        counts[decision.verdict] += 1
        counts["several branches"] += len(decision.derivation.split.branches) > 1
        found = bound(decision.derivation.split) if decision.verdict is Verdict.BOUNDED else None
        counts["entries"] += found is not None and found.entries.text != "0"
        counts["formula"] += found is not None and not found.entries.text.isdigit()
    assert counts["changed"] > 45 * MORE, counts
    assert min(counts[v] for v in (Verdict.BOUNDED, Verdict.UNBOUNDED)) > 5 * MORE, counts
    assert min(counts[kind] for kind in ("several branches", "entries", "formula")) > 5 * MORE, counts


# --- alternatives -------------------------------------------------------------------------------------------------

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
    assert _check(Pair(*texts, LISTED, (), joins=True)).verdict is Verdict.BOUNDED
    branches = [len(decided(text, LISTED).derivation.split.branches) for text in texts]
    assert branches[0] == branches[1]


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
    run = run_kernel(decision, PLAIN, small_rows(Choices.seeded(1), PLAIN))
    assert len(run.entries) > 3
    assert not any(run.printed.values()) and run.peak == run.limit == 0
