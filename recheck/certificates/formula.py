"""Formulas of sizes: sums, products, ``min`` and ``max`` over symbols: their values, and which functions they are."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Generic, TypeVar

from msgspec import Struct

from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity, greatest, least

T = TypeVar("T")


class _Arithmetic(Struct, Generic[T], frozen=True):
    """The operations of a formula on values of one kind."""

    number: Callable[[int], T]
    operations: Mapping[type[ast.operator], Callable[[T, T], T]]
    functions: Mapping[str, Callable[[Iterable[T]], T]]


_INTEGERS: _Arithmetic[int] = _Arithmetic(
    int, {ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__}, {"min": min, "max": max}
)
_QUANTITIES: _Arithmetic[Quantity] = _Arithmetic(
    Quantity.number,
    {ast.Add: Quantity.__add__, ast.Sub: Quantity.__sub__, ast.Mult: Quantity.__mul__},
    {"min": least, "max": greatest},
)


def evaluate(formula: str, numbers: Mapping[str, int]) -> int:
    """A formula's value; raises RejectedError for what is no formula over the symbols."""
    return _evaluated(formula, numbers, _INTEGERS)


def quantity(formula: str, symbols: Mapping[str, Quantity]) -> Quantity:
    """A formula as a function of its symbols; raises RejectedError for what is no formula over the symbols."""
    return _evaluated(formula, symbols, _QUANTITIES)


def _evaluated(formula: str, symbols: Mapping[str, T], arithmetic: _Arithmetic[T]) -> T:
    try:
        return _value(_parsed(formula), symbols, arithmetic)
    except (SyntaxError, KeyError, TypeError, ValueError, RecursionError, MemoryError) as error:
        raise RejectedError(f"{formula!r} is no formula over {', '.join(sorted(symbols))}") from error


@lru_cache(maxsize=1024)
def _parsed(formula: str) -> ast.expr:
    """A formula's syntax, which is read and never changed: a certificate has the same one in many places."""
    return ast.parse(formula, mode="eval").body


def _value(node: ast.expr, symbols: Mapping[str, T], arithmetic: _Arithmetic[T]) -> T:
    match node:
        case ast.Constant(int(value)) if not isinstance(value, bool):
            return arithmetic.number(value)
        case ast.Name(name):
            return symbols[name]
        case ast.UnaryOp(ast.USub(), operand):
            zero = arithmetic.number(0)
            return arithmetic.operations[ast.Sub](zero, _value(operand, symbols, arithmetic))
        case ast.BinOp(left, operator, right):
            operation = arithmetic.operations[type(operator)]
            return operation(_value(left, symbols, arithmetic), _value(right, symbols, arithmetic))
        case ast.Call(ast.Name(name), [_, _, *_] as arguments, []):
            return arithmetic.functions[name](_value(argument, symbols, arithmetic) for argument in arguments)
    raise ValueError(node)
