"""Random queries in which ranges are bounded by what finite streams bring: a good share of what is generated here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from support.catalogs import streams
from support.choices import Choices
from support.small_queries import SmallQuery, small_query

INFINITE = ("S", "T", "U")
FINITE = ("F", "G")


@dataclass(frozen=True)
class FiniteQuery:
    """A statement and its catalog."""

    sql: str
    catalog: dict[str, Any]


def make_finite_query(choices: Choices, most: int = 3, distinct: int = 30) -> FiniteQuery:
    """One random ``SELECT``, or ``SELECT DISTINCT``, over at most so many infinite streams and a finite one, or two."""
    c = choices
    infinite = INFINITE[: min(most, c.weighted([(55, 2), (35, 3), (10, 1)]))]
    finite = FINITE[: c.weighted([(75, 1), (25, 2)])]
    relation = ("R",) if c.chance(15) else ()
    columns = dict.fromkeys("ab", "bigint")
    catalog: dict[str, Any] = {
        "streams": {s: {"timestamp": "ts", "columns": {**columns, "ts": "bigint"}} for s in (*INFINITE, *FINITE)},
        "relations": {"R": {"columns": dict(columns)}},
    }
    for body in catalog["streams"].values():
        if c.chance(25):
            body["max_per_timestamp"] = c.integer(1, 3)
        if c.chance(6):
            body["domain"] = {c.pick("ab"): [-1, 2]}
    word = "SELECT DISTINCT" if c.chance(distinct) else "SELECT"
    anchors = [f"{source}.{column}" for source in (*finite, *relation) for column in "ab"]
    values = [f"{source}.{column}" for source in infinite for column in "ab"]
    values = [value for value in values if not c.chance(35)] or values[:1]
    conditions = [*_times(c, infinite, finite), *_ranges(c, values, anchors), *_joins(c, values, anchors)]
    if c.chance(10):
        conditions.append(f"({_comparison(c, c.pick(values), c.pick(anchors))} OR {c.pick(values)} = 1)")
    projected = [c.pick([*values, *values, *anchors]) for _ in range(c.weighted([(40, 0), (45, 1), (15, 2)]))]
    outputs = ", ".join(f"{a} AS {a.replace('.', '_')}" for a in dict.fromkeys(projected)) or "1 AS one"
    sources = ", ".join((*infinite, *finite, *relation))
    return FiniteQuery(f"{word} {outputs} FROM {sources} WHERE {' AND '.join(dict.fromkeys(conditions))}", catalog)


def _times(c: Choices, infinite: tuple[str, ...], finite: tuple[str, ...]) -> list[str]:
    found = [f"{stream}.ts <= {c.integer(2, 6)}" for stream in finite]
    for place, older in enumerate(infinite[1:], start=1):
        newer = infinite[c.integer(0, place - 1)]
        found.append(c.weighted([
            (70, f"{newer}.ts > {older}.ts"),
            (10, f"{newer}.ts >= {older}.ts"),
            (6, f"{newer}.ts = {older}.ts"),
            (7, f"{newer}.ts BETWEEN {older}.ts AND {older}.ts + {c.integer(1, 3)}"),
            (7, f"{newer}.ts <= {older}.ts + {c.integer(0, 2)}"),
        ]))  # fmt: skip
    for stream in finite:
        if c.chance(30):
            other = c.pick(infinite)
            found.append(
                c.pick([f"{stream}.ts < {other}.ts", f"{stream}.ts > {other}.ts", f"{other}.ts <= {stream}.ts + 2"])
            )
    return found


def _ranges(c: Choices, values: list[str], anchors: list[str]) -> list[str]:
    """Each value between two ends: most often attributes of finite streams, sometimes constants, or nothing."""
    found = []
    both, one = c.pick([(70, 60), (90, 80), (20, 90)])
    for value in values:
        ends = "><" if c.chance(both) else c.pick("<>") if c.chance(one) else ""
        for op in ends:
            own = [anchor for anchor in anchors if anchor.endswith("a" if op == ">" else "b")]
            end = c.pick(own if c.chance(80) else anchors)
            end = end + _offset(c) if c.chance(85) else str(c.integer(-1, 0) if op == ">" else c.integer(2, 4))
            found.append(f"{value} {op}{c.pick(['', '='])} {end}")
    return found


def _joins(c: Choices, values: list[str], anchors: list[str]) -> list[str]:
    found = []
    for _ in range(c.weighted([(50, 1), (25, 2), (25, 0)])):
        left = c.pick(values)
        others = [a for a in (values if c.chance(80) else anchors) if a[0] != left[0]]
        if others:
            found.append(_comparison(c, left, c.pick(others)))
    return found


def _comparison(c: Choices, left: str, right: str) -> str:
    op = c.weighted([(38, "<"), (24, ">"), (16, "<="), (10, ">="), (6, "="), (6, "<>")])
    return f"{left} {op} {right}{_offset(c)}"


def _offset(c: Choices) -> str:
    return c.weighted([(75, ""), (15, f" + {c.integer(1, 2)}"), (10, f" - {c.integer(1, 2)}")])


def make_clipped_query(choices: Choices) -> SmallQuery:
    """``T.a < S.a`` or the reverse, where nothing but F limits the values on which that depends."""
    c, names = choices, ("S", "T", "F", "U")[: choices.weighted([(70, 3), (30, 4)])]
    less, more, first, second = c.pick([("T.a", "S.a", "<=", ">="), ("S.a", "T.a", "<=", ">=")])
    ends = ["F.a", "F.b", *(["F.b"] if c.chance(50) else [])]
    atoms = [
        ("S.ts", ">", "T.ts", 0),
        ("F.ts", "<=", "0", c.integer(1, 3)),
        (less, c.pick(["<", "<="]), more, c.integer(-1, 2)),
        (less, first, c.pick(ends), c.integer(-1, 1)),
        (more, second, c.pick(ends), c.integer(-1, 1)),
    ]
    if c.chance(30):
        atoms.append(("F.ts", c.pick(["<", ">"]), c.pick(["S.ts", "T.ts"]), 0))
    if c.chance(40):
        others = [f"{name}.{column}" for name in names for column in "ab"]
        left = c.pick(others)
        atoms.append((left, c.pick(["<", ">=", "="]), c.pick([o for o in others if o[0] != left[0]]), c.integer(-1, 1)))
    if "U" in names and c.chance(70):
        atoms.append(("U.ts", c.pick(["<", ">", ">="]), c.pick(["S.ts", "T.ts"]), 0))
    outputs = tuple(dict.fromkeys(c.pick(["F.a", "F.b"]) for _ in range(c.integer(0, 1))))
    return small_query(names, "ab", atoms, outputs, streams(" ".join(names), a="bigint", b="bigint"))
