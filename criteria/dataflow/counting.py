"""How many entries a state has at most: one reason of those that apply, with what it says of when entries go.

Rows of a view differ in some columns in at most as many ways as there are rows, combinations of the columns' values, or
combinations of sources' rows that the view's open rows can be made of. These are composed: the rows of some sources say
some of the columns, and of the others the values are counted. Open are the rows that may still change: those whose
value u in a column, which is a time or a bucket of it, was not over ``wait`` before the last closed timestamp.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from itertools import product as product_of
from math import ceil, floor

from msgspec.structs import replace

from streambound.analyzer.algebra.nodes import ONE_SIDED, Alias, Filter, Join, Project, Scan, Tree
from streambound.analyzer.algebra.view_facts import NOW, TimePromise
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.work import spend
from streambound.criteria.count import rows_at
from streambound.criteria.dataflow.closing import ClosingTime, closings, shortest
from streambound.criteria.dataflow.state import (
    ColumnCount,
    Combinations,
    HeldKey,
    Retention,
    SourceCount,
    StateCount,
    SumOfCounts,
    WholeView,
    smaller,
)
from streambound.criteria.dataflow.view import OperatorView, Places, RowSource, session_of
from streambound.criteria.size import Number, Size, product, total

_MOST_SOURCES = 6
"""Sources of which all sets are tried."""
_STEPS = 10
"""What it takes to try one."""


def different(view: OperatorView, places: Iterable[int], by: Iterable[int] | None = None) -> StateCount | None:
    """The most different rows that a view's open rows are in some columns; None without limit.

    They close by the columns ``by``: all, for rows that are kept with these, and those of a group's key for a group.
    """
    return _different(view, frozenset(places), view.every if by is None else frozenset(by))


def until_key_ends(
    view: OperatorView, places: Iterable[int], by: Iterable[int] | None = None, final: bool = False
) -> StateCount | None:
    """The same of what goes when no row of its key comes any more: a group, not a row that waits for others.

    ``final``: rather of what goes at some time than of fewer entries that stay.
    """
    wanted, closing = frozenset(places), view.every if by is None else frozenset(by)
    counts = [_different(view, wanted, closing), *_open_keys(view, wanted, closing)]
    if final:
        ending = [*_counts(view, wanted, closing), *_open_keys(view, wanted, closing)]
        counts = [one for one in ending if one.retention is not Retention.PRESENT] or counts
    return least(count for count in counts if count is not None)


def unsettled(view: OperatorView, places: Iterable[int]) -> StateCount | None:
    """The most different rows in some columns that may still change, by whatever column of theirs, shown or not."""
    return _different(view, frozenset(places), None)


def _different(view: OperatorView, places: Places, by: Places | None) -> StateCount | None:
    empty = next((place for place, column in enumerate(view.columns) if column.values.size == 0), None)
    if empty is not None:
        return StateCount(Number(0), why=WholeView(view, empty))
    return least(_counts(view, places, by))


def apart(view: OperatorView) -> StateCount | None:
    """The rows of sources that open rows are made of, kept apart and joined again; of streams' rows alone."""
    if not _is_of_rows(view.tree):
        return None
    streams = [(name, replace(one, missing=False)) for name, one in view.sources.items() if one.stream is not None]
    counts = list[StateCount]()
    for closing in closings(view):
        rows = [_rows(view, name, source, closing) for name, source in streams]
        known = tuple(one for one in rows if one is not None)
        if len(known) == len(rows):
            size, why = total([Number(0), *(one.size for one in known)]), Combinations(view, known, apart=True)
            counts.append(StateCount(size, Retention.TIME, closing, why=why))
    return least(counts)


def _is_of_rows(tree: Tree) -> bool:
    """Whether a tree's rows are combinations of rows, those that have no partner among them."""
    match tree:
        case Scan():
            return not tree.changes
        case Filter(input) | Alias(input) | Project(input):
            return _is_of_rows(input)
        case Join(kind=kind, left=left, right=right):
            return kind not in ONE_SIDED and not tree.using and _is_of_rows(left) and _is_of_rows(right)
    return False


def present(view: OperatorView, places: Iterable[int]) -> Size | None:
    """The most different rows that a view has in some columns at a time; None without limit."""
    found = least(present_rows(view, places))
    return None if found is None else found.size


