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
from streambound.recheck.circuits.evidence import keys_with_values
from streambound.recheck.circuits.ranks import RANKS
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.view import View
from streambound.recheck.circuits.windows import groups_in_windows, windows_of

_FRAMED = ("COUNT", "SUM", "MIN", "MAX", "AVG")


def over(tree: Tree, states: States) -> View:
    """The rows that functions over windows need."""
    assert isinstance(tree, Over)
    for call in tree.calls:
        if call.function not in (*RANKS, *_FRAMED, "LAG") or call.distinct or call.filter or call.ignore_nulls:
            raise NotRecheckedError(f"{call.function} over a window")
    if is_block(tree.input, states.catalog):
        return _over_block(tree, states)
    *before, last = tree.calls
    return _over_view(replace(tree, input=replace(tree, calls=tuple(before))) if before else tree, last, states)


def _over_block(tree: Over, states: States) -> View:
    ranks = [call for call in tree.calls if call.function in RANKS]
    if len(ranks) > 1:
        raise NotRecheckedError("several ranks of rows that are only added")
    calls = [*(call for call in tree.calls if call.function not in RANKS), *ranks]
    several = [_OverRows(tree, call, states, f"_{n}" if len(calls) > 1 else "") for n, call in enumerate(calls)]
    items = [*several[0].columns, *(item for one in several for item in one.items)]
    rows = derive(states.blocks.query(tree.input, items))
    states.evidence.block(rows.split, "OVER", False, together=rows.together)
    for one in several:
        freed = "when others come before it" if one.call.function in RANKS else "when it is too old"
        states.line("OVER", *one.rows(), freed)
    return View()


@dataclass(frozen=True, slots=True)
class _OverRows:
    """A function over the rows of a block, which are only added."""

    tree: Over
    call: WindowCall
    states: States
    prefix: str

    @property
    def columns(self) -> list[Named]:
        """All columns of a row."""
        place, found = self.states.blocks.positions.of(written(self.call)), []
        for number, view in enumerate(schema(self.tree.input, self.states.catalog), 1):
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
        value = [Named(f"{self.prefix}_v", one, alias=True) for one in self.call.arguments[:1]]
        return [*self.partition, *order, *value]

    def rows(self) -> tuple[tuple[ClaimedKey, ...], Quantity]:
        """The keys of the partitions, and the most rows that are kept."""
        call, query = self.call, self._query([*self.columns, *self.items])
        split = derive(query).split
        if not split.branches:
            raise NotRecheckedError("functions over no rows")
        conditions = Conditions(split.branches[0])
        one_stream = len(query.branches) == 1 and len(query.branches[0].streams) == 1
        first = query.branches[0].outputs[len(self.columns) + len(call.partition)].value if call.order else None
        by_time = one_stream and isinstance(first, TimeValue) and first.minus is None and not first.offset

        def rows_of(timestamps: int) -> Quantity:
            return tuples_of(conditions.source(conditions.streams[0]), timestamps, symbols_of(split))

        if call.function in RANKS:
            limit = self.states.limits.get(id(call))
            if limit is None or (call.function != "ROW_NUMBER" and not by_time):
                raise NotRecheckedError("ranks without a limit, or rows of one rank without a number")
            each = Quantity.number(limit)
            return self._in_each(each if call.function == "ROW_NUMBER" else each * rows_of(1))
        if not by_time or len(call.order) > 1 or call.order[0].descending or len(split.branches) > 1:
            raise NotRecheckedError("rows before a row, in another order than that of time")
        if call.function == "LAG":
            return self._in_each(Quantity.number(_offset(call)))
        unit, distance = _looks_back(call)
        if unit is Unit.ROWS:
            return self._in_each(Quantity.number(distance))
        return self._keys(), rows_of(distance)

    def _keys(self) -> tuple[ClaimedKey, ...]:
        return tuple(ClaimedKey(key.text, None) for key in self.call.partition)

    def _in_each(self, rows: Quantity) -> tuple[tuple[ClaimedKey, ...], Quantity]:
        """So many rows in each partition that there is, or that is open."""
        if not self.call.partition:
            return (), rows
        query = self._query(self.partition)
        split, names = derive(query).split, tuple(key.text for key in self.call.partition)
        windows = windows_of(query, split, len(names))
        if windows is not None:
            return self._keys(), groups_in_windows(split, windows, self.states.evidence)(0) * rows
        found = self.states.evidence.results([split])
        return keys_with_values(names, split, found.tables), found.entries * rows

    def _query(self, items: Sequence[Named]) -> Query:
        return self.states.blocks.query(self.tree.input, items)


def _offset(call: WindowCall) -> int:
    more = [written(one) for one in call.arguments[1:]]
    if len(more) > 1 or any(not isinstance(one, exp.Literal) or not one.is_int for one in more):
        raise NotRecheckedError("LAG with a default")
    return int(more[0].this) if more else 1


def _over_view(tree: Over, call: WindowCall, states: States) -> View:
    """A function over a view of which all rows are kept, or those that may still change."""
    view, given = states.under(tree.input, None), schema(tree.input, states.catalog)
    partition = [meant(node, given) for one in call.partition if isinstance(node := parsed(one), exp.Column)]
    rows, closing = view.rows, ()
    names = tuple(one.text for one in call.partition)
    kept = View(view.rows, view.closing).at(lambda place: [place] if place in partition else [])
    if rows is None:
        before = Quantity.number(0)
        if not kept.closing:
            kept, before = _in_turn(tree, call, view, states)
        rows, closing = kept.closing[0].open(0) + before, kept.closing  # type: ignore[assignment]
    states.line("Lemma 1", names, rows, "when it goes")
    return View(view.rows, closing)


def _looks_back(call: WindowCall) -> tuple[Unit, int]:
    """How many rows, or how much of the order, a frame has before its row, with which it ends."""
    frame = call.frame
    backwards = frame is not None and frame.end.side is Side.CURRENT and frame.start.side is not Side.FOLLOWING
    if frame is None or not backwards or (frame.start.side is Side.PRECEDING and frame.start.distance is None):
        raise NotRecheckedError("a frame that does not end at its row, or begins with the first one")
    return frame.unit, frame.start.distance or 0


def _in_turn(tree: Over, call: WindowCall, view: View, states: States) -> tuple[View, Quantity]:
    """A view ordered by what closes: beside open rows, as many closed ones of each partition as a row looks back."""
    first = parsed(call.order[0].value) if call.order and not call.order[0].descending else None
    place = meant(first, schema(tree.input, states.catalog)) if isinstance(first, exp.Column) else None
    kept = view.at(lambda one: [one] if one == place else [])
    unit, most = (Unit.ROWS, _offset(call)) if call.function == "LAG" else _looks_back(call)
    if not kept.closing or unit is not Unit.ROWS or call.function in RANKS:
        raise NotRecheckedError("functions over a view without a number of rows")
    items = tuple(Named(f"c{n}", one, alias=True) for n, one in enumerate(call.partition))
    partitions = facts(Project(tree.input, items, syntax=tree.syntax), states.catalog).different if items else 1
    if partitions is None:
        raise NotRecheckedError("functions over partitions without a number")
    return kept, Quantity.number(most * partitions)
