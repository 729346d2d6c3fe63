"""Functions over windows of a view's rows: all of a bounded view are kept, or those that may still change and a few.

Of a view of at most m rows, or whose rows go when their window closes, all are kept (Lemma 1). Where rows are in the
order of what closes, beside the open ones those that these look back at, or what functions of all rows before them are
so far. Of rows that have closed only the first n of each partition can ever be among the first n, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.facts import facts
from streambound.analyzer.algebra.nodes import Named, Over, Project, Unit, WindowCall
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.flatten import written
from streambound.criteria.judged import State
from streambound.criteria.operators.closing_rows import mapped_columns, taken_over
from streambound.criteria.operators.judge import UNLIMITED, Context, NoNumber, NoRule
from streambound.criteria.operators.mapped import Columns
from streambound.criteria.operators.over_calls import (
    RANKS,
    Looks,
    argument_items,
    over_columns,
    reach_of,
    together,
)
from streambound.criteria.operators.parts import Closing, MapPart, OverPart, Part
from streambound.criteria.operators.states import ClosingRows, JudgedPart
from streambound.criteria.size import Number, Size, product, total
from streambound.criteria.violation import Violation
from streambound.criteria.witnesses.ranked_schemes import TIED
from streambound_runtime.operators.asked_rows import AskedRows


def judge_over_view(tree: Over, calls: Sequence[WindowCall], context: Context) -> JudgedPart:
    """Functions over one window of a view; raises NoRule where nothing says how many of its rows are needed."""
    call = calls[0]
    with context.reading(None):
        judged = context.judge(tree.input, context)
    if judged.part is None:
        return judged
    columns = Columns(schema(tree.input, context.catalog), judged.part.columns)
    items = [(f"_p{n}", one) for n, one in enumerate(call.partition, 1)]
    items += [(f"_o{n}", one.value) for n, one in enumerate(call.order, 1)]
    items += [(one.name, one.value) for one in argument_items(calls)]
    texts = [(name, columns.over(scalar), scalar) for name, scalar in items]
    more = [Column(name, columns.kind(scalar, text, context)) for name, text, scalar in texts]
    own = [Column(f"_c{n}", column.type) for n, column in enumerate(judged.part.columns, 1)]
    same = [exp.column(column.name, quoted=True).sql("spark") for column in judged.part.columns]
    given = (*own, *more)
    mapped = MapPart(context.name("map"), judged.part, given, (*same, *(text for _, text, _ in texts)))
    closes = mapped_columns(judged.closes, judged.part.columns, mapped.expressions)
    view = _ViewRows(tree, calls, judged.rows, closes, len(own), context)
    kept = view.kept()
    if kept is None:
        return JudgedPart(violations=(_lacks(call, context),))
    part = over_part(context, mapped, len(own), calls, given, kept.asked, kept.closing)
    span = context.positions.of(written(call))
    shown = tuple(one.text for one in call.partition)
    states = (*judged.states, State(part.name, "Lemma 1", kept.size, shown, "when it goes", span))
    by = part.partition if kept.asked == AskedRows() else (part.order[0][0],)
    alike = {mapped.expressions[place] for place in by} if kept.closing is not None else set()
    final = taken_over(kept.closes, lambda key: [key] if key < len(own) and mapped.expressions[key] in alike else [])
    return replace(judged, part=part, states=states, rows=kept.rows, retracts=True, closes=final, sides=())


@dataclass(frozen=True, slots=True)
class _KeptRows:
    """Which rows are ``asked`` for, as for `OverPart`, how many are kept, and until when.

    ``closes`` says when results are final, of which there are so many ``rows``; None where they have no number.
    """

    asked: AskedRows | None
    size: Size
    closing: Closing | None
    closes: tuple[ClosingRows, ...]
    rows: Size | None = None


@dataclass(frozen=True, slots=True)
class _ViewRows:
    """The rows that functions over a window are of: so many, or that close, with so many columns of their own."""

    tree: Over
    calls: Sequence[WindowCall]
    rows: Size | None
    closes: tuple[ClosingRows, ...]
    own: int
    context: Context

    @property
    def call(self) -> WindowCall:
        """The one that has the window that all have."""
        return self.calls[0]

    def kept(self) -> _KeptRows | None:
        """What is kept; None where nothing says how many partitions there are of which something is."""
        if self.rows is not None or self.context.unbounded:
            return _KeptRows(AskedRows(), UNLIMITED if self.rows is None else self.rows, None, self.closes, self.rows)
        first = self.own + len(self.call.partition)
        if (found := self._closing(range(self.own, first))) is not None:
            return _KeptRows(AskedRows(), found[1].open(0), found[0], self.closes)
        rising = bool(self.call.order) and not self.call.order[0].descending
        in_turn = self._closing(range(first, first + 1)) if rising else None
        return self._first_of_closed(first) if in_turn is None else self._in_turn(*in_turn)

    def _closing(self, keys: range) -> tuple[Closing, ClosingRows] | None:
        """One of these columns that says when rows close, with these."""
        return next(((one, rows) for rows in self.closes for one in rows.columns if one.key in keys), None)

    def _in_turn(self, closing: Closing, rows: ClosingRows) -> _KeptRows | None:
        """No row comes before a closed one any more: of these some are kept, or what the functions are so far."""
        if all(map(_runs, self.calls)):
            asked, number, after = None, 1, 0
        else:
            reach = _rows_beside(self.calls)
            number, after = (reach.before or 0) + reach.after, reach.after
            asked = AskedRows(last=number)
        before = self._in_partitions([Number(number)]) if number else Number(0)
        if before is None:
            return None
        closes = () if after else self.closes  # a closed row still waits for those after it
        return _KeptRows(asked, total([rows.open(0), before]), closing, closes)

    def _first_of_closed(self, order: int) -> _KeptRows | None:
        """Closed rows stay, so that of them only the first can be among the first; better ones may come for ever."""
        limit = self.context.limits.get(id(self.call))
        if limit is None or not self.closes or any(call.function not in RANKS for call in self.calls):
            raise NoNumber("functions of a view whose rows have no number")
        rows = self.closes[0]
        ties: Size = Number(1)
        if self.call.function in TIED:
            if self._closing(range(order, order + len(self.call.order))) is None:
                raise NoRule("rows of one rank without a number: ROW_NUMBER(), or an order of time, has one")
            ties = rows.open(1)  # those of a bucket were all there when it closed
        first = self._in_partitions([Number(limit), ties])
        return (
            None
            if first is None
            else _KeptRows(AskedRows(first=limit), total([rows.open(0), first]), rows.columns[0], (), first)
        )

    def _in_partitions(self, each: Sequence[Size]) -> Size | None:
        """So many in every partition, by what is known of what these are by; None where that is nothing."""
        call = self.call
        items = tuple(Named(f"c{n}", one, alias=True) for n, one in enumerate(call.partition))
        below = Project(self.tree.input, items, syntax=self.tree.syntax)
        known = facts(below, self.context.catalog).different if items else 1
        return None if known is None else product([*each, Number(known)])


def _lacks(call: WindowCall, context: Context) -> Violation:
    """That nothing says how many partitions there are."""
    told = ", ".join(one.text for one in call.partition)
    message = f"{told} is what partitions are by, and nothing says how many values there are: of each rows are kept"
    help = "add limits to WHERE, or declare a domain in the catalog; or partition by a bucket of time"
    place = context.positions.of(parsed(call.partition[0]))
    return Violation("OVER", "", told, message, place, Code.UNBOUNDED_PROJECTION, help)


def _runs(call: WindowCall) -> bool:
    """Whether a function is of all rows up to its own, or says how many these are."""
    return call.function in RANKS or (reach_of(call).before is None and not reach_of(call).whole)


def _rows_beside(calls: Sequence[WindowCall]) -> Looks:
    """How many rows beside a row its values are of; raises NoRule where that is no number."""
    if all(call.function not in RANKS for call in calls):
        looks = [reach_of(call) for call in calls]
        if all(one.unit is Unit.ROWS and one.before is not None for one in looks):
            return together(calls)
    raise NoNumber("functions of a view whose rows have no number")


def over_part(
    context: Context,
    rows: Part,
    width: int,
    calls: Sequence[WindowCall],
    given: tuple[Column, ...],
    asked: AskedRows | None,
    closing: Closing | None,
) -> OverPart:
    """Functions over one window of rows, of which the columns from ``width`` on are what these are given."""
    partition = tuple(range(width, width + len(calls[0].partition)))
    first = width + len(partition)
    order = tuple((first + n, key.descending, key.nulls_first) for n, key in enumerate(calls[0].order))
    found = over_columns(calls, given, first + len(order))
    columns = (*given[:width], *(Column(call.name, one.type) for call, one in zip(calls, found, strict=True)))
    return OverPart(context.name("over"), rows, width, partition, order, found, asked, closing, columns)
