"""The passes before the rules of `criteria.dataflow` keep what a statement means: both forms are run in DuckDB."""

from __future__ import annotations

from collections import Counter

import duckdb
import pytest
import sqlglot

from streambound.analyzer.algebra.names_apart import with_names_apart
from streambound.analyzer.algebra.nodes import Filter, Join, Recur, Scan, Tree, inputs
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.algebra.to_sql import to_sql
from streambound.analyzer.algebra.tree_text import tree_text
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.dataflow.rewrites import PASSES, sums_down
from streambound.preprocess.trees.streams_together import streams_together
from support.cases import read_named
from support.choices import Choices
from support.operator_queries import LAST, in_words_of, operator_query
from support.operator_runs import World
from support.profiles import MORE

EACH = 20
SEEDS = range(3)
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
    lowered, ran = lower(statement, world.catalog), Counter[str]()
    if lowered.tree is None or lowered.positions is None:
        return ran
    for name, before, after in changed(with_names_apart(lowered.tree, world.catalog, lowered.positions), world):
        assert len(schema(before, world.catalog)) == len(schema(after, world.catalog)), (name, text)
        try:
            rows = [world.results(to_sql(one).sql("spark"), _TIMES) for one in (before, after)]
        except (duckdb.Error, sqlglot.errors.SqlglotError, AssertionError):
            continue  # what only Spark can say
        assert rows[0] == rows[1], (name, text)
        ran[name] += 1
    return ran


STATEMENTS = read_named("dataflow_rewrites.sql")


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_pass_keeps_the_rows(name: str) -> None:
    for seed in SEEDS[:MORE]:
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
    assert ran["conditions_down"] > 5
    assert sum(ran.values()) >= 8


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
