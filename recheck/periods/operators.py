"""Which states the operators of a SEQ VT block have over streams: worked out from the plan of its SQL (P3, P4)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.constants import BIGINT, DOUBLE
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.reading import Refused, read
from streambound.analyzer.query import Query
from streambound.analyzer.types import DataType, Family
from streambound.recheck.derivation.claims import NotCheckedError
from streambound.recheck.periods.having import enough_rows
from streambound.recheck.periods.leaves import PeriodCatalog, StreamRows, listed, stream_rows
from streambound.recheck.periods.sizes import Limit, RowsView, number, plus, smaller, times
from streambound_runtime.operators.period_plan import (
    SliceAggregate,
    SliceCoalesce,
    SliceDifference,
    SliceDistinct,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SlicePlan,
    SliceProject,
    SliceRelation,
    SliceUnion,
)

_BEST = ("min", "max")


class PeriodLine(Struct, frozen=True):
    """A line that the certificate must have."""

    proposition: str
    keys: tuple[str, ...]
    entries: Limit


class PeriodStates(Struct):
    """A block while its states are looked for: ``lines`` are those found.

    ``above`` says that conditions stay above the streams, as all rows tell how long time is; ``parts`` that rows are
    printed with their whole periods.
    """

    known: PeriodCatalog
    above: bool = False
    parts: bool = False
    lines: list[PeriodLine] = field(default_factory=list)

    def line(self, proposition: str, keys: Sequence[str], entries: Limit) -> None:
        """A state."""
        self.lines.append(PeriodLine(proposition, tuple(keys), entries))

    def result(self, plan: SlicePlan, final: bool) -> RowsView:
        """The rows of a block, and what the coalesced result needs: rows until they end, and open result rows."""
        view = self.of(plan)
        if self.parts:
            if not view.whole:
                raise NotCheckedError("emit parts of rows without their ends")
        elif view.arriving:
            self.with_ends(view)
        if final:
            self.line("P3", view.names, smaller(view.there, view.rows))
        return view

    def of(self, plan: SlicePlan) -> RowsView:
        """The rows of an operator, with the states under it from left to right."""
        found = self.stream(plan)
        if found is not None:
            return found
        match plan:
            case SliceRelation():
                return self._relation(plan)
            case SliceCoalesce(input):
                return self.of(input)
            case SliceProject(SliceFilter(SliceGroup() as group, _), items) if enough := enough_rows(plan):
                return _projected(self._counted(self.of(group.input), group, enough), items)
            case SliceFilter(input):
                return self._passing(plan, self.of(input))
            case SliceProject(input, items):
                return self._passing(plan, _projected(self.of(input), items))
            case SliceDistinct(input):
                return self._distinct(self.of(input))
            case SliceUnion(left, right):
                return self._union(self.of(left), self.of(right))
            case SliceDifference(left, right):
                return self._set_operation(plan, self.of(left), self.of(right))
            case SliceGroup(input, keys, aggregates, always):
                return self._group(self.of(input), keys, aggregates, always)
            case SliceJoin():
                return self._join(plan, self.of(plan.left), self.of(plan.right))
        raise NotCheckedError(f"{type(plan).__name__} in SEQ blocks")

    # --- states -------------------------------------------------------------------------------------------------------

    def with_ends(self, view: RowsView) -> None:
        """An entry for each value and end."""
        self.line("P4", (*view.names, "end"), _by_end(view, view.rows))

    def _kept(self, *views: RowsView) -> None:
        """Rows that come are needed until they end; what is computed in each slice is not."""
        for view in views:
            if view.arriving:
                self.with_ends(view)

    # --- operators ----------------------------------------------------------------------------------------------------

    def stream(self, plan: SlicePlan) -> RowsView | None:
        """The rows of a stream under conditions and expressions; None for what is none, or is no query of its own."""
        found = stream_rows(plan, self.known)
        if found is None or (self.above and not isinstance(plan, SliceRelation)):
            return None
        query = self.known.query(found.table, found.items, found.conditions)
        if query is None:
            return None
        kinds = tuple(_types(plan, self.known))
        named = tuple(item.sql("spark", identify=False).replace("`", "") for item in found.items)
        unlimited = (None,) * len(named)
        self.known.note_read(found)
        longest = self.known.longest(found.table)
        known = tuple(listed(found.table, i.name) if isinstance(i, exp.Column) else None for i in found.items)
        view = RowsView(kinds, named, None, None, unlimited, None, longest, known, arriving=True, whole=True)
        return self._limited(view, found, query)

    def _passing(self, plan: SlicePlan, view: RowsView) -> RowsView:
        """Conditions and expressions above a stream that are no part of its block."""
        found = stream_rows(plan, self.known)
        query = None if found is None else self.known.query(found.table, found.items, found.conditions)
        if found is None or query is None:
            return view
        self.known.note_read(found)
        return self._limited(view, found, query)

    def _limited(self, view: RowsView, found: StreamRows, query: Query) -> RowsView:
        """A view with what the conditions of a stream's rows say."""
        places = range(len(found.items))
        known = self.known
        rows = smaller(view.rows, known.among(query, found.items, places, found.equal))
        valid = smaller(view.valid, known.valid(found.table, found.conditions, found.equal))
        if known.is_empty(query):
            valid = number(0)
        each = (known.among(query, found.items, (place,), found.equal) for place in places)
        values = (smaller(*both) for both in zip(view.values, each, strict=True))
        return replace(view, valid=valid, there=smaller(valid, rows), values=tuple(values), rows=rows)

    def _relation(self, plan: SliceRelation) -> RowsView:
        if not plan.table:
            return RowsView((), (), number(1), number(1), (), number(1), None, static=True)
        table = self.known.table(plan.table)
        rows = self.known.symbol("rows", table, table.rows)
        kinds = tuple(_types(plan, self.known))
        known = tuple(listed(table, name) for name in plan.columns)
        return RowsView(kinds, plan.columns, rows, rows, (rows,) * len(kinds), rows, None, known, static=True)

    def _distinct(self, view: RowsView) -> RowsView:
        if view.arriving:
            self.line("P4", view.names, smaller(view.valid, view.rows))
        there = smaller(view.there, view.rows)
        return replace(view, valid=there, there=there, longest=None, arriving=False, whole=False, static=False)

    def _union(self, left: RowsView, right: RowsView) -> RowsView:
        arriving = left.arriving and right.arriving
        if not arriving and not self.parts:
            self._kept(left, right)
        return replace(_both(left, right), arriving=arriving, whole=left.whole and right.whole)

    def _set_operation(self, plan: SliceDifference, left: RowsView, right: RowsView) -> RowsView:
        if plan.distinct:
            left = self._distinct(left)
            right = self._distinct(right)
        elif left.static and right.arriving:
            self._matched(right, left)
        elif plan.common and right.static and left.arriving:
            self._matched(left, right)
        elif left.arriving and right.arriving:
            apart = plus(_by_end(left, left.rows), _by_end(right, right.rows))
            self.with_ends(replace(_both(left, right), valid=apart))
        else:
            self._kept(left, right)
        there, rows, values = left.there, left.rows, left.values
        if plan.common:
            there, rows = smaller(there, right.there), smaller(rows, right.rows)
            values = tuple(smaller(*both) for both in zip(values, right.values, strict=True))
        left = replace(left, arriving=False, whole=False, static=False)
        return replace(left, there=smaller(there, rows), rows=rows, values=values, longest=None)

    def _matched(self, view: RowsView, fixed: RowsView) -> None:
        """A row of a stream plays a part only while there is one of a relation for it: of each value those longest."""
        self.line("P4", (*view.names, "end"), smaller(_by_end(view, view.rows), fixed.valid))

    def _counted(self, view: RowsView, group: SliceGroup, enough: int) -> RowsView:
        """Groups of which it is asked whether they have enough rows."""
        if not view.arriving:
            return self._group(view, group.keys, group.aggregates, group.always)
        groups = view.of(range(group.keys))
        self.line(
            "P4", (*view.names[: group.keys], "end"), smaller(_by_end(view, groups), times([groups, number(enough)]))
        )
        return self._group(replace(view, arriving=False), group.keys, group.aggregates, group.always)

    def _group(self, view: RowsView, keys: int, aggregates: tuple[SliceAggregate, ...], always: bool) -> RowsView:
        groups, named = view.of(range(keys)), view.names[:keys]
        if view.arriving:
            if any(one.function not in _BEST and not one.distinct for one in aggregates):
                self.line("P4", (*named, "end"), _by_end(view, groups))
            if not aggregates:
                self.line("P4", named, smaller(view.valid, groups))
            asked = dict.fromkeys(("" if one.distinct else one.function, one.column) for one in aggregates)
            for function, column in asked:
                if column is None or function not in ("", *_BEST):
                    continue
                pairs = times([groups, view.values[column]])
                limit = smaller(_by_end(view, groups) if function else view.valid, pairs)
                self.line("P4", (*named, view.names[column]), limit)
        there = number(1) if always else smaller(view.there, groups)
        return RowsView(
            (*view.types[:keys], *(_aggregated(one, view) for one in aggregates)),
            (*named, *(one.function for one in aggregates)),
            there,
            there,
            (*view.values[:keys], *(None for _ in aggregates)),
            None,
            None,
            (*view.listed[:keys], *(None for _ in aggregates)),
        )

    def _join(self, plan: SliceJoin, left: RowsView, right: RowsView) -> RowsView:
        whole = self.parts and plan.kind == "inner"
        if (
            plan.kind in ("semi", "anti")
            and not plan.condition
            and all(same_values(pair, left, right) for pair in plan.keys)
        ):
            asked = dict.fromkeys(theirs for _, theirs in plan.keys)
            right = self._distinct(_projected(right, tuple(asked)))
        if not whole:
            self._kept(left, right)
        elif not left.static and not right.static:
            self.with_ends(left)
            self.with_ends(right)
        pairs = times([left.there, right.there])
        if plan.kind in ("semi", "anti"):
            return replace(left, longest=None, arriving=False, whole=False, static=False)
        padded = [left.there] * (plan.kind in ("left", "full")) + [right.there] * (plan.kind in ("right", "full"))
        nulls = plan.kind in ("right", "full"), plan.kind in ("left", "full")
        values = tuple(
            plus(one, number(1)) if null else one
            for null, side in zip(nulls, (left, right), strict=True)
            for one in side.values
        )
        lengths = [view.longest for view in (left, right)]
        return RowsView(
            (*left.types, *right.types),
            (*left.names, *right.names),
            times([left.valid, right.valid]) if whole else None,
            smaller(plus(pairs, *padded) if padded else pairs, times(values)),
            values,
            times(values),
            min(one for one in lengths if one is not None) if whole and None not in lengths else None,
            (*left.listed, *right.listed),
            whole=whole and (left.whole or left.static) and (right.whole or right.static),
        )


