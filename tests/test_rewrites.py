"""Every rewrite of `tests/support/rewrites.py` keeps the rows, by DuckDB: what the equivalence tests rest on."""

from __future__ import annotations

from collections import Counter

import pytest
import sqlglot

from support.choices import Choices
from support.oracle import Oracle
from support.profiles import MORE
from support.queries import MANY_ALTERNATIVES, make_statement
from support.rewrites import REWRITES, Rewrite, kinds_of, rewritten
from support.streams import small_rows

ENOUGH = 3 * MORE


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: rewrite.name)
def test_a_rewrite_keeps_the_rows(rewrite: Rewrite) -> None:
    counts: Counter[str] = Counter()
    for seed in range(1000 * MORE):
        choices = Choices.seeded(seed)
        statement = make_statement(choices, MANY_ALTERNATIVES)
        text = rewritten(statement.sql, rewrite, kinds_of(statement.catalog), choices)
        if text is None or text == sqlglot.parse_one(statement.sql, read="spark").sql("spark"):
            continue
        for _ in range(2):
            oracle = Oracle(statement.catalog, small_rows(choices, statement.catalog))
            wanted = oracle.counts(statement.sql)
            assert oracle.counts(text) == wanted, f"{statement.sql}\n->\n{text}"
            counts["rows" if wanted else "none"] += 1
        if counts["rows"] >= ENOUGH:
            break
    assert counts["rows"] >= ENOUGH, counts
