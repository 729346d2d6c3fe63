"""Tests of a plan as SQL over columns by position; a comparison with NULL is not true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streambound_runtime.operators.plan import Test
from streambound_runtime.row_values import Value

_OPERATORS = {"==": "=", "!=": "<>"}


def all_of(tests: Sequence[Test], columns: Mapping[str, str]) -> str:
    """Whether a row passes all tests; ``columns`` say what each name of theirs is in SQL."""
    return " AND ".join(one_test(test, columns) for test in tests) or "true"


def any_of(alternatives: Sequence[Sequence[Test]] | None, columns: Mapping[str, str]) -> str:
    """Whether a row passes all tests of some alternative, true or false; every row does where there are none."""
    if alternatives is None:
        return "true"
    several = " OR ".join(f"({all_of(tests, columns)})" for tests in alternatives) or "false"
    return f"coalesce({several}, false)"


def one_test(test: Test, columns: Mapping[str, str]) -> str:
    """A test.

    >>> one_test(Test("a", "<=", "b", 5), {"a": "c0", "b": "c1"})
    'c0 <= c1 + 5'
    """
    left, offset = columns[test.left], test.offset
    match test.op:
        case "is null":
            return f"{left} IS NULL"
        case "is not null":
            return f"{left} IS NOT NULL"
        case "in":
            options = offset if isinstance(offset, tuple) else ()
            listed = ", ".join(literal(value) for value in options if value is not None)
            return f"{left} IN ({listed})" if listed else "false"
    assert offset is None or isinstance(offset, int | float | str), "formulas are resolved"
    compare = _OPERATORS.get(test.op, test.op)
    if test.right is None:
        return f"{left} {compare} {literal(offset)}"
    right = columns[test.right]
    return f"{left} {compare} {right}" + (f" + {literal(offset)}" if offset else "")


def literal(value: Value) -> str:
    """An encoded value in SQL.

    >>> literal("it's"), literal(float("inf")), literal(-1)
    ("'it''s'", "'inf'::DOUBLE", '-1')
    """
    match value:
        case None:
            return "NULL"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case float():
            return f"'{value!r}'::DOUBLE"
    return str(value)
