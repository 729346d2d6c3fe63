"""A micro-batch as Spark gives it, as the raw rows of each stream."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from streambound_runtime.reading.files import Files, Raw
from streambound_runtime.reading.sources import by_path
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


class Batch(Protocol):
    """The raw rows of a micro-batch."""

    def paths(self, number: int) -> list[str]:
        """The files of a stream that is read by path."""
        ...

    def rows(self, number: int) -> DataFrame:
        """The raw rows of a stream that is not read by path, where they are."""
        ...

    def raws(self, number: int) -> Iterator[Raw]:
        """The raw rows of a stream, some at a time; they may be read again."""
        ...


class Arrived:
    """Spark's rows of a batch (`reading.sources.arriving`): few, where they are the paths of files."""

    def __init__(self, frame: DataFrame, job: JobSpec, settings: Settings, files: dict[str, Files]) -> None:
        self.frame, self.job, self.settings, self.files = frame, job, settings, files
        self.brought: dict[int, pa.Table] = {}

    @cached_property
    def listed(self) -> pa.Table:
        """The files of the streams that are read by path."""
        if self.frame.columns == ["source", "path"]:
            return self.frame.toArrow()
        return self.frame.where("path IS NOT NULL").select("source", "path").toArrow()

    def paths(self, number: int) -> list[str]:
        """The files of a stream that is read by path, each once."""
        from pyarrow import compute as pc

        found = self.listed.filter(pc.equal(self.listed.column("source"), number)).column("path").to_pylist()
        return [*dict.fromkeys(found)]  # Spark may list a file twice, see `reading.sources`

    def rows(self, number: int) -> DataFrame:
        """The raw rows of a stream that is not read by path, where they are."""
        return self.frame.where(f"source = {number}").select(f"raw_{number}.*")

    def raws(self, number: int) -> Iterator[Raw]:
        """The raw rows of a stream, some at a time; they may be read again."""
        stream = self.job.streams[number]
        if by_path(stream, self.settings):
            yield from self.files[stream.name].raws(self.paths(number))
        else:
            if number not in self.brought:
                self.brought[number] = self.rows(number).toArrow()
            if self.brought[number].num_rows:
                yield Raw(self.brought[number])
