"""What a sweep makes: rows with a lineage each, which is written as columns, or as a formula where it must be one.

Lineages of base rows of different relations have no variable twice. Their canonical texts and their probabilities are
made a batch at a time; formulas are for operators that read them, and for variables that may be equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streambound_runtime.arrays import Integers, Mask
from streambound_runtime.lineage.formulas import Formula
from streambound_runtime.tp.padding import padded, paired
from streambound_runtime.tp.rows import formula_of
from streambound_runtime.tp.segments import Valid


@dataclass(frozen=True, slots=True)
class WrittenLineages:
    """Texts and probabilities; ``possible`` are those that are true in a world of non-zero probability."""

    texts: pa.Array
    chances: NDArray[np.float64]
    possible: Mask


class Lineages(Protocol):
    """Lineages of so many rows."""

    def formulas(self) -> list[Formula]:
        """Each as a formula; those that are the constant false belong to no row."""

    def written(self) -> WrittenLineages | None:
        """All as columns; None where they must be formulas first."""


@dataclass(frozen=True, slots=True)
class Swept:
    """Rows of a result: the values of each column, and for each row its period and lineage."""

    columns: list[pa.Array]
    begins: Integers
    ends: Integers
    lineages: Lineages


@dataclass(frozen=True, slots=True)
class FormulaLineages:
    """Lineages that are formulas."""

    made: list[Formula]

    def formulas(self) -> list[Formula]:
        """They themselves."""
        return self.made

    def written(self) -> None:
        """None: nobody knows how often a variable is in them."""


@dataclass(frozen=True, slots=True)
class RowLineages:
    """Lineages of a sweep's input, in the columns of `rows`."""

    texts: pa.Array
    chances: pa.Array

    def formulas(self) -> list[Formula]:
        """Each as a formula; equal ones are made once."""
        codes = np.asarray(self.texts.dictionary_encode().indices)
        _, firsts, which = np.unique(codes, return_index=True, return_inverse=True)
        different = self.at(firsts)
        made = list(map(formula_of, different.texts.to_pylist(), different.chances.to_pylist()))
        return [made[place] for place in which.tolist()]

    def written(self) -> WrittenLineages | None:
        """The columns, of base rows."""
        if self.chances.null_count:
            return None
        return WrittenLineages(self.texts, np.asarray(self.chances), np.ones(len(self.texts), dtype=bool))

    def at(self, places: Integers) -> RowLineages:
        """The lineages at some places."""
        return RowLineages(*(column.take(pa.array(places)) for column in (self.texts, self.chances)))


@dataclass(frozen=True, slots=True)
class PairLineages:
    """``a & b`` of two rows that match; ``independent``: all are different variables."""

    left: RowLineages
    right: RowLineages
    independent: bool

    def formulas(self) -> list[Formula]:
        """Each as a formula."""
        pairs = zip(self.left.formulas(), self.right.formulas(), strict=True)
        return [paired(left, right, self.independent) for left, right in pairs]

    def written(self) -> WrittenLineages | None:
        """The conjunctions, of different variables."""
        if not self.independent:
            return None
        left, right = self.left.texts, self.right.texts
        exchanged = pc.less(right, left)
        one, other = pc.if_else(exchanged, right, left), pc.if_else(exchanged, left, right)
        chances = np.asarray(self.left.chances) * np.asarray(self.right.chances)
        texts = pc.binary_join_element_wise(one, other, " & ")
        return WrittenLineages(texts, chances, np.ones(len(texts), dtype=bool))


@dataclass(frozen=True, slots=True)
class PaddedLineages:
    """``a & !(b | c | …)`` of a row without a match, where ``counts`` rows match each row, all in ``matches``.

    The matches of each row are in the order of their texts; ``blank`` are those without any value.
    """

    rows: RowLineages
    counts: Integers
    matches: RowLineages
    blank: Mask
    independent: bool

    def formulas(self) -> list[Formula]:
        """Each as a formula."""
        matches = [Valid(0, 0, *one) for one in zip(self.matches.formulas(), self.blank.tolist(), strict=True)]
        stops = np.cumsum(self.counts)
        parts = zip(self.rows.formulas(), (stops - self.counts).tolist(), stops.tolist(), strict=True)
        return [padded(row, self.independent, matches[start:stop]) for row, start, stop in parts]

    def written(self) -> WrittenLineages | None:
        """The negations, of different variables; what has p = 1 leaves no world for them."""
        if not self.independent or self.blank.any():
            return None
        stops = np.cumsum(self.counts)
        matched = self.counts > 0
        starts = (stops - self.counts)[matched]
        alone = np.asarray(self.matches.chances)
        none, possible = np.ones(len(stops)), np.ones(len(stops), dtype=bool)
        none[matched] = np.multiply.reduceat(1.0 - alone, starts)
        possible[matched] = ~np.logical_or.reduceat(alone == 1.0, starts)
        offsets = pa.array(np.concatenate([[0], stops]), pa.int32())
        any_of = pc.binary_join(pa.ListArray.from_arrays(offsets, self.matches.texts), " | ")
        number = pa.array(np.minimum(self.counts, 2))
        opened, closed = (pa.array(words).take(number) for words in (["", " & !", " & !("], ["", "", ")"]))
        texts = pc.binary_join_element_wise(self.rows.texts, opened, any_of, closed, "")
        return WrittenLineages(texts, np.asarray(self.rows.chances) * none, possible)
