"""One step of a recursion: its conditions and its values, over the recursive rows and the block beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streambound.analyzer.query import Comparison, Condition, Constant, NullTest, Op
from streambound.analyzer.values import Value
from streambound.synopsis_exec.branch_plan import constant
from streambound_runtime.operators.circuit_plan import RecursionStep
from streambound_runtime.operators.plan import Term, Test

_OPERATORS = {Op.EQ: "==", Op.NE: "!="}


@dataclass(frozen=True, slots=True)
class StepValue:
    """A value that a case of a recursion's step reads: a column of one of its participants, plus ``more``.

    These are its rows of r, in turn, then those of its inputs.
    """

    participant: int
    place: int
    more: int = 0


@dataclass(frozen=True, slots=True)
class StepPart:
    """One case of a recursion's step: so many rows of r, and one of each of its inputs at these places.

    ``tests`` are conditions with what their attributes are; ``outputs`` the new row.
    """

    recursive: int
    inputs: tuple[int, ...]
    tests: tuple[tuple[Condition, tuple[StepValue, ...]], ...]
    outputs: tuple[StepValue | Constant, ...]


def recursion_step(step: StepPart, width: int, inputs: Sequence[int]) -> RecursionStep:
    """A case of a step of a recursion with so many columns, over ``inputs`` with so many, with names for all values."""
    widths = [width] * step.recursive + [inputs[place] for place in step.inputs]
    variables = tuple(tuple(_name(n, at) for at in range(width)) for n, width in enumerate(widths))
    tests = tuple(_test(condition, values) for condition, values in step.tests)
    return RecursionStep(variables, step.inputs, tests, tuple(map(_term, step.outputs)))


def _test(condition: Condition, values: tuple[StepValue, ...]) -> Test:
    """A condition of a recursion's step; what is added to r's columns is moved to the other side."""
    left = _variable(values[0])
    if isinstance(condition, NullTest):
        return Test(left, "is null" if condition.is_null else "is not null")
    if not isinstance(condition, Comparison):
        listed = tuple(constant(_less(value, values[0].more)) for value in condition.values)
        return Test(left, "in", None, listed)
    op = _OPERATORS.get(condition.op, str(condition.op))
    if condition.right is None:
        return Test(left, op, None, constant(_less(condition.offset, values[0].more)))
    offset = condition.offset if isinstance(condition.offset, str) else condition.offset + values[1].more
    return Test(left, op, _variable(values[1]), constant(_less(offset, values[0].more)))


def _less(value: Value, more: int) -> Value:
    return value if isinstance(value, str) else value - more


def _term(value: StepValue | Constant) -> Term:
    """A value of the row that the step derives."""
    if isinstance(value, Constant):
        return Term(None, None if value.value is None else constant(value.value))
    return Term(_variable(value), value.more)


def _variable(value: StepValue) -> str:
    return _name(value.participant, value.place)


def _name(participant: int, place: int) -> str:
    """What a column of a participant's row is called."""
    return f"{participant}.{place}"
