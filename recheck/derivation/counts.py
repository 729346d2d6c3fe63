"""Why a state has no more entries: rows of sources, values of columns, products and sums of these.

Entries are as many as there are different combinations of some columns, of rows that are open. A column that a chosen
source's rows say has no values of its own, nor has one that an atom makes equal to a counted one.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.formula import quantity
from streambound.recheck.certificates.quantity import Quantity, product, total
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.claims import ClaimedColumn, ClaimedSource, ClaimedStateCount, NotCheckedError
from streambound.recheck.derivation.closing import ClosingFacts, values_by
from streambound.recheck.derivation.facts import CheckedFacts
from streambound.recheck.derivation.plan import Places, PlanNode, origin, parts, session_of, traced
from streambound.recheck.derivation.rows import Sources, keys, only_grows, says, sources, ways_to_say, with_said
from streambound.recheck.derivation.whole import WholeRows, stream_rows, with_as_many_each


class FactsAbout(Struct, frozen=True):
    """Where facts about rows are: at a node, by the places that the rows' columns have there."""

    node: PlanNode
    at: Mapping[int, int]
    side: str = ""
    """The side of pairs that the rows are, whose sources are called after it."""

    def place_of(self, column: int) -> int:
        """The column of the rows that is at a place of the node; -1 for none."""
        return next((place for place, at in self.at.items() if at == column), -1)


def known_at(node: PlanNode) -> FactsAbout:
    """Facts about rows themselves."""
    return FactsAbout(node, {place: place for place in range(node.width)})


class CountedColumns(Struct, frozen=True):
    """The columns that are counted, of a node's rows, which close by some of their columns; by any for None.

    ``facts``: of the rows, which are a join's side in which they have a partner, or of the node. ``closing``: of what
    they are parts of, which are kept until none of the whole can be equal. ``since``: of the side whose rows wait for
    pairs, from when they come. ``compared``: columns that a join's condition only compares. Rows that are not of
    ``one_side`` may have a key of it several times. They stay ``later`` timestamps after they changed.
    """

    node: PlanNode
    wanted: Places
    by: Places | None
    facts: FactsAbout
    closing: FactsAbout | None = None
    since: FactsAbout | None = None
    compared: Places = frozenset()
    one_side: bool = True
    later: int = 0


def counted(node: PlanNode, wanted: Places | None = None, by: Places | None = None) -> CountedColumns:
    """Columns of a node's rows, or all."""
    return CountedColumns(node, node.every if wanted is None else wanted, by, known_at(node))


