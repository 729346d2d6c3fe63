"""The operators of the algebra: immutable trees that SQL is lowered to, whether or not they can be decided.

`lowering` makes them of a statement, `schema` says what columns each has, `facts` what is known of it, `verify` checks
them, `tree_text` prints them and reads them back; `analyzer.flatten` takes the select-project-join blocks out of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from sqlglot import exp

from streambound.analyzer.spans import Span


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar or boolean expression: canonical Spark SQL over the columns of the operator's input.

    ``syntax`` is what it was written as; None where a tree was read back from its text.
    """

    text: str
    syntax: exp.Expr | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Named:
    """An item of a select list: its name and value. ``alias``: it was given that name, by AS."""

    name: str
    value: Scalar
    alias: bool = False


@dataclass(frozen=True, slots=True)
class Star:
    """``*``, or ``alias.*``: all columns of the input, or of one item of it, but those that ``without`` names."""

    alias: str = ""
    without: tuple[str, ...] = ()
    syntax: exp.Expr | None = field(default=None, compare=False, repr=False)


Item = Named | Star
"""An item of a select list."""


class JoinKind(StrEnum):
    """What a join keeps beside the pairs that satisfy its condition, or instead of them."""

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """What every operator has beside its own: the SQL that it came from, and where its keyword stands."""

    syntax: exp.Expr | None = field(default=None, compare=False, repr=False)
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Scan(Operator):
    """A stream or relation of the catalog, by the name that it has there; its columns belong to ``alias``."""

    table: str
    alias: str


@dataclass(frozen=True, slots=True)
class AsOf(Operator):
    """``input FOR SYSTEM_TIME AS OF time``: a relation as it was at a time."""

    input: Tree
    time: Scalar


@dataclass(frozen=True, slots=True)
class Alias(Operator):
    """``(input) AS alias (columns)``: the columns of a subquery belong to one alias, and may get other names."""

    input: Tree
    alias: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter(Operator):
    """The rows for which a condition is true."""

    input: Tree
    condition: Scalar


@dataclass(frozen=True, slots=True)
class Project(Operator):
    """One row of other columns for each row."""

    input: Tree
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Over(Operator):
    """One row for each row, with columns that are computed over a window of rows; those that ``qualify``."""

    input: Tree
    items: tuple[Item, ...]
    qualify: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Aggregate(Operator):
    """One row for each group of rows that agree in ``keys``, if it is as ``having`` says; without keys, one row."""

    input: Tree
    keys: tuple[Scalar, ...]
    items: tuple[Item, ...]
    having: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Join(Operator):
    """Pairs of rows. ``using`` names columns that both sides have, which become one; else ``condition``, if any."""

    kind: JoinKind
    left: Tree
    right: Tree
    condition: Scalar | None = None
    using: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Distinct(Operator):
    """Each row once."""

    input: Tree


@dataclass(frozen=True, slots=True)
class Union(Operator):
    """The rows of both sides, by position; each once where ``distinct``."""

    left: Tree
    right: Tree
    distinct: bool


@dataclass(frozen=True, slots=True)
class Except(Operator):
    """The rows of the left side without those of the right one; each once where ``distinct``."""

    left: Tree
    right: Tree
    distinct: bool


@dataclass(frozen=True, slots=True)
class Intersect(Operator):
    """The rows that both sides have; each once where ``distinct``."""

    left: Tree
    right: Tree
    distinct: bool


@dataclass(frozen=True, slots=True)
class OrderBy(Operator):
    """The rows in an order."""

    input: Tree
    keys: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class FirstRows(Operator):
    """The first rows: at most ``count`` of them, after ``offset`` others."""

    input: Tree
    count: Scalar | None = None
    offset: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Fixpoint(Operator):
    """The least relation ``name`` that holds ``base`` and what ``step``, which reads it, makes of it."""

    name: str
    base: Tree
    step: Tree
    distinct: bool


@dataclass(frozen=True, slots=True)
class Recur(Operator):
    """The relation that the `Fixpoint` around it defines; its columns belong to ``alias``."""

    name: str
    alias: str


@dataclass(frozen=True, slots=True)
class SpjBlock(Operator):
    """A maximal select-project-join block, which is decided as a whole."""

    input: Tree


Tree = (
    Scan | AsOf | Alias | Filter | Project | Over | Aggregate | Join | Distinct | Union | Except | Intersect
    | OrderBy | FirstRows | Fixpoint | Recur | SpjBlock
)  # fmt: skip
"""A tree of operators."""

SetOperation = Union | Except | Intersect
"""The operators that take the columns of two sides by position."""

OPERATORS: tuple[type[Tree], ...] = (
    Scan, AsOf, Alias, Filter, Project, Over, Aggregate, Join, Distinct, Union, Except, Intersect, OrderBy, FirstRows,
    Fixpoint, Recur, SpjBlock,
)  # fmt: skip
"""All of them, for the printer and its reader."""


INPUTS = ("input", "left", "right", "base", "step")
"""The fields of operators that are trees, from left to right."""


def named_inputs(tree: Tree) -> dict[str, Tree]:
    """The trees under an operator, by the fields that they are, from left to right."""
    return {name: getattr(tree, name) for name in INPUTS if hasattr(tree, name)}


def inputs(tree: Tree) -> tuple[Tree, ...]:
    """The trees under an operator, from left to right."""
    return tuple(named_inputs(tree).values())
