"""A micro-batch as Spark gives it, as the raw rows of each stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from streambound_runtime.reading.files import Files, Raw
from streambound_runtime.reading.sources import by_path
from streambound_runtime.settings import Settings
from streambound_runtime.spec import Job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Arrived:
    """What Spark has told of a batch (`reading.sources.arriving`): few rows, where they are the paths of files."""

    def __init__(self, frame: DataFrame, job: Job, settings: Settings, files: dict[str, Files]) -> None:
        self.job, self.settings, self.files = job, settings, files
        self.told = frame.toArrow()

    def raws(self, number: int) -> Iterator[Raw]:
        """The raw rows of a stream, some at a time; they may be read again."""
        import pyarrow as pa
        from pyarrow import compute as pc

        stream = self.job.streams[number]
        mine = self.told.filter(pc.equal(self.told.column("source"), number))
        if by_path(stream, self.settings):
            yield from self.files[stream.name].raws(mine.column("path").to_pylist())
        elif mine.num_rows:
            rows = mine.column(f"raw_{number}").combine_chunks()
            yield Raw(pa.Table.from_arrays(rows.flatten(), names=[field.name for field in rows.type]))
