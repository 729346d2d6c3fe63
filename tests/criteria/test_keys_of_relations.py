"""P2, an equality with a relation: of a stream's rows those without a partner are not kept, and not judged."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from streambound.criteria.check import Checked
from streambound.criteria.vocabulary import Verdict
from support.choices import Choices
from support.circuits import certificate_of, checked_circuit, proof_of
from support.oracle import connection
from support.period_streams import run_periods
from support.profiles import MORE
from support.snapshot_keys import drawn, good
from support.snapshots import COLUMNS, HIGH, LOW, Generated, generated, history, until

ROWS = 7
QUERIES = {
    "SELECT r.b, s.c FROM r JOIN s ON r.a = s.a": ROWS + ROWS + ROWS * ROWS,
    "SELECT r.b FROM r LEFT SEMI JOIN s ON r.a = s.a": 3 * ROWS,
    "SELECT r.b FROM r WHERE r.a IN (SELECT s.a FROM s)": 3 * ROWS,
    "SELECT r.b FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.a = r.a AND s.c = 'x')": 3 * ROWS,
    "SELECT s.c, r.b FROM s LEFT JOIN r ON s.a = r.a": None,
    "SELECT s.c, r.b FROM r RIGHT JOIN s ON s.a = r.a AND r.b > 1": None,
    "SELECT s.c FROM s LEFT ANTI JOIN r ON s.a = r.a": 3 * ROWS,
    "SELECT r.b, s.c FROM r, s, u WHERE r.a = s.a AND u.b = r.b": None,
    "SELECT x.b, s.c FROM (SELECT r.a AS k, r.b FROM r WHERE r.b >= 0) AS x JOIN s ON x.k = s.a": None,
    "SELECT s.c, COUNT(*) AS n FROM r JOIN s ON r.a = s.a GROUP BY s.c": None,
    "SELECT r.b FROM r JOIN s ON r.a = s.a WHERE r.a <> 1 UNION ALL SELECT r.b FROM r WHERE r.a = 1": None,
}
"""Statements, and M where it is plain: the latest end of each key, its valid row, and the open rows of the result."""


def checked(sql: str, emit: str = "", key: tuple[str, ...] = ("a",), always: bool = False) -> Checked:
    """A statement over a stream of which nothing says how many rows are valid, and relations, which may be constant."""
    bounds = {"vb": "bigint", "ve": "bigint"}
    stream = {"timestamp": "vb", "columns": COLUMNS["r"] | bounds, "period": ["vb", "ve"], "snapshot_key": [*key]}
    relations: dict[str, Any] = {}
    for name in ("s", "u"):
        columns = COLUMNS[name] if always else COLUMNS[name] | bounds
        relations[name] = {"columns": columns, "rows": ROWS} | ({} if always else {"period": ["vb", "ve"]})
    return checked_circuit(
        f"{emit}SEQ VT ({sql})", {"time": {"domain": [LOW]}, "streams": {"r": stream}, "relations": relations}
    )


def compare(statement: Checked, given: Generated, seed: int) -> tuple[int, int]:
    """Assert that a job prints what batch evaluation does; returns how many rows were bad, and the most entries."""
    assert statement.catalog is not None
    choices, kept = Choices.seeded(seed), good(given.rows["r"])
    wanted = history(Generated(given.sql, {**given.rows, "r": kept}), connection())
    tables = [table for name in COLUMNS if (table := statement.catalog.table(name)) is not None]
    names = {table.name: [column.name for column in table.columns] for table in tables}
    rows = {name: [dict(zip(names[name], row, strict=False)) for row in given.rows[name]] for name in names}
    run = run_periods(statement, rows, every=choices.integer(2, 8), restarts=choices.chance(50))
    assert run.all == wanted, (seed, given.sql)
    assert run.limit is not None and max(run.entries) <= run.limit, (seed, given.sql)
    assert len(run.rejected) <= len(given.rows["r"]) - len(kept)
    return len(run.rejected), max(run.entries)


@pytest.mark.parametrize(
    ("sql", "most", "always"),
    [(*one, always) for n, one in enumerate(QUERIES.items()) for always in [False, True][: 1 + (n % 3 == 0)]],
)
def test_a_relation_says_how_many_keys_there_are(sql: str, most: int | None, always: bool) -> None:
    statement, rejected, entries = checked(sql, always=always), 0, list[int]()
    assert statement.verdict is Verdict.BOUNDED, statement.diagnostics
    assert statement.circuit_bound is not None
    proof = proof_of(statement, certificate_of(statement))
    assert proof.faults == () and proof.entries is not None
    assert most is None or statement.circuit_bound.entries.value == most
    for seed in range(1, 1 + MORE):
        rows = generated(Choices.seeded(seed)).rows
        if always:
            rows = {name: [(*row[:-2], LOW, HIGH) for row in rows[name]] for name in rows}
        bad, held = compare(statement, Generated(sql, {**rows, "r": drawn(seed)}), seed)
        rejected += bad
        entries.append(held)
    assert rejected and max(entries) > 1


ALWAYS = {
    "SELECT COUNT(*) AS n FROM r JOIN s ON r.a = s.a": 2 * ROWS + 1,
    "SELECT MAX(r.b) AS m FROM r WHERE r.a IN (SELECT s.a FROM s WHERE s.c = 'x') AND r.b > 0": None,
    "SELECT COUNT(x.b) AS n FROM s LEFT JOIN (SELECT r.a + 0 AS z, r.a, r.b FROM r) AS x ON s.a = x.a": None,
}
"""Statements with rows at all of time, and M where it is plain: the latest end and the valid row of each key."""


@pytest.mark.parametrize(("sql", "most"), ALWAYS.items(), ids=list(ALWAYS))
def test_rows_without_a_partner_tell_how_long_time_is(sql: str, most: int | None) -> None:
    statement, longer = checked(sql), 0
    assert statement.verdict is Verdict.BOUNDED, statement.diagnostics
    proof = proof_of(statement, certificate_of(statement))
    assert proof.faults == () and proof.entries is not None
    assert most is None or proof.entries.most == most
    for seed in range(4 * MORE):
        given, rows = generated(Choices.seeded(seed)).rows, drawn(seed)[: 4 + seed]
        partners = {row[0] for row in given["s"]} - {None}
        kept = good([row for row in rows if row[0] in partners])
        accepted = [*kept, *(row for row in rows if row[0] not in partners), *given["s"]]
        last = max(row[-1] for row in accepted)
        wanted = until(last, history(Generated(sql, {**given, "r": kept}), connection()))
        names = {"r": ("a", "b", "vb", "ve"), "s": ("a", "c", "vb", "ve")}
        found = {"r": rows, "s": given["s"]}
        run = run_periods(statement, {k: [dict(zip(names[k], row, strict=True)) for row in found[k]] for k in found})
        assert run.all == wanted, seed
        assert run.limit is not None and max(run.entries) <= run.limit, seed
        longer += last > max((row[-1] for row in (*kept, *given["s"])), default=LOW)
    assert longer


def test_rows_without_a_partner_are_neither_judged_nor_remembered() -> None:
    statement = checked("SELECT r.b, s.c FROM r JOIN s ON r.a = s.a", "-- streambound: emit fragments\n")
    rows = [(n, 1, 0, 11) for n in range(5, 25)] + [(7, 2, 1, 11), (1, 3, 2, 9), (1, 4, 3, 5), (None, 1, 0, 11)]
    names = {"r": ("a", "b", "vb", "ve"), "s": ("a", "c", "vb", "ve")}
    given = {"r": rows, "s": [(1, "x", 4, 8), (None, "y", 0, 12)]}
    run = run_periods(statement, {k: [dict(zip(names[k], row, strict=True)) for row in given[k]] for k in given})
    assert sum((Counter({row[:2]: row[3] - row[2]}) for row in run.all), Counter()) == {(3, "x"): 4}
    assert [row.values["b"] for row in run.rejected] == [4]
    assert max(run.entries) == 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT r.b, s.c FROM r LEFT JOIN s ON r.a = s.a",
        "SELECT r.b, s.c FROM r FULL OUTER JOIN s ON r.a = s.a",
        "SELECT r.b FROM r LEFT ANTI JOIN s ON r.a = s.a",
        "SELECT r.b FROM r JOIN s ON r.a > s.a",
        "SELECT r.b FROM r JOIN s ON r.a + 1 = s.a",
        "SELECT r.b FROM r JOIN u ON r.b = u.b",
        "SELECT r.b, s.c FROM r JOIN s ON r.a = s.a UNION ALL SELECT r.b, 'z' FROM r",
        "SELECT x.n FROM (SELECT r.b, COUNT(*) AS n FROM r GROUP BY r.b) AS x JOIN u ON x.b = u.b",
        "SELECT COUNT(*) AS n FROM r LEFT JOIN s ON r.a = s.a",
    ],
)
def test_where_rows_without_a_partner_play_a_part_nothing_is_bounded(sql: str) -> None:
    assert checked(sql).verdict is not Verdict.BOUNDED


def test_columns_of_one_relation_are_counted_together() -> None:
    sql = "SELECT r.b FROM r LEFT SEMI JOIN u AS x ON r.b = x.b WHERE r.a = 1"
    both = checked(sql, key=("a", "b"))
    assert both.circuit_bound is not None and both.circuit_bound.entries.value == 3 * ROWS
    assert checked(sql.replace("r.a = 1", "r.a > 1"), key=("a", "b")).verdict is not Verdict.BOUNDED


KEYED = {
    "SELECT r.x FROM r LEFT SEMI JOIN s ON r.a = s.a AND r.b = s.b": 3 * ROWS,
    "SELECT r.x, s.y FROM s LEFT JOIN r ON r.a = s.a AND r.b = s.b": None,
    "SELECT r.x FROM r WHERE (r.a, r.b) IN (SELECT s.a, s.b FROM s)": 3 * ROWS,
    "SELECT r.x FROM r JOIN s AS t ON r.a = t.a JOIN s ON r.b = s.b": None,
    "SELECT r.a, COUNT(*) AS n FROM r JOIN s USING (a, b) WHERE s.y > 0 GROUP BY r.a": None,
}


@pytest.mark.parametrize(("number", "sql"), [*enumerate(KEYED)], ids=list(KEYED))
def test_keys_of_several_columns_are_judged_together(number: int, sql: str) -> None:
    """Of all pairs of values come rows; those of the relation's pairs are kept, and judged; in fragments in turn."""
    most, emit = KEYED[sql], "-- streambound: emit fragments\n" * (number in (1, 2, 4))
    bounds = {"vb": "bigint", "ve": "bigint"}
    stream = {"columns": {"a": "bigint", "b": "bigint", "x": "bigint"} | bounds, "period": ["vb", "ve"]}
    stream |= {"timestamp": "vb", "snapshot_key": ["a", "b"]}
    relation = {"columns": {"a": "bigint", "b": "bigint", "y": "bigint"} | bounds, "period": ["vb", "ve"], "rows": ROWS}
    statement = checked_circuit(
        f"{emit}SEQ VT ({sql})", {"time": {"domain": [LOW]}, "streams": {"r": stream}, "relations": {"s": relation}}
    )
    assert statement.verdict is Verdict.BOUNDED, statement.diagnostics
    assert proof_of(statement, certificate_of(statement)).faults == ()
    pairs = [(a, b) for a in range(ROWS) for b in range(ROWS)]
    rows = [{"a": a, "b": b, "x": a + b, "vb": n, "ve": 200} for n, (a, b) in enumerate(pairs)]
    rows += [{"a": 2, "b": 2, "x": 9, "vb": 60, "ve": 61}, {"a": 1, "b": 2, "x": 9, "vb": 60, "ve": 61}]
    fixed = [{"a": a, "b": a, "y": a, "vb": 0, "ve": 300} for a in range(ROWS)]
    run = run_periods(statement, {"r": rows, "s": fixed})
    assert run.limit is not None and max(run.entries) <= run.limit
    assert most is None or run.limit == most - (ROWS if emit else 0)
    assert ([one.values["a"] for one in run.rejected] == [2]) == (" AS t " not in sql)


def test_random_queries_with_keys_of_relations() -> None:
    bounded = 0
    for seed in range(25 * MORE):
        given = generated(Choices.seeded(seed))
        if "r AS" not in given.sql or not any(f"{name} AS" in given.sql for name in ("s", "u")):
            continue
        statement = checked(given.sql)
        if statement.verdict is Verdict.BOUNDED:
            bounded += 1
            assert proof_of(statement, certificate_of(statement)).faults == (), given.sql
            compare(statement, Generated(given.sql, {**given.rows, "r": drawn(seed)}), seed)
    assert bounded >= MORE
