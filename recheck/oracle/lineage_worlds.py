"""Rows with lineages of a run of a SEQ TP statement, compared with the SQL inside of the block in possible worlds.

A world is a choice of the rows that there are. At a point of time the SQL inside of the block is run over the rows that
are valid then and in the world, without periods, keys and probabilities; a fact must be among its results if and only
if the run has a row of it that is valid then, whose lineage is true in the world. That is the definition (Papaioannou,
Theobald, Böhlen, Section III), and nothing is shared with what evaluates windows or lineages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.errors import StreamboundError
from streambound.recheck.oracle.spark_batch import BatchComparison, Cell, Snapshots

MOST_POINTS, WORLDS = 16, 4
"""Points of time that are compared, chosen at random, and worlds for each; one of these has all rows."""
MOST_VARIABLES = 14
"""Probabilities of lineages with more variables are not computed again, which takes all their worlds."""
MOST_UNCERTAIN = 8
"""What is expected is not computed where more rows are valid that may not be there, which takes all their worlds."""
_VARIABLE = re.compile(r'(?:\w+|"(?:[^"]|"")*")\.(?:\w+|"(?:[^"]|"")*")')
_TOKEN = re.compile(_VARIABLE.pattern + r"|[!&|()]")
_TOLERANCE = 1e-9
Fact = tuple[str, ...]
World = Mapping[str, bool]
"""Of the rows that are valid at a point of time, by their variables: whether they are there."""
Facts = dict[int, set[Fact]]


class Variable(Struct, frozen=True):
    """A row of a table: its variable's name, and what it has in the table's columns."""

    table: str
    name: str
    key: str
    begin: int
    end: int
    p: float

    @staticmethod
    def of(table: str, key: str, begin: int, end: int, p: float) -> Variable:
        """The row of a table with a key."""
        return Variable(table, f"{_named(table)}.{_named(key)}", key, begin, end, p)


class PrintedRow(Struct, frozen=True):
    """A row of the run."""

    fact: Fact
    begin: int
    end: int
    lineage: str
    low: float
    high: float
    """What its probability is at least, and at most."""


def probabilities(catalog: Catalog) -> tuple[str, str]:
    """The columns of a row with what its probability is at least, and at most."""
    return ("_p_low", "_p_high") if catalog.probability_bounds else ("_p", "_p")


class Worlds(Struct, frozen=True):
    """The rows of all tables, what the run has printed, and the points of time that it is about.

    ``facts`` evaluates the SQL at points of time in worlds: its facts, by the places of these; those without are none.
    ``most`` is how many rows that may not be there are valid at a point that is compared.
    """

    variables: Sequence[Variable]
    printed: Sequence[PrintedRow]
    line: Snapshots
    facts: Callable[[Sequence[tuple[int, World]]], Facts]
    most: int | None = None

    def compared(self, random: Random) -> BatchComparison:
        """Points of time and worlds; then probabilities, and whether rows could be longer."""
        ends = {time for one in self.variables for time in (one.begin, one.end)}
        points = sorted({*self.line.points(ends), *(time for one in self.printed for time in (one.begin, one.end))})
        if self.most is not None:
            points = [one for one in points if sum(row.p < 1 for row in self._valid(one)) <= self.most]
        chosen = sorted(random.sample(points, MOST_POINTS)) if len(points) > MOST_POINTS else points
        worlds = [(point, world) for point in chosen for world in self._chosen(point, random)]
        expected = self.facts(worlds)
        results = 0
        for number, (point, world) in enumerate(worlds):
            wanted = expected.get(number, set()) if self.line.has(point) else set()
            valid = [row for row in self.printed if row.begin <= point < row.end]
            found = [row.fact for row in valid if _holds(row.lineage, world)]
            found += [row.fact for row in valid if not world.keys() >= {*_VARIABLE.findall(row.lineage)}]  # of no row
            results += len(wanted) if all(world.values()) else 0
            if len(valid) != len({row.fact for row in valid}) or {*found} != wanted:
                facts = sorted({*found} ^ wanted) or sorted({row.fact for row in valid})
                cells = (Cell((*fact, _told(world)), int(fact in wanted), found.count(fact)) for fact in facts)
                return BatchComparison(results, len(chosen), point, tuple(cells))
        return BatchComparison(results, len(chosen), *(self._improbable() or self._longest() or ()))

    def _chosen(self, point: int, random: Random) -> Iterator[dict[str, bool]]:
        """Random worlds of the rows that are valid at a point of time; all of them have the rows that are certain."""
        valid = self._valid(point)
        yield {one.name: True for one in valid}
        for _ in range(WORLDS - 1 if valid else 0):
            yield {one.name: one.p == 1 or random.random() < 0.5 for one in valid}

    def _valid(self, point: int) -> list[Variable]:
        return [one for one in self.variables if one.begin <= point < one.end]

    def _improbable(self) -> tuple[int, tuple[Cell, ...]] | None:
        """A row whose probability is not that of its lineage, summed up over all worlds of its variables."""
        variables = {one.name: one for one in self.variables}
        for row in self.printed:
            names = sorted(set(_VARIABLE.findall(row.lineage)))
            if len(names) > MOST_VARIABLES:
                continue
            worlds = all_worlds([variables[name] for name in names])
            total = float(sum(chance for chance, world in worlds if _holds(row.lineage, world)))
            if not row.low - _TOLERANCE <= total <= row.high + _TOLERANCE:
                told = f"_p = {row.low}" if row.low == row.high else f"_p from {row.low} to {row.high}"
                return row.begin, (Cell((*row.fact, f"_p = {total}"), 1, 0), Cell((*row.fact, told), 0, 1))
        return None

    def _longest(self) -> tuple[int, tuple[Cell, ...]] | None:
        """A row that goes on as the same one, where rows are the longest ones."""
        before: dict[tuple[Fact, str, int], PrintedRow] = {
            (row.fact, row.lineage, row.end): row for row in self.printed
        }
        cut = next((row for row in self.printed if (row.fact, row.lineage, row.begin) in before), None)
        if cut is None or not self.line.whole:
            return None
        return cut.begin, (Cell((*cut.fact, cut.lineage), 1, 2),)


def all_worlds(variables: Sequence[Variable]) -> Iterator[tuple[Fraction, dict[str, bool]]]:
    """The possible worlds of some rows, each with its probability, which is not 0; a double is its shortest text."""
    chances = (Fraction(str(one.p)) for one in variables)
    choices = [[(there, part) for there, part in ((True, p), (False, 1 - p)) if part] for p in chances]
    for world in product(*choices):
        chance = prod((part for _, part in world), start=Fraction(1))
        yield chance, {one.name: there for one, (there, _) in zip(variables, world, strict=True)}


def of_sets(tree: exp.Expr) -> exp.Expr:
    """The SQL of a block as SEQ TP reads it: of a SELECT in FROM, too, a row is there once, or not."""
    found = tree.copy()
    for query in found.find_all(exp.Subquery, exp.CTE):
        if isinstance(query.this, exp.Select):
            query.this.set("distinct", exp.Distinct())
    return found


def _named(part: str) -> str:
    return part if re.fullmatch(r"[A-Za-z0-9_]+", part) else '"' + part.replace('"', '""') + '"'


def _told(world: Mapping[str, bool]) -> str:
    return f"where there is {', '.join(sorted(name for name, there in world.items() if there)) or 'nothing'}"


def _holds(lineage: str, world: Mapping[str, bool]) -> bool:
    """Whether a lineage is true in a world, which has no row that it does not name."""
    tokens = _TOKEN.findall(lineage)
    if "".join(tokens) != lineage.replace(" & ", "&").replace(" | ", "|"):
        raise StreamboundError(f"{lineage} is no lineage")
    tokens.append("")
    value = _any_of(tokens, world)
    if tokens != [""]:
        raise StreamboundError(f"{lineage} is no lineage")
    return value


def _any_of(tokens: list[str], world: Mapping[str, bool]) -> bool:
    values = [_all_of(tokens, world)]
    while tokens[0] == "|":
        tokens.pop(0)
        values.append(_all_of(tokens, world))
    return any(values)


def _all_of(tokens: list[str], world: Mapping[str, bool]) -> bool:
    values = [_one(tokens, world)]
    while tokens[0] == "&":
        tokens.pop(0)
        values.append(_one(tokens, world))
    return all(values)


def _one(tokens: list[str], world: Mapping[str, bool]) -> bool:
    token = tokens.pop(0)
    if token == "!":
        return not _one(tokens, world)
    if token != "(":
        return world.get(token, False)
    value = _any_of(tokens, world)
    tokens.pop(0)
    return value
