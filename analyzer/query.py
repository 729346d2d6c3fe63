"""The immutable query IR: a query is a union of select-project-join branches (paper, Definition 4)."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.catalog import Kind
from streambound.analyzer.changes import KeyPunctuation, StreamKey
from streambound.analyzer.columns import Column
from streambound.analyzer.models import Described
from streambound.analyzer.spans import Excerpt, Span
from streambound.analyzer.types import DataType
from streambound.analyzer.values import Value
from streambound.analyzer.work import spend
from streambound_runtime.promises import Rate, UniqueKey


class Op(StrEnum):
    """A comparison operator."""

    LT = "<"
    LE = "<="
    EQ = "="
    GE = ">="
    GT = ">"
    NE = "<>"

    @property
    def negated(self) -> Op:
        """``NOT (x op y)`` is ``x op.negated y``, also under SQL's three-valued logic."""
        return _NEGATED[self]

    @property
    def flipped(self) -> Op:
        """``x op y`` is ``y op.flipped x``."""
        return _FLIPPED[self]


_NEGATED = {Op.LT: Op.GE, Op.LE: Op.GT, Op.EQ: Op.NE, Op.GE: Op.LT, Op.GT: Op.LE, Op.NE: Op.EQ}
_FLIPPED = {Op.LT: Op.GT, Op.LE: Op.GE, Op.EQ: Op.EQ, Op.GE: Op.LE, Op.GT: Op.LT, Op.NE: Op.NE}


class Attribute(NamedTuple):
    """A column of one source of a branch, by the source's alias. A tuple, since it is hashed more than all else."""

    source: str
    column: str

    def __str__(self) -> str:
        return f"{self.source}.{self.column}"


class Constant(Struct, frozen=True):
    """A constant of the select list; ``value`` is encoded by its type, None for NULL."""

    value: Value | None
    type: DataType


class Computed(Struct, frozen=True):
    """A column of the select list that is computed of several rows when a result is made: ``CAST((text) AS type)``.

    ``text`` is Spark SQL over the columns ``_1``, ``_2``, … (in backquotes), which are the ``attributes`` in turn.
    """

    text: str
    type: DataType
    attributes: tuple[Attribute, ...]


class TimeValue(Struct, frozen=True):
    """Application times in the select list: ``plus + offset``, or the distance ``plus - minus + offset``.

    ``offset`` is in encoded units (microseconds of a TIMESTAMP); ``type`` is that of the value.
    """

    plus: Attribute
    minus: Attribute | None
    offset: int
    type: DataType

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The one or two application times."""
        return (self.plus,) if self.minus is None else (self.plus, self.minus)

    def map(self, rename: Callable[[Attribute], Attribute]) -> TimeValue:
        """The same value of other attributes."""
        return replace(self, plus=rename(self.plus), minus=None if self.minus is None else rename(self.minus))


class Comparison(Struct, frozen=True):
    """``left op right + offset``; ``left op offset`` where ``right`` is None.

    ``offset`` is in the encoded units of the attributes' type (a string for string constants). ``span`` is
    None for an atom that a pass derived, such as an order of an LTO query.
    """

    left: Attribute
    op: Op
    right: Attribute | None
    offset: Value
    span: Span | None = None

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The one or two attributes compared."""
        return (self.left,) if self.right is None else (self.left, self.right)


class NullTest(Struct, frozen=True):
    """``attribute IS [NOT] NULL``."""

    attribute: Attribute
    is_null: bool
    span: Span | None = None

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attribute tested."""
        return (self.attribute,)


class OneOf(Struct, frozen=True):
    """``attribute IN (values)``, a list that was not split; ``values`` are distinct and encoded."""

    attribute: Attribute
    values: tuple[Value, ...]
    span: Span | None = None

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attribute listed."""
        return (self.attribute,)


class Truth(Struct, frozen=True):
    """A constant condition: ``TRUE``, ``FALSE``, or SQL's ``UNKNOWN`` (not true, and not false either)."""

    value: bool
    unknown: bool = False
    span: Span | None = None


class And(Struct, frozen=True):
    """A conjunction."""

    parts: tuple[Formula, ...]


