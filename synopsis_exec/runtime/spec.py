"""What a job is: the streams and relations that it reads, its plan, and where its results go. All of it is data.

``job.py`` has one `Job` as a literal. Values are *encoded*: of a discrete type as integers (days of a date,
microseconds of a timestamp since 1970, unscaled digits of a decimal, 0 and 1 of a boolean), of a floating-point type as
floats, of a string as text.
"""

from __future__ import annotations

from dataclasses import dataclass

from streambound_runtime.plan import Synopsis, Test

Options = tuple[tuple[str, str], ...]
Value = int | float | str


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a column may have: from ``low`` to ``high``, or one of ``values``."""

    low: Value | None = None
    high: Value | None = None
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A declared column: its name, its Spark SQL type in small letters, and the contract on its values."""

    name: str
    type: str
    domain: Domain | None = None


ROW = "_row"
"""What a row is called in the subqueries of its derived columns."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A column that Spark computes of a row's declared ones: ``CAST((expression) AS type)``, in Spark SQL.

    ``when`` are the conjunctions of those uses of the row that need it. A row that satisfies none of them, as far as
    its declared columns say, has NULL instead. ``asks`` are the relations that it reads in subqueries, as views
    (`reading.relation_views`); there the row is called `ROW`.
    """

    name: str
    expression: str
    type: str
    when: tuple[tuple[Test, ...], ...] = ((),)
    asks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A Spark source, whose columns are the row's, or whose column ``payload`` holds a row as a JSON object.

    ``metadata`` are declared columns that are not in that object, each with the source's column that it is.
    """

    format: str
    path: str = ""
    options: Options = ()
    payload: str = ""
    metadata: Options = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """Which records are punctuations: their ``column`` has the ``value``, or is ``like`` a pattern of SQL.

    Such a record says that no more rows come with timestamps up to its own, from the one in the column ``since`` on.
    """

    column: str
    value: Value | None = None
    like: str | None = None
    since: str | None = None


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partitions of a stream, each with an order of its own: told apart by the ``values`` of a ``column``."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a stream promises of the order of its rows.

    ``lateness`` is how far a row may be behind the largest timestamp of earlier batches; None promises nothing.
    ``idle_after`` is how far it may be behind the largest timestamp of any stream.
    """

    lateness: int | None = 0
    idle_after: int | None = None
    mark: Mark | None = None
    partitions: Partitions | None = None


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``rows`` rows in any half-open interval of the length ``per``, which the catalog has ``written`` so."""

    rows: int
    per: int
    written: str


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream: its declared columns, its application time, and those columns that the plan ``needs`` beside that.

    These, and what is tested, are declared or ``derived``.

    ``useful`` are conjunctions, one of which a row satisfies that some branch can use; others only advance time. At
    most ``per_timestamp`` useful rows share a timestamp, and ``rate`` limits how many come in a longer time. With
    ``stops`` a row that breaks a contract ends the job, instead of being quarantined.
    """

    name: str
    columns: tuple[Column, ...]
    timestamp: str
    needs: tuple[str, ...]
    useful: tuple[tuple[Test, ...], ...] = ((),)
    source: Source | None = None
    arrival: Arrival = Arrival()
    per_timestamp: int | None = None
    stops: bool = False
    rate: Rate | None = None
    derived: tuple[Derived, ...] = ()

    @property
    def counted(self) -> bool:
        """Whether a contract counts its useful rows."""
        return self.per_timestamp is not None or self.rate is not None


@dataclass(frozen=True, slots=True)
class Relation:
    """A static relation; it has at most ``rows`` rows. The columns that it ``needs`` are declared or ``derived``."""

    name: str
    columns: tuple[Column, ...]
    needs: tuple[str, ...]
    source: Source | None = None
    rows: int | None = None
    stops: bool = False
    derived: tuple[Derived, ...] = ()


@dataclass(frozen=True, slots=True)
class Computed:
    """How results are computed of what matches keep: the plan gives these ``columns``, which are not a result's.

    ``expressions`` are Spark SQL over these, one for each column of a result.
    """

    columns: tuple[Column, ...]
    expressions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sink:
    """What results or bad rows are written to: a format of Spark's with its path and options, or a function.

    ``call`` is ``module:function``, called with a DataFrame and the number of the batch.
    """

    format: str = ""
    path: str = ""
    options: Options = ()
    call: str = ""


@dataclass(frozen=True, slots=True)
class Saved:
    """What a checkpoint belongs to: digests of the query, of the contracts of its tables, and of what is remembered."""

    query: str
    catalog: str
    tables: str


@dataclass(frozen=True, slots=True)
class Job:
    """A query's job. ``runtime`` is the version of this package that it was written for.

    ``columns`` are those of a result, without `_ts`, which has ``time_type``, and `_mult`. They are those of the plan,
    unless Spark computes them as ``computed`` says.
    """

    name: str
    runtime: str
    streams: tuple[Stream, ...]
    relations: tuple[Relation, ...]
    columns: tuple[Column, ...]
    time_type: str
    plan: Synopsis
    saved: Saved
    sink: Sink | None = None
    quarantine: Sink | None = None
    computed: Computed | None = None

    @property
    def tables(self) -> tuple[Stream | Relation, ...]:
        """All streams and relations."""
        return (*self.streams, *self.relations)
