"""The values that the columns of a recursive relation r can have: propositions F1 (by domains) and F4 (by rows).

F1: they are the least fixpoint of what the base and the step give, under the step's conditions, widened where they
still grow. F4: without arithmetic a value is a constant, one of a bounded column, or that of a row of a relation, of
which there are so many at a time, whatever their values are over time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.query import (
    Attribute,
    Branch,
    Condition,
    Constant,
    NullTest,
    Output,
    conjunction,
)
from streambound.criteria.operators.judge import NoRule
from streambound.criteria.operators.value_ranges import NO_VALUES, ValueRange, range_of
from streambound.criteria.recursive_blocks import not_null, place_of, stored
from streambound.criteria.size import Number, Size, fewer, product, total
from streambound.criteria.violation import Violation

PROPOSITION = "F1"
BASE = "(base)"
"""What a base is called of which the number of rows is known, whatever it is made of."""
_EXACT_ROUNDS = 2
"""Rounds beside one a column after which ends that still grow are left open."""
_Rows = Mapping[str, Size]
"""How many rows relations have at a time, by their names."""


@dataclass
class RecursiveValues:
    """The values that r's columns can have; ``base`` and ``steps`` are cases in which streams of r's ``name`` are r."""

    columns: tuple[Column, ...]
    base: tuple[Branch, ...]
    steps: tuple[Branch, ...]
    name: str

    def __post_init__(self) -> None:
        start = self._given(self.base, None)
        found, rounds = start, _EXACT_ROUNDS + len(self.columns)
        for turn in range(rounds + 2 * len(self.columns) + 1):
            made = tuple(map(ValueRange.join, start, self._given(self.steps, found)))
            if all(map(ValueRange.within, made, found)):
                break
            found = tuple(
                one.widened(other) if turn >= rounds else one.join(other)
                for one, other in zip(found, made, strict=True)
            )
        self.found = tuple(map(ValueRange.join, start, self._given(self.steps, found)))

    def size(self, rows: _Rows) -> Size | None:
        """The most rows of r at a time, by the values of its columns; None where one has no number of them."""
        origins = self._origins(rows)
        sizes = [self._most(place, origins) for place in range(len(self.columns))]
        known = [size for size in sizes if size is not None]
        return product(known) if len(known) == len(sizes) else None

    def meeting(self, branch: Branch) -> Branch | None:
        """A case of the step for those rows only that r can have; None where there is none."""
        found = self._with(branch, self.found)
        return found if Facts.of(found).closure.satisfiable else None

    def endless(self, branches: list[Branch]) -> Iterator[Violation]:
        """Columns that the step's arithmetic makes grow without end."""
        for place, column in enumerate(self.columns):
            for branch in branches if self.found[place].size is None else ():
                output = branch.outputs[place]
                if not self._computed(branch, output) or self._values(branch, self.found)[place].size is not None:
                    continue
                message = (
                    f"the values of {self.name}.{column.name} may grow with each step: every one must be remembered"
                )
                help = "give the step a condition that ends it, as in WHERE depth < 10"
                yield Violation(
                    PROPOSITION, self.name, column.name, message, output.span, Code.UNBOUNDED_PROJECTION, help
                )

    # --- F1 ----------------------------------------------------------------------------------------------------------

    def _given(self, branches: tuple[Branch, ...], recursive: tuple[ValueRange, ...] | None) -> tuple[ValueRange, ...]:
        """The values of the select lists of some cases."""
        found = tuple(NO_VALUES for _ in self.columns)
        for branch in branches:
            found = tuple(map(ValueRange.join, found, self._values(branch, recursive)))
        return found

    def _values(self, branch: Branch, recursive: tuple[ValueRange, ...] | None) -> tuple[ValueRange, ...]:
        """The values of the select list of one case."""
        facts = Facts.of(branch if recursive is None else self._with(branch, recursive))
        if not facts.closure.satisfiable:
            return tuple(NO_VALUES for _ in self.columns)
        never = not_null(branch)
        return tuple(self._of(facts, output, recursive, never) for output in branch.outputs)

    def _of(
        self, facts: Facts, output: Output, recursive: tuple[ValueRange, ...] | None, never: frozenset[Attribute]
    ) -> ValueRange:
        value = output.value
        if isinstance(value, Constant):
            return ValueRange.of(value.value, value.type.discrete)
        assert isinstance(value, Attribute), "other columns have no rule"
        null = value not in never
        if null and recursive is not None and facts.branch.source(value.source).table == self.name:
            held = stored(facts.branch, value)
            if isinstance(held, str):
                raise NoRule(held)
            column, _ = held
            null = recursive[place_of(column)].null and column not in never
        return range_of(facts, value, null)

    def _with(self, branch: Branch, recursive: tuple[ValueRange, ...]) -> Branch:
        """A case with what is known of r's columns as conditions; one that may be NULL stays so."""
        nulls = {a.attribute for a in branch.atoms if isinstance(a, NullTest) and a.is_null}
        more: list[Condition] = []
        for source in branch.sources:
            if source.table == self.name:
                own = [Attribute(source.alias, f"_{n}") for n in range(1, len(recursive) + 1)]
                for attribute, values in zip(own, recursive, strict=True):
                    if attribute not in nulls:
                        more += values.conditions(attribute)
        return replace(branch, where=conjunction((branch.where, *more)))

    # --- F4 ----------------------------------------------------------------------------------------------------------

    def _origins(self, rows: _Rows) -> list[_Origins]:
        """Where each column's values come from, one step back."""
        found = [_Origins() for _ in self.columns]
        cases = [*((branch, None) for branch in self.base), *((branch, self.found) for branch in self.steps)]
        for branch, recursive in cases:
            pairs = zip(found, branch.outputs, self._values(branch, recursive), strict=True)
            for place, (origins, output, values) in enumerate(pairs):
                value = output.value
                source = branch.source(value.source) if isinstance(value, Attribute) else None
                if values == NO_VALUES or source is None or not isinstance(value, Attribute):
                    origins.others = origins.others.join(values)
                elif recursive is None and BASE in rows:
                    origins.relations[BASE, str(place)] = rows[BASE]
                elif source.table in rows:
                    column = source.column(value.column)
                    origins.relations[source.table, column.expression or column.name] = rows[source.table]
                elif source.table == self.name and not self._computed(branch, output):
                    origins.columns.add(place_of(value))
                else:
                    origins.others = origins.others.join(values)
        return found

    def _most(self, place: int, origins: list[_Origins]) -> Size | None:
        """The values of a column: those of its domain, or of the rows that they come from."""
        reached, others = [place], NO_VALUES
        for one in reached:
            reached += sorted(origins[one].columns - {*reached})
            others = others.join(origins[one].others)
        relations = {key: size for one in reached for key, size in origins[one].relations.items()}
        own = self.found[place].size
        by_domain = None if own is None else Number(own)
        if others.size is None:
            return by_domain
        by_rows = total([Number(others.size), *relations.values()])
        return by_rows if by_domain is None or fewer(by_rows, by_domain) else by_domain

    def _computed(self, branch: Branch, output: Output) -> bool:
        """Whether an item is an expression over a column of r."""
        value = output.value
        if not isinstance(value, Attribute) or branch.source(value.source).table != self.name:
            return False
        return bool(branch.column(value).expression)


@dataclass(slots=True)
class _Origins:
    """Relations, by a column or an expression over a row, columns of r, and the values of all others."""

    relations: dict[tuple[str, str], Size] = field(default_factory=dict)
    columns: set[int] = field(default_factory=set)
    others: ValueRange = NO_VALUES
