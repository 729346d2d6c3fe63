"""Streams as lists, an element a tick; DBSP's operators on them by definition, and circuits that compute the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from streambound.incremental.circuit import Circuit, CircuitBuilder, NestedOp, Op
from streambound.incremental.evaluate import evaluate
from streambound.incremental.operators import (
    DelayOp,
    DifferentiateOp,
    DistinctOp,
    FilterOp,
    FirstOp,
    IntegrateOp,
    JoinOp,
    MapOp,
    NegateOp,
    PlusOp,
    PortOp,
    PositiveOp,
    SourceOp,
    TotalOp,
)
from streambound.incremental.zset import ZSet
from support.row_expressions import EQUAL, PAIR, SCHEMA, A, B, over
from support.zsets import ZSETS

Stream = list[ZSet]
S, T = SourceOp("S"), SourceOp("T")
ZERO = ZSet()

LINEAR_FUNCTIONS: tuple[Op, ...] = (FilterOp(over("a > 0")), MapOp((B, A)), MapOp((A, A)), NegateOp())
FUNCTIONS: tuple[Op, ...] = (*LINEAR_FUNCTIONS, DistinctOp(), PositiveOp())
LINEAR_OPERATORS: tuple[Op, ...] = (*LINEAR_FUNCTIONS, DelayOp(), IntegrateOp(), DifferentiateOp())
"""Causal, linear and time-invariant."""
OPERATORS: tuple[Op, ...] = (*LINEAR_OPERATORS, *FUNCTIONS)
"""Causal and time-invariant."""
PAIRS = st.lists(st.tuples(ZSETS, ZSETS), min_size=1, max_size=5).map(
    lambda pairs: tuple(map(list, zip(*pairs, strict=True)))
)
"""Two streams of one length."""


def chains(of: Sequence[Op]) -> st.SearchStrategy[tuple[Op, ...]]:
    """Up to three operators, one above the other."""
    return st.lists(st.sampled_from(of), max_size=3).map(tuple)


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
    """The sum, tick by tick."""
    return [x + y for x, y in zip(a, b, strict=True)]


def lifted(f: Callable[..., ZSet], *streams: Stream) -> Stream:
    """↑f."""
    return [f(*values) for values in zip(*streams, strict=True)]


def incremental(f: Callable[..., ZSet], *streams: Stream) -> Stream:
    """D ∘ ↑f ∘ I."""
    return difference(lifted(f, *map(integral, streams)))


def chained(builder: CircuitBuilder, node: int, ops: Sequence[Op]) -> int:
    """The last of operators one above the other, the first over a node."""
    for op in ops:
        node = builder.add(op, (node,), SCHEMA)
    return node


def single(*ops: Op) -> Circuit:
    """A circuit of operators one above the other, the first over S."""
    builder = CircuitBuilder()
    return builder.circuit(chained(builder, builder.add(S, (), SCHEMA), ops), 1)


def run(circuit: Circuit, stream: Stream) -> Stream:
    """What a circuit makes of S."""
    return evaluate(circuit, [{S: value} for value in stream])


def _joined(builder: CircuitBuilder, left: int, right: int, by: str) -> int:
    """A causal operator of two streams: their sum, or that of the first and of a join of both."""
    if by == "join":
        pairs = builder.add(JoinOp((EQUAL,)), (left, right), SCHEMA + SCHEMA)
        right = builder.add(MapOp((over("a", PAIR), over("d", PAIR))), (pairs,), SCHEMA)
    return builder.add(PlusOp(), (left, right), SCHEMA)


def feedback(above: Sequence[Op] = (), back: Sequence[Op] = (), by: str = "sum") -> Circuit:
    """``fix α. T(s, F(α))``: T joins both and has the operators ``above``, F is z⁻¹ and those of ``back``."""
    builder = CircuitBuilder()
    delayed = builder.forward(DelayOp(), SCHEMA)
    both = _joined(builder, builder.add(S, (), SCHEMA), chained(builder, delayed, back), by)
    output = chained(builder, both, above)
    builder.close(delayed, output)
    return builder.circuit(output, 1)


def opened(above: Sequence[Op], back: Sequence[Op], by: str) -> Callable[[Stream, Stream], Stream]:
    """``λs. λα. T(s, F(α))``: the same with the edge back cut."""
    builder = CircuitBuilder()
    delayed = builder.add(DelayOp(), (builder.add(T, (), SCHEMA),), SCHEMA)
    both = _joined(builder, builder.add(S, (), SCHEMA), chained(builder, delayed, back), by)
    circuit = builder.circuit(chained(builder, both, above), 1)
    return lambda s, alpha: evaluate(circuit, [{S: x, T: y} for x, y in zip(s, alpha, strict=True)])


def nested(*ops: Op) -> Circuit:
    """``∫ ∘ Q ∘ δ0`` over S, Q being operators one above the other on the clock of the iterations."""
    inner = CircuitBuilder()
    first = inner.add(FirstOp(), (inner.add(PortOp(0), (), SCHEMA),), SCHEMA)
    body = inner.circuit(inner.add(TotalOp(), (chained(inner, first, ops),), SCHEMA), 2)
    return single(NestedOp(body))
