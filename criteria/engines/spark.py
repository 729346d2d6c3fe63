"""Spark Structured Streaming 4.3: what its joins and aggregations keep, what it refuses, and what it drops.

A side of a join goes by its key if an equality names an event time, or a window of one, as a bare column; else by its
value, if both sides have an event time and the condition a linear bound on it, of which Spark takes the loosest. It
solves that bound for whatever column is named, and applies it to the event time: `_value_state` says what is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.clock import scans
from streambound.analyzer.durations import UNITS, length_text
from streambound.analyzer.engine_profiles import Micros, OutputMode
from streambound.analyzer.render import identifier
from streambound.analyzer.types import DataType, Family
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
)
from streambound.criteria.engines.linear import (
    ABSOLUTE,
    Distance,
    Near,
    between,
    column_at,
    compared,
    distance,
    linear,
    mapped,
    moved,
    near,
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
    Refusal,
    SilentDrop,
    StateClass,
)

_APART = f"{LATE}, and pairs that are farther apart"
LEGACY, MODE = "_LEGACY_ERROR_TEMP_3102", "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"
DEDUPLICATE, WITHIN = "DROP_DUPLICATES", "DROP_DUPLICATES_WITHIN_WATERMARK"
"""Hints of a SELECT of the first row of each key: that a DataFrame's method makes it."""
FIRST_WITHIN = EngineFix(
    "use dropDuplicatesWithinWatermark", False, loses="duplicates farther apart than the delay are not dropped"
)
"""Of a deduplication whose rows have an event time."""
_NAME = "UNRESOLVED_COLUMN.WITH_SUGGESTION"
_SUBQUERY, _TIMES = "INVALID_SUBQUERY_EXPRESSION.STREAMING_QUERY", "MULTIPLE_EVENT_TIME_COLUMNS"
_NEEDS_STREAM = {
    nodes.JoinKind.INNER: (), nodes.JoinKind.LEFT: (0,), nodes.JoinKind.SEMI: (0,), nodes.JoinKind.ANTI: (0,),
    nodes.JoinKind.NOT_IN: (0,), nodes.JoinKind.RIGHT: (1,), nodes.JoinKind.FULL: (0, 1),
}  # fmt: skip
"""The sides of a join that must be streams where the other one is."""
_ALIGNED = tuple(UNITS[unit] for unit in ("SECOND", "MINUTE", "HOUR", "DAY"))
"""Lengths of windows that begin where a time is truncated to them."""
_SESSION_BYTES = 350
"""What a session takes beside a group, as measured: it is kept as a list of one."""


class _JoinSide(Struct):
    """One side of a join: its rows, the columns that the join reads of them, and the bounds on these."""

    flow: Flow
    place: int
    name: str
    read: frozenset[int]
    bounds: list[_Bound] = msgspec.field(default_factory=list)

    @property
    def marked(self) -> list[FlowColumn]:
        """The event times among what the join reads: a window is one where it is read as a whole."""
        columns = self.flow.columns
        read = {columns[place].mark for place in self.read}
        return [
            columns[place] for place in sorted(self.read)
            if (mark := columns[place].mark) is not None
            and (mark.window is None or (mark.end == 0 and EventMark(mark.window, 1) in read))
        ]  # fmt: skip

    @property
    def source(self) -> int:
        """The stream whose event time its rows have; -1 where that is not known."""
        found = [one.near.source for one in (*self.marked, *self.flow.columns) if one.near is not None]
        return found[0] if found else -1


class _PairColumns(Struct):
    """The columns of both sides, and after them those that Spark ``made`` of one side for a BETWEEN."""

    width: int
    total: int
    made: list[exp.Expr] = msgspec.field(default_factory=list)

    def side(self, place: int) -> int:
        """The side that a column is of."""
        own = min(places(self.made[place - self.total])) if place >= self.total else place
        return int(own >= self.width)

    def column(self, place: int, sides: tuple[_JoinSide, ...]) -> FlowColumn | None:
        """The column of a side; None for one that was made."""
        if place >= self.total:
            return None
        return sides[self.side(place)].flow.columns[place - self.width * self.side(place)]

    def split(self, part: exp.Expr) -> list[exp.Expr]:
        """A part of a condition; BETWEEN over an expression of one side becomes a column of that side."""
        if not isinstance(part, exp.Between):
            return [part]
        if place_of(part.this) is None and len({self.side(place) for place in places(part.this)}) == 1:
            self.made.append(part.this.copy())
            part = part.copy()
            part.set("this", column_at(self.total + len(self.made) - 1))
        return list(between(part))


class _Bound(Struct, frozen=True):
    """``column >= other's event time + length``; without ``moving`` the other is a constant."""

    near: Near | None
    length: Micros
    moving: bool