def _by_end(view: RowsView, values: Limit) -> Limit:
    return smaller(view.valid, times([values, number(view.longest)]))


def _both(left: RowsView, right: RowsView) -> RowsView:
    """The rows of two sides; a value that both may have is one."""
    listed = tuple(None if a is None or b is None else a | b for a, b in zip(left.listed, right.listed, strict=True))
    sizes = [number(None if one is None else len(one) + 1) for one in listed]
    sums = (plus(*both) for both in zip(left.values, right.values, strict=True))
    return RowsView(
        left.types,
        left.names,
        plus(left.valid, right.valid),
        plus(left.there, right.there),
        tuple(smaller(*both) for both in zip(sums, sizes, strict=True)),
        smaller(plus(left.rows, right.rows), times(sizes)),
        None if left.longest is None or right.longest is None else max(left.longest, right.longest),
        listed,
    )


def _projected(view: RowsView, items: Sequence[str]) -> RowsView:
    places = [sorted({int(column.name[1:]) for column in parsed(item).find_all(exp.Column)}) for item in items]
    values = tuple(
        view.values[int(item[1:])] if place_of(item) is not None else times([view.values[place] for place in own])
        for item, own in zip(items, places, strict=True)
    )
    rows = times(values)
    return replace(
        view,
        types=tuple(_type(item, view.types) for item in items),
        names=tuple(in_words(item, view.names) for item in items),
        listed=tuple(None if (at := place_of(item)) is None else view.listed[at] for item in items),
        values=values,
        rows=smaller(rows, view.rows) if items and view.rows is not None else rows,
    )