def present_rows(view: OperatorView, places: Iterable[int]) -> list[StateCount]:
    """Why there are no more at a time."""
    counts = [StateCount(view.rows)] if view.rows is not None else []
    for each in (frozenset(places), *view.keys):
        counts += _combined(view, each, None)
    return counts


def least(counts: Iterable[StateCount]) -> StateCount | None:
    """The smallest count; of those that cannot be compared the first."""
    found: StateCount | None = None
    for count in counts:
        if found is None or smaller(count.size, found.size):
            found = count
    return found


def _counts(view: OperatorView, wanted: Places, by: Places | None) -> Iterator[StateCount]:
    columns = [wanted, *(key for key in view.keys if key != wanted)]
    closing = [one for one in closings(view) if by is None or one.place in by]
    for each in columns:
        yield from _combined(view, each, None)
        for one in closing:
            yield from _combined(view, each, one)
    if view.rows is not None:
        yield StateCount(view.rows, why=WholeView(view))
    if view.below is not None:
        rows, shown = view.below
        closed_by = None if by is None else frozenset(place for place, here in shown.items() if here in by)
        plain = frozenset(place for place, here in shown.items() if here in wanted)
        count = _different(rows, plain if len(plain) == len(wanted) else rows.every, closed_by)
        if count is not None:
            at = None if count.closing is None else shown.get(count.closing.place)
            shown_at = None if at is None or count.closing is None else replace(count.closing, place=at)
            yield replace(count, closing=shown_at, why=SumOfCounts(view, (count,), below=True))
    if view.parts:
        # A row of one part is kept as long as rows of any part may meet it: by what the whole says of when rows change.
        own = view.parts if by is None else view.narrowed(view.columns).parts
        parts = [_different(part, wanted, by) for part in own]
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            size = total(part.size for part in known)
            why = SumOfCounts(view, tuple(known))
            yield StateCount(size, known[0].retention, known[0].closing, why=why)


def _combined(view: OperatorView, wanted: Places, closing: ClosingTime | None) -> Iterator[StateCount]:
    """Rows of some sources, and values of the columns that these do not say."""
    numbers = {name: _rows(view, name, source, closing) for name, source in view.sources.items()}
    wanted |= frozenset(()) if closing is None else {closing.place}
    values = {place: _values(view, place, closing) for place in sorted(wanted)}
    telling = _telling(view, wanted)
    names = [name for name, one in view.sources.items() if numbers[name] is not None or one.by is not None]
    names = [name for name in names if name in telling or _is_empty(numbers[name])]
    distances = _distances(view)
    for number in range(min(len(names), _MOST_SOURCES) + 1):
        for chosen in combinations(names, number):
            spend(_STEPS)
            said = _said(view, frozenset(chosen))
            sizes = [size for place, size in values.items() if not any(way <= said for way in view.ways_to_say(place))]
            known = tuple(one for one in sizes if one is not None)
            rows = _chosen(view, chosen, numbers, distances) if len(known) == len(sizes) else None
            if rows is not None:
                size = product([Number(1), *(one.size for one in rows), *(Number(one.size) for one in known)])
                why = Combinations(view, tuple(rows), known)
                yield StateCount(size, _retention(closing), closing, why=why)


def _telling(view: OperatorView, wanted: Places) -> frozenset[str]:
    """The sources that may say wanted columns, or how many rows such a source has: all others only multiply."""
    found = frozenset[str]().union(*(way for place in wanted for way in view.ways_to_say(place)))
    while more := frozenset[str]().union(*(view.sources[name].by or () for name in found & {*view.sources})) - found:
        found |= more
    return found


def _is_empty(rows: SourceCount | None) -> bool:
    return rows is not None and rows.size == Number(0)


def _chosen(
    view: OperatorView,
    chosen: tuple[str, ...],
    numbers: Mapping[str, SourceCount | None],
    distances: Mapping[tuple[str, str], tuple[int, int]],
) -> list[SourceCount] | None:
    """How many rows of each chosen source there are, beside those before it; None where some have no number."""
    counts = dict[str, SourceCount]()
    others = {name for name in chosen if not _is_fan(view, name, frozenset(chosen) - {name})}
    while rest := [name for name in chosen if name not in counts]:
        known = [_beside(view, name, numbers[name], [*counts], distances) for name in rest]
        first = min((one for one in known if one is not None), key=lambda one: _order(one, others), default=None)
        if first is None:
            return None
        counts[first.source] = first
    return [*counts.values()]


