"""Random queries of every operator: what their jobs print is what DuckDB returns on every prefix, and M is kept.

`tests/random_queries.py` runs as many as one likes; here are some, and the queries that it has found to be wrong.
"""

from __future__ import annotations

import pytest
from random_queries import Tally

from streambound.analyzer.catalog import catalog_from_mapping
from support.cases import read_queries
from support.choices import Choices
from support.circuits import is_bounded
from support.operator_queries import random_catalog
from support.operator_runs import World, outcome
from support.profiles import MORE

PARTS = 1
EACH = MORE
"""Seeds of a part: of fewer one cannot say what they have met."""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_jobs_print_what_duckdb_returns(part: int) -> None:
    tally = Tally()
    for seed in range(part * EACH, (part + 1) * EACH):
        tally.seed(seed)
    assert tally.wrong == []
    assert tally.counts["counted"] > 5 * EACH
    assert tally.counts["bounded"] and len(tally.operators) > 9, tally.told


FOUND = read_queries("random_queries.sql")


BEST_OF_TWO = {
    "of a column that both have": "SELECT MAX(q1.a) AS c1 FROM S AS q1 JOIN T AS q2 ON q1.a = q2.b WHERE q1.v = 2",
    "by keys of both, of a column that both have": "SELECT q1.a AS c1, MAX(q1.v) AS c2 "
    "FROM S AS q1 JOIN T AS q2 ON q1.v = q2.v AND q1.a = q2.a GROUP BY q1.a",
    "of a column between two": "SELECT MIN(q1.b) AS c1 FROM S AS q1 JOIN T AS q2 ON q1.b <= q2.b AND q2.b <= q1.b",
    "of a column that equals what is kept": "SELECT MAX(q1.v) AS c1, MIN(q2.b) AS c2 FROM T AS q1 "
    "JOIN S AS q2 ON q1.v = q2.b WHERE q2.ts = 2",
    "of a column that is one more": "SELECT MAX(q1.v) AS c1, MIN(q2.b) AS c2 FROM T AS q1 "
    "JOIN S AS q2 ON q1.v = q2.b + 1 WHERE q2.ts = 2",
    "of a number": "SELECT q1.a AS c1, MAX(q2.v) AS c2 FROM S AS q1 JOIN T AS q2 ON q1.a = q2.a "
    "WHERE q2.v = 2 GROUP BY q1.a",
    "by a number": "SELECT q1.v AS c1, MAX(q1.a) AS c2 FROM S AS q1 JOIN T AS q2 ON q1.a = q2.b "
    "WHERE q1.v = 2 GROUP BY q1.v",
}


@pytest.mark.parametrize("sql", BEST_OF_TWO.values(), ids=BEST_OF_TWO)
def test_greatest_and_least_values_of_joins_are_bounded(sql: str) -> None:
    """Also where conditions fix what is kept, or say it of both streams."""
    printed = 0
    for seed in range(3 * MORE):
        with World(Choices.seeded(seed)) as world:
            for stream in world.mapping["streams"].values():
                stream["domain"] = {column: [0, 3] for column in ("a", "b", "v")}
            world.catalog = catalog_from_mapping(world.mapping)
            found = outcome(world, sql, "batch")
            assert (found.refused, found.different, found.bounded) == ("", "", True)
            printed += found.results
        if printed and seed + 1 >= MORE:
            break
    assert printed


@pytest.mark.parametrize("sql", FOUND.values(), ids=FOUND)
def test_what_was_found_to_be_wrong(sql: str) -> None:
    """Over catalogs of integers: some of the statements compare columns that would have two types otherwise."""
    printed = 0
    for seed in range(4 * MORE):
        with World(Choices.seeded(seed)) as world:
            if any("double" in body["columns"].values() for body in world.mapping["streams"].values()):
                continue
            found = outcome(world, sql, "batch")
            assert (found.refused, found.different) == ("", "")
            printed += found.results
        if printed and seed + 1 >= MORE:
            break
    assert printed


TIMES_THAT_WAIT = (
    "SELECT q1.ts AS c1 FROM S AS q1 WHERE q1.ts >= (SELECT MAX(q2.b) FROM T AS q2)",
    "SELECT q1.ts AS c1 FROM T AS q1 WHERE NOT q1.a = q1.ts AND q1.ts >= (SELECT MAX(q2.b) FROM T AS q2)",
)


@pytest.mark.parametrize("sql", TIMES_THAT_WAIT)
def test_a_time_that_waits_for_a_view_is_not_bounded(sql: str) -> None:
    """Also where the time is all that is read of the rows that wait."""
    catalog = random_catalog(Choices.seeded(0))
    for name in ("S", "T"):
        catalog["streams"][name]["domain"] = {"b": [0, 3], "a": [0, 3]}
    assert not is_bounded(sql, catalog)


def test_a_difference_is_seen() -> None:
    """The comparison is not empty: another query in DuckDB's words differs."""
    with World(Choices.seeded(0)) as world:
        assert outcome(world, "SELECT COUNT(*) AS c1 FROM S AS q1 WHERE q1.ts ⟦>=‖<⟧ 3").different
