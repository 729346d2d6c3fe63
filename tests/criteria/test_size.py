"""Sizes: what is known is a number, what is not a formula, and both agree with sympy."""

from __future__ import annotations

import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from streambound.analyzer.symbols import symbols_in
from streambound.criteria.size import Number, Size, Symbol, least, product, symbolic, total

VALUES = {"c_S": 3, "c_T": 2, "rows_R": 7}


@st.composite
def sizes(draw: st.DrawFn, depth: int = 3) -> tuple[Size, int]:
    """A size with what it must be worth once the symbols have their values."""
    kind = draw(st.sampled_from(["number", "symbol", "known"] + ["product", "total", "least"] * (depth > 0)))
    if kind == "number":
        value = draw(st.integers(0, 9))
        return Number(value), value
    if kind in ("symbol", "known"):
        name = draw(st.sampled_from(sorted(VALUES)))
        return Symbol(name, VALUES[name] if kind == "known" else None), VALUES[name]
    parts = draw(st.lists(sizes(depth - 1), min_size=1, max_size=3))
    values = [value for _, value in parts]
    members = [size for size, _ in parts]
    if kind == "product":
        return product(members), sympy.prod(values)
    return (total(members), sum(values)) if kind == "total" else (least(members), min(values))


@settings(deadline=None, max_examples=150, derandomize=True)
@given(sizes())
def test_formula_value_and_sympy_agree(case: tuple[Size, int]) -> None:
    size, worth = case
    assert eval(size.text, {"__builtins__": {"min": min, "max": max}}, VALUES) == worth
    assert size.at(VALUES) == worth
    assert size.value is None or size.value >= worth
    assert size.symbols == symbols_in(size.text)
    if not any(name in size.text for name in VALUES):
        assert size.value == worth
    expression = symbolic(size)
    assert expression.subs({s: VALUES[s.name] for s in expression.free_symbols}) == worth


def test_formulas_read_well() -> None:
    four_c = product([Number(2), Symbol("c_S"), Number(2)])
    assert four_c.text == "4*c_S"
    assert total([four_c, Number(1), Number(2)]).text == "4*c_S + 3"
    assert product([Number(1)]).text == "1"
    assert least([Symbol("rows_R", 4), Number(9)]).value == 4
    assert least([Symbol("rows_R"), Number(9)]).value == 9
    assert product([Symbol("rows_R"), Number(9)]).value is None
    assert product([total([Symbol("c_S"), Symbol("c_T")]), Number(2)]).text == "2*(c_S + c_T)"


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.lists(sizes(), min_size=1, max_size=4), st.fixed_dictionaries({name: st.integers(0, 9) for name in VALUES}))
def test_the_least_is_that_of_all_and_names_no_multiple_of_another(
    cases: list[tuple[Size, int]], numbers: dict[str, int]
) -> None:
    members = [size for size, _ in cases]
    found = least(members)
    assert found.at(numbers) == min(member.at(numbers) for member in members)
    assert least([*members, *(product([Number(2), member]) for member in members)]) == found


def test_a_multiple_in_a_minimum_is_left_out() -> None:
    rows, width = Symbol("rows_r"), product([Symbol("c_S"), total([Symbol("rows_r"), Number(1)])])
    assert least([product([Number(257), rows]), product([Number(3), rows])]).text == "3*rows_r"
    assert least([product([Number(2), width]), rows, width, Number(7), Number(5)]).text == (
        "min(5, (rows_r + 1)*c_S, rows_r)"
    )
    assert least([rows, Symbol("c_S")]).text == "min(c_S, rows_r)"
