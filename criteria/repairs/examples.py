"""Values for a bound that a repair adds: those that the catalog or the query implies, else an example."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.calendar_text import parse_date, parse_timestamp
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value
from streambound_runtime.promises import Domain

WIDTH = 99
"""How far apart the two ends of an example are, in days for dates."""
_DAY = 86_400_000_000
_STARTS = {Family.DATE: parse_date("2024-01-01"), Family.TIMESTAMP: parse_timestamp("2024-01-01")}


@dataclass(frozen=True, slots=True)
class ExampleRange:
    """Two ends, encoded, and where they come from."""

    low: int
    high: int
    note: str
    implied: bool = False


def example_range(facts: Facts, attribute: Attribute, catalog: Catalog) -> ExampleRange:
    """A range for a discrete attribute that respects the bounds it has."""
    column = facts.branch.column(attribute)
    low, high = _known(facts, attribute)
    if (declared := _declared_elsewhere(column, facts.branch.source(attribute.source).table, catalog)) is not None:
        domain, where = declared
        if isinstance(domain.low, int) and isinstance(domain.high, int) and _fits(domain.low, domain.high, low, high):
            return ExampleRange(domain.low, domain.high, f"the range that {where} declares", True)
    return _example(low, high, column.type)


def example_values(facts: Facts, attribute: Attribute, catalog: Catalog) -> tuple[tuple[Value, ...], str]:
    """A list of values for an attribute of a type that no range bounds, and where they come from."""
    column = facts.branch.column(attribute)
    declared = _declared_elsewhere(column, facts.branch.source(attribute.source).table, catalog)
    if declared is not None and declared[0].values:
        return declared[0].values, f"the values that {declared[1]} declares"
    example: tuple[Value, ...] = ("a", "b", "c") if column.type.family is Family.STRING else _HALVES
    return example, "the values are an example: choose yours"


_HALVES = (Fraction(0), Fraction(1, 2), Fraction(1))


def _known(facts: Facts, attribute: Attribute) -> tuple[int | None, int | None]:
    low, high = facts.closure.interval(attribute)
    return (None if low is None else int(low), None if high is None else int(high))


def _fits(low: int, high: int, least: int | None, most: int | None) -> bool:
    return (least is None or high >= least) and (most is None or low <= most)


def _example(low: int | None, high: int | None, kind: DataType) -> ExampleRange:
    start = _STARTS.get(kind.family, 0)
    width = WIDTH * (10 ** (kind.scale or 0)) * (_DAY if kind.family is Family.TIMESTAMP else 1)
    least = min(start, low) if low is not None else start if high is None or high >= start else high - width
    most = width + (start if low is None or low < start + width else low)
    return ExampleRange(least, most, "the values are an example: choose yours")


def _declared_elsewhere(column: Column, table: str, catalog: Catalog) -> tuple[Domain[Value], str] | None:
    """The domain of another table's column of the same name and type, and where the catalog declares it."""
    for other in catalog.tables:
        found = other.column(column.name)
        if other.name != table and found is not None and found.domain and found.type.comparable(column.type):
            return found.domain, f"{other.name}.{found.name}"
    return None
