"""Why a state has at most so many entries: rows of sources, values of columns, products and sums of these.

Entries are as many as there are different combinations of some columns, of rows that are open. A column that a chosen
source's rows say has no values of its own, nor has one that an atom makes equal to a counted one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, floor

from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Aggregate,
    Alias,
    Apply,
    Bucket,
    BucketKind,
    Distinct,
    Except,
    Filter,
    Fixpoint,
    Intersect,
    Join,
    JoinKind,
    OrderBy,
    Over,
    Project,
    Recur,
    Scan,
    SpjBlock,
    Union,
)
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.algebra.value_sets import of_domain
from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.symbols import symbol
from streambound.analyzer.types import Family
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.formula import quantity
from streambound.recheck.certificates.quantity import Quantity, product, total
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.claims import ClaimedColumn, ClaimedSource, ClaimedStateCount, NotCheckedError
from streambound.recheck.derivation.fact_log import CheckedFacts, TimeFact
from streambound.recheck.derivation.trees import (
    Places,
    PlanNode,
    SourceOfRows,
    Sources,
    keys,
    names_in_pairs,
    only_grows,
    only_partner,
    origin,
    parts,
    says,
    session_of,
    sources,
    traced,
    ways_to_say,
    with_said,
)

_NO_MORE_ROWS = (Filter, Alias, Project, SpjBlock, Distinct, Over, Apply, OrderBy)
"""Operators that have no more rows than their input."""


@dataclass(frozen=True)
class CountedColumns:
    """What is counted: columns of a node's rows, which close by some columns of theirs; by any for None.

    ``pair``: of a join's side that begins at ``first`` in the pairs, in which its rows are those that have a partner.
    ``whole``: of a part of a union, whose rows are kept until none of the whole can be equal; or until no pair of them
    changes, of a ``side`` that begins at ``first_of_whole``.
    """

    node: PlanNode
    wanted: Places
    by: Places | None
    pair: PlanNode | None = None
    first: int = 0
    whole: PlanNode | None = None
    first_of_whole: int = 0
    side: PlanNode | None = None
    shown: Mapping[int, int] | None = None
    """Of rows below a select list of a part: the columns, by those of the whole that show them."""
    read_only: Places = frozenset()
    """Columns of a join's side that only its condition reads."""

    @property
    def facts_of(self) -> PlanNode:
        """The node that facts are about."""
        return self.node if self.pair is None else self.pair

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What sources of a right side are called in pairs."""
        return names_in_pairs(self.pair) if self.pair is not None and self.first else {}

    @cached_property
    def sources(self) -> Sources:
        """What rows are made of, by the names that facts have."""
        found = sources(self.node)
        return {self.names[n]: one.called(self.names) for n, one in found.items()} if self.names else found

    def says(self, place: int) -> frozenset[str]:
        """The sources whose rows say a column."""
        return frozenset(self.names.get(one, one) for one in says(self.node, place))

    def is_said(self, place: int, said: frozenset[str]) -> bool:
        """Whether rows of some sources say a column, or one that equals it."""
        ways = ways_to_say(self.node, place)
        return any(frozenset(self.names.get(one, one) for one in way) <= said for way in ways)


@dataclass
class Counts:
    """Checks counts by the facts of a derivation; ``symbols`` are those of its formulas."""

    facts: CheckedFacts
    symbols: dict[str, Quantity]

    def most(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """The most entries; raises RejectedError where the count does not say so."""
        rules = {
            "combinations": self._combinations,
            "apart": self._apart,
            "empty": self._empty,
            "parts": self._parts,
            "open": self._parts,
            "below": self._below,
            "whole": self._whole,
            "keys": self._keys,
            "sessions": self._sessions,
        }
        if claim.rule not in rules:
            raise NotCheckedError(f"counts by the rule {claim.rule!r}")
        if not self._is_of(claim, rows.facts_of):
            raise RejectedError("a count of the rows of another node")
        found = rules[claim.rule](claim, rows)
        self.agreed(claim.size, found)
        return found

    def agreed(self, formula: str, found: Quantity) -> None:
        """Raises RejectedError where a formula is not the size that was found."""
        if not quantity(formula, self.symbols).same(found):
            raise RejectedError(f"a count says {formula}, which is another number")

    def _is_of(self, claim: ClaimedStateCount, node: PlanNode) -> bool:
        """Whether a count is of a node's rows."""
        return claim.node is not None and self.facts.nodes.at(claim.node).same(node)

    @staticmethod
    def sum(sizes: Sequence[Quantity]) -> Quantity:
        """The sum of some sizes."""
        return total(sizes)

    def recent(self, claim: ClaimedStateCount, node: PlanNode, timestamps: int) -> Quantity:
        """The rows that a node, whose rows come with their time, adds at so many timestamps."""
        mine, chosen = sources(node), frozenset(one.source for one in claim.sources)
        column = self.facts.column_of(claim.closing[0]) if claim.closing else -1
        exact = len(claim.closing) == 1 and len(claim.sources) == len(mine)
        if claim.rule != "recent" or claim.number != timestamps or claim.columns or chosen != mine.keys() or not exact:
            raise RejectedError("rows of late that are counted as others")
        time = self.facts.time(claim.closing[0] if claim.closing else -1, node, column)
        if (time.source, time.low, time.high, time.function.name) != ("", 0, 0, "") or not only_grows(node):
            raise RejectedError("rows that do not come with their time")
        if not self._is_of(claim, node):
            raise RejectedError("a count of the rows of another node")
        closing, rows = ClosingFacts(column, timestamps, time), CountedColumns(node, node.every, None)
        found = product(self._rows(one, mine, chosen, rows, closing) for one in claim.sources)
        self.agreed(claim.size, found)
        return found

    # --- rules ----------------------------------------------------------------------------------------------------

    def _combinations(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        closing, mine = self._closing(claim, rows), rows.sources
        chosen = frozenset(one.source for one in claim.sources)
        if len(chosen) < len(claim.sources) or not chosen <= mine.keys():
            raise RejectedError("sources that are none, or counted twice")
        sizes = [self._rows(one, mine, chosen, rows, closing) for one in claim.sources]
        sizes += [self._values(one, rows, closing) for one in claim.columns]
        said = with_said(mine, chosen)
        counted = {one.column for one in claim.columns} | {p for p in rows.wanted if rows.is_said(p, said)}
        covered = {place + rows.first for place in counted}
        for equal in claim.equal:
            covered |= self._equal(equal.atom, rows, {equal.column, equal.other}, covered)
        told = covered | {p + rows.first for p in range(rows.node.width) if rows.is_said(p, said)}
        if any(all(place + rows.first in told for place in key) for key in keys(rows.node)):
            return product(sizes)  # which says the other columns
        missing = sorted(place for place in rows.wanted if place + rows.first not in covered)
        if missing:
            raise RejectedError(f"nothing counts {', '.join(rows.node.schema[one].name for one in missing)}")
        return product(sizes)

    @staticmethod
    def _equal(atom: int, rows: CountedColumns, both: set[int], covered: set[int]) -> set[int]:
        """Two columns of pairs that an atom makes equal, where one of them is counted."""
        conditions = [] if rows.pair is None else rows.pair.conditions
        if rows.pair is None or not 0 <= atom < len(conditions):
            raise RejectedError("columns that nothing makes equal")
        if atoms.equal(conditions[atom], rows.pair.row) != both or not both & covered:
            raise RejectedError("columns that nothing makes equal")
        return both

    def _apart(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """The rows of streams that open rows are made of, kept apart, and joined again."""
        closing = self._closing(claim, rows)
        streams = {name: replace(one, missing=False) for name, one in rows.sources.items() if one.is_stream}
        if closing is None or not _is_of_rows(rows.node) or [one.source for one in claim.sources] != [*streams]:
            raise RejectedError("rows that are not kept apart")
        return total(self._rows(one, streams, frozenset(), rows, closing) for one in claim.sources)

    def _empty(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """A column without a value: there are no rows."""
        if len(claim.columns) != 1 or not self._values(claim.columns[0], rows, None).same(Quantity.number(0)):
            raise RejectedError("columns with a value")
        return Quantity.number(0)

    def _parts(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """The rows of all parts of a union, or of both sides of a set operation until neither can change them."""
        if claim.rule == "parts":
            several = parts(rows.node)
        else:
            is_set = isinstance(rows.node.tree, Except | Intersect) and rows.pair is None
            several = [rows.node.input(name) for name in ("left", "right")] if is_set else []
        if not several or len(claim.of) != len(several):
            raise RejectedError("parts of what has none")
        whole = rows.pair or (None if rows.by is None else rows.whole or rows.node)
        first, side = (rows.first, rows.node) if rows.pair is not None else (rows.first_of_whole, rows.side)
        each = [
            CountedColumns(part, rows.wanted, rows.by, whole=whole, first_of_whole=first, side=side) for part in several
        ]
        return total(self.most(one, part) for one, part in zip(claim.of, each, strict=True))

    def _below(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """The columns below a select list that are shown, or all of them where some are computed."""
        shown = rows.node
        while isinstance(shown.tree, Filter | Alias | Distinct | SpjBlock):
            shown = shown.input("input")
        if not isinstance(shown.tree, Project) or len(claim.of) != 1:
            raise RejectedError("rows below what is no select list")
        found = [origin(shown, place) for place in range(shown.width)]
        by = None
        if rows.by is not None:
            closing = {one.column for place, one in enumerate(found) if one is not None and place in rows.by}
            by = frozenset(place for place in closing if place is not None)
        below = shown.input("input")
        plain = [one.column for place in sorted(rows.wanted) if (one := found[place]) is not None]
        known = frozenset(place for place in plain if place is not None)
        columns = CountedColumns(below, known if len(known) == len(rows.wanted) else below.every, by)
        if rows.shown is not None:
            raise NotCheckedError("a select list below one of a part of a union, or of a join's side")
        mine = {n: one.column for n, one in enumerate(found) if one is not None and one.column is not None}
        whole, first, side = rows.whole, rows.first_of_whole, rows.side
        if rows.pair is not None:
            whole, first, side = rows.pair, rows.first, rows.node
        if whole is not None:
            columns = replace(columns, whole=whole, first_of_whole=first, side=side, shown=mine)
        return self.most(claim.of[0], columns)

    def _keys(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """K1: columns that hold a key which punctuations end, of rows of that stream alone, and values beside them.

        Or the values of all columns, which the key ends, too.
        """
        changing = [
            name
            for name, one in rows.sources.items()
            if one.every is None and (one.table is None or not one.table.is_fixed)
        ]
        if not {*claim.key} <= rows.wanted:
            raise RejectedError("a key of columns that are not there")
        held, found = {*claim.key}, [traced(rows.node, place, missing=True) for place in claim.key]
        if len(changing) != 1 or rows.pair is not None or not held <= (rows.wanted & (rows.by or rows.wanted)):
            raise RejectedError("a key of several streams, or of columns that are not there")
        source = rows.sources[changing[0]]
        is_of = all(rows.says(place) == {*changing} for place in held)
        if source.table is None or not is_of or not all(isinstance(below.tree, Scan) for below, _ in found):
            raise RejectedError("columns that hold no key")
        named = tuple(below.schema[column].name for below, column in found)
        numbers = [key.max_open for key in source.table.ending if key.attributes == named]
        counted = frozenset(one.column for one in claim.columns)
        sizes = [self._values(one, rows, None) for one in claim.columns]
        if numbers and rows.wanted <= counted:
            return product(sizes)
        most = next((one for one in numbers if one is not None), None)
        if most is None or not rows.wanted <= held | counted:
            raise RejectedError("columns that hold no key")
        missing = any(one.missing for one in rows.sources.values())  # rows without a key are a group of theirs
        return product([Quantity.number(most + missing), *sizes])

    def _sessions(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """Sessions, each with the keys of its last row: of a value that is no key no row says which there is."""
        session, closing = session_of(rows.node), self._closing(claim, rows)
        if session is None or closing is None or rows.by is None or rows.pair is not None:
            raise RejectedError("sessions that do not end")
        bucket, column = traced(rows.node, closing.column)
        if bucket.tree is not session or column - bucket.input("input").width not in (1, 2):
            raise RejectedError("sessions that do not end by their end")
        below, number = bucket.input("input"), closing.wait
        time, mine = below.place_of(parsed(session.time)), sources(bucket.input("input"))
        sizes = list[Quantity]()
        for one in claim.sources:
            if one.source not in mine:
                raise RejectedError("sources that are none")
            source = mine[one.source]
            if source.table is None or not source.is_stream or time is None or len(one.facts) != 1:
                sizes.append(self._rows(one, mine, frozenset(), rows, closing))
                continue
            fact = self.facts.time(one.facts[0], below, time)
            if fact.source != one.source or fact.function.name or fact.high is None:
                raise RejectedError("a time that does not limit the rows of sessions")
            if one.timestamps != max(0, number + fact.high + session.size):
                raise RejectedError("rows of sessions at another number of timestamps")
            options = self._tuples(source.table, one.timestamps)
            size = next((o for o in options if o.same(quantity(one.size, self.symbols))), None)
            if size is None or source.missing:
                raise RejectedError(f"{one.source} has not {one.size} rows")
            sizes.append(size)
        said = with_said(mine, frozenset(one.source for one in claim.sources))
        counted = {one.column for one in claim.columns}
        counted |= {place for place in rows.by if rows.says(place) <= said}
        if not rows.wanted <= counted:
            raise RejectedError("values of sessions that nothing counts")
        return product([*sizes, *(self._values(one, rows, closing) for one in claim.columns)])

    def _whole(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """All rows that there are at a time."""
        if rows.pair is not None:
            raise RejectedError("all rows of what is not counted by itself")
        if len(claim.of) == 1 and not claim.of[0].closing:
            (count,), below = claim.of, rows.node
            while not self._is_of(count, below) and (given := _with_as_many(below)) is not None:
                below = given
            return self.most(count, CountedColumns(below, below.every, None))
        return self._all_rows(rows.node, claim)

    def all_rows(self, node: PlanNode) -> Quantity:
        """All rows of relations, and of what is made of them, at a time."""
        return self._all_rows(node, ClaimedStateCount("whole", ""))

    def _all_rows(self, node: PlanNode, claim: ClaimedStateCount) -> Quantity:
        match node.tree:
            case Scan(table=name):
                table = node.catalog.table(name)
                if table is not None and table.one_key is not None and table.one_key.once:
                    return Quantity.number(1)
                options = [] if table is None or table.kind is Kind.STREAM else self._of_relation(table)
                if options:
                    return options[0]
            case tree if isinstance(tree, _NO_MORE_ROWS):
                return self._all_rows(node.input("input"), claim)
            case Bucket(kind=kind, size=size, slide=slide) if kind is not BucketKind.SESSION:
                most = Quantity.number(-(-size // slide) if slide else 1)
                return self._all_rows(node.input("input"), claim) * most
            case Aggregate(keys=keys):
                return self._all_rows(node.input("input"), claim) if keys else Quantity.number(1)
            case Union():
                return total(self._all_rows(node.input(side), claim) for side in ("left", "right"))
            case Except() | Intersect():
                return self._all_rows(node.input("left"), claim)
            case Join(kind=kind, using=()):
                return self._all_pairs(node, kind, claim)
            case Fixpoint():
                return product(self._of_recursion(node, place, claim) for place in range(node.width))
        raise RejectedError("all rows of what may have any number")

    def _all_pairs(self, node: PlanNode, kind: JoinKind, claim: ClaimedStateCount) -> Quantity:
        left = self._all_rows(node.input("left"), claim)
        if kind in ONE_SIDED:
            return left
        only, right = only_partner(node), self._all_rows(node.input("right"), claim)
        if only is not None:
            return left if only == "right" else right
        alone = {JoinKind.LEFT: [left], JoinKind.RIGHT: [right], JoinKind.FULL: [left, right]}
        return total([left * right, *alone.get(kind, [])])

    def _of_recursion(self, node: PlanNode, column: int, claim: ClaimedStateCount) -> Quantity:
        """F4: the values of a column: those that its facts say, or those of relations' rows that come into it."""
        for one in claim.columns:
            if one.column == column:
                return self._values(one, CountedColumns(node, node.every, None), None)
        found, todo, seen = dict[object, Quantity](), [column], set[int]()
        while todo:
            here = todo.pop()
            seen.add(here)
            for side in ("base", "step"):
                mine = node.input(side)
                below, place = traced(mine, here)
                if isinstance(below.tree, Recur) and below.recursion is not None and below.recursion.same(node):
                    todo += {place} - seen
                    continue
                way = self._of_rows(mine, here)
                sizes = [(self._of_relation(one.table)[0], one.missing) for one in way if one.table is not None]
                below, place = traced(mine, here, missing=True)
                if isinstance(below.tree, Scan) and len(sizes) == 1:
                    ((size, missing),) = sizes
                    found[below.tree.table, place, str(way[0].table and way[0].table.name)] = size
                    found |= {None: Quantity.number(1)} if missing else {}  # NULL, of rows without a partner
                else:  # a computed one has its own values
                    found[side, here] = product(size + Quantity.number(int(missing)) for size, missing in sizes)
        return total(found.values())

    def _of_rows(self, node: PlanNode, column: int) -> list[SourceOfRows]:
        """The relations of which rows, of each one, say a column's value."""
        mine = sources(node)
        for way in ways_to_say(node, column):
            known = [one for name in sorted(way) if not (one := mine[name]).version and not one.is_stream]
            if len(known) == len(way) and all(one.table is not None and self._of_relation(one.table) for one in known):
                return known
        raise RejectedError("a column of a recursion with any values")

    # --- when rows close ------------------------------------------------------------------------------------------

    def _closing(self, claim: ClaimedStateCount, rows: CountedColumns) -> ClosingFacts | None:
        """The column by which rows close: it says when they change, and is never NULL."""
        if not claim.closing:
            return None
        waiting = rows.side or (None if rows.pair is None else rows.node)
        if len(claim.closing) not in ((2,) if waiting is None else (2, 3)):
            raise RejectedError("rows close by two facts of a column")
        column, node = self.facts.column_of(claim.closing[0]), rows.whole or rows.facts_of
        time = self.facts.time(claim.closing[0], node, column)
        if time.source or time.low is None or self.facts.values(claim.closing[1], node, column).null:
            raise RejectedError("a column by which no rows close")
        above = column - (rows.first if rows.whole is None else rows.first_of_whole)
        place = above if rows.shown is None else rows.shown.get(above, -1)
        if not 0 <= place < rows.node.width or (rows.by is not None and place not in rows.by):
            raise RejectedError("rows close by a column that is not theirs")
        since = time if waiting is None else replace(time, high=self._since(claim, waiting, above, time))
        return ClosingFacts(place + rows.first, -time.low, since)

    def _since(self, claim: ClaimedStateCount, side: PlanNode, place: int, time: TimeFact) -> int | None:
        """A row of a side waits from when it comes, before pairs of it do: how far its time may be ahead of that."""
        if len(claim.closing) < 3:
            return None
        own = self.facts.time(claim.closing[2], side, place)
        if own.source or own.function.name != time.function.name:
            raise RejectedError("rows of a side come at another time")
        return own.high

    # --- rows and values ------------------------------------------------------------------------------------------

    def _rows(
        self,
        claim: ClaimedSource,
        found: Sources,
        chosen: frozenset[str],
        rows: CountedColumns,
        closing: ClosingFacts | None,
    ) -> Quantity:
        """The rows of a source that open rows are made of; beside those of others as many as these leave."""
        source, options = found[claim.source], list[Quantity]()
        if claim.timestamps is None and source.by is not None:
            beside = source.by <= with_said(found, chosen - {claim.source})
            options += [Quantity.number(source.fan)] if beside else []
        if source.single:
            options.append(Quantity.number(1))
        elif source.union is not None:
            options.append(self.all_rows(source.union))
        elif source.every is not None and claim.timestamps is not None:
            options.append(Quantity.number(self._buckets(claim, source.every, rows, closing)))
        elif source.table is not None and source.is_stream and claim.facts:
            number = self._timestamps(claim, rows, closing)
            if claim.timestamps != number:
                raise RejectedError(f"rows of {claim.source} at another number of timestamps")
            options += self._tuples(source.table, number)
        elif source.table is not None and not source.is_stream and not source.version:
            options += self._of_relation(source.table)
        options = [one + Quantity.number(int(source.missing)) for one in options]
        said = quantity(claim.size, self.symbols)
        size = next((one for one in options if one.same(said)), None)
        if size is None:
            raise RejectedError(f"{claim.source} has not {claim.size} rows")
        return size

    @staticmethod
    def _buckets(claim: ClaimedSource, every: int, rows: CountedColumns, closing: ClosingFacts | None) -> int:
        """The buckets that are open, by a column that says which one a row is in."""
        if closing is None:
            raise RejectedError("buckets that are open for ever")
        if rows.says(closing.column - rows.first) != {claim.source}:
            raise RejectedError("a column that does not say which bucket a row is in")
        number = closing.begun(every)
        if number is None or claim.timestamps != number:
            raise RejectedError("another number of buckets")
        return number

    def _timestamps(self, claim: ClaimedSource, rows: CountedColumns, closing: ClosingFacts | None) -> int:
        """At how many timestamps rows of a source come, by the closing column, or by a column with few values."""
        if len(claim.facts) == 1 and closing is not None:
            time = self.facts.time(claim.facts[0], rows.facts_of, closing.column, beside=True)
            return closing.timestamps(claim.source, time)
        if len(claim.facts) != 2 or not 0 <= claim.facts[0] < len(self.facts.claimed):
            raise RejectedError(f"nothing says at how many timestamps rows of {claim.source} come")
        column = self.facts.claimed[claim.facts[0]].column
        values = self.facts.values(claim.facts[0], rows.facts_of, column)
        time = self.facts.time(claim.facts[1], rows.facts_of, column)
        (first, last), kind = values.ends, rows.facts_of.schema[column].type
        if values.null or time.source != claim.source or time.function.name or kind is None or not kind.discrete:
            raise RejectedError(f"a column that does not limit {claim.source}")
        if first is None or last is None or time.low is None or time.high is None:
            raise RejectedError(f"a column that does not limit {claim.source}")
        number = max(0, int(last - time.low) - int(first - time.high) + 1)
        exact = time.low == time.high and values.size is not None
        return min(number, values.size or 0) if exact else number

    def _tuples(self, table: DeclaredTable, timestamps: int) -> list[Quantity]:
        """The rows of so many timestamps that follow each other, by each of the rates that there are."""
        c, rate = symbol("c", table.name), symbol("rate", table.name)
        self.symbols.setdefault(c, Quantity.symbol(c, table.max_per_timestamp))
        found = [self.symbols[c] * Quantity.number(timestamps)]
        if table.max_rate is not None:
            self.symbols.setdefault(rate, Quantity.symbol(rate, table.max_rate.rows))
            begun, rest = divmod(timestamps, table.max_rate.per)
            found.append(self.symbols[rate] * Quantity.number(begun + (1 if rest else 0)))
        return found

    def _of_relation(self, table: DeclaredTable) -> list[Quantity]:
        if not table.is_fixed:
            if table.rows is not None:
                return [Quantity.number(table.rows)]
            key = [column for name in (table.changes.key if table.changes else ()) if (column := table.column(name))]
            sizes = [of_domain(column.domain, column.type, null=True).size for column in key]
            known = [Quantity.number(size) for size in sizes if size is not None]
            return [product(known)] if key and len(known) == len(key) else []  # one row for each value of its key
        name = symbol("rows", table.name)
        self.symbols.setdefault(name, Quantity.symbol(name, table.rows))
        return [self.symbols[name]]

    def _values(self, claim: ClaimedColumn, rows: CountedColumns, closing: ClosingFacts | None) -> Quantity:
        """The values of a column that open rows have."""
        column = claim.column + rows.first
        if not 0 <= claim.column < rows.node.width:
            raise RejectedError("a column that is none")
        if claim.rule == "set" and len(claim.facts) == 1:
            size = self.facts.values(claim.facts[0], rows.facts_of, column).size
        elif claim.rule == "closed" and closing is not None and closing.column == column:
            size = closing.buckets
        elif claim.rule == "clipped" and rows.pair is not None and claim.facts:
            size = self._clipped(claim, column, rows, rows.pair)
        elif claim.rule == "finer" and closing is not None and 2 <= len(claim.facts) <= 3:
            size = self._finer(claim, column, rows, closing)
        elif claim.rule == "near" and closing is not None and 2 <= len(claim.facts) <= 3:
            size = self._near(claim, column, rows, closing)
        else:
            raise NotCheckedError(f"values by the rule {claim.rule!r}")
        if size != claim.size:
            raise RejectedError(f"{rows.node.schema[claim.column].name} has not {claim.size} values")
        return Quantity.number(claim.size)

    def _near(self, claim: ClaimedColumn, column: int, rows: CountedColumns, closing: ClosingFacts) -> int | None:
        """The values of another time near those of a source's rows at so many timestamps, and NULL."""
        time = self.facts.time(claim.facts[0], rows.facts_of, column)
        limit = self.facts.time(claim.facts[1], rows.facts_of, closing.column, beside=True)
        null = len(claim.facts) < 3 or self.facts.values(claim.facts[2], rows.facts_of, column).null
        if time.source != limit.source or not time.source or time.low is None or time.high is None:
            raise RejectedError("times of different sources")
        number = closing.timestamps(time.source, limit)
        length = number + time.high - time.low + time.function.width - 1
        return (-(-length // time.function.shortest) if number else 0) + null

    def _clipped(self, claim: ClaimedColumn, column: int, rows: CountedColumns, pair: PlanNode) -> int | None:
        """D5: the values that comparisons with other columns tell apart: all that are beyond these fare alike."""
        values, kind = self.facts.values(claim.facts[0], pair, column), pair.schema[column].type
        parts = [one for one in pair.conditions if column in pair.read_by(one)]
        limits = [atoms.alike(one, pair.row, column) for one in parts]
        known = [one for one in limits if one is not None]
        if claim.column not in rows.read_only or kind is None or kind.family is not Family.INTEGER or not known:
            raise RejectedError("values that are not only compared")
        if len(known) < len(limits) or len(claim.facts) != 1 + len(known):
            raise RejectedError("values that are not only compared")
        lows, highs = list[int](), list[int]()
        for (other, below, above), fact in zip(known, claim.facts[1:], strict=True):
            low, high = self.facts.values(fact, pair, other).ends
            lows += [low + below] if isinstance(low, int) else []
            highs += [high + above] if isinstance(high, int) else []
        own = values.ends
        low, high = (None if end is None else end for end in own)
        if low is None and len(lows) == len(known):
            low = min(lows) if high is None else min(*lows, high)
        if high is None and len(highs) == len(known):
            high = max(highs) if own[0] is None else max(*highs, own[0])
        return None if low is None or high is None else int(floor(high) - ceil(low)) + 1 + values.null

    def _finer(self, claim: ClaimedColumn, column: int, rows: CountedColumns, closing: ClosingFacts) -> int | None:
        """The buckets within those that are open, of the same time, and NULL."""
        time = self.facts.time(claim.facts[0], rows.facts_of, column)
        whole = self.facts.time(claim.facts[1], rows.facts_of, closing.column)
        null = len(claim.facts) < 3 or self.facts.values(claim.facts[2], rows.facts_of, column).null
        same = (time.source, time.low, time.high) == (whole.source, whole.low, whole.high)
        part, every = time.function.division, whole.function.division
        if (
            not same
            or not time.source
            or time.low is None
            or time.low != time.high
            or whole.function.name != closing.now.function.name
        ):
            raise RejectedError("buckets of different times")
        if part is None or every is None or every % part or closing.buckets is None:
            raise RejectedError("buckets that are not within those that are open")
        return closing.buckets * (every // part) + null


@dataclass(frozen=True, slots=True)
class ClosingFacts:
    """A column by which rows close: one changes until ``wait`` after the last time of its bucket."""

    column: int
    wait: int
    now: TimeFact

    @property
    def buckets(self) -> int | None:
        """The most different values that open rows have; None without limit.

        A bucket is open if one of the times from ``wait`` ago to ``ahead`` is in it: the function is non-decreasing.
        """
        length, ahead = self.now.function.shortest, self.now.high
        return None if ahead is None else max(0, -(-(self.wait + length - 1 + ahead) // length))

    def begun(self, every: int) -> int | None:
        """The most of those that begin every so many timestamps."""
        width, ahead = self.now.function.width, self.now.high
        return None if ahead is None else max(0, -(-(self.wait + width - 1 + ahead) // every))

    def timestamps(self, source: str, time: TimeFact) -> int:
        """At how many timestamps rows of a source come that open rows are made of."""
        if time.source != source or time.function.name != self.now.function.name or time.high is None:
            raise RejectedError(f"a time that does not limit {source}")
        return max(0, self.wait + self.now.function.width - 1 + time.high)


def _is_of_rows(node: PlanNode) -> bool:
    """Whether rows are combinations of rows of streams and relations, those without a partner among them."""
    match node.tree:
        case Scan(changes=changes):
            return not changes
        case Filter() | Alias() | Project():
            return _is_of_rows(node.input("input"))
        case Join(kind=kind, using=()):
            return kind not in ONE_SIDED and _is_of_rows(node.input("left")) and _is_of_rows(node.input("right"))
    return False


def _with_as_many(node: PlanNode) -> PlanNode | None:
    """The input of which there are as many rows as of the node, or more."""
    match node.tree:
        case tree if isinstance(tree, _NO_MORE_ROWS):
            return node.input("input")
        case Join(kind=kind) if kind in ONE_SIDED:
            return node.input("left")
        case Except() | Intersect():
            return node.input("left")
    return None
