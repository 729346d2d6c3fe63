"""A tree of frozen dataclasses as text, and read back: calls with the fields that differ from their defaults.

Fields that dataclasses leave out of what they show are left out here, too.

The text is Python: a job has its plan as such a literal. Reading it executes nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from math import isfinite

WIDTH = 120


def printed(tree: object, width: int = WIDTH, short: Callable[[object], str | None] | None = None) -> str:
    """The text of a tree, on one line where it fits, else an item a line.

    ``short`` has shorter texts of some parts; then lines are also filled with the items that fit.

    >>> from streambound_runtime.operators.plan import Test
    >>> printed(Test("t_b", "<", "s_a"))
    "Test('t_b', '<', 's_a')"
    """
    return _laid_out(_node(tree, short), width, 0, short is not None)


@dataclass(frozen=True, slots=True)
class _Node:
    """A part of a tree: its text on one line, and what stands between its brackets, with a prefix each."""

    flat: str
    brackets: tuple[str, str] = ("", "")
    items: tuple[tuple[str, _Node], ...] = ()


def _laid_out(node: _Node, width: int, indent: int, filled: bool, before: int = 0) -> str:
    """The text of a node after ``before`` characters of an indented line."""
    if len(node.flat) + indent + before <= width or not node.items:
        return node.flat
    opening, closing = node.brackets
    if filled and len(node.items) == 1:
        ((prefix, item),) = node.items
        begun, end = opening + prefix, "," * (opening == "(") + closing
        return begun + _laid_out(item, width - len(end), indent, filled, before + len(begun)) + end
    inner, lines = indent + 4, [opening]
    room = width - indent - before - len(opening) if filled and opening != "(" else 0
    for prefix, item in node.items:
        flat = f"{prefix}{item.flat},"
        if len(flat) < room:
            lines[-1] += flat if lines[-1] == opening else f" {flat}"
            room -= len(flat) + 1
            continue
        known = len(prefix) < width // 2
        text = _laid_out(item, width - 1, inner, filled, len(prefix)) if known else item.flat
        lines.append(f"{' ' * inner}{prefix}{text},")
        room = width - len(lines[-1]) if filled and "\n" not in text else 0
    if not filled:
        return "\n".join([*lines, " " * indent + closing])
    return "\n".join(lines)[:-1] + closing


def _node(tree: object, short: Callable[[object], str | None] | None) -> _Node:
    text = None if short is None else short(tree)
    if text is not None:
        return _Node(text)
    found = _items(tree)
    if found is None:
        return _Node(repr(tree) if not isinstance(tree, float) or isfinite(tree) else f"float({str(tree)!r})")
    items = tuple([(prefix, _node(item, short)) for prefix, item in found])
    opening, closing = brackets = _brackets(tree)
    comma = "," if opening == "(" and len(items) == 1 else ""
    flat = f"{opening}{', '.join([prefix + item.flat for prefix, item in items])}{comma}{closing}"
    return _Node(flat, brackets, items)


def _brackets(tree: object) -> tuple[str, str]:
    return ("(", ")") if isinstance(tree, tuple) else ("{", "}") if isinstance(tree, dict) else (f"{_name(tree)}(", ")")


def _name(tree: object) -> str:
    return type(tree).__name__


def _items(tree: object) -> list[tuple[str, object]] | None:
    """The items between the brackets of a tree, each with a prefix; None for a plain value."""
    if isinstance(tree, tuple):
        return [("", item) for item in tree]
    if isinstance(tree, dict):
        return [(f"{key!r}: ", item) for key, item in tree.items()]
    if not is_dataclass(tree):
        return None
    kind: type = type(tree)
    found, named = [], False
    for name, by_name, default in _fields(kind):
        item = getattr(tree, name)
        is_default = default is not MISSING and type(default) is type(item) and bool(default == item)
        named |= by_name or isinstance(item, tuple) or is_default or is_dataclass(item)
        if not is_default:
            found.append((f"{name}=" if named else "", item))
    return found


@cache
def _fields(kind: type) -> tuple[tuple[str, bool, object], ...]:
    """The fields of a class: their names, whether they are only given by name, and their defaults, or MISSING."""
    return tuple(
        (each.name, each.kw_only is True, each.default if each.default_factory is MISSING else each.default_factory())
        for each in fields(kind)
        if each.repr
    )


def read(text: str, classes: Iterable[Callable[..., object]]) -> object:
    """The tree that a text prints, of some classes; raises ValueError for anything else.

    >>> from streambound_runtime.operators.plan import Test
    >>> read("Test('t_b', '<', 's_a')", [Test])
    Test(left='t_b', op='<', right='s_a', offset=None, or_null=False)
    """
    try:
        parsed = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"not the text of a plan: {error}") from None
    return _built(parsed, {each.__name__: each for each in classes})


def _built(node: ast.expr, classes: dict[str, Callable[..., object]]) -> object:
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
