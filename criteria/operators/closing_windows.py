"""Groups keyed by a window of the application time: proposition A5.

A bucket of S.ts closes if nothing comes arbitrarily later than S: with W = max over T of sup(T.ts - S.ts), a window
changes only until W after its last timestamp is closed, so that at most ⌈(w + W - 1) / h⌉ windows are open. A session
is open while a row may come less than the gap after its last one: at most c_S · (gap + W) are, whatever their keys.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Aggregate, Bucket, BucketKind, Filter, Tree
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.flatten import written
from streambound.analyzer.query import Attribute, Branch, Output, Query, TimeValue
from streambound.criteria.count import TimestampCount, tuples
from streambound.criteria.operators.buckets import ClosingBucket, TimeFunction, closing_bucket
from streambound.criteria.operators.judge import NoRule, groups
from streambound.criteria.size import Number, Size, least, product, total
from streambound.preprocess.pipeline import derive


@dataclass(frozen=True, slots=True)
class Windows:
    """The column of a block, by its ``place``, that is or says the bucket of time, in each of its branches."""

    place: int
    buckets: tuple[ClosingBucket, ...]
    session: bool = False

    @property
    def function(self) -> TimeFunction:
        """The one of all branches."""
        return self.buckets[0].function

    @property
    def delay(self) -> int:
        """W."""
        return max(bucket.delay for bucket in self.buckets)


def bucket_below(tree: Aggregate, catalog: Catalog) -> tuple[Bucket, Tree] | None:
    """The buckets of a block that an aggregate groups by, and the block; None where there are none.

    Conditions above the buckets that do not read them are the block's.
    """
    conditions, below = list[Filter](), tree.input
    while isinstance(below, Filter):
        conditions.append(below)
        below = below.input
    if not isinstance(below, Bucket):
        return None
    block = below.input
    for condition in reversed(conditions):
        if any(end_of(below, node) is not None for node in written(condition.condition).find_all(exp.Column)):
            return None
        block = replace(condition, input=block)
    return (below, block) if is_block(block, catalog) else None


def end_of(bucket: Bucket, node: exp.Expr) -> str | None:
    """Which end of a bucket a column is: "start", "end" or "last"; None for another column."""
    if not isinstance(node, exp.Column) or node.table.lower() not in ("", bucket.alias.lower()):
        return None
    names = [name.lower() for name in bucket.columns]
    return ("start", "end", "last")[names.index(node.name.lower())] if node.name.lower() in names else None


def windows_of(query: Query, keys: int, bucket: Bucket | None) -> Windows | None:
    """The window that closes the groups of a block's first columns, the same in all branches."""
    branches = [Facts.of(branch) for branch in derive(query).split.branches]
    made = None if bucket is None else TimeFunction("start", bucket.slide or bucket.size, bucket.size)
    for place in range(keys):
        function = made if query.branches[0].outputs[place].name == TIME else None
        found = [closing_bucket(facts, facts.branch.outputs[place], function) for facts in branches]
        buckets = tuple(one for one in found if one is not None)
        if not buckets or len(buckets) < len(found) or len({one.function for one in buckets}) > 1:
            continue
        session = bucket is not None and bucket.kind is BucketKind.SESSION
        if not session or function is not None:
            return Windows(place, buckets, session)
    return None


TIME = "_t"
"""The column of a block's results of which a `Bucket` makes others."""


def open_groups(split: Query, windows: Windows, values: bool = False) -> Size:
    """The groups of all windows that are open after a closed timestamp (with M1's correction for older streams).

    With ``values``, those of their last column, which is no key. Raises NoRule where columns that nothing closes have
    no number of values.
    """
    parts = []
    for branch, bucket in zip(split.branches, windows.buckets, strict=True):
        facts = Facts.of(branch)
        if windows.session:
            mine = tuples(facts, bucket.stream, TimestampCount(windows.function.longest + windows.delay), ()).size
            parts.append(product([mine, *_known(split, branch, _beside_sessions(branch, windows, bucket, values))]))
        else:
            each = [Number(windows.function.open(windows.delay)), _in_one(split, facts, windows, bucket)]
            parts.append(least([product(each), *_by_rate(facts, windows, bucket)]))
    return total(parts)


