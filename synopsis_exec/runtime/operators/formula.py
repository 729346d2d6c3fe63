"""Formulas over quantities that are known once the relations have been read: their sizes and extreme values.

A plan has them where a limit or the bound M depends on a relation's rows (Schiff and Özçep, Definition 5: attributes
that a static relation bounds). They are resolved before the first row of a stream is folded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal
from math import prod
from typing import TYPE_CHECKING, TypeVar, cast

from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class RowCount:
    """The number of rows of a relation."""

    relation: str


@dataclass(frozen=True, slots=True)
class Extreme:
    """The least or greatest value of a relation's column, NULL left out.

    Without any value the interval from the least to the greatest is empty: 0 and −1.
    """

    relation: str
    column: str
    greatest: bool


@dataclass(frozen=True, slots=True)
class Members:
    """The values of a relation's rows in some columns together, without those that have a NULL there."""

    relation: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A number that only the streams' rows determine, such as ``c_S``, the most rows of a timestamp."""

    name: str


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of some formulas."""

    of: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The product of some formulas."""

    of: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Least:
    """The least of some formulas."""

    of: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Greatest:
    """The greatest of some formulas."""

    of: tuple[Formula, ...]


T = TypeVar("T")
Formula = int | RowCount | Extreme | Unknown | Sum | Product | Least | Greatest
_NODES = (RowCount, Extreme, Unknown, Sum, Product, Least, Greatest)
Relations = Mapping[str, "pa.Table"]
"""The encoded good rows of each relation; one without rows may have no columns."""


def values_of(rows: pa.Table, columns: Iterable[str]) -> list[tuple[Value, ...]]:
    """Some columns of each row as Python's values."""
    if not rows.num_rows:
        return []
    listed = [rows.column(name).to_pylist() for name in columns]
    return [tuple(map(_plain, row)) for row in zip(*listed, strict=True)] if listed else [()] * rows.num_rows


def _plain(value: Value | Decimal) -> Value:
    """A value; integers beyond 64 bits travel as decimals."""
    return int(value) if isinstance(value, Decimal) else value


def value(formula: Formula, relations: Relations) -> int | None:
    """The value of a formula; None where it depends on what the streams will bring.

    >>> value(Product((2, 3)), {})
    6
    """
    match formula:
        case RowCount(relation):
            return int(relations[relation].num_rows)
        case Extreme(relation, column, greatest):
            values = [integer(one) for (one,) in values_of(relations[relation], [column]) if one is not None]
            return max(values, default=-1) if greatest else min(values, default=0)
        case Unknown():
            return None
        case Sum(of):
            return _combined(sum, of, relations)
        case Product(of):
            return _combined(prod, of, relations)
        case Least(of):
            return _combined(min, of, relations)
        case Greatest(of):
            return _combined(max, of, relations)
        case number:
            return number


def _combined(combine: Callable[[list[int]], int], of: Iterable[Formula], relations: Relations) -> int | None:
    values = [value(formula, relations) for formula in of]
    known = [number for number in values if number is not None]
    return combine(known) if len(known) == len(values) else None


def resolved(node: T, relations: Relations) -> T:
    """A tree of dataclasses and tuples with numbers in place of its formulas."""
    return cast("T", _resolved(node, relations))


def _resolved(node: object, relations: Relations) -> object:
    if isinstance(node, Members):
        values = values_of(relations[node.relation], node.columns)
        return tuple(dict.fromkeys(one for one in values if None not in one))
    if isinstance(node, _NODES):
        return value(node, relations)
    if isinstance(node, tuple):
        return tuple(_resolved(item, relations) for item in node)
    if is_dataclass(node) and not isinstance(node, type):
        return replace(node, **{field.name: _resolved(getattr(node, field.name), relations) for field in fields(node)})
    return node


def combined(how: type[Least] | type[Greatest], of: Iterable[Formula]) -> Formula:
    """The least or greatest of some formulas; numbers among them become one.

    >>> combined(Least, [3, 2]), combined(Greatest, [RowCount("R")])
    (2, RowCount(relation='R'))
    """
    parts = dict.fromkeys(of)
    numbers = [part for part in parts if isinstance(part, int)]
    rest: list[Formula] = [part for part in parts if not isinstance(part, int)]
    if numbers:
        rest.insert(0, min(numbers) if how is Least else max(numbers))
    return rest[0] if len(rest) == 1 else how(tuple(rest))


def added(left: Formula, right: Formula) -> Formula:
    """The sum of two formulas; sums in them are taken apart, numbers put together."""
    parts = [part for side in (left, right) for part in (side.of if isinstance(side, Sum) else (side,))]
    numbers = sum(part for part in parts if isinstance(part, int))
    rest = tuple(part for part in parts if not isinstance(part, int))
    return Sum((*rest, numbers)) if rest and (numbers or rest[1:]) else rest[0] if rest else numbers


def times(left: Formula, right: Formula) -> Formula:
    """The product of two formulas; numbers are put together."""
    parts = [part for side in (left, right) for part in (side.of if isinstance(side, Product) else (side,))]
    number = prod(part for part in parts if isinstance(part, int))
    rest = tuple(part for part in parts if not isinstance(part, int))
    if not rest or number == 0:
        return number
    return Product((number, *rest)) if number != 1 else Product(rest) if rest[1:] else rest[0]
