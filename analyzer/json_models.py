"""JSON read into dataclasses: a member is a field, of the field's own type, and what is wrong is told at its place.

>>> @dataclass(frozen=True)
... class Point:
...     x: int
>>> parsed('[{"x": 1}]', "points.json").read(tuple[Point, ...], "not a list of points")
(Point(x=1),)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

from streambound.analyzer.errors import InputError, StreamboundError

if TYPE_CHECKING:
    from cattrs import Converter

T = TypeVar("T")
_STEP = re.compile(r"\.(?P<member>\w+)|\[(?P<number>\d+)\]|\['(?P<key>.*?)(?:'\]|\Z)")
_BLANKS = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class JsonFault:
    """What is wrong with a JSON value, and the members and places that lead to it from the root."""

    message: str
    path: tuple[str | int, ...] = ()


class JsonShapeError(ValueError):
    """A JSON value that has not the shape of a model; ``faults`` are all that is wrong."""

    def __init__(self, faults: tuple[JsonFault, ...]) -> None:
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class JsonDocument:
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
    try:
        return converter(closed).structure(value, kind)
    except Exception as error:  # a group of all that is wrong, each with its path
        raise JsonShapeError(tuple(faults_of(error))) from error


@cache
def converter(closed: bool = True) -> Converter:
    """The converter for types that need no hooks of their own."""
    return strict_converter(closed)


def strict_converter(closed: bool = True) -> Converter:
    """What takes no value for one of another type; a member whose field has a default may be missing."""
    from cattrs import Converter
    from cattrs.gen import make_dict_structure_fn

    found = Converter(forbid_extra_keys=closed, unstruct_collection_overrides={tuple: list})

    def members(kind: type[Any]) -> Callable[[Any, Any], Any]:
        read = make_dict_structure_fn(kind, found, _cattrs_forbid_extra_keys=closed)
        return lambda value, kind: read(exactly(value, dict), kind)

    for kind in (int, str, bool):
        found.register_structure_hook(kind, _plain)
    found.register_structure_hook_factory(is_dataclass, members)
    found.register_structure_hook_func(_is_of(Literal), _one_of)
    found.register_structure_hook_func(_is_of(tuple), lambda value, kind: _listed(found.structure, value, kind))
    return found


def _plain(value: Any, kind: type[T]) -> T:
    """A text, a number or a truth value; such classes are enumerations, too."""
    return kind(value) if issubclass(kind, Enum) else exactly(value, kind)


def _is_of(origin: Any) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) is origin


def exactly(value: Any, kind: type[T]) -> T:
    """A value, if it is of a type and of no other one that Python takes for it."""
    if type(value) is not kind:
        raise TypeError(f"{_shown(value)} is not {_NAMES.get(kind, kind.__name__)}")
    return value


_NAMES = {int: "an integer", str: "a text", bool: "true or false", dict: "an object"}


def _one_of(value: Any, kind: Any) -> Any:
    if not any(value == one and type(value) is type(one) for one in get_args(kind)):
        raise ValueError(f"{_shown(value)} is not one of {', '.join(map(_shown, get_args(kind)))}")
    return value


def _listed(read: Callable[[Any, Any], Any], value: Any, kind: Any) -> tuple[Any, ...]:
    """A list of things of one kind, or of as many as there are kinds; its errors know their places in it."""
    from cattrs import IterableValidationError, IterableValidationNote

    kinds = get_args(kind)
    each = kinds[:1] * len(value) if kinds[-1] is Ellipsis and isinstance(value, list) else kinds
    if not isinstance(value, list) or len(value) != len(each):
        raise TypeError(f"{_shown(value)} is no list, or too short or long a one")
    found, wrong = [], []
    for number, (one, own) in enumerate(zip(value, each, strict=True)):
        try:
            found.append(read(one, own))
        except Exception as error:
            error.add_note(IterableValidationNote(f"at {number}", number, own))
            wrong.append(error)
    if wrong:
        raise IterableValidationError(f"while structuring {kind}", wrong, kind)
    return tuple(found)


def faults_of(error: Exception) -> Iterator[JsonFault]:
    """What an error of a converter says is wrong."""
    from cattrs import transform_error
    from cattrs.v import format_exception

    def said(one: BaseException, kind: type | None) -> str:
        from_cattrs = type(one).__module__.partition(".")[0] == "cattrs"
        return format_exception(one, kind) if from_cattrs or isinstance(one, KeyError) else str(one)

    for text in transform_error(error, "$", said):
        message, _, path = text.rpartition(" @ ")
        yield JsonFault(message, tuple(_steps(path)))


def _steps(path: str) -> Iterator[str | int]:
    for step in _STEP.finditer(path):
        yield int(step["number"]) if step["number"] else step["member"] or step["key"]


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