class Or(Described, frozen=True):
    """A disjunction.

    ``operands`` are the places of the parts where each is written as an alternative: an operand of OR, an item of IN.
    Empty where a pass derived the disjunction.
    """

    DESCRIPTION = ("operands",)

    parts: tuple[Formula, ...]
    operands: tuple[Span, ...] = ()


class Not(Struct, frozen=True):
    """A negation."""

    part: Formula


Atom = Comparison | NullTest
Condition = Atom | OneOf
"""A conjunct of a branch."""

Formula = Comparison | NullTest | OneOf | Truth | And | Or | Not


class Source(Struct, frozen=True):
    """One occurrence of a stream or relation in a branch's FROM.

    ``table`` is its name in the catalog, ``at`` where the catalog declares it. ``factors`` are the columns whose
    product a row contributes to each of the query's sums, none for a factor of one. ``query`` is Spark SQL that gives
    the rows of a relation that is computed of others (`computed_relations`), and so is in no catalog. ``punctuations``
    are those of a stream, ``ending`` its keys that some stream's end; ``one_key`` the one of which all rows have one
    value, and ``unique`` are keys that come once.
    """

    alias: str
    table: str
    kind: Kind
    columns: tuple[Column, ...]
    timestamp: str | None
    span: Span
    max_per_timestamp: int | None = None
    rows: int | None = None
    at: Excerpt | None = None
    max_rate: Rate | None = None
    factors: tuple[tuple[str, ...], ...] = ()
    query: str = ""
    punctuations: tuple[KeyPunctuation, ...] = ()
    ending: tuple[StreamKey, ...] = ()
    one_key: StreamKey | None = None
    unique: tuple[UniqueKey, ...] = ()

    def column(self, name: str) -> Column:
        """The column of that exact name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def derived(self) -> tuple[Column, ...]:
        """The columns that are derived from the declared ones."""
        return tuple(column for column in self.columns if column.expression)

    @property
    def time(self) -> Attribute | None:
        """The application-time attribute; None for a relation."""
        return Attribute(self.alias, self.timestamp) if self.timestamp else None


OutputValue = Attribute | Constant | Computed | TimeValue
"""What a column of the select list is."""


class Output(Struct, frozen=True):
    """One column of the select list."""

    name: str
    value: OutputValue
    span: Span

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes that it shows, or is computed of."""
        match self.value:
            case Attribute():
                return (self.value,)
            case Computed(attributes=attributes):
                return attributes
        return ()


class Branch(Struct, frozen=True, dict=True):
    """One select-project-join query.

    ``where`` is any formula until `split_disjunctions` made it a conjunction. ``merged`` partitions the
    aliases of streams whose timestamps were merged (preprocessing step 2); streams in no group stand alone.
    ``statement`` is the ordinal of the SELECT that the branch was split from, ``part`` that of
    the disjoint branch which `split_unequal` split.
    """

    sources: tuple[Source, ...]
    where: Formula
    outputs: tuple[Output, ...]
    span: Span
    statement: int = 0
    part: int = 0
    merged: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def _by_alias(self) -> dict[str, Source]:
        return {source.alias: source for source in self.sources}

    @property
    def atoms(self) -> tuple[Condition, ...]:
        """The conjunction's atoms; raises TypeError before `split_disjunctions`."""
        found = conjuncts(self.where)
        spend(len(found) / 5)
        return found

    def source(self, alias: str) -> Source:
        """The source of that alias."""
        spend()
        return self._by_alias[alias]

    @property
    def projected(self) -> tuple[Attribute, ...]:
        """The attributes that the select list needs, each once."""
        return tuple(dict.fromkeys(attribute for output in self.outputs for attribute in output.attributes))

    def of_kind(self, kind: Kind) -> tuple[Source, ...]:
        """The sources of one kind, in FROM order."""
        return tuple(source for source in self.sources if source.kind is kind)

    @property
    def time_values(self) -> tuple[TimeValue, ...]:
        """The application times of the select list, in its order."""
        return tuple(dict.fromkeys(o.value for o in self.outputs if isinstance(o.value, TimeValue)))

    @property
    def streams(self) -> tuple[Source, ...]:
        """The infinite and finite streams, in FROM order."""
        return tuple(source for source in self.sources if source.kind is not Kind.RELATION)

    def column(self, attribute: Attribute) -> Column:
        """The declared column behind an attribute."""
        return self.source(attribute.source).column(attribute.column)

    def joins_streams(self, atom: Comparison) -> bool:
        """Whether a comparison is between attributes of two different streams."""
        sources = {self.source(attribute.source).alias: self.source(attribute.source) for attribute in atom.attributes}
        return len(sources) == 2 and all(source.kind is not Kind.RELATION for source in sources.values())

    def is_time(self, attribute: Attribute) -> bool:
        """Whether the attribute is its stream's application time."""
        return self.source(attribute.source).timestamp == attribute.column


