"""Statements beyond select-project-join: their trees lose nothing, as DuckDB says. `test_lifted_corpus` has others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.algebra.lowering import Lowering
from streambound.analyzer.algebra.nodes import Aggregate, Apply, Join, JoinKind, Over, Tree, inputs
from streambound.analyzer.algebra.to_sql import to_sql
from streambound.analyzer.algebra.tree_text import tree_text
from streambound.analyzer.algebra.verify import violations
from streambound.analyzer.catalog import Catalog, catalog_from_mapping, load_catalog
from streambound.analyzer.findings import Positions
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from support.choices import Choices
from support.oracle import Oracle
from support.streams import small_rows
from support.tree_texts import read_tree

NEXMARK = Path(__file__).parents[2] / "examples" / "nexmark"
CATALOG = {
    "streams": {
        "S": {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}},
        "T": {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}},
    },
    "relations": {"R": {"columns": {"k": "bigint", "y": "bigint"}, "rows": 6}},
}
OTHERS = [
    "SELECT a, COUNT(*) AS n, SUM(v) / COUNT(*) AS m FROM S GROUP BY a HAVING COUNT(*) > 1 AND MIN(b) >= 0",
    "SELECT a AS g, b % 2 AS p, SUM(v) AS sv FROM S GROUP BY 1, p HAVING sv > 1",
    "SELECT a + b AS c, MAX(v) - MIN(v) AS d FROM S GROUP BY a + b",
    "SELECT s.a, COUNT(DISTINCT b) AS n, COUNT(v) FILTER (WHERE b > 1) AS f FROM S AS s GROUP BY S.A",
    "SELECT MAX(a) AS a, COUNT(*) + 1 AS n FROM S HAVING MAX(a) > 0",
    "SELECT MEDIAN(v) AS m, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY v DESC) AS q FROM S",
    "SELECT a, STDDEV(v) AS s, VAR_POP(v) AS p, VARIANCE(b) AS c FROM S GROUP BY a",
    "SELECT a, v, SUM(v) OVER (PARTITION BY a ORDER BY ts, b, v ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS s FROM S",
    "SELECT a, COUNT(*) OVER (ORDER BY ts RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS n FROM S",
    "SELECT *, ROW_NUMBER() OVER w r, LAG(v, 1, 0) OVER w AS l FROM S WINDOW w AS (PARTITION BY a ORDER BY ts, b, v)",
    "SELECT a, v FROM S QUALIFY RANK() OVER (PARTITION BY a ORDER BY v DESC) <= 2",
    "SELECT q.a, q.v FROM (SELECT *, DENSE_RANK() OVER (PARTITION BY a ORDER BY v) AS r FROM S) AS q WHERE q.r <= 2",
    "SELECT a, SUM(v) AS s, SUM(SUM(v)) OVER (ORDER BY a) AS run FROM S GROUP BY a",
    "SELECT a, COUNT(*) AS n FROM S GROUP BY a ORDER BY n DESC, a LIMIT 2",
    "SELECT a FROM S WHERE a NOT IN (SELECT b FROM T WHERE T.v > S.v)",
    "SELECT a FROM S WHERE NOT a IN (SELECT b FROM T) AND v > 0",
    "SELECT a FROM S WHERE (a, b) IN (SELECT b, a FROM T)",
    "SELECT a FROM S WHERE EXISTS (SELECT 1 FROM S o WHERE o.a = S.b) AND NOT EXISTS (SELECT 1 FROM T WHERE b > S.v)",
    "SELECT a FROM S WHERE EXISTS (SELECT b FROM S WHERE a = 1)",
    "SELECT a FROM S WHERE v > (SELECT AVG(v) FROM T WHERE T.a = S.a) OR a IN (SELECT a FROM T)",
    "SELECT a, (SELECT COUNT(*) FROM T WHERE T.a = S.a) AS n FROM S",
    "SELECT a, COUNT(*) AS n FROM S GROUP BY a HAVING COUNT(*) >= (SELECT COUNT(*) FROM T WHERE T.a = S.a)",
    "SELECT a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.k = S.a) AND EXISTS (SELECT 1 FROM T WHERE T.b = S.b)",
    "SELECT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE EXISTS (SELECT MAX(v) FROM T WHERE T.b = S.b)",
    "SELECT a FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND EXISTS (SELECT 1 FROM S AS i WHERE i.b = T.b))",
    "WITH g AS (SELECT a, COUNT(*) AS n FROM S GROUP BY a) SELECT x.a, y.n FROM g AS x JOIN g AS y ON x.n = y.n",
    "SELECT DISTINCT a FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a, b) AS q WHERE n > 0",
    "SELECT q.d, COUNT(*) AS n FROM (SELECT ts DIV 4 AS d, a FROM S) AS q GROUP BY q.d",
    "SELECT a FROM S INTERSECT ALL SELECT b FROM T EXCEPT SELECT k FROM R",
]


def tree_of(sql: str, known: Catalog) -> Tree:
    (statement,) = split_statements(SourceText("case.sql", sql))
    assert statement.tree is not None, statement.diagnostics
    return Lowering(Positions(statement.source, statement.tokens, statement.before), known).query(statement.tree, {})


def sound(sql: str, known: Catalog) -> Tree:
    tree = tree_of(sql, known)
    assert violations(tree, known) == (), sql
    assert read_tree(tree_text(tree)) == tree, tree_text(tree)
    return tree


def same(sql: str, tree: Tree, oracle: Oracle) -> Counter[tuple[object, ...]]:
    """What a statement, the SQL of its tree, and that of the tree's text have in common: their rows."""
    written = oracle.counts(sql)
    for one in (tree, read_tree(tree_text(tree))):
        assert oracle.counts(to_sql(one).sql("spark")) == written, to_sql(one).sql("spark")
    return written