def _by_rate(facts: Facts, windows: Windows, bucket: ClosingBucket) -> list[Size]:
    """Groups of each time of a stream's own columns: one for each row, which a rate counts over all timestamps."""
    own = all(a.source == bucket.stream for output in facts.branch.outputs for a in _attributes(output))
    rated = facts.branch.source(bucket.stream).max_rate is not None
    if not own or not rated or windows.function.longest > 1 or not windows.delay:
        return []
    return [tuples(facts, bucket.stream, TimestampCount(windows.delay), ()).size]


def _in_one(split: Query, facts: Facts, windows: Windows, bucket: ClosingBucket) -> Size:
    """The groups of one window: for each value of its columns, or for each row of the newest streams."""
    shown = _others(facts.branch, windows)
    times = [_times_in_one(facts, windows, bucket, o.value) for o in shown if isinstance(o.value, TimeValue)]
    others = [o for o in shown if not isinstance(o.value, TimeValue)]
    if not others:
        return product([Number(1), *times])
    newest = _newest(facts)
    owners = [s for s in newest if any(a.source == s for o in others for a in o.attributes)]
    rows = []
    for stream in owners:
        lag = 0 if stream == bucket.stream else sum(_lags(facts, stream, bucket.stream))
        rows.append(tuples(facts, stream, TimestampCount(windows.function.longest + lag), ()).size)
    older = [o for o in others if any(a.source not in newest for a in o.attributes)]
    by_rows = product([Number(1), *rows, *_known(split, facts.branch, older)])
    every = groups(_only(split, facts.branch, others))
    return product([by_rows if every is None else least([every, by_rows]), *times])


def _times_in_one(facts: Facts, windows: Windows, bucket: ClosingBucket, value: TimeValue) -> Size:
    """The values of a time, or of a distance of two, among the results of one window."""
    longest = windows.function.longest
    found = []
    for time in value.attributes:
        away = 0 if time.source == bucket.stream else sum(_lags(facts, time.source, bucket.stream))
        found.append(Number(longest + away))
    return product(found)


def in_a_window(split: Query, windows: Windows, values: bool = False) -> tuple[Query, ...]:
    """The blocks that give the columns beside the window, then those of older streams, that have a number of values.

    Times are not among them: the window limits these. Of sessions those of columns that their own stream's rows do not
    give; with ``values`` also the last column.
    """
    found = list[Query]()
    for branch, bucket in zip(split.branches, windows.buckets, strict=True):
        if windows.session:
            found.append(_only(split, branch, _beside_sessions(branch, windows, bucket, values)))
            continue
        others = [output for output in _others(branch, windows) if not isinstance(output.value, TimeValue)]
        newest = _newest(Facts.of(branch))
        found.append(_only(split, branch, others))
        older = [output for output in others if any(a.source not in newest for a in output.attributes)]
        if len(older) < len(others):
            found.append(_only(split, branch, older))
    return tuple(one for one in found if one.branches[0].outputs and groups(one) is not None)


def _newest(facts: Facts) -> list[str]:
    """The streams that nothing comes arbitrarily later than."""
    return [stream for stream in facts.infinite if not facts.later[stream]]


def _others(branch: Branch, windows: Windows) -> list[Output]:
    return [output for place, output in enumerate(branch.outputs) if place != windows.place]


def _beside_sessions(branch: Branch, windows: Windows, bucket: ClosingBucket, values: bool) -> list[Output]:
    """The columns that a row of the sessions' stream does not give: those of others, and the last one if values are."""
    others = _others(branch, windows)
    keys = others[: len(others) - values]
    return [o for o in keys if {a.source for a in _attributes(o)} != {bucket.stream}] + others[len(keys) :]


def _attributes(output: Output) -> tuple[Attribute, ...]:
    """The attributes that a column is of, times among them."""
    return output.value.attributes if isinstance(output.value, TimeValue) else output.attributes


def _lags(facts: Facts, one: str, other: str) -> tuple[int, int]:
    after, before = facts.lag(one, other), facts.lag(other, one)
    if after is None or before is None:
        raise NoRule("newest streams whose times are not related")
    return after, before


def _known(split: Query, branch: Branch, outputs: list[Output]) -> list[Size]:
    if not outputs:
        return []
    found = groups(_only(split, branch, outputs))
    if found is None:
        raise NoRule("columns without a number of values beside a window")
    return [found]


def _only(split: Query, branch: Branch, outputs: list[Output]) -> Query:
    return replace(split, branches=(replace(branch, outputs=tuple(outputs)),))
