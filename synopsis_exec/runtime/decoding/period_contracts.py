"""Which rows have a bad period, each with the first reason that applies: in whole columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Mask
from streambound_runtime.promises import PeriodContract
from streambound_runtime.spec import TableColumn

if TYPE_CHECKING:
    import pyarrow as pa

_PERIOD = TableColumn("the period", "")


def broken_periods(
    period: PeriodContract, columns: Mapping[str, pa.Array]
) -> Iterator[tuple[str, TableColumn | None, str, Mask]]:
    """Reasons, what they are said of, the declaration that is broken, and the rows."""
    import pyarrow.compute as pc

    found = columns[period.begin], columns[period.end]
    for name, values in zip((period.begin, period.end), found, strict=True):
        yield "null-bound", TableColumn(name, ""), "", values.is_null().to_numpy(zero_copy_only=False)
    begin, end = (values.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64) for values in found)
    yield "empty-period", None, "", begin >= end
    if period.low is not None:
        yield "outside-domain", _PERIOD, "", begin < period.low
    if period.high is not None:
        yield "outside-domain", _PERIOD, "", end > period.high
    if period.probability:
        p = columns[period.probability]
        right = pc.and_(pc.greater(p, 0), pc.less_equal(p, period.certain))  # of NaN neither is true
        yield "probability", None, "", ~pc.fill_null(right, False).to_numpy(zero_copy_only=False)
    if period.variable:
        yield "key", None, "", columns[period.variable].is_null().to_numpy(zero_copy_only=False)
    if period.longest is not None:
        length = end - begin  # beyond 64 bits it is negative, for it ends after it begins
        yield "contract", None, f"max_duration = {period.longest}", (length > period.longest) | (length < 0)
