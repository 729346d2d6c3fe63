"""Event time in the select list (docs/theory-times.md).

The application time of a stream is an attribute that nothing bounds, so (i) asks of it what it asks of others: that no
stream may come later. Then every table keeps the stream's age anyway, since it drops entries by it. Of a set, a
time that says how old a result is lets the results be forgotten that cannot come again.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute, Branch, Output, Query, Source, TimeValue
from streambound.criteria.tables import Age, Distance, SynopsisTable
from streambound.criteria.violation import Violation
from streambound.criteria.wording import listed


class Stamp(Struct, frozen=True):
    """A column of a set's results, by its ``place``, that says how old a result is.

    Once a timestamp is closed that exceeds the column's value by ``lag`` or more, no such result can come again.
    """

    place: int
    lag: int


def stamp(split: Query) -> Stamp | None:
    """The column by which a set's results are forgotten the soonest; None where they may come again at any time."""
    found = []
    for place in range(len(split.branches[0].outputs)) if split.branches and split.distinct else ():
        lags = [_lag(Facts.of(branch), branch.outputs[place]) for branch in split.branches]
        known = [lag for lag in lags if lag is not None]
        if len(known) == len(lags):
            found.append(Stamp(place, max(known)))
    return min(found, key=lambda stamp: stamp.lag, default=None)


def _lag(facts: Facts, output: Output) -> int | None:
    """How much newer than a column's value a result is at most; None where nothing says that."""
    value = output.value
    if not isinstance(value, TimeValue) or value.minus is not None:
        return None
    ages = [0, *(facts.lag(s.alias, value.plus.source) for s in facts.branch.streams if s.alias != value.plus.source)]
    known = [age for age in ages if age is not None]
    return max(known) - value.offset if len(known) == len(ages) else None


def time_as_value(branch: Branch) -> bool:
    """Whether an expression, or a comparison with another column, reads an application time ("Times as values").

    Its attribute and the time then agree, of which P+ knows nothing.
    """
    return any(f"`{s.timestamp}`" in column.expression for s in branch.streams for column in s.columns)


def valued_times(branch: Branch) -> tuple[Attribute, ...]:
    """The attributes that are application times as they are: ``S.`ts` ``."""
    return tuple(Attribute(s.alias, c.name) for s in branch.streams for c in s.columns if is_valued_time(s, c))


def is_valued_time(source: Source, column: Column) -> bool:
    """Whether a derived column is the application time of its row."""
    return source.timestamp is not None and column.expression == f"`{source.timestamp}`"


def only_whole_times(branch: Branch) -> bool:
    """Whether expressions read no application time but as it is."""
    reading = ((s, c) for s in branch.streams for c in s.columns if f"`{s.timestamp}`" in c.expression)
    return all(is_valued_time(source, column) for source, column in reading)


def timed(facts: Facts) -> frozenset[str]:
    """The streams whose times an entry that holds them must hold as they are."""
    return frozenset(attribute.source for value in facts.branch.time_values for attribute in value.attributes)


def holds_times(facts: Facts, table: SynopsisTable) -> bool:
    """Whether the entries of a table hold the times of the select list as they are."""
    return all((a := table.age(stream)) is not None and a.exact for stream in table.streams if stream in timed(facts))


# --- results of a set ----------------------------------------------------------------------------------------------


def forgotten_at_once(facts: Facts, stamped: Stamp | None) -> bool:
    """Whether a branch's results need not be remembered once their timestamp is closed."""
    return stamped is not None and _kept(facts, stamped)[1] <= 0


def result_ages(facts: Facts, stamped: Stamp | None) -> tuple[Age, ...]:
    """How long results are remembered, by the times of the streams that say how many there are."""
    times, ages = _alone(facts, stamped), []
    endless = {a.source for a in facts.branch.projected if not facts.bounded(a)}
    stream, span = _kept(facts, stamped) if stamped else ("", 0)
    for source in facts.branch.streams:
        lag = 0 if source.alias == stream else facts.lag(stream, source.alias) if stamped else None
        if lag is not None and source.alias in (*times, *endless):
            ages.append(Age(source.alias, max(1, span + lag), None))
        elif source.alias in times:
            ages.append(Age(source.alias, None, None))
    return tuple(ages)


def result_distances(facts: Facts, stamped: Stamp | None) -> tuple[Distance, ...]:
    """The distances, of finitely many values, that results are told apart by where they are remembered for ever."""
    values = facts.branch.time_values if stamped is None else ()
    apart = (Distance(value.plus, value.minus) for value in values if value.minus is not None and limited(facts, value))
    return tuple(dict.fromkeys(apart))


def limited(facts: Facts, value: TimeValue) -> bool:
    """Whether P+ bounds a distance of two times from both sides."""
    if value.minus is None:
        return False
    one, other = value.plus.source, value.minus.source
    return facts.lag(one, other) is not None and facts.lag(other, one) is not None


def _alone(facts: Facts, stamped: Stamp | None) -> frozenset[str]:
    """The streams whose times results hold, but for distances that are finitely many."""
    values = (v for v in facts.branch.time_values if stamped is not None or not limited(facts, v))
    return frozenset(attribute.source for value in values for attribute in value.attributes)


def _kept(facts: Facts, stamped: Stamp) -> tuple[str, int]:
    """The stream whose time is the column that says how old a result is, and from which age on it is forgotten."""
    value = facts.branch.outputs[stamped.place].value
    assert isinstance(value, TimeValue), "every branch has a time there"
    return value.plus.source, stamped.lag + value.offset


# --- what violates the criteria --------------------------------------------------------------------------------------


def waiting_times(facts: Facts, stream: str) -> Iterator[Attribute]:
    """The time of an infinite stream, where the select list has it and other streams may come later."""
    if facts.later[stream] and stream in timed(facts) and not facts.one_row(stream):
        yield facts.time(stream)


def time_violations(facts: Facts, stream: str, condition: str) -> Iterator[Violation]:
    """(i) The time of a remembered stream is not in the select list."""
    for output in facts.branch.outputs:
        value = output.value
        for time in waiting_times(facts, stream) if isinstance(value, TimeValue) else ():
            if time in value.attributes:  # type: ignore[union-attr]
                yield _violation(facts, output, time, condition)


def _violation(facts: Facts, output: Output, time: Attribute, condition: str) -> Violation:
    later = facts.later[time.source]
    message = (
        f"{time} is in the select list, and a row of {time.source} may still wait for one of {listed(later, 'or')}: "
        f"every timestamp must be remembered"
    )
    windows = " and ".join(f"{facts.time(other)} <= {time} + …" for other in later)
    help = f"add a window, {windows}, or leave it out: the results' _ts is the time of their newest row"
    return Violation(condition, time.source, time.column, message, output.span, Code.UNBOUNDED_PROJECTION, help)