class Query(Struct, frozen=True):
    """A statement's meaning: bag or set (``distinct``) of the union of its branches.

    Of a block below an aggregate, results are counted with ``sums`` of products of their rows' factors, by name.
    ``as_of`` are relations that it reads as of a time (`algebra.valid_rows.read_as_of`), ``order`` is the column of the
    time by which its results are released in order.
    """

    name: str
    file: str
    distinct: bool
    branches: tuple[Branch, ...]
    span: Span
    sums: tuple[str, ...] = ()
    as_of: tuple[str, ...] = ()
    order: str = ""

    @property
    def projection(self) -> str:
        """``bag`` or ``set``."""
        return "set" if self.distinct else "bag"


TRUE = Truth(True)
FALSE = Truth(False)


def conjuncts(formula: Formula) -> tuple[Condition, ...]:
    """The atoms of a conjunction; raises TypeError on any other formula."""
    match formula:
        case Comparison() | NullTest() | OneOf():
            return (formula,)
        case Truth(value=True):
            return ()
        case And(parts):
            return tuple(atom for part in parts for atom in conjuncts(part))
    raise TypeError(f"not a conjunction of atoms: {formula!r}")


def conjunction(parts: tuple[Formula, ...]) -> Formula:
    """The conjunction of the parts, flattened; TRUE when there are none."""
    spend(len(parts) / 5)
    flat: list[Formula] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, And) else () if part == TRUE else (part,))
    return flat[0] if len(flat) == 1 else And(tuple(flat)) if flat else TRUE


def first_span(formula: Formula) -> Span | None:
    """The span of a formula's first condition that has one."""
    match formula:
        case Comparison(span=span) | NullTest(span=span) | OneOf(span=span) | Truth(span=span):
            return span
        case And(parts) | Or(parts):
            return next((span for part in parts if (span := first_span(part)) is not None), None)
        case Not(part):
            return first_span(part)


def formula_attributes(formula: Formula) -> tuple[Attribute, ...]:
    """The attributes of a formula's conditions, in order."""
    match formula:
        case Comparison() | NullTest() | OneOf():
            return formula.attributes
        case And(parts) | Or(parts):
            return tuple(attribute for part in parts for attribute in formula_attributes(part))
        case Not(part):
            return formula_attributes(part)
    return ()


def map_attributes(formula: Formula, rename: Callable[[Attribute], Attribute]) -> Formula:
    """The formula with every attribute replaced."""
    match formula:
        case Comparison(left, _, right):
            return replace(formula, left=rename(left), right=None if right is None else rename(right))
        case NullTest(attribute) | OneOf(attribute):
            return replace(formula, attribute=rename(attribute))
        case And(parts):
            return And(tuple(map_attributes(part, rename) for part in parts))
        case Or(parts):
            return replace(formula, parts=tuple(map_attributes(part, rename) for part in parts))
        case Not(part):
            return Not(map_attributes(part, rename))
        case Truth():
            return formula


__all__ = [
    "FALSE",
    "TRUE",
    "And",
    "Atom",
    "Attribute",
    "Branch",
    "Comparison",
    "Computed",
    "Condition",
    "Constant",
    "Formula",
    "Kind",
    "Not",
    "NullTest",
    "OneOf",
    "Op",
    "Or",
    "Output",
    "OutputValue",
    "Query",
    "Source",
    "TimeValue",
    "Truth",
    "conjunction",
    "conjuncts",
    "first_span",
    "formula_attributes",
    "map_attributes",
]
