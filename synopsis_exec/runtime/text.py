"""A tree of frozen dataclasses as text, and read back: calls with the fields that differ from their defaults.

The text is Python: a job has its plan as such a literal. Reading it executes nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import MISSING, Field, fields, is_dataclass
from math import isfinite
from typing import Any

WIDTH = 120


def printed(tree: Any, width: int = WIDTH, indent: int = 0) -> str:
    """The text of a tree, on one line where it fits, else an item a line.

    >>> from streambound_runtime.plan import Test
    >>> printed(Test("t_b", "<", "s_a"))
    "Test('t_b', '<', 's_a')"
    """
    flat, items = _flat(tree), _items(tree)
    if len(flat) + indent <= width or not items:
        return flat
    opening, closing = _brackets(tree)
    inner = indent + 4
    lines = []
    for prefix, item in items:
        text = printed(item, width - 1, inner + len(prefix)) if len(prefix) < width // 2 else _flat(item)
        if "\n" in text:
            text = printed(item, width - 1, inner)
        lines.append(f"{' ' * inner}{prefix}{text},")
    return "\n".join([opening, *lines, " " * indent + closing])


def _flat(tree: Any) -> str:
    items = _items(tree)
    if items is None:
        return repr(tree) if not isinstance(tree, float) or isfinite(tree) else f"float({str(tree)!r})"
    opening, closing = _brackets(tree)
    comma = "," if opening == "(" and len(items) == 1 else ""
    return f"{opening}{', '.join(prefix + _flat(item) for prefix, item in items)}{comma}{closing}"


def _brackets(tree: Any) -> tuple[str, str]:
    return ("(", ")") if isinstance(tree, tuple) else ("{", "}") if isinstance(tree, dict) else (f"{_name(tree)}(", ")")


def _name(tree: Any) -> str:
    return type(tree).__name__


def _items(tree: Any) -> list[tuple[str, Any]] | None:
    """What stands between the brackets of a tree, with a prefix each; None for a plain value."""
    if isinstance(tree, tuple):
        return [("", item) for item in tree]
    if isinstance(tree, dict):
        return [(f"{key!r}: ", item) for key, item in tree.items()]
    if not is_dataclass(tree):
        return None
    found, named = [], False
    for field in fields(tree):
        item = getattr(tree, field.name)
        named |= field.kw_only is True or isinstance(item, tuple) or is_dataclass(item) or _is_default(field, item)
        if not _is_default(field, item):
            found.append((f"{field.name}=" if named else "", item))
    return found


def _is_default(field: Field[Any], item: Any) -> bool:
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return default is not MISSING and type(default) is type(item) and bool(default == item)


def read(text: str, classes: Iterable[type]) -> Any:
    """The tree that a text prints, of some classes; raises ValueError for anything else.

    >>> from streambound_runtime.plan import Test
    >>> read("Test('t_b', '<', 's_a')", [Test])
    Test(left='t_b', op='<', right='s_a', offset=None)
    """
    try:
        parsed = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"not the text of a plan: {error}") from None
    return _built(parsed, {each.__name__: each for each in classes})


def _built(node: ast.expr, classes: dict[str, type]) -> Any:
    match node:
        case ast.Tuple(elts=items):
            return tuple(_built(item, classes) for item in items)
        case ast.Dict(keys=keys, values=values) if None not in keys:
            pairs = zip(keys, values, strict=True)
            return {_built(key, classes): _built(item, classes) for key, item in pairs if key is not None}
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in classes:
            named = {word.arg: _built(word.value, classes) for word in keywords if word.arg is not None}
            try:
                return classes[name](*(_built(item, classes) for item in args), **named)
            except TypeError as error:
                raise ValueError(f"not the text of a plan: {error}") from None
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(number))]):
            return float(number)
        case ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return ast.literal_eval(node)
        case _:
            raise ValueError(f"not the text of a plan: {ast.unparse(node)}")
