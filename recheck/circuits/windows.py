"""Groups of a bucket of time: which key closes them, how many buckets are open, and how many groups one has (A5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.query import Attribute, Output, Query, TimeValue
from streambound.analyzer.types import Family
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.quantity import Quantity, least, product
from streambound.recheck.certificates.sizes import tuples_of
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Window:
    """The key at a ``place`` is a bucket of so many timestamps, which changes until ``delay`` after its last one."""

    place: int
    stream: str
    size: int
    delay: int

    @property
    def open(self) -> int:
        """The most buckets that may still change after a closed timestamp: those whose last change is later."""
        return -(-(self.size + self.delay - 1) // self.size)


def window_of(split: Query, keys: int) -> Window | None:
    """The first key that is a bucket which closes; None where there is none."""
    for place in range(keys):
        found = [_bucket(Conditions(branch), branch.outputs[place]) for branch in split.branches]
        if any(one is not None for one in found):
            if len(found) > 1:
                raise NotRecheckedError("windows of a union")
            (one,) = found
            if one is not None and (delay := _delay(Conditions(split.branches[0]), one[0])) is not None:
                return Window(place, *one, delay)
    return None


def _bucket(conditions: Conditions, output: Output) -> tuple[str, int] | None:
    """The stream of whose time a column is a bucket, and how many timestamps that has."""
    value = output.value
    if isinstance(value, TimeValue):
        return None if value.minus is not None or value.offset else (value.plus.source, 1)
    if not isinstance(value, Attribute) or value.source not in conditions.streams:
        return None
    text = conditions.branch.column(value).expression
    time = conditions.time(value.source)
    if not text:
        return None
    node = parsed(text).unnest()
    reads = [column.name for column in node.find_all(exp.Column)]
    if time.column not in reads:
        return None
    integers = conditions.branch.column(time).type.family is Family.INTEGER
    width = node.expression if isinstance(node, exp.IntDiv) and isinstance(node.this, exp.Column) else None
    if not integers or not isinstance(width, exp.Literal) or not width.is_int or int(width.this) <= 0:
        raise NotRecheckedError(f"keys like {text}")
    return value.source, int(width.this)


def _delay(conditions: Conditions, stream: str) -> int | None:
    """How much later than a row of a stream the last one that joins it may come; None where nothing limits that."""
    mine = conditions.time(stream)
    others = [conditions.time(other) for other in conditions.streams if other != stream]
    bounds = [conditions.follows.bound(other, mine) for other in others]
    known = [int(bound[0]) for bound in bounds if bound is not None]
    return max([0, *known]) if len(known) == len(bounds) else None


def groups_in_windows(split: Query, window: Window, evidence: Evidence) -> Quantity:
    """The most groups in all open windows: for each window all values of the other columns, or one a row in it."""
    branch = split.branches[0]
    others = tuple(output for place, output in enumerate(branch.outputs) if place != window.place)
    number = Quantity.number(window.open)
    if not others:
        return number
    conditions = Conditions(branch)
    beside = replace(split, branches=(replace(branch, outputs=others),))
    ways = list(_by_rows(conditions, others, window, evidence))
    if evidence.counts_results_of(beside):
        ways.append(evidence.results([beside])[0])
    if not ways:
        raise RejectedError("nothing says how many groups a window has")
    return number * least(ways)


def _by_rows(
    conditions: Conditions, others: tuple[Output, ...], window: Window, evidence: Evidence
) -> Iterator[Quantity]:
    """The rows of the newest streams in a window, where all columns are theirs."""
    newest = [stream for stream in conditions.streams if _delay(conditions, stream) is not None]
    sources = {attribute.source for output in others for attribute in output.attributes}
    if not sources <= {*newest}:
        if not evidence.counts:
            raise NotRecheckedError("columns of older streams beside a window")
        return
    rows = []
    for stream in newest:
        if stream in sources:
            lag = 0 if stream == window.stream else _apart(conditions, stream, window.stream)
            source = conditions.branch.source(stream)
            rows.append(tuples_of(source, window.size + lag, evidence.symbols))
    yield product(rows)


def _apart(conditions: Conditions, one: str, other: str) -> int:
    """How many more timestamps rows of one stream may have than those that they join."""
    first, second = conditions.time(one), conditions.time(other)
    after, before = conditions.follows.bound(first, second), conditions.follows.bound(second, first)
    if after is None or before is None:
        raise NotRecheckedError("newest streams whose times are not related")
    return int(after[0] + before[0])
