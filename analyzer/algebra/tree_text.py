"""A tree as text, an operator a line, its inputs indented below it.

Project(items=['S.a', 'T.b AS x'])
  Join(kind='inner', condition='S.ts > T.ts')
    Scan(table='S', alias='S')
    Scan(table='T', alias='T')
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum

from msgspec.structs import fields
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.calls import call_syntax

_INDENT = "  "


def tree_text(tree: nodes.Tree, note: Callable[[nodes.Tree], str] = lambda tree: "") -> str:
    """The tree as text. ``note``: what to say of each operator, in a comment behind it."""
    return "\n".join(_lines(tree, note, 0))


def _lines(tree: nodes.Tree, note: Callable[[nodes.Tree], str], depth: int) -> Iterator[str]:
    own = [field for field in fields(tree) if field.name not in (*nodes.Operator.DESCRIPTION, *nodes.INPUTS)]
    given = [(field.name, getattr(tree, field.name), field.default) for field in own]
    told = ", ".join(f"{name}={_literal(value)!r}" for name, value, default in given if value != default)
    said = note(tree)
    yield f"{_INDENT * depth}{type(tree).__name__}({told})" + (f"  # {said}" if said else "")
    for under in nodes.inputs(tree):
        yield from _lines(under, note, depth + 1)


def _literal(value: object) -> object:
    match value:
        case nodes.Scalar():
            return value.text
        case nodes.Named():
            named = exp.alias_(value.value.syntax, value.name, quoted=True)
            return named.sql("spark", comments=False) if value.alias else value.value.text
        case nodes.AggregateCall(name=name) | nodes.WindowCall(name=name):
            call = call_syntax(value, lambda scalar: scalar.syntax.copy())
            return exp.alias_(call, name, quoted=True).sql("spark", comments=False)
        case nodes.SortKey():
            return _ordered(value)
        case nodes.Star(alias, without):
            star = f"{exp.to_identifier(alias, quoted=True).sql('spark')}.*" if alias else "*"
            names = ", ".join(exp.to_identifier(name, quoted=True).sql("spark") for name in without)
            return f"{star} EXCEPT ({names})" if names else star
        case tuple():
            return [_literal(one) for one in value]
        case StrEnum():
            return str(value)
    return value


def _ordered(key: nodes.SortKey) -> str:
    return f"{key.value.text}{' DESC' * key.descending} NULLS {'FIRST' if key.nulls_first else 'LAST'}"
