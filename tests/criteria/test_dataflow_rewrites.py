"""The passes before the rules of `criteria.dataflow` keep what a statement means: both forms are run in DuckDB."""

from __future__ import annotations

from collections import Counter

import duckdb
import pytest
import sqlglot

from streambound.analyzer.algebra.nodes import Filter, Join, Recur, Scan, Tree, inputs
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.to_sql import to_sql
from streambound.analyzer.algebra.tree_text import tree_text
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.dataflow.rewrites.pipeline import PASSES
from streambound.criteria.dataflow.rewrites.sums import sums_down
from streambound.criteria.dataflow.syntax import conjuncts
from streambound.preprocess.trees.streams_together import streams_together
from support.choices import Choices
from support.operator_queries import LAST, in_words_of, operator_query
from support.operator_runs import World

EACH = 20
SEEDS = range(6)
_TIMES = (2, LAST)


def changed(tree: Tree, world: World) -> list[tuple[str, Tree, Tree]]:
    """The passes that change a tree, with what it was before and is after each."""
    found = []
    for one in (*PASSES, sums_down):
        made = one(tree, world.catalog)
        if tree_text(made) != tree_text(tree):
            found.append((one.__name__, tree, made))
        tree = made
    return found


def compared(text: str, world: World) -> Counter[str]:
    """How often each pass changed a statement that DuckDB ran in both forms, which gave the same rows."""
    (statement,) = split_statements(SourceText("q.sql", in_words_of(text, duckdb=False)))
    tree = lower(statement, world.catalog).tree
    ran = Counter[str]()
    for name, before, after in [] if tree is None else changed(tree, world):
        assert len(schema(before, world.catalog)) == len(schema(after, world.catalog)), (name, text)
        try:
            rows = [world.results(to_sql(one).sql("spark"), _TIMES) for one in (before, after)]
        except (duckdb.Error, sqlglot.errors.SqlglotError, AssertionError):
            continue  # what only Spark can say
        assert rows[0] == rows[1], (name, text)
        ran[name] += 1
    return ran


