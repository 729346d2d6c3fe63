"""Blocks alone: what batch SQL says at every timestamp, the same entries within M, on any batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

from streambound.criteria import bound as bound_module
from streambound.criteria import least_bound as least_bound_module
from streambound.criteria import synopsis as synopsis_module
from streambound.synopsis_exec.simulate import operator_of_circuit, relation_tables, tables_of
from streambound.synopsis_exec.sql_blocks import circuit_of_block
from streambound.synopsis_exec.synopsis_plan import bound_formula, synopsis_plan
from streambound_runtime.engine.loop import Engine
from streambound_runtime.operators import formula, plan
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.formula import value
from streambound_runtime.text import printed, read
from support.choices import Choices, drawn
from support.extremal_queries import make_extremal_query
from support.finite_queries import make_clipped_query, make_finite_query
from support.kernel_cases import Case, make_case, plan_of
from support.keyed_queries import make_keyed_statement
from support.operators import steps
from support.oracle import Oracle
from support.profiles import examples
from support.queries import EXECUTABLE, Features
from support.relation_queries import make_relation_statement
from support.streams import adversarial_rows, small_rows
from support.unequal_queries import make_unequal_query

CLASSES = [value for module in (plan, formula) for value in vars(module).values() if isinstance(value, type)]
Make = Callable[[Choices], Any]


def with_rows(make: Make) -> Callable[[Choices], Case]:
    def case(choices: Choices) -> Case:
        query = make(choices)
        rows = (adversarial_rows if choices.chance(40) else small_rows)(choices, query.catalog)
        return Case(query.sql, query.catalog, rows, (2, 5))

    return case


KINDS: dict[str, Callable[[Choices], Case]] = {
    "bags": lambda choices: make_case(choices, EXECUTABLE, (0, 4)),
    "windows and ends": lambda choices: make_case(choices, Features(windows=70, finite=30, timestamps=0), (0, 4)),
    "sets": lambda choices: make_case(choices, Features(distinct=100, windows=30), (0, 4)),
    "hostile": lambda choices: make_case(choices, replace(EXECUTABLE, streams=3), (0, 4), True),
    "finite": with_rows(make_finite_query),
    "clipped": with_rows(make_clipped_query),
    "extrema": with_rows(make_extremal_query),
}
FAMILIES: dict[str, Make] = {
    "keys": lambda choices: make_keyed_statement(choices, choices.chance(50)),
    "relations": lambda choices: make_relation_statement(choices, choices.chance(50)),
}


def check(case: Case, both: bool = False) -> Counter[str] | None:
    """Compare everything for one query, in ticks of one timestamp, too, if ``both``; None for one that no job runs."""
    query = plan_of(case)
    if query is None:
        return None
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
    limit = value(bound_formula(query), relation_tables(relations))
    assert limit is None or all(step.peak <= limit for step in (*one, *apart)), case.sql
    kinds = {"printed something": bool(results), "limited": limit is not None}
    return Counter(["run", *(name for name, holds in kinds.items() if holds)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_fixed_sample_equals_sql(kind: str) -> None:
    counts: Counter[str] = Counter()
    for seed in range(24 if kind == "extrema" else 12):
        counts += check(KINDS[kind](Choices.seeded(5000 + seed)), seed % 6 == 0) or Counter()
    assert counts["run"] > 5 and counts["printed something"] > 2, counts


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_fixed_sample_of_families_equals_sql(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A family wherever there is a table at all."""
    monkeypatch.setattr(synopsis_module, "MOST_WHOLE", 0)
    monkeypatch.setattr(synopsis_module, "MOST_TABLES", 0)
    counts: Counter[str] = Counter()
    for seed in range(12):
        counts += check(with_rows(FAMILIES[kind])(Choices.seeded(6000 + seed))) or Counter()
    assert counts["run"] > 5 and counts["printed something"] > 1, counts


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
    for module in (bound_module, least_bound_module):
        monkeypatch.setattr(module, "fewer", lambda one, other: True)
    counts: Counter[str] = Counter()
    bound_module.counted.cache_clear()
    for seed in range(24):
        counts += check(FEWER[kind](Choices.seeded(7000 + seed))) or Counter()
    bound_module.counted.cache_clear()
    assert counts["run"] > 3 and counts["printed something"], counts


@examples(30)
@given(drawn(lambda choices: choices.pick(list(KINDS.values()))(choices)))
def test_any_query_equals_sql(case: Case) -> None:
    assume(check(case) is not None)


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
    return operator_of_circuit(circuit_of_block(data, 0, {"S": {"a": "bigint", "ts": "bigint"}}), {})


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
