"""P2: of streams of which nothing says how many rows are valid, snapshot keys are judged among those that are read."""

from __future__ import annotations

from collections import Counter

import pytest

from streambound.criteria.check import Checked
from streambound.criteria.vocabulary import Verdict
from support.choices import Choices
from support.circuits import certificate_of, checked_circuit, proof_of
from support.oracle import connection
from support.period_streams import PeriodRun, run_periods
from support.profiles import MORE
from support.snapshot_keys import Row, drawn, good
from support.snapshots import COLUMNS, LOW, Generated, each_point, history, until

QUERIES = {
    "SELECT r.a, r.b FROM r WHERE r.a IN (1, 2)": 6,
    "SELECT r.b FROM r WHERE r.a = 1 OR (r.a = 2 AND r.b > 1)": 6,
    "SELECT DISTINCT r.b FROM r WHERE r.a BETWEEN 0 AND 3 AND r.a <> 1": None,
    "SELECT r.a, MAX(r.b) AS m FROM r WHERE r.a IS NULL OR r.a = 0 GROUP BY r.a": None,
    "SELECT r.b, x.b AS c FROM r JOIN r AS x ON r.a >= x.a WHERE r.a IN (1, 2) AND x.a = 1": None,
    "SELECT r.b FROM r WHERE r.a = 1 UNION ALL SELECT r.b FROM r WHERE r.a = 2 AND r.b IS NOT NULL": None,
    "SELECT r.b FROM r WHERE r.a > 0 AND r.b = 1 AND r.a < 3": 5,
}
"""Statements, and M where it is plain: for each key the latest end, a valid row and, of each value, an open one."""


ALWAYS: dict[str, tuple[set[int | None], int | None]] = {
    "SELECT COUNT(*) AS n FROM r WHERE r.a IN (1, 2)": ({1, 2}, 2 + 2 + 1),
    "SELECT COUNT(*) AS n, MAX(r.b) AS m, SUM(DISTINCT r.b) AS s FROM r WHERE r.a = 1 AND r.b > 0": ({1}, None),
    "SELECT MIN(x.b) AS m FROM (SELECT r.a, r.b + 1 AS b FROM r WHERE r.a > 0) AS x WHERE x.a < 3": ({1, 2}, None),
    "SELECT COUNT(*) AS n FROM r JOIN r AS x ON r.b < x.b WHERE r.a IN (1, 2) AND x.a = 0": ({0, 1, 2}, None),
    "SELECT 1 AS n FROM r WHERE r.a = 3 UNION ALL SELECT COUNT(*) FROM r WHERE r.a IS NULL": ({3, None}, None),
}
"""Statements with rows at all of time; the keys that they read, and M where it is plain: with the sums' ends, too."""


def checked(sql: str, emit: str = "", key: tuple[str, ...] = ("a",)) -> Checked:
    streams = {"r": {"timestamp": "vb", "columns": {**COLUMNS["r"], "vb": "bigint", "ve": "bigint"}}}
    streams["r"] |= {"period": ["vb", "ve"], "snapshot_key": [*key]}
    return checked_circuit(f"{emit}SEQ VT ({sql})", {"time": {"domain": [LOW]}, "streams": streams})


def ran(found: Checked, seed: int, rows: list[Row]) -> PeriodRun:
    choices = Choices.seeded(seed)
    given = {"r": [dict(zip((*COLUMNS["r"], "vb", "ve"), row, strict=True)) for row in rows]}
    return run_periods(found, given, every=choices.integer(2, 8), restarts=choices.chance(50))


@pytest.mark.parametrize(("sql", "most"), QUERIES.items(), ids=list(QUERIES))
def test_results_are_those_of_the_good_rows(sql: str, most: int | None) -> None:
    statement, rejected, entries = checked(sql), 0, list[int]()
    assert statement.verdict is Verdict.BOUNDED, statement.diagnostics
    proof = proof_of(statement, certificate_of(statement))
    assert proof.faults == () and proof.entries is not None
    for seed in range(4 * MORE):
        rows = drawn(seed)
        wanted = history(Generated(sql, {"r": good(rows), "s": [], "u": []}), connection())
        run = ran(statement, seed, rows)
        assert run.all == wanted, seed
        assert run.limit == proof.entries.most and max(run.entries) <= run.limit
        assert most is None or run.limit == most
        rejected += len(run.rejected)
        entries.append(max(run.entries))
    assert rejected and max(entries) > 1


@pytest.mark.parametrize("emit", ["", "-- streambound: emit fragments\n"])
@pytest.mark.parametrize(("sql", "told"), ALWAYS.items(), ids=list(ALWAYS))
def test_rows_of_other_keys_tell_how_long_time_is(
    sql: str, told: tuple[set[int | None], int | None], emit: str
) -> None:
    (keys, most), statement, longer = told, checked(sql, emit), 0
    assert statement.verdict is Verdict.BOUNDED, statement.diagnostics
    proof = proof_of(statement, certificate_of(statement))
    assert proof.faults == () and proof.entries is not None
    for seed in range(2, 2 + 4 * MORE):
        rows = drawn(seed)[: 4 + seed]
        kept = good([row for row in rows if row[0] in keys])
        accepted = [*kept, *(row for row in rows if row[0] not in keys)]
        last = max(row[-1] for row in accepted)
        wanted = until(last, history(Generated(sql, {"r": kept, "s": [], "u": []}), connection()))
        run = ran(statement, seed, rows)
        assert each_point(run.all) == each_point(wanted), seed
        assert emit or run.all == wanted, seed
        assert run.limit == proof.entries.most and max(run.entries) <= run.limit
        assert most is None or emit or run.limit == most
        longer += last > max((row[-1] for row in kept), default=LOW)
    assert longer


def test_rows_of_other_keys_are_not_judged_and_not_remembered() -> None:
    statement = checked("SELECT r.b FROM r WHERE r.a = 1")
    rows = [(n, 1, 0, 90) for n in range(5, 25)] + [(7, 2, 1, 80), (1, 3, 2, 9), (1, 4, 3, 5)]
    run = ran(statement, 0, rows)
    assert run.all == Counter({(3, 2, 9, 1): 1})
    assert [row.values["b"] for row in run.rejected] == [4]
    assert max(run.entries) == 3, "the latest end, the valid row and the open one"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT r.b FROM r WHERE r.a > 0",
        "SELECT r.b FROM r WHERE r.b IN (1, 2)",
        "SELECT r.b FROM r WHERE r.a IN (1, 2) UNION ALL SELECT r.b FROM r",
        "SELECT COUNT(*) AS n FROM r WHERE r.b IN (1, 2)",
        "SELECT COUNT(*) AS n FROM r WHERE r.a = 1 UNION ALL SELECT COUNT(*) FROM r",
    ],
)
def test_where_some_part_reads_all_keys_nothing_is_bounded(sql: str) -> None:
    assert checked(sql).verdict is not Verdict.BOUNDED


def test_all_columns_of_a_key_have_few_values() -> None:
    assert checked("SELECT r.b FROM r WHERE r.a IN (1, 2)", key=("a", "b")).verdict is not Verdict.BOUNDED
    both = checked("SELECT r.b FROM r WHERE r.a IN (1, 2) AND r.b = 3", key=("a", "b"))
    assert both.verdict is Verdict.BOUNDED
    assert both.circuit_bound is not None and both.circuit_bound.entries.value == 5
