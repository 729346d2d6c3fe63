"""JSON read into models: a member is a field, of the field's own type, and what is wrong is told at its place.

>>> class Point(Struct):
...     x: int
>>> parsed('[{"x": 1}]', "points.json").read(tuple[Point, ...], "not a list of points")
(Point(x=1),)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from enum import Enum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from msgspec import Struct
from msgspec.structs import asdict, fields

from streambound.analyzer.errors import InputError, StreamboundError

T = TypeVar("T")
_Read = Callable[[Any], Any]
_BLANKS = re.compile(r"[ \t\n\r]*")


class JsonFault(Struct, frozen=True):
    """A fault of a JSON value, with the path of members and indices from the root."""

    message: str
    path: tuple[str | int, ...] = ()


class JsonShapeError(ValueError):
    """A JSON value that has not the shape of a model; ``faults`` are all that is wrong."""

    def __init__(self, faults: tuple[JsonFault, ...]) -> None:
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = faults


class JsonDocument(Struct, frozen=True):
    """A JSON text with its value; ``error`` is what its readers raise."""

    text: str
    value: object
    file: str
    error: type[StreamboundError] = InputError

    def read(self, kind: type[T], what: str, remedy: str = "", closed: bool = True) -> T:
        """The value as one of a type; raises ``error``, at the line of what is wrong, with ``what`` it is not.

        Unless ``closed``, objects may have more members than the type.
        """
        try:
            return structured(self.value, kind, closed)
        except JsonShapeError as error:
            fault = error.faults[0]
            line, column = place_of(self.text, fault.path)
            where = f" at {path_text(fault.path)}" if fault.path else ""
            message = f"{what}: {fault.message}{where}"
            raise self.error(message, file=self.file, line=line, column=column, remedy=remedy) from error


def parsed(text: str, file: str, remedy: str = "", error: type[StreamboundError] = InputError) -> JsonDocument:
    """A JSON text; raises ``error``, at its line, for what is none."""
    try:
        return JsonDocument(text, json.loads(text), file, error)
    except json.JSONDecodeError as found:
        message = f"not JSON: {found.msg}"
        raise error(message, file=file, line=found.lineno, column=found.colno, remedy=remedy) from found
    except RecursionError as found:
        raise error("not JSON: it is nested too deeply", file=file, line=1, remedy=remedy) from found


def structured(value: object, kind: type[T], closed: bool = True) -> T:
    """A JSON value as a value of a type; raises JsonShapeError where it has another shape."""
    return _reader(closed).read(value, kind)


class JsonReader:
    """Reads JSON values as values of types, and takes none for one of another type.

    A member whose field has a default may be missing; others than the fields may be there unless ``closed``. ``own``
    reads the types that are written in a form of their own.
    """

    def __init__(self, closed: bool = True, own: Mapping[type, _Read] | None = None) -> None:
        self._closed = closed
        self._known: dict[Any, _Read] = {Any: lambda value: value, **(own or {})}

    def read(self, value: object, kind: type[T]) -> T:
        """A value of a type; raises JsonShapeError, with all that is wrong, where it has another shape."""
        try:
            found: T = self._of(kind)(value)
        except JsonShapeError:
            raise
        except Exception as error:
            raise JsonShapeError((JsonFault(str(error)),)) from error
        return found

    def _of(self, kind: Any) -> _Read:
        if kind not in self._known:
            self._known[kind] = self._made(kind)
        return self._known[kind]

    def _made(self, kind: Any) -> _Read:
        arguments = get_args(kind)
        match get_origin(kind):
            case origin if origin is Literal:
                return lambda value: _one_of(value, arguments)
            case origin if origin is tuple and arguments[1:] == (Ellipsis,):
                each = self._of(arguments[0])
                return lambda value: tuple(_all((i, each, one) for i, one in enumerate(exactly(value, list))))
            case origin if origin is tuple:
                return partial(_row, [self._of(argument) for argument in arguments])
            case origin if origin in (dict, Mapping):
                each = self._of(arguments[1])
                return lambda value: dict(
                    zip(exactly(value, dict), _all((key, each, one) for key, one in value.items()), strict=True)
                )
            case origin if origin in (Union, UnionType):
                (other,) = (self._of(argument) for argument in arguments if argument is not NoneType)
                return lambda value: None if value is None else other(value)
        if issubclass(kind, Struct):
            return self._members(kind)
        return kind if issubclass(kind, Enum) else lambda value: exactly(value, kind)

    def _members(self, kind: type[Struct]) -> _Read:
        members = {one.name: one for one in fields(kind)}

        def read(value: Any) -> Any:
            more = [name for name in exactly(value, dict) if name not in members] if self._closed else []
            given = [name for name, member in members.items() if member.required or name in value]
            found = _all(
                (
                    (name, self._of(members[name].type) if name in value else _missing, value.get(name))
                    for name in given
                ),
                [JsonFault(f"extra fields found ({', '.join(more)})")] if more else [],
            )
            return kind(**dict(zip(given, found, strict=True)))

        return read


def plain(value: Any) -> Any:
    """A value in JSON's types, which `JsonReader` reads back."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Struct):
        return {name: plain(one) for name, one in asdict(value).items()}
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value.isoformat() if isinstance(value, date) else value


