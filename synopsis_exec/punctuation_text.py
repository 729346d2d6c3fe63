"""What a job needs of the package `punctuation`, as text: the definitions that it uses, and those that they use."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from streambound import punctuation

_MODULES = ("pattern", "match", "combine", "coverage", "union", "sort")
"""In the order of their imports."""


class _Definition(NamedTuple):
    """A definition of a module: the names that it makes and uses, and its text with the docstring below it."""

    makes: frozenset[str]
    uses: frozenset[str]
    text: str
    is_block: bool


@lru_cache(maxsize=1)
def punctuation_text(user: str) -> str:
    """The definitions that a module's text needs, in an order in which they can be executed."""
    parts: list[str] = []
    was_block = True
    for definition in _needed(user):
        gap = "\n\n" if parts and (definition.is_block or was_block) else ""
        parts.append(gap + definition.text)
        was_block = definition.is_block
    return "".join(parts)


def punctuation_imports(user: str) -> str:
    """The imports of other packages that these definitions need."""
    used = frozenset().union(*(definition.uses for definition in _needed(user)))
    lines = []
    for name in _MODULES:
        for node in ast.parse(_source(name)).body:
            if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith(("streambound", "__future__")):
                node.names = [alias for alias in node.names if alias.name in used]
                lines += [ast.unparse(node)] if node.names else []
    return "\n".join(lines)


def _source(name: str) -> str:
    return (Path(punctuation.__file__).parent / f"{name}.py").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _needed(user: str) -> tuple[_Definition, ...]:
    found = [definition for name in _MODULES for definition in _definitions(_source(name))]
    wanted = _names(ast.parse(user))
    while more := frozenset().union(*(d.uses for d in found if d.makes & wanted)) - wanted:
        wanted |= more
    return tuple(definition for definition in found if definition.makes & wanted)


def _definitions(text: str) -> list[_Definition]:
    """The definitions of a module below its docstring and imports."""
    lines = text.splitlines(keepends=True)
    found: list[_Definition] = []
    for node in ast.parse(text).body[1:]:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.If):
            continue
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        part = "".join(lines[start - 1 : node.end_lineno])
        if isinstance(node, ast.Expr):
            found[-1] = found[-1]._replace(text=found[-1].text + part)
            continue
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            makes = frozenset({node.name})
        else:
            makes = frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        found.append(_Definition(makes, _names(node), part, not isinstance(node, ast.Assign | ast.AnnAssign)))
    return found


def _names(tree: ast.AST) -> frozenset[str]:
    """The names that a text mentions."""
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
