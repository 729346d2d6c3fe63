"""MIN and MAX over a join that only grows: proposition A3.

``MIN(e) <= z`` iff ``SELECT DISTINCT g FROM body, Z WHERE Z.ts > all AND e <= Z.z`` has a row, for a *virtual newest
stream* Z. So the set criterion is asked of that query, and its tables hold, per key, the best ``e`` as their extremum.
"""

from __future__ import annotations

from dataclasses import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute, Branch, Comparison, Op, Query, Source, conjunction
from streambound.criteria.bound import bound
from streambound.criteria.judged import State
from streambound.criteria.operators.judge import Context, NoRule
from streambound.criteria.parts import BestPart
from streambound.criteria.set import set_violations
from streambound.criteria.violation import Violation
from streambound.preprocess.pipeline import derive

NEWEST = "(newest)"
"""The virtual stream, and its column."""
_FREED = "when no later row can complete it"


def keeps_best(query: Query) -> bool:
    """Whether tables can hold the best of a block's last column by its keys: columns that no condition fixes."""
    for branch in derive(query).split.branches:
        facts = Facts.of(branch)
        for output in branch.outputs:
            if not isinstance(output.value, Attribute):
                return False
            low, high = facts.closure.interval(output.value)
            if low is not None and low == high:
                return False
    return True


def with_newest(query: Query, greatest: bool) -> Query:
    """The split set query of a block's keys, its last column, and the virtual stream; raises NoRule."""
    branches = tuple(_with_newest(branch, greatest) for branch in derive(query).split.branches)
    return replace(derive(query).split, branches=branches, distinct=True)


def _with_newest(branch: Branch, greatest: bool) -> Branch:
    *keys, value = branch.outputs
    if not isinstance(value.value, Attribute) or not branch.streams:
        raise NoRule("the greatest or least of what is no column of one stream")
    first = branch.streams[0]
    assert first.time is not None
    time, kind = first.column(first.time.column), branch.column(value.value).type
    columns = (Column(NEWEST, kind), replace(time, domain=None))
    source = Source(NEWEST, NEWEST, Kind.STREAM, columns, time.name, first.span)
    mine, its_time = Attribute(NEWEST, NEWEST), Attribute(NEWEST, time.name)
    limit = Comparison(value.value, Op.GE if greatest else Op.LE, mine, 0, value.span)
    older = [Comparison(Attribute(s.alias, s.timestamp or ""), Op.LT, its_time, 0) for s in branch.streams]
    where = conjunction((branch.where, limit, *older))
    return replace(branch, sources=(*branch.sources, source), where=where, outputs=tuple(keys))


def extreme_violations(split: Query) -> list[Violation]:
    """What violates the set criterion of a query with the virtual stream; which is no culprit itself."""
    found = [one for branch in split.branches for one in set_violations(Facts.of(branch))]
    return [replace(one, condition="A3") for one in found if one.stream != NEWEST]


def extreme_part(
    query: Query, split: Query, context: Context, columns: tuple[Column, ...]
) -> tuple[BestPart, tuple[State, ...]]:
    """The block that gives best values by key, and its tables; those of all streams are the groups' entries."""
    sizes = bound(split, repeats=True)
    if sizes is None:
        raise NoRule("extrema without a number")
    name = context.name("block")
    states = []
    for part in sizes.branches:
        every_stream = {source.alias for source in part.branch.streams} - {NEWEST}
        states += [
            State(
                f"{name} {table.table}",
                "A3",
                table.size,
                tuple(str(attribute) for stored in table.layout.key for attribute in stored.attributes),
                _FREED,
                query.span,
            )
            for table in part.tables
            if set(table.layout.streams) != every_stream
        ]
    return BestPart(name, query, split, sizes, columns), tuple(states)
