"""Blocks alone: what batch SQL says at every timestamp, the same entries within a certified M, on any batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from streambound.criteria import bound as bound_module
from streambound.synopsis_exec.simulate import operator_of_circuit, relation_tables, tables_of
from streambound.synopsis_exec.sql_blocks import sql_block
from streambound.synopsis_exec.synopsis_plan import bound_formula, synopsis_plan
from streambound_runtime.engine.loop import Engine
from streambound_runtime.engine.plan import CircuitPlan
from streambound_runtime.operators import formula, plan
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.formula import value
from streambound_runtime.text import printed, read
from support.catalogs import PLAIN, with_relation
from support.certificates import rejections
from support.choices import Choices
from support.extremal_queries import make_extremal_query
from support.finite_queries import make_clipped_query, make_finite_query
from support.kernel import formula_value
from support.kernel_cases import Case, make_case, make_cuts, plan_of
from support.operators import steps
from support.oracle import Oracle
from support.product import decided
from support.profiles import MORE
from support.queries import EXECUTABLE, Features
from support.relation_queries import make_relation_statement
from support.streams import Rows, adversarial_rows, small_rows
from support.unequal_queries import make_unequal_query

CLASSES = [value for module in (plan, formula) for value in vars(module).values() if isinstance(value, type)]
Make = Callable[[Choices], Any]


def with_rows(make: Make) -> Callable[[Choices], Case]:
    def case(choices: Choices) -> Case:
        query = make(choices)
        rows = (adversarial_rows if choices.chance(40) else small_rows)(choices, query.catalog)
        return Case(query.sql, query.catalog, rows, (2, 5))

    return case


RELATED = with_relation(PLAIN)
CONDITIONS = (
    "S.a = S.b", "S.b = S.a + 2", "S.ts = U.ts", "S.a = U.a + 1", "U.b = S.b - 1", "T.a = T.b", "S.a < T.a",
    "S.b < T.a", "T.b < S.a", "U.a < T.b", "U.a >= T.a", "S.a <> R.a", "T.a <> R.a", "U.b <> R.b", "S.a <= R.b",
    "R.a < T.b",
)  # fmt: skip
"""Equalities within a row and between streams, inequalities across, and ``<>`` with a relation."""


def _of_classes(choices: Choices) -> Case:
    sources = ("S", "T", "U", "R")
    bounds = [f"{source}.{column} BETWEEN {choices.integer(-1, 1)} AND {choices.integer(1, 3)}"
              for source in sources[:3] for column in "ab" if choices.chance(20)]  # fmt: skip
    bounds += [f"{source}.{column} {choices.pick(['> -1', '< 4'])}"
               for source in sources[:3] for column in "ab" if choices.chance(55)]  # fmt: skip
    chosen = [condition for condition in CONDITIONS if choices.chance(14)]
    where = " AND ".join(["T.ts > S.ts", "T.ts > U.ts", *bounds, *chosen])
    output = choices.pick(["1 AS x", "1 AS x", "S.a", "T.a"])
    sql = f"SELECT {output} FROM {', '.join(sources)} WHERE {where}"
    return Case(sql, RELATED, small_rows(choices, RELATED, 8), make_cuts(choices, (0, 4), 8))


KINDS: dict[str, Callable[[Choices], Case]] = {
    "bags": lambda choices: make_case(choices, EXECUTABLE, (0, 4)),
    "windows and ends": lambda choices: make_case(choices, Features(windows=70, finite=30, timestamps=0), (0, 4)),
    "sets": lambda choices: make_case(choices, Features(distinct=100, windows=30), (0, 4)),
    "hostile": lambda choices: make_case(choices, replace(EXECUTABLE, streams=3), (0, 4), True),
    "finite": with_rows(make_finite_query),
    "clipped": with_rows(make_clipped_query),
    "extrema": with_rows(make_extremal_query),
    "equalities and inequalities": _of_classes,
}


def check(case: Case, both: bool = False) -> Counter[str] | None:
    """Compare everything for one query, in ticks of one timestamp, too, if ``both``; None for one that no job runs."""
    query = plan_of(case)
    if query is None:
        return None
    decision = decided(case.sql, case.catalog)
    assert decision.bound is not None and not rejections(decision, decision.bound), case.sql
    data = synopsis_plan(query)
    assert read(printed(data), CLASSES) == data
    relations, encoded = case.encoded()
    one = list(steps(query, relations, encoded, case.cuts))
    apart = list(steps(query, relations, encoded, case.cuts, True)) if both else one
    assert apart == one, case.sql
    results: dict[int, Counter[tuple[Any, ...]]] = {}
    for now, n, values in (result for step in one for result in step.results):
        results.setdefault(now, Counter())[values] += n
    expected = Oracle(case.catalog, case.rows).prefix_expected(case.sql)
    assert results == {now: new for now, new in expected.items() if new}, case.sql
    limits = (
        value(bound_formula(query), relation_tables(relations)),
        formula_value(decision, case.catalog, case.rows),
    )
    limit = min((limit for limit in limits if limit is not None), default=None)
    assert limit is None or all(step.peak <= limit for step in (*one, *apart)), case.sql
    tables = [table for branch in query.branches for table in branch.tables]
    kinds = {
        "printed something": bool(results),
        "limited": limit is not None,
        "extrema": any(table.extrema for table in tables),
        "clipped": any(attribute.limiting for table in tables for attribute in table.key),
    }
    return Counter(["run", *(name for name, holds in kinds.items() if holds)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_fixed_sample_equals_sql(kind: str) -> None:
    counts: Counter[str] = Counter()
    for seed in range((24 if kind == "extrema" else 12) * MORE):
        counts += check(KINDS[kind](Choices.seeded(5000 + seed)), seed % 6 == 0) or Counter()
    assert counts["run"] > 5 and counts["printed something"] > 2, counts
    assert kind not in ("clipped", "extrema") or counts[kind] > 2, counts


@pytest.mark.parametrize(
    "where",
    [
        "S.b BETWEEN 0 AND 2 AND (3 < S.b OR S.b <> 0)",
        "S.b >= 0 AND (S.a = 1 OR S.b <> 0)",
        "S.a > 0 AND S.a < 4 AND (S.a <> 3 OR 0 > S.a)",
        "T.a BETWEEN 0 AND 1 AND (T.a <> 1 OR 1 < T.a OR S.b + 2 < T.a)",
        "T.b = 1 AND NOT (T.b = 1 AND S.a = 1)",
    ],
)
def test_an_inequality_inside_an_or(where: str) -> None:
    """A ``<>`` that tightens a bound of another conjunct is still a condition of its own."""
    sql = f"SELECT S.a, S.b FROM S, T WHERE S.ts > T.ts AND {where}"
    assert printed_of(sql, PLAIN, (small_rows(Choices.seeded(seed), PLAIN) for seed in range(5)))


INTEGERS = {"a": "bigint", "b": "bigint", "ts": "bigint"}
ALIKE: dict[str, Any] = {
    "streams": {
        "S-1": {"timestamp": "ts", "columns": INTEGERS, "max_per_timestamp": 5},
        "S_1": {"timestamp": "ts", "columns": INTEGERS, "max_per_timestamp": 1},
        "T": {"timestamp": "ts", "columns": INTEGERS, "max_per_timestamp": 3},
    },
    "relations": {"R": {"columns": {"a_b": "bigint"}}, "R_a": {"columns": {"b": "bigint"}}},
}
"""Names that become the same when their parts are joined by underscores."""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS x FROM S_1 S, T, R_a, R WHERE T.ts > S.ts AND S.a < R.a_b AND T.a > R_a.b AND S.a < T.a",
        "SELECT x.a, y.a AS b FROM `S-1` x, S_1 y, T WHERE T.ts > x.ts AND T.ts <= x.ts + 3 AND T.ts > y.ts "
        "AND T.ts <= y.ts + 3",
        "SELECT S.a FROM S_1 S, T, R WHERE T.ts > S.ts AND S.a < R.a_b AND S.a > 0 UNION ALL "
        "SELECT S.a FROM `S-1` S, T, R_a WHERE T.ts > S.ts AND S.a < R_a.b AND S.a > 0",
    ],
)
def test_names_that_only_joining_makes_equal(sql: str) -> None:
    rows = (adversarial_rows(Choices.seeded(seed), ALIKE) for seed in range(3))
    assert printed_of(sql, ALIKE, ({**one, "R": [{"a_b": 20}], "R_a": [{"b": -5}]} for one in rows))


def printed_of(sql: str, catalog: dict[str, Any], rows: Iterable[Rows]) -> int:
    """How often a query prints something of some rows, each compared."""
    counts = [check(Case(sql, catalog, one)) for one in rows]
    assert all(one is not None and one["limited"] for one in counts)
    return sum(one["printed something"] for one in counts if one is not None)


def _unequal(choices: Choices) -> Case:
    sql, catalog = make_unequal_query(choices)
    return Case(sql, catalog, small_rows(choices, catalog), (2, 5))


FEWER: dict[str, Callable[[Choices], Case]] = {
    "late relations": with_rows(lambda choices: make_relation_statement(choices, False)),
    "unequal": _unequal,
}


@pytest.mark.parametrize("kind", FEWER)
def test_a_fixed_sample_of_what_may_take_fewer_entries_equals_sql(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relations are joined late, and ``<>`` is a test where partners meet, wherever they can."""
    monkeypatch.setattr(bound_module, "fewer", lambda one, other: True)
    counts: Counter[str] = Counter()
    bound_module.counted.cache_clear()
    for seed in range(24 * MORE):
        counts += check(FEWER[kind](Choices.seeded(7000 + seed))) or Counter()
    bound_module.counted.cache_clear()
    assert counts["run"] > 3 and counts["printed something"], counts


