"""What Spark keeps for a query, measured: micro-batches over streams whose keys never come again.

Each batch is 10 minutes of event time and 60 rows: 30 keys, each twice, ``g`` of 5 values; `t` is `s` three seconds
later. `sw` and `tw` have watermarks of 10 minutes, `s` and `t` none. `d` is no stream.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

SCHEMA = "k bigint, g bigint, v bigint, ts timestamp"
_START = datetime(2026, 1, 1, tzinfo=UTC)
_SETTINGS = {"spark.sql.shuffle.partitions": "1", "spark.sql.streaming.noDataProgressEventInterval": "1"}


@dataclass(frozen=True)
class Measured:
    """How what was kept behaves (``class`` of the measurements), its rows at the end, and the results."""

    kept: str
    rows: tuple[int, ...]
    results: Counter[tuple[Any, ...]]


def write_streams(folder: Path, batches: int) -> None:
    """The files of all streams."""
    for name, shift in (("s", 0), ("t", 3), ("d", 3)):
        (folder / name).mkdir(parents=True)
        for batch in range(2 if name == "d" else batches):
            lines = []
            for row in range(60):
                second = batch * 600 + row // 2 * 20 + shift
                key, moment = batch * 30 + row // 2, (_START + timedelta(seconds=second)).isoformat()
                lines.append(json.dumps({"k": key, "g": row // 2 % 5, "v": row, "ts": moment}))
            file = folder / name / f"{batch:04}.json"
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
            os.utime(file, (1_700_000_000 + batch * 10,) * 2)


def make_views(spark: Any, folder: Path) -> None:
    """Temporary views of the streams."""
    for name in ("s", "t"):
        stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder / name))
        stream.createOrReplaceTempView(name)
        stream.withWatermark("ts", "10 minutes").createOrReplaceTempView(f"{name}w")
        spark.read.schema(SCHEMA).json(str(folder / name)).createOrReplaceTempView(f"{name}_batch")
    spark.read.schema(SCHEMA).json(str(folder / "d")).createOrReplaceTempView("d")


def measure(spark: Any, query: str | Any, mode: str, folder: Path) -> Measured:
    """Run a query, SQL or a DataFrame, over all batches; ``refused`` with when, where Spark does not."""
    from pyspark.errors import PySparkException

    for key, value in _SETTINGS.items():
        spark.conf.set(key, value)
    running = None
    try:
        try:
            frame = spark.sql(query) if isinstance(query, str) else query
        except PySparkException:
            return Measured("refused (analysis)", (), Counter())
        try:
            writer = frame.writeStream.format("memory").queryName("measured").outputMode(mode)
            running = writer.option("checkpointLocation", str(folder)).trigger(availableNow=True).start()
        except PySparkException:
            return Measured("refused (start)", (), Counter())
        try:
            running.awaitTermination()
        except PySparkException:
            return Measured("refused (run)", (), Counter())
        found = [json.loads(one.json) for one in running.recentProgress]
        batches = sum(1 for one in found if one["numInputRows"])
        operators: list[list[tuple[int, int]]] = []
        for progress in found:
            for place, state in enumerate(progress["stateOperators"]):
                operators += [[]] if place == len(operators) else []
                operators[place].append((state["numRowsTotal"], state["numRowsRemoved"]))
        kinds = [_kept([rows for rows, _ in one][:batches], sum(gone for _, gone in one)) for one in operators]
        worst = max(kinds, key=("none", "constant", "window", "grows").index, default="none")
        rows = Counter(map(tuple, spark.sql("SELECT * FROM measured").collect()))
        return Measured(worst, tuple(one[-1][0] for one in operators), rows)
    finally:
        if running is not None:
            running.stop()
        for key in _SETTINGS:
            spark.conf.unset(key)


def _kept(rows: list[int], removed: int) -> str:
    if not any(rows):
        return "none"
    if rows[-1] > 1.25 * rows[len(rows) // 2 - 1]:
        return "grows"
    return "window" if removed else "constant"