def in_words(item: str, names: Sequence[str]) -> str:
    """An expression, with what its columns are."""

    def meant(node: exp.Expr) -> exp.Expr:
        return exp.column(names[int(node.name[1:])]) if isinstance(node, exp.Column) else node

    return parsed(item).copy().transform(meant).sql("spark")


def place_of(text: str) -> int | None:
    """The place of the column that an expression is; None for other expressions."""
    return int(text[1:]) if text[:1] == "c" and text[1:].isdigit() else None


def same_values(pair: tuple[str, str], left: RowsView, right: RowsView) -> bool:
    """Whether two sides' columns that are equal have the same values: they are of one type, or integers."""
    places = [place_of(text) for text in pair]
    if None in places:
        return False
    mine, theirs = (view.types[place] for view, place in zip((left, right), places, strict=True) if place is not None)
    if mine is None or theirs is None:
        raise NotCheckedError("the types of aggregates in SEQ blocks")
    return mine.name == theirs.name or mine.family is theirs.family is Family.INTEGER


def _types(plan: SlicePlan, known: PeriodCatalog) -> list[DataType | None]:
    """The types of σ and Π of a table."""
    match plan:
        case SliceRelation(table=name, columns=columns):
            kinds = {column.name: column.type for column in known.table(name).columns}
            return [kinds[column] for column in columns]
        case SliceFilter(input=input):
            return _types(input, known)
        case SliceProject(input, items):
            under = _types(input, known)
            return [_type(item, under) for item in items]
    raise AssertionError("neither σ nor Π")


def _aggregated(one: SliceAggregate, view: RowsView) -> DataType | None:
    """The type of an aggregate; None of sums and means of decimals."""
    kind = None if one.column is None else view.types[one.column]
    if one.function == "count" or kind is None or one.function in _BEST:
        return BIGINT if one.function == "count" else kind
    if kind.family is Family.DECIMAL:
        return None
    return BIGINT if one.function == "sum" and kind.family is Family.INTEGER else DOUBLE


def _type(item: str, types: Sequence[DataType | None]) -> DataType | None:
    place = place_of(item)
    if place is not None:
        return types[place]
    known = {f"c{n}": kind for n, kind in enumerate(types) if kind is not None}
    if not {column.name for column in parsed(item).find_all(exp.Column)} <= known.keys():
        return None
    try:
        return read(parsed(item), known).kind
    except Refused:
        return None
