"""Formulas over relations' rows, and plans as text."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

from streambound.criteria import size as criteria
from streambound.criteria.size import (
    Addition,
    Maximum,
    Multiplication,
    Number,
    Symbol,
    least,
    negative,
    product,
    total,
)
from streambound.synopsis_exec import synopsis_plan
from streambound.synopsis_exec.simulate import relation_tables
from streambound_runtime import text
from streambound_runtime.frontier import intervals
from streambound_runtime.operators import formula, plan
from streambound_runtime.operators.formula import (
    Extreme,
    Formula,
    Greatest,
    Least,
    Product,
    RowCount,
    Sum,
    Unknown,
    value,
)

R = relation_tables({"R": [{"a": 3}, {"a": None}, {"a": 8}], "E": []})
KNOWN: dict[str, Formula] = {"rows_R": RowCount("R"), "max_R_a": Extreme("R", "a", True), "c_S": 2}


@pytest.mark.parametrize("module", [formula, text, intervals, synopsis_plan, plan])
def test_doctests(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (7, 7),
        (RowCount("R"), 3),
        (Extreme("R", "a", False), 3),
        (Extreme("R", "a", True), 8),
        (Sum((Extreme("E", "a", True), 1)), 0),
        (Sum((Extreme("E", "a", False), 1)), 1),
        (Product((2, Sum((RowCount("R"), 1)))), 8),
        (Least((RowCount("R"), 2)), 2),
        (Greatest((RowCount("R"), 2, Extreme("R", "a", True))), 8),
        (Sum((Unknown("c_S"), 1)), None),
    ],
)
def test_values(of: Formula, expected: int | None) -> None:
    assert value(of, R) == expected


ROWS, TIMES = Symbol("rows_R"), Symbol("c_S")
SIZES = [
    total([product([Number(3), ROWS]), Number(2)]),
    product([Maximum((Number(0), Addition((Symbol("max_R_a"), Number(-3))))), TIMES]),
    Multiplication((Addition((ROWS, Number(1))), Addition((ROWS, Number(-1))))),
    least([negative(ROWS), TIMES]),
]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.text)
def test_the_formula_of_a_size_has_its_value(size: criteria.Size) -> None:
    assert value(synopsis_plan.as_formula(size, KNOWN), R) == size.at({"rows_R": 3, "max_R_a": 8, "c_S": 2})


def test_resolving_replaces_formulas_wherever_they_are() -> None:
    test = plan.Test("a", "<=", None, Extreme("R", "a", True))
    term = plan.Term("a", low=RowCount("R"), highs=((plan.Term(None, RowCount("R")),),))
    found = formula.resolved((test, {"x": 1}, term), R)
    assert found == (plan.Test("a", "<=", None, 8), {"x": 1}, plan.Term("a", low=3, highs=((plan.Term(None, 3),),)))


CLASSES = [plan.Term, plan.Test, RowCount]
TREES: list[Any] = [
    plan.Term("it's", -3, places=(float("-inf"), 1.5, "ü\n")),
    plan.Term(None, None, low=RowCount("R")),
    (plan.Test("a", "in", None, ("x", None)),),
    {"a": (), "b": (1,)},
    plan.Term("v" * 200, lows=((plan.Term("w" * 100),),) * 3),
]


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("width", [20, 120])
def test_what_is_printed_is_read_back_and_is_python(tree: Any, width: int) -> None:
    shown = text.printed(tree, width)
    assert text.read(shown, CLASSES) == tree
    assert eval(shown, {each.__name__: each for each in CLASSES}) == tree


@pytest.mark.parametrize(
    "shown",
    ["Term(", "__import__('os')", "Term('a', nothing=1)", "Other(1)", "Term(*x)", "[1]", "f'{1}'"],
)
def test_nothing_else_is_read(shown: str) -> None:
    with pytest.raises(ValueError, match="not the text of a plan"):
        text.read(shown, CLASSES)