class Counts(Struct):
    """Checks counts by the facts of a derivation; ``symbols`` are those of its formulas."""

    facts: CheckedFacts
    symbols: dict[str, Quantity] = field(default_factory=dict)

    def most(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """The most entries; raises RejectedError where the count does not say so."""
        rules = {
            "combinations": self._combinations,
            "apart": self._apart,
            "parts": self._parts,
            "below": self._below,
            "whole": self._whole,
            "keys": self._keys,
            "sessions": self._sessions,
        }
        if claim.rule == "one" and not rows.wanted:
            return self.agreed(claim.size, Quantity.number(1))
        if claim.rule not in rules:
            raise NotCheckedError(f"counts by the rule {claim.rule!r}")
        if not self.is_of(claim, rows.facts.node):
            raise RejectedError("a count of the rows of another node")
        return self.agreed(claim.size, rules[claim.rule](claim, rows))

    def agreed(self, formula: str, found: Quantity) -> Quantity:
        """A size; raises RejectedError where a formula is another one."""
        if not quantity(formula, self.symbols).same(found):
            raise RejectedError(f"a count says {formula}, which is another number")
        return found

    def is_of(self, claim: ClaimedStateCount, node: PlanNode) -> bool:
        """Whether a count is of a node's rows."""
        return claim.node is not None and self.facts.nodes.at(claim.node).same(node)

    def recent(self, claim: ClaimedStateCount, node: PlanNode, timestamps: int) -> Quantity:
        """The rows that a node, whose rows come with their time, adds at a number of timestamps."""
        several = parts(node) if claim.rule == "parts" and self.is_of(claim, node) else []
        if several and len(several) == len(claim.of):
            each = [self.recent(one, part, timestamps) for one, part in zip(claim.of, several, strict=True)]
            return self.agreed(claim.size, total(each))
        mine, chosen, rows = sources(node), [one.source for one in claim.sources], counted(node)
        column = self.facts.column_of(claim.closing[0] if len(claim.closing) == 2 else None)
        every = claim.number == timestamps and not claim.columns and len({*chosen}) == len(chosen)
        every = every and {*chosen} <= mine.keys() and with_said(mine, frozenset(chosen)) >= mine.keys()
        time = self.facts.time(claim.closing[0], node, column)
        every = every and not self.facts.values(claim.closing[1], node, column).null
        if claim.rule != "recent" or not every or not self.is_of(claim, node) or not (time.is_now and only_grows(node)):
            raise RejectedError("rows that do not come with their time, or are counted as others")
        closing = ClosingFacts(column, timestamps, time)
        return self.agreed(claim.size, self._rows_of_all(claim, mine, rows, closing))

    # --- rules ----------------------------------------------------------------------------------------------------

    def _combinations(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        closing, mine = self._closing(claim, rows), sources(rows.node)
        chosen = frozenset(one.source for one in claim.sources)
        if len(chosen) < len(claim.sources) or not chosen <= mine.keys():
            raise RejectedError("sources that are none, or counted twice")
        values = [self._values(one, rows, closing) for one in claim.columns]
        if any(one.same(Quantity.number(0)) for one in values):
            return Quantity.number(0)  # a column without a value: there are no rows
        size = product([self._rows_of_all(claim, mine, rows, closing), *values])
        said, at = with_said(mine, chosen), rows.facts.at
        said_places = {p for p in range(rows.node.width) if any(way <= said for way in ways_to_say(rows.node, p))}
        covered = {at[one.column] for one in claim.columns} | {at[p] for p in said_places & rows.wanted}
        for atom in claim.equal:
            both = atoms.equal(self.facts.atom(rows.facts.node, atom), rows.facts.node.row)
            if not rows.facts.side or not both & covered:
                raise RejectedError("columns that nothing makes equal")
            covered |= both
        told = covered | {at[p] for p in said_places}
        if rows.one_side and any(all(at[place] in told for place in key) for key in keys(rows.node)):
            return size  # which says the other columns
        missing = sorted(place for place in rows.wanted if at[place] not in covered)
        if missing:
            raise RejectedError(f"nothing counts {', '.join(rows.node.schema[one].name for one in missing)}")
        return size

    def _apart(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """The rows of streams that open rows are made of, kept apart, and joined again."""
        closing = self._closing(claim, rows)
        streams = {name: replace(one, missing=False) for name, one in sources(rows.node).items() if one.is_stream}
        if closing is None or not _is_of_rows(rows.node) or [one.source for one in claim.sources] != [*streams]:
            raise RejectedError("rows that are not kept apart")
        return total(self._rows(one, streams, frozenset(), rows, closing) for one in claim.sources)

    def _parts(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """The rows of all parts, each kept until none of the whole can be equal, or until no pair of it changes."""
        several, whole = parts(rows.node), rows.closing or rows.facts
        if not several or len(claim.of) != len(several):
            raise RejectedError("parts of what has none")
        rows = replace(rows, closing=whole, compared=frozenset(), one_side=True)
        each = [replace(rows, node=one, facts=known_at(one)) for one in several]
        return total(self.most(one, part) for one, part in zip(claim.of, each, strict=True))

    def _below(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """The columns below a select list that are shown, or all of them where some are computed."""
        shown = rows.node
        while isinstance(shown.tree, nodes.Filter | nodes.Alias | nodes.Distinct | nodes.SpjBlock):
            shown = shown.below
        if not isinstance(shown.tree, nodes.Project) or len(claim.of) != 1:
            raise RejectedError("rows below what is no select list")
        found = {p: one for p in range(shown.width) if (one := origin(shown, p)) and one.column is not None}
        by = None if rows.by is None else frozenset(one.column or 0 for p, one in found.items() if p in rows.by)
        plain = frozenset(found[place].column or 0 for place in rows.wanted if place in found)
        wanted = plain if len(plain) == len(rows.wanted) else shown.below.every
        whole = rows.closing or (None if rows.since is None else rows.facts)

        def above(known: FactsAbout | None) -> FactsAbout | None:
            at = {one.column or 0: known.at[p] for p, one in found.items() if p in known.at} if known else {}
            return known and replace(known, at=at)

        below = CountedColumns(
            shown.below, wanted, by, known_at(shown.below), above(whole), above(rows.since), later=rows.later
        )
        return self.most(claim.of[0], below)

    def _whole(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """All rows that there are at a time; of a join's side, whether they have a partner or not."""
        rows = counted(rows.node) if rows.facts.side else rows
        if len(claim.of) == 1 and claim.of[0].rule == "combinations" and not claim.of[0].closing:
            below = (one for one in with_as_many_each(rows.node) if self.is_of(claim.of[0], one))
            return self.most(claim.of[0], counted(next(below, rows.node)))
        if claim.of and all(one.rule == "whole" for one in claim.of):
            *_, union = with_as_many_each(rows.node)
            sides = [*union.inputs.values()] if isinstance(union.tree, nodes.Union) else []
            if len(sides) != len(claim.of):
                raise RejectedError("sides of what is no union")
            return total(self.most(one, counted(side)) for one, side in zip(claim.of, sides, strict=True))
        *_, lowest = with_as_many_each(rows.node)
        every = counted(lowest)
        values = {one.column: self._values(one, every, None) for one in claim.columns}
        return WholeRows(self.symbols, values, self.facts).of(rows.node)

    def _keys(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """K1: columns that hold a key which punctuations end, of rows of that stream alone, and values beside them.

        Or the values of all columns, which the key ends, too.
        """
        mine, held = sources(rows.node), {*claim.key}
        changing = [n for n, one in mine.items() if one.every is None and (one.table is None or not one.table.is_fixed)]
        if len(changing) != 1 or rows.facts.side or not held <= (rows.wanted & (rows.by or rows.wanted)):
            raise RejectedError("a key of several streams, or of columns that are not there")
        found, table = [traced(rows.node, place, missing=True) for place in claim.key], mine[changing[0]].table
        is_of = all(says(rows.node, place) == {*changing} for place in held)
        if table is None or not is_of or not all(isinstance(below.tree, nodes.Scan) for below, _ in found):
            raise RejectedError("columns that hold no key")
        named = tuple(below.schema[column].name for below, column in found)
        numbers = [key.max_open for key in table.ending if key.attributes == named]
        columns = frozenset(one.column for one in claim.columns)
        sizes = [self._values(one, rows, None) for one in claim.columns]
        if numbers and rows.wanted <= columns:
            return product(sizes)
        most = next((one for one in numbers if one is not None), None)
        if most is None or not rows.wanted <= held | columns:
            raise RejectedError("columns that hold no key")
        missing = any(one.missing for one in mine.values())  # rows without a key are a group of theirs
        return product([Quantity.number(most + missing), *sizes])

    def _sessions(self, claim: ClaimedStateCount, rows: CountedColumns) -> Quantity:
        """Sessions, each with the keys of its last row; or their rows, if a key says how long a session is at most.

        Of a value that is no key no last row says which there is.
        """
        session, closing = session_of(rows.node), self._closing(claim, rows)
        if session is None or closing is None or rows.by is None or rows.facts.side:
            raise RejectedError("sessions that do not end")
        bucket, column = traced(rows.node, closing.place)
        if bucket.tree is not session or column - bucket.below.width not in (1, 2):
            raise RejectedError("sessions that do not end by their end")
        time, mine, sizes = bucket.below.place_of(session.time), sources(bucket.below), list[Quantity]()
        if any(one.source not in mine for one in claim.sources):
            raise RejectedError("sources that are none")
        for one in claim.sources:
            table = mine[one.source].table
            if table is None or not mine[one.source].is_stream or time is None or len(one.facts) not in (1, 3):
                sizes.append(self._rows(one, mine, frozenset(), rows, closing))
                continue
            fact = self.facts.time(one.facts[0], bucket.below, time)
            if fact.source != one.source or fact.function.name or fact.high is None or mine[one.source].missing:
                raise RejectedError("a time that does not limit the rows of sessions")
            length = self._length(one, rows) if len(one.facts) == 3 else 0
            number = max(0, closing.wait + fact.high + session.size + length)
            sizes.append(self._chosen(one, number, stream_rows(self.symbols, table, number)))
        above = bucket_path(rows.node)
        said = frozenset(f"{above}{one}" for one in with_said(mine, frozenset(one.source for one in claim.sources)))
        by = rows.by if any(len(one.facts) == 1 for one in claim.sources) else rows.node.every
        columns = {one.column for one in claim.columns} | {p for p in by if says(rows.node, p) <= said}
        if not rows.wanted <= columns:
            raise RejectedError("values of sessions that nothing counts")
        return product([*sizes, *(self._values(one, rows, closing) for one in claim.columns)])

    def _length(self, claim: ClaimedSource, rows: CountedColumns) -> int:
        """How much later another row of a session is at most, as it agrees in a key that is a bucket of the time."""
        key = self.facts.column_of(claim.facts[1])
        time = self.facts.time(claim.facts[1], rows.node, key)
        if key not in (rows.by or ()) or self.facts.values(claim.facts[2], rows.node, key).null:
            raise RejectedError("a column in which rows of a session need not agree")
        if time.source != f"{bucket_path(rows.node)}{claim.source}" or time.low is None or time.high is None:
            raise RejectedError("a key that does not limit how long sessions are")
        return time.function.width - 1 + time.high - time.low

    # --- when rows close ------------------------------------------------------------------------------------------

    def _closing(self, claim: ClaimedStateCount, rows: CountedColumns) -> ClosingFacts | None:
        """The column by which rows close: it says when they change, and is never NULL."""
        if not claim.closing:
            return None
        if len(claim.closing) not in ((2,) if rows.since is None else (2, 3)):
            raise RejectedError("rows close by two facts of a column")
        known, column = rows.closing or rows.facts, self.facts.column_of(claim.closing[0])
        time, place = self.facts.time(claim.closing[0], known.node, column), known.place_of(column)
        if time.source or time.low is None or self.facts.values(claim.closing[1], known.node, column).null:
            raise RejectedError("a column by which no rows close")
        if not 0 <= place < rows.node.width or (rows.by is not None and place not in rows.by):
            raise RejectedError("rows close by a column that is not theirs")
        since = time
        if rows.since is not None:  # a row waits from when it comes, before pairs of it do
            own = replace(time, high=None)
            if len(claim.closing) == 3:
                own = self.facts.time(claim.closing[2], rows.since.node, rows.since.at.get(place, -1))
            if own.source or own.function.name != time.function.name:
                raise RejectedError("rows of a side come at another time")
            since = replace(time, high=own.high)
        return ClosingFacts(place, rows.later - time.low, since)

    # --- rows and values ------------------------------------------------------------------------------------------

    def _rows_of_all(
        self, claim: ClaimedStateCount, found: Sources, rows: CountedColumns, closing: ClosingFacts | None
    ) -> Quantity:
        """Combinations of the rows of sources, each counted beside those before it."""
        names = [one.source for one in claim.sources]
        before = [frozenset(names[:number]) for number in range(len(names))]
        return product(
            self._rows(one, found, others, rows, closing) for one, others in zip(claim.sources, before, strict=True)
        )

    def _rows(
        self, claim: ClaimedSource, found: Sources, before: frozenset[str], rows: CountedColumns,
        closing: ClosingFacts | None,
    ) -> Quantity:  # fmt: skip
        """The rows of a source that open rows are made of; beside those of others as many as these leave."""
        source, options, number = found[claim.source], list[Quantity](), None
        if claim.timestamps is None and source.by is not None:
            beside = source.by <= with_said(found, before)
            options += [Quantity.number(source.fan)] if beside else []
        if claim.beside is not None:
            if claim.beside not in before or found[claim.beside].missing or not source.is_stream:
                raise RejectedError("rows beside none")
            number = self._timestamps_beside(claim, rows)
            options += [] if source.table is None else stream_rows(self.symbols, source.table, number)
        elif source.single:
            options.append(Quantity.number(1))
        elif source.union is not None:
            options.append(WholeRows(self.symbols).of(source.union))
        elif source.every is not None and claim.timestamps is not None and closing is not None:
            if says(rows.node, closing.place) != {claim.source}:
                raise RejectedError("a column that does not say which bucket a row is in")
            number = closing.begun(source.every)
            options += [] if number is None else [Quantity.number(number)]
        elif source.table is not None and source.is_stream and claim.facts:
            number = self._timestamps(claim, rows, closing)
            options += stream_rows(self.symbols, source.table, number)
        elif source.table is not None and not source.is_stream and not source.version:
            options += WholeRows(self.symbols).of_relation(source.table)
        options = [one + Quantity.number(int(source.missing)) for one in options]
        return self._chosen(claim, number, options)

    def _chosen(self, claim: ClaimedSource, number: int | None, options: list[Quantity]) -> Quantity:
        """The claimed number of rows, at a number of timestamps; raises RejectedError if it is no option."""
        said = quantity(claim.size, self.symbols)
        size = next((one for one in options if one.same(said)), None)
        if size is None or claim.timestamps != number:
            raise RejectedError(f"{claim.source} has not {claim.size} rows")
        return size

    def _timestamps(self, claim: ClaimedSource, rows: CountedColumns, closing: ClosingFacts | None) -> int:
        """At how many timestamps rows of a source come, by the closing column, or by a column with few values."""
        node, name = rows.facts.node, rows.facts.side + claim.source
        if len(claim.facts) == 1 and closing is not None:
            return closing.timestamps(
                name, self.facts.time(claim.facts[0], node, rows.facts.at[closing.place], beside=True)
            )
        column = self.facts.column_of(claim.facts[0] if len(claim.facts) == 2 else None)
        values, time = self.facts.values(claim.facts[0], node, column), self.facts.time(claim.facts[1], node, column)
        (first, last), kind = values.ends, node.schema[column].type
        exact = time.source == name and not time.function.name and kind is not None and kind.discrete
        if values.null or not exact or first is None or last is None or time.low is None or time.high is None:
            raise RejectedError(f"a column that does not limit {claim.source}")
        number = max(0, int(last - time.low) - int(first - time.high) + 1)
        return min(number, values.size) if time.low == time.high and values.size is not None else number

    def _timestamps_beside(self, claim: ClaimedSource, rows: CountedColumns) -> int:
        """At how many timestamps rows of a source come beside a row of another one, by a column that is near both."""
        node, side, column = rows.facts.node, rows.facts.side, self.facts.column_of(next(iter(claim.facts), None))
        if (
            len(claim.facts) != 3
            or session_of(node) is not None
            or self.facts.values(claim.facts[0], node, column).null
        ):
            raise RejectedError("a column that is near no row")
        times = [self.facts.time(one, node, column, at > 0) for at, one in enumerate(claim.facts[1:])]
        if [f"{side}{claim.beside}", f"{side}{claim.source}"] != [one.source for one in times]:
            raise RejectedError("a column that is near other rows")
        spans = [
            one.high - one.low
            for one in times
            if not one.function.name and one.low is not None and one.high is not None
        ]
        if len(spans) < len(times):
            raise RejectedError("a column that is not near rows")
        return sum(spans) + 1

    def _values(self, claim: ClaimedColumn, rows: CountedColumns, closing: ClosingFacts | None) -> Quantity:
        """The values of a column that open rows have."""
        if not 0 <= claim.column < rows.node.width:
            raise RejectedError("a column that is none")
        column, node = rows.facts.at[claim.column], rows.facts.node
        if claim.rule == "clipped" and claim.column not in rows.compared:
            raise RejectedError("values that are not only compared")
        if claim.rule == "closed":
            size = None if closing is None or closing.place != claim.column else closing.buckets
        else:
            at = None if closing is None else rows.facts.at[closing.place]
            size = values_by(self.facts, claim, node, column, closing, at)
        if size != claim.size:
            raise RejectedError(f"{rows.node.schema[claim.column].name} has not {claim.size} values")
        return Quantity.number(claim.size)


def bucket_path(node: PlanNode) -> str:
    """The fields that lead from a select list to the rows of its sessions."""
    return "input.input." + ("input." if isinstance(node.below.tree, nodes.Filter) else "")


def _is_of_rows(node: PlanNode) -> bool:
    """Whether rows are combinations of rows of streams and relations, those without a partner among them."""
    match node.tree:
        case nodes.Scan(changes=changes):
            return not changes
        case nodes.Filter() | nodes.Alias() | nodes.Project() | nodes.Join(using=()):
            one_sided = isinstance(node.tree, nodes.Join) and node.tree.kind in nodes.ONE_SIDED
            return not one_sided and all(map(_is_of_rows, node.inputs.values()))
    return False
