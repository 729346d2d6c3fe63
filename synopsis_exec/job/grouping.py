"""Part of every job: rows that are the same become one row with a count, where they are then much fewer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from streambound.synopsis_exec.job.arrow import COUNT
from streambound.synopsis_exec.job.given import IN_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SAMPLE = 1 << 14
"""How many rows are looked at, to see whether the next batch is worth it."""
LEAST = 1 << 19
"""Fewer rows are fetched as they are: a count needs a shuffle, which takes longer than fetching them."""
FEWER = 0.25
"""What part of the rows may remain."""
MOST_OF_A_FEW = 0.5
"""What part may remain where rows are counted already."""


def once(rows: DataFrame) -> DataFrame:
    """Rows that are the same as one, with how often it came; of a good row its partition does not matter."""
    from pyspark.sql import functions as F

    if "part" in rows.columns:
        rows = rows.withColumn("part", F.expr("CASE WHEN bad THEN part END"))
    return rows.groupBy(*rows.columns).agg(F.count("*").alias(COUNT))


def worth_it(rows: Any, number: int) -> bool:
    """Whether so many rows like these would be much fewer as counts; a kernel that takes single rows has no counts."""
    if COUNT in rows.column_names:
        came = int(rows.column(COUNT).to_numpy().sum())
        return came >= LEAST and rows.num_rows <= MOST_OF_A_FEW * came
    if not IN_COLUMNS or number < LEAST:
        return False
    rows = rows.slice(0, SAMPLE)
    times = rows.column("ts").to_numpy()
    if np.count_nonzero(times[1:] != times[:-1]) > FEWER * rows.num_rows:  # then most timestamps have a row or two
        times = np.sort(times)
        if np.count_nonzero(times[1:] != times[:-1]) > FEWER * rows.num_rows:
            return False
    groups = rows.group_by(rows.column_names).aggregate([])
    return bool(groups.num_rows <= FEWER * rows.num_rows)
