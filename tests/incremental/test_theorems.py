"""DBSP's statements about incremental operators, its sections 3, 4 and 7; and claims that do not hold."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given

from streambound.incremental.circuit import CircuitBuilder, Op
from streambound.incremental.evaluate import evaluate_once
from streambound.incremental.operators import (
    DelayOp,
    DifferentiateOp,
    DistinctOp,
    FilterOp,
    GroupRowsOp,
    IntegrateOp,
    JoinOp,
    MapOp,
    PlusOp,
    SumsOp,
    TouchedOp,
)
from streambound.incremental.passes.chain import chain
from streambound.incremental.passes.incrementalise import incrementalise
from streambound.incremental.zset import ZSet
from support.lifted import circuit_of
from support.profiles import examples
from support.row_expressions import EQUAL, SCHEMA, A, call, over
from support.stream_operators import (
    LINEAR_OPERATORS,
    PAIRS,
    ZERO,
    S,
    Stream,
    T,
    chains,
    delay,
    difference,
    incremental,
    integral,
    lifted,
    plus,
    run,
    single,
)
from support.zsets import BAG_STREAMS, BAGS, STREAMS

JOIN = JoinOp((EQUAL,))
A_CATALOG = {"streams": {n: {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}} for n in "ST"}}


# --- section 3 -------------------------------------------------------------------------------------------------------


@examples(30)
@given(STREAMS)
def test_3_2_inversion_and_chain(s: Stream) -> None:
    def q1(z: ZSet) -> ZSet:
        return z.distinct()

    def q2(z: ZSet) -> ZSet:
        return z.map(lambda row: row[:1]).distinct()

    assert integral(incremental(q1, difference(s))) == lifted(q1, s)
    assert incremental(lambda z: q2(q1(z)), s) == incremental(q2, incremental(q1, s))


@examples(30)
@given(PAIRS)
def test_3_2_invariance_push_pull_add(pair: tuple[Stream, Stream]) -> None:
    a, b = pair
    assert difference(delay(integral(a))) == delay(a)
    assert difference(integral(integral(a))) == integral(a)
    assert difference(difference(integral(a))) == difference(a)
    assert incremental(ZSet.__neg__, a) == lifted(ZSet.__neg__, a)
    assert difference(lifted(ZSet.distinct, a)) == incremental(ZSet.distinct, difference(a))
    assert integral(incremental(ZSet.distinct, a)) == lifted(ZSet.distinct, integral(a))
    both = incremental(lambda x: x.distinct() + x.positive(), a)
    assert both == plus(incremental(ZSet.distinct, a), incremental(ZSet.positive, a))
    assert incremental(ZSet.__add__, a, b) == plus(a, b)


@examples(30)
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


@examples(40)
@given(chains(LINEAR_OPERATORS), STREAMS)
def test_3_3_linear_operators_are_their_own_incremental_form(ops: tuple[Op, ...], s: Stream) -> None:
    assert run(single(IntegrateOp(), *ops, DifferentiateOp()), s) == run(single(*ops), s)


@examples(30)
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


@examples(40)
@given(BAGS, BAGS)
def test_4_5_and_4_6_for_positive_inputs(a: ZSet, b: ZSet) -> None:
    keep, swap = FilterOp(over("a > 0")).apply, MapOp((A,)).apply
    assert keep(a.distinct()) == keep(a).distinct()
    for join in (JOIN, JoinOp()):
        assert join.apply(a.distinct(), b.distinct()) == join.apply(a, b).distinct()
        assert join.apply(a.distinct(), b.distinct()).distinct() == join.apply(a, b).distinct()
    for q in (keep, swap):
        assert q(a.distinct()).distinct() == q(a).distinct()
    assert (a.distinct() + b.distinct()).distinct() == (a + b).distinct()


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


@examples(40)
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
    rows = {source: ZSet({(Fraction(7), Fraction(1)): n}) for source, n in ((S, 3), (T, 1))}
    for operation, n in (("EXCEPT", 0), ("EXCEPT ALL", 2), ("INTERSECT ALL", 1), ("INTERSECT", 1)):
        circuit = circuit_of(f"SELECT a FROM S {operation} SELECT a FROM T", A_CATALOG)
        assert evaluate_once(circuit, rows) == ZSet({(Fraction(7),): n}), operation
    circuit = circuit_of("SELECT a FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a)", A_CATALOG)
    twice = (Fraction(7), Fraction(1))
    assert evaluate_once(circuit, {S: ZSet({twice: 2})}) == ZSet({(Fraction(7),): 2})


# --- section 7 -------------------------------------------------------------------------------------------------------


@examples(30)
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


def test_7_4_a_group_without_rows_has_no_row() -> None:
    """The paper's sum over all keys is finite only so: what an aggregate makes of no rows is nothing, not a zero."""
    counts = (call("count", "b"),)
    sums, rows = SumsOp((A,), counts), GroupRowsOp(counts)
    null = ZSet({(Fraction(1), None): 1})
    before = sums.apply(null)
    assert rows.apply(before) == ZSet({(Fraction(1), Fraction(0)): 1}), "of a row that is not counted, 0"
    assert rows.apply(sums.apply(ZERO)) == ZERO
    assert TouchedOp(rows).apply(before, sums.apply(-null)) == ZSet({(Fraction(1), Fraction(0)): -1})
