"""The facts of views are a lattice: joins are least upper ends, and each transfer rule keeps the order."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from streambound.analyzer.algebra.lowering import Lowering
from streambound.analyzer.algebra.nodes import Aggregate, Distinct, Filter, Join, JoinKind, Project, Tree, Union, inputs
from streambound.analyzer.algebra.rules.aggregate import aggregate
from streambound.analyzer.algebra.rules.joins import join
from streambound.analyzer.algebra.rules.operator_input import OperatorInput
from streambound.analyzer.algebra.rules.select_list import projected
from streambound.analyzer.algebra.rules.selection import distinct, filtered
from streambound.analyzer.algebra.rules.set_operations import union
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.value_sets import ANYTHING, NOTHING, ValueSet, between, of_values
from streambound.analyzer.algebra.view_facts import NOW, ColumnFacts, TimePromise, ViewFacts, ViewKind, promises
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.findings import Positions
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from support.cases import catalog
from support.choices import Choices

SEEDS = range(120)


def values(choices: Choices) -> ValueSet:
    match choices.integer(0, 3):
        case 0:
            return choices.pick([ANYTHING, NOTHING, replace(ANYTHING, null=False)])
        case 1:
            return of_values([choices.integer(-3, 6) for _ in range(choices.integer(0, 4))], choices.chance(50))
        case 2:
            low = choices.integer(-300, 3)
            return between(low, low + choices.pick([2, 400]), choices.chance(50))
    ends = choices.integer(-4, 4)
    return between(ends, None, choices.chance(50)) if choices.chance(50) else between(None, ends, choices.chance(50))


def promise(choices: Choices, source: str) -> TimePromise:
    low = choices.pick([None, *range(-4, 1)])
    high = choices.pick([None, *range(5)])
    return TimePromise(source, low, high)


def column(choices: Choices) -> ColumnFacts:
    times = promises(promise(choices, source) for source in (NOW, "S") if choices.chance(60))
    return ColumnFacts(values(choices), times)


def view(choices: Choices, width: int) -> ViewFacts:
    kind = choices.pick(list(ViewKind))
    columns = tuple(column(choices) for _ in range(width))
    keys = tuple(frozenset((name,)) for name in ("s.a", "s.b") if choices.chance(40))
    latest = choices.pick([None, frozenset(("S",))])
    return ViewFacts(kind, keys, choices.pick([None, 0, 3, 9]), columns, choices.pick([None, 0, 5]), latest)


@pytest.mark.parametrize("make", [values, column, lambda choices: view(choices, 2)], ids=["values", "column", "view"])
def test_a_join_is_the_least_of_what_is_above_both(make: object) -> None:
    ordered = 0
    for seed in SEEDS:
        choices = Choices.seeded(seed)
        x, y, z = (make(choices) for _ in range(3))  # type: ignore[operator]
        both = x.join(y)
        assert x.within(both) and y.within(both)
        assert x.within(x) and x.join(x).within(x)
        assert both.within(y.join(x)) and y.join(x).within(both)
        assert both.join(z).within(x.join(y.join(z))) and x.join(y.join(z)).within(both.join(z))
        for above in (z, z.join(y).join(x)):
            if x.within(above) and y.within(above):
                assert both.within(above)
                ordered += 1
    assert ordered >= len(SEEDS)


def test_what_two_sets_have_in_common_is_in_both_and_the_most() -> None:
    for seed in SEEDS:
        choices = Choices.seeded(seed)
        x, y = values(choices), values(choices)
        met = x.meet(y)
        assert met.within(x) and met.within(y)
        for value in (None, *range(-310, 420, 7), *range(-5, 8)):
            assert met.has(value) == (x.has(value) and y.has(value))
            assert not (x.has(value) or y.has(value)) or x.join(y).has(value)


def test_widening_ends() -> None:
    for seed in SEEDS:
        choices = Choices.seeded(seed)
        found, steps = view(choices, 2), 0
        for _ in range(40):
            wider = found.join(view(choices, 2), widen=True)
            assert found.within(wider)
            steps += not wider.within(found)
            found = wider
        assert steps < 25, "a chain of widened facts is short"


TREES = {
    Filter: "SELECT a FROM S WHERE a < b + 2 AND (b > 1 OR a IS NULL) AND ts >= a",
    Project: "SELECT a + 1 AS x, coalesce(b, 3) AS y, ts DIV 4 AS z, ts - 2 AS w FROM S",
    Distinct: "SELECT DISTINCT a, b FROM S",
    Aggregate: "SELECT ts DIV 4 AS z, b, count(*) AS n, max(a) AS m, sum(a) AS s FROM S GROUP BY ts DIV 4, b",
    Union: "SELECT a FROM S UNION SELECT c FROM T",
    **{(Join, kind): f"SELECT * FROM S {kind.upper()} JOIN T ON S.a = T.c AND T.ts <= S.ts + 3"
       for kind in (JoinKind.INNER, JoinKind.LEFT, JoinKind.FULL)},
}  # fmt: skip


def operator(sql: str, kind: type[Tree]) -> Tree:
    (statement,) = split_statements(SourceText("case.sql", sql))
    assert statement.tree is not None
    tree = Lowering(Positions(statement.source, statement.tokens, statement.before), catalog()).query(
        statement.tree, {}
    )
    while not isinstance(tree, kind):
        (tree,) = inputs(tree)
    return tree


def transferred(tree: Tree, given: list[OperatorInput], known: Catalog) -> ViewFacts:
    named = schema(tree, known)
    match tree:
        case Filter():
            return filtered(tree, given[0])
        case Project():
            return projected(tree, given[0])
        case Distinct():
            return distinct(given[0])
        case Aggregate():
            return aggregate(tree, given[0], named)
        case Union():
            return union(tree, given[0], given[1], named)
        case Join():
            return join(tree, given[0], given[1])
    raise AssertionError(tree)


@pytest.mark.parametrize("kind", TREES, ids=str)
def test_a_rule_keeps_the_order(kind: object) -> None:
    """Less is known of the result where less is known of an input: so that missing facts are always true."""
    of_type = kind[0] if isinstance(kind, tuple) else kind
    known = catalog()
    tree = operator(TREES[kind], of_type)  # type: ignore[index, arg-type]
    compared = 0
    for seed in SEEDS:
        choices = Choices.seeded(seed)
        tight, loose = [], []
        for under in inputs(tree):
            columns = schema(under, known)
            one = replace(view(choices, len(columns)), latest=None)
            other = one.join(replace(view(choices, len(columns)), latest=None))
            tight.append(OperatorInput(columns, one))
            loose.append(OperatorInput(columns, other))
        first, second = transferred(tree, tight, known), transferred(tree, loose, known)
        if any(facts.columns and any(c.values == NOTHING for c in facts.columns) for facts in (first,)):
            continue  # no row satisfies it: everything is true of it
        for place, (mine, theirs) in enumerate(zip(first.columns, second.columns, strict=True)):
            assert mine.values.within(theirs.values), (seed, place, mine, theirs)
            compared += 1
        assert first.rows is None or second.rows is None or first.rows <= second.rows
    assert compared > 50
