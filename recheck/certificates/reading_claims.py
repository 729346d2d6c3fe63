"""Reads a certificate: plain JSON whose members are those of `claims`, of the same types and in no other number."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from streambound.analyzer.json_models import JsonReader, JsonShapeError, exactly, path_text
from streambound.analyzer.query import Attribute, Comparison, Op
from streambound.recheck.certificates.claims import Claims, Moved, RejectedError

T = TypeVar("T")


def read(document: Any) -> Claims:
    """A certificate from plain JSON; raises RejectedError when it has another shape."""
    return read_as(Claims, document)


def read_as(kind: type[T], document: Any) -> T:
    """A certificate of some kind from plain JSON; raises RejectedError when it has another shape."""
    try:
        return _READER.read(document, kind)
    except JsonShapeError as error:
        places = ((fault, path_text(("the certificate", *fault.path))) for fault in error.faults)
        raise RejectedError("; ".join(f"{fault.message} @ {place}" for fault, place in places)) from None


def _members(value: Any, *texts: str, **others: Callable[[Any], Any]) -> dict[str, Any]:
    """The members of an object: texts, and others that are read; raises RejectedError for more or fewer."""
    if not isinstance(value, dict) or {*value} != {*texts, *others}:
        raise RejectedError(f"{value!r} has not the members {', '.join((*texts, *others))}")
    return {name: others[name](value[name]) if name in others else exactly(value[name], str) for name in value}


def _moved(value: Any) -> Moved:
    found = _members(value, "source", "column", offset=lambda offset: exactly(offset, int))
    return Moved((Attribute(found["source"], found["column"]), found["offset"]))


def _attribute(value: Any) -> Attribute:
    return Attribute(**_members(value, "source", "column"))


def _comparison(value: Any) -> Comparison:
    found = _members(
        value, "op", left=_attribute, right=lambda one: None if one is None else _attribute(one), offset=_offset
    )
    if found["op"] not in [known.value for known in Op]:
        raise RejectedError(f"{found['op']!r} is no comparison")
    return Comparison(found["left"], Op(found["op"]), found["right"], found["offset"])


def _offset(value: Any) -> str | int | Fraction:
    if isinstance(value, str):
        return value
    number = _number(value)
    return int(number) if number.denominator == 1 else number


def _number(value: Any) -> Fraction:
    """A number; one that is no integer is a text like ``1/2``."""
    if type(value) is int:
        return Fraction(value)
    try:
        return Fraction(value if isinstance(value, str) else "")
    except (ValueError, ZeroDivisionError):
        raise RejectedError(f"{value!r} is not a number") from None


_READER = JsonReader(own={Fraction: _number, Attribute: _attribute, Moved: _moved, Comparison: _comparison})
"""What says nothing may not be there, and nothing is taken for another type."""
