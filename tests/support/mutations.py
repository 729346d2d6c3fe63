"""Certificates changed in one place and made consistent everywhere else, so that only the claim itself is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts, Limit
from streambound.analyzer.closure import Sort
from streambound.criteria.bound import QueryBound, TableBound, results_count, table_count
from streambound.criteria.count import Count, CountingRule, every, fewest
from streambound.criteria.extremum import Extremum
from streambound.criteria.size import Number, Size, Symbol, product, total
from streambound.criteria.tables import Age, Stored, SynopsisTable

COMBINED = (CountingRule.PRODUCT, CountingRule.LEAST)


@dataclass(frozen=True)
class Mutation:
    """A changed bound; ``layout`` is the changed table where a table's layout was changed."""

    name: str
    bound: QueryBound
    layout: SynopsisTable | None = None


def _ordered(facts: Facts, layout: SynopsisTable) -> bool:
    """Whether the order of a table's streams links them all: else others may together hold what it does."""
    rest, linked = set(layout.streams[1:]), {layout.streams[0]}
    while more := {x for x in rest for y in linked if facts.never_newer(x, y) or facts.never_newer(y, x)}:
        rest, linked = rest - more, linked | more
    return not rest


def mutations(found: QueryBound) -> Iterator[Mutation]:
    """Every single change of a bound's tables."""
    for number, branch in enumerate(found.branches):
        rest = (*found.branches[:number], *found.branches[number + 1 :])
        yield Mutation("drop a branch", QueryBound(rest, _entries(table for b in rest for table in b.tables)))
        for place, table in enumerate(branch.tables):
            others = (*branch.tables[:place], *branch.tables[place + 1 :])
            what = "drop a table" if table.results or _ordered(branch.facts, table.layout) else "drop a joined table"
            yield Mutation(what, _with_tables(found, number, others))
            for name, layout in _layouts(branch.facts, table.layout):
                count = (results_count if table.results else table_count)(branch.facts, layout)
                if count is not None:
                    changed = replace(table, layout=layout, count=count)
                    yield Mutation(name, _swapped(found, number, place, changed), layout)
            for name, layout in _limits(table.layout):
                yield Mutation(name, _swapped(found, number, place, replace(table, layout=layout)))
            for name, count in _counts(table.count):
                yield Mutation(name, _swapped(found, number, place, replace(table, count=count)))


def _with_tables(found: QueryBound, number: int, tables: tuple[TableBound, ...]) -> QueryBound:
    branches = list(found.branches)
    branches[number] = replace(branches[number], tables=tables)
    return QueryBound(tuple(branches), _entries(table for branch in branches for table in branch.tables))


def _swapped(found: QueryBound, number: int, place: int, table: TableBound) -> QueryBound:
    tables = list(found.branches[number].tables)
    tables[place] = table
    return _with_tables(found, number, tuple(tables))


def _entries(tables: Iterator[TableBound]) -> Size:
    return total([table.size for table in tables])


# --- layouts ----------------------------------------------------------------------------------------------------------


def _layouts(facts: Facts, table: SynopsisTable) -> Iterator[tuple[str, SynopsisTable]]:
    for place, stored in enumerate(table.key):
        what = "a constant" if _is_constant(facts, stored) else "an attribute"
        yield f"forget {what}", replace(table, key=(*table.key[:place], *table.key[place + 1 :]))
        for name, changed in (*_clips(facts, stored), *_equalities(stored)):
            yield name, replace(table, key=(*table.key[:place], changed, *table.key[place + 1 :]))
    for place, age in enumerate(table.ages):
        yield "forget an age", replace(table, ages=(*table.ages[:place], *table.ages[place + 1 :]))
        for name, other in _ages(age):
            yield name, replace(table, ages=(*table.ages[:place], other, *table.ages[place + 1 :]))
    for relation in table.relations:
        key = tuple(stored for stored in table.key if stored.attribute.source != relation)
        kept = tuple(other for other in table.relations if other != relation)
        yield "join a relation later", replace(table, relations=kept, key=key)
    for place, extremum in enumerate(table.extrema):
        yield "forget an extremum", replace(table, extrema=(*table.extrema[:place], *table.extrema[place + 1 :]))
        for name, other in _extrema(extremum):
            yield name, replace(table, extrema=(*table.extrema[:place], other, *table.extrema[place + 1 :]))
    if table.deadline is not None:
        yield "end earlier", replace(table, deadline=table.deadline - 1)
        yield "end later", replace(table, deadline=table.deadline + 1)


def _is_constant(facts: Facts, stored: Stored) -> bool:
    if stored.attribute not in facts.closure.nodes:
        return False
    matrix, node = facts.closure.node(stored.attribute)
    return matrix.equal(0, node) or stored.attribute in facts.closure.null


