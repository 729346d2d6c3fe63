"""Spark's own stream-stream joins of the workloads, in a process each: they may run out of memory, or out of time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streambound.benchmarks.measuring import processor_seconds, rate
from streambound.benchmarks.workloads import FORMATS, JOINS, Workload

ROOT = Path(__file__).resolve().parent.parent
PROVIDERS = {
    "default provider": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    "RocksDB, state format 4": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}
STARTING = 120
"""Seconds that Spark may need to start and to warm up."""


@dataclass(frozen=True)
class Far:
    """How far Spark got in how many seconds, of the clock and of the processor; ``end`` says why it did not go on."""

    rows: int
    seconds: float
    processor: float
    end: str

    def in_words(self, rows: int) -> str:
        end = "" if self.rows >= rows else f"; {self.end} at {self.rows:,} rows"
        if not self.rows:
            return f"{self.end}, before a batch was done"
        speeds = f"{rate(self.rows, self.seconds)} by the clock, {rate(self.rows, self.processor)} of processor time"
        return speeds + end


def by_spark(workload: Workload, folder: Path, provider: str, seconds: float, rows: int, size: int) -> Far:
    """Run the workload's join with a provider on the rows in ``folder``/data, for so many seconds at most.

    Each batch has so many rows. It is run on those in ``folder``/warm first.
    """
    arguments = [__file__, workload.name, workload.format, str(folder), provider, str(seconds)]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen([sys.executable, *arguments], env=environment, stdout=out, stderr=subprocess.DEVNULL)
        try:
            end = "died" if process.wait(seconds + STARTING) else f"cut off after {seconds:.0f} s"
        except subprocess.TimeoutExpired:  # in the middle of a batch
            process.kill()
            process.wait()
            end = f"cut off after {seconds:.0f} s"
        out.seek(0)
        lines = [json.loads(line) for line in out if line.startswith("{")]
    found = lines[-1] if lines else {"batches": 0, "seconds": 0.0, "processor": 0.0}
    end = found.get("refused", end)
    return Far(min(rows, found["batches"] * size), found["seconds"], found["processor"], end)


def stream(spark: Any, workload: Workload, folder: Path) -> dict[str, Any]:
    """The workload's files as streams, in the batches that the job gets."""
    found = {}
    for name, columns in workload.columns.items():
        schema = ", ".join((*(f"{column} BIGINT" for column in columns), f"ts {workload.time}"))
        reader = spark.readStream.format(workload.format).schema(schema).option("maxFilesPerTrigger", 1)
        found[name] = reader.load(str(folder / name))
    return found


def drain(frame: Any, mode: str = "append", seconds: float | None = None, step: Callable[[int], None] = print) -> None:
    """Run a streaming frame to its end, or so long, into nothing; ``step`` hears how many batches are done."""
    with tempfile.TemporaryDirectory() as checkpoint:
        query = (
            frame.writeStream.format("noop")
            .outputMode(mode)
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        if seconds is None:
            query.awaitTermination()
            return
        done: set[int] = set()
        begun = time.perf_counter()
        over = False
        while not over and time.perf_counter() - begun < seconds:
            over = query.awaitTermination(0.25)
            done |= {progress.batchId for progress in query.recentProgress if progress.numInputRows}
            step(len(done))
        query.stop()


def run(spark: Any, workload: Workload, folder: Path, seconds: float, told: bool) -> None:
    """Spark's own join; prints how far it is, or why Spark has none."""
    from pyspark.errors import StreamingQueryException

    begun, before = time.perf_counter(), processor_seconds()

    def step(batches: int) -> None:
        spent = {"seconds": time.perf_counter() - begun, "processor": processor_seconds() - before}
        if told:
            print(json.dumps({"batches": batches, **spent}), flush=True)

    for name, frame in stream(spark, workload, folder).items():
        frame.createOrReplaceTempView(name)
    try:
        drain(spark.sql(workload.sql), "append", seconds, step)
    except StreamingQueryException as error:
        why = str(error).partition(" terminated with exception: ")[2].partition(";")[0]
        print(
            json.dumps(
                {"batches": 0, "seconds": 0.0, "processor": 0.0, "refused": f"Spark refuses it: {why}".rstrip(".")}
            ),
            flush=True,
        )
        raise


def main() -> None:
    from dataclasses import replace

    from streambound_runtime.session import session

    name, kind, folder, provider, seconds = sys.argv[1:]
    assert kind in FORMATS
    (workload,) = (replace(known, format=kind) for known in JOINS if known.name == name)
    spark = session(f"{workload.name} by Spark alone")
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", PROVIDERS[provider])
    spark.conf.set("spark.sql.streaming.join.stateFormatVersion", 4 if provider.startswith("RocksDB") else 2)
    for part, limit in (("warm", STARTING / 2), ("data", float(seconds))):
        run(spark, workload, Path(folder) / part, limit, part == "data")


if __name__ == "__main__":
    main()
