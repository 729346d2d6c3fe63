"""Queries without what SQL text cannot carry, for comparisons."""

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

IGNORED = ("span", "name_span", "operands", "file", "line")


def meaning(value: Any, ignored: tuple[str, ...] = IGNORED) -> Any:
    """A value of the IR as nested tuples, without spans and the like (and without a statement's own name)."""
    if isinstance(value, Struct):
        named = asdict(value).items()
        return (type(value).__name__, *(meaning(part, ignored) for name, part in named if name not in ignored))
    if isinstance(value, tuple | list):
        return tuple(meaning(part, ignored) for part in value)
    return value
