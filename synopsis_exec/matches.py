"""Rows that a query must join: whole matches, solved from the conditions of each branch, of relations and of time.

A match is a solution of a branch's difference constraints (`criteria.solution`), of one sort of values after the other,
with some values and all times moved as far as the constraints allow: so matches come wherever there can be any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any

from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute, Branch, Comparison, Kind, OneOf, Op
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value
from streambound.criteria.contract import fits_column, plain_value
from streambound.criteria.solution import (
    VALUES,
    Assignment,
    ConstraintSystem,
    DifferenceConstraint,
    conditions_of,
    restricted,
    solve,
)
from streambound.synopsis_exec.adversary import Row
from streambound.synopsis_exec.expression_values import expression_values, rows_behind
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound_runtime.promises import Partitions

Match = tuple[tuple[str, Row], ...]
"""The table and the row of each source of a branch."""

_NEAR = range(-2, 8)
"""Values that unrelated attributes get: few, so that tuples of different matches meet, too."""
_FAR = 1000
"""How far below 0 values may lie where the conditions leave no others."""
_NARROW = 3
"""Timestamps of a match are moved by fewer ticks than this, each for itself."""
_HALF = 2**20
_HOLDS = {
    Op.LT: lambda x, y: x < y,
    Op.LE: lambda x, y: x <= y,
    Op.EQ: lambda x, y: x == y,
    Op.GE: lambda x, y: x >= y,
    Op.GT: lambda x, y: x > y,
    Op.NE: lambda x, y: x != y,
}


def never_joins(plan: Plan) -> bool:
    """Whether the conditions of each branch contradict each other, so that no rows ever give a result."""
    return not any(item.facts.closure.satisfiable for item in plan.branches)


def matches(plan: Plan, random: Random, moments: Sequence[int], tick: int) -> Iterator[Match]:
    """Matches of all branches in turn without an end, as late as one of some moments; none of what cannot match.

    Those of one branch share the first match's rows of relations half of the time, so that relations stay small.
    """
    inputs = {item.name: item for item in (*plan.inputs, *plan.computed)}
    makers = [_Matches(item.branch, inputs, random, tick) for item in plan.branches]
    while makers:
        for maker in tuple(makers):
            found = maker.match(random.choice(moments))
            if found is None:
                maker.failed += 1
                if maker.failed > maker.done + 3:
                    makers.remove(maker)
            else:
                maker.done += 1
                yield tuple(_read(plan, inputs, found, maker.done))


def _read(plan: Plan, inputs: Mapping[str, Input], match: Match, number: int) -> Iterator[tuple[str, Row]]:
    """The rows of a match; in place of one that is computed, others of which it may be."""
    for name, row in match:
        if name not in inputs:  # it stands for whatever is newest (`criteria.dataflow.blocks.NEWEST`)
            continue
        yield from rows_behind(inputs[name], row, plan.relations, number) if inputs[name].query else [(name, row)]


class _Matches:
    """The matches of one branch."""

    def __init__(self, branch: Branch, inputs: Mapping[str, Input], random: Random, tick: int) -> None:
        self.branch, self.inputs, self.random, self.tick = branch, inputs, random, tick
        self.conditions = conditions_of(branch)
        self.done = self.failed = 0
        self._first: Assignment | None = None

    def match(self, moment: int) -> Match | None:
        """Another match, whose streams are at a moment or later where they may; None where none was found."""
        relations = frozenset(source.alias for source in self.branch.sources if source.kind is Kind.RELATION)
        known = self._first is not None and self.random.random() < 0.5
        given = restricted(self._first, relations) if known and self._first is not None else ()
        point = self._point(given, moment)
        if point is None:
            return None
        self._first = self._first or point
        rows = tuple((source.table, self._row(source.alias, point)) for source in self.branch.sources)
        return rows if self._holds(dict(zip(self._aliases, (row for _, row in rows), strict=True))) else None

    @property
    def _aliases(self) -> list[str]:
        return [source.alias for source in self.branch.sources]

    # --- solutions ---------------------------------------------------------------------------------------------------

    def _point(self, given: Sequence[DifferenceConstraint], moment: int) -> Assignment | None:
        times = self._moved(moment)
        values = next((found for extra in self._wishes(given) if (found := self._values(extra)) is not None), None)
        return None if times is None or values is None else {**values, **times}

    def _wishes(self, given: Sequence[DifferenceConstraint]) -> Iterator[list[DifferenceConstraint]]:
        """Attributes that are at least some numbers: some of them, fewer, and none."""
        fixed = {difference.x or difference.y for difference in given}
        free = [
            attribute
            for attribute, sort in self.conditions.sorts.items()
            if sort in (Sort.DISCRETE, Sort.DENSE) and attribute not in fixed and self.random.random() < 0.6
        ]
        wishes = [DifferenceConstraint(None, attribute, Fraction(-self.random.choice(_NEAR))) for attribute in free]
        for most in (len(wishes), len(wishes) // 2, 0):
            yield [*given, *wishes[:most]]

    def _values(self, extra: Sequence[DifferenceConstraint]) -> Assignment | None:
        sorts = [d for d in extra if self.conditions.sorts[d.x or d.y] in VALUES]  # type: ignore[index]
        ways = ((False, 0), (True, max(_NEAR)), (False, _FAR))
        tried = (solve(self.conditions, sorts, greatest=greatest, far=far) for greatest, far in ways)
        return next((found for found in tried if found is not None), None)

    def _moved(self, moment: int) -> Assignment | None:
        """Timestamps, each at the moment or soon after, as far as the conditions allow."""
        extra: list[DifferenceConstraint] = []
        found = self._times(extra)
        for attribute in self.random.sample(list(found or ()), len(found or ())):
            later = moment + self.tick * self.random.randrange(_NARROW)
            moved = self._times([*extra, DifferenceConstraint(None, attribute, Fraction(-later))])
            if moved is not None:
                extra.append(DifferenceConstraint(None, attribute, Fraction(-later)))
                found = moved
        return found

    def _times(self, extra: Sequence[DifferenceConstraint]) -> Assignment | None:
        point = solve(self.conditions, extra, sorts=(Sort.TIME,))
        times = {self._time(source.alias) for source in self.branch.streams}
        return None if point is None else {a: value for a, value in point.items() if a in times}

    def _time(self, alias: str) -> Attribute:
        return Attribute(alias, self.branch.source(alias).timestamp or "")

    # --- rows --------------------------------------------------------------------------------------------------------

    def _row(self, alias: str, point: Assignment) -> Row:
        declared = self.inputs.get(self.branch.source(alias).table)
        if declared is None:
            return {a.column: self._encoded(a, value) for a, value in point.items() if a.source == alias}
        found: Row = {}
        for column in declared.declared:
            attribute = Attribute(alias, column.name)
            if attribute in point:
                found[column.name] = self._encoded(attribute, point[attribute])
            elif _is_partition(declared.arrival.partitions, column.name):
                found[column.name] = self.random.choice(declared.arrival.partitions.values)  # type: ignore[union-attr]
            else:
                read = expression_values(declared).get(column.name)
                plain = plain_value(column, self.random.choice((None, 1, 2)))
                found[column.name] = plain if read is None else self.random.choice(read)
        return found

    def _encoded(self, attribute: Attribute, value: Fraction | None) -> Any:
        if value is None:
            return None
        if self.conditions.sorts[attribute] is Sort.STRING:
            return _text(self.conditions, value)
        return float(value) if self.branch.column(attribute).type.family is Family.FLOAT else int(value)

    def _holds(self, rows: Mapping[str, Row]) -> bool:
        """Whether the rows are of their columns' types and domains, and satisfy what compares them."""

        def value(attribute: Attribute) -> Any:
            return rows[attribute.source][attribute.column]

        for alias, row in rows.items():
            declared = self.inputs.get(self.branch.source(alias).table)
            if declared is None:
                continue
            partitions = declared.arrival.partitions
            if partitions is not None and row[partitions.column] not in partitions.values:
                return False
            if not all(fits_column(column, row[column.name]) for column in declared.declared):
                return False
        for atom in self.branch.atoms:
            if any(self.branch.column(attribute).expression for attribute in atom.attributes):
                continue  # that only Spark can say
            if isinstance(atom, OneOf) and value(atom.attribute) not in atom.values:
                return False
            if isinstance(atom, Comparison) and not _compares(atom, value(atom.left), atom.right and value(atom.right)):
                return False
        return True


def _is_partition(partitions: Partitions[Value] | None, column: str) -> bool:
    return partitions is not None and partitions.column == column


def _compares(atom: Comparison, left: Any, right: Any) -> bool:
    if left is None or (atom.right is not None and right is None):
        return False
    if isinstance(left, str):
        return bool(_HOLDS[atom.op](left.encode(), (right if atom.right is not None else str(atom.offset)).encode()))
    offset = Fraction(0) if isinstance(atom.offset, str) else Fraction(atom.offset)
    return bool(_HOLDS[atom.op](Fraction(left), Fraction(right or 0) + offset))


def _text(conditions: ConstraintSystem, rank: Fraction) -> str:
    """A string for a rank among the constants, in the same order for all ranks."""
    constants = conditions.texts
    place = min(rank.numerator // rank.denominator, len(constants) - 1)
    if place < 0:
        return f"!{int((rank + _FAR) * _HALF):012d}"
    over = int((rank - place) * _HALF)
    return constants[place] + (f"!{over:012d}" if over else "")
