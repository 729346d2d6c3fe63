"""A certificate as it was read: what it claims, its shape checked and nothing else.

It is plain JSON whose members are those of these classes, of the same types and in no other number.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NewType, TypeVar

from msgspec import Struct

from streambound.analyzer.json_models import JsonReader, JsonShapeError, exactly, path_text
from streambound.analyzer.query import Attribute, Comparison, Op

VERSION = 3
Moved = NewType("Moved", tuple[Attribute, int])
"""An attribute with an offset, as one object."""


class RejectedError(Exception):
    """Why a certificate is not accepted."""


def once(what: str, *parts: object) -> None:
    """Raises RejectedError where a list says something of the same twice: which one counts would be a guess."""
    if len({*parts}) < len(parts):
        raise RejectedError(f"{what} says the same twice")


class ClaimedAmount(Struct, frozen=True):
    """A formula, and a number it is claimed never to exceed."""

    formula: str
    value: int | None


class ClaimedLimit(Struct, frozen=True):
    """The tightest of a constant and of extreme values of relations or finite streams, each with an offset.

    Where it clips a value, a finite stream's attribute stands for its value in the same partial match.
    """

    constant: int | None
    relations: tuple[Moved, ...]

    def __post_init__(self) -> None:
        once("'relations' of a limit", *(attribute for attribute, _ in self.relations))


class ClaimedCut(Struct, frozen=True):
    """Separates the values above a value, which is itself above iff ``included``, from the others."""

    value: str
    included: bool


class ClaimedStored(Struct, frozen=True):
    """An attribute in a key, the limits that it is clipped to, and attributes that equal it up to an offset.

    With ``cuts`` values between the same two are one.
    """

    attribute: Attribute
    low: tuple[ClaimedLimit, ...]
    high: tuple[ClaimedLimit, ...]
    equal: tuple[tuple[Attribute, int], ...]
    cuts: tuple[ClaimedCut, ...] = ()

    def __post_init__(self) -> None:
        once("'equal' of an attribute", self.attribute, *(attribute for attribute, _ in self.equal))
        once("'cuts' of an attribute", *self.cuts)


class ClaimedExtremum(Struct, frozen=True):
    """The best of a sum's values: the least sum limits attributes outside from above, or the greatest from below."""

    greatest: bool
    of: tuple[tuple[Attribute, Fraction], ...]
    limits: tuple[tuple[Attribute, Fraction, bool], ...]

    def __post_init__(self) -> None:
        once("'of' of an extremum", *self.of)
        once("'limits' of an extremum", *self.limits)


class ClaimedAge(Struct, frozen=True):
    """A stream whose timestamp is in a key: until it is too old, or not told apart from a certain age on."""

    stream: str
    expires: int | None
    saturates: int | None

    @property
    def exact(self) -> bool:
        """Whether the timestamp is kept as it is: until the entry goes, or for ever."""
        return self.expires is not None or self.saturates is None


class ClaimedCount(Struct, frozen=True):
    """Why some columns take no more values."""

    rule: str
    size: str
    attributes: tuple[Attribute, ...] = ()
    source: str | None = None
    timestamps: int | None = None
    beside: str | None = None
    low: tuple[ClaimedLimit, ...] = ()
    high: tuple[ClaimedLimit, ...] = ()
    listed: Attribute | None = None
    of: tuple[ClaimedCount, ...] = ()
    fixed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        once("'attributes' of a count", *self.attributes)
        once("'fixed' of a count", *self.fixed)


class ClaimedDistance(Struct, frozen=True):
    """Two timestamps of which results keep the difference ``plus - minus`` only."""

    plus: Attribute
    minus: Attribute


class ClaimedTable(Struct, frozen=True):
    """One table, of the partial matches of some streams."""

    name: str
    results: bool
    streams: tuple[str, ...]
    relations: tuple[str, ...]
    stored: tuple[ClaimedStored, ...]
    ages: tuple[ClaimedAge, ...]
    deadline: int | None
    extrema: tuple[ClaimedExtremum, ...]
    count: ClaimedCount
    entries: ClaimedAmount
    bytes_per_entry: int | None
    bytes: ClaimedAmount | None
    distances: tuple[ClaimedDistance, ...] = ()

    def __post_init__(self) -> None:
        said = {
            "streams": self.streams,
            "relations": self.relations,
            "stored": [stored.attribute for stored in self.stored],
            "ages": [age.stream for age in self.ages],
            "extrema": self.extrema,
            "distances": self.distances,
        }
        for name, parts in said.items():
            once(f"{name!r} of a table", *parts)

    @property
    def sources(self) -> frozenset[str]:
        """The streams and relations."""
        return frozenset((*self.streams, *self.relations))


class ClaimedBranch(Struct, frozen=True):
    """One branch of the split query, or a case of it: the branch's place, and the case's conditions."""

    branch: int
    conditions: tuple[Comparison, ...]
    sql: str
    tables: tuple[ClaimedTable, ...]

    def __post_init__(self) -> None:
        once("'conditions' of a branch", *self.conditions)


class Claims(Struct, frozen=True):
    """The whole certificate."""

    version: int
    branches: tuple[ClaimedBranch, ...]
    entries: ClaimedAmount
    bytes: ClaimedAmount | None

    def __post_init__(self) -> None:
        if self.version != VERSION:
            raise RejectedError(f"the certificate is not of version {VERSION}")
        once("'branches'", *((branch.branch, branch.conditions) for branch in self.branches))
        once("'tables'", *(table.name for branch in self.branches for table in branch.tables))


# --- reading ----------------------------------------------------------------------------------------------------------


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
