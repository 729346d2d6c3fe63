"""Functions over windows of rows: the first n rows of each partition, the last n, those of a time, or all of a view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.facts import facts
from streambound.analyzer.algebra.made_columns import made_column
from streambound.analyzer.algebra.nodes import Named, Over, Project, Scalar, Side, Tree, Unit, WindowCall
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import meant
from streambound.analyzer.flatten import written
from streambound.analyzer.query import Query, TimeValue
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.certificates.sizes import tuples_of
from streambound.recheck.certificates.validate import symbols_of
from streambound.recheck.circuits.claims import ClaimedKey, NotRecheckedError
from streambound.recheck.circuits.closing_columns import computed_columns
from streambound.recheck.circuits.evidence import keys_with_values
from streambound.recheck.circuits.ranks import RANKS
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.tied_rows import same_for_ties
from streambound.recheck.circuits.trees import called
from streambound.recheck.circuits.view import ClosesBy, View
from streambound.recheck.circuits.windows import BucketColumn, groups_in_windows, windows_of

_BESIDE = ("LAG", "LEAD")
_FRAMED = ("COUNT", "SUM", "MIN", "MAX", "AVG", "FIRST_VALUE", "LAST_VALUE")


def over(tree: Tree, states: States) -> View:
    """The rows that functions over windows need."""
    assert isinstance(tree, Over)
    for call in tree.calls:
        if call.function not in (*RANKS, *_FRAMED, *_BESIDE) or call.distinct or call.filter or call.ignore_nulls:
            raise NotRecheckedError(f"{call.function} over a window")
        if call.function not in _BESIDE and len(call.arguments) > 1:
            raise NotRecheckedError(f"{call.function} of several arguments")
    if is_block(tree.input, states.catalog):
        return _over_block(replace(tree, calls=_read(tree.calls, states)), states)
    last = tree.calls[-1]
    beside = [number for number, call in enumerate(tree.calls) if not _same_window(call, last)]
    cut = beside[-1] + 1 if beside else 0
    below = replace(tree, input=replace(tree, calls=tree.calls[:cut])) if cut else tree
    return _over_view(below, tree.calls[cut:], states)


def _read(calls: tuple[WindowCall, ...], states: States) -> tuple[WindowCall, ...]:
    """The functions that are read, where these are alike for equal rows."""
    names = states.read.get(id(calls[0])) if calls and same_for_ties(calls) else None
    asked = None if names is None else {name.lower() for name, _ in names}
    return tuple(call for call in calls if asked is None or call.name.lower() in asked) or calls[:1]


def _same_window(one: WindowCall, other: WindowCall) -> bool:
    return one.partition == other.partition and one.order == other.order


def _over_block(tree: Over, states: States) -> View:
    groups = list[list[WindowCall]]()
    for call in tree.calls:
        manner = _manner(call, states)
        alike = (g for g in groups if _same_window(g[0], call) and _manner(g[0], states) == manner)
        group = next(alike, None)
        if group is None:
            groups.append([call])
        else:
            group.append(call)
    several = [_OverRows(tree, calls, states, f"_{n}" if len(groups) > 1 else "") for n, calls in enumerate(groups)]
    changing = [one for one in several if one.ranks or one.everything or one.looks[1]]
    if len(changing) > 1:
        raise NotRecheckedError("several windows that take rows back")
    several = [one for one in several if one not in changing] + changing
    items = [*several[0].columns, *(item for one in several for item in one.items)]
    rows = derive(states.blocks.query(tree.input, items))
    states.evidence.block(rows.split, "OVER", False, together=rows.together)
    for one in several:
        states.line("OVER", *one.rows(), one.freed)
    return View()


def _is_running(call: WindowCall, states: States) -> bool:
    """Whether a function is of all rows up to its own, and no rank that a condition limits."""
    if call.function in RANKS:
        return id(call) not in states.limits
    start, end = (None, None) if call.frame is None else (call.frame.start, call.frame.end)
    if start is None or end is None or start.side is not Side.PRECEDING or start.distance is not None:
        return False
    last = call.frame is not None and call.frame.unit is Unit.ROWS and end.side is Side.PRECEDING and end.distance == 1
    return end.side is Side.CURRENT or end.distance == 0 or last


def _is_whole(call: WindowCall, states: States) -> bool:
    """Whether a function is of all rows of its partition, or of rows on both sides of its own up to the first one."""
    if call.function not in _FRAMED or _is_running(call, states):
        return False
    ends = () if call.frame is None else (call.frame.start, call.frame.end)
    return not ends or any(one.side is not Side.CURRENT and one.distance is None for one in ends)


def _manner(call: WindowCall, states: States) -> tuple[bool, bool, bool]:
    """What functions over a window have in common where one state is enough for them."""
    running, whole = _is_running(call, states), _is_whole(call, states)
    return running, whole, not running and not whole and _is_of_values(call)


def _is_of_values(call: WindowCall) -> bool:
    """Whether a frame is of values of the order."""
    return call.function in _FRAMED and call.frame is not None and call.frame.unit is Unit.RANGE


@dataclass(frozen=True, slots=True)
class _OverRows:
    """Functions over a window of the rows of a block, which are only added."""

    tree: Over
    calls: list[WindowCall]
    states: States
    prefix: str

    @property
    def call(self) -> WindowCall:
        """The one that has the window that all have."""
        return self.calls[0]

    @property
    def running(self) -> bool:
        """Whether they are of all rows up to their own."""
        return _is_running(self.call, self.states)

    @property
    def ranks(self) -> list[WindowCall]:
        """Those that say which of the first rows of the partition one is."""
        return [] if self.running else [call for call in self.calls if call.function in RANKS]

    @property
    def freed(self) -> str:
        """When a row goes."""
        if self.running or self.everything:
            return "when its window has closed" if self._windows is not None else "never"
        return "when others come before it" if self.ranks else "when it is too old"

    @property
    def whole(self) -> bool:
        """Whether they are of all rows of a partition."""
        return _is_whole(self.call, self.states)

    @property
    def by_time(self) -> bool:
        """Whether the order begins with the time of the only stream."""
        query = self._query([*self.columns, *self.items])
        place = len(self.columns) + len(self.call.partition)
        first = query.branches[0].outputs[place].value if self.call.order else None
        one_stream = len(query.branches) == 1 and len(query.branches[0].streams) == 1
        return one_stream and isinstance(first, TimeValue) and first.minus is None and not first.offset

    @property
    def everything(self) -> bool:
        """Whether any row of a partition may matter, as others come between."""
        if self.ranks or self.whole:
            return self.whole
        several = len(derive(self._query([*self.columns, *self.items])).split.branches) > 1
        between = _is_of_values(self.call) and not self.running and len(self.call.order) > 1
        return not self.by_time or self.call.order[0].descending or several or between

    @property
    def looks(self) -> tuple[int, int]:
        """How far back and ahead of a row the others look."""
        return (
            (0, 0)
            if self.running or self.whole
            else _looks([call for call in self.calls if call.function not in RANKS])
        )

    @property
    def columns(self) -> list[Named]:
        """All columns of a row."""
        place, found = self.states.blocks.positions.of(written(self.call)), []
        calls = self.tree.calls
        names = self.states.read.get(id(calls[0])) if same_for_ties(calls) else None
        given = [one for one in schema(self.tree.input, self.states.catalog) if called(one, names)]
        for number, view in enumerate(given, 1):
            column = made_column(view.name, place)
            if view.alias:
                column.set("table", exp.to_identifier(view.alias))
            found.append(Named(f"_c{number}", Scalar(column.sql("spark"), column), alias=True))
        return found

    @property
    def partition(self) -> list[Named]:
        """What the rows of a partition agree in."""
        return [Named(f"{self.prefix}_p{n}", one, alias=True) for n, one in enumerate(self.call.partition, 1)]

    @property
    def items(self) -> list[Named]:
        """The columns that the function is given."""
        order = [Named(f"{self.prefix}_o{n}", one.value, alias=True) for n, one in enumerate(self.call.order, 1)]
        values = []
        for n, call in enumerate(self.calls, 1):
            for sign, some in (("v", call.arguments[:1]), ("d", call.arguments[2:])):
                values += [Named(f"{self.prefix}_{sign}{n}", one, alias=True) for one in some]
        return [*self.partition, *order, *values]

    def rows(self) -> tuple[tuple[ClaimedKey, ...], Quantity]:
        """The keys of the partitions, and the most rows that are kept."""
        call, query = self.call, self._query([*self.columns, *self.items])
        split = derive(query).split
        if not split.branches:
            raise NotRecheckedError("functions over no rows")
        conditions, by_time = Conditions(split.branches[0]), self.by_time

        def rows_of(timestamps: int) -> Quantity:
            return tuples_of(conditions.source(conditions.streams[0]), timestamps, symbols_of(split))

        back, ahead = self.looks
        if self.ranks:
            limit = self.states.limits.get(id(self.ranks[0]))
            if len(self.ranks) > 1 or ahead or any(map(_is_of_values, self.calls)):
                raise NotRecheckedError("a rank beside another one, or beside what looks ahead")
            numbered = self.ranks[0].function == "ROW_NUMBER"
            if limit is None or not (numbered or by_time or same_for_ties(self.calls)):
                raise NotRecheckedError("ranks without a limit, or rows of one rank without a number")
            each = Quantity.number(limit)
            if not numbered and not by_time:
                return self._in_each(each, self._different(query))
            return self._in_each(each if numbered else each * rows_of(1))
        if self.everything:
            return self._in_windows()
        if self.running or not _is_of_values(call):
            return self._in_each(Quantity.number(1 if self.running else back + ahead))
        return self._keys(), rows_of(back + ahead)

    def _keys(self) -> tuple[ClaimedKey, ...]:
        return tuple(ClaimedKey(key.text, None) for key in self.call.partition)

    def _different(self, query: Query) -> list[Named]:
        """The columns in which rows may differ that agree in partition and order."""
        width = len(self.columns)
        known = [one.value for one in query.branches[0].outputs]
        alike = known[width : width + len(self.call.partition) + len(self.call.order)]
        several = len(query.branches) > 1
        return [one for one, value in zip(self.columns, known[:width], strict=True) if several or value not in alike]

    def _in_each(self, rows: Quantity, more: Sequence[Named] = ()) -> tuple[tuple[ClaimedKey, ...], Quantity]:
        """So many rows in each partition that there is, or that is open, for all that is in ``more`` columns."""
        names = (*(key.text for key in self.call.partition), *(one.value.text for one in more))
        if not names:
            return (), rows
        split = derive(self._query([*self.partition, *more])).split
        windows = self._windows
        if windows is not None:
            keys = tuple(ClaimedKey(name, None) for name in names)
            return keys, groups_in_windows(split, windows, self.states.evidence)(0) * rows
        found = self.states.evidence.results([split])
        return keys_with_values(names, split, found.tables), found.entries * rows

    def _in_windows(self) -> tuple[tuple[ClaimedKey, ...], Quantity]:
        """All rows of the windows that are open."""
        windows = self._windows
        if windows is None:
            raise NotRecheckedError("rows beside a row, in another order than that of time")
        split = derive(self._query([*self.items, *self.columns])).split
        return self._keys(), groups_in_windows(split, windows, self.states.evidence)(0)

    @property
    def _windows(self) -> BucketColumn | None:
        """The windows of time that the partitions are in."""
        if not self.call.partition:
            return None
        query = self._query(self.partition)
        return windows_of(query, derive(query).split, len(self.call.partition))

    def _query(self, items: Sequence[Named]) -> Query:
        return self.states.blocks.query(self.tree.input, items)


def _looks(calls: Sequence[WindowCall]) -> tuple[int, int]:
    """How far back and ahead some functions look, in rows or in the order's values; neither is negative."""
    ends = [_ends(call) for call in calls]
    return max((-low for low, _ in ends if low < 0), default=0), max((high for _, high in ends if high > 0), default=0)


