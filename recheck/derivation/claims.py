"""A derivation as it was read: what it claims, its shape checked and nothing else."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from streambound.recheck.certificates.claims import ClaimedAmount, ClaimedBranch, RejectedError

VERSION = 3


class NotCheckedError(Exception):
    """An operator or a rule that this checker does not know: nothing is said of it."""


class ClaimedNode(Struct, frozen=True):
    """A node of the tree by the fields that lead to it, or what a rule makes there: pairs of a join, rows with keys.

    With the value of an aggregate, or the partition of a function, ``call``, and more ``columns``. Of that a ``part``,
    as of a union; and of that what fields ``below`` lead to.
    """

    path: tuple[str, ...]
    made: str = ""
    call: int | None = None
    columns: tuple[int, ...] = ()
    part: int | None = None
    below: tuple[str, ...] = ()


class ClaimedPoint(Struct, frozen=True):
    """A column's value, the time of a source's row, or, without either, the constant 0."""

    column: int | None = None
    source: str | None = None


class ClaimedStep(Struct, frozen=True):
    """The point before is above ``to`` by ``most`` at most, as an atom of the condition says, or a fact.

    An atom that compares buckets of two times ``uses`` facts about both.
    """

    to: ClaimedPoint
    most: int
    atom: int | None = None
    fact: int | None = None
    uses: tuple[int, ...] = ()


class ClaimedValues(Struct, frozen=True):
    """The values of a column: those that are listed, or those of a range; NULL among them or not."""

    low: Fraction | None = None
    high: Fraction | None = None
    numbers: tuple[Fraction, ...] | None = None
    texts: tuple[str, ...] | None = None
    null: bool = True


class ClaimedTime(Struct, frozen=True):
    """``function(u)`` of a time u that is from ``low`` to ``high`` after that of a source's row, or of the change.

    The source is empty for the time at which a row changes; ``beside``: that is so where there is a row of the source.
    """

    source: str
    low: int | None = None
    high: int | None = None
    function: str = ""
    width: int = 1
    beside: bool = False


class ClaimedFact(Struct, frozen=True):
    """A claim on a column at a node, its values or its time, and the facts and atoms that it uses.

    A rule is that of times; values are as the operator says, or of no rows. ``present`` are facts that columns on its
    paths are not NULL.
    """

    node: int
    column: int
    rule: str = ""
    values: ClaimedValues | None = None
    time: ClaimedTime | None = None
    uses: tuple[int, ...] = ()
    atoms: tuple[int, ...] = ()
    present: tuple[int, ...] = ()
    low: tuple[ClaimedStep, ...] = ()
    high: tuple[ClaimedStep, ...] = ()


class ClaimedSource(Struct, frozen=True):
    """The number of rows of a source: all, or those at a number of timestamps, as facts say; those ``beside`` a row of
    another one.
    """

    source: str
    size: str
    timestamps: int | None = None
    beside: str | None = None
    facts: tuple[int, ...] = ()


class ClaimedColumn(Struct, frozen=True):
    """How many values a column has: as its value set says, by the closing time, or by that and a promise beside it."""

    column: int
    size: int
    rule: str
    facts: tuple[int, ...] = ()


class ClaimedStateCount(Struct, frozen=True):
    """Why there are no more entries. ``closing``: facts of the column by which they go.

    ``equal``: atoms of a join's condition that make columns equal. ``key``: the columns that hold a key which ends. Of
    windows: rows that are ``open``, and a ``number`` of ``each`` partition, with ``ties``. Of groups that a later one
    passes: the ``number`` of the key that rises, ``each`` value of the others, facts of the rows' ``order``.
    """

    rule: str
    size: str
    node: int | None = None
    closing: tuple[int, ...] = ()
    sources: tuple[ClaimedSource, ...] = ()
    columns: tuple[ClaimedColumn, ...] = ()
    equal: tuple[int, ...] = ()
    of: tuple[ClaimedStateCount, ...] = ()
    branches: tuple[ClaimedBranch, ...] = ()
    key: tuple[int, ...] = ()
    number: int | None = None
    open: ClaimedStateCount | None = None
    each: ClaimedStateCount | None = None
    ties: ClaimedStateCount | None = None
    order: tuple[int, ...] = ()

    @property
    def goes(self) -> str:
        """By what an entry goes before its rows are taken back: a ``time``, a ``key`` that ends, a later group that has
        ``passed`` it, or nothing.
        """
        if self.rule in ("parts", "below", "window"):
            inner = self.each or self.open or (self.of[0] if self.of else None)
            return "" if inner is None else inner.goes
        if self.rule == "passed":
            return self.rule
        return "key" if self.rule == "keys" else "time" if self.closing or self.rule == "recent" else ""


class ClaimedWindow(Struct, frozen=True):
    """The functions, by their numbers, that rows are kept for, and which rows; ``order``: facts of the first key."""

    calls: tuple[int, ...]
    keeps: str
    order: tuple[int, ...] = ()


class ClaimedOperatorState(Struct, frozen=True):
    """A claimed state of an operator: the proposition, the number of entries, and why; for windows also which rows.

    ``best``: a column of which the greatest or least value is enough, by the others of an entry.
    """

    what: str
    proposition: str
    size: ClaimedAmount
    count: ClaimedStateCount | None = None
    best: int | None = None
    window: ClaimedWindow | None = None


class ClaimedBlockTables(Struct, frozen=True):
    """The tables of a block, whose results may be returned again; ``distinct``: how often does not matter."""

    distinct: bool
    branches: tuple[ClaimedBranch, ...]


class ClaimedGreatest(Struct, frozen=True):
    """The greatest value that matters of a column, or by how much it is above an ``other`` one in rows that matter.

    The path of a condition says so, or the operators above.
    """

    column: int
    most: int
    other: int | None = None
    path: tuple[ClaimedStep, ...] = ()


class ClaimedOperation(Struct, frozen=True):
    """An operator at a line and a column, its rule, what is needed of its rows, its states and what it reads."""

    operator: str
    rule: str
    columns: tuple[int, ...]
    limits: tuple[ClaimedGreatest, ...] = ()
    states: tuple[ClaimedOperatorState, ...] = ()
    inputs: tuple[ClaimedOperation, ...] = ()
    block: ClaimedBlockTables | None = None
    each: ClaimedKey | None = None
    at: tuple[int, ...] = ()

    def count(self, place: int) -> ClaimedStateCount:
        """Why a state of it has no more entries."""
        if not -len(self.states) <= place < len(self.states):
            raise RejectedError(f"a {self.operator} without its states")
        count = self.states[place].count
        if count is None:
            raise NotCheckedError(f"a {self.operator} whose state {self.states[place].what} says no reason")
        return count

    @property
    def every_state(self) -> tuple[ClaimedOperatorState, ...]:
        """The states of the operations below, then its own."""
        return (*(state for below in self.inputs for state in below.every_state), *self.states)


class ClaimedKey(Struct, frozen=True):
    """The claimed states for one value of a key that ends, with a log of their own."""

    key: str
    nodes: tuple[ClaimedNode, ...]
    facts: tuple[ClaimedFact, ...]
    operation: ClaimedOperation


class ClaimedRewrite(Struct, frozen=True):
    """A rewrite of the whole tree, or of the operator at a path, by some facts of the tree before it.

    ``condition``: what partners of a join's ``side`` satisfy, as a ``fact`` of pairs says, by its number.
    """

    rule: str
    path: tuple[str, ...] = ()
    side: str = ""
    condition: str = ""
    fact: int | None = None
    nodes: tuple[ClaimedNode, ...] = ()
    facts: tuple[ClaimedFact, ...] = ()


class ClaimedDerivation(Struct, frozen=True):
    """The whole derivation; ``joining``: conditions on relations are joins with them."""

    version: int
    joining: bool
    rewrites: tuple[ClaimedRewrite, ...]
    nodes: tuple[ClaimedNode, ...]
    facts: tuple[ClaimedFact, ...]
    operation: ClaimedOperation
    keys: tuple[ClaimedOperatorState, ...]
    entries: ClaimedAmount

    def __post_init__(self) -> None:
        if self.version != VERSION:
            raise RejectedError(f"the derivation is not of version {VERSION}")
