"""The operators of the algebra: immutable trees that SQL is lowered to, whether or not they can be decided.

`lowering` makes them of a statement, `schema` says what columns each has, `facts` what is known of it, `verify` checks
them, `tree_text` prints them and reads them back; `analyzer.flatten` takes the select-project-join blocks out of them.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property
from typing import cast

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.models import Described
from streambound.analyzer.spans import Span
from streambound.analyzer.work import spend
from streambound_runtime.operators.plan import JoinType

_STEPS_A_TEXT = 60


class Scalar(Struct, frozen=True, dict=True):
    """A scalar or boolean expression over the columns of the operator's input; two are equal if their texts are."""

    syntax: exp.Expr

    @cached_property
    def text(self) -> str:
        """Canonical Spark SQL."""
        found = self.syntax.sql("spark", comments=False)
        spend(_STEPS_A_TEXT + 2 * len(found))
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scalar) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


class Named(Struct, frozen=True):
    """An item of a select list: its name and value. ``alias``: it was given that name, by AS."""

    name: str
    value: Scalar
    alias: bool = False


class Star(Described, frozen=True):
    """``*``, or ``alias.*``: all columns of the input, or of one item of it, but those that ``without`` names."""

    DESCRIPTION = ("syntax",)

    alias: str = ""
    without: tuple[str, ...] = ()
    syntax: exp.Expr | None = None


Item = Named | Star
"""An item of a select list."""


class SortKey(Struct, frozen=True):
    """A sort key: falling values if ``descending``; NULL comes first, or last."""

    value: Scalar
    descending: bool = False
    nulls_first: bool = True


class AggregateCall(Described, frozen=True):
    """An aggregate of the rows of a group, and the column that it is.

    ``function`` is its name in capitals, one for all that mean the same (``STDDEV`` is STDDEV_SAMP); ``COUNT(*)`` has
    no arguments. ``filter`` says which rows count, ``distinct`` each combination of arguments once. ``order`` is that
    of WITHIN GROUP, whose value is no argument: ``PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY v)`` has the one 0.5.
    """

    DESCRIPTION = ("syntax",)

    name: str
    function: str
    arguments: tuple[Scalar, ...] = ()
    distinct: bool = False
    filter: Scalar | None = None
    order: tuple[SortKey, ...] = ()
    ignore_nulls: bool = False
    syntax: exp.Expr | None = None


class Unit(StrEnum):
    """The unit of a frame: rows, or values of the only key of its order."""

    ROWS = "rows"
    RANGE = "range"


class Side(StrEnum):
    """On which side of the current row an end of a frame lies."""

    PRECEDING = "preceding"
    CURRENT = "current row"
    FOLLOWING = "following"


class FrameEnd(Struct, frozen=True):
    """An end of a frame, which belongs to it: so far from the current row, without end where ``distance`` is None.

    Of rows it is a number of them; of values a number, or microseconds where ``interval`` says so.
    """

    side: Side
    distance: int | None = None
    interval: bool = False


class Frame(Struct, frozen=True):
    """The rows around each row that a function over a window is computed of."""

    unit: Unit
    start: FrameEnd
    end: FrameEnd


class WindowCall(Described, frozen=True):
    """A function of the rows that agree in ``partition``, in an order, and the column that it is.

    ``function`` as for `AggregateCall`. ``frame`` is None for functions that have none: ranks, LAG and LEAD.
    """

    DESCRIPTION = ("syntax",)

    name: str
    function: str
    arguments: tuple[Scalar, ...] = ()
    partition: tuple[Scalar, ...] = ()
    order: tuple[SortKey, ...] = ()
    frame: Frame | None = None
    distinct: bool = False
    filter: Scalar | None = None
    ignore_nulls: bool = False
    syntax: exp.Expr | None = None


class BucketKind(StrEnum):
    """How buckets of time lie: side by side, one at each step, or around rows that follow each other closely."""

    TUMBLING = "tumbling"
    HOPPING = "hopping"
    SESSION = "session"


class JoinKind(StrEnum):
    """The kinds of joins: which rows are results beside the matching pairs, or instead of them."""

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"
    NOT_IN = "not in"
    """The left rows without a right row for which the condition is true, and ``member`` true or NULL."""

    @property
    def type(self) -> JoinType:
        """Its name in a plan, where NOT IN is one of the others."""
        return cast("JoinType", self.value)


ONE_SIDED = (JoinKind.SEMI, JoinKind.ANTI, JoinKind.NOT_IN)
"""The joins that keep the left side's columns only."""


class ApplyKind(StrEnum):
    """The kinds of values that a subquery has for a row."""

    EXISTS = "exists"
    """Whether it has a row: never NULL."""
    IN = "in"
    """Whether one of its rows equals the row's ``operands``: NULL where none does, and one might."""
    SCALAR = "scalar"
    """The one value of its one row: NULL where it has none; several rows stop a run."""


class Operator(Described, frozen=True, kw_only=True):
    """The fields common to all operators: the SQL from which it came, and the place of its keyword."""

    DESCRIPTION = ("syntax", "at")

    syntax: exp.Expr | None = None
    at: Span | None = None


ONE_ROW = ""
"""The name of the relation of one row and no columns that a SELECT without FROM reads."""


