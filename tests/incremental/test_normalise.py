"""Tree passes: what they make of what, and that the results stay the same on random queries."""

from __future__ import annotations

from collections import Counter

import pytest

from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.algebra.tree_text import tree_text
from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.lower import Lowered, lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.incremental.feed import recomputed
from streambound.incremental.normalise.outer_joins import outer_to_inner
from streambound.incremental.translate import translate
from support.any_queries import CATALOG, any_query, any_rows
from support.choices import Choices
from support.lifted import fed
from support.profiles import MORE

DECLARED = catalog_from_mapping(CATALOG)


def lowered(sql: str) -> Lowered:
    (statement,) = split_statements(SourceText("q.sql", sql))
    return lower(statement, DECLARED)


def normalised(found: Lowered) -> Tree:
    assert found.tree is not None
    return outer_to_inner(found.tree, DECLARED)


@pytest.mark.parametrize(
    ("join", "condition", "kind"),
    [
        ("LEFT", "T.b > 0", "inner"),
        ("LEFT", "S.b > 0", "left"),
        ("LEFT", "T.b IS NULL", "left"),
        ("LEFT", "T.b IS NOT NULL", "inner"),
        ("LEFT", "T.b > 0 OR S.b > 0", "left"),
        ("LEFT", "T.b + S.b = 1", "inner"),
        ("LEFT", "COALESCE(T.b, 1) = 1", "left"),
        ("LEFT", "T.b <=> 1", "left"),
        ("RIGHT", "S.b IN (1, 2)", "inner"),
        ("FULL", "T.b BETWEEN 0 AND 2", "right"),
        ("FULL", "S.b < 2", "left"),
        ("FULL", "S.b = T.b", "inner"),
    ],
)
def test_outer_joins_pad_no_more_than_where_keeps(join: str, condition: str, kind: str) -> None:
    text = tree_text(normalised(lowered(f"SELECT S.v FROM S {join} JOIN T ON S.a = T.a WHERE {condition}")))
    assert f"Join(kind='{kind}'" in text


def test_results_stay_the_same() -> None:
    changed = Counter[str]()
    for seed in range(5_000, 5_000 + 125 * MORE):
        choices = Choices.seeded(seed)
        (sql, _), rows = any_query(choices), any_rows(choices)
        found = lowered(sql)
        if found.tree is None or (tree := normalised(found)) == found.tree:
            continue
        _, given = fed(CATALOG, rows)
        before = recomputed(translate(found.tree, DECLARED, found.queries), given)
        assert recomputed(translate(tree, DECLARED, found.queries), given) == before, sql
        changed["with rows" if any(before) else "without"] += 1
    assert changed["with rows"] > 1, changed
