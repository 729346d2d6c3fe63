"""The tree of a text that `analyzer.algebra.tree_text` writes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import StrEnum
from typing import get_args

from msgspec.structs import fields, replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.calls import aggregate_call, sort_keys, window_call
from streambound.analyzer.expressions.dialect import parsed, parsed_text

_BY_NAME = {operator.__name__: operator for operator in get_args(nodes.Tree)}
_INDENT = "  "


class TreeTextError(ValueError):
    """A text that is no tree's."""


def read_tree(text: str) -> nodes.Tree:
    """The tree of a text, without places in SQL and comments; raises TreeTextError for a text that is none."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    tree, rest = _read(lines, 0)
    if rest:
        raise TreeTextError(f"a tree has one operator at its top: {rest[0]}")
    return tree


def _read(lines: list[str], depth: int) -> tuple[nodes.Tree, list[str]]:
    if not lines:
        raise TreeTextError("an operator has no input")
    line, rest = lines[0], lines[1:]
    if len(line) - len(line.lstrip()) != depth * len(_INDENT):
        raise TreeTextError(f"this line belongs to no operator: {line}")
    operator, given = _operator(line)
    under: dict[str, nodes.Tree] = {}
    for field in fields(operator):
        if field.name in nodes.INPUTS:
            under[field.name], rest = _read(rest, depth + 1)
    missing = [f.name for f in fields(operator) if f.required and f.name not in (*given, *under)]
    if missing:
        raise TreeTextError(f"{operator.__name__} lacks {', '.join(missing)}: {line}")
    make: Callable[..., nodes.Tree] = operator
    return make(**given, **under), rest


def _operator(line: str) -> tuple[type[nodes.Tree], dict[str, object]]:
    try:
        call = ast.parse(line.strip(), mode="eval").body
    except SyntaxError as error:
        raise TreeTextError(f"this is no operator: {line}") from error
    operator = _BY_NAME.get(call.func.id) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else None
    if operator is None or not isinstance(call, ast.Call):
        raise TreeTextError(f"this is no operator: {line}")
    types = operator.__annotations__
    given: dict[str, object] = {}
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg not in types or keyword.arg in nodes.INPUTS:
            raise TreeTextError(f"{operator.__name__} has no {keyword.arg}: {line}")
        try:
            given[keyword.arg] = _value(ast.literal_eval(keyword.value), types[keyword.arg])
        except (ValueError, AttributeError, TypeError) as error:
            raise TreeTextError(f"{keyword.arg} cannot be read: {line}") from error
    return operator, given


def _value(value: object, type_: str) -> object:
    """A field's value from its literal, by the type that the field is declared with."""
    if isinstance(value, str) and type_ in _ENUMS:
        return _ENUMS[type_](value)
    one = next((read for name, read in _READERS.items() if name in type_), None)
    match value:
        case list():
            return tuple(str(part) if one is None else one(str(part)) for part in value)
        case str() if one is not None:
            return one(value)
    return value


def _aggregate(text: str) -> nodes.AggregateCall:
    node = parsed(text, alias=True)
    return replace(aggregate_call(node.unalias(), node.alias, nodes.Scalar), syntax=None)


def _window(text: str) -> nodes.WindowCall:
    node = parsed(text, alias=True)
    window = node.unalias()
    if not isinstance(window, exp.Window):
        raise ValueError(f"no function over a window: {text}")
    return replace(window_call(window, node.alias, nodes.Scalar), syntax=None)


def _sort_key(text: str) -> nodes.SortKey:
    query = parsed_text(f"SELECT 1 ORDER BY {text}")
    return sort_keys(query.args["order"], nodes.Scalar)[0]


def _item(text: str) -> nodes.Item:
    node = parsed_text(text)
    if isinstance(node, exp.Alias):
        return nodes.Named(node.alias, nodes.Scalar(node.this), alias=True)
    star = node if isinstance(node, exp.Star) else node.this
    if isinstance(star, exp.Star):
        without = tuple(column.name for column in star.args.get("except_") or ())
        return nodes.Star(node.table if isinstance(node, exp.Column) else "", without)
    return nodes.Named(node.name if isinstance(node, exp.Column) else text, nodes.Scalar(node))


_READERS: dict[str, Callable[[str], object]] = {
    "Item": _item,
    "Named": _item,
    "AggregateCall": _aggregate,
    "WindowCall": _window,
    "SortKey": _sort_key,
    "Scalar": lambda text: nodes.Scalar(parsed_text(text)),
}
"""What a field of some type is read with."""
_ENUMS: dict[str, type[StrEnum]] = {kind.__name__: kind for kind in (nodes.ApplyKind, nodes.BucketKind, nodes.JoinKind)}
