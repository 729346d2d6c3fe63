"""A wrong certificate is rejected: whatever is changed in one, what matters is found."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from streambound.criteria.bound import QueryBound, bound
from streambound.criteria.tables import SynopsisTable
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from support.catalogs import streams
from support.certificates import rejections
from support.choices import Choices
from support.mutations import Mutation, mutations
from support.product import decided
from support.profiles import MORE
from support.queries import Features, make_statement
from support.small_queries import Constraint, SmallQuery, as_set, make_small_query, small_query
from support.twins import stores_too_little

HARMLESS = (
    "drop a clip", "move a clip outwards", "end later", "expire later", "saturate later", "never expire",
    "forget a constant", "forget an equality", "saturate, were it not for expiry, earlier",
    "saturate, were it not for expiry, later",
)  # fmt: skip
"""Changes that make a table larger than it needs to be, or leave out what follows anyway."""
ALWAYS_WRONG = (
    "drop a branch", "drop a table", "end earlier", "another offset", "a shorter range", "a lower number",
    "fewer timestamps", "leave out a factor", "another limit",
)  # fmt: skip
AT_A_TIME = 6
"""Mutations tried of one certificate: a sample, since each is checked as a whole."""


def _bounded(decision: Decision) -> QueryBound | None:
    return bound(decision.derivation.split) if decision.verdict is Verdict.BOUNDED else None


def _small(seed: int, distinct: bool = False) -> tuple[SmallQuery, Decision, QueryBound] | None:
    choices = Choices.seeded(seed)
    query = as_set(make_small_query(choices)) if distinct else make_small_query(choices)
    if choices.chance(25):
        query = _waiting(query, choices.integer(2, 4))
    decision = decided(query.sql, query.catalog)
    found = _bounded(decision)
    return None if found is None else (query, decision, found)


def _waiting(query: SmallQuery, least: int) -> SmallQuery:
    """The query where S comes so much later than T."""
    constraints = (*query.constraints, Constraint("T.ts", "S.ts", -least))
    return replace(query, constraints=constraints, sql=f"{query.sql} AND S.ts >= T.ts + {least}")


def _some(found: QueryBound, seed: int) -> list[Mutation]:
    every = list(mutations(found))
    return random.Random(seed).sample(every, min(len(every), AT_A_TIME))


def _matters(query: SmallQuery, mutation: Mutation) -> bool:
    if mutation.layout is not None:
        return stores_too_little(query, mutation.layout)
    return mutation.name in ALWAYS_WRONG


@pytest.mark.slow
def test_nothing_that_matters_in_a_small_query_is_missed() -> None:
    """Against the twins, which are exact and share nothing with the checker; it may reject a little too much."""
    seen: Counter[str] = Counter()
    for seed in range(100 * MORE):
        case = _small(seed)
        if case is None:
            continue
        query, decision, found = case
        for mutation in _some(found, seed):
            matters, reasons = _matters(query, mutation), rejections(decision, mutation.bound)
            assert reasons or not matters, (query.sql, mutation.name, mutation.layout)
            seen[f"{mutation.name}: {'wrong' if matters else 'too strict' if reasons else 'harmless'}"] += 1
    assert _sum(seen, "wrong") > 150, seen
    assert _sum(seen, "harmless") > 25, seen
    assert _sum(seen, "too strict") < 0.01 * seen.total(), seen
    for name in ("forget an attribute", "move a clip inwards", "clip more", "forget an age", "expire earlier",
                 "saturate earlier", "drop a table"):  # fmt: skip
        assert seen[f"{name}: wrong"] > 1, (name, seen)


def _sum(seen: Counter[str], what: str) -> int:
    return sum(n for name, n in seen.items() if name.endswith(what))


def test_nothing_that_matters_where_extrema_are_kept_is_missed() -> None:
    seen: Counter[str] = Counter()
    for seed in range(250 * MORE):
        case = _small(seed, distinct=True)
        if case is None or not any(table.layout.extrema for table in case[2].tables):
            continue
        query, decision, found = case
        for mutation in _some(found, seed):
            matters, reasons = _matters(query, mutation), rejections(decision, mutation.bound)
            assert reasons or not matters, (query.sql, mutation.name, mutation.layout)
            seen[f"{mutation.name}: {'wrong' if matters else 'too strict' if reasons else 'harmless'}"] += 1
    assert _sum(seen, "wrong") > 100, seen
    assert _sum(seen, "too strict") < 0.05 * seen.total(), seen
    for name in ("forget an extremum", "the other extremum", "another limit"):
        assert seen[f"{name}: wrong"] > 5, (name, seen)


@pytest.mark.parametrize("distinct", [False, True])
def test_the_issued_layouts_have_no_twins(distinct: bool) -> None:
    checked = extrema = 0
    for seed in range(400, 400 + (100 if distinct else 50) * MORE):
        case = _small(seed, distinct)
        if case is not None:
            query, _, found = case
            for table in found.tables:
                assert not stores_too_little(query, table.layout), (query.sql, table.layout)
                checked += 1
                extrema += bool(table.layout.extrema)
    assert checked > 25
    assert (extrema > 12) == distinct


def test_the_twins_find_what_is_missing() -> None:
    """So that the two tests above compare with something."""
    catalog = streams("S T", a="bigint")
    atoms = [("S.ts", ">", "T.ts", 0), ("T.a", "<", "S.a", 0), ("T.a", "<", "0", 9), ("S.a", ">", "0", 1)]
    query = small_query(("S", "T"), ("a",), atoms, (), catalog)
    assert stores_too_little(query, SynopsisTable(("T",), (), (), (), None))


def test_random_certificates_lose_nothing() -> None:
    """Relations, lists, unions and the rest: what is wrong in any case is rejected, and nearly all else."""
    counts: Counter[str] = Counter()
    features = Features(windows=40, finite=20, distinct=50)
    for seed in range(50 * MORE):
        statement = make_statement(Choices.seeded(seed), features)
        decision = decided(statement.sql, statement.catalog)
        found = _bounded(decision)
        for mutation in _some(found, seed) if found is not None else ():
            rejected = bool(rejections(decision, mutation.bound))
            if mutation.name in ALWAYS_WRONG:
                assert rejected, (statement.sql, mutation.name)
            elif mutation.name not in HARMLESS:
                counts["rejected" if rejected else "accepted"] += 1
    assert counts["rejected"] > 0.9 * counts.total() > 5, counts
