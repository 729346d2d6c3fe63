"""What a catalog promises of rows: the values of a column, in which order rows come, and how many at a time.

The analysis has these with exact values, a job with the *encoded* ones that it compares with (`spec`); ``V_co`` is
either.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Never, TypeVar

V_co = TypeVar("V_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Domain(Generic[V_co]):
    """The values that a column may have: from ``low`` to ``high``, or one of ``values``."""

    low: V_co | None = None
    high: V_co | None = None
    values: tuple[V_co, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark(Generic[V_co]):
    """Which records are punctuations: their ``column`` has the ``value``, or is ``like`` a pattern of SQL.

    Such a record says that no more rows come with timestamps up to its own, from the one in the column ``since`` on
    where that is declared and not NULL.
    """

    column: str
    value: V_co | None = None
    like: str | None = None
    since: str | None = None


@dataclass(frozen=True, slots=True)
class KeyMark(Generic[V_co]):
    """Which records say that a key is over: their ``column`` has the ``value``, and they are no rows.

    No row with the values of their ``attributes`` has a later timestamp; of the last one with none from that in the
    column ``since`` to its own, of which NULL is no end. After any timestamp at most ``max_open`` keys have come that
    are not over; None promises no number.
    """

    attributes: tuple[str, ...]
    column: str
    value: V_co
    max_open: int | None = None
    since: str | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that say what ends."""
        return (*self.attributes, *([] if self.since is None else [self.since]))


@dataclass(frozen=True, slots=True)
class Partitions(Generic[V_co]):
    """The partitions of a stream, by the ``values`` of a ``column``, each with an order of its own."""

    column: str
    values: tuple[V_co, ...]


@dataclass(frozen=True, slots=True)
class Arrival(Generic[V_co]):
    """A stream's promise about the order of its rows, in the encoding of its timestamps.

    ``lateness`` is how far a row may be behind the largest timestamp of earlier batches; None promises nothing.
    ``idle_after`` is how far it may be behind the largest timestamp of any stream.
    """

    lateness: int | None = 0
    idle_after: int | None = None
    mark: Mark[V_co] | None = None
    partitions: Partitions[V_co] | None = None

    @property
    def by_rows(self) -> bool:
        """Whether rows alone promise anything; else only punctuation records do, or nothing."""
        return self.lateness is not None or self.idle_after is not None


STRICT: Arrival[Never] = Arrival()
"""What holds of a stream that declares nothing."""


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``rows`` rows have timestamps in any half-open interval of the length ``per``, ``written`` so there."""

    rows: int
    per: int
    written: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.rows} rows per {self.written or self.per}"

    def intervals(self, timestamps: int) -> int:
        """The number of intervals that cover a number of consecutive timestamps.

        >>> Rate(1000, 60).intervals(120), Rate(1000, 60).intervals(121)
        (2, 3)
        """
        return -(-timestamps // self.per)

    def most(self, timestamps: int) -> int:
        """The most rows of a number of consecutive timestamps."""
        return self.intervals(timestamps) * self.rows


@dataclass(frozen=True, slots=True)
class UniqueKey:
    """No two rows of a stream that are less than ``within`` apart have the same values in these ``columns``.

    NULL is a value like others. Without ``within``, which is ``written`` so in the catalog, no two rows have.
    """

    columns: tuple[str, ...]
    within: int | None = None
    written: str = field(default="", compare=False)

    def __str__(self) -> str:
        return ", ".join(self.columns) + ("" if self.within is None else f" within {self.written or self.within}")


@dataclass(frozen=True, slots=True)
class ChangeRecords:
    """Records that say how a relation changes: envelopes of ``debezium``, or else upserts, with a key and a value.

    They are decoded to the relation's ``columns``, with ``insert``, ``delete`` or `UPDATE` as ``op``; of an update the
    row before is in the columns of ``before``. What is ``beside`` a row is in the record itself; so is the ``time``, of
    which ``moment`` says that it is a timestamp.
    """

    debezium: bool
    columns: tuple[str, ...]
    op: str
    insert: str
    delete: str
    key: tuple[str, ...]
    time: str
    moment: bool = False
    before: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


UPDATE = "update"
"""The kind of a change whose record has the row before, too."""


@dataclass(frozen=True, slots=True)
class PeriodContract:
    """The columns with a row's begin and end, the points of time that there are, and how long a row is valid at most.

    ``key`` are columns of which no two rows that are valid together have the same values; ``most`` is how many rows are
    valid together. Of rows that are random variables, ``variable`` names them, ``probability`` is how probable they
    are, ``certain`` being 1 in its type, and ``fact`` is what they say, of which two are not valid together. All times
    are encoded.
    """

    begin: str
    end: str
    low: int | None = None
    high: int | None = None
    longest: int | None = None
    most: int | None = None
    key: tuple[str, ...] = ()
    variable: str = ""
    probability: str = ""
    certain: int = 1
    fact: tuple[str, ...] = ()

    @property
    def unique(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Columns in which no two rows that are valid together have the same values, each with the reason."""
        own = (("key", (self.variable,)), ("overlapping-fact", self.fact)) if self.variable else ()
        return (*own, *((("contract", self.key),) if self.key else ()))


@dataclass(frozen=True, slots=True)
class QuarantineLimit:
    """How many bad rows a job keeps, of all batches; with ``stops`` one more ends it, else more are only counted."""

    most: int = 100_000
    stops: bool = False


KEPT_BY_DEFAULT = QuarantineLimit()
