"""Alternatives that make up for each other, from some time or value on: what is said of them is proved at any size.

Witnesses are run by DuckDB at several sizes, so that if one came before a constant of time its larger ones would not.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product
from typing import Any

import pytest

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import TooManyBranchesError
from streambound.analyzer.query import Attribute
from streambound.criteria.distinguishing import distinguishes, sums_differ
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.witness import Witness, build
from streambound.criteria.witness_plan import Kept, WitnessPlan, reach
from streambound.recheck.oracle.prove import prove
from streambound.reports.witness_report import json_rows
from support.catalogs import streams
from support.choices import Choices
from support.compensating_queries import make_compensating_statement
from support.product import decided, parsed
from support.profiles import MORE
from support.queries import Statement

STATEMENTS = 8 * MORE
TWO = streams("S T", c="bigint")


@cache
def _decisions() -> tuple[tuple[Statement, Decision], ...]:
    found = []
    for seed in range(STATEMENTS):
        statement = make_compensating_statement(Choices.seeded(seed))
        try:
            found.append((statement, decided(statement.sql, statement.catalog)))
        except TooManyBranchesError:
            continue
    return tuple(found)


def _told_apart(sql: str, catalog: dict[str, Any], decision: Decision, witness: Witness) -> bool:
    """Whether DuckDB tells all prefixes apart, by the whole statement as it is written."""
    split = decision.derivation.split
    elements, probes = ([json_rows(split, rows) for rows in part] for part in (witness.elements, witness.probes))
    return prove(parsed(sql), catalog_from_mapping(catalog), json_rows(split, witness.always), elements, probes).holds


@pytest.mark.slow
def test_what_is_called_unbounded_is_proved_by_sql_at_every_size() -> None:
    counts: Counter[str] = Counter()
    for number, (statement, decision) in enumerate(_decisions()):
        counts[decision.verdict.value] += 1
        if decision.witness is None:
            continue
        for size in (2, 6 if number % 10 == 0 else 4):
            witness = build(decision.witness.plan, size)
            assert witness is not None, statement.sql
            assert _told_apart(statement.sql, statement.catalog, decision, witness), (size, statement.sql)
    assert min(counts[verdict] for verdict in ("unbounded", "bounded", "unknown")) > 0.1 * STATEMENTS, counts


def test_larger_witnesses_pass_the_same_check_and_their_probes_come_last() -> None:
    checked = 0
    for statement, decision in _decisions():
        witness = decision.witness and build(decision.witness.plan, 9)
        if witness is None:
            continue
        checked += 1
        sources = [source for branch in decision.derivation.split.branches for source in branch.sources]
        clocks = {source.table: source.timestamp for source in sources if source.timestamp}
        assert distinguishes(decision.derivation.split, witness), statement.sql
        before = [row.values[clocks[row.table]] for row in witness.prefix(range(9)) if row.table in clocks]
        after = [row.values[clocks[row.table]] for rows in witness.probes for row in rows]
        assert max(before, default=-1) < min(after), statement.sql  # type: ignore[type-var]
    assert checked > 0.3 * STATEMENTS


@pytest.mark.slow
def test_no_input_like_a_witness_needs_more_of_what_is_called_bounded() -> None:
    """Not only what a violation suggests: any attribute is kept, any stream probes."""
    tried = 0
    bounded = [(statement, decision) for statement, decision in _decisions() if decision.verdict is Verdict.BOUNDED]
    for statement, decision in bounded[: 3 * MORE]:
        for plan in _any_plans(decision):
            witness = build(plan, 4)
            if witness is not None:
                tried += 1
                assert not _told_apart(statement.sql, statement.catalog, decision, witness), (statement.sql, plan)
    assert tried > 15


def _any_plans(decision: Decision) -> list[WitnessPlan]:
    split = decision.derivation.split
    found = []
    for branch in split.branches:
        facts = Facts.of(branch)
        for alias, later, name, upwards in product(facts.infinite, facts.infinite, ("c", "d"), (True, False)):
            if later != alias and later in facts.later[alias]:
                forced = (other for other in facts.infinite if facts.lag(later, other) is not None)
                kept = (Kept(Attribute(alias, name), upwards),)
                found.append(WitnessPlan(branch, kept, frozenset((later, *forced)), reach(split)))
    return found


# --- known cases ------------------------------------------------------------------------------------------------

FROM = "SELECT 1 AS one FROM S, T WHERE S.ts > T.ts AND"
NOT_UNBOUNDED = {
    "a union": f"{FROM} S.c = T.c UNION ALL {FROM} S.c <> T.c AND T.ts > 8",
    "an OR": f"{FROM} (S.c = T.c OR (S.c <> T.c AND T.ts > 8))",
    "an OR of inequalities": f"{FROM} (S.c < T.c OR (S.c >= T.c AND T.ts > 8))",
    "a set": f"{FROM} S.c = T.c UNION {FROM} T.ts > 8".replace("SELECT", "SELECT DISTINCT"),
    "two constants of time": f"{FROM} S.c < T.c AND T.ts > 20 UNION ALL {FROM} S.c = T.c UNION ALL "
    f"{FROM} S.c > T.c AND T.ts > 8",
    "all but one time": f"{FROM} S.c = T.c UNION ALL {FROM} S.c <> T.c AND T.ts <> 30",
    "a window longer than elements are apart": f"{FROM} S.c = T.c UNION ALL {FROM} S.c <> T.c AND S.ts > T.ts + 40",
    "the stream that probes": f"{FROM} S.c = T.c UNION ALL {FROM} S.c <> T.c AND S.ts > 900",
    "few tuples before a constant": "SELECT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND S.c IS NOT NULL "
    "AND T.c IS NOT NULL AND U.c IS NOT NULL AND (S.c = T.c AND T.c = U.c OR (S.c <> T.c OR T.c <> U.c) AND U.ts > 8)",
    "a list of values": f"{FROM} S.c = T.c UNION ALL {FROM} S.c <> T.c "
    f"AND T.c NOT IN ({', '.join(str(3 * number) for number in range(40))})",
}


@pytest.mark.parametrize("name", NOT_UNBOUNDED)
def test_what_another_branch_makes_up_for_later_is_not_called_unbounded(name: str) -> None:
    assert decided(NOT_UNBOUNDED[name], streams("S T U", c="bigint")).verdict is not Verdict.UNBOUNDED


TEXTS = streams("S T", c="string")
DENSE = streams("S T", c="double")
UNBOUNDED = {
    "a hole in time": ("SELECT DISTINCT T.c FROM T WHERE T.ts <> 6", TWO),
    "a stream that comes late": (f"{FROM} S.c = T.c AND T.ts > 8", TWO),
    "made up for until some time": (f"{FROM} S.c = T.c UNION ALL {FROM} S.c <> T.c AND T.ts < 8", TWO),
    "made up for in a window": (f"{FROM} S.c = T.c UNION ALL {FROM} S.c <> T.c AND S.ts <= T.ts + 40", TWO),
    "texts of another branch": (f"{FROM} S.c = T.c UNION ALL {FROM} S.c <> T.c AND T.c < 'v000003'", TEXTS),
    "numbers between others": (
        f"{FROM} S.c = T.c AND T.c > 0 AND T.c < 1 UNION ALL {FROM} S.c <> T.c AND T.c > 0.25D AND T.c < 1",
        DENSE,
    ),
    "a tuple before a constant": (
        "SELECT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND (S.c = T.c OR (S.c <> T.c AND U.ts > 8))",
        streams("S T U", c="bigint"),
    ),
    "more before than after": (f"{FROM} S.c <= T.c UNION ALL {FROM} S.c <> T.c", TWO),
}


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("name", UNBOUNDED)
def test_known_witnesses_at_sizes_on_both_sides_of_every_constant(name: str, size: int) -> None:
    sql, catalog = UNBOUNDED[name]
    decision = decided(sql, catalog)
    assert decision.witness is not None
    witness = build(decision.witness.plan, size)
    assert witness is not None and _told_apart(sql, catalog, decision, witness)


@pytest.mark.parametrize("text", ["b", "a!000002"])
def test_constants_among_the_texts_of_a_witness(text: str) -> None:
    """Elements are never on both sides of a text that another branch compares with."""
    one = f"{FROM} S.c = T.c AND T.c >= 'a' AND T.c <= 'c'"
    decision = decided(f"{one} UNION ALL {FROM} S.c <> T.c AND T.c < '{text}'", TEXTS)
    if decision.witness is not None:
        larger = build(decision.witness.plan, 9)
        assert larger is not None and distinguishes(decision.derivation.split, larger)
        kept = {row.values["c"] for rows in larger.elements for row in rows}
        assert len({str(value) < text for value in kept}) == 1


def _sums_of(subset: int, before: int, own: int, after: int, size: int) -> tuple[int, ...]:
    elements = [j for j in range(size) if subset >> j & 1]
    return tuple(sum(before if j < k else own if j == k else after for j in elements) for k in range(size))


@pytest.mark.parametrize(("before", "own", "after"), tuple(product(range(4), repeat=3)))
def test_sums_that_tell_subsets_apart(before: int, own: int, after: int) -> None:
    subsets = {size: {_sums_of(n, before, own, after, size) for n in range(1 << size)} for size in range(2, 8)}
    assert sums_differ(before, own, after) is all(len(sums) == 1 << size for size, sums in subsets.items())
