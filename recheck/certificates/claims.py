"""A certificate as it was read: what it claims, its shape checked and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, TypeVar

from streambound.analyzer.query import Attribute, Comparison, Op

VERSION = 1
T = TypeVar("T")


class RejectedError(Exception):
    """Why a certificate is not accepted."""


@dataclass(frozen=True, slots=True)
class ClaimedAmount:
    """A formula, and a number it is claimed never to exceed."""

    formula: str
    value: int | None


@dataclass(frozen=True, slots=True)
class ClaimedLimit:
    """The tightest of a constant and of extreme values of relations or finite streams, each with an offset.

    Where it clips a value, a finite stream's attribute stands for its value in the same partial match.
    """

    constant: int | None
    relations: tuple[tuple[Attribute, int], ...]


@dataclass(frozen=True, slots=True)
class ClaimedCut:
    """Separates the values above a value, which is itself above iff ``included``, from the others."""

    value: str
    included: bool


@dataclass(frozen=True, slots=True)
class ClaimedStored:
    """An attribute in a key, the limits that it is clipped to, and attributes that equal it up to an offset.

    With ``cuts`` values between the same two are one.
    """

    attribute: Attribute
    low: tuple[ClaimedLimit, ...]
    high: tuple[ClaimedLimit, ...]
    equal: tuple[tuple[Attribute, int], ...]
    cuts: tuple[ClaimedCut, ...]


@dataclass(frozen=True, slots=True)
class ClaimedExtremum:
    """The best of a sum's values: the least sum limits attributes outside from above, or the greatest from below."""

    greatest: bool
    of: tuple[tuple[Attribute, Fraction], ...]
    limits: tuple[tuple[Attribute, Fraction, bool], ...]


@dataclass(frozen=True, slots=True)
class ClaimedAge:
    """A stream whose timestamp is in a key: until it is too old, or not told apart from a certain age on."""

    stream: str
    expires: int | None
    saturates: int | None

    @property
    def exact(self) -> bool:
        """Whether the timestamp is kept as it is: until the entry goes, or for ever."""
        return self.expires is not None or self.saturates is None


@dataclass(frozen=True, slots=True)
class ClaimedCount:
    """Why some columns take at most so many values."""

    rule: str
    size: str
    attributes: tuple[Attribute, ...]
    source: str | None
    timestamps: int | None
    beside: str | None
    low: tuple[ClaimedLimit, ...]
    high: tuple[ClaimedLimit, ...]
    listed: Attribute | None
    of: tuple[ClaimedCount, ...]
    fixed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimedMember:
    """Streams that are in an entry of a family together, the relations joined then, and what is there in any case."""

    streams: tuple[str, ...]
    relations: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimedLapse:
    """Values of a stream that a family holds until some streams are there, and for so long without them only."""

    stream: str
    attributes: tuple[Attribute, ...]
    passing: tuple[str, ...]
    expires: int | None
    ending: tuple[str, ...]
    deadline: int | None

    @property
    def awaited(self) -> frozenset[str]:
        """The streams that the values are held for."""
        return frozenset((*self.passing, *self.ending))


@dataclass(frozen=True, slots=True)
class ClaimedTable:
    """One table; with ``members`` a family: one of all sets of them that the order of time allows but the full one."""

    name: str
    results: bool
    streams: tuple[str, ...]
    relations: tuple[str, ...]
    stored: tuple[ClaimedStored, ...]
    ages: tuple[ClaimedAge, ...]
    deadline: int | None
    extrema: tuple[ClaimedExtremum, ...]
    members: tuple[ClaimedMember, ...]
    lapses: tuple[ClaimedLapse, ...]
    count: ClaimedCount
    entries: ClaimedAmount
    bytes_per_entry: int | None
    bytes: ClaimedAmount | None

    @property
    def sources(self) -> frozenset[str]:
        """The streams and relations."""
        return frozenset((*self.streams, *self.relations))


@dataclass(frozen=True, slots=True)
class ClaimedBranch:
    """One branch of the split query, or a case of it: the branch's place, and the case's conditions."""

    branch: int
    conditions: tuple[Comparison, ...]
    sql: str
    tables: tuple[ClaimedTable, ...]


@dataclass(frozen=True, slots=True)
class Claims:
    """The whole certificate."""

    branches: tuple[ClaimedBranch, ...]
    entries: ClaimedAmount
    bytes: ClaimedAmount | None


