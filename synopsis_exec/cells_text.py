"""What the driver of a job has to know to read lines of JSON by itself (`synopsis_exec.job.lines`), as Python text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor

from streambound.analyzer.catalog import Column
from streambound.analyzer.query import Atom, NullTest
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value
from streambound.synopsis_exec import reasons
from streambound.synopsis_exec.emit import Lines, literal
from streambound.synopsis_exec.layout import Node, Tree, called, laid_out, listing
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound.synopsis_exec.useful import useful

_BITS = {"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32, "bigint": 64, "long": 64}
_MOST_BITS = 64
_DAYS, _MOMENTS = (reasons.FIRST_DAY, reasons.LAST_DAY), (reasons.FIRST_MOMENT, reasons.LAST_MOMENT)
_KINDS = {
    "boolean": "boolean",
    "date": "date",
    "double": "float",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
}
"""Type -> how its values are written; what is no text either is read by Spark alone."""


class _OnlySpark(Exception):
    """Only Spark can read the stream."""


def cells_text(lines: Lines, item: Input, plan: Plan) -> None:
    """Append ``cells`` and what belongs to them, for a stream whose lines the driver can read."""
    if item.timestamp is None or item.arrival.mark is not None:
        return
    try:
        cells: list[Tree] = [_cell(item, column) for column in item.declared]
        wanted = [tuple(_condition(atom, item) for atom in atoms) for atoms in useful(item, plan)]
    except _OnlySpark:
        return
    lines.lines += laid_out(listing(cells), lines.depth, "cells=", ",")
    if wanted:
        every: list[Tree] = [listing([_literals(test) for test in tests]) for tests in dict.fromkeys(wanted)]
        lines.lines += laid_out(listing(every), lines.depth, "wanted=", ",")
    if item.arrival.partitions is not None:
        lines.add(f"parted={literal(item.arrival.partitions.column)},")


def _cell(item: Input, column: Column) -> Node:
    told_by = item.arrival.partitions.column if item.arrival.partitions else None
    low, high = _range(item, column)
    among = _among(item, column)
    named: dict[str, Tree] = {}
    named |= {"low": literal(low)} if low is not None else {}
    named |= {"high": literal(high)} if high is not None else {}
    named |= {"among": _literals(among)} if among else {}
    named |= {"never_null": "True"} if column.name in (item.timestamp, told_by) else {}
    return called("Cell", literal(column.name), literal(_kind(column)), **named)


def _literals(values: Sequence[Value | None]) -> Node:
    return listing(list(map(literal, values)))


def _kind(column: Column) -> str:
    if column.type.name in _BITS:
        return "integer"
    kind = "text" if column.type.family is Family.STRING else _KINDS.get(column.type.name)
    if kind is None:
        raise _OnlySpark
    return kind


def _range(item: Input, column: Column) -> tuple[Value | None, Value | None]:
    """The encoded values that rows may have."""
    lows, highs = list[Value](), list[Value]()
    bits = _BITS.get(column.type.name, _MOST_BITS)
    if bits < _MOST_BITS:
        lows.append(-(2 ** (bits - 1)))
        highs.append(2 ** (bits - 1) - 1)
    if column.name == item.timestamp and column.type.family is Family.INTEGER:
        lows.append(0)
    for family, (first, last) in ((Family.DATE, _DAYS), (Family.TIMESTAMP, _MOMENTS)):
        if column.type.family is family:
            lows.append(first)
            highs.append(last)
    domain = column.domain
    if domain is not None and domain.low is not None:
        lows.append(_encoded(domain.low, column, ceil))
    if domain is not None and domain.high is not None:
        highs.append(_encoded(domain.high, column, floor))
    return max(lows, default=None), min(highs, default=None)


def _among(item: Input, column: Column) -> tuple[Value, ...]:
    """The encoded values of a list, of which each must be one; a partition is known by its place there."""
    declared, partitions = column.domain.values if column.domain else (), item.arrival.partitions
    if partitions is not None and partitions.column == column.name:
        if declared:
            raise _OnlySpark
        declared = partitions.values
    return tuple(_encoded(value, column) for value in declared)


def _encoded(value: Value, column: Column, rounded: Callable[[Fraction], int] | None = None) -> Value:
    """A constant as a column's values are: the integers of one that has them are within 64 bits."""
    if column.type.family in (Family.STRING, Family.FLOAT):
        return value
    if isinstance(value, str):
        raise _OnlySpark
    number = Fraction(value) if rounded is None else Fraction(rounded(Fraction(value)))
    if number.denominator != 1 or not -(2**63) <= number < 2**63:
        raise _OnlySpark
    return int(number)


def _condition(atom: Atom, item: Input) -> tuple[str, str, str | None, Value]:
    """A condition on one row, as `wanted` has it."""
    if isinstance(atom, NullTest):
        return atom.attribute.column, "is null" if atom.is_null else "is not null", None, 0
    left = next(column for column in item.declared if column.name == atom.left.column)
    if atom.right is not None:
        return left.name, atom.op.value, atom.right.column, 0
    return left.name, atom.op.value, None, _encoded(atom.offset, left)
