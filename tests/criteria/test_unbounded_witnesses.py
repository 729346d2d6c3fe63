"""Verdicts against brute force: what is called unbounded has 2^N histories to tell apart, what is bounded has not.

The witnesses are worked out from the constraints and executed in DuckDB; the analyzer only says which attribute it
blames. See tests/support/small_queries.py.
"""

from __future__ import annotations

from collections import Counter

import pytest

from streambound.criteria.vocabulary import Verdict
from support.choices import Choices
from support.product import blamed, decided
from support.profiles import MORE
from support.small_queries import (
    SmallQuery,
    closed,
    grows_exponentially,
    histories,
    make_small_query,
    singles_told_apart,
    small_query,
    states,
)

SEEDS = range(25 * MORE)
SINGLES = 12
"""More different tuples than any table of these queries distinguishes by the attribute varied: clipped, at most 8."""


def _sample() -> list[SmallQuery]:
    return [make_small_query(Choices.seeded(seed)) for seed in SEEDS]


@pytest.mark.slow
def test_every_unbounded_verdict_has_a_witness_and_no_bounded_one_has() -> None:
    counts: Counter[str] = Counter()
    for query in _sample():
        decision = decided(query.sql, query.catalog)
        if closed(query.variables, query.constraints) is None:
            counts["contradictory"] += 1
            assert decision.verdict is Verdict.BOUNDED, query.sql
            assert [d.code for d in decision.diagnostics] == ["SB150"], query.sql
        elif decision.verdict is Verdict.UNBOUNDED:
            counts["unbounded"] += 1
            found = [grows_exponentially(query, name, 6) for _, name in dict.fromkeys(blamed(decision))]
            assert any(found), query.sql
            counts["blamed"] += len(found)
            counts["witnessed"] += sum(found)
        else:
            counts["bounded"] += 1
            assert decision.verdict is Verdict.BOUNDED, query.sql
            for name in _attributes(query):
                assert singles_told_apart(query, name, SINGLES) < SINGLES, (query.sql, name)
    assert counts["unbounded"] > len(SEEDS) / 4, counts
    assert counts["bounded"] > len(SEEDS) / 4, counts
    assert counts["witnessed"] > 0.97 * counts["blamed"], counts


def _attributes(query: SmallQuery) -> list[str]:
    return [f"{stream}.{column}" for stream in query.streams for column in query.columns]


CATALOG = {
    "streams": {s: {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"}} for s in "STU"}
}


@pytest.mark.parametrize("number", [4, 6, 8])
@pytest.mark.parametrize(
    ("atoms", "outputs", "attribute"),
    [
        pytest.param([("S.ts", ">", "T.ts", 0)], ["T.a"], "T.a", id="projection"),
        pytest.param([("S.ts", ">", "T.ts", 0), ("S.a", "=", "T.a", 0)], [], "T.a", id="equality"),
        pytest.param([("S.ts", ">", "T.ts", 0), ("S.a", "<", "T.a", 0)], [], "T.a", id="inequality"),
        pytest.param(
            [("S.ts", ">", "T.ts", 0), ("T.ts", ">", "U.ts", 0), ("S.a", "<", "U.a", 0)], [], "U.a", id="grandchild"
        ),
        pytest.param(
            [("S.ts", ">=", "T.ts", 0), ("S.ts", "<=", "T.ts", 2), ("U.ts", ">", "S.ts", 0), ("T.a", "<", "U.b", 1)],
            [],
            "T.a",
            id="after a window",
        ),
    ],
)
def test_known_witnesses_double_with_every_value(
    atoms: list[tuple[str, str, str, int]], outputs: list[str], attribute: str, number: int
) -> None:
    query = small_query(("S", "T", "U")[: 3 if "U" in str(atoms) else 2], ("a", "b"), atoms, outputs, CATALOG)
    assert ("(i)" if outputs else "(ii)", attribute) in blamed(decided(query.sql, CATALOG))
    assert max(states(query, found) for found in histories(query, attribute, number)) == 2**number


@pytest.mark.parametrize(
    ("atoms", "most"),
    [
        pytest.param([("S.ts", ">", "T.ts", 0)], 1, id="a counter"),
        pytest.param(
            [("S.ts", ">", "T.ts", 0), ("S.a", "<", "T.a", 0), ("T.a", "<", "0", 4), ("S.a", ">", "0", 0)],
            3,
            id="clipped",
        ),
        pytest.param([("S.ts", "=", "T.ts", 0), ("S.a", "=", "T.a", 0)], 0, id="simultaneous"),
    ],
)
def test_bounded_queries_tell_few_tuples_apart(atoms: list[tuple[str, str, str, int]], most: int) -> None:
    query = small_query(("S", "T"), ("a", "b"), atoms, [], CATALOG)
    assert decided(query.sql, CATALOG).verdict is Verdict.BOUNDED
    assert max(singles_told_apart(query, name, SINGLES) for name in _attributes(query)) <= most
