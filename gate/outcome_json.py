"""Outcomes as plain JSON values and back, for the cache and for worker processes.

A dataclass is the list of its fields in their order, a tuple a list, an enumeration its value, a date its text;
mappings are kept as they are. The file's text is not in it: whoever reads an outcome back has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from streambound.analyzer.spans import SourceText
from streambound.reports.outcome import Outcome


def to_json(outcome: Outcome) -> Any:
    """An outcome as JSON values, without its source."""
    return [_plain(getattr(outcome, name)) for name in _names(Outcome) if name != "source"]


def from_json(value: Any, source: SourceText) -> Outcome:
    """The outcome that `to_json` made of one with this source; raises ValueError or TypeError for anything else."""
    names = [name for name in _names(Outcome) if name != "source"]
    readers = _readers(Outcome)
    found = {name: readers[name](item) for name, item in zip(names, value, strict=True)}
    return Outcome(source=source, **found)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return [_plain(getattr(value, name)) for name in _names(type(value))]
    return value.isoformat() if isinstance(value, date) else value


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _readers(kind: type) -> dict[str, Callable[[Any], Any]]:
    hints = get_type_hints(kind)
    return {name: _reader(hints[name]) for name in _names(kind)}


@cache
def _reader(hint: Any) -> Callable[[Any], Any]:
    """The function from JSON to a value of a type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        (inner,) = (argument for argument in arguments if argument is not NoneType)
        read = _reader(inner)
        return lambda value: None if value is None else read(value)
    if origin is tuple:
        read = _reader(arguments[0])
        return lambda value: tuple([read(item) for item in value])
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint
    if is_dataclass(hint):
        assert isinstance(hint, type), "a class, not an instance"
        return _dataclass_reader(hint)
    if hint is date:
        return date.fromisoformat
    if hint in (str, int, bool) or origin in (dict, Mapping):
        return _same
    raise TypeError(f"outcomes with a {hint} cannot be read back")


def _same(value: Any) -> Any:
    return value


def _dataclass_reader(kind: type) -> Callable[[Any], Any]:
    readers = tuple(_readers(kind).values())
    if all(reader is _same for reader in readers):
        return lambda value: kind(*value)
    return lambda value: kind(*[read(item) for read, item in zip(readers, value, strict=True)])
