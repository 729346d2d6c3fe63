"""When rows of a view close: the columns that say it, which are times, or buckets of them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from streambound.analyzer.algebra.date_patterns import unit_of_pattern
from streambound.analyzer.algebra.view_facts import NOW
from streambound.analyzer.units_of_time import TRUNCATED
from streambound.criteria.dataflow.view import OperatorView

_DIV = "_t DIV "


class ClosingTime(Struct, frozen=True):
    """A column by which rows close: a row changes until ``wait`` after the last time of its bucket, which may be
    ``ahead`` of the rows; a bucket has ``shortest`` to ``width`` timestamps.
    """

    place: int
    wait: int
    ahead: int | None
    function: str
    width: int

    @property
    def buckets(self) -> int | None:
        """The most different values that open rows have; None without limit. Each time is in one bucket."""
        length = shortest(self.function, self.width)
        return None if self.ahead is None else max(0, -(-(self.wait + length - 1 + self.ahead) // length))

    def begun(self, every: int) -> int | None:
        """The most buckets, one beginning every ``every`` timestamps, that are open at a time."""
        return None if self.ahead is None else max(0, -(-(self.wait + self.width - 1 + self.ahead) // every))

    def timestamps(self, view: OperatorView, source: str) -> int | None:
        """How many timestamps rows of a source have that open rows are made of; None without limit."""
        times = (*view.columns[self.place].times, *(one for place, one in view.near if place == self.place))
        found = [
            self.wait + self.width - 1 + one.high
            for one in times
            if one.source == source and one.function == self.function and one.high is not None
        ]
        return max(0, min(found)) if found else None


def shortest(function: str, width: int) -> int:
    """The fewest timestamps of a bucket of a function over ``_t``, whose longest have ``width``."""
    argument = _quoted(function)
    unit = unit_of_pattern(argument) if function.startswith("date_format") else argument
    if function.startswith("date") and unit in TRUNCATED:
        return TRUNCATED[unit][0]
    if function.startswith(_DIV):
        return int(function.removeprefix(_DIV))
    return width


def bucket_function(function: str, width: int) -> tuple[int, str] | None:
    """How long a bucket of a function over ``_t`` is at most, and what its value is; None for one that no job knows."""
    argument = _quoted(function)
    match function.partition("(")[0]:
        case "":
            return 1, "last"
        case "window":
            return width, function.rpartition(".")[2]
        case "to_date":
            return width, "date"
        case "date_trunc":
            return width, argument
        case "date_format":
            unit = unit_of_pattern(argument)
            return None if unit is None else (width, unit)
    return (int(function.removeprefix(_DIV)), "div") if function.startswith(_DIV) else None


def _quoted(function: str) -> str:
    """The unit or the pattern of a function, which may have words in quotes itself."""
    return function.partition("'")[2].rpartition("'")[0]


def closings(view: OperatorView) -> Iterator[ClosingTime]:
    """The columns by which the rows of a view close."""
    for place, column in enumerate(view.columns):
        if column.values.null:
            continue
        for one in column.times:
            known = bucket_function(one.function, one.width) is not None
            if one.source == NOW and one.low is not None and known:
                yield ClosingTime(place, -one.low, one.high, one.function, one.width)
