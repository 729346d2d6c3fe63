"""What is known of an operator over streams of rows with periods, and what a whole query is made of."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from msgspec import Struct, field
from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.spans import Span
from streambound.analyzer.symbols import symbol
from streambound.analyzer.types import DataType
from streambound.analyzer.values import Value
from streambound.criteria.block_part import BlockPart
from streambound.criteria.judged import State
from streambound.criteria.periods.parts import JudgedConditions
from streambound.criteria.size import Minimum, Size, Symbol, least, product
from streambound_runtime.operators.period_plan import SlicePlan

_ENDED = "when its end has passed"
MaybeSize = Size | None
"""A size; None where there is no number."""
Declared = frozenset[Value] | None
"""The values that a column may have, but NULL; None where nobody says, or they are too many to be looked at."""


class PeriodView(Struct, frozen=True):
    """An operator with the types of its columns, and what bounds its rows.

    ``valid``: how many rows are valid at a time (P2); ``there``: how many different ones (P3). ``values``: how many
    values each column has at all times; ``rows``: how many different rows. ``longest``: L, how long a row is valid.
    ``names`` are what the columns are of the streams and relations, ``domains`` the values that the catalog declares.
    """

    plan: SlicePlan
    types: tuple[DataType, ...]
    valid: MaybeSize
    there: MaybeSize
    values: tuple[MaybeSize, ...]
    rows: MaybeSize
    longest: int | None
    names: tuple[str, ...]
    domains: tuple[Declared, ...]
    streams: tuple[str, ...] = ()

    def some(self, places: range) -> MaybeSize:
        """How many different values some columns have together at all times."""
        found = every(self.values[place] for place in places)
        return smallest(found, self.rows) if len(places) == len(self.types) else found


class PartnerKeys(Struct, frozen=True):
    """Columns of a stream that equal those of one of a relation's ``rows``, each with that one's name."""

    relation: str
    rows: Size
    columns: tuple[tuple[str, str], ...]


class Leaf(Struct, frozen=True):
    """A block of one stream: its items but for a row's end, and its conditions, over the stream's columns.

    ``passing`` are all conditions of the rows that play a part: the block's, and those right above it.
    """

    block: str
    table: DeclaredTable
    items: tuple[exp.Expr, ...]
    conditions: tuple[exp.Expr, ...]
    passing: tuple[exp.Expr, ...]
    partners: tuple[PartnerKeys, ...] = ()


class PeriodContext(Struct):
    """One block while it is judged: its time, what it reads, and the states of its operators.

    ``whole`` says that filters stay above the streams, because all rows say how long time is; ``parts`` that rows are
    given with their whole periods; ``lineages`` that rows are random variables. ``judged`` are the conditions on
    snapshot keys, by stream, of which the rows satisfy one among which these are judged; no stream: all rows.
    ``never`` says why some rows never are there. ``order`` numbers the scans of the plan, by their identities.
    """

    catalog: Catalog
    span: Span
    low: int | None
    high: int | None
    whole: bool = False
    parts: bool = False
    lineages: bool = False
    blocks: list[BlockPart] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    relations: dict[str, tuple[DeclaredTable, dict[str, None]]] = field(default_factory=dict)
    states: list[State] = field(default_factory=list)
    lacking: list[PeriodState] = field(default_factory=list)
    judged: dict[str, JudgedConditions] = field(default_factory=dict)
    never: dict[Diagnostic, None] = field(default_factory=dict)
    order: Mapping[int, int] = field(default_factory=dict)
    numbers: count[int] = field(default_factory=lambda: count(1))

    def rows(self, relation: str) -> Size:
        """How many rows a relation has."""
        table = self.catalog.table(relation)
        return Symbol(symbol("rows", relation), None if table is None else table.rows)

    def remember(
        self, what: str, proposition: str, size: MaybeSize, keys: tuple[str, ...], streams: tuple[str, ...]
    ) -> None:
        """Note a state of an operator: with a number, or lacking one."""
        name = f"{what} {next(self.numbers)}"
        if size is None:
            self.lacking.append(PeriodState(name, proposition, keys, streams))
        else:
            self.states.append(State(name, proposition, size, keys, _ENDED, self.span))


class PeriodState(Struct, frozen=True):
    """A state for which there is no number: what it would be remembered of."""

    name: str
    proposition: str
    keys: tuple[str, ...]
    streams: tuple[str, ...]


def smallest(*sizes: MaybeSize) -> MaybeSize:
    """The least of those sizes that are known."""
    known = [part for size in sizes if size is not None for part in (size.of if isinstance(size, Minimum) else (size,))]
    return least(known) if known else None


def every(sizes: object) -> MaybeSize:
    """The product; None where one is not known."""
    found = list(sizes)  # type: ignore[call-overload]
    return None if any(size is None for size in found) else product(found)
