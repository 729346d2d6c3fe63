"""What operators of a circuit are made of (Budiu et al., *DBSP*, §4): nodes that are no SQL, and what those in SQL say.

Values are encoded as everywhere (`streambound_runtime.spec`); columns of a node's results are called as its plan says.
"""

from __future__ import annotations

from dataclasses import dataclass

from streambound_runtime.operators.period_plan import SliceLineage, SliceQuery
from streambound_runtime.operators.plan import Term, Test

NamedTypes = tuple[tuple[str, str], ...]
"""Columns: their names, and their Spark SQL types in small letters."""


@dataclass(frozen=True, slots=True)
class ChangesNode:
    """The rows of a relation, from the source of its changes that is called as the ``table``; results are its columns.

    Where ``op`` is ``delete`` a row goes; where it is ``insert``, or NULL, one comes. With a ``key`` an insert replaces
    the row of its key, and a delete needs the key only. There are at most as many rows at a time as ``most`` says.
    ``time`` is the column that has the time of a row's last change, where one does. A change with another ``op`` has
    the row ``before`` in these columns, as Debezium's updates do.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    op: str
    insert: int | float | str
    delete: int | float | str
    key: tuple[str, ...] = ()
    most: int | None = None
    time: str = ""
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationNode:
    """The rows of a relation that does not change, with these columns: all of them come at the first timestamp."""

    name: str
    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupValue:
    """An aggregate of a group, encoded as its ``type``: of these of its ``sums``, or of the ``values`` that it has.

    ``function`` is its SQL name in small letters. Values are in falling order if ``descending``, a percentile has this
    ``part`` of them before it, and of ``distinct`` ones each counts once. The first of the sums is how many values
    there are (−1: rows), the others add up to their sum, the ``squares`` to that of their squares. ``places`` are those
    of the argument, for decimals.
    """

    name: str
    function: str
    type: str
    sums: tuple[int, ...] = ()
    squares: tuple[int, ...] = ()
    values: int | None = None
    places: int = 0
    distinct: bool = False
    part: float = 0
    descending: bool = False


@dataclass(frozen=True, slots=True)
class TimeBucket:
    """A key that is a bucket of the application time, of ``size`` at most.

    ``how`` says what its value is: "div" (``ts DIV size``), "start", "end" (exclusive), "last" (its last timestamp),
    "session" (the end of one), "date", or "year", "month" …: that period's start, as a timestamp or a text.
    A group changes until ``delay`` after its bucket's last timestamp is closed; then it is dropped.
    """

    key: int
    size: int
    how: str
    delay: int = 0


@dataclass(frozen=True, slots=True)
class KeyRecords:
    """The records of a stream with the ``value`` in a ``column``, which say that values of its ``attributes`` end.

    Of the last attribute a record ends the values from that in the column ``since`` on, if there is one.
    """

    stream: str
    attributes: tuple[str, ...]
    column: str
    value: int | float | str
    since: str | None = None


@dataclass(frozen=True, slots=True)
class EndedKeysNode:
    """Keys that are over when ``records`` of all these streams have said so.

    At most ``max_open`` are open after any timestamp, where that is promised; then as many that are over are known. The
    ``members`` are the streams whose rows have the keys, this one mostly among them.
    """

    name: str
    records: tuple[KeyRecords, ...]
    max_open: int | None = None
    members: tuple[KeyMember, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyMember:
    """A stream with the columns that are a key; ``once`` says that while a key is open, it has one row at most."""

    stream: str
    attributes: tuple[str, ...]
    once: bool = False


@dataclass(frozen=True, slots=True)
class MapNode:
    """Rows that are computed of others of these columns: an expression for each column, where a condition is true.

    ``expressions`` and ``where`` are Spark SQL; ``engine`` and ``engine_where`` are the same in DuckDB's, empty where
    it does not compute that as Spark does.
    """

    name: str
    input: str
    given: NamedTypes
    columns: NamedTypes
    expressions: tuple[str, ...]
    where: str = ""
    engine: tuple[str, ...] = ()
    engine_where: str = ""

    @property
    def picks(self) -> tuple[int, ...] | None:
        """The places of the input's columns that are all there is, in this order; None where more is computed."""
        known = {f"`{name}`": place for place, (name, _) in enumerate(self.given)}
        places = [known.get(expression) for expression in self.expressions]
        found = tuple(place for place in places if place is not None)
        same = [self.given[place][1] for place in found] == [kind for _, kind in self.columns]
        return found if same and not self.where else None

    @property
    def renames(self) -> bool:
        """Whether all that is computed are other names of the same columns, in the same order."""
        return self.picks == tuple(range(len(self.given)))


@dataclass(frozen=True, slots=True)
class OverValue:
    """A function of the rows of a window, of this ``type``: the places of its argument and of a ``default``.

    A ``frame`` is of rows, or of values of the order, by its distances from the current row, None without end;
    ``offset`` is the whole number of its call, as for LAG and NTILE; ``places`` are the decimal places of a decimal
    argument. ``distinct`` values count once. Only rows count whose value at the place ``where`` is not
    NULL, by default all.
    """

    function: str
    type: str
    value: int | None
    default: int | None
    offset: int
    frame: tuple[bool, int | None, int | None] | None
    places: int = 0
    distinct: bool = False
    where: int | None = None


@dataclass(frozen=True, slots=True)
class ColumnClip:
    """Values of a column below ``low`` are kept as it is, those above ``high`` as that; None for no limit."""

    column: str
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class RecursionStep:
    """One case of a recursion's step: a number of rows of r, and one of each of the node's ``inputs`` at these places.

    ``variables`` are the names of their values: of each row of r, then of each input's. Where all ``tests`` pass there
    is a row of the ``values``.
    """

    variables: tuple[tuple[str, ...], ...]
    inputs: tuple[int, ...]
    tests: tuple[Test, ...]
    values: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class FixpointNode:
    """The least relation r with the rows of ``base`` and what the ``steps`` make of it, each row once.

    ``given`` are the columns of each of the ``inputs``; ``retracts`` says that base or inputs may take rows back.
    """

    name: str
    base: str
    inputs: tuple[str, ...]
    steps: tuple[RecursionStep, ...]
    columns: tuple[str, ...]
    given: tuple[tuple[str, ...], ...]
    retracts: bool


@dataclass(frozen=True, slots=True)
class PeriodNode:
    """A query over rows with periods; its inputs are the blocks that it names, whose last column is a row's end."""

    name: str
    inputs: tuple[str, ...]
    query: SliceQuery | SliceLineage
    columns: tuple[str, ...]
