"""Conditions that follow from those of a join's other side: where they stand, and that no row is lost by them."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import Checked, check_source
from streambound.criteria.vocabulary import Verdict
from streambound.temporal.snapshot import SnapshotBlock
from streambound_runtime.operators.period_plan import SliceFilter, SlicePlan, SliceRelation, inputs_of
from support.choices import Choices
from support.circuits import certificate_of, proof_of
from support.oracle import connection
from support.period_streams import run_periods
from support.profiles import MORE
from support.snapshot_keys import drawn, good
from support.snapshots import COLUMNS, LOW, Generated, generated, history

EXISTS = "SELECT r.b FROM r WHERE r.a = 1 AND"
BOUNDS = {"vb": "bigint", "ve": "bigint"}


def catalog(streams: tuple[str, ...] = ()) -> dict[str, Any]:
    """Relations; some are streams with a snapshot key."""
    tables: dict[str, Any] = {n: {"columns": c | BOUNDS, "period": ["vb", "ve"]} for n, c in COLUMNS.items()}
    more = {name: {"timestamp": "vb", "snapshot_key": [next(iter(COLUMNS[name]))]} for name in streams}
    return {
        "time": {"domain": [LOW]},
        "streams": {name: tables.pop(name) | more[name] for name in streams},
        "relations": {name: table | {"rows": 7} for name, table in tables.items()},
    }


def conditions(sql: str) -> dict[str, list[str]]:
    """The conditions right above each table."""
    (checked,) = check_source(SourceText("q.sql", f"SEQ VT ({sql})"), catalog_from_mapping(catalog()))
    assert checked.blocks is not None and isinstance(checked.blocks.blocks[0], SnapshotBlock), checked.diagnostics
    found: dict[str, list[str]] = {}

    def look(plan: SlicePlan) -> None:
        if isinstance(plan, SliceFilter) and isinstance(plan.input, SliceRelation):
            found.setdefault(plan.input.table, []).append(plan.condition)
        for under in inputs_of(plan):
            look(under)

    look(checked.blocks.blocks[0].query.plan)
    return found


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT s.c FROM r JOIN s ON r.a = s.a WHERE r.a = 1", {"r": ["c0 = 1"], "s": ["c0 = 1"]}),
        ("SELECT s.c FROM r JOIN s USING (a) WHERE a IN (1, 2)", {"r": ["c0 IN (1, 2)"], "s": ["c0 IN (1, 2)"]}),
        ("SELECT r.b FROM r LEFT JOIN s ON s.a = r.a WHERE r.a > 1", {"r": ["c0 > 1"], "s": ["c0 > 1"]}),
        ("SELECT s.c FROM r RIGHT JOIN s ON s.a = r.a WHERE s.a > 1", {"r": ["c0 > 1"], "s": ["c0 > 1"]}),
        (f"{EXISTS} EXISTS (SELECT 1 FROM s WHERE s.a = r.a)", {"r": ["c0 = 1"], "s": ["c0 = 1"]}),
        (f"{EXISTS} NOT EXISTS (SELECT 1 FROM s WHERE s.a = r.a)", {"r": ["c0 = 1"], "s": ["c0 = 1"]}),
        ("SELECT r.b FROM r LEFT ANTI JOIN s ON s.a = r.a AND s.a = 1", {"s": ["c0 = 1"]}),
        ("SELECT r.b FROM r LEFT JOIN s ON s.a = r.a AND s.a = 1", {"s": ["c0 = 1"]}),
        ("SELECT r.b FROM r FULL JOIN s ON s.a = r.a AND s.a = 1", {}),
        ("SELECT r.b FROM r JOIN s ON s.a < r.a WHERE s.a = 1", {"s": ["c0 = 1"]}),
        ("SELECT r.b FROM r JOIN s ON s.a = r.a WHERE s.a = s.a + 0", {"s": ["c0 = c0 + 0"]}),
        ("SELECT r.b FROM r JOIN s ON s.c = r.a WHERE s.c < '2'", {"s": ["c1 < '2'"]}),
        ("SELECT r.b FROM r JOIN s ON s.a = r.b WHERE s.a < 2", {"r": ["c1 < 2"], "s": ["c0 < 2"]}),
        (
            "SELECT u.d FROM r JOIN s ON s.a = r.a JOIN u ON u.b = s.a WHERE r.a BETWEEN 0 AND 2",
            {"r": ["c0 BETWEEN 0 AND 2"], "s": ["c0 BETWEEN 0 AND 2"], "u": ["c0 BETWEEN 0 AND 2"]},
        ),
        (
            "SELECT g.n FROM (SELECT a, COUNT(*) AS n FROM r WHERE a = 2 GROUP BY a) AS g JOIN s ON s.a = g.a",
            {"r": ["c0 = 2"], "s": ["c0 = 2"]},
        ),
        (
            "SELECT x.k FROM (SELECT a AS k, b FROM r) AS x JOIN s ON s.a = x.k WHERE x.k <> 1 AND x.b = 3",
            {"r": ["c0 <> 1 AND c1 = 3"], "s": ["c0 <> 1"]},
        ),
        (
            "SELECT x.a FROM (SELECT a FROM r UNION ALL SELECT a FROM s WHERE c = 'x') AS x WHERE x.a IN (1, 2)",
            {"r": ["c0 IN (1, 2)"], "s": ["c1 = 'x' AND c0 IN (1, 2)"]},
        ),
        (
            "SELECT x.a FROM (SELECT a FROM r EXCEPT ALL SELECT a FROM s) AS x JOIN u ON u.b = x.a WHERE x.a = 1",
            {"r": ["c0 = 1"], "s": ["c0 = 1"], "u": ["c0 = 1"]},
        ),
        (
            "SELECT d FROM (SELECT a FROM r WHERE b = 1 UNION SELECT a FROM s) AS x JOIN u ON u.b = x.a WHERE x.a = 1",
            {"r": ["c1 = 1 AND c0 = 1"], "s": ["c0 = 1"], "u": ["c0 = 1"]},
        ),
        ("SELECT x.b FROM (SELECT b FROM r UNION ALL SELECT d FROM u) AS x WHERE x.b = 1", {}),
        ("SELECT x.a FROM (SELECT a FROM r UNION ALL SELECT a FROM s) AS x WHERE x.a + 1 = 2", {}),
    ],
)  # fmt: skip
def test_where_conditions_stand(sql: str, expected: dict[str, list[str]]) -> None:
    assert conditions(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT r.b, s.c FROM r JOIN s ON r.a = s.a WHERE r.a IN (1, 2)",
        "SELECT r.b, s.c FROM r LEFT JOIN s ON r.a = s.a WHERE r.a = 1 OR r.a = 3",
        "SELECT r.b FROM r WHERE r.a = 1 AND NOT EXISTS (SELECT 1 FROM s WHERE s.a = r.a)",
        "SELECT s.c FROM r RIGHT JOIN s USING (a) WHERE s.a BETWEEN 0 AND 2",
        "SELECT g.a, g.n FROM (SELECT a, COUNT(*) AS n FROM r GROUP BY a) AS g JOIN s USING (a) WHERE a IN (0, 2)",
        "SELECT r.b, s.c, u.d FROM r JOIN s ON r.a = s.a JOIN u ON u.b = s.a",
        "SELECT r.b, s.c, u.d FROM u JOIN r ON u.b = r.a LEFT JOIN s ON s.a = u.b",
        "SELECT r.b, s.c FROM u LEFT JOIN r ON u.b = r.a LEFT JOIN s ON s.a = u.b",
        "SELECT r.b FROM r WHERE r.a IN (SELECT u.b FROM u) AND NOT EXISTS (SELECT 1 FROM s WHERE s.a = r.a)",
        "SELECT g.n, s.c FROM (SELECT a, COUNT(*) AS n FROM r GROUP BY a) AS g JOIN u ON u.b = g.a JOIN s USING (a)",
        "SELECT x.a, u.d FROM (SELECT a FROM r UNION SELECT a FROM s) AS x JOIN u ON u.b = x.a",
        "SELECT x.a, u.d FROM (SELECT a FROM r EXCEPT ALL SELECT a FROM s) AS x JOIN u ON u.b = x.a",
        "SELECT x.a, u.d FROM (SELECT DISTINCT a FROM r) AS x JOIN u ON u.b = x.a JOIN s ON s.a = u.b AND s.c > 'x'",
        "SELECT x.a FROM (SELECT a FROM r EXCEPT SELECT a FROM s) AS x WHERE x.a IN (1, 2)",
        "SELECT x.a FROM (SELECT a FROM r WHERE b > 0 UNION ALL SELECT a FROM s) AS x WHERE x.a IS NULL OR x.a = 1",
        "SELECT x.a FROM (SELECT a FROM r INTERSECT ALL SELECT a FROM s) AS x WHERE x.a BETWEEN 0 AND 2",
        "SELECT x.b, y.b AS z FROM r AS x JOIN u ON u.b = x.a JOIN r AS y ON y.a = x.a JOIN s ON s.a = y.a",
    ],
)
def test_what_bounds_one_stream_bounds_the_other_one(sql: str) -> None:
    """Their snapshot keys are judged among these values only."""
    (statement,) = check_source(SourceText("q.sql", f"SEQ VT ({sql})"), catalog_from_mapping(catalog(("r", "s"))))
    assert statement.verdict is Verdict.BOUNDED, statement.diagnostics
    proof = proof_of(statement, certificate_of(statement))
    assert proof.faults == () and proof.entries is not None
    for seed in range(MORE):
        compare(statement, sql, seed)


def compare(statement: Checked, sql: str, seed: int) -> None:
    """Assert that a job prints what batch evaluation of the good rows does, and keeps no more than M."""
    choices = Choices.seeded(seed)
    second = [(key, choices.pick(["x", "y"]), begin, end) for key, _, begin, end in drawn(seed + 1000)]
    rows = {"r": drawn(seed), "s": second, "u": generated(choices).rows["u"]}
    kept = {name: mine if name == "u" else good(mine) for name, mine in rows.items()}
    wanted = history(Generated(sql, kept), connection())
    named = {n: [dict(zip((*COLUMNS[n], *BOUNDS), row, strict=True)) for row in mine] for n, mine in rows.items()}
    run = run_periods(statement, named, every=choices.integer(2, 8), restarts=choices.chance(50))
    assert run.all == wanted, (sql, seed)
    assert run.limit is not None and max(run.entries) <= run.limit, (sql, seed)


KEYS = {"r": "r.a", "s": "s.a", "u": "u.b"}
OTHERS = {"r": "r.b", "s": "s.c", "u": "u.d"}


def drawn_joins(choices: Choices) -> str:
    """Joins of the three by their keys, in any order and of any kind, perhaps with a list for one of the keys."""
    order = choices.pick(["rsu", "rus", "sru", "sur", "urs", "usr"])
    kinds = ["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"]
    text, seen = order[0], [order[0]]
    for table in order[1:]:
        kind = choices.pick(kinds)
        text += f" {kind} {table} ON {KEYS[choices.pick(seen)]} = {KEYS[table]}"
        seen += [table] if "SEMI" not in kind and "ANTI" not in kind else []
    key = KEYS[choices.pick(seen)]
    where = choices.pick(["", "", f" WHERE {key} IN (0, 2)", f" WHERE {key} = 1", f" WHERE {key} IS NULL OR {key} = 1"])
    distinct = choices.pick(["", "DISTINCT "])
    return f"SELECT {distinct}{', '.join(f'{OTHERS[one]} AS c{n}' for n, one in enumerate(seen))} FROM {text}{where}"


def test_random_joins_of_two_streams_and_a_relation() -> None:
    bounded = 0
    for seed in range(8 * MORE):
        sql = drawn_joins(Choices.seeded(seed))
        (statement,) = check_source(SourceText("q.sql", f"SEQ VT ({sql})"), catalog_from_mapping(catalog(("r", "s"))))
        if statement.verdict is Verdict.BOUNDED:
            bounded += 1
            assert proof_of(statement, certificate_of(statement)).faults == (), sql
            compare(statement, sql, seed)
    assert bounded
