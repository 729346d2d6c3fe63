"""What a job is: the streams and relations that it reads, its plan, and where its results go. All of it is data.

``job.py`` has one `JobSpec` as a literal. Values are *encoded*: of a discrete type as integers (days of a date,
microseconds of a timestamp since 1970, unscaled digits of a decimal, 0 and 1 of a boolean), of a floating-point type as
floats, of a string as text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from streambound_runtime.engine.plan import CircuitPlan
from streambound_runtime.operators.plan import JudgedKeys, Test
from streambound_runtime.promises import (
    KEPT_BY_DEFAULT,
    STRICT,
    Arrival,
    ChangeRecords,
    Domain,
    KeyMark,
    PeriodContract,
    QuarantineLimit,
    Rate,
    UniqueKey,
)

Options = tuple[tuple[str, str], ...]
Value = int | float | str


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A declared column: its name, its Spark SQL type in small letters, and the contract on its values."""

    name: str
    type: str
    domain: Domain[Value] | None = None


ROW = "_row"
"""What a row is called in the subqueries of its derived columns."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A column that Spark computes of a row's declared ones: ``CAST((expression) AS type)``, in Spark SQL.

    ``engine`` is the same in DuckDB's SQL, empty where it does not compute that as Spark does; in it the ``subqueries``
    are columns of the row, by their names. ``when`` are the conjunctions of those uses of the row that need it. A row
    that satisfies none of them, as far as its declared columns say, has NULL instead. ``asks`` are the relations that
    it reads in subqueries, as views (`reading.relation_views`); there the row is called `ROW`.
    """

    name: str
    expression: str
    type: str
    when: tuple[tuple[Test, ...], ...] = ((),)
    asks: tuple[str, ...] = ()
    engine: str = ""
    subqueries: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """A Spark source, whose columns are the row's, or whose column ``payload`` holds a row as a JSON object.

    ``metadata`` are declared columns that are not in that object, each with the source's column that it is.
    """

    format: str
    path: str = ""
    options: Options = ()
    payload: str = ""
    metadata: Options = ()


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream: its declared columns, its application time, and those columns that the plan ``needs`` beside that.

    These, and what is tested, are declared or ``derived``.

    ``useful`` are conjunctions, one of which a row satisfies that some branch can use; others only advance time. At
    most ``per_timestamp`` useful rows share a timestamp, and ``rate`` limits how many come in a longer time. With
    ``stops`` a row that breaks a contract ends the job, instead of being quarantined. ``relation`` says that its rows
    are the changes of a relation, which may be in ``records`` that are no rows. Records that are ``marks`` of keys are
    no rows: the plan gets them if it ``ends_keys``, and else they are left out. Of a query over rows with periods
    ``period`` says what is a good one; its keys are judged among the rows of one of ``judged``, or all. Keys that
    are ``unique`` come once.
    """

    name: str
    columns: tuple[TableColumn, ...]
    timestamp: str
    needs: tuple[str, ...]
    useful: tuple[tuple[Test, ...], ...] = ((),)
    source: SourceSpec | None = None
    arrival: Arrival[Value] = STRICT
    per_timestamp: int | None = None
    stops: bool = False
    rate: Rate | None = None
    derived: tuple[Derived, ...] = ()
    relation: bool = False
    marks: tuple[KeyMark[Value], ...] = ()
    ends_keys: bool = False
    period: PeriodContract | None = None
    records: ChangeRecords | None = None
    judged: tuple[JudgedKeys, ...] = ()
    unique: tuple[UniqueKey, ...] = ()

    @property
    def counted(self) -> bool:
        """Whether a contract counts its useful rows."""
        return self.per_timestamp is not None or self.rate is not None


@dataclass(frozen=True, slots=True)
class Relation:
    """A static relation; it has at most ``rows`` rows. The columns that it ``needs`` are declared or ``derived``.

    No two rows have one of the keys that are ``unique``.
    """

    name: str
    columns: tuple[TableColumn, ...]
    needs: tuple[str, ...]
    source: SourceSpec | None = None
    rows: int | None = None
    stops: bool = False
    derived: tuple[Derived, ...] = ()
    period: PeriodContract | None = None
    unique: tuple[UniqueKey, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationQuery:
    """A static relation that is computed of others when a job starts.

    ``query`` is Spark SQL over the views of the relations that it ``asks`` (`reading.relation_views`), ``engine`` the
    same in DuckDB's SQL, empty where it does not compute that as Spark does.
    """

    relation: Relation
    query: str
    asks: tuple[str, ...]
    engine: str = ""


@dataclass(frozen=True, slots=True)
class SinkSpec:
    """A destination of results or bad rows: one of Spark's formats with path and options, a table, or a function.

    A ``table`` of a database takes upserts. ``call`` is ``module:function``, called with a DataFrame and the number of
    the batch.
    """

    format: str = ""
    path: str = ""
    options: Options = ()
    call: str = ""
    table: str = ""


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function that expressions call by its ``name``: ``python`` is ``module:function``, the types are Spark's."""

    name: str
    python: str
    arguments: tuple[str, ...]
    result: str


