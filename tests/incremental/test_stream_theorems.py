"""DBSP's statements about streams, its section 2, on random streams and circuits of random operators."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambound.incremental.circuit import Circuit, CircuitBuilder, Op
from streambound.incremental.evaluate import evaluate, evaluate_once
from streambound.incremental.operators import (
    ConstantOp,
    DelayOp,
    DifferentiateOp,
    GroupRowsOp,
    IntegrateOp,
    NegateOp,
    PlusOp,
    SumsOp,
)
from streambound.incremental.passes.incrementalise import lift
from streambound.incremental.zset import ZSet
from support.profiles import examples
from support.row_expressions import SCHEMA, call
from support.stream_operators import (
    FUNCTIONS,
    LINEAR_OPERATORS,
    OPERATORS,
    PAIRS,
    ZERO,
    S,
    Stream,
    T,
    chained,
    chains,
    delay,
    difference,
    feedback,
    integral,
    lifted,
    opened,
    plus,
    run,
    single,
)
from support.zsets import ROWS, STREAMS, ZSETS

JOINS = st.sampled_from(["sum", "join"])
Parted = tuple[int, Stream, Stream]


@st.composite
def parted(draw: Any) -> Parted:
    """Two streams of one length, and how long they are the same."""
    common = draw(st.lists(ZSETS, max_size=3))
    tails = draw(st.lists(st.tuples(ZSETS, ZSETS), min_size=1, max_size=2))
    return len(common), [*common, *(a for a, _ in tails)], [*common, *(b for _, b in tails)]


@examples(30)
@given(chains(FUNCTIONS), chains(FUNCTIONS), STREAMS)
def test_2_4_lifting_distributes_over_composition(f: tuple[Op, ...], g: tuple[Op, ...], s: Stream) -> None:
    """``↑(f ∘ g) = ↑f ∘ ↑g``: the pass that lifts leaves the operators as they are."""
    at_once = [evaluate_once(single(*g, *f), {S: value}) for value in s]
    assert run(lift(_query(*g, *f)), s) == at_once == run(single(*f), run(single(*g), s))


def _query(*ops: Op) -> Circuit:
    """Functions over Z-sets, one above the other."""
    builder = CircuitBuilder()
    return builder.circuit(chained(builder, builder.add(S, (), SCHEMA), ops), 0)


@examples(30)
@given(chains(OPERATORS), st.sets(ROWS, max_size=2), PAIRS)
def test_2_10_a_strict_operator_has_one_fixpoint(
    ops: tuple[Op, ...], rows: set[Any], starts: tuple[Stream, Stream]
) -> None:
    """With ``F(α) = c + z⁻¹(…(α))``: from any stream of n ticks, F makes in n rounds what the loop computes."""

    def over(builder: CircuitBuilder, alpha: int) -> int:
        constant = builder.add(ConstantOp(tuple(sorted(rows, key=repr))), (), SCHEMA)
        return builder.add(PlusOp(), (constant, chained(builder, alpha, ops)), SCHEMA)

    cut, loop = CircuitBuilder(), CircuitBuilder()
    f = cut.circuit(over(cut, cut.add(DelayOp(), (cut.add(S, (), SCHEMA),), SCHEMA)), 1)
    back = loop.forward(DelayOp(), SCHEMA)
    output = over(loop, back)
    loop.close(back, output)
    fixpoint = evaluate(loop.circuit(output, 1), [{} for _ in starts[0]])
    assert run(f, fixpoint) == fixpoint
    for found in starts:
        for _ in range(len(found)):
            found = run(f, found)
        assert found == fixpoint


@examples(30)
@given(chains(OPERATORS), chains(OPERATORS), JOINS, parted(), st.data())
def test_2_11_a_causal_operator_over_a_strict_one_is_strict(
    above: tuple[Op, ...], back: tuple[Op, ...], by: str, alphas: Parted, data: Any
) -> None:
    same, one, other = alphas
    s = data.draw(st.lists(ZSETS, min_size=len(one), max_size=len(one)))
    t = opened(above, back, by)
    assert t(s, one)[: same + 1] == t(s, other)[: same + 1]


@examples(30)
@given(chains(OPERATORS), chains(OPERATORS), JOINS, parted())
def test_2_12_a_loop_is_well_defined_causal_and_time_invariant(
    above: tuple[Op, ...], back: tuple[Op, ...], by: str, streams: Parted
) -> None:
    same, one, other = streams
    circuit = feedback(above, back, by)
    result = run(circuit, one)
    assert opened(above, back, by)(one, result) == result
    assert run(circuit, other)[:same] == result[:same]
    assert run(circuit, delay(one)) == delay(result)


@examples(30)
@given(st.lists(st.tuples(ZSETS, ZSETS, ZSETS), min_size=1, max_size=5))
def test_2_13_streams_are_a_commutative_group(three: list[tuple[ZSet, ZSet, ZSet]]) -> None:
    a, b, c = map(list, zip(*three, strict=True))
    zero = [ZERO] * len(a)

    def added(x: Stream, y: Stream) -> Stream:
        builder = CircuitBuilder()
        both = builder.add(PlusOp(), (builder.add(S, (), SCHEMA), builder.add(T, (), SCHEMA)), SCHEMA)
        return evaluate(builder.circuit(both, 1), [{S: p, T: q} for p, q in zip(x, y, strict=True)])

    assert added(a, b) == added(b, a) == plus(a, b)
    assert added(added(a, b), c) == added(a, added(b, c))
    assert added(a, zero) == a
    assert added(a, run(single(NegateOp()), a)) == zero


def assert_lti(circuit: Circuit, a: Stream, b: Stream) -> None:
    """A circuit over S is linear and time-invariant."""
    assert run(circuit, plus(a, b)) == plus(run(circuit, a), run(circuit, b))
    assert run(circuit, delay(a)) == delay(run(circuit, a))


@examples(30)
@given(chains(LINEAR_OPERATORS), PAIRS)
def test_2_16_the_loop_of_a_linear_operator_is_linear(ops: tuple[Op, ...], pair: tuple[Stream, Stream]) -> None:
    """``Q(s) = fix α. S(s + z⁻¹(α))``."""
    circuit = feedback(ops)
    assert_lti(circuit, *pair)
    result = run(circuit, pair[0])
    assert run(single(*ops), plus(pair[0], delay(result))) == result


@pytest.mark.parametrize("op", [DifferentiateOp(), IntegrateOp()], ids=["2.18: D", "2.21: I"])
@examples(30)
@given(PAIRS, parted())
def test_2_18_and_2_21_differentiation_and_integration_are_causal_and_lti(
    op: Op, pair: tuple[Stream, Stream], streams: Parted
) -> None:
    assert_lti(single(op), *pair)
    same, one, other = streams
    assert run(single(op), one)[:same] == run(single(op), other)[:same]


@examples(50)
@given(STREAMS)
def test_2_20_the_loop_that_defines_integration_sums_up(s: Stream) -> None:
    """``I(s) = fix α. s + z⁻¹(α)``, of definition 2.19, is at t the sum of all s[i] up to t."""
    assert run(feedback(), s) == run(single(IntegrateOp()), s) == integral(s)


@examples(50)
@given(STREAMS)
def test_2_22_integration_and_differentiation_are_inverse(s: Stream) -> None:
    assert difference(integral(s)) == integral(difference(s)) == s
    assert run(single(IntegrateOp(), DifferentiateOp()), s) == run(single(DifferentiateOp(), IntegrateOp()), s) == s


def test_2_6_not_all_operators_are_time_invariant() -> None:
    """Of nothing a global aggregate makes a row, so that of nothing a tick later it does not make the same later."""
    count = (call("count"),)
    op = GroupRowsOp(count, always=True)
    sums = SumsOp((), count)
    (row,) = op.apply(sums.apply(ZERO))
    assert row == (0,)
    stream = [ZSet.of([(None, None)]), ZERO]
    late = lifted(lambda z: op.apply(sums.apply(z)), delay(stream))
    assert late != delay(lifted(lambda z: op.apply(sums.apply(z)), stream))
