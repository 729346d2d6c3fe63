"""Part of every job: what is known of a stream, a relation or a sink, and failures with an exit status."""

from __future__ import annotations

from typing import Any, NamedTuple


class Cell(NamedTuple):
    """What a declared column has in a line of JSON that is a row of its stream without a doubt.

    ``kind`` says how it is written; encoded it is from ``low`` to ``high``, and one of ``among`` where that is not
    empty. The timestamp, and what tells partitions apart, are ``never_null``.
    """

    column: str
    kind: str
    low: Any = None
    high: Any = None
    among: tuple[Any, ...] = ()
    never_null: bool = False


class Source(NamedTuple):
    """A stream or relation: how its rows are parsed, encoded, checked and filtered, in Spark SQL over `row`."""

    name: str
    schema: str
    """The declared columns, as lines of JSON are parsed."""
    missing: dict[str, str]
    """Column -> what to say of a value that is there and does not have the column's type."""
    values: dict[str, str]
    """Column -> its value as the kernel takes it: an integer, floating-point number or string."""
    large: tuple[str, ...]
    """Columns whose integers exceed 64 bits and therefore travel as strings."""
    slots: dict[str, str]
    """Column -> the column, shared by the streams, that its values travel in; the timestamp has its own."""
    time: str | None
    """The application-time column of a stream."""
    invalid: dict[str, str]
    """Reason -> condition under which a row breaks its stream's contract."""
    useful: str
    """Rows for which this is false only advance time: no condition of the query can use them."""
    format: str | None
    path: str
    options: dict[str, str]
    payload: str = ""
    """The source's column that holds a row as a JSON object; without one the columns are the row's."""
    metadata: tuple[tuple[str, str, str], ...] = ()
    """Declared columns that are not in that object, the source's columns that they are, and their types."""
    typed: str = ""
    """The columns of a format that has types of its own, or goes by position."""
    most: int | None = None
    """How many rows a relation may have."""
    per_timestamp: int | None = None
    """How many useful rows of a stream may share a timestamp."""
    stops: bool = False
    """Whether a row that breaks the contract stops the job, instead of being put aside."""
    lateness: int | None = 0
    """How far behind its largest timestamp rows of a stream may come; None: as far as they like."""
    idle_after: int | None = None
    """How far behind the largest timestamp of any stream they may come."""
    mark: str = "FALSE"
    """Which records are punctuations: they end the timestamps up to theirs."""
    since: str = "NULL"
    """The first timestamp that a punctuation ends; NULL: all before."""
    mark_columns: tuple[str, ...] = ()
    """The columns that a punctuation must have."""
    part: str = "0"
    """Which partition a row is of: the place in `parts`."""
    parts: tuple[str, ...] = ("",)
    """The partitions of a stream by name."""
    parted: str = ""
    """The column that says which partition a row is of, by its place in what the column's cells are `among`."""
    cells: tuple[Cell, ...] = ()
    """All declared columns, where the driver can read lines by itself."""
    wanted: tuple[tuple[tuple[str, str, str | None, Any], ...], ...] = ()
    """`useful` as alternatives of conjunctions, for these: column, operator, other column, constant or offset."""


class Target(NamedTuple):
    """What Spark writes to; `path` is empty for Kafka."""

    format: str
    path: str
    options: dict[str, str]


class JobError(Exception):
    """A failure that the user can do something about; `status` is the job's exit status."""

    def __init__(self, kind: str, message: str, status: int) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
