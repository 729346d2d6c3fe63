"""Sizes as sympy expressions: simplified, comparable, ready for substitution. sympy is imported only here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streambound.analyzer.symbols import symbols_in
from streambound.criteria.size import Size

if TYPE_CHECKING:
    import sympy


def symbolic(size: Size) -> sympy.Expr:
    """A size as an expression over the symbols `c_S`, `rows_R`, `min_R_a`, `max_R_a`, all integers.

    >>> from streambound.criteria.size import product, total
    >>> str(symbolic(total([product([Size.number(3), Size("c_S")]), Size("c_S")])))
    '4*c_S'
    """
    import sympy

    symbols = {
        name: sympy.Symbol(name, integer=True, nonnegative=name.startswith(("c_", "rows_")) or None)
        for name in symbols_in(size.text)
    }
    expression = sympy.sympify(size.text, locals={**symbols, "min": sympy.Min, "max": sympy.Max})
    return sympy.simplify(expression)