class Scan(Operator, frozen=True):
    """A stream or relation of the catalog, by the name that it has there, or `ONE_ROW`; its columns are ``alias``'s.

    ``changes`` says that it is a relation whose rows come and go.
    """

    table: str
    alias: str
    changes: bool = False


class AsOf(Operator, frozen=True):
    """``input FOR SYSTEM_TIME AS OF time``: a relation as it was at a time, which may be a column beside it in FROM."""

    input: Tree
    time: Scalar


class Alias(Operator, frozen=True):
    """``(input) AS alias (columns)``: the columns of a subquery belong to one alias, and may get other names."""

    input: Tree
    alias: str
    columns: tuple[str, ...] = ()


class Filter(Operator, frozen=True):
    """The rows for which a condition is true."""

    input: Tree
    condition: Scalar


class Project(Operator, frozen=True):
    """One row of other columns for each row."""

    input: Tree
    items: tuple[Item, ...]


class Over(Operator, frozen=True):
    """Each row, with a column more for each function over a window of rows; these columns belong to no alias."""

    input: Tree
    calls: tuple[WindowCall, ...]


class Bucket(Operator, frozen=True):
    """Each row once for every bucket that its time is in, with the bucket's ends; a row without a time in none.

    Tumbling and hopping buckets are ``[offset + k·slide, offset + k·slide + size)`` for every integer k. A session is
    of the rows that agree in ``keys``: from the first one's time to ``size`` after the last one's; a row that comes at
    most ``size`` after another is in its session. Sizes are in microseconds, of the time's type. ``columns`` are the
    names of a bucket's start, its end and, if there is a third one, its last microsecond; they belong to ``alias``.
    """

    input: Tree
    kind: BucketKind
    time: Scalar
    size: int
    slide: int = 0
    offset: int = 0
    columns: tuple[str, ...] = ("window_start", "window_end")
    alias: str = ""
    keys: tuple[Scalar, ...] = ()


class Aggregate(Operator, frozen=True):
    """One row for each group of rows that agree in ``keys`` (NULL equals NULL); without keys, one row of all of them.

    Its columns are the keys, those that are a column of the input under the name and alias that it has there, then the
    ``calls``, without an alias. HAVING is a `Filter` above it, the select list a `Project` above that.
    """

    input: Tree
    keys: tuple[Named, ...]
    calls: tuple[AggregateCall, ...]


class Apply(Operator, frozen=True):
    """Each row with one more column: the value of a subquery, which may name the row's columns.

    [NOT] EXISTS and [NOT] IN that every row of a WHERE must satisfy are joins (SEMI, ANTI, NOT_IN) instead.
    """

    input: Tree
    subquery: Tree
    kind: ApplyKind
    name: str
    operands: tuple[Scalar, ...] = ()


class Join(Operator, frozen=True):
    """Pairs of rows. ``using`` names columns that both sides have, which become one; else ``condition``, if any.

    ``member`` is the equality of NOT IN, which is neither true nor false where one of its sides is NULL.
    """

    kind: JoinKind
    left: Tree
    right: Tree
    condition: Scalar | None = None
    using: tuple[str, ...] = ()
    member: Scalar | None = None


class Distinct(Operator, frozen=True):
    """Each row once."""

    input: Tree


class Union(Operator, frozen=True):
    """The rows of both sides, by position; each once where ``distinct``."""

    left: Tree
    right: Tree
    distinct: bool


class Except(Operator, frozen=True):
    """The rows of the left side without those of the right one; each once where ``distinct``."""

    left: Tree
    right: Tree
    distinct: bool


class Intersect(Operator, frozen=True):
    """The rows that both sides have; each once where ``distinct``."""

    left: Tree
    right: Tree
    distinct: bool


class OrderBy(Operator, frozen=True):
    """The rows in an order."""

    input: Tree
    keys: tuple[SortKey, ...]


class FirstRows(Operator, frozen=True):
    """The first rows: at most ``count`` of them, after ``offset`` others."""

    input: Tree
    count: Scalar | None = None
    offset: Scalar | None = None


class Fixpoint(Operator, frozen=True):
    """The least relation ``name`` that holds ``base`` and what ``step``, which reads it, makes of it."""

    name: str
    base: Tree
    step: Tree
    distinct: bool


class Recur(Operator, frozen=True):
    """The relation that the `Fixpoint` around it defines; its columns belong to ``alias``."""

    name: str
    alias: str


class SpjBlock(Operator, frozen=True):
    """A maximal select-project-join block, which is decided as a whole."""

    input: Tree


Tree = (
    Scan | AsOf | Alias | Filter | Project | Over | Bucket | Aggregate | Apply | Join | Distinct | Union
    | Except | Intersect | OrderBy | FirstRows | Fixpoint | Recur | SpjBlock
)  # fmt: skip
"""A tree of operators."""

SetOperation = Union | Except | Intersect
"""The operators that take the columns of two sides by position."""

INPUTS = ("input", "subquery", "left", "right", "base", "step")
"""The fields of operators that are trees, from left to right."""


def named_inputs(tree: Tree) -> dict[str, Tree]:
    """The trees under an operator, by the fields that they are, from left to right."""
    spend()
    return {name: getattr(tree, name) for name in INPUTS if hasattr(tree, name)}


def inputs(tree: Tree) -> tuple[Tree, ...]:
    """The trees under an operator, from left to right."""
    return tuple(named_inputs(tree).values())
