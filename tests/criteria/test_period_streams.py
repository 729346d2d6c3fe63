"""SEQ VT over streams of random rows, against DuckDB's answer at every point of time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from streambound.criteria.vocabulary import Verdict
from support.choices import Choices
from support.circuits import checked_circuit
from support.oracle import connection
from support.period_streams import PeriodRun, run_periods
from support.profiles import MORE
from support.snapshots import COLUMNS, HIGH, LOW, Generated, each_point, generated, history

_STATIC = "u"
"""The relation among the streams, in every second case."""


def catalog(static: bool, **more: Any) -> dict[str, Any]:
    """The random queries' tables as streams of rows with periods."""
    period = {"period": ["vb", "ve"]}
    columns = {name: {**kinds, "vb": "bigint", "ve": "bigint"} for name, kinds in COLUMNS.items()}
    own = {"timestamp": "vb", "max_per_timestamp": 7, **more}
    relations = {_STATIC: {"columns": columns[_STATIC], **period, "rows": 7}} if static else {}
    streams = {name: {"columns": kinds, **period, **own} for name, kinds in columns.items() if name not in relations}
    return {"time": {"domain": [LOW, HIGH]}, "streams": streams, "relations": relations}


def dicts(given: Generated) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [dict(zip((*COLUMNS[name], "vb", "ve"), row, strict=True)) for row in rows]
        for name, rows in given.rows.items()
    }


def random_frontiers(choices: Choices) -> list[int]:
    """Frontiers that may stand still, go from point to point, jump over all rows, or beyond the end of time."""
    return sorted(choices.integer(LOW - 2, HIGH + 3) for _ in range(choices.integer(0, 9)))


def ran(seed: int, given: Generated, emit: str = "", **more: Any) -> PeriodRun:
    choices = Choices.seeded(seed + 10**6)
    checked = checked_circuit(f"{emit}SEQ VT ({given.sql})", catalog(choices.integer(0, 1) == 1))
    assert checked.verdict is Verdict.BOUNDED, (given.sql, checked.diagnostics)
    if checked.circuit is None:  # it reads the relation only
        pytest.skip("no stream")
    return run_periods(checked, dicts(given), every=choices.integer(1, 4), **more)


def expected(given: Generated) -> Counter[tuple[Any, ...]]:
    return history(given, connection())


def test_it_is_what_the_snapshots_are() -> None:
    """At the end all is there; before, what has ended before the frontier; never more entries than M.

    Wherever time is cut, with restarts, and with a tick for each timestamp.
    """
    results, early, kept = 0, 0, 0
    for seed in range(20 * MORE):
        given, choices = generated(Choices.seeded(seed)), Choices.seeded(seed + 10**7)
        if not any(f"{name} AS" in given.sql for name in ("r", "s")):
            continue
        more = {"frontiers": random_frontiers(choices)} if choices.chance(40) else {}
        found, wanted = ran(seed, given, restarts=seed % 3 == 0, by_timestamp=seed % 4 == 0, **more), expected(given)
        assert found.all == wanted, given.sql
        assert found.limit is not None and max(found.entries) <= found.limit, given.sql
        printed = Counter[tuple[Any, ...]]()
        for until, rows in found.printed:
            printed += rows
            if until is not None and until < HIGH:
                assert printed == Counter({row: n for row, n in wanted.items() if row[-2] < until}), (given.sql, until)
        results += bool(found.all)
        early += any(rows for _, rows in found.printed[:-1])
        kept += max(found.entries) > 2
    assert results > 5 and early > 2 and kept > 2


@pytest.mark.parametrize("seed", range(5 * MORE))
def test_what_is_asked_for_a_part_of_time_keeps_the_rows_that_began_before(seed: int) -> None:
    """FROM … TO and AS OF: the same rows within it, and never more entries than M."""
    choices = Choices.seeded(seed)
    given, low = generated(choices), choices.integer(LOW, HIGH - 1)
    high = choices.integer(low + 1, HIGH)
    as_of = choices.chance(40)
    asked = f"AS OF {low}" if as_of else f"FROM {low} TO {high}"
    rows = dicts(given)
    together = max(Counter((name, row["vb"]) for name, some in rows.items() for row in some).values(), default=1)
    checked = checked_circuit(f"SEQ VT {asked} ({given.sql})", catalog(False, max_per_timestamp=together))
    assert checked.verdict is Verdict.BOUNDED, (given.sql, checked.diagnostics)
    found = run_periods(checked, rows, every=choices.integer(1, 4))
    wanted = Counter[tuple[Any, ...]]()
    for (*values, begin, end, mult), number in expected(given).items():
        within = (max(begin, low), min(end, low + 1 if as_of else high))
        if within[0] < within[1]:
            wanted[(*values, mult) if as_of else (*values, *within, mult)] += number
    assert found.all == wanted, (asked, given.sql)
    assert found.limit is not None and max(found.entries) <= found.limit, (asked, given.sql)


