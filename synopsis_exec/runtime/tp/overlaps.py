"""The rows of two relations that are valid together: one forward scan over both, sorted by key and begin.

The input has the rows of both sides, tagged: the key columns, ``side`` (0 left, 1 right), the values of the left side
as ``l0, l1, …`` and of the right one as ``r0, …``, each NULL in rows of the other, and what `rows` says. All rows of a
key follow each other, in order of begin.

The output has a row for each pair that is valid at a common time, in order of when it begins to be, and one for each
row of a side whose windows are wanted, alone, before its pairs. ``group`` numbers the keys, ``left`` and ``right`` the
rows, within a partition; what is missing is NULL. The period and lineage of the left row are ``l_b`` and so on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streambound_runtime.arrays import Integers
from streambound_runtime.periods.scanning import SIDE, PairStretch, in_order, scanned
from streambound_runtime.tp.rows import BEGIN, END, LINEAGE, P, values_at

SIDES = ("left", "right")
LETTERS = ("l", "r")
_OF_A_ROW = (BEGIN, END, LINEAGE, P)
_NONE = -1


@dataclass(frozen=True, slots=True)
class OverlapScan:
    """What a scan needs to know: the names of the key columns, how many values each side has, whose windows are wanted.

    ``nullable_keys`` are the keys that match nothing where they are NULL.
    """

    keys: tuple[str, ...]
    widths: tuple[int, int]
    windows: tuple[bool, bool]
    nullable_keys: tuple[str, ...] = ()


def overlaps(scan: OverlapScan, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The pairs, as the module says; memory is the rows of a key that are valid at a time, and a batch."""
    for stretch in scanned(scan.keys, batches, scan.nullable_keys):
        start, new = stretch.new.start, np.arange(stretch.new.start, stretch.new.stop)
        side = np.asarray(stretch.rows.column(SIDE))[stretch.new]
        left, right = (
            np.concatenate([np.where(side == number, new, _NONE)[np.array(scan.windows)[side]], paired])
            for number, paired in enumerate((stretch.left, stretch.right))
        )
        order = in_order(np.maximum(left, right), start)
        if len(order):
            yield _batch(scan, stretch, (left[order], right[order]))


def _batch(scan: OverlapScan, stretch: PairStretch, places: tuple[Integers, Integers]) -> pa.RecordBatch:
    names, arrays = ["group"], [pa.array(stretch.groups[np.maximum(*places)])]
    for name, letter, width, at in zip(SIDES, LETTERS, scan.widths, places, strict=True):
        missing = at == _NONE
        wanted = pa.array(at, mask=missing)
        names.append(name)
        arrays.append(pa.array(stretch.numbers[at], mask=missing))
        for own in (*_OF_A_ROW, *(range(width))):
            names.append(f"{letter}{own}")
            arrays.append(values_at(stretch.rows, own if isinstance(own, str) else f"{letter}{own}", wanted))
    return pa.RecordBatch.from_arrays(arrays, names)
