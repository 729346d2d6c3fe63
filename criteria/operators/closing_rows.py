"""Views whose rows close: a column is a bucket of the application time, after which a row does not change any more.

Rows of closed buckets are never taken back, so that an operator above has to remember those of open ones only, whatever
their other columns hold (A5 and Lemma 1, of what is open).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp, parse_one

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Query
from streambound.criteria.count import TimestampCount, tuples
from streambound.criteria.count import rows as counted_rows
from streambound.criteria.operators.buckets import ClosingBucket, TimeFunction, closing_bucket
from streambound.criteria.operators.buckets_of_buckets import ahead, bucket_of, is_within, shortest, waits
from streambound.criteria.operators.closing_windows import Windows, open_groups
from streambound.criteria.operators.judge import NoRule
from streambound.criteria.operators.parts import Closing
from streambound.criteria.operators.states import ClosingRows, RowsOfSide
from streambound.criteria.size import Number, Size, product, total

NOTHING = Number(0)


def block_columns(split: Query) -> tuple[ClosingRows, ...]:
    """The columns of a block's results that close: buckets of a time that no stream comes arbitrarily later than."""
    facts = [Facts.of(branch) for branch in split.branches]
    found = []
    for place in range(len(split.branches[0].outputs) if facts else 0):
        buckets = [closing_bucket(one, one.branch.outputs[place]) for one in facts]
        known = [bucket for bucket in buckets if bucket is not None]
        if len(known) < len(facts) or len({bucket.function for bucket in known}) > 1:
            continue
        closing = _closing(place, known[0].function, max(bucket.delay for bucket in known))
        found.append(ClosingRows((closing,), partial(_rows, facts, known)))
    return tuple(found)


def group_columns(split: Query, windows: Windows, closing: Sequence[Closing]) -> tuple[ClosingRows, ...]:
    """The columns of a window's groups that close: the ends of the window."""
    return (ClosingRows(tuple(closing), partial(_groups, split, windows)),)


def mapped_columns(
    closes: Sequence[ClosingRows], columns: Sequence[Column], expressions: Sequence[str]
) -> tuple[ClosingRows, ...]:
    """The closing columns of what is computed of these: those that are taken over as they are, then buckets of them."""
    given = [exp.column(column.name, quoted=True).sql("spark") for column in columns]

    def places(key: int) -> list[int]:
        return [place for place, text in enumerate(expressions) if text == given[key]]

    found = list[ClosingRows]()
    for rows in closes:
        sides = computed_sides(rows.sides, columns, expressions)
        found += [replace(one, sides=sides) for one in taken_over([rows], places)]
    for place, text in enumerate(expressions):
        for rows in closes:
            now = replace(rows, sides=computed_sides(rows.sides, columns, expressions))
            known = (_bucketed(now, one, columns[one.key], text, place) for one in rows.columns)
            found += [one for one in known if one is not None][:1]
    return tuple(found)


def computed_sides(
    sides: Sequence[RowsOfSide], columns: Sequence[Column], expressions: Sequence[str]
) -> tuple[RowsOfSide, ...]:
    """The columns that are computed of those of a side alone."""
    if not sides:
        return ()
    names = {column.name: place for place, column in enumerate(columns)}
    read = [{names[one.name] for one in parse_one(text, dialect="spark").find_all(exp.Column)} for text in expressions]
    return tuple(replace(one, columns=frozenset(n for n, of in enumerate(read) if of <= one.columns)) for one in sides)


def _bucketed(rows: ClosingRows, one: Closing, column: Column, text: str, place: int) -> ClosingRows | None:
    """The rows of a bucket of a closing column, which is a time; None where the expression is no such function.

    A row with the value v changes until v + k: in a bucket of L timestamps all do until k after its last one. Where v
    is a bucket of S timestamps that is in one of these as a whole, no row changes longer than the last of them.
    """
    function = bucket_of(one, column, text)
    if function is None:
        return None
    if is_within(one, function):
        delay, before = one.delay, function.longest - shortest(one)
    else:
        delay, more = waits(one)
        before = function.longest - 1 + more
    closing = Closing(place, function.longest, function.how, delay)
    sides = tuple(side.earlier(before) for side in rows.sides)
    return ClosingRows((closing,), lambda more: rows.open(more + before), function.open(delay + ahead(one)), sides)


def taken_over(closes: Sequence[ClosingRows], places: Callable[[int], Sequence[int]]) -> tuple[ClosingRows, ...]:
    """The closing columns of rows in which these columns are at other places, or are no more."""
    found = [
        replace(
            rows,
            columns=tuple(replace(one, key=place) for one in rows.columns for place in places(one.key)),
            sides=tuple(
                replace(one, columns=frozenset(place for key in one.columns for place in places(key)))
                for one in rows.sides
            ),
        )
        for rows in closes
    ]
    return tuple(rows for rows in found if rows.columns)


def united(left: Sequence[ClosingRows], right: Sequence[ClosingRows]) -> tuple[ClosingRows, ...]:
    """The closing columns of the rows of two views together: those that close on both sides, with the later one."""
    found = (_both(mine, theirs) for mine in left for theirs in right)
    return tuple(rows for rows in found if rows.columns)


def _both(left: ClosingRows, right: ClosingRows) -> ClosingRows:
    delay = max(left.columns[0].delay, right.columns[0].delay)
    columns = {replace(one, delay=delay) for one in left.columns}
    buckets = (left.buckets, right.buckets) if left.columns[0].delay == right.columns[0].delay else (None, None)
    return ClosingRows(
        tuple(one for one in (replace(one, delay=delay) for one in right.columns) if one in columns),
        lambda more: total([rows.open(more + delay - rows.columns[0].delay) for rows in (left, right)]),
        None if buckets[0] is None or buckets[1] is None else buckets[0] + buckets[1],
    )


def _closing(place: int, function: TimeFunction, delay: int) -> Closing:
    return Closing(place, function.longest, function.how, delay)


def _rows(facts: Sequence[Facts], buckets: Sequence[ClosingBucket], more: int) -> Size:
    """The results of a block that were open so much earlier: in each branch, one for each match of rows."""
    return total([NOTHING, *(_matches(one, bucket, more) for one, bucket in zip(facts, buckets, strict=True))])


def _matches(facts: Facts, bucket: ClosingBucket, more: int) -> Size:
    number = bucket.function.longest - 1 + bucket.delay + more
    if not number:
        return NOTHING
    if len(facts.infinite) < len(facts.branch.streams):
        raise NoRule("open rows of a stream that ends")
    relations = [source.alias for source in facts.branch.sources if source not in facts.branch.streams]
    sizes = [counted_rows(facts, relation, ()).size for relation in relations]
    for source in facts.branch.streams:
        after, before = facts.lag(source.alias, bucket.stream), facts.lag(bucket.stream, source.alias)
        if source.alias == bucket.stream:
            after = before = 0
        if after is None or before is None:
            raise NoRule("open rows of streams whose times are not related")
        sizes.append(tuples(facts, source.alias, TimestampCount(number + after + before), ()).size)
    return product(sizes)


def _groups(split: Query, windows: Windows, more: int) -> Size:
    later = tuple(replace(bucket, delay=bucket.delay + more) for bucket in windows.buckets)
    return open_groups(split, replace(windows, buckets=later))
