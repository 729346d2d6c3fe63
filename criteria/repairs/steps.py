"""What a repair is made of: steps as plain data, which `meaning` applies to a query and `patch` to its text.

Of a statement beyond joins `operators.syntax` applies them to its syntax, and `operators.edits` to its text.
"""

from __future__ import annotations

from dataclasses import dataclass

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.diagnostics import FixKind
from streambound.analyzer.query import Attribute, Branch, Op
from streambound.analyzer.spans import Span
from streambound.analyzer.types import DataType
from streambound.analyzer.values import Value
from streambound.criteria.repairs.operators.spots import Spot
from streambound_runtime.promises import Domain


@dataclass(frozen=True, slots=True)
class Place:
    """A column of the source that a FROM names at a span.

    A CTE that is read twice has one place for two sources of the query: a condition inside it concerns both.
    """

    source: Span
    column: str

    @classmethod
    def of(cls, branch: Branch, attribute: Attribute) -> Place:
        """The place of a branch's attribute."""
        return cls(branch.source(attribute.source).span, attribute.column)


@dataclass(frozen=True, slots=True)
class AddCondition:
    """``left op right + offset`` in the conditions; ``left op offset`` where ``right`` is None."""

    left: Place
    op: Op
    right: Place | None
    offset: Value
    type: DataType


@dataclass(frozen=True, slots=True)
class JoinRelation:
    """A relation that the catalog has and the SELECT does not, joined with ``left = relation.column``."""

    left: Place
    relation: DeclaredTable
    column: str
    type: DataType


@dataclass(frozen=True, slots=True)
class DeclareDomain:
    """``domain.column = [low, high]``, or a list of values, in the catalog."""

    table: str
    column: str
    domain: Domain[Value]
    type: DataType


@dataclass(frozen=True, slots=True)
class DeclareOpenKeys:
    """``max_open = most`` in the catalog, for the punctuation of a stream about some attributes."""

    table: str
    attributes: tuple[str, ...]
    most: int


Declaration = DeclareDomain | DeclareOpenKeys


@dataclass(frozen=True, slots=True)
class SetDistinct:
    """DISTINCT added (``distinct``), or removed wherever the statement eliminates duplicates."""

    distinct: bool


@dataclass(frozen=True, slots=True)
class DropColumn:
    """One column less in the select list; a constant in place of the only one."""

    index: int


@dataclass(frozen=True, slots=True)
class AddConjunct:
    """One more condition, as it is written: in the WHERE of a SELECT, or in the ON of a join."""

    place: Spot
    text: str


@dataclass(frozen=True, slots=True)
class AddGroupKey:
    """One more key of a GROUP BY, as it is written, and what the select list shows of it under a name."""

    select: Spot
    key: str
    shown: str
    name: str


@dataclass(frozen=True, slots=True)
class KeepDuplicates:
    """``SELECT DISTINCT  ->  SELECT``, or ALL behind a set operation."""

    query: Spot


@dataclass(frozen=True, slots=True)
class AskNotExists:
    """``value NOT IN (SELECT x …)  ->  NOT EXISTS (SELECT x … WHERE x = value)``, the equality as it is written."""

    negation: Spot
    equality: str


@dataclass(frozen=True, slots=True)
class ReadAsOf:
    """``R  ->  R FOR SYSTEM_TIME AS OF time``, the time as it is written."""

    table: Spot
    time: str


Step = (
    AddCondition
    | JoinRelation
    | DeclareDomain
    | DeclareOpenKeys
    | SetDistinct
    | DropColumn
    | AddConjunct
    | AddGroupKey
    | KeepDuplicates
    | AskNotExists
    | ReadAsOf
)


@dataclass(frozen=True, slots=True)
class Change:
    """A candidate, of one kind or several taken together: titles, how much it changes the meaning, and its steps.

    ``weight`` ranks: the less, the closer the results stay. ``effect`` is what becomes of the results of some input;
    ``notes`` say what it means, and which of its numbers are an example.
    """

    kinds: tuple[str, ...]
    titles: tuple[str, ...]
    weight: int
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()
    effect: FixKind = FixKind.CHANGES_RESULTS

    def __add__(self, other: Change) -> Change:
        """Both changes as one."""
        return Change(
            self.kinds + other.kinds,
            self.titles + other.titles,
            self.weight + other.weight,
            (*self.steps, *(step for step in other.steps if step not in self.steps)),
            tuple(dict.fromkeys((*self.notes, *other.notes))),
            max(self.effect, other.effect, key=[*FixKind].index),
        )