SCAN = plan.TableScan("S", (("s_a", "a"),), ("s_a",))
ONE = plan.SynopsisPlan(
    "result",
    ("a",),
    ("BIGINT",),
    (
        plan.Subplan(
            (SCAN,), (), (), (plan.Transition(target=None, joins=(plan.JoinStep(scan=0),), values=(plan.Term("s_a"),)),)
        ),
    ),
)


def engine(data: plan.SynopsisPlan) -> Engine:
    block = sql_block(data, {"S": {"a": "bigint", "ts": "bigint"}})
    return operator_of_circuit(CircuitPlan(data.columns, 0, (block,)), {})


def test_too_many_duplicates_are_an_error() -> None:
    rows = Delta(np.array([1, 1, 2]), np.array([1, 2, 3]), {"a": np.array([7, 7, 7])})
    assert engine(replace(ONE, most=3)).step({"S": rows}).weights().tolist() == [3, 3]
    with pytest.raises(OverflowError, match="a result at timestamp 1 has more than 2 duplicates"):
        engine(replace(ONE, most=2)).step({"S": rows})


def test_integers_beyond_64_bits_and_nulls_survive_the_state() -> None:
    table = plan.Table("{S}", ("s_a",))
    keep = plan.Transition(target=0, joins=(plan.JoinStep(scan=0),), values=(plan.Term("s_a", 2**70),))
    data = plan.SynopsisPlan("result", (), (), (plan.Subplan((SCAN,), (), (table,), (keep,)),))
    rows = Delta(np.array([1, 1, 1]), np.array([5, 2**70, 3], dtype=object),
                 {"a": np.array([-4, 9, 0])}, {"a": np.array([False, False, True])})  # fmt: skip
    first = engine(data)
    first.step({"S": rows})
    other = engine(data)
    other.load(first.dump())
    assert tables_of(other) == tables_of(first) == {"{S}": {(2**70 - 4,): 5, (2**70 + 9,): 2**70, (None,): 3}}
