"""Random queries of every operator: what their jobs print is what DuckDB returns on every prefix, and M is kept.

`tests/random_queries.py` runs as many as one likes; here are some, and the queries that it has found to be wrong.
"""

from __future__ import annotations

import pytest
from random_queries import Tally

from streambound.analyzer.catalog import catalog_from_mapping
from support.choices import Choices
from support.circuits import checked_circuit
from support.operator_queries import random_catalog
from support.operator_runs import World, outcome
from support.profiles import MORE

PARTS = 1
EACH = 2 * MORE
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


FOUND = {
    "a distinct value that depends on rows of two streams": "SELECT SUM(DISTINCT q1.a) FILTER (WHERE q2.v > 1) AS c1 "
    "FROM T AS q1 JOIN T AS q2 ON q1.v = q2.b",
    "a distinct product of columns of two streams": "SELECT COUNT(DISTINCT q1.a * q2.b) AS c1 "
    "FROM S AS q1 JOIN T AS q2 ON q1.v = q2.b",
    "groups by a product of columns of two streams": "SELECT q1.a * q2.b AS c1, COUNT(*) AS c2 "
    "FROM S AS q1 JOIN T AS q2 ON q1.v = q2.b GROUP BY q1.a * q2.b",
    "a sum by a product of columns of two streams": "SELECT SUM(q1.v) AS c1 "
    "FROM S AS q1 JOIN T AS q2 ON q1.v = q2.b GROUP BY q1.a * q2.b",
    "a set operation on a product of columns of two streams": "SELECT q1.a * q2.b AS c1 "
    "FROM S AS q1 JOIN T AS q2 ON q1.v = q2.b EXCEPT SELECT q3.v AS c1 FROM S AS q3",
    "a distinct time that depends on rows of two streams": "SELECT q1.a AS c1, COUNT(DISTINCT q1.ts) "
    "FILTER (WHERE q2.b > 0) AS c2 FROM T AS q1 JOIN T AS q2 ON q1.ts = q2.b GROUP BY q1.a",
    "the values of two aggregates": "SELECT COUNT(DISTINCT q1.b) AS c1, SUM(DISTINCT q1.v) AS c2 FROM S AS q1",
    "the values of two aggregates of one column": "SELECT q1.v AS c1, COUNT(DISTINCT q1.b) AS c2, "
    "SUM(DISTINCT q1.b) AS c3 FROM S AS q1 GROUP BY q1.v",
    "the values of two aggregates of a relation's": "SELECT COUNT(DISTINCT q1.b) AS c1, SUM(DISTINCT q1.b) AS c2 "
    "FROM R AS q1",
    "a group of each time, in two cases": "SELECT COUNT(q1.a) AS c1 FROM T AS q1 WHERE (q1.b = 1 OR q1.ts > 1) "
    "GROUP BY q1.ts",
    "a group of each time that is computed": "SELECT q1.ts + 1 AS c1, COUNT(*) AS c2 FROM T AS q1 GROUP BY q1.ts + 1",
    "a group of each of few times": "SELECT COUNT(q1.a) AS c1 FROM T AS q1 WHERE q1.ts <= 4 GROUP BY q1.ts",
    "a group of each distance": "SELECT q1.ts - q2.ts AS c1, COUNT(*) AS c2 FROM S AS q1 JOIN T AS q2 "
    "ON q1.a = q2.a AND q1.ts < q2.ts + 4 AND q2.ts < q1.ts + 3 GROUP BY q1.ts - q2.ts",
    "groups of two times": "SELECT COUNT(*) AS c1 FROM S AS q1 JOIN T AS q2 "
    "ON q1.a = q2.a AND q1.ts < q2.ts + 4 AND q2.ts < q1.ts + 3 GROUP BY q1.ts, q2.ts",
    "groups in a period of each time": "SELECT COUNT(*) AS c1 FROM S AS q1 GROUP BY q1.ts DIV 4, q1.ts",
    "a CASE of columns of two streams": "SELECT q1.v AS c1, COUNT(DISTINCT CASE q1.ts WHEN 1 THEN q2.b WHEN 0 THEN -1 "
    "WHEN q2.ts THEN q1.b END) AS c2 FROM T AS q1 JOIN S AS q2 ON q1.b = q2.v GROUP BY q1.v",
    "groups of a join with a relation that changes, without aggregates": "SELECT q1.a AS c1 FROM S AS q1 "
    "JOIN R AS q2 ON q1.v = q2.a GROUP BY q1.a, q2.b % 2",
    "a view of no rows": "SELECT q1.b AS c1 FROM T AS q1 LEFT ANTI JOIN (SELECT SUM(q3.b) AS c1 FROM T AS q3 "
    "WHERE q3.v - q3.v <> 0 GROUP BY q3.ts) AS q2 ON q1.ts = q2.c1",
    "a name without an alias above EXISTS": "SELECT v AS c1 FROM S WHERE v > 1 AND EXISTS "
    "(SELECT 1 FROM T WHERE T.b = S.a AND v < 3 AND T.ts <= S.ts)",
    "a name without an alias above NOT IN": "SELECT v AS c1 FROM S WHERE v > 1 AND a NOT IN "
    "(SELECT b FROM T WHERE v < 3 AND T.ts <= S.ts)",
    "a name without an alias above a count": "SELECT v AS c1, b AS c2 FROM S WHERE v > 0 AND b <= "
    "(SELECT COUNT(*) AS v FROM T)",
    **{
        f"partners that come one by one, {upper} above {lower}": f"SELECT q1.a AS c1, q1.v AS c2 FROM S AS q1 {lower} "
        "T AS q2 ON q1.a = q2.a AND q2.ts BETWEEN q1.ts - 3 AND q1.ts "
        f"{upper} T AS q3 ON q3.b = q1.a AND q3.ts BETWEEN q1.ts AND q1.ts + 2"
        for upper in ("LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
        for lower in ("LEFT JOIN", "LEFT SEMI JOIN")
    },
    "partners that come one by one, LEFT JOIN above RIGHT JOIN": "SELECT q2.v AS c1, q3.v AS c2 FROM S AS q1 "
    "RIGHT JOIN T AS q2 ON q1.a = q2.a AND q2.ts BETWEEN q1.ts AND q1.ts + 2 "
    "LEFT JOIN S AS q3 ON q3.a = q2.a AND q3.ts BETWEEN q2.ts AND q2.ts + 2",
    **{
        f"buckets of ends of windows, {value}": f"SELECT {value} AS c1 FROM (SELECT {end} AS t, COUNT(*) AS n FROM S "
        f"GROUP BY {window}) AS q1 GROUP BY q1.t DIV 2"
        for size, value in ((1, "MAX(q1.n)"), (2, "MIN(q1.n)"), (3, "COUNT(DISTINCT q1.n)"))
        for window in (f"⟦window(ts, '{size} microseconds')‖ts DIV {size}⟧",)
        for end in (f"⟦window(ts, '{size} microseconds').end‖(ts DIV {size}) * {size} + {size}⟧",)
    },
    "groups of rows that wait, of which only values go": "SELECT MIN(q1.v) AS c1, COUNT(*) AS c2 "
    "FROM S AS q1 LEFT ANTI JOIN S AS q2 ON q1.ts = q2.ts AND q1.v < q2.v GROUP BY q1.a DIV 2",
    "a correlated NOT IN": "SELECT q1.b AS c1, q1.v AS c2 FROM S AS q1 "
    "WHERE q1.b NOT IN (SELECT q2.a FROM S AS q2 WHERE q2.a = q1.b)",
}


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
    for seed in range(3):
        with World(Choices.seeded(seed)) as world:
            for stream in world.mapping["streams"].values():
                stream["domain"] = {column: [0, 3] for column in ("a", "b", "v")}
            world.catalog = catalog_from_mapping(world.mapping)
            found = outcome(world, sql, "batch")
            assert (found.refused, found.different, found.bounded) == ("", "", True)
            printed += found.results
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
    assert str(checked_circuit(sql, catalog_from_mapping(catalog)).verdict) in ("unbounded", "unknown")


def test_a_difference_is_seen() -> None:
    """The comparison is not empty: another query in DuckDB's words differs."""
    with World(Choices.seeded(0)) as world:
        assert outcome(world, "SELECT COUNT(*) AS c1 FROM S AS q1 WHERE q1.ts ⟦>=‖<⟧ 3").different
