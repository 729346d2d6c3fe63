"""SEQ VT over streams whose rows may be valid for ever, where what is asked still needs bounded memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from streambound.criteria.check import Checked
from streambound.criteria.vocabulary import Verdict
from streambound.synopsis_exec.verify import gives_nothing
from support.choices import Choices
from support.circuits import certificate_of, checked_circuit, circuit_plan, proof_of
from support.oracle import connection
from support.period_streams import PeriodRun, run_periods
from support.profiles import MORE
from support.snapshots import COLUMNS, LOW, Generated, each_point, generated, history


def checked(sql: str, emit: str = "", **more: Any) -> Checked:
    """A statement over streams r and s and a relation u without promises about the length of their rows."""
    columns = {name: {**kinds, "vb": "bigint", "ve": "bigint"} for name, kinds in COLUMNS.items()}
    tables: dict[str, Any] = {name: {"columns": kinds, "period": ["vb", "ve"]} for name, kinds in columns.items()}
    for name, promise in more.items():
        tables[name] |= promise
    relations = {"u": {"rows": 7} | tables.pop("u")}
    streams = {name: {"timestamp": "vb", **one} for name, one in tables.items()}
    catalog = {"time": {"domain": [LOW]}, "streams": streams, "relations": relations}
    return checked_circuit(f"{emit}SEQ VT ({sql})", catalog)


def ran(found: Checked, seed: int, given: Generated) -> PeriodRun:
    """A run in slices of a random length, in every second one with restarts."""
    choices = Choices.seeded(seed)
    rows = {
        name: [dict(zip((*COLUMNS[name], "vb", "ve"), row, strict=True)) for row in rows]
        for name, rows in given.rows.items()
    }
    return run_periods(found, rows, every=choices.integer(1, 4), restarts=choices.chance(50))


def peaks(sql: str, limit: int, seeds: range, **more: Any) -> list[int]:
    """The most entries of each run over random rows, whose results are those of all snapshots; fragments in turn."""
    found = list[int]()
    for seed in seeds:
        given = replace(generated(Choices.seeded(seed)), sql=sql)
        wanted, emit = history(given, connection()), "-- streambound: emit fragments\n" * (seed % 2)
        statement = checked(sql, emit, **more)
        assert statement.verdict is Verdict.BOUNDED, statement.diagnostics
        run = ran(statement, seed, given)
        assert not run.rejected
        assert (run.all == wanted) if not emit else (each_point(run.all) == each_point(wanted)), (sql, seed)
        assert run.limit is not None and max(run.entries) <= run.limit, (sql, seed)
        assert run.limit <= limit
        found.append(max(run.entries))
    return found


@pytest.mark.parametrize(
    ("select", "where"),
    [
        ("r.a", "false"),
        ("DISTINCT r.a, r.b", "r.a < 1 AND r.a > 2"),
        ("r.a, COUNT(*) AS n", "r.b = 1 AND r.b = 2"),
        ("r.a, MAX(r.b) AS n", "r.a IS NULL AND r.a = 3"),
        ("r.a", "r.b IN (1, 2) AND r.b = 3"),
    ],
)
def test_of_rows_that_satisfy_nothing_none_is_kept(select: str, where: str) -> None:
    group = " GROUP BY r.a" if "n" in select.split() else ""
    assert set(peaks(f"SELECT {select} FROM r WHERE {where}{group}", 0, range(2 * MORE))) == {0}


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT r.a FROM r WHERE r.a > 5 AND r.a < 3", "its conditions contradict each other"),
        ("SELECT DISTINCT r.a FROM r WHERE false", "its condition is never true"),
        ("SELECT r.a, COUNT(*) AS n FROM r WHERE false GROUP BY r.a", "its condition is never true"),
        ("SELECT r.a FROM r JOIN u ON r.b = u.b WHERE r.a > 5 AND r.a < 3", "its conditions contradict each other"),
    ],
)
def test_that_there_never_is_a_row_is_told_where_it_is_selected(sql: str, why: str) -> None:
    statement = checked(sql)
    (found,) = statement.diagnostics
    assert (found.code, found.message) == ("SB150", f"this query can never produce a row: {why}")
    assert statement.source.text[found.span.start : found.span.end] == "r.a"
    assert statement.circuit is not None and statement.catalog is not None
    assert gives_nothing(circuit_plan(statement))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM r WHERE r.a > 1 AND r.a < 1",
        "SELECT u.b FROM u LEFT JOIN r ON r.b = u.b AND r.a > 5 AND r.a < 3",
        "SELECT u.b FROM u WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.b = u.b AND r.a > 5 AND r.a < 3)",
        "SELECT r.b FROM r WHERE false UNION ALL SELECT u.b FROM u",
    ],
)
def test_a_row_of_nothing_is_not_told_to_be_none(sql: str) -> None:
    statement = checked(sql)
    assert statement.verdict is Verdict.BOUNDED and not statement.diagnostics
    assert statement.circuit is not None and statement.catalog is not None
    assert not gives_nothing(circuit_plan(statement))


def test_a_count_of_nothing_has_one_row() -> None:
    """All rows say how long there is time, and none is kept."""
    statement = checked("SELECT COUNT(*) AS n FROM r WHERE r.a > 1 AND r.a < 1")
    run = ran(statement, 1, Generated("", {"r": [(3, 1, 2, 5)], "s": [], "u": []}))
    assert run.all == Counter({(0, 0, 5, 1): 1})
    assert run.limit == 1


def test_the_job_of_rows_that_satisfy_nothing_reads_their_periods() -> None:
    """Bad ones are quarantined all the same."""
    statement = checked("SELECT r.a FROM r WHERE false")
    assert statement.circuit is not None
    assert statement.catalog is not None
    (stream,) = circuit_plan(statement).inputs
    assert {"vb", "ve"} <= {column.name for column in stream.columns}


SETS = [
    "SELECT u.b FROM u EXCEPT ALL SELECT r.b FROM r",
    "SELECT u.b FROM u WHERE u.b > 0 EXCEPT ALL (SELECT r.b FROM r UNION ALL SELECT x.b FROM r AS x)",
    "SELECT r.b FROM r INTERSECT ALL SELECT u.b FROM u",
    "SELECT u.b, u.d FROM u INTERSECT ALL SELECT r.b, 0.5D FROM r",
    "SELECT c0, COUNT(*) AS n FROM (SELECT u.b AS c0 FROM u EXCEPT ALL SELECT r.b FROM r) GROUP BY c0",
]


@pytest.mark.parametrize("sql", SETS)
def test_beside_a_relation_only_the_latest_ends_of_a_value_are_kept(sql: str) -> None:
    """As many as there are rows of it."""
    assert any(max(peaks(sql, 14, range(seed, seed + 4 * MORE))) > 0 for seed in range(0, 16 * MORE, 4 * MORE))


def test_the_latest_ends_of_each_value_are_as_many_as_the_relation_has() -> None:
    statement = checked("SELECT u.b FROM u EXCEPT ALL SELECT r.b FROM r")
    rows = [(0, 1, begin, begin + 3 + 20 * (begin % 3)) for begin in range(8)] + [(0, 9, 0, 50)] * 5
    u = [(1, 0.5, 0, 99), (1, 0.5, 0, 99), (2, 1.0, 0, 9)]
    found = ran(statement, 1, Generated("", {"r": rows, "s": [], "u": u}))
    assert 2 <= max(found.entries) <= 2 + 2, "two ends of the value 1, and two open rows"


def test_without_a_relation_on_the_right_side_all_ends_are_needed() -> None:
    for sql in ("SELECT r.b FROM r EXCEPT ALL SELECT u.b FROM u", "SELECT r.a FROM r INTERSECT ALL SELECT s.a FROM s"):
        assert checked(sql).verdict is not Verdict.BOUNDED


COUNTED = [
    "SELECT r.b AS c0 FROM r GROUP BY r.b HAVING COUNT(*) >= 2",
    "SELECT r.b + 1 AS c0 FROM r GROUP BY r.b HAVING COUNT(*) > 1 AND r.b > 0",
    "SELECT r.b AS c0 FROM r GROUP BY r.b HAVING 3 <= COUNT(*)",
    "SELECT 'many' AS c0 FROM (SELECT 1 AS x FROM r UNION ALL SELECT 1 FROM s) GROUP BY x HAVING COUNT(*) > 2",
    "SELECT DISTINCT 1 AS c0 FROM r GROUP BY r.b HAVING COUNT(*) >= 1",
    "SELECT u.d AS c0 FROM u WHERE u.b IN (SELECT r.b FROM r GROUP BY r.b HAVING COUNT(*) >= 2)",
]


@pytest.mark.parametrize("sql", COUNTED)
def test_of_groups_that_are_asked_for_k_rows_the_k_latest_ends_are_kept(sql: str) -> None:
    few = {"domain": {"b": [-1, 0, 1, 2, 3]}}
    assert max(peaks(sql, 6 * 3 + 6 + 7, range(4 * MORE), r=few)) > 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT r.b, COUNT(*) AS n FROM r GROUP BY r.b HAVING COUNT(*) >= 2",
        "SELECT r.b FROM r GROUP BY r.b HAVING COUNT(*) >= 2 AND COUNT(*) < 5",
        "SELECT r.b FROM r GROUP BY r.b HAVING COUNT(*) <= 2",
        "SELECT r.b FROM r GROUP BY r.b HAVING COUNT(*) = 2",
        "SELECT r.b FROM r GROUP BY r.b HAVING NOT COUNT(*) >= 2",
        "SELECT r.b FROM r GROUP BY r.b HAVING COUNT(*) >= 0",
        "SELECT r.b FROM r GROUP BY r.b HAVING COUNT(*) >= 2 AND SUM(r.a) > 3",
        "SELECT r.b FROM r GROUP BY r.b HAVING COUNT(r.a) >= 2",
    ],
)
def test_other_questions_about_groups_need_all_ends(sql: str) -> None:
    assert checked(sql, r={"domain": {"b": [1, 2]}}).verdict is not Verdict.BOUNDED


@pytest.mark.parametrize("sql", [*COUNTED, *SETS])
def test_certificates_of_latest_ends_hold(sql: str) -> None:
    statement = checked(sql, r={"domain": {"b": [-1, 0, 1]}, "max_valid": 1000})
    found = proof_of(statement, certificate_of(statement))
    assert found.faults == ()
    assert found.entries is not None
    assert statement.circuit_bound is not None
    assert found.entries.most == statement.circuit_bound.entries.value
