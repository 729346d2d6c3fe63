"""Columns of one name in inner queries: jobs know columns by names, SQL by places, too."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.algebra.names_apart import names_apart, with_names_apart
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.tree_text import tree_text
from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.findings import Positions
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from support.choices import Choices
from support.circuits import TWO_STREAMS, checked_circuit, run_circuit
from support.operator_runs import World, outcome

CHANGING = (
    "SELECT R.a AS x, R.a AS y FROM R UNION SELECT R.b, R.b FROM R",
    "SELECT R.a AS x, R.a AS y FROM R EXCEPT SELECT R.b, R.b FROM R",
    "SELECT x, y FROM (SELECT a, a FROM R) q(x, y)",
    "SELECT a AS x, COUNT(*) AS y FROM R GROUP BY a UNION ALL SELECT a, a FROM R",
    "SELECT x.a AS x, y.b AS y FROM R x JOIN R y ON x.a = y.b UNION ALL SELECT x.a, y.a FROM R x JOIN R y ON x.b = y.b",
    "WITH RECURSIVE p(s, t) AS (SELECT R.a, R.a FROM R UNION SELECT R.b, R.b FROM R UNION SELECT * FROM R "
    "UNION SELECT R.a, p.t FROM R JOIN p ON R.b = p.s) SELECT s, t FROM p",
    "WITH RECURSIVE p(s, t) AS (SELECT R.a, R.b FROM R UNION SELECT p.s, p.s FROM R JOIN p ON R.a = p.t) "
    "SELECT s, t FROM p",
)
"""The last but one is the transitive closure of Budiu et al., *DBSP*, §6.1."""


@pytest.mark.parametrize("sql", CHANGING)
def test_of_a_relation_that_changes_jobs_print_what_duckdb_returns(sql: str) -> None:
    printed = 0
    for seed in range(2):
        with World(Choices.seeded(seed)) as world:
            found = outcome(world, sql, "batch")
            assert (found.refused, found.different) == ("", "")
            printed += found.results
    assert printed


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT b FROM (SELECT b, v AS b FROM S) q",
        "SELECT b FROM (SELECT b, COUNT(*) AS b FROM S GROUP BY b) q",
        "SELECT q.b AS x, COUNT(*) AS n FROM (SELECT b, COUNT(*) AS b FROM S GROUP BY b) q GROUP BY q.b",
    ],
)
def test_a_name_that_means_several_columns_stays_an_error(sql: str) -> None:
    assert [str(one.code) for one in checked_circuit(sql, TWO_STREAMS).diagnostics] == ["SB103"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT b, b, COUNT(*) AS n FROM S GROUP BY b",
        "SELECT b AS x, b AS X FROM S EXCEPT SELECT b, b FROM T",
        "SELECT * FROM (SELECT b, COUNT(*) AS b FROM S GROUP BY b) q",
    ],
)
def test_results_with_one_name_for_two_columns_are_not_printed(sql: str) -> None:
    """The statement is judged; its rows have no names."""
    checked = checked_circuit(sql, TWO_STREAMS)
    assert checked.verdict == "bounded"
    with pytest.raises(NotExecutableError, match="two columns of the select list are named"):
        run_circuit(checked, {"S": [], "T": []})


def test_names_of_letters_of_any_size() -> None:
    assert names_apart(["a", "A", "a_2", "b", "a"]) == ("a", "A_3", "a_2", "b", "a_4")


def _tree(sql: str) -> tuple[Any, Any, Positions]:
    catalog = catalog_from_mapping(TWO_STREAMS)
    (statement,) = split_statements(SourceText("q.sql", sql))
    lowered = lower(statement, catalog)
    assert lowered.tree is not None and lowered.positions is not None
    return lowered.tree, catalog, lowered.positions


def test_without_such_columns_a_tree_stays_as_it_is() -> None:
    tree, catalog, positions = _tree(
        "SELECT * FROM (SELECT a, b FROM S UNION SELECT b, a FROM T) q JOIN T ON q.a = T.a"
    )
    made = with_names_apart(tree, catalog, positions)
    assert tree_text(made) == tree_text(tree)


def test_a_star_shows_them_by_the_names_that_they_had() -> None:
    tree, catalog, positions = _tree("SELECT * FROM (SELECT a, b AS a FROM S) q")
    made = with_names_apart(tree, catalog, positions)
    assert [column.name for column in schema(made, catalog)] == ["a", "a"]
    assert "b AS `a_2`" in tree_text(made)
    tree, catalog, positions = _tree("SELECT * EXCEPT (v) FROM (SELECT a, b AS a, v, v FROM S) q")
    shown = schema(with_names_apart(tree, catalog, positions), catalog)
    assert [column.name for column in shown] == ["a", "a"]