def _beside(
    view: OperatorView,
    name: str,
    count: SourceCount | None,
    before: Sequence[str],
    distances: Mapping[tuple[str, str], tuple[int, int]],
) -> SourceCount | None:
    """The most rows of a source, or the most that one row of each source before it leaves of them."""
    source = view.sources[name]
    if _is_fan(view, name, frozenset(before)):
        fan = Number(source.fan + source.missing)
        count = SourceCount(name, fan, fan=True) if count is None or smaller(fan, count.size) else count
    near = [(*distances[one, name], one) for one in before if (one, name) in distances]
    number, place, other = min(near, default=(0, 0, ""))
    if source.stream is None or not near or (count and (count.timestamps is None or count.timestamps <= number)):
        return count
    size = rows_of(source.stream, number)
    return SourceCount(name, total([size, Number(1)]) if source.missing else size, number, beside=other, near=place)


def _is_fan(view: OperatorView, name: str, others: frozenset[str]) -> bool:
    """Whether a row of each of other sources leaves some of a source's."""
    by = view.sources[name].by
    return by is not None and by <= _said(view, others)


def _order(count: SourceCount, first: Container[str]) -> tuple[bool, int]:
    """These sources come first, and of several the one with the fewest timestamps."""
    return count.source not in first, count.timestamps or 0


def _distances(view: OperatorView) -> Mapping[tuple[str, str], tuple[int, int]]:
    """At how many timestamps rows of a stream come beside a row of another one, by a column that is near both."""
    found = dict[tuple[str, str], tuple[int, int]]()
    sources = {} if session_of(view.tree) else view.sources
    for place, column in enumerate(view.columns):
        beside = [*column.times, *(one for at, one in view.near if at == place)]
        for (one, length), (other, more) in product_of(_spans(column.times), _spans(beside)):
            is_near = one != other and {one, other} <= sources.keys() and not sources[one].missing
            if is_near and not column.values.null and place not in view.clipped:
                known = length + more + 1, place
                found[one, other] = min(known, found.get((one, other), known))
    return found


def _spans(times: Iterable[TimePromise]) -> Iterator[tuple[str, int]]:
    """The sources that a time is near, with how many timestamps after the first one theirs may be."""
    for one in times:
        if not one.function and one.low is not None and one.high is not None:
            yield one.source, one.high - one.low


def _said(view: OperatorView, chosen: frozenset[str]) -> frozenset[str]:
    """The sources whose rows some sources' rows say."""
    found = chosen
    alone = {name: one.by for name, one in view.sources.items() if one.by is not None and one.fan == 1}
    while more := {name for name, by in alone.items() if by <= found} - found:
        found |= more
    return found


def _retention(closing: ClosingTime | None) -> Retention:
    return Retention.PRESENT if closing is None else Retention.TIME


def _values(view: OperatorView, place: int, closing: ClosingTime | None) -> ColumnCount | None:
    """The values of a column that open rows have."""
    size = view.columns[place].values.size
    counts = [] if size is None else [ColumnCount(place, size)]
    if closing is not None and closing.place != place:
        counts += _near(view, place, closing)
    elif closing is not None and closing.buckets is not None:
        counts.append(ColumnCount(place, closing.buckets, closed=True))
    return min(counts, key=lambda one: one.size, default=None)


