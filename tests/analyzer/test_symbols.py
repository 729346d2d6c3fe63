"""Symbols: readable for ordinary names, and never one symbol for two quantities."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from streambound.analyzer.symbols import symbol, symbols_in
from support.profiles import examples

NAMES = st.text(alphabet="aR1_-_ é²", max_size=5)
QUANTITIES = st.one_of(
    st.tuples(st.sampled_from(["c", "rows"]), NAMES), st.tuples(st.sampled_from(["min", "max"]), NAMES, NAMES)
)


@examples(300)
@given(QUANTITIES, QUANTITIES)
def test_two_quantities_have_two_symbols(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assume(one != other)
    assert symbol(*one) != symbol(*other)


@examples(150)
@given(QUANTITIES)
def test_a_symbol_is_a_python_name(quantity: tuple[str, ...]) -> None:
    text = symbol(*quantity)
    assert text.isascii()
    assert text.isidentifier()
    assert symbols_in(f"max(0, {text} - 1)") == {text}


def test_names_that_only_joining_makes_equal() -> None:
    names = ("R", "R_a", "a_b", "b", "a", "S-1", "S_1", "_", "a_", "_a", "2d_1", "S_2d_1", "")
    pairs = {symbol("max", table, column) for table in names for column in names}
    assert len(pairs) == len(names) ** 2
    assert len({symbol("c", name) for name in names}) == len(names)