def _ends(call: WindowCall) -> tuple[int, int]:
    """From where to where a function looks, its own row being 0."""
    if call.function in _BESIDE:
        step = 1
        if len(call.arguments) > 1:
            literal = parsed(call.arguments[1])
            if not isinstance(literal, exp.Literal) or not literal.is_int:
                raise NotRecheckedError(f"{call.function} by what is no number")
            step = int(literal.this)
        place = step if call.function == "LEAD" else -step
        return place, place
    if call.frame is None:
        raise NotRecheckedError("an aggregate of all rows")
    sides = {Side.PRECEDING: -1, Side.CURRENT: 0, Side.FOLLOWING: 1}
    low, high = (
        None if end.side is not Side.CURRENT and end.distance is None else sides[end.side] * (end.distance or 0)
        for end in (call.frame.start, call.frame.end)
    )
    if low is None or high is None or (_is_of_values(call) and not low <= 0 <= high):
        raise NotRecheckedError("a frame up to the first or last row, or of values without its own row's")
    return low, high


def _over_view(tree: Over, calls: Sequence[WindowCall], states: States) -> View:
    """Functions over a view of which all rows are kept, or those that may still change."""
    call = calls[0]
    view, given = states.under(tree.input, None), schema(tree.input, states.catalog)
    partition = [meant(node, given) for one in call.partition if isinstance(node := parsed(one), exp.Column)]
    rows, closing = view.rows, tuple[ClosesBy, ...]()
    names = tuple(one.text for one in call.partition)
    kept = View(view.rows, view.closing).at(lambda place: [place] if place in partition else [])
    if rows is None:
        together = computed_columns(view, [parsed(one) for one in call.partition], given).closing
        if together:
            rows, closing = together[0].open(0), kept.closing
        elif (turned := _in_turn(tree, calls, view, states)) is not None:
            rows, closing = turned[1], () if _ahead(calls, states) else turned[0].closing
        else:
            ranked, rows = _first_of_closed(tree, calls, view, states)
            states.line("Lemma 1", names, rows, "when it goes")
            return View(ranked)
    states.line("Lemma 1", names, rows, "when it goes")
    return View(view.rows, closing)


