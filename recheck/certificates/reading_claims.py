"""Reads a certificate: plain JSON whose members are those of `claims`, of the same types and in no other number."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, get_args, get_origin

from cattrs import Converter, transform_error
from cattrs.v import format_exception

from streambound.analyzer.query import Attribute, Comparison, Op
from streambound.recheck.certificates.claims import Claims, Moved, RejectedError


def read(document: Any) -> Claims:
    """A certificate from plain JSON; raises RejectedError when it has another shape."""
    try:
        return _converter().structure(document, Claims)
    except RejectedError:
        raise
    except Exception as error:  # a group of all that is wrong, each with its path
        raise RejectedError("; ".join(transform_error(error, "the certificate", _told))) from None


@cache
def _converter() -> Converter:
    """What says nothing may not be there, and nothing is taken for another type."""
    converter = Converter(forbid_extra_keys=True)
    for kind in (int, str, bool):
        converter.register_structure_hook(kind, _exactly)
    converter.register_structure_hook(Fraction, lambda value, _: _number(value))
    converter.register_structure_hook(Attribute, lambda value, _: Attribute(**_members(value, "source", "column")))
    converter.register_structure_hook(Moved, _moved)
    converter.register_structure_hook(Comparison, _comparison)
    converter.register_structure_hook_func(_is_list, lambda value, kind: _listed(converter.structure, value, kind))
    return converter


def _is_list(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _exactly(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise RejectedError(f"{value!r} is not of the type {kind.__name__}")
    return value


def _members(value: Any, *texts: str, **others: Callable[[Any], Any]) -> dict[str, Any]:
    """The members of an object: texts, and others that are read; raises RejectedError for more or fewer."""
    if not isinstance(value, dict) or {*value} != {*texts, *others}:
        raise RejectedError(f"{value!r} has not the members {', '.join((*texts, *others))}")
    return {name: others[name](value[name]) if name in others else _exactly(value[name], str) for name in value}


def _listed(read: Callable[[Any, Any], Any], value: Any, kind: Any) -> tuple[Any, ...]:
    """A list of things of one kind, or of as many as there are kinds."""
    kinds = get_args(kind)
    each = kinds[:1] * len(value) if kinds[-1] is Ellipsis and isinstance(value, list) else kinds
    if not isinstance(value, list) or len(value) != len(each):
        raise RejectedError(f"{value!r} is no list, or too short or long a one")
    return tuple(read(one, own) for one, own in zip(value, each, strict=True))


def _moved(value: Any, _: Any) -> Moved:
    found = _members(value, "source", "column", offset=lambda offset: _exactly(offset, int))
    return Moved((Attribute(found["source"], found["column"]), found["offset"]))


def _comparison(value: Any, _: Any) -> Comparison:
    def attribute(one: Any) -> Attribute:
        return Attribute(**_members(one, "source", "column"))

    found = _members(
        value, "op", left=attribute, right=lambda one: None if one is None else attribute(one), offset=_offset
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


def _told(error: BaseException, kind: type | None) -> str:
    return str(error) if isinstance(error, RejectedError) else format_exception(error, kind)
