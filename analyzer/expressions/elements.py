"""Structs, arrays and maps: the types of their parts. No values: a row's nested values are not looked at."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import ParseError

from streambound.analyzer.constants import BOOLEAN, INT, Folded
from streambound.analyzer.expressions.function import ANY, Function, always
from streambound.analyzer.types import DataType, parse_type


def parts(kind: DataType) -> dict[str, DataType]:
    """The types of a struct's fields by their names in small letters, of an array's ``element``, a map's key and value.

    >>> from streambound.analyzer.constants import kind_of
    >>> [(name, part.name) for name, part in parts(kind_of("map<string,int>")).items()]
    [('key', 'string'), ('value', 'int')]
    """
    try:
        nested = exp.DataType.build(kind.name, dialect="spark")
    except ParseError:
        return {}
    inner = nested.expressions
    if nested.is_type("array") and len(inner) == 1:
        return {"element": _type(inner[0])}
    if nested.is_type("map") and len(inner) == 2:
        return {"key": _type(inner[0]), "value": _type(inner[1])}
    if nested.is_type("struct"):
        fields = (field for field in inner if isinstance(field, exp.ColumnDef) and field.kind is not None)
        return {field.name.lower(): _type(field.kind) for field in fields}
    return {}


def _type(node: exp.Expr | None) -> DataType:
    found = parse_type(node.sql("spark")) if node is not None else None
    return found or ANY


def field_kind(kind: DataType, name: str) -> DataType | None:
    """The type of a struct's field; None where it has no such field, ANY where its fields are not known."""
    known = parts(kind)
    return known.get(name.lower()) if known else ANY


def _element_kind(arguments: tuple[Folded, ...]) -> DataType:
    known = parts(arguments[0].kind)
    return known.get("element", known.get("value", ANY))


def _struct_kind(arguments: tuple[Folded, ...]) -> DataType:
    """The struct of names and values; ANY where a name is no literal, no plain word, or a type is not known."""
    names, kinds = [str(one.value) for one in arguments[::2]], [one.kind for one in arguments[1::2]]
    if len(names) != len(kinds) or ANY in kinds or not all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in names):
        return ANY
    fields = (f"{name}:{kind.name}" for name, kind in zip(names, kinds, strict=True))
    return parse_type(f"struct<{','.join(fields)}>") or ANY


def _first_kind(arguments: tuple[Folded, ...]) -> DataType:
    return arguments[0].kind


ELEMENTS = (
    Function("element", _element_kind, arguments=(2, 2)),
    Function("element_at", _element_kind, arguments=(2, 2)),
    Function("try_element_at", _element_kind, arguments=(2, 2)),
    Function("get", _element_kind, arguments=(2, 2)),
    Function("named_struct", _struct_kind, arguments=(2, 200)),
    Function("array_max", _element_kind),
    Function("array_min", _element_kind),
    Function("size", always(INT)),
    Function("cardinality", always(INT)),
    Function("array_contains", always(BOOLEAN), arguments=(2, 2)),
    Function("array_position", always(parse_type("bigint") or ANY), arguments=(2, 2)),
    Function("map_contains_key", always(BOOLEAN), arguments=(2, 2)),
    Function("array_distinct", _first_kind),
    Function("array_sort", _first_kind),
    Function("sort_array", _first_kind, arguments=(1, 2)),
    Function("array_join", always(parse_type("string") or ANY), arguments=(2, 3)),
)
"""Functions of arrays, maps and structs."""
