"""Groups of a bucket of time: which key closes them, how many buckets are open, and how many groups one has (A5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from streambound.analyzer.query import Attribute, Branch, Output, Query, TimeValue
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.quantity import Quantity, least, product, total
from streambound.recheck.certificates.sizes import tuples_of
from streambound.recheck.certificates.validate import symbols_of
from streambound.recheck.circuits.buckets import BucketOf, StreamBucket, closing_bucket, endless_streams, lag, waits_for
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.evidence import Evidence

Open = Callable[[int], Quantity]
"""The most rows that could still change so much before the last closed timestamp."""
TIME = "_t"
"""The column of a block of which buckets are made above it."""


@dataclass(frozen=True, slots=True)
class BucketColumn:
    """The column at a ``place`` of a block is, or says, the bucket of each branch; ``sessions`` are of rows' keys."""

    place: int
    buckets: tuple[StreamBucket, ...]
    sessions: bool = False

    @property
    def of(self) -> BucketOf:
        """What its value is, in all branches."""
        return self.buckets[0].of

    @property
    def delay(self) -> int:
        """W, of all branches."""
        return max(bucket.delay for bucket in self.buckets)


def windows_of(
    query: Query, split: Query, keys: int, made: BucketOf | None = None, sessions: bool = False
) -> BucketColumn | None:
    """The first of the keys that is a bucket which closes, alike in all branches; of sessions their time."""
    conditions = [Conditions(branch) for branch in split.branches]
    for place in range(keys):
        own = made if query.branches[0].outputs[place].name == TIME else None
        found = [closing_bucket(one, one.branch.outputs[place], own) for one in conditions]
        buckets = tuple(one for one in found if one is not None)
        alike = len({bucket.of for bucket in buckets}) == 1 and len(buckets) == len(found)
        if alike and (own is not None or not sessions):
            return BucketColumn(place, buckets, sessions)
    return None


def groups_in_windows(split: Query, windows: BucketColumn, evidence: Evidence, values: bool = False) -> Open:
    """The most groups in all open windows; with ``values`` those of their last column, which is no key.

    Given a number, in the windows that could still change so much earlier.
    """
    parts = []
    for branch, bucket in zip(split.branches, windows.buckets, strict=True):
        one = _InWindows(split, Conditions(branch), windows, bucket, evidence)
        parts.append(one.of_sessions(values) if windows.sessions else one.of_buckets())
    return lambda more: total(part(more) for part in parts)


@dataclass(frozen=True, slots=True)
class _InWindows:
    """The groups of one branch."""

    split: Query
    conditions: Conditions
    windows: BucketColumn
    bucket: StreamBucket
    evidence: Evidence

    @property
    def others(self) -> tuple[Output, ...]:
        """The columns beside the window."""
        outputs = enumerate(self.conditions.branch.outputs)
        return tuple(output for place, output in outputs if place != self.windows.place)

    def of_sessions(self, values: bool) -> Open:
        """A session for each row that came so short ago that another may join it, whatever its key is."""
        keys = self.others[: len(self.others) - values]
        rest = [o for o in keys if {a.source for a in _attributes(o)} != {self.bucket.stream}]
        rest += self.others[len(self.others) - values :]
        beside = self._counted(rest) if rest else Quantity.number(1)
        return lambda more: self._rows(self.bucket.stream, self.windows.of.longest + self.windows.delay + more) * beside

    def of_buckets(self) -> Open:
        """So many buckets, each with all values of its other columns, or one for each row of the newest streams."""
        inside = self._in_one() if self.others else Quantity.number(1)

        def open(more: int) -> Quantity:
            timestamps = self.windows.delay + more  # a group is of all branches, and waits for the last one
            every = Quantity.number(self.bucket.open(timestamps - self.bucket.delay)) * inside
            if not self._is_rated() or not timestamps:
                return every
            return least([every, self._rows(self.bucket.stream, timestamps)])

        return open

    def _is_rated(self) -> bool:
        """Whether each row has a time of its own as bucket, beside columns of its stream, and a rate counts rows."""
        stream, outputs = self.bucket.stream, self.conditions.branch.outputs
        own = all(one.source == stream for output in outputs for one in _attributes(output))
        return own and self.windows.of.longest == 1 and self.conditions.source(stream).max_rate is not None

    def _in_one(self) -> Quantity:
        times = [output.value for output in self.others if isinstance(output.value, TimeValue)]
        others = [output for output in self.others if not isinstance(output.value, TimeValue)]
        return product([*map(self._times, times), *([self._of_others(others)] if others else [])])

    def _times(self, value: TimeValue) -> Quantity:
        """The timestamps of the rows that a window's matches are of, for each one that a time is made of."""
        longest = self.windows.of.longest
        return product(Quantity.number(longest + self._apart(one.source)) for one in value.attributes)

    def _of_others(self, others: Sequence[Output]) -> Quantity:
        """Columns that are no times."""
        every = self.evidence.count_of(only(self.split, self.conditions.branch, others))
        endless = endless_streams(self.conditions)
        newest = [s for s in endless if waits_for(self.conditions, s, endless) is not None]
        owners = [s for s in newest if any(a.source == s for o in others for a in o.attributes)]
        rows = [self._rows(stream, self.windows.of.longest + self._apart(stream)) for stream in owners]
        older = [o for o in others if any(a.source not in newest for a in o.attributes)]
        ways = [] if every is None else [every.entries]
        if not older:
            ways.append(product(rows))
        elif len(older) < len(others):
            ways.append(product([*rows, self._counted(older)]))
        if not ways:
            raise RejectedError("nothing says how many groups a window has")
        return least(ways)

    def _counted(self, outputs: Sequence[Output]) -> Quantity:
        found = self.evidence.count_of(only(self.split, self.conditions.branch, outputs))
        if found is None:
            raise RejectedError("nothing says how many values there are beside a window")
        return found.entries

    def _rows(self, stream: str, timestamps: int) -> Quantity:
        source = self.conditions.branch.source(stream)
        return tuples_of(source, timestamps, symbols_of(self.split))

    def _apart(self, stream: str) -> int:
        """How many more timestamps rows of a stream may have than the window's that they join."""
        found = lag(self.conditions, stream, self.bucket.stream), lag(self.conditions, self.bucket.stream, stream)
        if found[0] is None or found[1] is None:
            raise NotRecheckedError("newest streams whose times are not related")
        return found[0] + found[1]


def only(split: Query, branch: Branch, outputs: Sequence[Output]) -> Query:
    """One branch with some of its columns."""
    return replace(split, branches=(replace(branch, outputs=tuple(outputs)),))


def _attributes(output: Output) -> tuple[Attribute, ...]:
    """The attributes that a column is of, times among them."""
    return output.value.attributes if isinstance(output.value, TimeValue) else output.attributes