def _near(view: OperatorView, place: int, closing: ClosingTime) -> Iterator[ColumnCount]:
    """The values of another time: of rows of a source at a number of timestamps, or of rows in the open buckets."""
    column, times, null = view.columns[closing.place], view.columns[place].times, view.columns[place].values.null
    for at, one in enumerate(times):
        if one.source == NOW or one.low is None or one.high is None:
            continue
        if (number := closing.timestamps(view, one.source)) is not None:
            length = number + one.high - one.low + one.width - 1
            size = -(-length // shortest(one.function, one.width)) if number else 0
            yield ColumnCount(place, size + null, near=at)
        whole, part = (function.partition("_t DIV ")[2] for function in (closing.function, one.function))
        same = any(
            (t.source, t.function, t.low, t.high) == (one.source, closing.function, one.low, one.high)
            for t in column.times
        )
        exact = same and one.low == one.high  # else the two may be buckets of different times
        if whole and part and exact and int(whole) % int(part) == 0 and closing.buckets is not None:
            yield ColumnCount(place, closing.buckets * (int(whole) // int(part)) + null, near=at, finer=True)


def _rows(view: OperatorView, name: str, source: RowSource, closing: ClosingTime | None) -> SourceCount | None:
    """The rows of a source that open rows are made of."""
    size, number, place = source.rows, None, None
    if source.stream is not None and size is None:
        number, lifetime = None if closing is None else closing.timestamps(view, name), _lifetime(view, name)
        if lifetime is not None and (number is None or lifetime[0] < number):
            number, place = lifetime
        size = None if number is None else rows_of(source.stream, number)
    elif source.every is not None and closing is not None and view.origins[closing.place] == frozenset((name,)):
        number = closing.begun(source.every)
        size = None if number is None else Number(number)
    if size is None:
        return None
    return SourceCount(name, total([size, Number(1)]) if source.missing else size, number, place)


def _lifetime(view: OperatorView, name: str) -> tuple[int, int] | None:
    """The timestamps that rows of a source can have, by the limits of a column that is near them; None for any."""
    found = []
    for place, column in enumerate(view.columns):
        if column.values.null or place in view.clipped:  # it says nothing of a row where it is missing
            continue
        low, high = column.values.ends
        for one in column.times:
            if one.source != name or one.function or low is None or high is None:
                continue
            if one.low is not None and one.high is not None:
                number = max(0, floor(high - one.low) - ceil(low - one.high) + 1)
                size = column.values.size if one.low == one.high else None
                found.append((number if size is None else min(number, size), place))
    return min(found, default=None)


def rows_of(stream: DeclaredTable, timestamps: int) -> Size:
    """The most rows that a stream brings at a number of consecutive timestamps."""
    return rows_at(stream.name, stream.max_per_timestamp, stream.max_rate, timestamps)


def held_keys(view: OperatorView, places: Places) -> Iterator[HeldKey]:
    """The keys that punctuations end which some columns hold, of rows of that stream alone."""
    sources = view.sources.items()
    changing = [name for name, one in sources if one.every is None and not (one.table and one.table.is_fixed)]
    stream = view.sources[changing[0]].stream if len(changing) == 1 else None
    for key in stream.ending if stream is not None else ():
        held = {
            attribute: place
            for place in sorted(places)
            for attribute in key.attributes
            if _is_attribute(view, place, changing[0], attribute)
        }
        if len(held) == len(key.attributes):
            yield HeldKey(key, tuple(held[name] for name in key.attributes))


def _open_keys(view: OperatorView, wanted: Places, by: Places) -> Iterator[StateCount]:
    """Columns that hold a key which punctuations end: of each open one values (K1), or the values of all columns."""
    for held in held_keys(view, wanted & by):
        missing = any(one.missing for one in view.sources.values())  # rows without a key are a group of theirs
        open = None if held.key.max_open is None else held.key.max_open + missing
        for most, places in ((open, wanted - frozenset(held.places)), (1, wanted)):
            sizes = [(place, view.columns[place].values.size) for place in sorted(places)]
            known = tuple(ColumnCount(place, size) for place, size in sizes if size is not None)
            if most is not None and len(known) == len(sizes):
                size = product([Number(most), *(Number(one.size) for one in known)])
                why = Combinations(view, (), known)
                yield StateCount(size, Retention.KEY, held=held, why=why)


def _is_attribute(view: OperatorView, place: int, source: str, attribute: str) -> bool:
    column = view.schema[place].column
    return column is not None and column.name == attribute and view.origins[place] == frozenset((source,))


def open_rows(view: OperatorView, timestamps: int) -> StateCount | None:
    """The rows that an append-only view, closing by arrival time, adds at a number of timestamps."""
    if view.parts:
        parts = [open_rows(part, timestamps) for part in view.narrowed(view.columns).parts]
        counts = tuple(one for one in parts if one is not None)
        if len(counts) < len(parts):
            return None
        size, closing = total(one.size for one in counts), counts[0].closing
        return StateCount(size, Retention.TIME, closing, why=SumOfCounts(view, counts))
    for place, column in enumerate(view.columns):
        if column.newest:
            closing = ClosingTime(place, timestamps, 0, "", 1)
            many = tuple(name for name, one in view.sources.items() if one.by is None or one.fan > 1)
            numbers = {name: _rows(view, name, view.sources[name], closing) for name in many}
            rows = _chosen(view, many, numbers, _distances(view))
            if rows is not None:
                size = product([Number(1), *(one.size for one in rows)])
                return StateCount(size, Retention.TIME, closing, why=Combinations(view, tuple(rows)))
    return None
