"""May a set forget its results? Where each has a time in one column, it cannot come again much later than that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streambound.analyzer.query import TimeValue
from streambound.recheck.certificates.claims import ClaimedTable
from streambound.recheck.certificates.conditions import Conditions

Branch = tuple[Conditions, tuple[ClaimedTable, ...]]
"""A branch's conditions and the tables of results that it is claimed to have."""


def remembered_too_briefly(branches: Sequence[Branch]) -> Iterator[str]:
    """The reasons why results are forgotten that may come again, or remembered longer than counted.

    There must be one column by which all branches forget them.
    """
    branches = [branch for branch in branches if not branch[0].contradictory]
    if all(len(tables) == 1 and not _expiring(tables[0]) for _, tables in branches):
        return
    places = range(min((len(conditions.branch.outputs) for conditions, _ in branches), default=0))
    if not any(_by_column(branches, place) for place in places):
        yield "results are forgotten, while nothing says that they cannot come again"


def _expiring(table: ClaimedTable) -> bool:
    return any(age.expires is not None for age in table.ages)


def _by_column(branches: Sequence[Branch], place: int) -> bool:
    """Whether the claims hold where results are forgotten by the time in one column."""
    found = [_newest(conditions, place) for conditions, _ in branches]
    lags = [lag for lag in found if lag is not None]
    return len(lags) == len(found) and all(
        _agrees(conditions, tables, _value(conditions, place), max(lags)) for conditions, tables in branches
    )


def _value(conditions: Conditions, place: int) -> TimeValue:
    value = conditions.branch.outputs[place].value
    assert isinstance(value, TimeValue), "it was found to be a time"
    return value


def _newest(conditions: Conditions, place: int) -> int | None:
    """How much newer than a column's value the newest tuple of its result may be; None where nothing limits that."""
    value = conditions.branch.outputs[place].value
    if not isinstance(value, TimeValue) or value.minus is not None:
        return None
    others = (time for time in map(conditions.time, conditions.streams) if time != value.plus)
    bounds = [conditions.follows.bound(time, value.plus) for time in others]
    known = [int(bound[0]) for bound in bounds if bound is not None]
    return max([0, *known]) - value.offset if len(known) == len(bounds) else None


def _agrees(conditions: Conditions, tables: tuple[ClaimedTable, ...], value: TimeValue, lag: int) -> bool:
    """Whether results last as long as claimed, if they are forgotten once the column's value is ``lag`` older."""
    span = lag + value.offset
    if not tables:
        return span <= 0
    for age in tables[0].ages:
        time = conditions.time(age.stream)
        bound = (0, 0) if time == value.plus else conditions.follows.bound(value.plus, time)
        if age.expires is not None and (bound is None or age.expires != max(1, span + int(bound[0]))):
            return False
    return True
