"""What Spark's own progress reports say of the state that a query keeps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from streambound.analyzer.json_models import parsed


@dataclass(frozen=True, slots=True)
class StateOperator:
    """Spark's metrics of an operator with state: how many rows it keeps, in how much memory, and drops as late."""

    numRowsTotal: int = 0
    memoryUsedBytes: int = 0
    numRowsDroppedByWatermark: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """What Spark says of a micro-batch, by Spark's names."""

    batchId: int = 0
    numInputRows: int = 0
    stateOperators: tuple[StateOperator, ...] = ()


def progress_of(text: str) -> Progress:
    """Spark's own progress report of a micro-batch."""
    return parsed(text, "StreamingQueryProgress").read(Progress, "not what Spark reports", closed=False)


def spark_state(progress: Iterable[Progress]) -> dict[str, int]:
    """Rows and bytes of all state operators."""
    operators = [operator for one in progress for operator in one.stateOperators]
    rows = sum(operator.numRowsTotal for operator in operators)
    return {"state_rows": rows, "state_bytes": sum(operator.memoryUsedBytes for operator in operators)}