@dataclass
class SparkModel(EngineModel):
    """Reads a query as Spark runs it in one output mode; ``hint`` says which deduplication a SELECT is."""

    hint: str = ""

    # --- joins --------------------------------------------------------------------------------------------------------

    def join(self, tree: nodes.Join, needed: frozenset[int], pending: tuple[exp.Expr, ...]) -> Flow:
        """A join: of two streams, or of one and what does not change."""
        given = self.schema(tree.left), self.schema(tree.right)
        width = len(given[0])
        order = output_places(tree, given)
        above = [mapped(one, lambda place: column_at(order[place])) for one in pending]
        parts = join_parts(tree, given)
        inner = tree.kind is nodes.JoinKind.INNER
        if inner:
            parts += above
        read = frozenset(order[place] for place in needed) | (frozenset() if inner else places(*above))
        pair = _PairColumns(width, width + len(given[1]))
        pushed: tuple[list[exp.Expr], list[exp.Expr]] = ([], [])
        kept = list[exp.Expr]()
        for part in (one for whole in parts for one in pair.split(whole)):
            sides_read = {pair.side(place) for place in places(part)}
            down = inner or (sides_read == {1} and tree.kind is nodes.JoinKind.LEFT)
            (pushed[sides_read.pop()] if len(sides_read) == 1 and down else kept).append(part)
        read |= places(*kept)
        below = read | places(*pair.made)
        flows = (
            self.visit(tree.left, frozenset(p for p in below if p < width), tuple(pushed[0])),
            self.visit(
                tree.right, frozenset(p - width for p in below if width <= p < pair.total),
                tuple(moved(one, -width) for one in pushed[1]),
            ),
        )  # fmt: skip
        columns = [*flows[0].columns, *flows[1].columns]
        out = tuple(columns[place] for place in order)
        streaming = [flow.streaming for flow in flows]
        if not all(streaming):
            return self._with_static(tree, flows, out)
        if not isinstance(tree.syntax, exp.Join):
            self.refuse(Phase.ANALYSIS, "a subquery in a condition reads a stream", tree, _SUBQUERY)
        if any(
            call.name.lower() in ("window", "session_window") for one in parts for call in one.find_all(exp.Anonymous)
        ):
            fix = EngineFix("make the windows in a subquery of each side", True)
            self.refuse(Phase.ANALYSIS, "a window in the condition of a join means nothing", tree, _NAME, fix)
        sides = tuple(
            _JoinSide(
                flow,
                place,
                side_name(one, SIDES[place]),
                frozenset(p - by for p in read if by <= p < by + len(flow.columns)),
            )
            for place, (flow, one, by) in enumerate(zip(flows, (tree.left, tree.right), (0, width), strict=True))
        )
        return self._of_streams(tree, sides, kept, pair, parts, out)

    def _of_streams(
        self, tree: nodes.Join, sides: tuple[_JoinSide, ...], kept: list[exp.Expr], pair: _PairColumns,
        parts: list[exp.Expr], out: tuple[FlowColumn, ...],
    ) -> Flow:  # fmt: skip
        columns = (*sides[0].flow.columns, *sides[1].flow.columns)

        def known(place: int) -> Near | None:
            if place >= pair.total:
                return near(pair.made[place - pair.total], known)
            return columns[place].near if place >= 0 else None

        keys = equal_keys(kept, pair.width)
        for part in kept:
            self._bound(part, sides, pair, known)
        key = self._key(keys, columns)
        apart = distance(exp.and_(*parts, copy=True), sides[0].source, sides[1].source, known) if parts else (
            None, None,
        )  # fmt: skip
        equal = bool(keys) or any(isinstance(part, exp.NullSafeEQ) for part in kept)
        self._refusals(tree, sides, equal, key is not None, self._hull(tree, apart, sides[0], sides[1]))
        for side in sides:
            if len(side.marked) > 1:
                names = " and ".join(one.name for one in side.marked)
                self.refuse(
                    Phase.RUN, f"the {side.name} side brings two event times, {names}", tree, _TIMES,
                    EngineFix("leave one of them out of the query below", True),
                )  # fmt: skip
        states = [
            self._key_state(tree, side, key[place], sides) if key is not None
            else self._value_state(tree, side, sides[1 - place], apart, keys, columns)
            for place, side in enumerate(sides)
        ]  # fmt: skip
        if tree.kind is nodes.JoinKind.SEMI:
            states[0] = replace(states[0], rows=None, notes=("only rows without a partner so far",))
        read = {side.place * pair.width + place for side in sides for place in side.read}
        self.keep(tree, *states, columns=self.joined(tree, read))
        self._padded_rows(tree, sides, states)
        ends = [
            state.lifetime - self.delay - _lag(sides) for state in states
            if state.by is GoesBy.VALUE and state.lifetime is not None
        ]  # fmt: skip
        return Flow(out, True, None, _lag(sides) + max([0, *ends]))

    def _key(self, keys: list[EqualKey], columns: tuple[FlowColumn, ...]) -> tuple[_KeyTime, _KeyTime] | None:
        """The key by which both sides go: the first that is a bare event time, or a window, on either side."""
        whole = [struct_keys([key[side] for key in keys], columns, strict=True) for side in (0, 1)]
        for pair in keys:
            own = [place_of(one) for one in pair]
            if any(place is not None and columns[place].mark == EventMark() for place in own):
                return _KeyTime(near(pair[0], Flow(columns).near)), _KeyTime(near(pair[1], Flow(columns).near))
            windows = [whole[side].get(place) if place is not None else None for side, place in enumerate(own)]
            if any(windows):
                ends = [columns[place + 1].near if place is not None else None for place in own]
                return _KeyTime(ends[0], windows[0]), _KeyTime(ends[1], windows[1])
        return None

    def _bound(
        self, part: exp.Expr, sides: tuple[_JoinSide, ...], pair: _PairColumns, known: Callable[[int], Near | None]
    ) -> None:
        """Take down what a part of a condition says, if Spark reads it."""
        ordered = compared(part)
        values = [linear(one) for one in ordered] if ordered is not None else []
        if len(values) != 2 or values[0] is None or values[1] is None:
            return
        more = values[1].plus(values[0], -1)
        terms = [(place, count) for place, count in more.terms if place != ABSOLUTE]
        plus, minus = ([place for place, count in terms if count == sign] for sign in (1, -1))
        if more.spark is None or len(plus) != 1 or len(minus) > 1 or len(plus) + len(minus) != len(terms):
            return
        own = pair.side(plus[0])
        if minus:
            column = pair.column(minus[0], sides)
            if pair.side(minus[0]) == own or column is None or column.mark != EventMark():
                return
        sides[own].bounds.append(_Bound(known(plus[0]), -more.spark, bool(minus)))

    def _key_state(self, tree: nodes.Join, side: _JoinSide, key: _KeyTime, sides: tuple[_JoinSide, ...]) -> EngineState:
        """A side that goes by its key."""
        window, at = key.window, key.near
        delay = 0 if window is not None and window.prompt else self.delay
        lifetime: Micros | None = None
        if window is not None and window.number in side.flow.final:
            lifetime = 0
        elif at is not None:
            lifetime = max(0, delay + _lag(sides) + at.high)
            self._late_key(tree, side, at, sides)
        state = self._goes(tree, side, GoesBy.KEY, lifetime)
        unknown = ("a row goes when the watermark passes its key, which is not its own event time",)
        return state if lifetime is not None else replace(state, notes=unknown)

    def _late_key(self, tree: nodes.Join, side: _JoinSide, at: Near, sides: tuple[_JoinSide, ...]) -> None:
        """A key that is less than the row's event time: its partners are gone when the row comes."""
        if at.low >= 0:
            return
        other = next(one for one in sides if one is not side)
        behind = length_text(-at.low)
        message = f"the key of {side.name} is up to {behind} behind its event time, so the watermark passes it before"
        message += f" its partners in {other.name} have met it: results are lost, and counted nowhere"
        fix = EngineFix("add the offset to the other side of the equality, or write it as two inequalities", True)
        self.drops.append(SilentDrop(message, self.span(tree), fix, -at.low > self.delay))

    def _value_state(
        self, tree: nodes.Join, side: _JoinSide, other: _JoinSide, apart: Distance, keys: list[EqualKey],
        columns: tuple[FlowColumn, ...],
    ) -> EngineState:  # fmt: skip
        """A side that goes by its event time, or never."""
        moving = [one for one in side.bounds if one.moving]
        if not side.marked or not other.marked or not moving or len(moving) < len(side.bounds):
            why, fix = self._never(tree, side, other, apart, keys, columns)
            place, span = SIDES[side.place], self.span(tree)
            return EngineState("join", StateClass.GROWS, GoesBy.NEVER, span, place, side.name, why=why, fix=fix)
        reach = max(-one.length for one in moving)
        needed = [
            None if one.near is None or one.near.source != side.source else one.near.high - one.length
            for one in moving
        ]  # fmt: skip
        longest = min((one for one in needed if one is not None), default=None)
        if longest is None or longest > reach:
            self._wrong_time(tree, side, None if longest is None else longest - reach, apart, other)
        lifetime = max(0, self.delay + _lag((side, other)) + reach)
        return self._goes(tree, side, GoesBy.VALUE, lifetime)

    def _wrong_time(
        self, tree: nodes.Join, side: _JoinSide, excess: Micros | None, apart: Distance, other: _JoinSide
    ) -> None:
        """The bound is solved for another column, and applied to the event time: rows go too early."""
        name = side.marked[0].name
        more = "" if excess is None else f" up to {length_text(excess)}"
        message = f"the bound is on a column of {side.name} that is not its event time, and Spark applies it to {name}"
        message += f": rows go{more} before their last partner comes, and those results are lost, and counted nowhere"
        fix = self._hull(tree, apart, side, other)
        self.drops.append(SilentDrop(message, self.span(tree), fix, excess is None or excess > self.delay))

    def _padded_rows(self, tree: nodes.Join, sides: tuple[_JoinSide, ...], states: list[EngineState]) -> None:
        """Rows without a partner come when their state goes: never, where it does not."""
        preserved = {nodes.JoinKind.LEFT: (0,), nodes.JoinKind.RIGHT: (1,), nodes.JoinKind.FULL: (0, 1)}
        for place in preserved.get(tree.kind, ()):
            if states[place].by is GoesBy.NEVER:
                message = f"rows of {sides[place].name} without a partner never come: nothing lets their state go"
                fix = states[place].fix or EngineFix(
                    "watermark both streams, and bound their distance", False, loses=_APART
                )
                self.drops.append(SilentDrop(message, self.span(tree), fix))
                return

    def _refusals(
        self, tree: nodes.Join, sides: tuple[_JoinSide, ...], equal: bool, dated: bool, implied: EngineFix | None
    ) -> None:
        """Add Spark's refusals of a join of two streams."""
        kind, mode = tree.kind, self.profile.mode
        if mode is OutputMode.COMPLETE:
            self.refuse(Phase.START, "streams are not joined in complete mode", tree, MODE)
        if mode is OutputMode.UPDATE and self._has_groups(tree):
            self._refuse_above_groups(tree)
        if kind in (nodes.JoinKind.ANTI, nodes.JoinKind.NOT_IN):
            self.refuse(Phase.START, "there is no anti join of two streams", tree, LEGACY)
        elif kind is not nodes.JoinKind.INNER:
            if mode is OutputMode.UPDATE:
                self.refuse(Phase.START, f"a {kind} join of two streams needs append mode", tree, LEGACY)
            by_kind = {nodes.JoinKind.RIGHT: (1,), nodes.JoinKind.FULL: (0, 1)}.get(kind, (0,))
            if not dated and not any(one.moving for place in by_kind for one in sides[place].bounds):
                why = f"a {kind} join of two streams needs a watermark, and a condition that says until when rows wait"
                both = EngineFix(
                    "watermark both streams, and bound their distance from both sides", False, loses=_APART
                )
                self.refuse(Phase.START, why, tree, LEGACY, implied or both)
        if not equal:
            fix = EngineFix("add an equality, if only of a constant: 1 AS one on both sides", True)
            why = "a join of two streams needs an equality"
            self.refuse(Phase.RUN, why, tree, "_LEGACY_ERROR_TEMP_1181", fix)

    def _with_static(self, tree: nodes.Join, flows: tuple[Flow, Flow], out: tuple[FlowColumn, ...]) -> Flow:
        """A join of a stream with what does not change: it keeps nothing."""
        streaming = [flow.streaming for flow in flows]
        if any(streaming) and not all(streaming[place] for place in _NEEDS_STREAM[tree.kind]):
            why = f"a {tree.kind} join keeps rows of the side that is no stream until it has seen the whole stream"
            self.refuse(Phase.START, why, tree, LEGACY)
        stream = flows[0] if streaming[0] else flows[1]
        return replace(stream, columns=out, rate=None, streaming=any(streaming))

    # --- why a side of a join does not go -----------------------------------------------------------------------------

    def _never(
        self, tree: nodes.Join, side: _JoinSide, other: _JoinSide, apart: Distance, keys: list[EqualKey],
        columns: tuple[FlowColumn, ...],
    ) -> tuple[str, EngineFix]:  # fmt: skip
        fix = self._hull(tree, apart, side, other)
        for left, right in keys:
            pair = [place_of(left), place_of(right)]
            found = [columns[place] for place in pair if place is not None and columns[place].mark is not None]
            if found and found[0].mark is not None and found[0].mark.window is not None:
                wholes = [one.name.rpartition(".")[0] for one in found]
                alike = {
                    one.mark.window and replace(one.mark.window, number=0) for one in found if one.mark is not None
                }
                fix = EngineFix(f"compare the windows as a whole, {wholes[0]} = …, in place of their ends", True)
                if len(found) == 2 and len(alike) == 1 and not found[0].mark.window.session and all(wholes):
                    fix = self.added(tree, " = ".join(wholes))
                return "an end of a window is no event time", fix
        unmarked = [one for one in (side, other) if not one.flow.event_time()]
        if unmarked:
            name = unmarked[0].name
            source = unmarked[0].source
            if 0 <= source < len(self.sources) and self.sources[source][1] is not None:
                return f"an expression in place of the event time of {name} has lost its watermark", EngineFix(
                    f"select the event time of {name} as it is, and write its offset in the condition", True
                )
            both = "" if fix is None else ", and bound their distance by columns alone"
            return f"{name} has no watermark", self.watermark_fix(name, source, both)
        if fix is not None:
            return "no linear bound on event times is read in the condition", fix
        names = [one.flow.event_time() for one in (side, other)]
        lost = f"pairs whose {names[0]} is before that are lost; 1 hour is an example"
        example = self.added(tree, f"{names[0]} >= {names[1]} - INTERVAL '1' HOUR")
        return f"nothing bounds {names[0]} from below by {names[1]}", replace(example, same_results=False, loses=lost)

    def _hull(self, tree: nodes.Join, apart: Distance, side: _JoinSide, other: _JoinSide) -> EngineFix | None:
        """The bounds that follow of the condition, written so that Spark reads them; None where one is missing."""
        first, second = (side, other) if side.place == 0 else (other, side)
        ends = hull(apart, first.flow, second.flow)
        return self.added(tree, *ends) if ends else None

    def _goes(self, tree: nodes.Join, side: _JoinSide, by: GoesBy, lifetime: Micros | None) -> EngineState:
        rows = f"rows of {side.name}"
        return self.open_state("join", tree, by, lifetime, side.flow.rate, rows, SIDES[side.place], side.name)

    # --- groups -------------------------------------------------------------------------------------------------------

    def aggregate(self, tree: nodes.Aggregate | nodes.Distinct, needed: frozenset[int]) -> Flow:
        """Groups, or rows each once."""
        if isinstance(tree, nodes.Distinct):
            flow = self.all_of(tree.input)
            return self.grouped(tree, flow, list(range(len(flow.columns))), "deduplication")
        keys, flow, columns = self.rows_of_groups(tree)
        made = replace(flow, columns=columns)
        structs = struct_keys(keys, flow.columns, strict=True)
        marked = [
            place for place, key in enumerate(keys)
            if (own := place_of(key)) is not None and (columns[place].mark == EventMark() or own in structs)
        ]  # fmt: skip
        out = self._groups(tree, made, marked, "aggregation", tree.calls, flow.event_time() or "")
        return replace(out, columns=(*out.columns, *(FlowColumn(call.name) for call in tree.calls)))

    def grouped(self, tree: nodes.Tree, flow: Flow, keys: list[int], operator: str) -> Flow:
        """Rows each once: Spark groups by all of their columns."""
        marked = [
            place for place in keys
            if (mark := flow.columns[place].mark) is not None
            and (mark.window is None or (not mark.end and EventMark(mark.window, 1) in _marks(flow)))
        ]  # fmt: skip
        return self._groups(tree, flow, marked, operator, ())

    def _groups(
        self, tree: nodes.Tree, flow: Flow, marked: list[int], operator: str, calls: tuple[nodes.AggregateCall, ...],
        time: str = "",
    ) -> Flow:  # fmt: skip
        """Groups by the columns of a flow; ``time`` is the event time of what is grouped."""
        if not flow.streaming:
            return flow
        mode, columns = self.profile.mode, flow.columns
        times = [columns[place].mark for place in marked]
        windows = [mark.window for mark in times if mark is not None and mark.window is not None]
        self._refuse_groups(tree, marked, windows, calls, columns, time)
        last = next((one for one in windows if one.number not in flow.final), windows[0] if windows else None)
        plain = [
            column for column in columns
            if not (column.mark is not None and column.mark.window in windows)
        ]  # fmt: skip
        values = replace(flow, columns=tuple(plain)).values(range(len(plain)))
        if not marked or mode is OutputMode.COMPLETE:
            state = self._kept_groups(tree, operator, values if not windows and not times else None, columns, time)
        else:
            state = self._windowed(tree, operator, flow, last, values, marked)
        growing = sorted({call.function for call in calls if call.function in GROWING_ROWS})
        if growing and state.kept is not StateClass.GROWS:
            note = f"a group is one row, and {' and '.join(growing)} makes it longer with every row of the group"
            state = replace(state, notes=(*state.notes, note))
        more = _SESSION_BYTES if last is not None and last.session else 0
        self.keep(tree, state, grows=bool(growing), more=more)
        final = frozenset(one.number for one in windows) if mode is OutputMode.APPEND else frozenset()
        keep = {columns[place].mark for place in marked}
        keep |= {EventMark(one, end) for one in windows for end in (1, 2)}
        kept = tuple(one if one.mark in keep else replace(one, mark=None) for one in columns)
        return replace(flow, columns=kept, rate=None, final=final)

    def _refuse_groups(
        self, tree: nodes.Tree, marked: list[int], windows: list[TimeWindow],
        calls: tuple[nodes.AggregateCall, ...], columns: tuple[FlowColumn, ...], time: str,
    ) -> None:  # fmt: skip
        mode = self.profile.mode
        below = nodes.inputs(tree)
        if any(map(self._has_groups, below)):
            if mode is OutputMode.UPDATE:
                self._refuse_above_groups(tree)
            elif mode is OutputMode.COMPLETE:
                self.refuse(Phase.START, "groups of groups need append mode", tree, LEGACY)
        session = self._session_below(tree)
        if mode is OutputMode.APPEND and not marked:
            why = "append mode needs an event time with a watermark, or a window of it, among the columns of the group"
            self.refuse(Phase.START, why, tree, MODE, self._window_fix(tree, columns, time))
        if session and mode is OutputMode.UPDATE:
            self.refuse(Phase.START, "session windows are not written in update mode", tree, MODE)
        elif session and len(columns) <= 2:
            fix = EngineFix("group by a key beside the session", False, loses="sessions are of each key")
            self.refuse(Phase.RUN, "session windows need another key", tree, fix=fix)
        if any(call.distinct for call in calls):
            fix = EngineFix("write approx_count_distinct", False, loses="numbers are about right")
            self.refuse(Phase.START, "an aggregate of DISTINCT values is not computed over a stream", tree, LEGACY, fix)
        if len(marked) > 1 and mode is OutputMode.APPEND:
            self.refuse(Phase.RUN, "the groups have two event times", tree, _TIMES)

    def _kept_groups(
        self, tree: nodes.Tree, operator: str, values: int | None, columns: tuple[FlowColumn, ...], time: str
    ) -> EngineState:
        """Groups that stay."""
        if values is not None:
            return self.constant(operator, tree, values, "group")
        if self.profile.mode is OutputMode.COMPLETE:
            why, fix = (
                "complete mode keeps every group",
                EngineFix(
                    "write in append or update mode", False, loses="a batch has what is new, not the whole result"
                ),
            )
        else:
            why, fix = "no column of the group is an event time with a watermark", self._window_fix(tree, columns, time)
        return EngineState(operator, StateClass.GROWS, GoesBy.NEVER, self.span(tree), why=why, fix=fix)

    def _windowed(
        self, tree: nodes.Tree, operator: str, flow: Flow, window: TimeWindow | None, values: int | None,
        marked: list[int],
    ) -> EngineState:  # fmt: skip
        """Groups that go when the watermark passes them."""
        by = GoesBy.WINDOW if window is not None else GoesBy.KEY
        delay = self.delay + flow.lag
        if window is None:
            return self.open_state(operator, tree, by, delay, flow.rate, "keys")
        if window.number in flow.final:
            return self.open_state(operator, tree, by, 0, flow.rate, "groups")
        delay = 0 if window.prompt else delay
        if window.session:
            return self._sessions(tree, operator, flow, window, delay, values)
        return self.window_groups(operator, tree, flow.rate, delay, window, values)

    def _sessions(
        self, tree: nodes.Tree, operator: str, flow: Flow, window: TimeWindow, delay: Micros, values: int | None
    ) -> EngineState:
        note = f"a session closes only if no row of its key comes for {length_text(window.size)}"
        state = self.open_state(operator, tree, GoesBy.WINDOW, delay + window.size, flow.rate, "sessions")
        state = replace(state, notes=(note,))
        if values is None or flow.rate is None or flow.rate * window.size / values < 1:
            return state
        note = f"with {values} keys at this rate, rows of a key come closer than {length_text(window.size)}: sessions "
        note += "do not close, and no result comes"
        words = f"{values} open sessions"
        return replace(state, kept=StateClass.CONSTANT, lifetime=None, rows=values, formula=words, notes=(note,))

    def _window_fix(self, tree: nodes.Tree, columns: tuple[FlowColumn, ...], time: str) -> EngineFix:
        """The change that dates groups: a window in the place of what stands for one, else another key."""
        for column in columns:
            at = column.near
            if at is None or not 0 <= at.source < len(self.sources):
                continue
            if self.sources[at.source][1] is None:
                stream, end = self.sources[at.source][0], f"{column.name.removesuffix('start')}end"
                if any(one.name == end for one in columns):
                    return self.watermark_fix(stream, at.source)
                fix = self.watermark_fix(stream, at.source, ", and group by a window of its time")
                return replace(fix, same_results=False, loses=f"groups are of each window, and {LATE}")
            if column.mark is not None and column.mark.window is not None:
                words = "group by the window as a whole, and select its start"
                return self.grouped_too(tree, identifier(column.name.rpartition(".")[0]).sql("spark"), words)
            width = at.high - at.low
            if width:
                words = f"group by window(…, '{length_text(width)}') of the event time in append mode"
                if at.high == 0 and width in _ALIGNED:
                    return self.grouped_too(tree, f"window({time}, '{length_text(width)}')", words)
                return EngineFix(words, True)
            return EngineFix("make the window of the event time itself, and add the offset to its ends", True)
        return EngineFix("group by a window of the event time, too", False, loses="groups are of each window")

    # --- what else there is -------------------------------------------------------------------------------------------

    def other(self, tree: nodes.Tree, needed: frozenset[int], pending: tuple[exp.Expr, ...]) -> Flow:
        """Limits, orders, set operations and functions over windows."""
        match tree:
            case nodes.FirstRows(input, _, offset):
                return self._first_rows(tree, self.visit(input, needed, ()), offset is not None)
            case nodes.OrderBy(input):
                flow = self.all_of(input)
                if flow.streaming and not (self.profile.mode is OutputMode.COMPLETE and self._has_groups(input)):
                    self.refuse(Phase.START, "rows are put in order only in complete mode, over groups", tree, LEGACY)
                return flow
            case nodes.Over(input, calls) if self.hint:
                hint, self.hint = self.hint, ""
                flow = self._first_of_each(tree, self.all_of(input), hint)
                self.hint = hint
                return replace(flow, columns=(*flow.columns, *(FlowColumn(call.name) for call in calls)))
            case nodes.Over(input, calls):
                flow = self.all_of(input)
                if flow.streaming:
                    error = "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING"
                    self.refuse(Phase.START, "functions over windows of rows do not run over streams", tree, error)
                return replace(flow, columns=(*flow.columns, *(FlowColumn(call.name) for call in calls)))
            case nodes.Apply(input, subquery, _, name):
                flow = self.all_of(input)
                if self.is_streaming(subquery):
                    self.refuse(Phase.ANALYSIS, "a subquery in an expression reads a stream", tree, _SUBQUERY)
                return replace(flow, columns=(*flow.columns, FlowColumn(name)))
            case nodes.Except(left, right) | nodes.Intersect(left, right):
                flow = self.all_of(left)
                word = "EXCEPT" if isinstance(tree, nodes.Except) else "INTERSECT"
                if self.is_streaming(right):
                    self.refuse(Phase.START, f"{word} of streams is not computed", tree, LEGACY)
                elif flow.streaming and not any(_marks(flow)):
                    error = "UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK"
                    self.refuse(Phase.RUN, f"{word} needs a watermark", tree, error)
                return flow
        self.unread.append(f"{type(tree).__name__} was not measured on Spark")
        return Flow(tuple(FlowColumn(column.name) for column in self.schema(tree)), self.is_streaming(tree))

    def _first_of_each(self, tree: nodes.Over, flow: Flow, hint: str) -> Flow:
        """`dropDuplicates`, and the one within the watermark: their keys are kept, and rows go on at once."""
        given = self.schema(tree.input)
        keys = [place_of(placed(key, given)) for key in tree.calls[0].partition]
        columns = [flow.columns[place] for place in keys if place is not None]
        times = [one for one in columns if one.mark is not None and one.mark.is_time]
        windows = struct_keys([placed(key, given) for key in tree.calls[0].partition], flow.columns, strict=True)
        within = hint == WITHIN
        operator = "dropDuplicatesWithinWatermark" if within else "dropDuplicates"
        delay = self.delay + flow.lag
        if not flow.streaming:
            return flow
        if self.profile.mode is OutputMode.COMPLETE:
            self.refuse(Phase.START, "rows are not deduplicated in complete mode", tree, LEGACY)
        if within and flow.event_time() is None:
            fix = EngineFix("call withWatermark before it", False, loses=LATE)
            self.refuse(Phase.START, "deduplication within the watermark needs one", tree, LEGACY, fix)
        if len(times) + len(windows) > 1:
            self.refuse(Phase.RUN, "the keys have two event times", tree, _TIMES)
        values = flow.values(place for place in keys if place is not None) if None not in keys else None
        if within:
            note = "a key goes when the watermark passes its first row's event time and the delay"
            state = self.open_state(operator, tree, GoesBy.WINDOW, 2 * delay, flow.rate, "keys")
            self.keep(tree, replace(state, notes=(note,)))
        elif times or windows:
            reach = max([0, *(one.size for one in windows.values())])
            self.keep(tree, self.open_state(operator, tree, GoesBy.KEY, delay + reach, flow.rate, "keys"))
        elif values is not None:
            self.keep(tree, self.constant(operator, tree, values, "key"))
        else:
            timed = EngineFix(
                "call withWatermark, and add the event time to its columns", False,
                loses=f"{LATE}, and duplicates at another time are not dropped",
            )  # fmt: skip
            fix = FIRST_WITHIN if flow.event_time() is not None else timed
            why = "no column that it compares is an event time with a watermark"
            state = EngineState(operator, StateClass.GROWS, GoesBy.NEVER, self.span(tree), why=why, fix=fix)
            self.keep(tree, state)
        return flow

    def _first_rows(self, tree: nodes.FirstRows, flow: Flow, offset: bool) -> Flow:
        if not flow.streaming:
            return flow
        mode = self.profile.mode
        if offset:
            self.refuse(Phase.START, "OFFSET is not computed over a stream", tree, LEGACY)
        elif mode is OutputMode.UPDATE:
            self.refuse(Phase.START, "LIMIT is not computed in update mode", tree, LEGACY)
        elif mode is OutputMode.APPEND:
            state = EngineState(
                "limit", StateClass.CONSTANT, GoesBy.NEVER, self.span(tree), rows=1, formula="the number of rows so far"
            )
            self.keep(tree, state)
        return replace(flow, rate=None)

    def finish(self, tree: nodes.Tree) -> None:
        """Add findings on the output mode, and on watermarks on columns that are no times."""
        if self.profile.mode is OutputMode.COMPLETE and self.sources and not self._has_groups(tree):
            self.refusals.insert(0, Refusal(Phase.START, "complete mode needs groups", self.span(tree), MODE))
        if self.refusals:
            self.drops.clear()
        for scan in scans(tree):
            table = self.catalog.table(scan.table)
            time = table and table.timestamp and table.column(table.timestamp)
            declared = table is not None and self.profile.delays.get(table.name.lower()) is not None
            if time and declared and not self.has_watermarks(time.type):
                why = f"a watermark is on a column of type timestamp, and {scan.alias}.{time.name} is {time.type.name}"
                self.refuse(Phase.ANALYSIS, why, scan, "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE")
        if any(state.kept is StateClass.WINDOW for state in self.states):
            self.note_least_watermark("or a filter leaves none, nothing goes")

    def has_watermarks(self, kind: DataType) -> bool:
        """Whether a column of this type may have a watermark: `TIMESTAMP` may, `TIMESTAMP_NTZ` may not."""
        return kind.family is Family.TIMESTAMP and kind.name != "timestamp_ntz"

    def visit(self, tree: nodes.Tree, needed: frozenset[int], pending: tuple[exp.Expr, ...]) -> Flow:
        """The rows of an operator; relations that change are not read."""
        if isinstance(tree, nodes.Scan) and tree.changes:
            self.unread.append("a relation that changes was not measured on Spark")
        outer = self.hint
        if isinstance(tree, nodes.Project) and isinstance(tree.syntax, exp.Select):
            self.hint = _deduplication(tree.syntax) or self.hint
        flow = super().visit(tree, needed, pending)
        self.hint = outer
        return flow

    def is_whole_window(self, name: str) -> bool:
        """An end of a window by itself is an expression; a window as a whole is two columns here, ``w.start`` first."""
        return name.lower().endswith((".start", ".end"))

    def time_of_window(self, bucket: nodes.Bucket, time: exp.Expr, flow: Flow) -> tuple[EventMark | None, Near | None]:
        """A window may be made of another one, too, by itself or by its `window_time`."""
        mark, at = super().time_of_window(bucket, time, flow)
        marks = [flow.columns[place] for place in places(time)]
        if mark is None and not isinstance(time, exp.Column) and len(marks) == 2:
            ends = [one for one in marks if one.mark is not None and one.mark.window is not None]
            if len(ends) == 2:
                return ends[0].mark, max(ends, key=lambda one: one.mark.end if one.mark else 0).near
        return mark, at

    def _refuse_above_groups(self, tree: nodes.Tree) -> None:
        self.refuse(Phase.START, "in update mode nothing that keeps state may read groups", tree, LEGACY)

    def _has_groups(self, tree: nodes.Tree) -> bool:
        grouping = isinstance(tree, nodes.Aggregate | nodes.Distinct) or (
            isinstance(tree, nodes.Union) and tree.distinct
        )
        if grouping and self.is_streaming(tree):
            return True
        return any(map(self._has_groups, nodes.inputs(tree)))

    def _session_below(self, tree: nodes.Tree) -> bool:
        input = nodes.inputs(tree)[0] if nodes.inputs(tree) else None
        return isinstance(tree, nodes.Aggregate) and isinstance(input, nodes.Bucket) and (
            input.kind is nodes.BucketKind.SESSION
        )  # fmt: skip


class _KeyTime(Struct, frozen=True):
    """A side's key that is a time, or the end of a window."""

    near: Near | None
    window: TimeWindow | None = None


def _deduplication(select: exp.Select) -> str:
    """The hint by which a SELECT of the first row of each key is one of Spark's deduplications; nothing without."""
    hint = select.args.get("hint")
    names = [one.name.upper() for one in hint.expressions] if hint is not None else []
    return next((name for name in names if name in (DEDUPLICATE, WITHIN)), "")


def _lag(sides: tuple[_JoinSide, ...]) -> Micros:
    """How far the watermark of an operator is behind that of the query."""
    return max(side.flow.lag for side in sides)


def _marks(flow: Flow) -> set[EventMark | None]:
    return {column.mark for column in flow.columns}
