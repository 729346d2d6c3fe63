"""Random set queries that are bounded because one extremum per key suffices: a good share of what is generated here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from support.choices import Choices

ALIASES = ("S", "T", "U", "V")
OTHER_TYPES = ("double", "string", "decimal(6,2)", "date")
RANGES: dict[str, tuple[str, ...]] = {
    "bigint": ("0", "1", "3"),
    "double": ("0.5D", "1.0D", "2.0D"),
    "string": ("'a'", "'ab'", "'b'"),
    "decimal(6,2)": ("0.50", "1.25", "1.50"),
    "date": ("DATE '2024-01-02'", "DATE '2024-01-03'", "DATE '2024-01-05'"),
}


@dataclass(frozen=True)
class Shape:
    """Percentages: how often a statement has what makes it harder."""

    windows: int = 25
    finite: int = 10
    relations: int = 20
    unions: int = 8
    unequal: int = 10
    types: int = 30


@dataclass(frozen=True)
class ExtremalQuery:
    """A statement and its catalog."""

    sql: str
    catalog: dict[str, Any]


def make_extremal_query(choices: Choices, shape: Shape = Shape()) -> ExtremalQuery:
    """One random ``SELECT DISTINCT``, most of its joins inequalities over attributes without bounds."""
    kind = choices.pick(OTHER_TYPES) if choices.chance(shape.types) else "bigint"
    columns = {"a": "bigint", "b": kind, "ts": "bigint"}
    catalog: dict[str, Any] = {"streams": {s: {"timestamp": "ts", "columns": dict(columns)} for s in ALIASES}}
    for body in catalog["streams"].values():
        if choices.chance(30):
            body["max_per_timestamp"] = choices.integer(1, 3)
    catalog["relations"] = {"R": {"columns": {"a": "bigint", "b": kind}}}
    selects = [_select(choices, shape, kind) for _ in range(2 if choices.chance(shape.unions) else 1)]
    return ExtremalQuery("\nUNION\n".join(selects), catalog)


def _select(c: Choices, shape: Shape, kind: str) -> str:
    streams = ALIASES[: c.weighted([(45, 2), (40, 3), (15, 4)])]
    kinds = {f"{s}.{column}": "bigint" if column == "a" else kind for s in streams for column in "ab"}
    conditions = [*_times(c, shape, streams)]
    relation = c.chance(shape.relations)
    if relation:
        kinds |= {"R.a": "bigint", "R.b": kind}
    projected = c.pick([*kinds]) if c.chance(35) else None
    if projected is not None:
        conditions.append(_between(c, projected, kinds[projected]))
    for _ in range(c.weighted([(30, 1), (40, 2), (20, 3), (10, 4)])):
        conditions += _join(c, shape, kinds)
    for attribute in kinds:
        if c.chance(12):
            conditions.append(f"{attribute} {c.pick(['<', '>', '>=', '<='])} {c.pick(RANGES[kinds[attribute]])}")
        elif c.chance(8):
            conditions.append(_between(c, attribute, kinds[attribute]))
    sources = ", ".join([*streams, "R"] if relation else streams)
    output = f"{projected} AS p" if projected is not None and kinds[projected] == "bigint" else "1 AS p"
    return f"SELECT DISTINCT {output} FROM {sources} WHERE {' AND '.join(dict.fromkeys(conditions))}"


def _between(c: Choices, attribute: str, kind: str) -> str:
    low, middle, high = RANGES[kind]
    if kind in ("double", "string"):
        return f"{attribute} IN ({low}, {middle}, {high})"
    return f"{attribute} BETWEEN {low} AND {c.pick([middle, high])}"


def _times(c: Choices, shape: Shape, streams: tuple[str, ...]) -> list[str]:
    found = []
    for i, older in enumerate(streams[1:], start=1):
        newer = streams[c.integer(0, i - 1)]
        if c.chance(shape.windows):
            low, width = c.integer(-1, 2), c.integer(0, 3)
            found.append(c.pick([
                f"{newer}.ts BETWEEN {older}.ts + {low} AND {older}.ts + {low + width}",
                f"{newer}.ts >= {older}.ts + {low + 1}",
                f"{newer}.ts <= {older}.ts + {width}",
            ]))  # fmt: skip
        else:
            found.append(f"{newer}.ts {c.weighted([(70, '>'), (8, '>='), (8, '<'), (6, '=')])} {older}.ts")
    found = [condition for condition in found if not c.chance(12)]
    if c.chance(shape.finite):
        found.append(f"{c.pick(streams)}.ts < 6")
    return found or [f"{streams[0]}.ts >= 0"]


def _join(c: Choices, shape: Shape, kinds: dict[str, str]) -> list[str]:
    left = c.pick([*kinds])
    partners = [a for a in kinds if kinds[a] == kinds[left] and a.split(".")[0] != left.split(".")[0]]
    right = c.pick(partners)
    if c.chance(shape.unequal):
        return [f"{left} <> {right}"]
    if c.chance(15):
        return [f"{left} = {right}", *([_between(c, left, kinds[left])] if c.chance(70) else [])]
    if c.chance(12):
        own = [a for a in kinds if kinds[a] == kinds[left] and a.split(".")[0] == left.split(".")[0] and a != left]
        right = c.pick(own) if own else right
    operator = c.pick(["<", "<=", ">", ">="])
    offset = f" + {c.integer(1, 3)}" if kinds[left] == "bigint" and c.chance(25) else ""
    return [f"{left} {operator} {right}{offset}"]
