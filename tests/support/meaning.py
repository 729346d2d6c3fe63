"""Queries without what SQL text cannot carry, for comparisons."""

from dataclasses import fields, is_dataclass
from typing import Any

IGNORED = ("span", "name_span", "operands", "file", "line")


def meaning(value: Any, ignored: tuple[str, ...] = IGNORED) -> Any:
    """A value of the IR as nested tuples, without spans and the like (and without a statement's own name)."""
    if is_dataclass(value) and not isinstance(value, type):
        named = ((field.name, getattr(value, field.name)) for field in fields(value) if field.init)
        return (type(value).__name__, *(meaning(part, ignored) for name, part in named if name not in ignored))
    if isinstance(value, tuple | list):
        return tuple(meaning(part, ignored) for part in value)
    return value
