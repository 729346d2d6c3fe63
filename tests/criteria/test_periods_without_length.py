"""SEQ VT over streams whose rows may be valid for ever, where what is asked still needs bounded memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from streambound.criteria.check import Checked
from streambound.criteria.vocabulary import Verdict
from streambound.synopsis_exec.circuit_plan import make_circuit_plan
from support.choices import Choices
from support.circuits import checked_circuit
from support.oracle import connection
from support.period_streams import PeriodRun, run_periods
from support.profiles import MORE
from support.snapshots import COLUMNS, LOW, Generated, generated, history


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
    """A run in epochs of a random length, in every second one with restarts."""
    choices = Choices.seeded(seed)
    rows = {
        name: [dict(zip((*COLUMNS[name], "vb", "ve"), row, strict=True)) for row in rows]
        for name, rows in given.rows.items()
    }
    return run_periods(found, rows, every=choices.integer(1, 4), restarts=choices.chance(50))


def points(rows: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """How many copies of each value are there at each point of time."""
    found = Counter[tuple[Any, ...]]()
    for (*values, begin, end, count), n in rows.items():
        for time in range(begin, end):
            found[(*values, time)] += count * n
    return found


def peaks(sql: str, limit: int, seeds: range, **more: Any) -> list[int]:
    """The most entries of each run over random rows, whose results are those of all snapshots, in each emission."""
    found = list[int]()
    for seed in seeds:
        given = replace(generated(Choices.seeded(seed)), sql=sql)
        wanted = history(given, connection())
        for emit in ("", "-- streambound: emit fragments\n"):
            statement = checked(sql, emit, **more)
            assert statement.verdict is Verdict.BOUNDED, statement.diagnostics
            run = ran(statement, seed, given)
            assert not run.rejected
            assert (run.all == wanted) if not emit else (points(run.all) == points(wanted)), (sql, seed)
            assert run.limit is not None and max(run.entries) <= run.limit, (sql, seed)
            assert run.limit <= limit
            found.append(max(run.entries))
    return found


@pytest.mark.parametrize(
    "where",
    ["false", "r.a < 1 AND r.a > 2", "r.b = 1 AND r.b = 2", "r.a IS NULL AND r.a = 3", "r.b IN (1, 2) AND r.b = 3"],
)
@pytest.mark.parametrize("select", ["r.a", "DISTINCT r.a, r.b", "r.a, COUNT(*) AS n", "r.a, MAX(r.b) AS n"])
def test_of_rows_that_satisfy_nothing_none_is_kept(where: str, select: str) -> None:
    group = " GROUP BY r.a" if "n" in select.split() else ""
    assert set(peaks(f"SELECT {select} FROM r WHERE {where}{group}", 0, range(3 * MORE))) == {0}


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
    (stream,) = make_circuit_plan(statement.circuit, statement.statement, statement.catalog).inputs
    assert {"vb", "ve"} <= {column.name for column in stream.columns}