STATEMENTS = {
    "sums_down": (
        "SELECT COUNT(*) AS c1, SUM(q1.v * q2.b) AS c2, AVG(q1.v) AS c3 FROM S AS q1 JOIN R AS q2 ON q1.a = q2.a",
        "SELECT q2.b AS c1, q1.b AS c2, COUNT(q1.v) AS c3 FROM R AS q2 JOIN S AS q1 ON q1.a = q2.a "
        "GROUP BY q2.b, q1.b HAVING SUM(q1.v) > 1",
        "SELECT MIN(q1.v) AS c1 FROM S AS q1 JOIN R AS q2 ON q1.a = q2.a",
        "SELECT q2.b AS c1, MAX(q1.v) AS c2 FROM R AS q2 JOIN S AS q1 ON q1.a = q2.a AND q1.b > q2.b GROUP BY q2.b",
    ),
    "flat_aggregates": (
        "SELECT SUM(q.n) AS c1 FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q",
        "SELECT q.b AS c1, SUM(q.n) AS c2 FROM (SELECT a, b, COUNT(v) AS n FROM S GROUP BY a, b) AS q GROUP BY q.b",
        "SELECT SUM(q.n) AS c1 FROM (SELECT COUNT(v) AS n FROM S WHERE a > 100) AS q",
        "SELECT MAX(q.n) AS c1 FROM (SELECT a, MAX(v) AS n FROM S GROUP BY a) AS q",
    ),
    "plain_conditions": (
        "SELECT q1.a AS c1 FROM S AS q1 WHERE CASE WHEN q1.a > 1 THEN 'x' WHEN q1.b = 0 THEN 'y' END IS NOT NULL",
        "SELECT q1.a AS c1 FROM S AS q1 WHERE IF(q1.a > 1, TRUE, FALSE) AND q1.b NOT IN (1)",
        "SELECT q1.a AS c1 FROM S AS q1 JOIN T AS q2 ON q1.a = q2.a AND (q1.b NOT IN (1) OR q2.b = 0)",
    ),
    "disjoint_unions": (
        "SELECT q.a AS c1, COUNT(*) AS c2 FROM (SELECT * FROM S WHERE v > 0 UNION ALL SELECT * FROM S WHERE v <= 0) "
        "AS q GROUP BY q.a",
        "SELECT a AS c1 FROM S WHERE a > 1 UNION ALL SELECT a AS c1 FROM S WHERE a IS NULL",
    ),
    "padded_rows": (
        "SELECT q1.a AS c1, q2.b AS c2 FROM S AS q1 LEFT JOIN T AS q2 ON q1.a = q2.a WHERE q2.ts IS NULL",
        "SELECT q1.a AS c1 FROM S AS q1 LEFT JOIN T AS q2 ON q1.a = q2.a AND q1.v > 0 WHERE q2.ts IS NULL AND q1.b > 0",
    ),
    "arguments_down": (
        "SELECT q.b AS c1, SUM(q.x) AS c2 FROM (SELECT q1.b, q1.v + q2.v AS x FROM S AS q1 JOIN T AS q2 "
        "ON q1.b = q2.b) AS q GROUP BY q.b",
        "SELECT SUM(q.x) FILTER (WHERE q.y > 0) AS c2 FROM (SELECT q1.b AS y, q1.v * q2.v AS x FROM S AS q1 "
        "JOIN T AS q2 ON q1.b = q2.b) AS q",
    ),
    "scalars_joined": (
        "SELECT q1.a AS c1 FROM S AS q1 WHERE q1.v > (SELECT AVG(q2.v) FROM T AS q2)",
        "SELECT q1.a AS c1, (SELECT COUNT(*) FROM T AS q2) AS c2 FROM S AS q1",
    ),
    "anti_joins": (
        "SELECT q1.a AS c1 FROM S AS q1 WHERE q1.a NOT IN (SELECT q2.a FROM T AS q2)",
        "SELECT q1.v AS c1 FROM S AS q1 WHERE q1.a NOT IN (SELECT q2.a FROM T AS q2 WHERE q2.b > q1.b)",
        "SELECT q1.a AS c1 FROM Q AS q1 WHERE q1.a NOT IN (SELECT q2.b FROM S AS q2 WHERE q2.v > 1)",
    ),
    "conditions_down": (
        "SELECT q1.a AS c1 FROM S AS q1 LEFT JOIN T AS q2 ON q1.a = q2.a WHERE q2.b > 0",
        "SELECT q1.a AS c1, q2.b AS c2 FROM S AS q1 FULL JOIN T AS q2 ON q1.a = q2.a WHERE q1.b > 0",
        "SELECT q1.a AS c1, q2.b AS c2 FROM S AS q1 RIGHT JOIN T AS q2 ON q1.a = q2.a AND q1.v > 0 WHERE q2.b > 0",
        "SELECT q.a AS c1 FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a HAVING a > 0) AS q WHERE q.n > 1",
        "SELECT q.c AS c1 FROM (SELECT a + 1 AS c FROM S EXCEPT SELECT b FROM T) AS q WHERE q.c > 1",
    ),
    "ranges_down": (
        "SELECT q1.v AS c1, q2.n AS c2 FROM S AS q1 JOIN (SELECT b, COUNT(*) AS n FROM T GROUP BY b) AS q2 "
        "ON q1.a = q2.b WHERE q1.a IN (1, 2)",
        "SELECT q1.v AS c1, q2.n AS c2 FROM S AS q1 LEFT JOIN (SELECT b, COUNT(*) AS n FROM T GROUP BY b) AS q2 "
        "ON q1.a = q2.b WHERE q1.a > 1",
        "SELECT q1.v AS c1 FROM S AS q1 LEFT ANTI JOIN (SELECT b, COUNT(*) AS n FROM T GROUP BY b) AS q2 "
        "ON q1.a = q2.b AND q1.v < q2.n",
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_pass_keeps_the_rows(name: str) -> None:
    for seed in SEEDS:
        with World(Choices.seeded(seed)) as world:
            ran = sum((compared(text, world) for text in STATEMENTS[name]), Counter[str]())
            assert ran[name] > 0


def test_every_pass_keeps_the_rows_of_random_statements() -> None:
    ran = Counter[str]()
    for seed in SEEDS:
        choices = Choices.seeded(seed)
        with World(choices) as world:
            for _ in range(EACH):
                text, _ = operator_query(choices)
                ran += compared(text, world)
    assert ran["conditions_down"] > 10
    assert sum(ran.values()) >= 15


@pytest.mark.parametrize("one", PASSES, ids=lambda one: str(one.__name__))
def test_a_pass_says_what_it_rewrites(one: object) -> None:
    assert one.__doc__


TOGETHER = (
    "SELECT w.n, q1.v, q2.v FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS w JOIN S AS q1 ON q1.b = w.b "
    "JOIN T AS q2 ON q2.a = q1.a AND q2.v >= w.n",
    "WITH RECURSIVE r(x) AS (SELECT a FROM S UNION SELECT q2.b FROM r JOIN S AS q1 ON q1.a = r.x JOIN T AS q2 "
    "ON q2.a = q1.b AND q1.ts < q2.ts) SELECT x FROM r",
)


@pytest.mark.parametrize("text", TOGETHER)
def test_streams_are_joined_first_under_the_same_conditions(text: str) -> None:
    with World(Choices.seeded(0)) as world:
        (statement,) = split_statements(SourceText("q.sql", text))
        tree = lower(statement, world.catalog).tree
        assert tree is not None
        made = streams_together(tree, world.catalog)
        assert _leaves(made) == _leaves(tree)
        assert schema(made, world.catalog) == schema(tree, world.catalog)
        assert _conditions(tree) <= _conditions(made), tree_text(made)
        (pair,) = [one for one in _every(made) if isinstance(one, Join) and isinstance(one.right, Scan)]
        assert isinstance(pair.left, Scan), "both are streams"


def _every(tree: Tree) -> list[Tree]:
    return [tree, *(one for below in inputs(tree) for one in _every(below))]


def _leaves(tree: Tree) -> list[Tree]:
    return [one for one in _every(tree) if isinstance(one, Scan | Recur)]


def _conditions(tree: Tree) -> Counter[str]:
    found = [one.condition for one in _every(tree) if isinstance(one, Filter | Join)]
    return Counter(part.sql("spark") for condition in found for part in conjuncts(condition))