def _clips(facts: Facts, stored: Stored) -> Iterator[tuple[str, Stored]]:
    for step, low, high in ((-1, "outwards", "inwards"), (1, "inwards", "outwards")):
        if stored.low:
            yield f"move a clip {low}", replace(stored, low=tuple(_moved(limit, step) for limit in stored.low))
        if stored.high:
            yield f"move a clip {high}", replace(stored, high=tuple(_moved(limit, step) for limit in stored.high))
    attribute = stored.attribute
    if stored.low or stored.high:
        yield "drop a clip", replace(stored, low=(), high=())
    elif attribute in facts.closure.nodes and facts.closure.sort(attribute) is Sort.DISCRETE:
        low, high = facts.closure.interval(attribute)
        if low is not None and high is not None and low < high:
            yield "clip more", replace(stored, low=(Limit(low + 1),))
            yield "clip more", replace(stored, high=(Limit(high - 1),))


def _moved(limit: Limit, step: int) -> Limit:
    constant = None if limit.constant is None else limit.constant + step
    return Limit(constant, tuple((attribute, offset + step) for attribute, offset in limit.relations))


def _equalities(stored: Stored) -> Iterator[tuple[str, Stored]]:
    for place, (other, offset) in enumerate(stored.equal):
        rest = (*stored.equal[:place], *stored.equal[place + 1 :])
        yield "another offset", replace(stored, equal=(*rest, (other, offset + 1)))
        yield "forget an equality", replace(stored, equal=rest)


def _ages(age: Age) -> Iterator[tuple[str, Age]]:
    for step, when in ((-1, "earlier"), (1, "later")):
        if age.expires is not None and age.expires + step > 0:
            yield f"expire {when}", replace(age, expires=age.expires + step)
        if age.saturates is not None and age.saturates + step > 0:
            what = "saturate" if age.expires is None else "saturate, were it not for expiry,"
            yield f"{what} {when}", replace(age, saturates=age.saturates + step)
    if age.expires is not None and age.saturates is not None:
        yield "never expire", replace(age, expires=None)


def _extrema(extremum: Extremum) -> Iterator[tuple[str, Extremum]]:
    yield "the other extremum", replace(extremum, greatest=not extremum.greatest)
    if len(extremum.of) > 1:
        for place in range(len(extremum.of)):
            yield "forget a part of an extremum", replace(extremum, of=extremum.of[:place] + extremum.of[place + 1 :])


def _limits(table: SynopsisTable) -> Iterator[tuple[str, SynopsisTable]]:
    """Tables that say of an attribute outside more than holds, or less than is needed."""
    for place, extremum in enumerate(table.extrema):
        for number, (attribute, offset, strict) in enumerate(extremum.limits):
            others = extremum.limits[:number] + extremum.limits[number + 1 :]
            changed = [(attribute, offset + step, strict) for step in (-1, 1)]
            for limits in (others, *((*others, limit) for limit in changed)):
                other = replace(extremum, limits=limits)
                yield (
                    "another limit",
                    replace(table, extrema=(*table.extrema[:place], other, *table.extrema[place + 1 :])),
                )


# --- counts -----------------------------------------------------------------------------------------------------------


def _counts(count: Count) -> Iterator[tuple[str, Count]]:
    """The count with one of its parts made smaller than it can be."""
    if count.rule in COMBINED:
        combine = every if count.rule is CountingRule.PRODUCT else fewest
        for place, part in enumerate(count.of):
            for name, smaller in _counts(part):
                yield name, combine([*count.of[:place], smaller, *count.of[place + 1 :]])
        if count.rule is CountingRule.PRODUCT:
            for place in range(len(count.of)):
                yield "leave out a factor", every([*count.of[:place], *count.of[place + 1 :]])
    elif count.rule is CountingRule.RANGE and count.size.value and count.size.value > 1:
        smaller = Number(count.size.value - 1)
        yield "a shorter range", replace(count, low=tuple(_moved(limit, 1) for limit in count.low), size=smaller)
        yield "a lower number", replace(count, size=smaller)
    elif count.rule is CountingRule.LIST and count.size.value:
        yield "a lower number", replace(count, size=Number(count.size.value - 1))
    elif count.rule is CountingRule.DISTANCE and count.size.value and count.size.value > 1:
        yield "fewer distances", replace(count, size=Number(count.size.value - 1))
    elif count.rule is CountingRule.AGES and count.timestamps and count.timestamps > 1:
        slots = count.timestamps - 1
        yield "fewer timestamps", replace(count, timestamps=slots, size=Number(slots))
    elif count.rule is CountingRule.TUPLES and count.timestamps:
        rate = next(part for part in (*count.size.parts, count.size) if isinstance(part, Symbol))
        slots = count.timestamps - 1
        yield "fewer timestamps", replace(count, timestamps=slots, size=product([Number(slots), rate]))
