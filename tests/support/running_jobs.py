"""PySpark programs on the real Spark: their queries over generated rows, in place of sources that are not here.

A batch has the rows of a day, each with keys that never come again; those of a program's second source are later than
those of its first one, so that the last partners of a day come with the next batch.

    .venv/bin/python tests/support/running_jobs.py     # a table of all jobs in tests/data/pyspark_jobs
"""

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from streambound.importing.frames import spark_program
from support.spark_state import Measured, measure

BATCHES = 6
_START = datetime(2026, 1, 1, tzinfo=UTC)
_STEP = timedelta(minutes=10)
_DAY, _APART = timedelta(days=1), timedelta(minutes=20)
_SCHEMAS = {"rate": "timestamp timestamp, value long", "socket": "value string"}


def value_of(name: str, kind: str, number: int, moment: datetime) -> Any:
    """The value of a column in a row."""
    if kind.startswith("timestamp"):
        return moment.isoformat()
    if kind == "binary":
        text = json.dumps({"sensor": f"s{number}", "value": number, "at": moment.isoformat()})
        return base64.b64encode((text if name == "value" else f"k{number}").encode()).decode()
    return f"https://host{number}/page {name}" if kind == "string" else number


def write_rows(folder: Path, schema: Any, length: timedelta, later: timedelta) -> None:
    """The files of a source whose batches have such a length, and whose rows are so much later than others."""
    folder.mkdir(parents=True)
    each, behind = length // _STEP, later // _STEP
    for batch in range(BATCHES):
        numbers = range(max(0, batch * each - behind), max(0, (batch + 1) * each - behind))
        rows = (
            {
                one.name: value_of(one.name, one.dataType.simpleString(), number, _START + number * _STEP + later)
                for one in schema.fields
            }
            for number in numbers
        )
        file = folder / f"{batch:04}.json"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        os.utime(file, (1_700_000_000 + batch * 10,) * 2)


@contextmanager
def generated(spark: Any, folder: Path, length: timedelta, apart: timedelta) -> Iterator[list[tuple[Any, str]]]:
    """While programs run, their streams are generated ones; what each would start, with its mode, is in the list."""
    from pyspark.errors import AnalysisException
    from pyspark.sql.streaming.readwriter import DataStreamReader

    started: list[tuple[Any, str]] = []
    query_of = spark_program.query_of
    stand_in = spark_program._stand_in

    def absent(self: Any, *given: Any, **named: Any) -> Any:
        raise AnalysisException("nothing is there")

    def made(session: Any, seen: dict[str, Any], streaming: bool) -> Any:
        if not streaming:
            return stand_in(session, seen, streaming)
        kind = str(seen.get("format")).lower()
        known = spark_program._KAFKA if kind == "kafka" else _SCHEMAS.get(kind, seen.get("schema"))
        schema = spark.createDataFrame([], known).schema
        number = len(list(folder.iterdir()))
        write_rows(folder / str(number), schema, length, number * apart)
        return (
            spark.readStream.schema(schema)
            .option("maxFilesPerTrigger", 1)
            .format("json")
            .load(str(folder / str(number)))
        )

    def asked(frame: Any, mode: str = "append", *given: Any) -> Any:
        started.append((frame, mode))
        return query_of(frame, mode, *given)

    load = DataStreamReader.load
    folder.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("load", "json", "csv", "parquet", "text"):
            patch.setattr(DataStreamReader, name, absent)
        patch.setattr(spark_program, "query_of", asked)

        def loaded(session: Any, seen: dict[str, Any], streaming: bool) -> Any:
            with pytest.MonkeyPatch.context() as own:
                own.setattr(DataStreamReader, "load", load)
                return made(session, seen, streaming)

        patch.setattr(spark_program, "_stand_in", loaded)
        yield started


def run_job(spark: Any, text: str, folder: Path, length: timedelta = _DAY, apart: timedelta = _APART) -> list[Measured]:
    """What each query of a program keeps, and gives."""
    with generated(spark, folder / "sources", length, apart) as started:
        program = spark_program.run("job.py", text, {})
    assert not program.error, program.error
    return [measure(spark, frame, mode.lower(), folder / str(n)) for n, (frame, mode) in enumerate(started)]


def main() -> None:
    """Print what is said of each job, and what its run did."""
    from streambound.analyzer.spans import SourceText
    from streambound.gate.spark_frames import program_outcomes
    from streambound_runtime.session import session

    spark = session("jobs")
    for job in sorted(Path(__file__).parents[1].glob("data/pyspark_jobs/*.py")):
        text = job.read_text(encoding="utf-8")
        outcomes = program_outcomes(SourceText(job.name, text), None)
        with tempfile.TemporaryDirectory() as folder:
            runs = run_job(spark, text, Path(folder))
        for outcome, run in zip(outcomes, runs, strict=True):
            codes = " ".join(one.code for one in outcome.diagnostics if one.code.startswith("SB22"))
            said = "unread" if outcome.engine is None or outcome.engine.unread else str(outcome.engine.kept or "none")
            sys.stdout.write(f"{job.stem} | {said} {codes} | {run.kept} {run.rows} {run.results.total()}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
