"""The physical plan of a query's synopsis, as data: what it reads and keeps, how matches grow (docs/theory-bags.md).

A branch's streams arrive as *scans*; its relations are joined with each other once. A *table* holds the partial
matches of a set of streams: distinct keys with their number. A *transition* says how rows that arrive at one timestamp
extend the entries of tables to entries of a larger one, or to results. Variables are names of a branch: a scan gives
them values, terms and tests read them; ``now`` is the timestamp that is closed, ``age n`` the kept timestamp of stream
number n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streambound_runtime.operators.formula import Formula, Members

Constant = int | float | str | None
JoinType = Literal["inner", "left", "right", "full", "semi", "anti"]
TestOffset = Constant | Formula | tuple[Constant, ...]
"""What a test adds to its right side, or, where there is none, compares with; members of a list for ``in``."""


@dataclass(frozen=True, slots=True)
class Test:
    """``left op right + offset``; ``left op offset`` where there is no right; or a test of NULL or of membership.

    ``or_null``: a left NULL passes as well.
    """

    left: str
    op: str
    right: str | None = None
    offset: TestOffset = None
    or_null: bool = False


@dataclass(frozen=True, slots=True)
class PartnerTest:
    """Whether a row has in these columns, together, what some row of a relation has in its own."""

    columns: tuple[str, ...]
    partners: Members | tuple[tuple[Constant, ...], ...]


@dataclass(frozen=True, slots=True)
class JudgedKeys:
    """Rows that pass all tests and have all partners."""

    tests: tuple[Test, ...] = ()
    partners: tuple[PartnerTest, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """A value: a variable plus an offset, not below ``low`` and not above ``high``; a constant where no variable is.

    ``minus`` is a timestamp that is subtracted from another one.
    With ``places``, the greatest of those that is not above the value. Limits that depend on other variables are
    alternatives, each of several terms: the least of the greatest ones of ``lows``, the greatest of the least ones of
    ``highs``.
    """

    variable: str | None
    offset: Constant | Formula = 0
    low: Formula | None = None
    high: Formula | None = None
    places: tuple[Constant, ...] = ()
    lows: tuple[tuple[Term, ...], ...] = ()
    highs: tuple[tuple[Term, ...], ...] = ()
    minus: str | None = None


@dataclass(frozen=True, slots=True)
class TableScan:
    """Rows of a stream or relation that a branch can use.

    ``columns`` are pairs of a variable and the table's column; of those, ``kept`` are joined or selected, the others
    are only tested. ``times`` are conditions on the timestamp. ``factors`` are the variables whose product a row
    contributes to each of the plan's sums (`operators.sums`), none for a factor of one. A row passes one alternative of
    ``either``, if there are any.
    """

    table: str
    columns: tuple[tuple[str, str], ...]
    kept: tuple[str, ...]
    tests: tuple[Test, ...] = ()
    times: tuple[Test, ...] = ()
    factors: tuple[tuple[str, ...], ...] = ()
    either: tuple[tuple[Test, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """The table of a set of streams, by its ``name``: keys of these ``columns``, with their number.

    ``ages`` are the kept timestamps: the number of the stream, the age at which an entry is dropped, and the age from
    which timestamps are not told apart. Nothing can complete an entry from the ``deadline`` on. Of entries that agree
    in all else, a set keeps those that have the best values of the last columns: ``best`` says of each whether that is
    the greatest one. ``single`` says that it is a table of one stream.
    """

    name: str
    columns: tuple[str, ...]
    ages: tuple[tuple[int, int | None, int | None], ...] = ()
    deadline: int | None = None
    single: bool = False
    best: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinStep:
    """One more participant: rows of a scan, joined relations (their numbers), or the entries of a table.

    ``equal`` are its variables that must equal another term; ``tests`` are made once it has joined. ``ages`` bound the
    ages of entries: the stream, the least, the greatest. ``now`` counts entries of the same timestamp, too.
    """

    scan: int | None = None
    relations: int | None = None
    table: int | None = None
    equal: tuple[tuple[str, Term], ...] = ()
    tests: tuple[Test, ...] = ()
    ages: tuple[tuple[int, int | None, int | None], ...] = ()
    now: bool = False


@dataclass(frozen=True, slots=True)
class Relations:
    """Relations that are joined with each other, once, before the first row of a stream: their scans, and how."""

    scans: tuple[TableScan, ...]
    columns: tuple[str, ...]
    joins: tuple[JoinStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """How tuples that arrive together extend the entries of tables to matches of ``target``, or to results.

    ``values`` are those of the target's columns, or of the select list. ``kept`` are the streams whose remembered
    timestamps the target keeps, or the select list has; the target keeps the new one of the others.
    """

    target: int | None
    joins: tuple[JoinStep, ...]
    values: tuple[Term, ...]
    kept: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Subplan:
    """One select-project-join branch; its transitions are in order, targets smallest first.

    With rows ``apart``, its tables have those of one stream each, and all else is joined where results are made.
    """

    scans: tuple[TableScan, ...]
    relations: tuple[Relations, ...]
    tables: tuple[Table, ...]
    transitions: tuple[Transition, ...]
    apart: bool = False


@dataclass(frozen=True, slots=True)
class SynopsisPlan:
    """The synopsis of select-project-join branches.

    ``types`` are those of its results in the engine: of their ``columns``, then of the ``sums`` that they carry beside
    how often they are there. A result of a set may come again, once at each timestamp.
    """

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    branches: tuple[Subplan, ...]
    distinct: bool = False
    most: int = 2**63 - 1
    sums: tuple[str, ...] = ()


def age(stream: int) -> str:
    """The variable of a stream's kept timestamp.

    >>> age(0)
    'age 0'
    """
    return f"age {stream}"
