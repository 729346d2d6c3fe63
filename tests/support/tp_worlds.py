"""Queries over temporal-probabilistic relations, evaluated in every possible world at every point of time.

Knows nothing of the package: in a world a relation is the set of its rows that exist there, and a join is the join of
textbooks. A query is written down once, as a tree, from which both the SQL and its meaning follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from support.worlds import World, chance, names_in, table, worlds

Fact = tuple[Any, ...]


@dataclass(frozen=True)
class Row:
    fact: Fact
    key: int
    p: str
    begin: int
    end: int


Relations = Mapping[str, Sequence[Row]]


@dataclass(frozen=True)
class Base:
    """A relation, whose columns have these names."""

    name: str
    columns: tuple[str, ...]
    alias: str = ""

    @property
    def sql(self) -> str:
        return f"{self.name} AS {self.alias}" if self.alias else self.name

    def facts(self, relations: Relations, t: int, world: World) -> set[Fact]:
        return {
            row.fact
            for row in relations[self.name]
            if row.begin <= t < row.end and world.get(f"{self.name}.{row.key}", False)
        }


@dataclass(frozen=True)
class Joined:
    """A join; ``holds`` is the condition of two facts: True, or anything else for false and unknown."""

    how: str
    left: Query
    right: Query
    on: str
    holds: Callable[[Fact, Fact], Any]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.left.columns if self.one_sided else self.left.columns + self.right.columns

    @property
    def one_sided(self) -> bool:
        return self.how in ("LEFT ANTI", "LEFT SEMI")

    @property
    def sql(self) -> str:
        return f"{self.left.sql} {self.how} JOIN {self.right.sql} ON {self.on}"

    def facts(self, relations: Relations, t: int, world: World) -> set[Fact]:
        left, right = self.left.facts(relations, t, world), self.right.facts(relations, t, world)
        pairs = [(r, s) for r in left for s in right if self.holds(r, s) is True]
        no_left = (None,) * len(self.left.columns)
        no_right = (None,) * len(self.right.columns)
        found = set() if self.one_sided else {r + s for r, s in pairs}
        if self.one_sided:
            matched = {r for r, _ in pairs}
            found = matched if self.how == "LEFT SEMI" else left - matched
        if self.how in ("LEFT", "FULL"):
            found |= {r + no_right for r in left - {r for r, _ in pairs}}
        if self.how in ("RIGHT", "FULL"):
            found |= {no_left + s for s in right - {s for _, s in pairs}}
        return found


@dataclass(frozen=True)
class Selected:
    """SELECT … FROM … WHERE; ``places`` are the columns of it, None for all."""

    source: Query
    places: tuple[int, ...] | None = None
    where: str = ""
    keeps: Callable[[Fact], Any] = field(default=lambda fact: True)
    alias: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        columns = self.source.columns
        return columns if self.places is None else tuple(columns[place] for place in self.places)

    @property
    def select(self) -> str:
        listed = "*" if self.places is None else ", ".join(self.columns)
        return f"SELECT {listed} FROM {self.source.sql}" + (f" WHERE {self.where}" if self.where else "")

    @property
    def sql(self) -> str:
        return f"({self.select}) AS {self.alias}"

    def facts(self, relations: Relations, t: int, world: World) -> set[Fact]:
        found = {fact for fact in self.source.facts(relations, t, world) if self.keeps(fact) is True}
        return found if self.places is None else {tuple(fact[place] for place in self.places) for fact in found}


@dataclass(frozen=True)
class Combined:
    """UNION, EXCEPT or INTERSECT of two SELECTs of as many columns."""

    word: str
    left: Selected
    right: Selected
    alias: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return self.left.columns

    @property
    def select(self) -> str:
        return f"{self.left.select} {self.word} {self.right.select}"

    @property
    def sql(self) -> str:
        return f"({self.select}) AS {self.alias}"

    def facts(self, relations: Relations, t: int, world: World) -> set[Fact]:
        left, right = self.left.facts(relations, t, world), self.right.facts(relations, t, world)
        return {"UNION": left | right, "EXCEPT": left - right, "INTERSECT": left & right}[self.word]


@dataclass(frozen=True)
class Counted:
    """SELECT column, COUNT(*) … GROUP BY; with ``of`` the rows where that column is not NULL."""

    source: Query
    by: int
    of: int | None = None
    alias: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return self.source.columns[self.by], "number"

    @property
    def counted(self) -> str:
        return f"COUNT({'*' if self.of is None else self.source.columns[self.of]})"

    @property
    def select(self) -> str:
        name = self.columns[0]
        return f"SELECT {name}, {self.counted} AS number FROM {self.source.sql} GROUP BY {name}"

    @property
    def sql(self) -> str:
        return f"({self.select}) AS {self.alias}"

    def facts(self, relations: Relations, t: int, world: World) -> set[Fact]:
        groups: dict[Any, int] = {}
        for fact in self.source.facts(relations, t, world):
            there = self.of is None or fact[self.of] is not None
            groups[fact[self.by]] = groups.get(fact[self.by], 0) + there
        return set(groups.items())


Query = Base | Joined | Selected | Combined | Counted
Period = tuple[Fact, int, int, tuple[bool, ...]]
"""A row of a result: fact, begin, end, and in which worlds it is there."""


def variables_of(relations: Relations) -> dict[str, Fraction]:
    return {f"{name}.{row.key}": Fraction(row.p) for name, rows in relations.items() for row in rows}


def expected(query: Query, relations: Relations) -> list[Period]:
    """The result: maximal periods in which a fact is there in the same worlds, less those of no possible world."""
    chances = variables_of(relations)
    names = sorted(chances)
    rows = [row for found in relations.values() for row in found]
    points = range(min(row.begin for row in rows), max(row.end for row in rows) + 1) if rows else range(0)
    found: list[Period] = []
    open_ones: dict[Fact, Period] = {}
    for t in points:
        at_t: dict[Fact, list[bool]] = {}
        for number, world in enumerate(worlds(names)):
            for fact in query.facts(relations, t, world):
                at_t.setdefault(fact, [False] * 2 ** len(names))[number] = True
        now = {}
        for fact, true_in in at_t.items():
            before = open_ones.pop(fact, None)
            if before is not None and before[3] == tuple(true_in):
                now[fact] = (fact, before[1], t + 1, before[3])
            else:
                found += [before] if before else []
                now[fact] = (fact, t, t + 1, tuple(true_in))
        found += open_ones.values()
        open_ones = now
    found += open_ones.values()
    return [row for row in found if chance(row[3], names, chances)]


def expected_count(query: Counted, relations: Relations, t: int, key: Any) -> Fraction:
    """What is expected of a group's count at a point of time, over all worlds."""
    chances = variables_of(relations)
    names = sorted(chances)
    total = Fraction(0)
    for world in worlds(names):
        weight = Fraction(1)
        for name in names:
            weight *= chances[name] if world[name] else 1 - chances[name]
        total += weight * sum(n for found, n in query.facts(relations, t, world) if found == key)
    return total


def differences(printed: Iterator[Sequence[Any]], query: Query, relations: Relations) -> list[str]:
    """How rows (values…, begin, end, lineage, p) differ from the expected ones."""
    chances = variables_of(relations)
    names = sorted(chances)
    wanted = sorted(map(repr, expected(query, relations)))
    got, wrong = [], []
    for *fact, begin, end, lineage, p in printed:
        if not names_in(lineage) <= set(names):
            wrong.append(f"unknown variables in {lineage}")
            continue
        true_in = table(lineage, names)
        got.append(repr((tuple(fact), begin, end, true_in)))
        exact = chance(true_in, names, chances)
        if abs(float(exact) - p) > 1e-9:
            wrong.append(f"{lineage} has {float(exact)}, not {p}")
    wrong += [f"missing {row}" for row in wanted if row not in got]
    wrong += [f"too many {row}" for row in sorted(got) if row not in wanted]
    return wrong if wrong or len(got) == len(wanted) else ["duplicates"]
