"""The rows in the state of a query's checkpoint, as Spark's own state reader has them."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streambound.analyzer.errors import InputError
from streambound.synopsis_exec.spark_progress import OldRows

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

_SIDES = {"left": "left", "right": "right", "": "none"}


@dataclass
class SparkCheckpoint:
    """A checkpoint after its last batch; ``watermark`` is what rows went by in it, in microseconds."""

    folder: Path
    batch: int = -1
    watermark: int = 0
    operators: int = 0
    _spark: SparkSession | None = field(default=None, repr=False)

    @classmethod
    def read(cls, folder: Path, spark: SparkSession | None = None) -> SparkCheckpoint:
        """The checkpoint in a folder; raises InputError where there is none with a batch."""
        batches = [int(one.name) for one in (folder / "commits").glob("*") if one.name.isdigit()]
        try:
            last = max(batches)
            said = json.loads((folder / "offsets" / str(last)).read_text(encoding="utf-8").splitlines()[1])
            watermark = int(said["batchWatermarkMs"]) * 1000
        except (OSError, ValueError, IndexError, KeyError, TypeError) as error:
            raise InputError("no checkpoint of a Spark query, with a batch", file=str(folder)) from error
        operators = [one for one in (folder / "state").glob("*") if one.name.isdigit()]
        return cls(folder, last, watermark, len(operators), spark)

    def old(self, operator: int, side: str, limits: tuple[int, int], names: Collection[str]) -> OldRows | None:
        """As `CheckpointRows` has it."""
        from pyspark.sql import functions as F

        from streambound_runtime.session import session

        self._spark = self._spark or session("watch")
        reader = self._spark.read.format("statestore").option("batchId", self.batch).option("operatorId", operator)
        rows = reader.option("joinSide", _SIDES[side]).load(str(self.folder))
        windows, times = _times(rows.schema, names)
        if len(windows or times) != 1:
            return None
        moment = F.unix_micros((windows or times)[0])
        found = rows.where(moment < limits[bool(windows)]).select("key", "value", moment.alias("at"))
        oldest = found.orderBy("at").limit(1).select(F.to_json(F.struct("key", "value"))).collect()
        return OldRows(found.count(), str(oldest[0][0]) if oldest else "")


def _times(schema: Any, names: Collection[str]) -> tuple[list[Column], list[Column]]:
    """The columns by which a row goes: ends of windows among its keys, and event times."""
    from pyspark.sql import functions as F

    parts = {part: schema[part].dataType.fields for part in ("key", "value")}
    windows = [
        one.name for one in parts["key"]
        if one.dataType.typeName() == "struct" and one.dataType.fieldNames() == ["start", "end"]
    ]  # fmt: skip
    times = [
        [F.col(f"{part}.`{one.name}`") for one in parts[part]
         if one.name in names and one.dataType.typeName() == "timestamp"]
        for part in ("value", "key")
    ]  # fmt: skip
    return [F.col(f"key.`{name}`.end") for name in windows], times[0] or times[1]