def read(document: Any) -> Claims:
    """A certificate from plain JSON; raises RejectedError when it has another shape."""
    reader = _ClaimsReader(document, "the certificate")
    if reader.integer("version") != VERSION:
        raise RejectedError(f"the certificate is not of version {VERSION}")
    reader.only(["version", *(field.name for field in fields(Claims))])
    branches = reader.different("branches", _branch, lambda branch: (branch.branch, branch.conditions))
    names = [table.name for branch in branches for table in branch.tables]
    if len({*names}) < len(names):
        raise RejectedError("two tables have one name")
    return Claims(branches, reader.one("entries", _amount), reader.maybe("bytes", _amount))


@dataclass(frozen=True, slots=True)
class _ClaimsReader:
    """An object whose members are taken with their types."""

    value: Any
    where: str

    def only(self, names: Iterable[str], optional: Iterable[str] = ()) -> _ClaimsReader:
        """The same object, which is one and has these members; raises RejectedError for others, which claim nothing."""
        found = self.value.keys() if isinstance(self.value, dict) else ()
        for name in names:
            if name not in found and name not in optional:
                raise RejectedError(f"{self.where} lacks {name!r}")
        for name in found:
            if name not in names:
                raise RejectedError(f"{self.where} has {name!r}, which means nothing")
        return self

    def of(self, kind: type, optional: Iterable[str] = ()) -> _ClaimsReader:
        """The same object, which has the fields of a kind."""
        return self.only([field.name for field in fields(kind)], optional)

    def get(self, name: str, default: Any = ...) -> Any:
        if not isinstance(self.value, dict) or (name not in self.value and default is ...):
            raise RejectedError(f"{self.where} lacks {name!r}")
        return self.value.get(name, default)

    def typed(self, name: str, kind: type[T], default: Any = ...) -> T:
        value = self.get(name, default)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise RejectedError(f"{name!r} of {self.where} is {value!r}")
        return value

    def text(self, name: str) -> str:
        return self.typed(name, str)

    def integer(self, name: str) -> int:
        return self.typed(name, int)

    def optional(self, name: str, kind: type[T]) -> T | None:
        return None if self.get(name, None) is None else self.typed(name, kind)

    def one(self, name: str, build: Callable[[_ClaimsReader], T]) -> T:
        return build(_ClaimsReader(self.get(name), f"{name!r} of {self.where}"))

    def maybe(self, name: str, build: Callable[[_ClaimsReader], T]) -> T | None:
        return None if self.get(name, None) is None else self.one(name, build)

    def each(self, name: str, build: Callable[[_ClaimsReader], T]) -> tuple[T, ...]:
        return tuple(build(_ClaimsReader(part, f"{name!r} of {self.where}")) for part in self.typed(name, list, []))

    def different(
        self, name: str, build: Callable[[_ClaimsReader], T], key: Callable[[T], object] = repr
    ) -> tuple[T, ...]:
        """What is in a list, in which no two say something of the same."""
        parts = self.each(name, build)
        _once([key(part) for part in parts], name, self)
        return parts

    def texts(self, name: str, default: Any = ...) -> tuple[str, ...]:
        parts = self.typed(name, list, default)
        if not all(isinstance(part, str) for part in parts) or len({*parts}) < len(parts):
            raise RejectedError(f"{name!r} of {self.where} is {parts!r}")
        return tuple(parts)


def _once(parts: Sequence[object], name: str, reader: _ClaimsReader) -> None:
    """Raises RejectedError where a list says something of the same twice: which one counts would be a guess."""
    if len({*parts}) < len(parts):
        raise RejectedError(f"{name!r} of {reader.where} says the same twice")


def _amount(reader: _ClaimsReader) -> ClaimedAmount:
    reader.of(ClaimedAmount)
    return ClaimedAmount(reader.text("formula"), reader.optional("value", int))


def _branch(reader: _ClaimsReader) -> ClaimedBranch:
    reader.of(ClaimedBranch)
    return ClaimedBranch(
        reader.integer("branch"),
        reader.different("conditions", _comparison),
        reader.text("sql"),
        reader.each("tables", _table),
    )


def _table(reader: _ClaimsReader) -> ClaimedTable:
    reader.of(ClaimedTable, optional=("members", "lapses"))
    return ClaimedTable(
        reader.text("name"),
        reader.typed("results", bool),
        reader.texts("streams"),
        reader.texts("relations"),
        reader.different("stored", _stored, lambda stored: stored.attribute),
        reader.different("ages", _age, lambda age: age.stream),
        reader.optional("deadline", int),
        reader.different("extrema", _extremum),
        reader.different("members", _member),
        reader.different("lapses", _lapse, lambda lapse: lapse.stream),
        reader.one("count", _count),
        reader.one("entries", _amount),
        reader.optional("bytes_per_entry", int),
        reader.maybe("bytes", _amount),
    )


def _member(reader: _ClaimsReader) -> ClaimedMember:
    reader.of(ClaimedMember)
    return ClaimedMember(reader.texts("streams"), reader.texts("relations"), reader.texts("after"))


