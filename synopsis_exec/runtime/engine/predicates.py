"""Tests and terms of a plan as SQL; a comparison with NULL is not true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from streambound_runtime.operators.plan import Term, Test
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
    if test.or_null:
        return f"({columns[test.left]} IS NULL OR {one_test(replace(test, or_null=False), columns)})"
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


def term_sql(term: Term, env: Mapping[str, str]) -> str:
    """The value of a term; NULL stays NULL."""
    assert term.offset is None or isinstance(term.offset, int | float | str), "formulas are resolved"
    if term.variable is None:
        return literal(term.offset)
    found = env[term.variable] + (f" - {env[term.minus]}" if term.minus is not None else "")
    found = f"({found} + {literal(term.offset)})" if term.offset else found
    if term.minus is not None:
        return found
    limited = found
    if term.places:
        return _greatest_place(term.places, found)
    for how, limit in (("greatest", term.low), ("least", term.high)):
        if limit is not None:
            assert isinstance(limit, int | float), "formulas are resolved"
            limited = f"{how}({limited}, {literal(limit)})"
    for outer, inner, limits in (("greatest", "least", term.lows), ("least", "greatest", term.highs)):
        if limits:
            several = [f"{outer}({', '.join(term_sql(part, env) for part in limit)})" for limit in limits]
            limited = f"{outer}({limited}, {inner}({', '.join(several)}))"
    return limited if limited == found else f"CASE WHEN {found} IS NOT NULL THEN {limited} END"


def _greatest_place(places: Sequence[Value], found: str) -> str:
    """The greatest of some values that is not above another one."""
    ordered = sorted((place for place in places if place is not None), reverse=True)
    cases = " ".join(f"WHEN {found} >= {literal(place)} THEN {literal(place)}" for place in ordered)
    return f"CASE {cases} END"
