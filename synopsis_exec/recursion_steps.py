"""One step of a recursion: its conditions and its values, over the recursive rows and the block beside them."""

from __future__ import annotations

from streambound.analyzer.query import Comparison, Condition, Constant, NullTest, Op
from streambound.analyzer.values import Value
from streambound.criteria.operators.parts import StepValue
from streambound.synopsis_exec.branch_plan import constant
from streambound_runtime.operators.plan import Term, Test

_OPERATORS = {Op.EQ: "==", Op.NE: "!="}


def step_test(condition: Condition, values: tuple[StepValue, ...]) -> Test:
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


def step_term(value: StepValue | Constant) -> Term:
    """A value of the row that the step derives."""
    if isinstance(value, Constant):
        return Term(None, None if value.value is None else constant(value.value))
    return Term(_variable(value), value.more)


def _variable(value: StepValue) -> str:
    return step_variable(value.participant, value.place)


def step_variable(participant: int, place: int) -> str:
    """The name of a column of a participant's row."""
    return f"{participant}.{place}"
