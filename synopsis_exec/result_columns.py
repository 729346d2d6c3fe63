"""What the columns of results must be: named apart from each other and from those that a job adds, of simple types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from streambound.analyzer.columns import Column
from streambound.analyzer.constants import is_interval
from streambound.analyzer.endpoints import Sink
from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.types import Family

ADDED = ("_ts", "_mult")
"""The columns that a job gives its results: when one became true, and how often it is there."""


def refused(name: str, what: str, remedy: str, file: str, line: int) -> NotExecutableError:
    """The error that says why a statement has no job."""
    return NotExecutableError(f"{name} cannot be compiled: {what}", remedy=remedy, file=file, line=line)


def check_columns(
    name: str,
    columns: Sequence[Column],
    sink: Sink | None,
    file: str,
    line: int,
    added: Sequence[str] = ADDED,
) -> None:
    """Raise NotExecutableError where results of these columns, and of those ``added``, cannot be written."""
    names = [column.name for column in columns]
    lowered = Counter(map(str.lower, names))
    for column in columns:
        if lowered[column.name.lower()] > 1:
            what, remedy = f"two columns of the select list are named {column.name}", "name them apart with AS"
        elif column.name.lower() in added:
            what = f"{column.name} is a column that the job adds itself"
            remedy = "give the column another name with AS"
        elif column.name.lower() == "batch" and sink is not None and sink.target is not None and sink.target.path:
            what = f"its sink's files have a column {column.name} of their own, the number of the batch"
            remedy = "give the column another name with AS"
        elif column.type.family is Family.OTHER and column.type.name != "void" and not is_interval(column.type):
            what = f"{column.name} has the type {column.type.name}, whose values cannot be compared"
            window = column.type.name.startswith("struct<start:")
            remedy = "select its fields: window.start, window.end" if window else "select a column of a simple type"
        else:
            continue
        raise refused(name, what, remedy, file, line)
