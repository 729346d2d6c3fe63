"""The tables of a select-project-join block: what it reads, and the columns and weights of its entries and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from streambound_runtime.engine.tables import BIGINT, DOUBLE, EXACT, HUGEINT, listed, places
from streambound_runtime.operators.plan import SynopsisPlan


@dataclass(frozen=True, slots=True)
class Weights:
    """The column ``n`` of the number, if it is ``counted``, and columns of sums of these ``types``."""

    types: tuple[str, ...]
    counted: bool = False

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """The columns, with their types."""
        sums = ((f"s{place}", kind) for place, kind in enumerate(self.types))
        return (*((("n", HUGEINT),) if self.counted else ()), *sums)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(name for name, _ in self.columns)

    @property
    def nothing(self) -> tuple[str, ...]:
        """The columns where there are no rows."""
        return tuple(f"CAST(NULL AS {kind}) AS {name}" for name, kind in self.columns)

    @property
    def totals(self) -> tuple[str, ...]:
        """The sums of the columns over some rows."""
        return tuple(f"exact_total(list({name}))" if kind == EXACT else f"sum({name})" for name, kind in self.columns)

    def grouped(self, names: Sequence[str], rows: str) -> str:
        """Rows with what agrees in some columns added up, none where there are no rows.

        >>> Weights((), counted=True).grouped(["e0"], "FROM x")
        'SELECT e0, sum(n) AS n FROM (FROM x) GROUP BY ALL HAVING count(*) > 0'
        """
        added = (f"{total} AS {name}" for total, name in zip(self.totals, self.names, strict=True))
        return f"SELECT {listed(*names, *added)} FROM ({rows}) GROUP BY ALL HAVING count(*) > 0"

    def product(self, participants: Sequence[str]) -> tuple[str, ...]:
        """The columns of a match of several participants, each of which names columns as ``j0.{0}``."""
        found = []
        for name, kind in self.columns:
            parts = [one.format(name) for one in participants]
            several = f"exact_product([{', '.join(parts)}])" if len(parts) > 1 else parts[0]
            found.append(f"{several if kind == EXACT else ' * '.join(parts)} AS {name}")
        return tuple(found)

    def of_rows(self, factors: Sequence[Sequence[tuple[str, str]]]) -> tuple[str, ...]:
        """The measures of equal rows: their number, and sums of products of these factors, each with its type."""
        found = ["sum(w) AS n"] if self.counted else []
        for place, kind in enumerate(self.types):
            mine = factors[place] if factors else ()
            whole = " * ".join(["w", *(f"{column}::HUGEINT" for column, one in mine if one != DOUBLE)])
            doubles = [column for column, one in mine if one == DOUBLE]
            if kind != EXACT:
                added = f"sum({whole})"
            elif len(doubles) < 2:
                added = f"exact_sum(list({(doubles or ['1.0::DOUBLE'])[0]}), list({whole}))"
            else:
                first, *rest = doubles
                parts = [f"exact_sum([{first}], [{whole}])", *(f"exact_sum([{one}], [1::HUGEINT])" for one in rest)]
                added = f"exact_total(list(exact_product([{', '.join(parts)}])))"
            found.append(f"{added} AS s{place}")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class RowsOfStream:
    """The rows of a stream as they come: these ``columns``, each with its time."""

    inputs: ClassVar[tuple[str, ...]] = ()
    timed: ClassVar[bool] = True
    name: str
    stream: str
    columns: tuple[str, ...]
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BlockTable:
    """A table that a block reads, a stream's rows or a relation: the columns that it needs, with their types.

    ``keys`` are the places of the key that the rows of a stream have, where a block's entries go with their key.
    """

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    keys: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockTables:
    """A block, which reads the rows of its ``streams``, and, where these have keys, the ``keys`` that are over.

    ``kinds`` are the types of each branch's variables.
    """

    synopsis: SynopsisPlan
    kinds: tuple[tuple[tuple[str, str], ...], ...]
    streams: tuple[BlockTable, ...]
    relations: tuple[BlockTable, ...] = ()
    keys: str = ""

    @property
    def rows(self) -> tuple[RowsOfStream, ...]:
        """The rows that it reads of each stream, named by what they are."""
        names = (f"{one.name}({', '.join(one.columns)})" for one in self.streams)
        return tuple(
            RowsOfStream(name, one.name, one.columns, one.types) for name, one in zip(names, self.streams, strict=True)
        )

    @property
    def inputs(self) -> tuple[str, ...]:
        """The operators whose rows it reads."""
        return (*(one.name for one in self.rows), *([self.keys] if self.keys else []))

    @property
    def name(self) -> str:
        """The block's."""
        return self.synopsis.name

    @property
    def types(self) -> tuple[str, ...]:
        """Those of its results, then those of the sums."""
        return self.synopsis.types

    @property
    def key_types(self) -> tuple[str, ...]:
        """The types of the key that entries go with."""
        return tuple(one.types[place] for one in self.streams[:1] for place in one.keys)

    @property
    def weights(self) -> Weights:
        """The measures of entries and results beside their columns; a set has none."""
        if self.synopsis.distinct:
            return Weights(())
        return Weights(self.types[len(self.synopsis.columns) :], counted=True)

    @property
    def key_names(self) -> tuple[str, ...]:
        """The columns of that key."""
        return tuple(f"k{place}" for place in range(len(self.key_types)))

    @property
    def result_columns(self) -> tuple[tuple[str, str], ...]:
        """The columns of results, with their types, and those of the key that these go with."""
        width = len(self.synopsis.columns)
        return (*zip(places(width), self.types, strict=False), *zip(self.key_names, self.key_types, strict=True))

    def entry_columns(self, number: int, place: int) -> tuple[tuple[str, str], ...]:
        """The columns of a table's entries, with their types: its own, the times that it keeps, its key."""
        table, kinds = self.synopsis.branches[number].tables[place], dict(self.kinds[number])
        found = [(f"e{n}", kinds[variable]) for n, variable in enumerate(table.columns)]
        found += [(f"a{stream}", BIGINT) for stream, *_ in table.ages]
        found += zip(self.key_names, self.key_types, strict=True)
        return tuple(found) if found or self.weights.counted else (("there", "BOOLEAN"),)

    def best(self, number: int, place: int) -> dict[str, bool]:
        """The columns of a table in which entries that agree in the others have the greatest value, or the least."""
        table = self.synopsis.branches[number].tables[place]
        first = len(table.columns) - len(table.best)
        return {f"e{first + n}": greatest for n, greatest in enumerate(table.best)}
