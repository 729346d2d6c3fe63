"""What a decision about a lineage may take, and the error for one that takes more."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from streambound_runtime.errors import JobError
from streambound_runtime.lineage.formulas import NODES, LineageTooLargeError

CODE = "lineage-too-large"
RAISE = "raise lineage_nodes"
OR_BOUNDS = f'{RAISE}, or declare probabilities = "bounds"'
"""What helps where a probability takes too much."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most nodes of a lineage; ``kind`` is the type of time, for messages with a row's period.

    ``bounds``: of a probability that takes more, bounds are enough.
    """

    nodes: int = NODES
    kind: str = "bigint"
    bounds: bool = False

    def error(
        self, error: LineageTooLargeError, fact: Iterable[object], begin: int, end: int, remedy: str = RAISE
    ) -> JobError:  # fmt: skip
        """The error for the lineage of a row."""
        values = ", ".join("NULL" if value is None else str(value) for value in fact)
        message = (
            f"{CODE}: the lineage of ({values}) from {point(begin, self.kind)} to {point(end, self.kind)} has "
            f"{error.variables:,} variables, and to decide it takes more than {error.nodes:,} nodes: "
            f"{remedy}"
        )
        return JobError("lineage", message, 1)


def too_large(text: str) -> JobError | None:
    """The error that a task has raised, in what Spark says of it; None where it is another one."""
    found = re.search(rf"JobError: ({CODE}: .*)", text)
    return None if found is None else JobError("lineage", found[1].rstrip(), 1)


def point(number: int, kind: str) -> str:
    """A point of time as people write it.

    >>> point(7, "bigint"), point(18262, "date"), point(0, "timestamp")
    ('7', '2020-01-01', '1970-01-01 00:00:00')
    """
    if kind == "date":
        return str(date(1970, 1, 1) + timedelta(days=number))
    if kind.startswith("timestamp"):
        return str(datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None) + timedelta(microseconds=number))
    return str(number)
