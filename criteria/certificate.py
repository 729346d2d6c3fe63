"""The certificate of a bounded query: everything that is needed to check its bound again, as plain JSON.

Per branch of the split query: its SQL, and its tables. Per table: the streams and relations joined in it, what it
stores of them, how long, of which attributes it keeps extrema, why it has at most so many entries (`criteria.count`),
and how many bytes they take in the job's state.
`recheck` validates it against the query; it shares no code with this package.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from streambound.analyzer.boundedness import Limit
from streambound.analyzer.query import Attribute, Comparison
from streambound.analyzer.render import render_branch
from streambound.criteria.bound import BranchBound, QueryBound, TableBound
from streambound.criteria.count import Count
from streambound.criteria.cuts import Cut
from streambound.criteria.entry_bytes import entry_bytes
from streambound.criteria.extremum import Extremum
from streambound.criteria.size import Number, Size, product, total
from streambound.criteria.tables import Age, Distance, Lapse, Member, Stored

VERSION = 3
_SELDOM = ("members", "lapses", "distances")


@dataclass(frozen=True, slots=True)
class Amount:
    """A size as a formula, and as a number where the catalog gives one that it never exceeds."""

    formula: str
    value: int | None


@dataclass(frozen=True, slots=True)
class TableCertificate:
    """One table: the streams whose partial matches it holds, its key, its entries and their bytes.

    With ``members`` it is a family: it holds those of every set of them that the order of time allows but the full one.
    ``results`` says that it holds what a set query has returned. ``bytes_per_entry`` is None for strings of any length.
    """

    name: str
    results: bool
    streams: tuple[str, ...]
    relations: tuple[str, ...]
    stored: tuple[Stored, ...]
    ages: tuple[Age, ...]
    deadline: int | None
    extrema: tuple[Extremum, ...]
    members: tuple[Member, ...]
    lapses: tuple[Lapse, ...]
    distances: tuple[Distance, ...]
    count: Count
    entries: Amount
    bytes_per_entry: int | None
    bytes: Amount | None


@dataclass(frozen=True, slots=True)
class BranchCertificate:
    """One branch of the split query: its place, from 0, and the conditions of the case of it that has these tables."""

    branch: int
    conditions: tuple[Comparison, ...]
    sql: str
    tables: tuple[TableCertificate, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """The branches, and M in total."""

    version: int
    branches: tuple[BranchCertificate, ...]
    entries: Amount
    bytes: Amount | None


def certificate(bound: QueryBound, distinct: bool) -> Certificate:
    """The certificate of a bound."""
    branches = tuple(_branch(branch, distinct) for branch in bound.branches)
    in_bytes = state_bytes(bound)
    return Certificate(VERSION, branches, _amount(bound.entries), None if in_bytes is None else _amount(in_bytes))


def state_bytes(bound: QueryBound) -> Size | None:
    """The bytes of all tables in the state; None where an entry holds a string of any length."""
    sizes = [size for branch in bound.branches for size in _byte_sizes(branch)]
    known = [size for size in sizes if size is not None]
    return total(known) if len(known) == len(sizes) else None


def _branch(branch: BranchBound, distinct: bool) -> BranchCertificate:
    sizes = _byte_sizes(branch)
    tables = tuple(_table(branch, table, size) for table, size in zip(branch.tables, sizes, strict=True))
    return BranchCertificate(branch.number, branch.case.conditions, render_branch(branch.branch, distinct), tables)


def _table(branch: BranchBound, table: TableBound, in_bytes: Size | None) -> TableCertificate:
    layout = table.layout
    return TableCertificate(
        table.table,
        table.results,
        layout.streams,
        layout.relations,
        layout.key,
        layout.ages,
        layout.deadline,
        layout.extrema,
        layout.members,
        layout.lapses,
        layout.distances,
        table.count,
        _amount(table.size),
        entry_bytes(branch.facts, layout),
        None if in_bytes is None else _amount(in_bytes),
    )


def _byte_sizes(branch: BranchBound) -> list[Size | None]:
    """The bytes of each table in the state: those of its entries."""
    each = [entry_bytes(branch.facts, table.layout) for table in branch.tables]
    return [
        None if width is None else product([table.size, Number(width)])
        for table, width in zip(branch.tables, each, strict=True)
    ]


def _amount(size: Size) -> Amount:
    return Amount(size.text, size.value)


def to_json(value: Any) -> Any:
    """A value of a certificate as plain JSON: objects with the fields' names, lists, texts and integers.

    What a `Count` leaves empty is left out, and cuts, members, lapses and distances that are none.
    """
    match value:
        case Size():
            return value.text
        case Count():
            members = {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
            return {name: member for name, member in members.items() if member not in (None, [])}
        case Comparison(left, op, right, offset):
            return {"left": to_json(left), "op": op.value, "right": to_json(right), "offset": to_json(offset)}
        case Attribute(source, column):
            return {"source": source, "column": column}
        case Stored(cuts=()):
            return {f.name: to_json(getattr(value, f.name)) for f in fields(value) if f.name != "cuts"}
        case TableCertificate():
            found = {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
            return {n: member for n, member in found.items() if member != [] or n not in _SELDOM}
        case Cut(cut, included):
            return {"value": str(cut), "included": included}
        case Limit(constant, relations):
            parts = [{"source": a.source, "column": a.column, "offset": to_json(offset)} for a, offset in relations]
            return {"constant": to_json(constant), "relations": parts}
        case Enum():
            return value.value
        case Fraction():
            return int(value) if value.denominator == 1 else str(value)
        case tuple():
            return [to_json(part) for part in value]
    if is_dataclass(value):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    return value
