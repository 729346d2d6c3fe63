"""What a row-wise operator does with encoded values whose column it does not know: they are compared and added.

Values of one column have one type, so that Python's own operators serve; NULL is never among their operands.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import cast

from streambound_runtime.row_values import Value

Comparison = Callable[[Value, Value], bool]
COMPARISONS = cast(
    "dict[str, Comparison]",
    {"<": operator.lt, "<=": operator.le, "==": operator.eq, ">=": operator.ge, ">": operator.gt, "!=": operator.ne},
)
"""By the operators of `operators.plan.Test`."""
plus: Callable[[Value, Value], Value] = operator.add
minus: Callable[[Value, Value], Value] = operator.sub


def integer(value: object) -> int:
    """A value of a column of integers, such as a timestamp, that is not NULL."""
    assert isinstance(value, int), "the plan says that it is an integer"
    return value
