"""Part of every job: what a branch remembers and how its matches grow, as data for the kernel of whole columns."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple


class Test(NamedTuple):
    """``left op right + offset``; ``left op offset`` where there is no right; or a test of NULL or of membership."""

    left: str
    op: str
    right: str | None = None
    offset: Any = 0


class Term(NamedTuple):
    """A value: a column plus an offset, not below ``low`` and not above ``high``; a constant where no column is.

    With ``places``, the greatest of those that is not above the value. Limits that depend on other columns are
    alternatives, each of several terms: the least of the greatest ones of ``lows``, the greatest of the least ones of
    ``highs``.
    """

    column: str | None
    offset: Any = 0
    low: int | None = None
    high: int | None = None
    places: tuple[Any, ...] = ()
    lows: tuple[tuple[Any, ...], ...] = ()
    highs: tuple[tuple[Any, ...], ...] = ()


class Arriving(NamedTuple):
    """Rows of a stream that a branch can use: their columns, by the names that they have in the branch."""

    stream: str
    columns: dict[str, str]
    """The name in the branch -> the stream's column."""
    kept: tuple[str, ...]
    """The names that are joined or selected; the others are only tested."""
    tests: tuple[Test, ...]
    times: tuple[Test, ...]
    """Conditions on the timestamp, which is called ``now``."""


class Known(NamedTuple):
    """Rows of relations that are joined with each other, with their number."""

    columns: tuple[str, ...]
    rows: Counter[tuple[Any, ...]]


class Table(NamedTuple):
    """What is remembered of a set of streams: see the table of the same name in `Synopsis`.

    ``ages`` are the kept timestamps: the number of the stream, the age at which an entry is dropped, and the age from
    which timestamps are not told apart. ``single`` says that it is a table of one stream.
    """

    name: str
    columns: tuple[str, ...]
    ages: tuple[tuple[int, int | None, int | None], ...]
    deadline: int | None
    single: bool


class Join(NamedTuple):
    """One more participant: rows of ``arriving`` or ``known`` (their numbers), or the entries of a table.

    ``equal`` are its columns that must equal another term; ``tests`` are made once it has joined. ``ages`` bound the
    ages of entries: the stream, the least, the greatest. ``now`` counts entries of the same timestamp, too.
    """

    arriving: int | None = None
    known: int | None = None
    table: int | None = None
    equal: tuple[tuple[str, Term], ...] = ()
    tests: tuple[Test, ...] = ()
    ages: tuple[tuple[int, int | None, int | None], ...] = ()
    now: bool = False


class Transition(NamedTuple):
    """How tuples that arrive together extend the entries of tables to matches of ``target``, or to results.

    ``kept`` are the streams whose remembered timestamps the target keeps; it keeps the new one of the others.
    """

    target: int | None
    joins: tuple[Join, ...]
    values: tuple[Term, ...]
    kept: tuple[int, ...] = ()


class Branch(NamedTuple):
    """One select-project-join branch; its transitions are in order, targets smallest first.

    ``texts`` are the columns that hold texts.
    """

    arriving: tuple[Arriving, ...]
    known: tuple[Known, ...]
    tables: tuple[Table, ...]
    transitions: tuple[Transition, ...]
    texts: frozenset[str] = frozenset()


class Extension(NamedTuple):
    """How matches within a range of time extend the entries that table ``base`` has at its start.

    ``branch`` finds these matches: its table number i holds those that extend an entry to table ``targets[i]``, as
    ``completions[i]`` says. ``then`` joins them with the matches of a later range: (i, the number of the later
    range's extension, the number of its table, the number of ours that the two make together, how).
    """

    base: int
    branch: Branch
    targets: tuple[int, ...]
    completions: tuple[Transition, ...]
    then: tuple[tuple[int, int, int, int, Transition], ...]
