"""Formulas of sizes: sums, products, ``min`` and ``max`` over symbols, evaluated on numbers."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from recheck.claims import RejectedError

_OPERATIONS = {ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__}
_FUNCTIONS = {"min": min, "max": max}


def evaluate(formula: str, numbers: Mapping[str, int]) -> int:
    """A formula's value; raises RejectedError for what is no formula over the symbols."""
    try:
        return _value(ast.parse(formula, mode="eval").body, numbers)
    except (SyntaxError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise RejectedError(f"{formula!r} is no formula over {', '.join(sorted(numbers))}") from error


def _value(node: ast.expr, numbers: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(name):
            return numbers[name]
        case ast.UnaryOp(ast.USub(), operand):
            return -_value(operand, numbers)
        case ast.BinOp(left, operator, right):
            return _OPERATIONS[type(operator)](_value(left, numbers), _value(right, numbers))
        case ast.Call(ast.Name(name), [_, _, *_] as arguments, []):
            return _FUNCTIONS[name](_value(argument, numbers) for argument in arguments)
    raise ValueError(node)
