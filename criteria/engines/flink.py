"""Flink SQL 2.3: what its operators keep, and what it refuses.

A join is an interval join if its condition has exactly one lower and one upper bound on two time attributes, a window
join if it compares both ends of two windows, else a regular join, which keeps both sides for ever, or until a TTL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.durations import UNITS, length_text
from streambound.analyzer.engine_profiles import Micros
from streambound.criteria.engines.flow import (
    GROWING_ROWS,
    SIDES,
    EngineModel,
    EqualKey,
    EventMark,
    Flow,
    FlowColumn,
    TimeWindow,
    equal_keys,
    hull,
    join_parts,
    output_places,
    side_name,
    struct_keys,
    windows_open,
)
from streambound.criteria.engines.linear import (
    Near,
    between,
    column_at,
    compared,
    distance,
    linear,
    mapped,
    moved,
    place_of,
    placed,
    places,
)
from streambound.criteria.engines.profile import (
    LATE,
    EngineFix,
    EngineState,
    GoesBy,
    Phase,
    StateClass,
)

_TTL = "table.exec.state.ttl"
_FORGET = EngineFix(
    f"set {_TTL}, or the hint STATE_TTL",
    False,
    loses="what comes later than that finds nothing of its key; a day is an example",
)
_KEEPING = ("MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "FIRST", "LAST")
"""Aggregates that keep every value of rows that change."""
_NUMBERING = ("ROW_NUMBER", "RANK", "DENSE_RANK")
_DURATIONS = {
    "MS": UNITS["MILLISECOND"], "S": UNITS["SECOND"], "SEC": UNITS["SECOND"], "SECOND": UNITS["SECOND"],
    "M": UNITS["MINUTE"], "MIN": UNITS["MINUTE"], "MINUTE": UNITS["MINUTE"], "H": UNITS["HOUR"], "HOUR": UNITS["HOUR"],
    "D": UNITS["DAY"], "DAY": UNITS["DAY"],
}  # fmt: skip
_DURATION = re.compile(r"\s*(\d+)\s*([A-Za-z]+)\s*")


def flink_duration(text: str) -> Micros | None:
    """A length of time as Flink's settings have it.

    >>> flink_duration("3 s")
    3000000
    """
    found = _DURATION.fullmatch(text)
    unit = found.group(2).upper() if found else ""
    unit = unit if unit in _DURATIONS else unit.removesuffix("S")
    return int(found.group(1)) * _DURATIONS[unit] if found and unit in _DURATIONS else None


@dataclass
class FlinkModel(EngineModel):
    """Reads a query as Flink's planner makes operators of it; ``hints`` are the STATE_TTL of the ``select`` around."""

    hints: dict[str, Micros] = field(default_factory=dict)
    select: exp.Select | None = None

    def visit(self, tree: nodes.Tree, needed: frozenset[int], pending: tuple[exp.Expr, ...]) -> Flow:
        """The rows of an operator, under the hints of its SELECT."""
        if isinstance(tree, nodes.Scan) and tree.changes:
            why = "the last row of each key is kept, to say what it was"
            self.keep(tree, self._state("changelog normalize", tree, None, why, ttl=self.profile.ttl))
        if not isinstance(tree, nodes.Project) or not isinstance(tree.syntax, exp.Select):
            return super().visit(tree, needed, pending)
        outer, self.hints, self.select = (self.hints, self.select), _hints(tree.syntax), tree.syntax
        flow = super().visit(tree, needed, pending)
        self.hints, self.select = outer
        return flow

    def time_of_window(self, bucket: nodes.Bucket, time: exp.Expr, flow: Flow) -> tuple[EventMark | None, Near | None]:
        """Windows are of time attributes only."""
        mark, at = super().time_of_window(bucket, time, flow)
        if mark is None and flow.streaming:
            why = "windows are of a time attribute: a column with a watermark, which regular joins and groups lose"
            self.refuse(Phase.ANALYSIS, why, bucket, "The window function requires the timecol is a time attribute")
        return mark, at

    def _ttl(self, *names: str) -> Micros | None:
        """How long a state is kept: a hint comes before the setting, and 0 is for ever."""
        hinted = [self.hints[name.lower()] for name in names if name.lower() in self.hints]
        return (hinted[0] if hinted else self.profile.ttl) or None

    def _forgotten(self, names: Sequence[str]) -> EngineFix:
        """A hint that rows of these sources are kept for a day, at the SELECT around; words where it has hints."""
        if self.layout is None or self.select is None or not names:
            return _FORGET
        pairs = ", ".join(f"'{name}' = '1d'" for name in names)
        return replace(_FORGET, edits=self.layout.hint(self.select, f"STATE_TTL({pairs})"))

    def _state(
        self, operator: str, tree: nodes.Tree, values: int | None, why: str, fix: EngineFix = _FORGET,
        ttl: Micros | None = None, side: str = "", source: str = "", formula: str = "",
    ) -> EngineState:  # fmt: skip
        """A state that is kept for ever, unless its key has finitely many values, or it has a TTL."""
        span = self.span(tree)
        if values is not None:
            return replace(self.constant(operator, tree, values, "key"), side=side, source=source)
        if ttl is not None:
            notes = ("the time since a row was last written, by the clock: results change",)
            words = f"what was written in the last {length_text(ttl)}"
            return EngineState(operator, StateClass.WINDOW, GoesBy.TTL, span, side, source, formula=words, notes=notes)
        return EngineState(
            operator, StateClass.GROWS, GoesBy.NEVER, span, side, source, formula=formula, why=why, fix=fix
        )

    # --- joins --------------------------------------------------------------------------------------------------------

    def join(self, tree: nodes.Join, needed: frozenset[int], pending: tuple[exp.Expr, ...]) -> Flow:
        """A join: temporal, of windows, of intervals, or a regular one."""
        given = self.schema(tree.left), self.schema(tree.right)
        width, order = len(given[0]), output_places(tree, given)
        above = [mapped(one, lambda place: column_at(order[place])) for one in pending]
        inner = tree.kind is nodes.JoinKind.INNER
        parts = [*join_parts(tree, given), *(above if inner else ())]
        read = frozenset(order[place] for place in needed) | places(*parts, *above)
        own = [[p for p in parts if inner and all((q >= width) == side for q in places(p))] for side in (False, True)]
        inputs = tree.left, tree.right
        flows = tuple(
            self.visit(
                one, frozenset(p - by for p in read if by <= p < by + len(columns)),
                tuple(moved(part, -by) for part in mine),
            )
            for one, columns, by, mine in zip(inputs, given, (0, width), own, strict=True)
        )  # fmt: skip
        columns = (*flows[0].columns, *flows[1].columns)
        names = tuple(side_name(one, word) for one, word in zip(inputs, SIDES, strict=True))
        streaming = [flow.streaming for flow in flows]
        out = Flow(tuple(columns[place] for place in order), any(streaming))
        padded = tree.kind is not nodes.JoinKind.INNER and tree.kind is not nodes.JoinKind.SEMI
        lost = replace(
            out, columns=tuple(replace(one, mark=None) for one in out.columns),
            changing=padded or flows[0].changing or flows[1].changing,
        )  # fmt: skip
        if _is_temporal(tree.right):
            ttl = self._ttl()
            state = self._state("temporal join", tree, None, "the last version of each key is kept", ttl=ttl)
            self.keep(tree, state)
            return replace(out, rate=flows[0].rate)
        if any(streaming) and not all(streaming):
            self.unread.append("a join with a relation that does not change was not measured on Flink")
        if not all(streaming):
            return lost
        keys = equal_keys(parts, width)
        windows = [struct_keys([key[side] for key in keys], columns, strict=False) for side in (0, 1)]
        if all(windows):
            covered = [windows_open(self.delay, next(iter(one.values())))[0] for one in windows]
            self._both(tree, "window join", GoesBy.WINDOW, flows, covered, read)
            return out
        bounds = self._bounds(parts, columns, width)
        one_sided = tree.kind in nodes.ONE_SIDED
        if [len(one) for one in bounds] == [1, 1] and not one_sided:
            reach = [max(0, bounds[1][0]), max(0, -bounds[0][0])]
            self._both(tree, "interval join", GoesBy.VALUE, flows, [self.delay + one for one in reach], read)
            return out
        self._regular_join(tree, flows, names, read, parts, bounds, keys)
        return lost

    def _both(
        self, tree: nodes.Join, operator: str, by: GoesBy, flows: Sequence[Flow], lifetimes: Sequence[Micros],
        read: frozenset[int],
    ) -> None:  # fmt: skip
        """Both sides of a join that forgets."""
        notes = ("the hint STATE_TTL does nothing here",) if self.hints else ()
        states = list[EngineState]()
        for word, one, flow, lifetime in zip(SIDES, (tree.left, tree.right), flows, lifetimes, strict=True):
            name = side_name(one, word)
            state = self.open_state(operator, tree, by, lifetime, flow.rate, f"rows of {name}", word, name)
            states.append(replace(state, notes=notes))
        self.keep(tree, *states, columns=self.joined(tree, read))

    def _bounds(
        self, parts: list[exp.Expr], columns: tuple[FlowColumn, ...], width: int
    ) -> tuple[list[Micros], list[Micros]]:
        """The lower and upper bounds of how much later the right side's time is, as the planner reads them."""
        lower, upper = list[Micros](), list[Micros]()
        for part in parts:
            if part.find(exp.Anonymous) is not None:
                continue
            pairs = [compared(one) for one in (between(part) if isinstance(part, exp.Between) else (part,))]
            if isinstance(part, exp.EQ):
                pairs = [(part.this, part.expression), (part.expression, part.this)]
            for pair in pairs:
                sides = [linear(one) for one in pair] if pair is not None else []
                if len(sides) != 2 or sides[0] is None or sides[1] is None:
                    continue
                if len(sides[0].terms) != 1 or len(sides[1].terms) != 1:
                    continue
                more = sides[1].plus(sides[0], -1)
                signs = {place: count for place, count in more.terms if 0 <= place < len(columns)}
                times = all((mark := columns[place].mark) is not None and mark.is_time for place in signs)
                left = [place for place in signs if place < width]
                if len(more.terms) != 2 or len(signs) != 2 or len(left) != 1 or not times or more.number:
                    continue
                if sorted(signs.values()) != [-1, 1]:
                    continue
                (upper if signs[left[0]] == 1 else lower).append(more.high * (1 if signs[left[0]] == 1 else -1))
        return lower, upper

    def _regular_join(
        self, tree: nodes.Join, flows: tuple[Flow, ...], names: tuple[str, ...], read: frozenset[int],
        parts: list[exp.Expr], bounds: tuple[list[Micros], list[Micros]], keys: list[EqualKey],
    ) -> None:  # fmt: skip
        """A join that keeps both sides: each distinct row of what is read of them, with how often it came."""
        why, fix = self._not_interval(tree, flows, names, parts, bounds, keys)
        fix = self._forgotten(names) if fix == _FORGET else fix
        by, states = 0, list[EngineState]()
        for word, name, flow in zip(SIDES, names, flows, strict=True):
            values = flow.values(p - by for p in read if by <= p < by + len(flow.columns))
            words = "one row a key" if flow.keyed else f"all rows of {name}"
            ttl = self._ttl(name)
            states.append(self._state("join", tree, values, why, fix, ttl, word, name, words))
            by = len(flow.columns)
        self.keep(tree, *states, columns=self.joined(tree, read))

    def _not_interval(
        self, tree: nodes.Join, flows: tuple[Flow, ...], names: tuple[str, ...], parts: list[exp.Expr],
        bounds: tuple[list[Micros], list[Micros]], keys: list[EqualKey],
    ) -> tuple[str, EngineFix]:  # fmt: skip
        """Why a join is a regular one, and what makes it another one."""
        columns = (*flows[0].columns, *flows[1].columns)
        if max(map(len, bounds)) > 1:
            return "an interval join has one lower and one upper bound, and this condition more", EngineFix(
                "leave the looser bounds out", True
            )
        for left, right in keys:
            ends = [columns[place] for one in (left, right) if (place := place_of(one)) is not None]
            if len(ends) == 2 and all(one.mark is not None and one.mark.window is not None for one in ends):
                missing = "window_start" if ends[0].mark is not None and ends[0].mark.end else "window_end"
                fix = self.added(tree, f"{names[0]}.{missing} = {names[1]}.{missing}")
                return "one end of the windows is compared, not both", fix
        times = [flow.event_time() for flow in flows]
        if None in times:
            name = names[times.index(None)]
            both = ", and bound their distance" if not any(bounds) else ""
            lost = f"{LATE}{', and pairs that are farther apart' * bool(both)}"
            return f"{name} has no time attribute", EngineFix(f"declare a watermark of {name}{both}", False, loses=lost)
        first, second = (next(one.near.source for one in flow.columns if one.mark and one.near) for flow in flows)
        condition = exp.and_(*parts, exp.true(), copy=True)
        apart = distance(condition, first, second, Flow(columns).near)
        if bounds_added := hull(apart, flows[0], flows[1]):
            why = "the planner reads no two bounds on time attributes in the condition"
            return why, self.added(tree, *bounds_added)
        return "the condition does not bound the distance of the time attributes from both sides", _FORGET

    # --- groups -------------------------------------------------------------------------------------------------------

    def aggregate(self, tree: nodes.Aggregate | nodes.Distinct, needed: frozenset[int]) -> Flow:
        """Groups, or rows each once."""
        if isinstance(tree, nodes.Distinct):
            flow = self.all_of(tree.input)
            return self.grouped(tree, flow, list(range(len(flow.columns))), "group aggregate")
        given = self.schema(tree.input)
        _, flow, columns = self.rows_of_groups(tree)
        every = [call for call in tree.calls if call.distinct or call.function in GROWING_ROWS]
        distinct = [placed(one, given) for call in every for one in call.arguments]
        if flow.changing:  # what was least may be taken back
            keeping = (call for call in tree.calls if call.function in _KEEPING)
            distinct += [placed(one, given) for call in keeping for one in call.arguments]
        more = flow.values(places(*distinct))
        made = replace(flow, columns=columns)
        windows = struct_keys([column_at(place) for place in range(len(columns))], columns, strict=False)
        out = self._groups(tree, made, list(windows.values()), more, "group aggregate")
        return replace(out, columns=(*out.columns, *(FlowColumn(call.name) for call in tree.calls)))

    def grouped(self, tree: nodes.Tree, flow: Flow, keys: list[int], operator: str) -> Flow:
        """Rows each once."""
        windows = struct_keys([column_at(place) for place in keys], flow.columns, strict=False)
        return self._groups(tree, flow, list(windows.values()), 1, operator)

    def _groups(self, tree: nodes.Tree, flow: Flow, windows: list[TimeWindow], more: int | None, operator: str) -> Flow:
        if not flow.streaming:
            return flow
        plain = [one for one in flow.columns if one.mark is None or one.mark.window not in windows]
        values = replace(flow, columns=tuple(plain)).values(range(len(plain)))
        if windows and not flow.changing:
            self.keep(tree, self._windowed("window aggregate", tree, flow, windows[0], values))
            return replace(flow, rate=None)
        half = [one.name for one in flow.columns if one.mark is not None and one.mark.window is not None]
        fix = _FORGET
        if half:
            name, _, end = half[0].rpartition("window_")
            key = f"{name}window_{'start' if end == 'end' else 'end'}"
            fix = self.grouped_too(tree, key, "group by window_start and window_end")
        why = "one end of a window is grouped by, not both" if half else "every key is kept"
        kept = None if values is None or more is None else values
        if values is not None and more is None:
            why = "every value of a DISTINCT aggregate, of an array, or of MIN and MAX of rows that change, is kept"
        names = self._names(tree)
        fix = self._forgotten(names) if fix == _FORGET else fix
        self.keep(tree, self._state(operator, tree, kept, why, fix, self._ttl(*names)))
        columns = tuple(replace(one, mark=None) for one in flow.columns)
        return replace(flow, columns=columns, rate=None, changing=True, keyed=True)

    def _windowed(
        self, operator: str, tree: nodes.Tree, flow: Flow, window: TimeWindow, values: int | None
    ) -> EngineState:
        return self.window_groups(operator, tree, flow.rate, self.delay, window, values)

    def _names(self, tree: nodes.Tree) -> list[str]:
        """What hints call the input of an operator."""
        found = [tree.alias] if isinstance(tree, nodes.Scan | nodes.Alias) else []
        inputs = nodes.inputs(tree)
        return found or (self._names(inputs[0]) if len(inputs) == 1 else [])

    # --- what else there is -------------------------------------------------------------------------------------------

    def other(self, tree: nodes.Tree, needed: frozenset[int], pending: tuple[exp.Expr, ...]) -> Flow:
        """Functions over windows of rows, orders, limits, set operations."""
        match tree:
            case nodes.Over():
                return self._over(tree, pending)
            case nodes.FirstRows(nodes.OrderBy(input), count):
                return self._first(tree, input, "sort limit", count)
            case nodes.FirstRows(input, count):
                return self._first(tree, input, "limit", count)
            case nodes.OrderBy(input, keys):
                flow = self.all_of(input)
                first = place_of(placed(keys[0].value, self.schema(input)))
                mark = flow.columns[first].mark if first is not None else None
                if flow.streaming and (mark is None or not mark.is_time or keys[0].descending):
                    self.refuse(Phase.ANALYSIS, "rows are put in order by a time attribute first", tree, _SORT)
                elif flow.streaming:
                    self.keep(tree, self.open_state("sort", tree, GoesBy.WINDOW, self.delay, flow.rate))
                return flow
            case nodes.AsOf(input):
                return self.all_of(input)
            case nodes.Except(left, right) | nodes.Intersect(left, right):
                flow, other = self.all_of(left), self.all_of(right)
                if flow.streaming and other.streaming:
                    values = flow.values(range(len(flow.columns)))
                    state = self._state("join", tree, values, "both sides are kept", ttl=self._ttl())
                    self.keep(tree, state)
                    return self.grouped(tree, replace(flow, changing=True), [], "group aggregate")
        self.unread.append(f"{type(tree).__name__} was not measured on Flink")
        return Flow(tuple(FlowColumn(column.name) for column in self.schema(tree)), self.is_streaming(tree))

    def _first(self, tree: nodes.Tree, input: nodes.Tree, operator: str, count: nodes.Scalar | None) -> Flow:
        flow = self.all_of(input)
        if flow.streaming and flow.changing:
            self.keep(tree, self._state(operator, tree, None, "rows that change are all kept", ttl=self._ttl()))
        elif flow.streaming:
            number = int(count.text) if count is not None and count.text.isdigit() else None
            words = "the first rows" if number is None else f"{number} rows"
            span = self.span(tree)
            self.keep(tree, EngineState(operator, StateClass.CONSTANT, GoesBy.NEVER, span, rows=number, formula=words))
        return replace(flow, rate=None, changing=flow.changing or operator == "sort limit")

    def _over(self, tree: nodes.Over, pending: tuple[exp.Expr, ...]) -> Flow:
        flow, given = self.all_of(tree.input), self.schema(tree.input)
        out = replace(flow, columns=(*flow.columns, *(FlowColumn(call.name) for call in tree.calls)))
        if not flow.streaming:
            return out
        call = tree.calls[0]
        keys = [placed(key, given) for key in call.partition]
        columns = tuple(self.item(str(place), key, flow) for place, key in enumerate(keys))
        windows = struct_keys([column_at(place) for place in range(len(columns))], columns, strict=False)
        plain = [one for one in columns if one.mark is None or one.mark.window not in windows.values()]
        values = Flow(tuple(plain)).values(range(len(plain)))
        most = _limit(pending, len(flow.columns)) if call.function in _NUMBERING else None
        order = place_of(placed(call.order[0].value, given)) if call.order else None
        mark = flow.columns[order].mark if order is not None else None
        timed = mark is not None and mark.is_time
        if most is not None:
            operator = "deduplicate" if most == 1 and timed else "rank"
            if windows:
                window = next(iter(windows.values()))
                self.keep(tree, self._windowed(f"window {operator}", tree, flow, window, values))
                return out
            ignored = ("the hint STATE_TTL is ignored on ROW_NUMBER without a word",) if self.hints else ()
            why = "every key is kept"
            lost = "numbers begin anew with each window, or when the rows of a key are forgotten"
            fix = EngineFix(f"number the rows of a window, or set {_TTL}", False, loses=lost)
            first = flow.keyed and bool(call.order) and call.order[0].descending
            kept = None if values is None or (flow.changing and not first) else values * most
            state = self._state(operator, tree, kept, why, fix, self.profile.ttl)
            self.keep(tree, replace(state, notes=(*state.notes, *ignored)))
            return replace(out, changing=True)
        self.keep(tree, self._over_aggregate(tree, call, flow, values, timed))
        return out

    def _over_aggregate(
        self, tree: nodes.Over, call: nodes.WindowCall, flow: Flow, values: int | None, timed: bool
    ) -> EngineState:
        frame, operator = call.frame, "over aggregate"
        ranged = frame is not None and frame.unit is nodes.Unit.RANGE and frame.start.distance is not None
        if timed and ranged and frame is not None:
            lifetime = self.delay + (frame.start.distance or 0)
            return self.open_state(operator, tree, GoesBy.WINDOW, lifetime, flow.rate)
        why = "every key is kept" if timed else "rows in an order that is not of time are all kept"
        return self._state(operator, tree, values if timed else None, why, ttl=self._ttl())

    def finish(self, tree: nodes.Tree) -> None:
        """Add the note on watermarks that stand still."""
        if any(state.by in (GoesBy.WINDOW, GoesBy.VALUE) for state in self.states):
            self.note_least_watermark("nothing goes, unless table.exec.source.idle-timeout is set")


_SORT = "Sort on a non-time-attribute field is not supported."


def _is_temporal(tree: nodes.Tree) -> bool:
    return isinstance(tree, nodes.AsOf) or (isinstance(tree, nodes.Alias) and _is_temporal(tree.input))


def _hints(select: exp.Select) -> dict[str, Micros]:
    """The STATE_TTL that a SELECT's hint gives to its sources."""
    found: dict[str, Micros] = {}
    hint = select.args.get("hint")
    for call in hint.expressions if hint is not None else ():
        if isinstance(call, exp.Anonymous) and call.name.upper() == "STATE_TTL":
            for pair in call.expressions:
                length = flink_duration(pair.expression.name) if isinstance(pair, exp.EQ) else None
                if length is not None:
                    found[pair.this.name.lower()] = length
    return found


def _limit(pending: tuple[exp.Expr, ...], place: int) -> int | None:
    """How many rows of each key a condition on their number leaves."""
    for part in pending:
        if isinstance(part, exp.EQ) and place_of(part.this) == place and part.expression.name == "1":
            return 1
        if isinstance(part, exp.LT | exp.LTE) and place_of(part.this) == place and part.expression.name.isdigit():
            return int(part.expression.name) - isinstance(part, exp.LT)
    return None
