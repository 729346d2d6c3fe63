"""The nodes of a circuit (Budiu et al., *DBSP*, §4): select-project-join blocks, and the operators above them.

They are in order: each reads streams, or nodes before it, by their names. Values are encoded as everywhere
(`streambound_runtime.spec`). `from_parts` makes the engine's operators of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from streambound_runtime.operators.circuit_plan import (
    BlockNode,
    ChangesNode,
    ColumnClip,
    EndedKeysNode,
    FixpointNode,
    GroupValue,
    KeyMember,
    MapNode,
    OverValue,
    PeriodNode,
    RelationNode,
    TimeBucket,
)
from streambound_runtime.operators.formula import Formula
from streambound_runtime.operators.plan import Subplan, TableScan, Term, Test


@dataclass(frozen=True, slots=True)
class GroupValues:
    """Where a group's values come from: a block of its key and a value.

    ``greatest`` says that the greatest one (True) or the least one (False) is enough; None that all are kept, each with
    its number.
    With a ``bucket`` of the block's rows that is so of the rows of closed ones, which are taken back no more.
    """

    block: str
    greatest: bool | None = None
    bucket: TimeBucket | None = None


@dataclass(frozen=True, slots=True)
class KeyEnds:
    """An `EndedKeysNode` whose keys are the columns at these ``places``: what has one of them goes when it is over."""

    keys: str
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BucketNode:
    """Rows once for every bucket ``[offset + k * slide, offset + k * slide + size)`` that their ``time`` is in.

    ``items`` are places of the input's columns, or "start", "end", "last" of the bucket; what the input has beyond
    these places and the time follows. With a ``slide`` of 0 the bucket is the session that the row alone would make.
    """

    name: str
    input: str
    time: int
    size: int
    slide: int
    offset: int
    items: tuple[int | str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupNode:
    """Aggregates: of the rows of a block whose first ``keys`` columns agree. Results are the keys, then the values.

    Without keys there is one group, from the first timestamp on. ``sums`` are the columns that are added up;
    ``weighted`` says that they are so already, of as many rows as a result stands for. Groups that differ only in the
    ends of a ``session``, at these places of the key, are one if they touch. Those of a key that ``ends`` are dropped.
    """

    name: str
    rows: str
    keys: tuple[str, ...]
    sums: tuple[str, ...]
    weighted: bool
    values: tuple[GroupValue, ...]
    arguments: tuple[GroupValues, ...] = ()
    bucket: TimeBucket | None = None
    session: tuple[int, int] | None = None
    ends: KeyEnds | None = None


@dataclass(frozen=True, slots=True)
class SetNode:
    """``except``, ``intersect``, with ``all`` or of distinct rows; without a right side, the ``distinct`` rows of left.

    ``semi`` and ``anti`` are the rows of left that right has, or has not, as often as left has them.
    ``open`` are, for each side, alternatives of tests that a row passes while the result may still change by it; None
    where every row does. Others pass an EXCEPT at once. With ``grows`` no side takes anything back, so that it only
    matters what is there. Rows of a key that ``ends`` are forgotten.
    """

    name: str
    operation: str
    left: str
    right: str | None
    columns: tuple[str, ...]
    all: bool = False
    grows: bool = False
    open: tuple[tuple[tuple[Test, ...], ...] | None, ...] = (None, None)
    bucket: TimeBucket | None = None
    ends: KeyEnds | None = None


@dataclass(frozen=True, slots=True)
class OverNode:
    """Functions over the same windows of rows: a row's first ``width`` columns, and the values of its ``calls``.

    ``partition`` are places of the input's columns, ``order`` those with whether values fall and whether NULL comes
    first; what is equal then is in order of the columns, NULL first. ``keep`` says which rows are kept: "all"; the
    "first" ``most`` of a partition, or up to that rank, of rows that are only added; of rows that come in their order
    the "last" ``most``, or those "near", ``most`` before, where the values of the last ``after``, or of those so much
    before, may change; those whose bucket is "open", and of each partition the last ``most`` others, or, where it is
    "open first", those that are among the first ``most`` of these, which are all that is asked for. Where it is
    "running", rows come in their order and the functions are of all rows up to theirs: no row is kept. Where it is
    "running open", they may be taken back until their bucket has closed, and are kept so long.
    """

    name: str
    input: str
    width: int
    partition: tuple[int, ...]
    order: tuple[tuple[int, bool, bool], ...]
    calls: tuple[OverValue, ...]
    keep: str
    most: int
    after: int
    columns: tuple[str, ...]
    bucket: TimeBucket | None = None


@dataclass(frozen=True, slots=True)
class UnionNode:
    """The rows of some nodes, by position."""

    name: str
    inputs: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairSide:
    """One side of a `PairNode`: its ``scan`` in the join, and, where it is remembered, its ``table``.

    ``alone`` are all of its rows, also those without any possible partner; ``padded`` are the results that these are
    without one, ``remembered`` the same of an entry: None is a NULL of the other side's.
    """

    scan: int
    alone: TableScan
    padded: tuple[Term | None, ...]
    table: int | None = None
    remembered: tuple[Term | None, ...] = ()


@dataclass(frozen=True, slots=True)
class PairNode:
    """A join of two streams of the ``kind`` left, right, full, semi or anti, on the tables of the inner one.

    With ``distinct`` these hold what is there, not how often: enough where partners are only asked for.
    """

    name: str
    kind: str
    columns: tuple[str, ...]
    joint: Subplan
    left: PairSide
    right: PairSide
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class ViewJoinNode:
    """An ``inner``, ``left``, ``semi`` or ``anti`` join of two nodes that may take rows back.

    The sides' columns are called ``left_columns`` and ``right_columns`` in ``tests``, which a pair must pass, in
    ``open``, alternatives of tests that a left row passes while it can have a partner, and in ``shown``, the results.
    With ``as_of`` left rows are joined with the right ones that are there at their time, and then forgotten. Rows of
    the left and of the right side are forgotten after their ``buckets``. Left rows are remembered with their ``clips``.
    """

    name: str
    kind: str
    left: str
    right: str
    left_columns: tuple[str, ...]
    right_columns: tuple[str, ...]
    tests: tuple[Test, ...]
    open: tuple[tuple[Test, ...], ...]
    shown: tuple[str, ...]
    columns: tuple[str, ...]
    as_of: bool = False
    buckets: tuple[TimeBucket | None, ...] = (None, None)
    clips: tuple[ColumnClip, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyedNode:
    """A node of which there is one for each key of an `EndedKeysNode`, until the key is over.

    ``streams`` says in which columns the streams have the key that the ``node`` reads, and ``places`` where its inputs
    have it, in their order. Its state has no row of another key.
    """

    name: str
    node: BlockNode | PairNode | OverNode | ViewJoinNode
    keys: str
    streams: tuple[KeyMember, ...] = ()
    places: tuple[tuple[int, ...], ...] = ()


Node = (
    KeyedNode
    | OverNode
    | BlockNode
    | BucketNode
    | ChangesNode
    | RelationNode
    | GroupNode
    | MapNode
    | SetNode
    | UnionNode
    | PairNode
    | PeriodNode
    | ViewJoinNode
    | FixpointNode
)
"""An operator of a circuit."""


@dataclass(frozen=True, slots=True)
class NodePlan:
    """The nodes of a query beyond select-project-join; the last one's results are the query's.

    ``bound`` is M: the most entries of all nodes between two timestamps. ``final`` says that results are printed when
    they no longer change, instead of their changes; ``retracts`` that a change may take a row back. ``watched`` are the
    punctuations that nodes use; ``timed`` says that results have a `_ts`, ``counted`` that they have a `_mult`.
    ``kept`` are the states by their names, each with its part of M, also in words.
    """

    columns: tuple[str, ...]
    nodes: tuple[Node, ...]
    bound: Formula
    final: bool = False
    most: int = 2**63 - 1
    because: str = ""
    retracts: bool = False
    watched: tuple[EndedKeysNode, ...] = ()
    timed: bool = True
    counted: bool = True
    kept: tuple[tuple[str, Formula, str], ...] = ()
