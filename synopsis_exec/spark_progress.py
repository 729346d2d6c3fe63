"""What Spark's own progress reports say of the state that a query keeps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Protocol

from msgspec import Struct, field

from streambound.analyzer.json_models import parsed

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class StateOperator(Struct, frozen=True):
    """Spark's metrics of an operator with state: how many rows it keeps, in how much memory, and drops as late."""

    operatorName: str = ""
    numRowsTotal: int = 0
    memoryUsedBytes: int = 0
    numRowsDroppedByWatermark: int = 0


class SourceProgress(Struct, frozen=True):
    """The rows that a source has brought."""

    description: str = ""
    numInputRows: int = 0


class Progress(Struct, frozen=True):
    """Spark's progress of a micro-batch, by Spark's names; ``eventTime`` has ``watermark``, ``min`` and ``max``."""

    batchId: int = 0
    runId: str = ""
    numInputRows: int = 0
    eventTime: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[SourceProgress, ...] = ()
    stateOperators: tuple[StateOperator, ...] = ()

    def time(self, name: str) -> int | None:
        """An event time in microseconds; None if it is missing."""
        told = self.eventTime.get(name)
        return None if told is None else int((datetime.fromisoformat(told) - _EPOCH) / timedelta(microseconds=1))


class OldRows(Struct, frozen=True):
    """How many rows of a state are older than they may be, and the oldest."""

    number: int
    oldest: str


class CheckpointRows(Protocol):
    """The state of a checkpoint after a batch; ``watermark`` is what rows went by in it, in microseconds."""

    batch: int
    watermark: int
    operators: int

    def old(self, operator: int, side: str, limits: tuple[int, int], names: Collection[str]) -> OldRows | None:
        """The rows of an operator's state whose time is before a limit, or the end of whose window before another one.

        A time is a column with one of some names. None where the rows have none, or several.
        """


def progress_of(text: str, file: str = "StreamingQueryProgress") -> Progress:
    """Spark's own progress report of a micro-batch; raises InputError for what is none."""
    return parsed(text, file).read(Progress, "not what Spark reports", closed=False)


def spark_state(progress: Iterable[Progress]) -> dict[str, int]:
    """Rows and bytes of all state operators."""
    operators = [operator for one in progress for operator in one.stateOperators]
    rows = sum(operator.numRowsTotal for operator in operators)
    return {"state_rows": rows, "state_bytes": sum(operator.memoryUsedBytes for operator in operators)}
