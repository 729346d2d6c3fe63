"""Functions over windows of rows: the first rows of each partition, and what comes before and after a row.

Of rows that are only added, those that are not among the first n of their partition never will be again, whatever they
are ordered by: n are kept for each partition (top-N, deduplication), and what looks at rows before one of these looks
at one of these. RANK and DENSE_RANK leave n values of the order at most and every row that has one of them: of these
rows what is read is bounded, and equal ones are one entry. In the order of the stream's time, LAG and a frame of rows
before a row are final when it comes, LEAD and a frame of rows after it when so many others have come: the last rows of
each partition are kept, as many as a row looks back and ahead; a frame of time needs the rows of that time, whatever
the partition. Partitions are bounded, or those of a bucket that closes (A5). In any other order, and where a function
is of all rows, later rows come between: only rows of windows that are open are enough. Ties are broken by the other
columns, the same way for all functions over one window.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.made_columns import made_column
from streambound.analyzer.algebra.nodes import Named, Over, Scalar, Tree, Unit, WindowCall
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.flatten import written
from streambound.analyzer.query import Query, TimeValue
from streambound.criteria.bag import bag_violations
from streambound.criteria.count import TimestampCount, tuples
from streambound.criteria.judged import State
from streambound.criteria.operators.closing_windows import Windows, in_a_window, open_groups, windows_of
from streambound.criteria.operators.endless import endless
from streambound.criteria.operators.judge import Context, NoRule, groups
from streambound.criteria.operators.over_calls import (
    RANKS,
    Looks,
    argument_items,
    check_call,
    reach_of,
    together,
    window_of,
)
from streambound.criteria.operators.over_views import judge_over_view, over_part
from streambound.criteria.operators.parts import Closing, MapPart, OverPart, Part
from streambound.criteria.operators.states import CLOSED, JudgedPart
from streambound.criteria.operators.tied_rows import calls_shown, columns_shown
from streambound.criteria.size import Number, Size, product
from streambound.criteria.violation import Violation, under
from streambound.criteria.witnesses.ranked_schemes import TIED
from streambound.preprocess.pipeline import derive
from streambound_runtime.operators.asked_rows import AskedRows

_NAME = "OVER"
_TIED = "{} is unbounded, and rows of one rank are without end: ROW_NUMBER() keeps as many as it is asked for"
_WHOLE = "whole"
"""How functions of all rows of a partition are kept."""
_RUNNING = "running"
"""How functions of all rows before theirs are kept: by a value for each function, not by rows."""


def judge_over(tree: Tree, context: Context) -> JudgedPart:
    """The rule of functions over windows of rows; raises NoRule for others."""
    assert isinstance(tree, Over)
    if not tree.calls:
        raise NoRule("QUALIFY without a function over a window")
    for call in tree.calls:
        check_call(call)
    if is_block(tree.input, context.catalog):
        return _over_block(tree, context)
    before, last = split_calls(tree.calls)
    below = replace(tree, input=replace(tree, calls=before), calls=last) if before else tree
    return judge_over_view(below, last, context)


def split_calls(calls: tuple[WindowCall, ...]) -> tuple[tuple[WindowCall, ...], tuple[WindowCall, ...]]:
    """The functions over the window of the last one that stand beside it, and those before them."""
    first = len(calls)
    while first and window_of(calls[first - 1]) == window_of(calls[-1]):
        first -= 1
    return calls[:first], calls[first:]


def _over_block(tree: Over, context: Context) -> JudgedPart:
    """Functions over the rows of a block, one window after the other: last those of one that takes rows back."""
    windows: dict[object, list[WindowCall]] = {}
    for call in tree.calls:
        windows.setdefault((window_of(call), _manner(call, context)), []).append(call)
    several = [
        _OverBlock(tree, tuple(calls), context, f"_{n}" if len(windows) > 1 else "")
        for n, calls in enumerate(windows.values())
    ]
    several.sort(key=lambda one: one.retracts)
    if sum(one.retracts for one in several) > 1:
        raise NoRule("ranks, or functions of later rows, over several windows of rows that are only added")
    violations = [violation for one in several for violation in one.violations()]
    if context.refuses(violations):
        suspects = tuple(query for one in several for query in one.suspects())
        return JudgedPart(violations=tuple(dict.fromkeys(violations)), suspects=tuple(dict.fromkeys(suspects)))
    own = several[0].columns
    items = [item for one in several for item in one.items]
    rows, states = context.block(context.blocks.query(tree.input, [*own, *items]), _NAME)
    part: Part = rows
    for one in several:
        mine = {item.name for item in one.items}
        others = [column.name for column in part.columns if column.name not in mine]
        part, state = one.above(_in_order(part, [*others, *(item.name for item in one.items)], context), len(others))
        states += (state,)
    part = _in_order(part, [*(item.name for item in own), *(call.name for call in calls_shown(tree, context))], context)
    return JudgedPart(part=part, states=states, retracts=several[-1].retracts)


def _manner(call: WindowCall, context: Context) -> str:
    """How a function of rows that are only added looks at them."""
    if call.function in RANKS:
        return Unit.ROWS if id(call) in context.limits else _RUNNING
    looks = reach_of(call)
    if looks.whole:
        return _WHOLE
    return _RUNNING if looks.before is None else looks.unit


def _in_order(part: Part, names: Sequence[str], context: Context) -> Part:
    """A part with its columns in another order, without what a function was given."""
    if [column.name for column in part.columns] == names:
        return part
    known = {column.name: column for column in part.columns}
    texts = tuple(exp.column(name, quoted=True).sql("spark") for name in names)
    return MapPart(context.name("map"), part, tuple(known[name] for name in names), texts)


@dataclass
class _OverBlock:
    """Functions over a window of a block's rows, which are only added; ``prefix`` begins what they take."""

    tree: Over
    calls: tuple[WindowCall, ...]
    context: Context
    prefix: str

    def __post_init__(self) -> None:
        call = self.call = self.calls[0]
        self.running = _manner(call, self.context) == _RUNNING
        ranks = [one for one in self.calls if one.function in RANKS and not self.running]
        if len(ranks) > 1:
            raise NoRule("several ranks of rows that are only added")
        self.rank = ranks[0] if ranks else None
        self.reach = Looks(Unit.ROWS, 0, 0) if self.running else together(self.calls)
        if ranks and (self.reach.after or self.reach.unit is not Unit.ROWS):
            raise NoRule("ranks beside functions of later rows")
        self.columns = self._columns()
        self.items = [*self._partition(), *self._order(), *argument_items(self.calls, self.prefix)]
        self.query = self._query([*self.columns, *self.items])
        self.tied: list[Named] = []
        self.everything = False
        one = Named("_p", Scalar("1", exp.Literal.number(1)), alias=True)
        self.windows = windows_of(self._query(self._partition() or [one]), len(call.partition), None)
        self.kept, self.rated = self._kept(self.query, len(self.columns))
        self.partition = self._query([*self._partition(), *self.tied] or [one])

    @property
    def retracts(self) -> bool:
        """Whether a row that comes changes what has been said of others."""
        return self.rank is not None or self.reach.after > 0 or self.everything

    def violations(self) -> list[Violation]:
        """What the bag criterion says of the rows, and whether there are so many partitions."""
        found: list[Violation] = []
        split, keyed = derive(self.query).split, derive(self.partition).split
        for branch, keys in zip(split.branches, keyed.branches, strict=True):
            found += under(_NAME, bag_violations(Facts.of(branch)))
            if not self.rated:
                tied = {one.name: ("A1 (G)", _TIED) for one in self.tied}
                found += under(_NAME, endless(Facts.of(keys), self.windows is not None, "partition", tied))
        return found

    def suspects(self) -> tuple[Query, ...]:
        """Blocks of which a witness may be made."""
        split, keyed = derive(self.query).split, derive(self.partition).split
        return (split, keyed, replace(keyed, distinct=True), replace(split, distinct=True))

    def above(self, rows: Part, width: int) -> tuple[OverPart, State]:
        """The functions of rows whose columns after so many are those that they are given; what is remembered."""
        call, context = self.call, self.context
        size = self.kept if self.rated else product([self.kept, self._partitions(self.partition, self.windows)])
        closing = None if self.windows is None else _closing(self.windows, width)
        part = over_part(context, rows, width, self.calls, rows.columns, self._asked(), closing)
        shown = (*(one.text for one in call.partition), *(one.value.text for one in self.tied))
        freed = "when it is too old" if self.rank is None else "when others come before it"
        if self.running or self.everything:
            freed = "never" if self.windows is None else CLOSED
        counted: tuple[Query, ...] = ()
        if shown and not self.rated and not context.unbounded:
            split = derive(self.partition).split
            counted = (split,) if self.windows is None else in_a_window(split, self.windows)
        if self.everything and self.windows is not None and not context.unbounded:
            counted = in_a_window(self._given, self.windows)
        return part, State(part.name, _NAME, size, shown, freed, context.positions.of(written(call)), counted)

    def _query(self, items: Sequence[Named]) -> Query:
        return self.context.blocks.query(self.tree.input, items)

    def _columns(self) -> list[Named]:
        """All columns of a row, by names of their own."""
        place, found = self.context.positions.of(written(self.call)), []
        for number, view in enumerate(columns_shown(self.tree, self.context), 1):
            column = made_column(view.name, place)
            if view.alias:
                column.set("table", exp.to_identifier(view.alias))
            found.append(Named(f"_c{number}", Scalar(column.sql("spark"), column), alias=True))
        return found

    def _beside(self, query: Query) -> list[Named]:
        """The columns of rows that may differ where partition and order are equal."""
        width = len(self.columns)
        outputs = [output.value for output in query.branches[0].outputs]
        given = outputs[width : width + len(self.call.partition) + len(self.call.order)]
        one = len(query.branches) == 1
        return [item for item, value in zip(self.columns, outputs, strict=False) if not one or value not in given]

    def _partition(self) -> list[Named]:
        return [Named(f"{self.prefix}_p{n}", one, alias=True) for n, one in enumerate(self.call.partition, 1)]

    def _order(self) -> list[Named]:
        return [Named(f"{self.prefix}_o{n}", one.value, alias=True) for n, one in enumerate(self.call.order, 1)]

    def _in_time(self, query: Query, place: int) -> bool:
        """Whether rows come in their order: that of the time of the one stream there is, and of nothing else."""
        first = query.branches[0].outputs[place].value if self.call.order else None
        one = len(query.branches) == 1 and len(query.branches[0].streams) == 1
        plain = isinstance(first, TimeValue) and first.minus is None and not first.offset
        return one and plain and not self.call.order[0].descending

    def _kept(self, query: Query, width: int) -> tuple[Size, bool]:
        """How many rows are kept of each partition; True: of all of them together."""
        call, place = self.call, width + len(self.call.partition)
        facts = Facts.of(derive(query).split.branches[0]) if derive(query).split.branches else None
        if facts is None:
            raise NoRule("no rows")
        if self.rank is not None:
            limit = self.context.limits.get(id(self.rank))
            if limit is None:
                raise NoRule("ranks without a limit")
            if self.rank.function == "ROW_NUMBER":
                return Number(limit), False
            value = query.branches[0].outputs[place].value if call.order else None
            if len(query.branches) > 1 or len(query.branches[0].streams) > 1 or not isinstance(value, TimeValue):
                if any(one.function not in TIED for one in self.calls):
                    raise NoRule("ranks of rows without a number beside functions of their neighbours")
                self.tied = self._beside(query)
                return Number(limit), False
            ties = tuples(facts, facts.branch.streams[0].alias, TimestampCount(1), ()).size
            return product([Number(limit), ties]), False
        if _manner(call, self.context) == _WHOLE:
            return self._all("functions of all rows of a partition, or of all up to one before theirs")
        if self.running:
            if not self._in_time(query, place) or len(derive(query).split.branches) > 1:
                what = "ranks without a limit" if call.function in RANKS else "a frame that begins with the first row"
                return self._all(f"{what}, of rows in another order than that of time")
            return Number(1), False
        near = self.reach.unit is Unit.RANGE
        if not self._in_time(query, place) or (near and len(call.order) > 1) or len(derive(query).split.branches) > 1:
            return self._all("rows before or after a row, in another order than that of time")
        if near:
            return tuples(facts, facts.branch.streams[0].alias, TimestampCount(self._beside_a_row), ()).size, True
        return Number(self._beside_a_row), False

    def _all(self, what: str) -> tuple[Size, bool]:
        """All rows are kept, as others may come between them: of a partition by windows, those of open ones."""
        self.everything = True
        return self.context.size(self._in_open_windows, what), True

    def _in_open_windows(self) -> Size | None:
        """How many different rows there are in all windows that are open."""
        if self.windows is None:
            return None
        with suppress(NoRule):
            return open_groups(self._given, self.windows)
        return None

    @property
    def _given(self) -> Query:
        """All that the function is given of rows, the partition first."""
        return derive(self._query([*self.items, *self.columns])).split

    def _asked(self) -> AskedRows | None:
        """Which rows are kept: the first of a partition, by number or by rank, the last, or those of a time."""
        if self.everything:
            return AskedRows()
        if self.rank is not None:
            return AskedRows(first=self.context.limits[id(self.rank)])
        if self.running:
            return None
        if self.reach.unit is Unit.ROWS:
            return AskedRows(last=self._beside_a_row)
        return AskedRows(within=self._beside_a_row)

    @property
    def _beside_a_row(self) -> int:
        """How many rows, or how much time, there is in which a value looks, before and after."""
        return (self.reach.before or 0) + self.reach.after

    def _partitions(self, partition: Query, windows: Windows | None) -> Size:
        if not self.call.partition and not self.tied:
            return Number(1)
        split = derive(partition).split
        known = groups if windows is None else partial(open_groups, windows=windows)
        return self.context.size(lambda: known(split), "partitions without a number")


def _closing(windows: Windows, width: int) -> Closing:
    function = windows.function
    return Closing(width + windows.place, function.longest, function.how, windows.delay)