@pytest.mark.parametrize("part", ["FROM 8 TO 9", "AS OF 8"])
def test_a_part_of_time_does_not_say_how_long_rows_are_valid(part: str) -> None:
    columns = {"k": "string", "vb": "bigint", "ve": "bigint"}
    stream = {"columns": columns, "timestamp": "vb", "period": ["vb", "ve"], "max_per_timestamp": 1}
    sql = f"SEQ VT {part} (SELECT k FROM s)"
    assert checked_circuit(sql, {"streams": {"s": stream}}).verdict is Verdict.UNKNOWN
    checked = checked_circuit(sql, {"streams": {"s": {**stream, "max_duration": 100}}})
    assert (
        checked.circuit_bound is not None and checked.circuit_bound.entries.value == 200
    )  # as many result rows may be open
    rows = {"s": [{"k": f"k{time}", "vb": time, "ve": 100} for time in range(9)]}
    assert max(run_periods(checked, rows, every=1).entries) == 8
    within = {"time": {"domain": [0, 1000]}, "streams": {"s": stream}}
    checked = checked_circuit(sql, within)
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.value == 2000


@pytest.mark.parametrize("seed", range(200, 200 + 4 * MORE))
def test_fragments_are_the_result_in_parts(seed: int) -> None:
    """Together they have the result's history, and each is final when it is printed."""
    given = generated(Choices.seeded(seed))
    found = ran(seed, given, "-- streambound: emit fragments\n")
    since = LOW
    for until, rows in found.printed:
        ends = HIGH if until is None else until
        assert all(since <= row[-3] < row[-2] <= ends for row in rows), given.sql
        since = max(since, ends) if until is not None and until < HIGH else since
    assert each_point(found.all) == each_point(expected(given)), given.sql


PARTS = [
    "SELECT x.a FROM r AS x",
    "SELECT x.a + 1 AS c FROM r AS x WHERE x.b > 0 UNION ALL SELECT y.a FROM s AS y",
    "SELECT x.b, y.c FROM r AS x JOIN s AS y ON x.a = y.a",
    "SELECT x.b, y.c FROM r AS x JOIN s AS y ON x.a < y.a UNION ALL SELECT z.b, 'c' FROM r AS z",
    "SELECT x.b FROM r AS x JOIN u AS y ON x.b <> y.b WHERE y.d IS NOT NULL",
    "SELECT x.b, z.a FROM r AS x JOIN s AS y ON x.a = y.a JOIN r AS z ON z.b = x.b",
    "SELECT x.b, z.a FROM r AS x JOIN u AS y ON x.b = y.b JOIN s AS z ON z.a <> x.b",
]


@pytest.mark.parametrize("sql", PARTS)
def test_parts_are_whole_rows_that_are_summed_up(sql: str) -> None:
    """Each when the rows that it is made of have begun; at each point of time they are the result."""
    told = 0
    for seed in range(2 * MORE):
        given = replace(generated(Choices.seeded(seed)), sql=sql)
        found = ran(seed, given, "-- streambound: emit parts\n", restarts=seed % 2 == 1)
        assert each_point(found.all) == each_point(expected(given)), seed
        assert found.limit is not None and max(found.entries) <= found.limit
        until = LOW
        for frontier, rows in found.printed:
            assert all(row[-3] >= until or " u " in sql for row in rows), "its last row has just begun"
            until = until if frontier is None else frontier
        told += sum(found.all.values())
    assert told > 1


def test_parts_of_other_operators_are_refused() -> None:
    for sql in (
        "SELECT DISTINCT d FROM S",
        "SELECT COUNT(*) AS n FROM S GROUP BY d",
        "SELECT d FROM S EXCEPT SELECT 1",
    ):
        found = one(f"-- streambound: emit parts\nSEQ VT ({sql})", max_valid=3)
        assert found.verdict is Verdict.UNSUPPORTED
        assert found.diagnostics[0].message.startswith("emit parts is outside the query language here"), sql


def test_parts_need_no_memory_where_the_longest_rows_do() -> None:
    assert one("SEQ VT (SELECT 1 AS one FROM S)").verdict is Verdict.UNBOUNDED
    parts = one("-- streambound: emit parts\nSEQ VT (SELECT 1 AS one FROM S)")
    assert parts.verdict is Verdict.BOUNDED
    assert parts.circuit_bound.entries.value == 0
    joined = one("-- streambound: emit parts\nSEQ VT (SELECT 1 AS one FROM S JOIN S AS T ON S.n = T.n)", max_valid=3)
    assert joined.circuit_bound.entries.value == 3 + 3 + 3, "the rows of both sides, and the ends of the contract"


