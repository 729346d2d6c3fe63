"""DBSP's statements about loops, sections 5 and 6, on random streams and graphs; and claims that do not hold.

Z-sets of pairs are graphs. Nested streams are lists of streams: a row for each tick, with its iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambound.incremental.circuit import Op
from streambound.incremental.evaluate import Execution, evaluate, evaluate_once
from streambound.incremental.operators import DelayOp, DifferentiateOp, GroupRowsOp, SumsOp
from streambound.incremental.passes.chain import chain
from streambound.incremental.passes.incrementalise import incrementalise, lift
from streambound.incremental.pipeline import stages
from streambound.incremental.zset import ZSet
from support.lifted import circuit_of
from support.profiles import examples
from support.row_expressions import call
from support.stream_operators import (
    FUNCTIONS,
    LINEAR_FUNCTIONS,
    OPERATORS,
    PAIRS,
    ZERO,
    S,
    Stream,
    chains,
    delay,
    difference,
    feedback,
    nested,
    plus,
    run,
    single,
)
from support.zsets import STREAMS, ZSETS

EDGES = st.dictionaries(st.tuples(*(st.integers(0, 4).map(Fraction) for _ in range(2))), st.just(1), max_size=6).map(
    ZSet
)
ONE, TWO = (Fraction(1), Fraction(1)), (Fraction(1), Fraction(2))

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


# --- section 5 -------------------------------------------------------------------------------------------------------


@examples(30)
@given(chains((*LINEAR_FUNCTIONS, DelayOp(1), DifferentiateOp(1))), PAIRS)
def test_5_2_entering_and_leaving_a_loop_is_linear_and_time_invariant(
    ops: tuple[Op, ...], pair: tuple[Stream, Stream]
) -> None:
    """δ0 and ∫, around nothing and around operators that are linear and time-invariant."""
    assert run(nested(), pair[0]) == pair[0]
    circuit, (a, b) = nested(*ops), pair
    assert run(circuit, plus(a, b)) == plus(run(circuit, a), run(circuit, b))
    assert run(circuit, delay(a)) == delay(run(circuit, a))


@examples(30)
@given(chains((*FUNCTIONS, DelayOp(1))), STREAMS)
def test_5_3_a_loop_around_what_is_time_invariant_makes_nothing_of_nothing(ops: tuple[Op, ...], s: Stream) -> None:
    circuit = nested(*ops)
    assert run(circuit, [ZERO]) == [ZERO]
    assert run(circuit, delay(s)) == delay(run(circuit, s)), "so that it is time-invariant itself, by 2.7"


def test_5_3_needs_time_invariance() -> None:
    """A global aggregate, whose row of nothing is there from the first iteration on."""
    count = (call("count"),)
    circuit = nested(SumsOp((), count), GroupRowsOp(count, always=True), DifferentiateOp(1))
    assert run(circuit, [ZERO]) == [ZSet({(Fraction(0),): 1})]


@examples(30)
@given(EDGES)
def test_5_4_the_loop_computes_the_least_fixpoint_naively_and_semi_naively(graph: ZSet) -> None:
    circuit = circuit_of(CLOSURE, CATALOG)
    expected = ZSet.of(closure(graph))  # type: ignore[arg-type]
    assert evaluate_once(circuit, {S: edges(graph)}) == expected
    semi_naive = chain(incrementalise(lift(circuit)))
    assert evaluate(semi_naive, [{S: edges(graph)}]) == [expected]


# --- section 6 -------------------------------------------------------------------------------------------------------

Nested = list[Stream]


@st.composite
def nested_streams(draw: Any) -> Nested:
    rows, width = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    return draw(st.lists(st.lists(ZSETS, min_size=width, max_size=width), min_size=rows, max_size=rows))


def each(f: Callable[[Stream], Stream], s: Nested) -> Nested:
    """↑f of an operator on streams."""
    return [f(row) for row in s]


@examples(30)
@given(nested_streams(), st.data())
def test_6_1_delays_of_nested_streams_are_strict(s: Nested, data: Any) -> None:
    """↑z⁻¹, and z⁻¹ of whole rows: at t they read nothing but what is before t in both times."""
    row, column = data.draw(st.integers(0, len(s) - 1)), data.draw(st.integers(0, len(s[0]) - 1))
    other = [
        [
            value if i <= row and j <= column and (i, j) != (row, column) else data.draw(ZSETS)
            for j, value in enumerate(values)
        ]
        for i, values in enumerate(s)
    ]
    by_column, by_row = single(DelayOp()), [ZERO] * len(s[0])
    assert each(lambda one: run(by_column, one), s)[row][column] == each(delay, other)[row][column]
    assert [by_row, *s][row][column] == [by_row, *other][row][column]


@examples(30)
@given(chains(OPERATORS), nested_streams())
def test_6_2_a_lifted_loop_is_the_loop_of_what_is_lifted(above: tuple[Op, ...], s: Nested) -> None:
    """``↑(λs. fix α. T(s, z⁻¹α)) = λs. fix α. (↑T)(s, (↑z⁻¹)α)``: by rows, and all rows together from nothing."""
    together = [[ZERO] * len(row) for row in s]
    for _ in s[0]:
        together = [run(single(*above), plus(row, back)) for row, back in zip(s, each(delay, together), strict=True)]
    assert each(lambda row: run(feedback(above), row), s) == together


@pytest.mark.parametrize("sql", [REACHED, CLOSURE])
@examples(20)
@given(graphs=st.lists(EDGES, min_size=1, max_size=4))
def test_6_2_the_pass_that_lifts_a_recursive_query_lifts_what_is_in_its_loop(sql: str, graphs: list[ZSet]) -> None:
    circuit = circuit_of(sql, CATALOG)
    views = [{S: edges(graph)} for graph in graphs]
    assert evaluate(lift(circuit), views) == [evaluate_once(circuit, view) for view in views]


@pytest.mark.parametrize("sql", [REACHED, CLOSURE])
@examples(30)
@given(graphs=st.lists(EDGES, min_size=2, max_size=5))
def test_circuit_6_1_every_stage_of_a_recursive_query_follows_a_graph_that_changes(
    sql: str, graphs: list[ZSet]
) -> None:
    changes = [{S: edges(change)} for change in difference(graphs)]
    views = [evaluate_once(circuit_of(sql, CATALOG), {S: edges(graph)}) for graph in graphs]
    for stage in stages(circuit_of(sql, CATALOG)):
        if stage.over == "changes":
            assert evaluate(stage.circuit, changes) == difference(views), stage.name


def graph_of(*pairs: tuple[int, int]) -> ZSet:
    return ZSet.of((Fraction(x), Fraction(y)) for x, y in pairs)


def test_5_1_the_loop_must_not_stop_at_its_first_empty_iteration() -> None:
    """Section 5.1 presupposes results that grow: 0 → 1 → 2 → 3, then 3 → 4 is new after iterations with nothing new."""
    circuit = chain(incrementalise(lift(circuit_of(REACHED, CATALOG))))
    first, second = graph_of((0, 1), (1, 2), (2, 3)), graph_of((3, 4))
    right = [ZSet.of([(Fraction(1),), (Fraction(2),), (Fraction(3),)]), ZSet.of([(Fraction(4),)])]
    execution = Execution(circuit)
    assert [execution.step({S: edges(graph)}) for graph in (first, second)] == right
    hasty = Execution(circuit, stop="first-empty")
    assert [hasty.step({S: edges(graph)}) for graph in (first, second)] != right


def test_5_1_nor_at_the_first_empty_one_from_the_depth_of_the_ticks_before_on() -> None:
    """By hand, on the same graph: after the last iteration in which the first tick had a change, one is empty, and the
    next is not."""

    def iterations(graph: ZSet) -> Stream:
        reached = [ZERO]
        for _ in range(6):
            step = ZSet.of((y,) for x, y in graph if x == 0 or (x,) in reached[-1])
            reached.append(step.distinct())
        return difference(reached)

    first, added = graph_of((0, 1), (1, 2), (2, 3)), graph_of((3, 4))
    before = iterations(first)
    depth = max(at for at, change in enumerate(before) if change)
    changes = [new - old for new, old in zip(iterations(first + added), before, strict=True)]
    assert changes[depth] == ZERO != changes[depth + 1]


def test_circuit_6_1_an_edge_for_what_was_reachable_before_is_taken_back_where_it_came_later() -> None:
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
