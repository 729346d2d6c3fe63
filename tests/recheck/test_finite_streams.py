"""Certificates where a value is clipped to what a finite stream brought: nothing that matters in one is missed."""

from __future__ import annotations

import random
from collections import Counter

from streambound.criteria.bound import QueryBound, bound
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from support.certificates import rejections
from support.choices import Choices
from support.finite_queries import make_clipped_query
from support.mutations import mutations
from support.product import decided
from support.profiles import MORE
from support.small_queries import SmallQuery
from support.twins import stores_too_little

LAYOUTS_AT_A_TIME = 3


def _bounded(query: SmallQuery) -> tuple[Decision, QueryBound] | None:
    """A bounded query that clips to a finite stream's values."""
    decision = decided(query.sql, query.catalog)
    found = bound(decision.derivation.split) if decision.verdict is Verdict.BOUNDED else None
    if found is None or not any(stored.limiting for table in found.tables for stored in table.layout.key):
        return None
    return decision, found


def test_nothing_that_matters_is_missed_where_finite_streams_limit_values() -> None:
    """Against the twins, which are exact and share nothing with the checker.

    It always asks for the value that clips: it does not see that ``max(T.a, F.a − 1)`` says what ``T.a < S.a`` and
    ``F.a <= S.a`` need.
    """
    seen: Counter[str] = Counter()
    for seed in range(35 * MORE):
        query = make_clipped_query(Choices.seeded(seed))
        if (case := _bounded(query)) is None:
            continue
        decision, found = case
        for table in (table for table in found.tables if any(stored.limiting for stored in table.layout.key)):
            assert not stores_too_little(query, table.layout), (query.sql, table.layout)
        changed = [m for m in mutations(found) if m.layout is not None]
        for mutation in random.Random(seed).sample(changed, min(len(changed), LAYOUTS_AT_A_TIME)):
            assert mutation.layout is not None
            matters, reasons = stores_too_little(query, mutation.layout), rejections(decision, mutation.bound)
            assert reasons or not matters, (query.sql, mutation.name, mutation.layout)
            seen[f"{mutation.name}: {'wrong' if matters else 'too strict' if reasons else 'harmless'}"] += 1
    for name in ("forget an attribute", "move a clip inwards"):
        assert seen[f"{name}: wrong"] > 2, (name, seen)
    assert sum(n for name, n in seen.items() if name.endswith("too strict")) < 0.2 * seen.total(), seen
