"""WITH RECURSIVE … UNION: what bounds it (proposition F1), how much it keeps (F2), and what it prints."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.lower import lower
from streambound.api import catalog_of
from streambound.criteria.check import Checked
from streambound.incremental.evaluate import SourceChange, evaluate_once, ticks
from streambound.incremental.translate import translate
from support.circuits import Printed, checked_circuit, rounded, run_circuit
from support.prefixes import prefixes
from support.profiles import examples

Rows = dict[str, list[dict[str, Any]]]


def catalog(**domain: list[int]) -> Catalog:
    columns = {"a": "bigint", "b": "bigint", "ts": "bigint"}
    stream = {"timestamp": "ts", "columns": columns, "max_per_timestamp": 3, "domain": domain}
    return catalog_of({"streams": {"E": stream, "F": stream}})


SMALL = catalog(a=[0, 3], b=[0, 3])
REACHED = "WITH RECURSIVE r(x) AS (SELECT b FROM E WHERE a = 1 UNION SELECT E.b FROM r JOIN E ON E.a = r.x)"
CLOSURE = "WITH RECURSIVE r(x, y) AS (SELECT a, b FROM E UNION SELECT r.x, E.b FROM r JOIN E ON E.a = r.y)"


@pytest.mark.parametrize(
    ("sql", "domain", "verdict", "entries"),
    [
        (f"{REACHED} SELECT x FROM r", {"b": [0, 3]}, "bounded", 5 + 4 * 5),  # an edge's end may be NULL, not its start
        (f"{REACHED} SELECT x FROM r", {"a": [0, 3]}, "unbounded", None),
        (f"{CLOSURE} SELECT x, y FROM r", {"a": [0, 3], "b": [0, 3]}, "bounded", 5 * 5 + 4 * 5),
        (f"{CLOSURE} SELECT x, y FROM r", {"b": [0, 3]}, "unbounded", None),
        (f"{CLOSURE} SELECT x, y FROM r", {"a": [0, 3]}, "unbounded", None),
        (
            "WITH RECURSIVE r(x, n) AS (SELECT a, 1 FROM E UNION SELECT E.b, r.n + 1 FROM r JOIN E ON E.a = r.x "
            "WHERE r.n < 100) SELECT x, n FROM r",
            {"a": [0, 3], "b": [0, 3]},
            "bounded",
            5 * 100 + 4 * 5,
        ),
        (
            "WITH RECURSIVE r(x, n) AS (SELECT a, 1 FROM E UNION SELECT E.b, r.n + 1 FROM r JOIN E ON E.a = r.x) "
            "SELECT x, n FROM r",
            {"a": [0, 3], "b": [0, 3]},
            "unknown",
            None,
        ),
    ],
)
def test_the_verdict_and_the_bound_follow_from_the_columns_domains(
    sql: str, domain: dict[str, list[int]], verdict: str, entries: int | None
) -> None:
    found = checked_circuit(sql, catalog(**domain))
    assert found.verdict == verdict
    bound = found.circuit_bound
    assert (None if bound is None else bound.entries.value) == entries


def test_a_column_that_may_grow_is_named() -> None:
    sql = "WITH RECURSIVE r(n) AS (SELECT a FROM E UNION SELECT r.n + 1 FROM r) SELECT n FROM r"
    *_, problem = checked_circuit(sql, SMALL).diagnostics
    assert problem.message == "the values of r.n may grow with each step: every one must be remembered"
    assert problem.help.startswith("give the step a condition that ends it")
    assert problem.span is not None and sql[problem.span.column - 1 :].startswith("r.n + 1")


@pytest.mark.parametrize(
    "words, step",
    {
        "LEFT JOIN": "SELECT r.x FROM r LEFT JOIN E ON E.a = r.x",
        "SEMI JOIN": "SELECT r.x FROM r LEFT SEMI JOIN E ON E.a = r.x",
        "EXISTS over streams": "SELECT r.x FROM r WHERE EXISTS (SELECT 1 FROM E WHERE E.a = r.x)",
        "GROUP BY": "SELECT q.n FROM r JOIN (SELECT a, COUNT(*) AS n FROM E GROUP BY a) AS q ON q.a = r.x",
        "EXCEPT": "SELECT q.b FROM r JOIN (SELECT a, b FROM E EXCEPT SELECT a, b FROM F) AS q ON q.a = r.x",
    }.items(),
)
def test_a_step_that_is_no_join_has_no_rule(words: str, step: str) -> None:
    found = checked_circuit(f"WITH RECURSIVE r(x) AS (SELECT a FROM E UNION {step}) SELECT x FROM r", SMALL)
    assert found.verdict == "unsupported"
    assert f"{words} in the step of a recursion" in found.diagnostics[0].message


BASES = {1: ("SELECT E.b FROM E WHERE E.a = 1", "SELECT a FROM F"), 2: ("SELECT a, b FROM E", "SELECT b, 1 FROM E")}
STEPS = {
    1: (
        "SELECT E.b FROM r JOIN E ON E.a = r.x",
        "SELECT E.b FROM r JOIN E ON E.a = r.x OR E.b = r.x + 1",
        "SELECT E.b FROM r JOIN E ON E.a <> r.x WHERE r.x > 0",
        "SELECT F.b FROM r JOIN E ON E.a = r.x JOIN F ON F.a = E.b AND E.ts < F.ts",
        "SELECT p.x + 1 FROM r p JOIN r q ON p.x = q.x + 1 WHERE p.x < 5",
    ),
    2: (
        "SELECT r.x, E.b FROM r JOIN E ON E.a = r.y",
        "SELECT p.x, q.y FROM r p JOIN r q ON p.y = q.x",
        "SELECT r.y, r.x FROM r",
        "SELECT E.a, r.y + 1 FROM r JOIN E ON E.b < r.x WHERE r.y < 6",
    ),
}
SHOWN = {
    1: ("SELECT x FROM r", "SELECT COUNT(*) AS n, SUM(x) AS s FROM r"),
    2: ("SELECT x, y FROM r", "SELECT x, COUNT(*) AS n, MAX(y) AS m FROM r GROUP BY x", "SELECT * FROM r WHERE y > 1"),
}


@st.composite
def queries(draw: st.DrawFn) -> str:
    width = draw(st.sampled_from((1, 2)))
    base, step, shown = (draw(st.sampled_from(parts[width])) for parts in (BASES, STEPS, SHOWN))
    return f"WITH RECURSIVE r({'x' if width == 1 else 'x, y'}) AS ({base} UNION {step}) {shown}"


VALUES = st.one_of(st.none(), st.integers(0, 3))
ROWS = st.lists(st.tuples(st.sampled_from("EF"), VALUES, VALUES, st.integers(0, 4)), max_size=9)


@examples(25)
@given(queries(), ROWS)
def test_random_recursions_print_what_the_reference_evaluator_says_at_each_timestamp(
    sql: str, given: list[tuple[str, int | None, int | None, int]]
) -> None:
    checked = checked_circuit(sql, SMALL)
    assert checked.verdict == "bounded"
    rows: Rows = {name: [] for name in "EF" if re.search(rf"\b{name}\b", sql)}
    counts: Counter[tuple[str, int]] = Counter()
    for name, a, b, time in (row for row in given if row[0] in rows):
        counts[name, time] += 1
        if counts[name, time] <= 3:
            rows[name].append({"a": a, "b": b, "ts": time})
    run, bound = run_circuit(checked, rows), checked.circuit_bound
    assert run.prints(by_reference(checked, rows))
    assert bound is not None and bound.entries.value is not None and run.peak <= bound.entries.value


def by_reference(checked: Checked, rows: Rows) -> Printed:
    """The differences of the results of all prefixes."""
    named = sorted(source for source in rows if f" {source}" in checked.statement.sql)
    lowered = lower(checked.statement, SMALL)
    assert lowered.tree is not None
    circuit = translate(lowered.tree, SMALL, lowered.queries)
    changes = [
        SourceChange(n, tuple(None if v is None else Fraction(v) for v in r.values()), Fraction(r["ts"]))
        for n in named
        for r in rows[n]
    ]
    times, fed = ticks(changes)
    printed, before = Printed(), Counter[tuple[Any, ...]]()
    for time, prefix in zip(times, prefixes(fed), strict=True):
        now = Counter(dict(evaluate_once(circuit, prefix).items()))
        for row in before.keys() | now.keys():
            if more := now[row] - before[row]:
                printed[(*map(rounded, row), int(time))] += more
        before = now
    return printed


def test_the_time_of_a_recursive_relation_is_that_of_the_streams_that_it_reads() -> None:
    """Whatever the times of other streams of the catalog are."""
    columns = {"a": "tinyint", "b": "tinyint"}
    catalog = {
        "streams": {
            "other": {"timestamp": "ts", "columns": {**columns, "ts": "bigint"}},
            "E": {"timestamp": "ts", "columns": {**columns, "ts": "timestamp"}},
        }
    }
    step = "SELECT r.x, E.b FROM r JOIN E ON r.y = E.a"
    sql = f"WITH RECURSIVE r(x, y) AS (SELECT a, b FROM E UNION {step}) SELECT x FROM r"
    assert checked_circuit(sql, catalog).verdict == "bounded"
