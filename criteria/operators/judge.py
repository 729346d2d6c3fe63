"""What the propositions say of a tree of operators: each is judged by its rule, over what is below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count

from sqlglot import exp

from streambound.analyzer.algebra.nodes import AggregateCall, Tree, WindowCall
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.constants import BIGINT
from streambound.analyzer.findings import Positions
from streambound.analyzer.query import Attribute, Computed, Constant, Output, Query
from streambound.criteria.bound import results_count, timed_results_layout
from streambound.criteria.judged import State
from streambound.criteria.least_bound import least_bound
from streambound.criteria.operators.parts import Part
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.parts import BlockPart
from streambound.criteria.result_columns import columns_of
from streambound.criteria.size import Size, Symbol, fewer, total
from streambound.criteria.synopsis import Synopsis
from streambound.criteria.tables import SynopsisTable
from streambound.criteria.unlimited import unlimited
from streambound.criteria.violation import Violation
from streambound.preprocess.pipeline import Derivation, derive


class NoRule(Exception):
    """No proposition speaks of an operator, or a call, ``at`` the one whose rule says so: the statement is unsupported.

    Without words the front end has better ones, such as those for a function that it does not know. ``help`` is the way
    out.
    """

    def __init__(self, words: str = "", help: str = "", at: Tree | AggregateCall | WindowCall | None = None) -> None:
        super().__init__(words)
        self.help, self.at = help, at


class NoNumber(NoRule):
    """A proposition speaks of an operator, but nothing bounds what this remembers: the integral that may grow."""


@dataclass
class Context:
    """One statement while it is judged: how its blocks are read, and names for its operators.

    ``needed`` are the columns that the operators above read, by name and alias, as they are written; None for all.
    ``limits`` are the greatest ranks that are asked for, by the identity of the call. With ``unbounded`` nothing is
    refused for what it would remember: its states have no size. ``relations`` are those that change:
    each is read once, and has one state. Of ``one_key``, which ends, there is one value (K3).
    """

    catalog: Catalog
    positions: Positions
    blocks: BlockReader
    judge: Callable[[Tree, Context], JudgedPart]
    needed: Mapping[tuple[str, str], exp.Column] | None = None
    limits: dict[int, int] = field(default_factory=dict)
    unbounded: bool = False
    one_key: StreamKey | None = None
    relations: dict[str, tuple[Part, State]] = field(default_factory=dict)
    numbers: count[int] = field(default_factory=lambda: count(1))

    @contextmanager
    def reading(self, names: Mapping[tuple[str, str], exp.Column] | None) -> Iterator[None]:
        """What is judged meanwhile gives these columns; those needed before are again, also after a refusal."""
        before, self.needed = self.needed, names
        try:
            yield
        finally:
            self.needed = before

    def name(self, what: str) -> str:
        """A name for an operator, as ``groups 2``."""
        return f"{what} {next(self.numbers)}"

    def refuses(self, violations: Sequence[Violation]) -> bool:
        """Whether there are violations, and these matter."""
        return bool(violations) and not self.unbounded

    def size(self, known: Callable[[], Size | None], otherwise: str) -> Size:
        """A size that a proposition gives; raises NoNumber, which says what has none, where it does not."""
        if self.unbounded:
            return UNLIMITED
        if (found := known()) is None:
            raise NoNumber(otherwise)
        return found

    def block(self, query: Query, proposition: str) -> tuple[BlockPart, tuple[State, ...]]:
        """A block that its criterion accepts, with the states of its tables.

        A set may return a result again. Raises NoRule for more tables than a synopsis has, and for sums by what is
        computed of several rows, of which the block keeps the parts.
        """
        query = _by_rows(query)
        derivation = derive(query)
        split = derivation.split
        if query.sums and any(isinstance(o.value, Computed) for branch in split.branches for o in branch.outputs):
            raise NoRule("groups by what is computed of rows of several streams")
        sizes = unlimited(split, repeats=True) if self.unbounded else least_bound(derivation, repeats=True)
        if sizes is None:
            raise NoRule("more tables than a synopsis has")
        name = self.name("block")
        states = tuple(
            State(f"{name} {table.table}", proposition, table.size, _keys(table.layout), _FREED, query.span)
            for table in sizes.tables
        )
        return BlockPart(name, query, split, sizes, columns_of(query)), states


Rule = Callable[[Tree, Context], JudgedPart]
"""Judges an operator; raises NoRule where it cannot, and Finding for SQL that means nothing."""
UNLIMITED = Symbol("n")
"""The size of what nothing bounds: it grows with the rows that have come."""
_FREED = "when no later row can complete it"


def _keys(layout: SynopsisTable) -> tuple[str, ...]:
    return tuple(str(attribute) for stored in layout.key for attribute in stored.attributes)


def _by_rows(query: Query) -> Query:
    """A block of one stream remembers nothing: its results have the factors of their row, and no sums."""
    if not query.sums or any(len(branch.sources) > 1 for branch in query.branches):
        return query
    branches = []
    for branch in query.branches:
        (source,) = branch.sources
        more = tuple(
            Output(name, Attribute(source.alias, *factor) if factor else Constant(1, BIGINT), branch.span)
            for name, factor in zip(query.sums, source.factors, strict=True)
        )
        sources = (replace(source, factors=()),)
        branches.append(replace(branch, sources=sources, outputs=(*branch.outputs, *more)))
    return replace(query, branches=tuple(branches), sums=())


def groups(split: Query) -> Size | None:
    """How many different results a block can have, of other values or other times; None where there is no bound."""
    found = []
    for branch in split.branches:
        facts = Facts.of(branch)
        counted = results_count(facts, timed_results_layout(Synopsis(facts)))
        if counted is None:
            return None
        found.append(counted.size)
    return total(found) if found else None


def fewest_results(derivation: Derivation) -> Query:
    """A block in the form of fewer different results: a result may satisfy both halves of a ``<>``, in two matches."""
    split, together = derivation.split, derivation.together
    if len(together.branches) == len(split.branches):
        return split
    apart, combined = groups(split), groups(together)
    return together if combined is not None and (apart is None or fewer(combined, apart)) else split
