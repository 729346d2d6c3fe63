"""The certificate of a bounded query: everything that is needed to check its bound again, as plain JSON.

Per branch of the split query: its SQL, and its tables. Per table: the streams and relations joined in it, what it
stores of them, how long, of which attributes it keeps extrema, why it has no more entries (`criteria.count`),
and how many bytes they take in the job's state.
`recheck` validates it against the query; it shares no code with this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from streambound.analyzer.boundedness import Limit
from streambound.analyzer.query import Attribute, Comparison
from streambound.analyzer.render import render_branch
from streambound.criteria.bound import BranchBound, QueryBound, TableBound
from streambound.criteria.count import Count
from streambound.criteria.cuts import Cut
from streambound.criteria.entry_bytes import entry_bytes
from streambound.criteria.size import Number, Size, product, total
from streambound.criteria.tables import Stored

VERSION = 3
Json = dict[str, Any]
_SELDOM = ("distances",)
_NAMED = {"key": "stored"}
"""What a table's members are called otherwise."""


class Amount(Struct, frozen=True):
    """A size as a formula, and as a number where the catalog gives one that it never exceeds."""

    formula: str
    value: int | None


def certificate(bound: QueryBound, distinct: bool) -> Json:
    """The certificate of a bound: its branches, and M in total."""
    branches = branches_json(bound.branches, distinct)
    return {"version": VERSION, "branches": branches, **_amounts(entries=bound.entries, bytes=state_bytes(bound))}


def branches_json(branches: Sequence[BranchBound], distinct: bool) -> list[Json]:
    """The branches of a split query: each by its place, from 0, and the conditions of the case with these tables."""
    return [
        {
            "branch": one.number,
            "conditions": to_json(one.case.conditions),
            "sql": render_branch(one.branch, distinct),
            "tables": [_table(one, table) for table in one.tables],
        }
        for one in branches
    ]


def _table(branch: BranchBound, table: TableBound) -> Json:
    """One table: the streams whose partial matches it holds, its key, its entries and their bytes.

    ``results`` says that it holds what a set query has returned. ``bytes_per_entry`` is None for strings of any length.
    """
    layout = {_NAMED.get(name, name): one for name, one in to_json(table.layout).items()}
    return {
        "name": table.table,
        "results": table.results,
        **{name: one for name, one in layout.items() if one != [] or name not in _SELDOM},
        "count": to_json(table.count),
        **_amounts(entries=table.size),
        "bytes_per_entry": entry_bytes(branch.facts, table.layout),
        **_amounts(bytes=_bytes(branch, table)),
    }


def state_bytes(bound: QueryBound) -> Size | None:
    """The bytes of all tables in the state; None where an entry holds a string of any length."""
    sizes = [_bytes(branch, table) for branch in bound.branches for table in branch.tables]
    known = [size for size in sizes if size is not None]
    return total(known) if len(known) == len(sizes) else None


def _bytes(branch: BranchBound, table: TableBound) -> Size | None:
    """The bytes of a table in the state: those of its entries."""
    width = entry_bytes(branch.facts, table.layout)
    return None if width is None else product([table.size, Number(width)])


def _amounts(**sizes: Size | None) -> Json:
    return {name: None if size is None else amount_json(size) for name, size in sizes.items()}


def amount_json(size: Size) -> Json:
    """A size as a formula, and as a number that it never exceeds where the catalog gives one."""
    return {"formula": size.text, "value": size.value}


def to_json(value: Any) -> Any:
    """A value of a certificate as plain JSON: objects with the fields' names, lists, texts and integers.

    What a `Count` leaves empty is left out, and cuts that are none.
    """
    match value:
        case Size():
            return value.text
        case Count():
            members = {name: to_json(member) for name, member in asdict(value).items()}
            return {name: member for name, member in members.items() if member not in (None, [])}
        case Comparison(left, op, right, offset):
            return {"left": to_json(left), "op": op.value, "right": to_json(right), "offset": to_json(offset)}
        case Attribute(source, column):
            return {"source": source, "column": column}
        case Stored(cuts=()):
            return {name: to_json(member) for name, member in asdict(value).items() if name != "cuts"}
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
    if isinstance(value, Struct):
        return {name: to_json(member) for name, member in asdict(value).items()}
    return value
