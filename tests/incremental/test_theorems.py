"""The theorems of DBSP on random streams; and claims of the paper that do not hold, with what shows it.

Streams are lists, an element a tick; Z-sets of pairs are graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambound.incremental.circuit import Circuit, CircuitBuilder
from streambound.incremental.evaluate import Execution, evaluate, evaluate_once
from streambound.incremental.operators import (
    DelayOp,
    DifferentiateOp,
    DistinctOp,
    FilterOp,
    GroupRowsOp,
    IntegrateOp,
    JoinOp,
    MapOp,
    NegateOp,
    PlusOp,
    SourceOp,
    SumsOp,
    TouchedOp,
)
from streambound.incremental.passes.chain import chain
from streambound.incremental.passes.incrementalise import incrementalise
from streambound.incremental.passes.lift import lift
from streambound.incremental.pipeline import stages
from streambound.incremental.zset import ZSet
from support.lifted import circuit_of
from support.profiles import examples
from support.row_expressions import EQUAL, SCHEMA, A, B, call, over
from support.zsets import BAG_STREAMS, BAGS, STREAMS, ZSETS

Stream = list[ZSet]
S, T = SourceOp("S"), SourceOp("T")
ZERO = ZSet()


def integral(stream: Stream) -> Stream:
    """I."""
    return [sum(stream[: at + 1], ZERO) for at in range(len(stream))]


def delay(stream: Stream) -> Stream:
    """z⁻¹."""
    return [ZERO, *stream[:-1]]


def difference(stream: Stream) -> Stream:
    """D."""
    return [now - before for now, before in zip(stream, delay(stream), strict=True)]


def plus(a: Stream, b: Stream) -> Stream:
    return [x + y for x, y in zip(a, b, strict=True)]


def lifted(f: Callable[..., ZSet], *streams: Stream) -> Stream:
    """↑f."""
    return [f(*values) for values in zip(*streams, strict=True)]


def incremental(f: Callable[..., ZSet], *streams: Stream) -> Stream:
    """D ∘ ↑f ∘ I."""
    return difference(lifted(f, *map(integral, streams)))


def single(*ops: Any) -> Circuit:
    """A circuit of operators one above the other, the first over S."""
    builder = CircuitBuilder()
    node = builder.add(S, (), SCHEMA)
    for op in ops:
        node = builder.add(op, (node,), SCHEMA)
    return builder.circuit(node, 1)


def run(circuit: Circuit, stream: Stream) -> Stream:
    return evaluate(circuit, [{S: value} for value in stream])


PAIRS = st.lists(st.tuples(ZSETS, ZSETS), min_size=1, max_size=5).map(
    lambda pairs: tuple(map(list, zip(*pairs, strict=True)))
)
JOIN = JoinOp((EQUAL,))
EDGES = st.dictionaries(st.tuples(*(st.integers(0, 4).map(Fraction) for _ in range(2))), st.just(1), max_size=6).map(
    ZSet
)


# --- sections 2 and 3 ------------------------------------------------------------------------------------------------


@examples(100)
@given(STREAMS)
def test_2_20_integration_and_differentiation_are_inverse(s: Stream) -> None:
    assert difference(integral(s)) == integral(difference(s)) == s
    assert run(single(IntegrateOp(), DifferentiateOp()), s) == run(single(DifferentiateOp(), IntegrateOp()), s) == s


@examples(100)
@given(STREAMS)
def test_2_22_the_integral_is_the_fixpoint_of_a_feedback_loop(s: Stream) -> None:
    """``I(s) = fix α. s + z⁻¹(α)``: the circuit with the loop is what the operator is."""
    builder = CircuitBuilder()
    back = builder.forward(DelayOp(), SCHEMA)
    output = builder.add(PlusOp(), (builder.add(S, (), SCHEMA), back), SCHEMA)
    builder.close(back, output)
    assert run(builder.circuit(output, 1), s) == run(single(IntegrateOp()), s) == integral(s)


@examples(60)
@given(STREAMS)
def test_3_2_inversion_and_chain(s: Stream) -> None:
    def q1(z: ZSet) -> ZSet:
        return z.distinct()

    def q2(z: ZSet) -> ZSet:
        return z.map(lambda row: row[:1]).distinct()

    assert integral(incremental(q1, s)) == lifted(q1, integral(s))
    assert incremental(lambda z: q2(q1(z)), s) == incremental(q2, incremental(q1, s))


@examples(60)
@given(PAIRS)
def test_3_2_invariance_push_pull_add(pair: tuple[Stream, Stream]) -> None:
    a, b = pair
    assert difference(delay(integral(a))) == delay(a)
    assert difference(integral(integral(a))) == integral(a)
    assert difference(lifted(ZSet.distinct, a)) == incremental(ZSet.distinct, difference(a))
    assert integral(incremental(ZSet.distinct, a)) == lifted(ZSet.distinct, integral(a))
    both = incremental(lambda x: x.distinct() + x.positive(), a)
    assert both == plus(incremental(ZSet.distinct, a), incremental(ZSet.positive, a))
    assert incremental(ZSet.__add__, a, b) == plus(a, b)


@examples(60)
@given(STREAMS)
def test_3_2_cycle(s: Stream) -> None:
    """``(λs. fix α. T(s, z⁻¹α))^Δ = λs. fix α. T^Δ(s, z⁻¹α)`` with T = distinct(s + α): what the pass makes of it."""
    builder = CircuitBuilder()
    back = builder.forward(DelayOp(), SCHEMA)
    added = builder.add(PlusOp(), (builder.add(S, (), SCHEMA), back), SCHEMA)
    output = builder.add(DistinctOp(), (added,), SCHEMA)
    builder.close(back, output)
    by_definition = incrementalise(builder.circuit(output, 1))
    assert run(chain(by_definition), s) == run(by_definition, s)


@pytest.mark.parametrize("op", [FilterOp(over("a > 0")), MapOp((B, A)), NegateOp()], ids=lambda op: type(op).__name__)
@examples(40)
@given(STREAMS)
def test_3_3_linear_operators_are_their_own_incremental_form(op: Any, s: Stream) -> None:
    assert incremental(op.apply, s) == lifted(op.apply, s)


@examples(60)
@given(PAIRS)
def test_3_4_the_three_terms_of_a_join_and_the_two_that_are_used(pair: tuple[Stream, Stream]) -> None:
    a, b = pair
    three = plus(
        plus(lifted(JOIN.apply, a, b), lifted(JOIN.apply, delay(integral(a)), b)),
        lifted(JOIN.apply, a, delay(integral(b))),
    )
    two = plus(lifted(JOIN.apply, a, integral(b)), lifted(JOIN.apply, delay(integral(a)), b))
    assert incremental(JOIN.apply, a, b) == three == two


# --- section 4 -------------------------------------------------------------------------------------------------------


@examples(80)
@given(BAGS, BAGS)
def test_4_5_and_4_6_for_positive_inputs(a: ZSet, b: ZSet) -> None:
    keep, swap = FilterOp(over("a > 0")).apply, MapOp((A,)).apply
    assert keep(a.distinct()) == keep(a).distinct()
    assert JOIN.apply(a.distinct(), b.distinct()) == JOIN.apply(a, b).distinct()
    for q in (keep, swap):
        assert q(a.distinct()).distinct() == q(a).distinct()
    assert (a.distinct() + b.distinct()).distinct() == (a + b).distinct()
    assert JOIN.apply(a.distinct(), b.distinct()).distinct() == JOIN.apply(a, b).distinct()


ONE, TWO = (Fraction(1), Fraction(1)), (Fraction(1), Fraction(2))


def test_4_5_is_false_for_projections_and_sums() -> None:
    both = ZSet({ONE: 1, TWO: 1})
    first = MapOp((A,)).apply
    assert first(both.distinct()) != first(both).distinct()
    single_row = ZSet({ONE: 1})
    assert single_row.distinct() + single_row.distinct() != (single_row + single_row).distinct()


def test_4_6_is_false_for_changes() -> None:
    """A change with a negative weight: the row is taken back below, and what is above must know."""
    change = ZSet({ONE: 1, TWO: -1})
    first = MapOp((A,)).apply
    assert first(change.distinct()).distinct() != first(change).distinct()


@examples(80)
@given(STREAMS)
def test_4_7_distinct_on_changes(s: Stream) -> None:
    h = TouchedOp(DistinctOp())
    assert incremental(ZSet.distinct, s) == lifted(h.apply, delay(integral(s)), s)


def test_4_7_says_from_negative_to_positive_and_means_from_what_is_not_positive() -> None:
    h = TouchedOp(DistinctOp())
    assert h.apply(ZERO, ZSet({ONE: 1})) == ZSet({ONE: 1}), "from 0, which is not negative"
    assert h.apply(ZSet({ONE: 1}), ZSet({ONE: -1})) == ZSet({ONE: -1}), "and back to 0"


def test_table_1_is_for_sets() -> None:
    """On bags ``distinct(a − b)`` is no EXCEPT, nor is ``a − a ⋈ distinct(π b)`` with a distinct above a NOT EXISTS."""
    a, b = ZSet({ONE: 2}), ZSet({ONE: 1})
    assert (a - b).distinct() != (a.distinct() - b.distinct()).distinct()
    catalog = {"streams": {n: {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}} for n in "ST"}}
    circuit = circuit_of("SELECT a FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a)", catalog)
    twice = (Fraction(7), Fraction(1))
    assert evaluate_once(circuit, {S: ZSet({twice: 2})}) == ZSet({(Fraction(7),): 2})


# --- section 7 -------------------------------------------------------------------------------------------------------


@examples(60)
@given(BAG_STREAMS)
def test_7_2_sums_are_linear_and_rows_of_groups_are_not(s: Stream) -> None:
    calls = (call("sum", "b"), call("count", "b"))
    sums, rows = SumsOp((A,), calls), GroupRowsOp(calls)
    by_definition = incremental(lambda z: rows.apply(sums.apply(z)), s)
    summed, result = sums.apply(ZERO), []
    for change in s:
        result.append(TouchedOp(rows).apply(summed, sums.apply(change)))
        summed = summed + sums.apply(change)
    assert result == by_definition


def test_2_6_not_all_operators_are_time_invariant() -> None:
    """Of nothing a global aggregate makes a row, so that of nothing a tick later it does not make the same later."""
    count = (call("count"),)
    op = GroupRowsOp(count, always=True)
    sums = SumsOp((), count)
    assert op.apply(sums.apply(ZERO)) == ZSet({(Fraction(0),): 1})
    late = lifted(lambda z: op.apply(sums.apply(z)), delay([ZSet({ONE: 1}), ZERO]))
    assert late != delay(lifted(lambda z: op.apply(sums.apply(z)), [ZSet({ONE: 1}), ZERO]))


# --- section 5 and 6: recursion --------------------------------------------------------------------------------------

CATALOG = {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"}}}}
REACHED = (
    "WITH RECURSIVE r(x) AS (SELECT b FROM S WHERE a = 0 UNION SELECT S.b FROM r JOIN S ON r.x = S.a) SELECT x FROM r"
)
CLOSURE = (
    "WITH RECURSIVE r(x, y) AS (SELECT a, b FROM S UNION SELECT r.x, S.b FROM r JOIN S ON r.y = S.a) SELECT x, y FROM r"
)


def edges(graph: ZSet) -> ZSet:
    """Rows of S, which have a time that the queries do not read."""
    return graph.map(lambda row: (*row, Fraction(0)))


def closure(graph: ZSet) -> set[tuple[Any, ...]]:
    """What is reachable, by another algorithm: rows of a matrix, widened until nothing is new."""
    found = {tuple(row) for row in graph}
    while True:
        more = {(x, w) for x, y in found for z, w in found if y == z} - found
        if not more:
            return found
        found |= more


@examples(60)
@given(EDGES)
def test_5_4_the_loop_computes_the_least_fixpoint_naively_and_semi_naively(graph: ZSet) -> None:
    circuit = circuit_of(CLOSURE, CATALOG)
    expected = ZSet.of(closure(graph))  # type: ignore[arg-type]
    assert evaluate_once(circuit, {S: edges(graph)}) == expected
    semi_naive = chain(incrementalise(lift(circuit)))
    assert evaluate(semi_naive, [{S: edges(graph)}]) == [expected]


@pytest.mark.parametrize("sql", [REACHED, CLOSURE])
@examples(60)
@given(graphs=st.lists(EDGES, min_size=2, max_size=5))
def test_6_1_every_stage_of_a_recursive_query_follows_a_graph_that_changes(sql: str, graphs: list[ZSet]) -> None:
    changes = [{S: edges(change)} for change in difference(graphs)]
    views = [evaluate_once(circuit_of(sql, CATALOG), {S: edges(graph)}) for graph in graphs]
    for stage in stages(circuit_of(sql, CATALOG), {"S": 2}):
        if stage.over == "changes" and stage.name != "prune_by_time":
            assert evaluate(stage.circuit, changes) == difference(views), stage.name


def graph_of(*pairs: tuple[int, int]) -> ZSet:
    return ZSet.of((Fraction(x), Fraction(y)) for x, y in pairs)


def test_6_1_the_loop_must_not_stop_at_its_first_empty_iteration() -> None:
    """As section 5.1 allows: 0 → 1 → 2 → 3, then 3 → 4. What is new follows iterations in which nothing is new."""
    circuit = chain(incrementalise(lift(circuit_of(REACHED, CATALOG))))
    first, second = graph_of((0, 1), (1, 2), (2, 3)), graph_of((3, 4))
    right = [ZSet.of([(Fraction(1),), (Fraction(2),), (Fraction(3),)]), ZSet.of([(Fraction(4),)])]
    execution = Execution(circuit)
    assert [execution.step({S: edges(graph)}) for graph in (first, second)] == right
    hasty = Execution(circuit, stop="first-empty")
    assert [hasty.step({S: edges(graph)}) for graph in (first, second)] != right


def test_6_1_an_edge_for_what_was_reachable_before_is_taken_back_where_it_came_later() -> None:
    """0 → 1 → 2, then 0 → 2: +1 at iteration 0, −1 at iteration 1; the result does not change."""
    circuit = chain(incrementalise(lift(circuit_of(REACHED, CATALOG))))
    execution = Execution(circuit)
    execution.step({S: edges(graph_of((0, 1), (1, 2)))})
    assert execution.step({S: edges(graph_of((0, 2)))}) == ZERO
    assert execution.step({S: -edges(graph_of((0, 1)))}) == -ZSet.of([(Fraction(1),)])


def test_a_loop_without_an_end_is_stopped_with_its_newest_rows() -> None:
    sql = "WITH RECURSIVE r(x) AS (SELECT a FROM S UNION SELECT r.x + 1 FROM r) SELECT x FROM r"
    execution = Execution(circuit_of(sql, CATALOG), max_iterations=20)
    with pytest.raises(RuntimeError, match="no fixpoint after 20 iterations"):
        execution.step({S: edges(graph_of((0, 1)))})


def test_5_1_delta_is_a_right_inverse_of_the_total_only() -> None:
    """``∫ δ0 = id``, and not ``δ0 ∫``, which moves all to the first iteration."""
    stream = [ZSet({ONE: 1}), ZSet({TWO: 1})]
    total = sum(stream, ZERO)
    first = [total, ZERO]
    assert sum([total, ZERO], ZERO) == total
    assert first != stream
