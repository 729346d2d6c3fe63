"""The tables of a select-project-join block: what it reads, and the columns of its entries and results."""

from __future__ import annotations

from dataclasses import dataclass

from streambound_runtime.engine.block_weights import Weights
from streambound_runtime.engine.tables import BIGINT, places
from streambound_runtime.operators.plan import SynopsisPlan


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
    """A block: its ``inputs`` are the rows of the ``streams``, and, where these have keys, the keys that are over.

    ``types`` are those of its results, then those of the sums; ``kinds`` those of each branch's variables.
    """

    name: str
    inputs: tuple[str, ...]
    synopsis: SynopsisPlan
    types: tuple[str, ...]
    kinds: tuple[tuple[tuple[str, str], ...], ...]
    streams: tuple[BlockTable, ...]
    relations: tuple[BlockTable, ...] = ()

    @property
    def key_types(self) -> tuple[str, ...]:
        """The types of the key that entries go with."""
        return tuple(one.types[place] for one in self.streams[:1] for place in one.keys)

    @property
    def weights(self) -> Weights:
        """What entries and results have beside their columns: a set has none."""
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
        return tuple(found) or (("there", "BOOLEAN"),)

    def best(self, number: int, place: int) -> dict[str, bool]:
        """The columns of a table in which entries that agree in the others have the greatest value, or the least."""
        table = self.synopsis.branches[number].tables[place]
        first = len(table.columns) - len(table.best)
        return {f"e{first + n}": greatest for n, greatest in enumerate(table.best)}
