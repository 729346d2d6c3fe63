"""The bound M on the number of synopsis entries (theory §4, "The bound M").

``M = Σ over realisable D of Π (sizes of the clipped domains) × (age slots)``; a stream that a window forgets
contributes its tuples within the window, ``c_S · width``, where that is all that is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from analyzer.boundedness import Facts, Limit
from analyzer.closure import Sort
from analyzer.query import Attribute, Kind, Query
from criteria.set import harmful_references
from criteria.size import Size, least, product, total
from criteria.synopsis import MOST_TABLES, Stored, Synopsis, Table


@dataclass(frozen=True, slots=True)
class TableBound:
    """A table (by its set of streams) and the most entries it can have."""

    table: str
    size: Size


@dataclass(frozen=True, slots=True)
class Bound:
    """M per table and in total."""

    tables: tuple[TableBound, ...]
    entries: Size


def bound(split: Query) -> Bound | None:
    """M for a split query that its criterion found bounded.

    None where no formula is known yet: sets that keep extrema, more than `MOST_TABLES` tables, and tables whose size
    depends on what a finite stream will bring.
    """
    tables: list[TableBound] = []
    several = len(split.branches) > 1
    for number, branch in enumerate(split.branches, start=1):
        synopsis = Synopsis(Facts.of(branch))
        if (split.distinct and harmful_references(synopsis.facts)) or synopsis.realisable is None:
            return None
        for table in synopsis.tables:
            size = table_size(synopsis, table)
            if size is None:
                return None
            tables.append(TableBound(f"{number}:{table.name}" if several else table.name, size))
        if split.distinct:
            results = result_size(synopsis)
            if results is None:
                return None
            tables.append(TableBound(f"{number}:results" if several else "results", results))
    return Bound(tuple(tables), total(table.size for table in tables))


def table_size(synopsis: Synopsis, table: Table) -> Size | None:
    """The most entries of one table; None when unknown."""
    factors = []
    for stream in table.streams:
        factor = _stream_size(synopsis, table, stream)
        if factor is None:
            return None
        factors.append(factor)
    for relation in table.relations:
        stored = [s for s in table.key if s.attribute.source == relation]
        if stored:
            rows = _rows(synopsis.facts, relation)
            values = [_values(synopsis.facts, s) for s in stored]
            known = [size for size in values if size is not None]
            factors.append(least([product(known), rows]) if len(known) == len(values) else rows)
    return product(factors)


def result_size(synopsis: Synopsis) -> Size | None:
    """The most distinct results of a set query; a finite stream's values are as many as its tuples."""
    facts = synopsis.facts
    projected = dict.fromkeys(o.value for o in facts.branch.outputs if isinstance(o.value, Attribute))
    factors = []
    for source in dict.fromkeys(attribute.source for attribute in projected):
        sizes = [stored_size(facts, Stored(a, (), ())) for a in projected if a.source == source]
        known = [size for size in sizes if size is not None]
        tuples = _finite_tuples(facts, source)
        if len(known) == len(sizes):
            factors.append(product(known))
        elif tuples is not None:
            factors.append(tuples)
        else:
            return None
    return product(factors)


def _finite_tuples(facts: Facts, stream: str) -> Size | None:
    """The most tuples of a finite stream; None for other sources."""
    end = facts.finite_streams.get(stream)
    if end is None:
        return None
    first = facts.closure.interval(facts.time(stream))[0]
    return product([_rate(facts, stream), Size.number(end - int(first or 0) + 1)])


def _rate(facts: Facts, stream: str) -> Size:
    source = facts.branch.source(stream)
    return Size.symbol(symbol("c", source.table), source.max_per_timestamp)


def _stream_size(synopsis: Synopsis, table: Table, stream: str) -> Size | None:
    facts = synopsis.facts
    sizes = [stored_size(facts, stored) for stored in table.key if stored.attribute.source == stream]
    age = next((age for age in table.ages if age.stream == stream), None)
    options: list[Size] = []
    if None not in sizes:
        slots = Size.number(1) if age is None else Size.number(age.expires or age.saturates or 1)
        options.append(product([*(size for size in sizes if size is not None), slots]))
    rate = _rate(facts, stream)
    if age is not None and age.expires is not None:
        options.append(product([rate, Size.number(age.expires)]))
    width = _remaining_width(synopsis, table, stream)
    if None in sizes and width is not None:
        options.append(product([rate, Size.number(width)]))
    return least(options) if options else None


def _remaining_width(synopsis: Synopsis, table: Table, stream: str) -> int | None:
    """The number of timestamps at which a stream's tuples can enter the table: it ends, or the table does."""
    own = synopsis.facts.finite_streams.get(stream)
    ends = [end for end in (own, table.deadline) if end is not None]
    first = synopsis.facts.closure.interval(synopsis.facts.time(stream))[0]
    return min(ends) - int(first or 0) + 1 if ends else None