@cache
def _reader(closed: bool) -> JsonReader:
    return JsonReader(closed)


def _all(parts: Iterable[tuple[str | int, _Read, Any]], faults: Iterable[JsonFault] = ()) -> list[Any]:
    """Parts, each read; raises JsonShapeError with what is wrong in any, at its place, and some faults more."""
    found, wrong = [], list[JsonFault]()
    for place, read, value in parts:
        try:
            found.append(read(value))
        except JsonShapeError as error:
            wrong += (JsonFault(fault.message, (place, *fault.path)) for fault in error.faults)
        except Exception as error:
            wrong.append(JsonFault(str(error), (place,)))
    wrong += faults
    if wrong:
        raise JsonShapeError(tuple(wrong))
    return found


def _missing(value: Any) -> Any:
    raise ValueError("required field missing")


def _row(kinds: list[_Read], value: Any) -> tuple[Any, ...]:
    """A list of as many things as there are kinds."""
    if len(exactly(value, list)) != len(kinds):
        raise TypeError(f"{_shown(value)} is too short or long a list")
    return tuple(_all((i, read, one) for i, (read, one) in enumerate(zip(kinds, value, strict=True))))


def exactly(value: Any, kind: type[T]) -> T:
    """A value, if it is of a type and of no other one that Python takes for it."""
    if type(value) is not kind:
        raise TypeError(f"{_shown(value)} is not {_NAMES.get(kind, kind.__name__)}")
    return value


_NAMES = {int: "an integer", str: "a text", bool: "true or false", dict: "an object", list: "a list"}


def _one_of(value: Any, known: tuple[Any, ...]) -> Any:
    if not any(value == one and type(value) is type(one) for one in known):
        raise ValueError(f"{_shown(value)} is not one of {', '.join(map(_shown, known))}")
    return value


def path_text(path: tuple[str | int, ...]) -> str:
    """A path as people write it.

    >>> path_text(("findings", 2, "code"))
    'findings[2].code'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def place_of(text: str, path: tuple[str | int, ...]) -> tuple[int, int]:
    r"""The line and column of the value that a path leads to, as far as it does, in a text that is JSON.

    >>> place_of('{"a": [1,\n 2]}', ("a", 1))
    (2, 2)
    """
    at = _start(text, 0)
    for step in path:
        found = _member(text, at, step)
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _member(text: str, at: int, wanted: str | int) -> int | None:
    """Where a member's value starts, of the object or list that starts at a place."""
    decoder, opening, number = json.JSONDecoder(), text[at], 0
    at = _start(text, at + 1)
    while opening in "{[" and text[at] not in "}]":
        key: str | int = number
        if opening == "{":
            key, at = decoder.raw_decode(text, at)
            at = _start(text, _start(text, at) + 1)
        if key == wanted:
            return at
        at = _start(text, decoder.raw_decode(text, at)[1])
        at = _start(text, at + 1) if text[at] == "," else at
        number += 1
    return None


def _start(text: str, at: int) -> int:
    """The first sign from a place on that is no blank."""
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"