def _lapse(reader: _ClaimsReader) -> ClaimedLapse:
    reader.of(ClaimedLapse)
    passing, ending = reader.texts("passing"), reader.texts("ending")
    expires, deadline = reader.optional("expires", int), reader.optional("deadline", int)
    if (expires is None) == bool(passing) or (deadline is None) == bool(ending):
        raise RejectedError(f"{reader.where} awaits streams for no time, or none for some")
    attributes = reader.different("attributes", _attribute)
    return ClaimedLapse(reader.text("stream"), attributes, passing, expires, ending, deadline)


def _stored(reader: _ClaimsReader) -> ClaimedStored:
    reader.of(ClaimedStored, optional=("cuts",))
    attribute, equal = reader.one("attribute", _attribute), reader.typed("equal", list)
    if not all(isinstance(pair, list) and len(pair) == 2 and type(pair[1]) is int for pair in equal):
        raise RejectedError(f"'equal' of {reader.where} is {equal!r}")
    others = tuple((_attribute(_ClaimsReader(other, reader.where)), offset) for other, offset in equal)
    _once([attribute, *(other for other, _ in others)], "equal", reader)
    low, high = reader.each("low", _limit), reader.each("high", _limit)
    return ClaimedStored(attribute, low, high, others, reader.different("cuts", _cut))


def _cut(reader: _ClaimsReader) -> ClaimedCut:
    reader.of(ClaimedCut)
    return ClaimedCut(reader.text("value"), reader.typed("included", bool))


def _attribute(reader: _ClaimsReader) -> Attribute:
    reader.only(("source", "column"))
    return Attribute(reader.text("source"), reader.text("column"))


def _extremum(reader: _ClaimsReader) -> ClaimedExtremum:
    reader.of(ClaimedExtremum)
    of, limits = reader.typed("of", list), reader.typed("limits", list)
    if not all(isinstance(part, list) and len(part) == 2 for part in of):
        raise RejectedError(f"'of' of {reader.where} is {of!r}")
    if not all(isinstance(part, list) and len(part) == 3 and isinstance(part[2], bool) for part in limits):
        raise RejectedError(f"'limits' of {reader.where} is {limits!r}")
    sums = tuple((_attribute(_ClaimsReader(a, reader.where)), _number(n)) for a, n in of)
    found = tuple((_attribute(_ClaimsReader(a, reader.where)), _number(n), strict) for a, n, strict in limits)
    _once(sums, "of", reader)
    _once(found, "limits", reader)
    return ClaimedExtremum(reader.typed("greatest", bool), sums, found)


def _comparison(reader: _ClaimsReader) -> Comparison:
    reader.only(("left", "op", "right", "offset"))
    op, offset = reader.text("op"), reader.get("offset")
    if op not in [known.value for known in Op]:
        raise RejectedError(f"'op' of {reader.where} is {op!r}")
    right = reader.maybe("right", _attribute)
    return Comparison(
        reader.one("left", _attribute), Op(op), right, offset if isinstance(offset, str) else _whole(offset)
    )


def _whole(value: Any) -> int | Fraction:
    number = _number(value)
    return int(number) if number.denominator == 1 else number


def _number(value: Any) -> Fraction:
    """A number; one that is no integer is a text like ``1/2``."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    try:
        return Fraction(value if isinstance(value, str) else "")
    except (ValueError, ZeroDivisionError):
        raise RejectedError(f"{value!r} is not a number") from None


def _limit(reader: _ClaimsReader) -> ClaimedLimit:
    reader.of(ClaimedLimit)
    return ClaimedLimit(reader.optional("constant", int), reader.different("relations", _moved, lambda moved: moved[0]))


def _moved(reader: _ClaimsReader) -> tuple[Attribute, int]:
    reader.only(("source", "column", "offset"))
    return Attribute(reader.text("source"), reader.text("column")), reader.integer("offset")


def _age(reader: _ClaimsReader) -> ClaimedAge:
    reader.of(ClaimedAge)
    return ClaimedAge(reader.text("stream"), reader.optional("expires", int), reader.optional("saturates", int))


def _count(reader: _ClaimsReader) -> ClaimedCount:
    reader.of(ClaimedCount, optional=[field.name for field in fields(ClaimedCount)][2:])
    return ClaimedCount(
        reader.text("rule"),
        reader.text("size"),
        reader.different("attributes", _attribute),
        reader.optional("source", str),
        reader.optional("timestamps", int),
        reader.optional("beside", str),
        reader.each("low", _limit),
        reader.each("high", _limit),
        reader.maybe("listed", _attribute),
        reader.each("of", _count),
        reader.texts("fixed", []),
    )
