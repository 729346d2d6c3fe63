"""Why a state has at most so many entries: rows of sources, values of columns, products and sums of these.

Entries are as many as there are different combinations of some columns, of rows that are open. A column that a chosen
source's rows say has no values of its own, nor has one that an atom makes equal to a counted one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from streambound.analyzer.algebra.nodes import ONE_SIDED, Alias, Except, Filter, Intersect, Join, Project, Scan, Union
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.symbols import symbol
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.formula import quantity
from streambound.recheck.certificates.quantity import Quantity, product, total
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.claims import ClaimedColumn, ClaimedSource, ClaimedStateCount, NotCheckedError
from streambound.recheck.derivation.facts import CheckedFacts, TimeFact
from streambound.recheck.derivation.trees import (
    Places,
    PlanNode,
    Sources,
    keys,
    listed,
    names_in_pairs,
    only_grows,
    origin,
    says,
    sources,
    with_said,
)


@dataclass(frozen=True)
class CountedColumns:
    """What is counted: columns of a node's rows, which close by some columns of theirs; by any for None.

    ``pair``: of a join's side that begins at ``first`` in the pairs, in which its rows are those that have a partner.
    ``whole``: of a part of a union, whose rows are kept until none of the whole can be equal.
    """

    node: PlanNode
    wanted: Places
    by: Places | None
    pair: PlanNode | None = None
    first: int = 0
    whole: PlanNode | None = None

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
        }
        if claim.rule not in rules:
            raise NotCheckedError(f"counts by the rule {claim.rule!r}")
        if claim.node is None or not self.facts.nodes.at(claim.node).same(rows.facts_of):
            raise RejectedError("a count of the rows of another node")
        found = rules[claim.rule](claim, rows)
        self.agreed(claim.size, found)
        return found

    def agreed(self, formula: str, found: Quantity) -> None:
        """Raises RejectedError where a formula is not the size that was found."""
        if not quantity(formula, self.symbols).same(found):
            raise RejectedError(f"a count says {formula}, which is another number")

    @staticmethod
    def sum(sizes: Sequence[Quantity]) -> Quantity:
        """The sum of some sizes."""
        return total(sizes)

    def recent(self, claim: ClaimedStateCount, node: PlanNode, timestamps: int) -> Quantity:
        """The rows that a node, whose rows come with their time, adds at so many timestamps."""
        mine, chosen = sources(node), frozenset(one.source for one in claim.sources)
        column = self.facts.column_of(claim.closing[0]) if claim.closing else -1
        if claim.rule != "recent" or claim.number != timestamps or claim.columns or chosen != mine.keys():
            raise RejectedError("rows of late that are counted as others")
        time = self.facts.time(claim.closing[0] if claim.closing else -1, node, column)
        if (time.source, time.low, time.high, time.function.name) != ("", 0, 0, "") or not only_grows(node):
            raise RejectedError("rows that do not come with their time")
        if claim.node is None or not self.facts.nodes.at(claim.node).same(node):
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
        counted = {one.column for one in claim.columns} | {p for p in rows.wanted if rows.says(p) <= said}
        covered = {place + rows.first for place in counted}
        for equal in claim.equal:
            covered |= self._equal(equal.atom, rows, {equal.column, equal.other}, covered)
        if any(all(place + rows.first in covered for place in key) for key in keys(rows.node)):
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
        """The rows of both sides of a union, or of a set operation until neither side can change them."""
        kinds = Union if claim.rule == "parts" else (Except, Intersect)
        if not isinstance(rows.node.tree, kinds) or len(claim.of) != 2 or rows.pair is not None:
            raise RejectedError("parts of what has none")
        sides = [rows.node.input("left"), rows.node.input("right")]
        whole = None if rows.by is None else rows.whole or rows.node
        parts = [CountedColumns(side, rows.wanted, rows.by, whole=whole) for side in sides]
        return total(self.most(one, part) for one, part in zip(claim.of, parts, strict=True))

    def _below(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """All columns of the rows below a select list."""
        if not isinstance(rows.node.tree, Project) or len(claim.of) != 1 or rows.pair is not None:
            raise RejectedError("rows below what is no select list")
        found = [origin(rows.node, place) for place in range(len(listed(rows.node)))]
        by = None
        if rows.by is not None:
            shown = {one.column for place, one in enumerate(found) if one is not None and place in rows.by}
            by = frozenset(place for place in shown if place is not None)
        if rows.whole is not None:
            raise NotCheckedError("rows below a part of a union")
        below = rows.node.input("input")
        return self.most(claim.of[0], CountedColumns(below, below.every, by))

    # --- when rows close ------------------------------------------------------------------------------------------

    def _closing(self, claim: ClaimedStateCount, rows: CountedColumns) -> ClosingFacts | None:
        """The column by which rows close: it says when they change, and is never NULL."""
        if not claim.closing:
            return None
        sides = (2, 3) if rows.pair is not None else (2,)
        if len(claim.closing) not in sides or not 0 <= claim.closing[0] < len(self.facts.claimed):
            raise RejectedError("rows close by two facts of a column")
        column, node = self.facts.claimed[claim.closing[0]].column, rows.whole or rows.facts_of
        time = self.facts.time(claim.closing[0], node, column)
        if time.source or time.low is None or self.facts.values(claim.closing[1], node, column).null:
            raise RejectedError("a column by which no rows close")
        place = column - rows.first
        if not 0 <= place < rows.node.width or (rows.by is not None and place not in rows.by):
            raise RejectedError("rows close by a column that is not theirs")
        if rows.pair is None:
            return ClosingFacts(column, -time.low, time)
        return ClosingFacts(column, -time.low, replace(time, high=self._since(claim, rows, place, time)))

    def _since(self, claim: ClaimedStateCount, rows: CountedColumns, place: int, time: TimeFact) -> int | None:
        """A row of a side waits from when it comes, before pairs of it do: how far its time may be ahead of that."""
        if len(claim.closing) < 3:
            return None
        own = self.facts.time(claim.closing[2], rows.node, place)
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
        return max(0, int(last - time.low) - int(first - time.high) + 1)

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
            return [] if table.rows is None else [Quantity.number(table.rows)]
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
