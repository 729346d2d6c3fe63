"""The periods of rows, cut where what matches them changes.

All rows of a batch at a time: the points at which a row, or a pair of it, begins or ends, in order of row and time; a
pair covers all segments from one of them to another, which lie side by side (LAWAU and LAWAN of Papaioannou, Theobald,
Böhlen, "Generalized Lineage-Aware Temporal Windows", Section VI, for all rows at once).
"""

from __future__ import annotations

import numpy as np

from streambound_runtime.arrays import Integers, Mask
from streambound_runtime.periods.scanning import covering, keyed


class Cuts:
    """Where each row is cut, up to the time until which all is ``known`` of it: a segment begins at each point.

    Of each point: the row that it is ``of``, the time that it is ``at``, and the ``counts`` of the pairs that cover its
    segment; the ``last`` one of a row is its end, or begins what is not known yet, and has no pairs. The pairs of each
    cover the segments from ``low`` to before ``high``. Given are the rows' begins and ends, the row that each pair is
    of, in order, its begin and end, and which pairs ``count``: where none of these is, a row is not cut.
    """

    def __init__(
        self, begin: Integers, end: Integers, known: Integers,
        of: Integers, pair_begin: Integers, pair_end: Integers, count: Mask,
    ) -> None:  # fmt: skip
        rows = np.arange(len(begin))
        closed, ended = np.flatnonzero(end <= known), np.flatnonzero(pair_end <= known[of])
        cut = np.concatenate([rows, closed, of, of[ended]])
        times = np.concatenate([begin, end[closed], np.maximum(pair_begin, begin[of]), pair_end[ended]])
        _, firsts, places = np.unique(keyed(cut, times), return_index=True, return_inverse=True)
        self.of, self.at = cut[firsts], times[firsts]
        self.low = places[len(rows) + len(closed) :][: len(of)]
        self.high = np.searchsorted(self.of, of, side="right")
        self.high[ended] = places[len(times) - len(ended) :]
        self._join(count, places[len(rows) : len(rows) + len(closed)])
        self.last = np.append(self.of[1:] != self.of[:-1], True)
        self.high = np.minimum(self.high, np.searchsorted(self.of, of, side="right") - 1)
        self.counts = covering(self.low, self.high, len(self.of))

    def _join(self, count: Mask, ends: Integers) -> None:
        """Take away the points between segments without a pair that counts; what is not known yet is one of these."""
        counted = covering(self.low[count], self.high[count], len(self.of)) > 0
        kept = counted.copy()
        kept[1:] |= counted[:-1] | (self.of[1:] != self.of[:-1])
        kept[:1] = kept[ends] = True
        places = np.append(np.cumsum(kept) - 1, np.count_nonzero(kept))
        self.of, self.at = self.of[kept], self.at[kept]
        self.low, self.high = places[self.low], places[self.high]
