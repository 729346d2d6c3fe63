"""A job's driver without Spark: what its batches have brought is given to it; all else is as in a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa

from streambound_runtime.driver import Driver
from streambound_runtime.reading.batch import Arrived
from streambound_runtime.reading.files import Raw
from streambound_runtime.settings import settings_of
from streambound_runtime.spec import JobSpec
from streambound_runtime.usage import checked

Lines = Mapping[str, Iterable[str]]
"""Lines of JSON by stream."""


class Batch:
    """Stands for `reading.batch.Arrived`."""

    def __init__(self, job: JobSpec, lines: Lines) -> None:
        self.tables = [pa.table({"value": pa.array(lines.get(stream.name, ()), pa.string())}) for stream in job.streams]

    def raws(self, number: int) -> Iterator[Raw]:
        """The lines of a stream, in two pieces."""
        table = self.tables[number]
        half = table.num_rows // 2
        yield from (Raw(part) for part in (table.slice(0, half), table.slice(half)) if part.num_rows)


class Fed:
    """A job with its checkpoint and files in a directory; ``relations`` are rows as JSON has them."""

    def __init__(self, job: JobSpec, folder: Path, relations: Mapping[str, Iterable[Any]] = {}, *more: str) -> None:
        self.job, self.folder = job, folder
        for name in (table.name for table in job.tables):
            file = folder / "in" / f"{name}.jsonl"
            file.parent.mkdir(exist_ok=True)
            file.write_text("".join(json.dumps(row) + "\n" for row in relations.get(name, ())), encoding="utf-8")
        files = {"checkpoint": "state", "input": "in", "output": "out.jsonl", "quarantine": "bad.jsonl"}
        options = [part for name, file in files.items() for part in (f"--{name}", str(folder / file))]
        self.settings = checked(job, settings_of(job, [*options, *more]))
        self.reports: list[dict[str, Any]] = []
        self.start()

    def start(self) -> None:
        """As a new process does."""
        nothing = SimpleNamespace(conf={"spark.master": "local"})
        self.driver = Driver(cast(Any, nothing), self.job, self.settings, self.reports.append)

    def feed(self, lines: Lines, batch: int) -> None:
        """A batch, as Spark gives it, and commits it then; again, if it was given before."""
        for kind in ("offsets", "commits"):
            file = self.folder / "state" / "spark" / kind / str(batch)
            file.parent.mkdir(parents=True, exist_ok=True)
            if kind == "commits":
                self.driver.fold(cast(Arrived, Batch(self.job, lines)), batch)
            file.write_text("v1\n{}")

    def parts(self) -> list[Path]:
        """The files with the results of batches, in order."""
        return sorted((self.folder / "state" / "results").glob("[0-9]*.jsonl"))