@dataclass(frozen=True, slots=True)
class KeyColumns:
    """The ``columns`` of results that hold the keys which some of the plan's ``watched`` punctuations end.

    A punctuation that names ranges of the last one says in the column ``since`` where they begin.
    """

    keys: str
    columns: tuple[str, ...]
    since: str = ""


@dataclass(frozen=True, slots=True)
class Punctuations:
    """What a job writes after a batch's results: up to when there are no more of them, and which keys are over.

    Results may be ``behind`` the frontier; None where nobody knows how far.
    """

    keys: tuple[KeyColumns, ...] = ()
    behind: int | None = 0


@dataclass(frozen=True, slots=True)
class Saved:
    """The identity of a checkpoint: digests of the query, of the contracts of its tables, and of the states."""

    query: str
    catalog: str
    tables: str


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a job keeps what it remembers, and why.

    It is on the "driver", in "buckets" on executors, or, where nothing is remembered, "stateless". Rows are in
    ``buckets`` by each stream's ``key`` column, in the order of the job's streams. ``because`` is
    for readers: a job's comment has it.
    """

    where: str = "driver"
    because: str = field(default="", repr=False, compare=False)
    key: tuple[str, ...] = ()
    buckets: int = 0


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A query's job. ``runtime`` is the version of this package that it was written for.

    ``columns`` are those of a result, without `_ts`, which has ``time_type``, and `_mult`. ``queries`` are relations
    that are computed of ``relations``, ``functions`` those of the user's own that expressions call. With a ``key``,
    columns in which no two results agree, a batch's results are upserts: of each key that changed the row that there is
    now, or that there is none. What is ``told`` beside results are punctuations.
    """

    name: str
    runtime: str
    streams: tuple[Stream, ...]
    relations: tuple[Relation, ...]
    columns: tuple[TableColumn, ...]
    time_type: str
    plan: CircuitPlan
    saved: Saved
    sink: SinkSpec | None = None
    quarantine: SinkSpec | None = None
    queries: tuple[RelationQuery, ...] = ()
    quarantine_limit: QuarantineLimit = KEPT_BY_DEFAULT
    placement: Placement = Placement()
    functions: tuple[PythonFunction, ...] = ()
    key: tuple[str, ...] = ()
    told: Punctuations | None = None

    @property
    def multiplicity(self) -> str:
        """The Spark SQL type of `_mult`: of 64 bits where no result can have more duplicates."""
        return "bigint" if self.plan.most < 2**63 else "decimal(38,0)"

    @property
    def tables(self) -> tuple[Stream | Relation, ...]:
        """All streams, then all static relations that are read; not those that are computed of others."""
        return (*self.streams, *self.relations)
