"""The columns of a block's results that are buckets of time, after which a row of them changes no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn, meant
from streambound.analyzer.query import Query
from streambound.analyzer.symbols import symbol
from streambound.analyzer.types import Family
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.quantity import Quantity, product, total
from streambound.recheck.certificates.sizes import tuples_of
from streambound.recheck.certificates.validate import symbols_of
from streambound.recheck.circuits.buckets import (
    BucketOf,
    StreamBucket,
    closing_bucket,
    endless_streams,
    function_of,
    inner_bucket,
    lag,
)
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.view import ClosesBy, ClosingColumn, JoinedSide, View


def closing_columns(split: Query) -> tuple[ClosesBy, ...]:
    """The columns that are buckets which close."""
    conditions = [Conditions(branch) for branch in split.branches]
    found = []
    for place in range(len(split.branches[0].outputs) if conditions else 0):
        buckets = [closing_bucket(one, one.branch.outputs[place]) for one in conditions]
        known = [bucket for bucket in buckets if bucket is not None]
        if len(known) == len(conditions) and len({bucket.of for bucket in known}) == 1:
            of, delay = known[0].of, max(bucket.delay for bucket in known)
            pairs = list(zip(conditions, known, strict=True))

            def open(more: int, pairs: Sequence[tuple[Conditions, StreamBucket]] = tuple(pairs)) -> Quantity:
                return total(_open_matches(one, bucket, more, split) for one, bucket in pairs)

            found.append(ClosesBy((ClosingColumn(place, of.how, of.longest, delay),), open))
    return tuple(found)


def computed_columns(view: View, nodes: Sequence[exp.Expr], given: Schema) -> View:
    """The expressions over a view's columns: those that are columns, then those that are buckets of a closing one."""
    read = [[meant(column, given) for column in node.find_all(exp.Column)] for node in nodes]
    plain = [places[0] if isinstance(node, exp.Column) else None for node, places in zip(nodes, read, strict=True)]
    closing = [replace(rows, sides=tuple(_computed(side, read) for side in rows.sides)) for rows in view.closing]
    same = [rows.at(lambda place: [n for n, one in enumerate(plain) if one == place]) for rows in view.closing]
    found = [replace(one, sides=rows.sides) for one, rows in zip(same, closing, strict=True) if one.columns]
    for n, (node, places) in enumerate(zip(nodes, read, strict=True)):
        at = places[0] if plain[n] is None and len(places) == 1 else None
        if at is not None:
            columns = ((rows, one) for rows in closing for one in rows.columns if one.place == at)
            known = (_bucketed(rows, one, node, n, given[at]) for rows, one in columns)
            found += [one for one in known if one is not None][:1]
    return View(view.rows, tuple(found), tuple(_computed(side, read) for side in view.sides))


def _computed(side: JoinedSide, read: Sequence[Sequence[int | None]]) -> JoinedSide:
    """The expressions that read columns of a side alone."""
    return replace(side, places=frozenset(n for n, places in enumerate(read) if side.places.issuperset(places)))


def _bucketed(rows: ClosesBy, column: ClosingColumn, node: exp.Expr, place: int, given: ViewColumn) -> ClosesBy | None:
    """A row whose time is v changes until v + k, so that all of a bucket do until k after its last timestamp.

    Rows that are in it as a whole change no longer than its last one.
    """
    family = None if given.type is None else given.type.family
    of = None if family is Family.STRING else function_of(node, family is Family.INTEGER)
    inner = None if of is None else inner_bucket(column.how, column.size, of)
    if of is None or inner is None:
        return None
    if column.how == "div":
        of = BucketOf(of.how, of.shortest * column.size, of.longest * column.size)
    delay, early = (column.delay, 1 - inner.least) if inner.whole else inner.waits(column.delay)
    first = of.longest - 1 + early
    closing = ClosingColumn(place, of.how, of.longest, delay)
    sides = tuple(side.before(first) for side in rows.sides)
    number = StreamBucket("", of, delay).open(inner.ahead)
    return ClosesBy((closing,), lambda more: rows.open(more + first), number, sides)


def _open_matches(conditions: Conditions, bucket: StreamBucket, more: int, split: Query) -> Quantity:
    """The matches whose bucket could still change so much earlier: a row of each stream near enough in time."""
    timestamps = bucket.of.longest - 1 + bucket.delay + more
    if not timestamps:
        return Quantity.number(0)
    if len(endless_streams(conditions)) < len(conditions.streams):
        raise NotRecheckedError("open rows of a stream that ends")
    rows = (symbol("rows", conditions.source(relation).table) for relation in conditions.relations)
    sizes = [symbols_of(split)[one] for one in rows]
    for stream in conditions.streams:
        after, before = lag(conditions, stream, bucket.stream), lag(conditions, bucket.stream, stream)
        if after is None or before is None:
            raise NotRecheckedError("open rows of streams whose times are not related")
        sizes.append(tuples_of(conditions.source(stream), timestamps + after + before, symbols_of(split)))
    return product(sizes)