def _ahead(calls: Sequence[WindowCall], states: States) -> bool:
    """Whether functions look at later rows."""
    return bool(_looks([one for one in calls if one.function not in RANKS and not _is_running(one, states)])[1])


def _in_turn(tree: Over, calls: Sequence[WindowCall], view: View, states: States) -> tuple[View, Quantity] | None:
    """A view ordered by what closes: beside open rows, as many closed ones of each partition as functions look far."""
    call = calls[0]
    first = parsed(call.order[0].value) if call.order and not call.order[0].descending else None
    place = meant(first, schema(tree.input, states.catalog)) if isinstance(first, exp.Column) else None
    kept = view.at(lambda one: [one] if one == place else [])
    runs = all(one.function in RANKS or _is_running(one, states) for one in calls)
    if not kept.closing or not (runs or not any(one.function in RANKS or _is_of_values(one) for one in calls)):
        return None
    beside = 1 if runs else sum(_looks(calls))
    return kept, kept.closing[0].open(0) + (_in_partitions(tree, beside, states) if beside else Quantity.number(0))


def _first_of_closed(tree: Over, calls: Sequence[WindowCall], view: View, states: States) -> tuple[Quantity, Quantity]:
    """The rows that are shown, and all that are kept: the open ones, and as many others as have the first ranks."""
    limit = states.limits.get(id(calls[0]))
    if limit is None or not view.closing or not all(call.function in RANKS for call in calls):
        raise NotRecheckedError("functions over a view without a number of rows")
    open_now = view.closing[0].open(0)
    first = _in_partitions(tree, limit, states)
    if calls[0].function != "ROW_NUMBER":
        order = [parsed(key.value) for key in calls[0].order]
        if not computed_columns(view, order, schema(tree.input, states.catalog)).closing:
            raise NotRecheckedError("rows of one rank without a number")
        first = first * view.closing[0].open(1)
    return first, open_now + first


def _in_partitions(tree: Over, each: int, states: States) -> Quantity:
    """So many in each partition that there can be."""
    items = tuple(Named(f"c{n}", one, alias=True) for n, one in enumerate(tree.calls[-1].partition))
    partitions = facts(Project(tree.input, items, syntax=tree.syntax), states.catalog).different if items else 1
    if partitions is None:
        raise NotRecheckedError("functions over partitions without a number")
    return Quantity.number(each * partitions)
