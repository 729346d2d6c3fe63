"""What a running job reports (`--report json`): a JSON object a line, each of one of these shapes."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from streambound.analyzer.errors import InputError
from streambound.analyzer.json_models import JsonShapeError, parsed, structured


class StepReport(Struct, frozen=True):
    """The current activity of the job, such as starting Spark."""

    doing: str


class BatchReport(Struct, frozen=True):
    """A micro-batch, by its number from 0: its rows, timestamps that it closed, and results.

    ``entries`` are those of the synopsis after it, ``peak`` the most within it and ``limit`` the bound M, if that is a
    number; ``bytes`` is what the entries take, ``taken`` what the batch's own rows took, in bytes. ``waiting`` rows of
    ``pending`` timestamps are still open; ``waits_for`` says since when each stream has held these back. ``open_since``
    is, of a SEQ statement, the begin of the oldest result row that has not ended.
    """

    batch: int
    rows: int
    closed: int
    entries: int
    peak: int
    bytes: int
    limit: int | None
    results: int
    quarantined: int
    pending: int
    waits_for: dict[str, str]
    late: int = 0
    waiting: int = 0
    taken: int = 0
    open_since: str = ""


class SummaryReport(Struct, frozen=True):
    """The end of a job: rows by stream and relation, bad rows by reason, results, and the most entries.

    Of bad rows the last ones, ``only_counted`` of them, were not written.
    """

    summary: str
    rows: dict[str, int]
    quarantined: dict[str, int]
    results: int
    peak: int | None
    limit: int | None
    waited_for: dict[str, str]
    late: int = 0
    only_counted: int = 0


class ErrorReport(Struct, frozen=True):
    """Why a job stopped: ``error`` is one word for programs."""

    error: str
    message: str


JobReport = StepReport | BatchReport | SummaryReport | ErrorReport
_SHAPES: Mapping[str, type[JobReport]] = {
    "doing": StepReport,
    "batch": BatchReport,
    "summary": SummaryReport,
    "error": ErrorReport,
}
"""By the member that only reports of a shape have."""


def report_of(line: str) -> JobReport | None:
    """A line that a job prints as one of its reports; None for anything else, such as what a library prints."""
    return report_in(object_of(line))


def report_in(value: Mapping[str, object]) -> JobReport | None:
    """A JSON object as one of a job's reports; None for anything else."""
    shape = next((shape for key, shape in _SHAPES.items() if key in value), None)
    if shape is None:
        return None
    try:
        return structured(value, shape, closed=False)
    except JsonShapeError:
        return None


def object_of(line: str) -> Mapping[str, object]:
    """The JSON object that a line is; an empty one where it is none."""
    try:
        value = parsed(line, "").value
    except InputError:
        return {}
    return value if isinstance(value, dict) else {}