def test_sizes_are_not_nested() -> None:
    sql = "SEQ VT (SELECT DISTINCT d FROM S EXCEPT SELECT d FROM S INTERSECT SELECT d FROM S)"
    checked = one(sql, max_valid=3, max_duration=5, max_per_timestamp=2)
    assert checked.circuit_bound.entries.text == "5*min(3, 5*c_S)"


def one(sql: str, **more: Any) -> Any:
    columns = {"name": "string", "d": "tinyint", "n": "bigint", "vb": "bigint", "ve": "bigint"}
    stream = {"timestamp": "vb", "columns": columns, "period": ["vb", "ve"], **more}
    return checked_circuit(sql, {"streams": {"S": stream}})


@pytest.mark.parametrize(
    ("sql", "more", "entries"),
    [
        ("SELECT name FROM S", {"max_duration": 5, "max_per_timestamp": 2}, "10*c_S"),
        ("SELECT name FROM S", {"max_duration": 25, "max_rate": {"rows": 3, "per": 10}}, "6*rate_S"),
        ("SELECT name FROM S", {"max_valid": 5}, "15"),
        ("SELECT name FROM S", {"snapshot_key": ["d"]}, "771"),
        ("SELECT DISTINCT d FROM S", {}, "514"),
        ("SELECT DISTINCT n FROM S WHERE n IN (1, 4)", {}, "4"),
        ("SELECT d FROM S EXCEPT SELECT d FROM S", {}, "771"),
        ("SELECT d, MAX(d) AS m FROM S GROUP BY d", {}, "66306"),
    ],
)
def test_a_declaration_gives_a_number(sql: str, more: dict[str, Any], entries: str) -> None:
    checked = one(f"SEQ VT ({sql})", **more)
    assert checked.verdict is Verdict.BOUNDED
    assert checked.circuit_bound.entries.text == entries


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS one FROM S",
        "SELECT name FROM S",
        "SELECT DISTINCT n FROM S",
        "SELECT d, MAX(n) AS m FROM S GROUP BY d",
        "SELECT d, MIN(n) AS m FROM S GROUP BY d",
        "SELECT SUM(n) AS s FROM S WHERE name = 'x' AND n > 7 GROUP BY name",
    ],
)
def test_rows_that_are_told_apart_show_that_there_is_no_bound(sql: str) -> None:
    assert one(f"SEQ VT ({sql})").verdict is Verdict.UNBOUNDED


def test_without_such_rows_nothing_is_claimed() -> None:
    checked = one("SEQ VT (SELECT d FROM S EXCEPT ALL SELECT d FROM S)")
    assert checked.verdict is Verdict.UNKNOWN
    assert {found.code for found in checked.diagnostics} == {"SB207", "SB213"}


def test_what_is_printed_never_changes() -> None:
    assert one("-- streambound: emit changes\nSEQ VT (SELECT name FROM S)", max_valid=5).verdict == "unsupported"


def test_rows_that_conflict_are_put_aside() -> None:
    """Of a conflict the rows that begin later; of one begin all; what was accepted stays."""
    checked = one("SEQ VT (SELECT name, d FROM S)", snapshot_key=["d"], max_valid=2)
    rows = [
        ("a", 1, 0, 9),
        ("b", 1, 5, 7),
        ("c", 2, 5, 8),
        ("d", 2, 5, 6),
        ("e", 3, 6, 9),
        ("f", 4, 7, 8),
        ("g", 1, 9, 10),
    ]
    given = {"S": [{"name": n, "d": d, "n": 0, "vb": b, "ve": e} for n, d, b, e in rows]}
    for restarts in (False, True):
        found = run_periods(checked, given, restarts=restarts)
        told = sorted((row.values["name"], row.detail) for row in found.rejected)
        key, most = (f"the period breaks {what}" for what in ("snapshot_key = d", "max_valid = 2"))
        assert told == [("b", key), ("c", key), ("d", key), ("f", most)]
        assert sorted(row[0] for row in found.all) == ["a", "e", "g"]
        assert found.limit is not None and max(found.entries) <= found.limit


def test_extremes_of_a_relation_beside_a_stream_where_the_frontier_stands_still() -> None:
    """A row that goes on has no part in a slice of no time, and no segments to halve."""
    sql = "SELECT q.a, MAX(q.b) AS b FROM (SELECT a, b FROM r UNION ALL SELECT b, b FROM u) AS q GROUP BY q.a"
    given = Generated(sql, {"r": [(1, 2, 2, 9)], "s": [], "u": [(1, 0.5, 1, 8), (1, 0.5, 3, 4)]})
    checked = checked_circuit(f"SEQ VT ({sql})", catalog(True))
    assert run_periods(checked, dicts(given), frontiers=(4, 4, 6)).all == expected(given)
