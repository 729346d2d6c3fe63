"""Every rewrite of `tests/support/rewrites.py` keeps the rows, by DuckDB: what the equivalence tests rest on."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.choices import Choices
from tests.support.oracle import Oracle
from tests.support.profiles import MORE
from tests.support.queries import make_statement
from tests.support.rewrites import REWRITES, Rewrite, kinds_of, rewritten
from tests.support.streams import small_rows

ENOUGH = 8 * MORE


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: rewrite.name)
def test_a_rewrite_keeps_the_rows(rewrite: Rewrite) -> None:
    counts: Counter[str] = Counter()
    for seed in range(2_000 * MORE):
        choices = Choices.seeded(seed)
        statement = make_statement(choices)
        text = rewritten(statement.sql, rewrite, kinds_of(statement.catalog), choices)
        if text is None or text == rewritten_nowhere(statement.sql):
            continue
        counts["applied"] += 1
        for _ in range(2):
            oracle = Oracle(statement.catalog, small_rows(choices, statement.catalog))
            wanted = oracle.counts(statement.sql)
            assert oracle.counts(text) == wanted, f"{statement.sql}\n->\n{text}"
            counts["rows"] += bool(wanted)
        if min(counts["applied"], counts["rows"]) >= ENOUGH:
            break
    assert counts["rows"] >= ENOUGH, counts


def rewritten_nowhere(sql: str) -> str:
    """The statement as sqlglot prints it unchanged."""
    import sqlglot

    return sqlglot.parse_one(sql, read="spark").sql("spark")