def stored_size(facts: Facts, stored: Stored) -> Size | None:
    """The number of values a stored attribute can take; None when unbounded."""
    attribute = stored.attribute
    if attribute in facts.closure.null:
        return Size.number(1)
    options = [size for size in (_values(facts, stored), _equal_rows(facts, attribute)) if size]
    return least(options) if options else None


def _values(facts: Facts, stored: Stored) -> Size | None:
    """What a declared list or a range leaves of an attribute's values."""
    options = [size for size in (_declared(facts, stored.attribute), _range(facts, stored)) if size]
    return least(options) if options else None


def _declared(facts: Facts, attribute: Attribute) -> Size | None:
    """The size of a declared list of values; NULL counts where no condition excludes it."""
    values = facts.listed(attribute)
    return None if values is None else Size.number(len(set(values)) + (attribute not in facts.closure.compared))


def _equal_rows(facts: Facts, attribute: Attribute) -> Size | None:
    """An attribute that equals a relation's or finite stream's has as many values as that has rows, at most."""
    if facts.branch.source(attribute.source).kind is Kind.RELATION:
        return _rows(facts, attribute.source)
    options = []
    for other in facts.equal_to(attribute):
        if facts.branch.source(other.source).kind is Kind.RELATION:
            options.append(_rows(facts, other.source))
        elif (tuples := _finite_tuples(facts, other.source)) is not None:
            options.append(tuples)
    return least(options) if options else None


def _rows(facts: Facts, relation: str) -> Size:
    source = facts.branch.source(relation)
    return Size.symbol(symbol("rows", source.table), source.rows)


def _range(facts: Facts, stored: Stored) -> Size | None:
    """``high − low + 1`` over a discrete domain; 1 for a value fixed by a constant."""
    attribute = stored.attribute
    if attribute not in facts.closure.nodes:
        return None
    matrix, node = facts.closure.node(attribute)
    if matrix.equal(0, node):
        return Size.number(1)
    if facts.closure.sort(attribute) is not Sort.DISCRETE:
        return None
    low, high = facts.limits(attribute)
    if facts.branch.source(attribute.source).kind is Kind.RELATION:
        low, high = Limit(low.constant), Limit(high.constant)
    lows, highs = stored.low or (low,), stored.high or (high,)
    if not all(limit.known for limit in (*lows, *highs)):
        return None
    null = int(attribute not in facts.closure.compared)
    least_text, most_text = lower_text(facts, lows), upper_text(facts, highs)
    if least_text.lstrip("-").isdigit() and most_text.lstrip("-").isdigit():
        return Size.number(max(0, int(most_text) - int(least_text) + 1) + null)
    extra = f" + {null}" if null else ""
    return Size(f"max(0, {most_text}{_minus(least_text)} + 1){extra}")


def _minus(text: str) -> str:
    """A subtraction as people write it: nothing for 0, an addition for a negative number."""
    if text == "0":
        return ""
    if text.lstrip("-").isdigit():
        return f" - {text}" if not text.startswith("-") else f" + {text[1:]}"
    return f" - {text}" if text.endswith(")") or " " not in text else f" - ({text})"


def symbol(prefix: str, *names: str) -> str:
    """The symbol of a quantity of a table, as in ``c_S`` or ``max_R_a``; a valid Python name."""
    return "_".join([prefix, *(re.sub(r"\W", "_", name) for name in names)])


def lower_text(facts: Facts, limits: tuple[Limit, ...]) -> str:
    """The least of some lower limits, each the greatest of its parts, as a Python expression."""
    return _extreme("min", [_extreme("max", _parts(facts, limit, "min")) for limit in limits])


def upper_text(facts: Facts, limits: tuple[Limit, ...]) -> str:
    """The greatest of some upper limits, each the least of its parts, as a Python expression."""
    return _extreme("max", [_extreme("min", _parts(facts, limit, "max")) for limit in limits])


def _parts(facts: Facts, limit: Limit, extreme: str) -> list[str]:
    constant = [] if limit.constant is None else [str(int(limit.constant))]
    relations = ((facts.branch.source(a.source).table, a.column, offset) for a, offset in limit.relations)
    return constant + [_shift(symbol(extreme, table, column), offset) for table, column, offset in relations]


def _shift(name: str, offset: Fraction) -> str:
    return name if offset == 0 else f"{name} {'+' if offset > 0 else '-'} {abs(int(offset))}"


def _extreme(name: str, parts: list[str]) -> str:
    unique = list(dict.fromkeys(parts))
    if len(unique) == 1:
        return unique[0]
    if all(part.lstrip("-").isdigit() for part in unique):
        return str((min if name == "min" else max)(int(part) for part in unique))
    return f"{name}({', '.join(unique)})"


__all__ = ["MOST_TABLES", "Bound", "TableBound", "bound", "lower_text", "symbol", "table_size", "upper_text"]