def operators(tree: Tree) -> Iterator[Tree]:
    yield tree
    for under in inputs(tree):
        yield from operators(under)


@pytest.mark.parametrize("sql", OTHERS)
def test_no_statement_loses_anything(sql: str) -> None:
    tree = sound(sql, catalog_from_mapping(CATALOG))
    told = 0
    for seed in range(3):
        rows: Any = small_rows(Choices.seeded(seed), CATALOG, 8)
        told += sum(same(sql, tree, Oracle(CATALOG, rows)).values())
    assert told


@pytest.mark.parametrize("file", sorted(NEXMARK.glob("*.sql")), ids=lambda file: file.stem)
def test_nexmark_lowers(file: Path) -> None:
    tree = sound(file.read_text(encoding="utf-8"), load_catalog(NEXMARK / "streams.toml"))
    for found in operators(tree):
        if isinstance(found, Aggregate | Over):
            assert all(call.function.isupper() for call in found.calls)


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT a FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.a = S.a)", JoinKind.SEMI),
        ("SELECT a FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a)", JoinKind.ANTI),
        ("SELECT a FROM S WHERE a IN (SELECT b FROM T)", JoinKind.SEMI),
        ("SELECT a FROM S WHERE NOT (a NOT IN (SELECT b FROM T WHERE T.v = S.v))", JoinKind.SEMI),
        ("SELECT a FROM S WHERE a NOT IN (SELECT b FROM T WHERE T.v = S.v)", JoinKind.NOT_IN),
        ("SELECT a FROM S WHERE EXISTS (SELECT COUNT(*) FROM T WHERE T.a = S.a)", None),
        ("SELECT a FROM S WHERE v = (SELECT MAX(v) FROM T)", None),
    ],
)
def test_what_a_subquery_becomes(sql: str, kind: JoinKind | None) -> None:
    found = list(operators(tree_of(sql, catalog_from_mapping(CATALOG))))
    assert [join.kind for join in found if isinstance(join, Join)] == ([kind] if kind else [])
    assert sum(isinstance(one, Apply) for one in found) == (kind is None)
