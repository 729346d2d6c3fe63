"""What rows are to an engine as they flow through a query: which columns are event times, how far from them others are.

Both models walk the algebra tree by `EngineModel`; what their operators keep, each says itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.clock import scans
from streambound.analyzer.algebra.schema import schema, starred_places
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.durations import UNITS, length_text
from streambound.analyzer.edits import Edit
from streambound.analyzer.engine_profiles import EngineProfile, Micros, StreamEngine
from streambound.analyzer.findings import Positions
from streambound.analyzer.spans import Span
from streambound.analyzer.types import DataType, Family
from streambound.criteria.engines.linear import (
    Distance,
    Near,
    column_at,
    conjuncts,
    mapped,
    near,
    place_of,
    placed,
    places,
)
from streambound.criteria.engines.profile import (
    LATE,
    EngineFix,
    EngineReading,
    EngineState,
    GoesBy,
    LongDelay,
    Phase,
    Refusal,
    SilentDrop,
    StateClass,
)
from streambound.criteria.entry_bytes import text_bytes, type_bytes, value_bytes
from streambound.criteria.repairs.layout import Layout

_EXAMPLE = 10 * UNITS["MINUTE"]
"""The delay of a watermark where nothing says how late rows may be."""


class TimeWindow(Struct, frozen=True):
    """Windows of time that one operator makes; ``prompt``: of rows that come when the watermark has passed them."""

    number: int
    size: Micros
    slide: Micros
    session: bool = False
    prompt: bool = False


class EventMark(Struct, frozen=True):
    """That an engine takes a column for an event time, or for a window's start, end or last moment (``end`` 0 to 2)."""

    window: TimeWindow | None = None
    end: int = 0

    @property
    def is_time(self) -> bool:
        """Whether it is a time by itself: that of a row, or a window's last moment."""
        return self.window is None or self.end == 2


class FlowColumn(Struct, frozen=True):
    """A column: how SQL names it, what the engine takes it for, how far it is from an event time.

    ``near`` is there whether or not the engine knows it. ``values`` is how many values it may have.
    """

    name: str
    mark: EventMark | None = None
    near: Near | None = None
    values: int | None = None


class Flow(Struct, frozen=True):
    """The rows of an operator.

    ``streaming``: they come of a stream. ``rate`` is how many there may be in a microsecond of event time; None where
    that is not known. ``lag``: how far behind the watermark they may be. ``final`` are the windows whose rows come
    when the watermark has passed them. ``changing``: rows are taken back; ``keyed``: at most one of each key.
    """

    columns: tuple[FlowColumn, ...]
    streaming: bool = False
    rate: Fraction | None = None
    lag: Micros = 0
    final: frozenset[int] = frozenset()
    changing: bool = False
    keyed: bool = False

    def near(self, place: int) -> Near | None:
        """How far a column is from an event time."""
        return self.columns[place].near if 0 <= place < len(self.columns) else None

    def values(self, needed: Iterable[int]) -> int | None:
        """How many combinations of values some columns may have."""
        found = 1
        for place in needed:
            values = self.columns[place].values
            if values is None:
                return None
            found *= values
        return found

    def event_time(self) -> str | None:
        """The SQL name of the first column that the engine takes for an event time."""
        return next((one.name for one in self.columns if one.mark is not None and one.mark.is_time), None)


@dataclass
class EngineModel(ABC):
    """Walks a tree with what is read of each operator's rows, and with conditions that engines push down to it.

    ``sources`` are the streams that it reads, by the number that `Near` has for them; None where one has no watermark.
    With a ``layout`` of the statement fixes that add something to it are edits, too.
    """

    catalog: Catalog
    positions: Positions
    profile: EngineProfile
    states: list[EngineState] = field(default_factory=list)
    drops: list[SilentDrop] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    sources: list[tuple[str, Micros | None]] = field(default_factory=list)
    tables: list[DeclaredTable] = field(default_factory=list)
    windows: int = 0
    scanned: int = 0
    layout: Layout | None = None

    def read(self, tree: nodes.Tree) -> EngineReading:
        """The model's reading of a query."""
        for scan in scans(tree):
            delay, table = self._delay_of(scan), self.catalog.table(scan.table)
            if delay is not NO_STREAM and table is not None:  # the watermark is that of all of them
                self.sources.append((scan.alias, delay))
                self.tables.append(table)
        given = self.schema(tree)
        self.visit(tree, frozenset(range(len(given))), ())
        self.finish(tree)
        order = list(Phase)
        refusals = sorted(self.refusals, key=lambda one: order.index(one.when))
        if self.unread:
            return EngineReading(self.profile.engine, unread=self.unread[0])
        return EngineReading(
            self.profile.engine, tuple(self.states), tuple(self.drops), tuple(refusals), tuple(self._long_delays(tree)),
            tuple(dict.fromkeys(self.notes)), delay=self.delay,
        )  # fmt: skip

    def _long_delays(self, tree: nodes.Tree) -> Iterator[LongDelay]:
        """The watermarks that hold back the others, though the catalog lets no row be as late."""
        if not any(state.kept is StateClass.WINDOW for state in self.states):
            return
        for scan in scans(tree):
            delay, table = self._delay_of(scan), self.catalog.table(scan.table)
            late = enough(table) if table is not None else None
            if table is None or late is None or delay is NO_STREAM or delay != self.delay or delay <= late:
                continue
            message = f"the watermark of {scan.alias} is {length_text(delay)} behind, and its rows come at most "
            message += f"{length_text(table.arrival.lateness or 0)} late: rows stay longer than they have to"
            yield LongDelay(
                message, self.span(scan), self._delayed(f"let it be {length_text(late)} behind", table, late)
            )

    def _delayed(self, text: str, table: DeclaredTable, delay: Micros, loses: str = "") -> EngineFix:
        return EngineFix(text, not loses, loses=loses, stream=table.name.lower(), delay=delay)

    def has_watermarks(self, kind: DataType) -> bool:
        """Whether a column of a type may have a watermark."""
        return kind.family is Family.TIMESTAMP

    @property
    def delay(self) -> Micros:
        """How far the watermark is behind the latest event time: by the longest delay, as it is the least of all."""
        delays = [delay for _, delay in self.sources if delay is not None]
        return max(delays) + self.profile.behind if delays else 0

    def schema(self, tree: nodes.Tree) -> Schema:
        """The columns of a tree."""
        return schema(tree, self.catalog)

    def span(self, tree: nodes.Tree) -> Span:
        """Where an operator stands."""
        while tree.at is None and tree.syntax is None and nodes.inputs(tree):
            tree = nodes.inputs(tree)[0]
        if tree.at is not None:
            return tree.at
        if isinstance(tree.syntax, exp.Join):
            entry = self.positions.of(tree.syntax.this)
            return self.positions.keyword_before(entry.start, TokenType.JOIN, TokenType.COMMA) or entry
        return self.positions.of(tree.syntax) if tree.syntax is not None else self.positions.of(exp.Select())

    def refuse(self, when: Phase, why: str, tree: nodes.Tree, error: str = "", fix: EngineFix | None = None) -> None:
        """Take down that the engine does not run it."""
        self.refusals.append(Refusal(when, why, self.span(tree), error, fix))

    def added(self, tree: nodes.Join, *conditions: str) -> EngineFix:
        """Conditions that follow of those of a join, added to them: results stay the same."""
        text = f"add AND {' AND '.join(conditions)}"
        join, edits = tree.syntax, tuple[Edit, ...]()
        if self.layout is not None and isinstance(join, exp.Join):
            where = None if tree.kind is not nodes.JoinKind.INNER else join.find_ancestor(exp.Select)
            node = join if join.args.get("on") is not None else where
            edits = self.layout.conditions([(node, one) for one in conditions]) if node is not None else ()
        return EngineFix(text, True, edits, conditions)

    def grouped_too(self, tree: nodes.Tree, key: str, words: str) -> EngineFix:
        """A key that the other keys of groups determine, added to them: the groups stay the same."""
        edits = tuple[Edit, ...]()
        if self.layout is not None and isinstance(tree.syntax, exp.Select):
            edits = self.layout.one_more_key(tree.syntax, key)
        return EngineFix(f"add {key} to the groups" if edits else words, True, edits, (key,))

    def watermark_fix(self, name: str, source: int, more: str = "") -> EngineFix:
        """A watermark for a stream: it loses nothing where rows are no later than the catalog lets them be."""
        table = self.tables[source] if 0 <= source < len(self.tables) else None
        if table is None:
            return EngineFix(f"watermark {name}{more}", False, loses=LATE)
        if (late := enough(table)) is None:
            return self._delayed(f"watermark {name}{more}", table, self.delay or _EXAMPLE, LATE)
        return self._delayed(f"watermark {name} by {length_text(late)}, as its rows may be late{more}", table, late)

    def is_streaming(self, tree: nodes.Tree) -> bool:
        """Whether a tree reads a stream."""
        if isinstance(tree, nodes.Scan):
            return tree.changes or self._delay_of(tree) is not NO_STREAM
        return any(map(self.is_streaming, nodes.inputs(tree)))

    def open_state(
        self, operator: str, tree: nodes.Tree, by: GoesBy, lifetime: Micros | None, rate: Fraction | None,
        what: str = "rows", side: str = "", source: str = "",
    ) -> EngineState:  # fmt: skip
        """The state of an operator that keeps the rows of a length of event time."""
        rows, words = rows_of(rate, lifetime), f"no {what}" if lifetime == 0 else what
        words += f" in {length_text(lifetime)}" if lifetime else ""
        return EngineState(operator, StateClass.WINDOW, by, self.span(tree), side, source, lifetime, rows, words)

    def window_groups(
        self, operator: str, tree: nodes.Tree, rate: Fraction | None, delay: Micros, window: TimeWindow,
        values: int | None,
    ) -> EngineState:  # fmt: skip
        """The groups of open windows, of ``values`` keys each; ``rate``: of rows, each in all of its windows."""
        covered, count = windows_open(delay, window)
        once = rate and rate * Fraction(window.slide, window.size)
        each = "" if values == 1 else " × keys" if values is None else f" × {values} keys"
        words = f"about {count} {'window' if count == 1 else 'windows'}{each}"
        state = self.open_state(operator, tree, GoesBy.WINDOW, covered, once)
        groups = [number for number in (state.rows, values and count * values) if number is not None]
        return replace(state, formula=words, rows=min(groups, default=None), unit=values or 0)

    # --- operators that are alike in all engines ----------------------------------------------------------------------

    def keep(
        self, tree: nodes.Tree, *states: EngineState, columns: Sequence[Schema] = (), grows: bool = False, more: int = 0
    ) -> None:
        """Take down what an operator keeps: of rows with some ``columns``, those that it reads, unless they differ.

        ``grows`` says that a row takes ever more bytes, ``more`` how many it takes beside what others do.
        """
        grouping = isinstance(tree, nodes.Aggregate | nodes.Distinct)
        given = columns or [self.schema(tree if grouping else (*nodes.inputs(tree), tree)[0])] * len(states)
        beside = ROW_BYTES[self.profile.engine][bool(states[0].side)] + more
        for state, one in zip(states, given, strict=True):
            known = [width for width in map(_bytes, one) if width is not None]
            whole = len(known) == len(one) and not grows
            self.states.append(replace(state, row_bytes=beside + sum(known) if whole else None))

    def joined(self, tree: nodes.Join, read: Iterable[int]) -> list[Schema]:
        """The columns that a join keeps of each side: those that are read, and its keys once more."""
        given = self.schema(tree.left), self.schema(tree.right)
        width, both = len(given[0]), (*given[0], *given[1])
        keys = [place_of(one) for pair in equal_keys(join_parts(tree, given), width) for one in pair]
        kept = [*read, *(place for place in keys if place is not None)]
        return [tuple(both[place] for place in kept if (place >= width) == side) for side in (False, True)]

    def constant(self, operator: str, tree: nodes.Tree, values: int, word: str) -> EngineState:
        """As many rows as keys have values."""
        words = f"{values} {word}{'' if values == 1 else 's'}"
        return EngineState(operator, StateClass.CONSTANT, GoesBy.NEVER, self.span(tree), rows=values, formula=words)

    def visit(self, tree: nodes.Tree, needed: frozenset[int], pending: tuple[exp.Expr, ...]) -> Flow:
        """The rows of an operator of which ``needed`` columns are read, under conditions on them."""
        match tree:
            case nodes.Scan():
                return self._scan(tree)
            case nodes.Alias(input, alias, _):
                flow = self.visit(input, needed, pending)
                names = [column.name for column in self.schema(tree)]
                return self._named(flow, alias, names)
            case nodes.Filter(input, condition):
                given = self.schema(input)
                return self.visit(input, needed, (*pending, *conjuncts(placed(condition, given))))
            case nodes.Project():
                return self._project(tree, needed, pending)
            case nodes.Bucket():
                return self._bucket(tree, needed, pending)
            case nodes.Join():
                return self.join(tree, needed, pending)
            case nodes.Aggregate() | nodes.Distinct():
                return self.aggregate(tree, needed)
            case nodes.Union(left, right, distinct):
                return self._union(tree, left, right, distinct)
        return self.other(tree, needed, pending)

    @abstractmethod
    def join(self, tree: nodes.Join, needed: frozenset[int], pending: tuple[exp.Expr, ...]) -> Flow:
        """A join."""

    @abstractmethod
    def aggregate(self, tree: nodes.Aggregate | nodes.Distinct, needed: frozenset[int]) -> Flow:
        """Groups, or rows each once."""

    @abstractmethod
    def other(self, tree: nodes.Tree, needed: frozenset[int], pending: tuple[exp.Expr, ...]) -> Flow:
        """Another operator."""

    @abstractmethod
    def finish(self, tree: nodes.Tree) -> None:
        """Add findings on the whole query."""

    def note_least_watermark(self, exceptions: str) -> None:
        """Say that nothing goes while one of several watermarks stands still, and with which ``exceptions``."""
        watermarked = dict.fromkeys(name for name, delay in self.sources if delay is not None)
        if len(watermarked) > 1:
            least = f"the watermark is the least of those of {' and '.join(watermarked)}"
            self.notes.append(f"{least}: while one of them brings no rows, {exceptions}")

    def rows_of_groups(self, tree: nodes.Aggregate) -> tuple[list[exp.Expr], Flow, tuple[FlowColumn, ...]]:
        """The keys of groups, the rows that are grouped, and the columns that the keys are."""
        given = self.schema(tree.input)
        keys = [placed(key.value, given) for key in tree.keys]
        arguments = [placed(one, given) for call in tree.calls for one in call.arguments]
        flow = self.visit(tree.input, places(*keys, *arguments), ())
        return keys, flow, tuple(self.item(key.name, value, flow) for key, value in zip(tree.keys, keys, strict=True))

    def is_whole_window(self, name: str) -> bool:
        """Whether an end of a window that a list names so stays one."""
        return True

    def time_of_window(self, bucket: nodes.Bucket, time: exp.Expr, flow: Flow) -> tuple[EventMark | None, Near | None]:
        """The event time from which windows are made, and its distances."""
        place = place_of(time)
        mark = flow.columns[place].mark if place is not None else None
        return (mark if mark is not None and mark.is_time else None), near(time, flow.near)

    def all_of(self, tree: nodes.Tree) -> Flow:
        """The rows of an operator all of whose columns are read."""
        return self.visit(tree, frozenset(range(len(self.schema(tree)))), ())

    def _delay_of(self, scan: nodes.Scan) -> Micros | None:
        """The delay of a stream's watermark; `NO_STREAM` for a relation."""
        table = self.catalog.table(scan.table)
        if table is None or table.timestamp is None:
            return NO_STREAM
        declared = self.profile.delays.get(table.name.lower(), NO_STREAM)
        if declared is not NO_STREAM:
            return declared
        kind = table.column(table.timestamp)
        timed = kind is not None and self.has_watermarks(kind.type)
        return table.arrival.lateness or None if timed else None

    def _scan(self, tree: nodes.Scan) -> Flow:
        table, delay = self.catalog.table(tree.table), self._delay_of(tree)
        assert table is not None, "lowering has found it"
        if delay is NO_STREAM:
            columns = tuple(FlowColumn(f"{tree.alias}.{one.name}", values=_values(one)) for one in table.columns)
            return Flow(columns, tree.changes, changing=tree.changes, keyed=tree.changes)
        source = self.scanned
        self.scanned += 1
        columns = tuple(self._of_stream(tree, one, table, source, delay) for one in table.columns)
        rate = table.max_rate
        return Flow(columns, True, Fraction(rate.rows, rate.per) if rate is not None else None)

    def _of_stream(
        self, tree: nodes.Scan, column: Column, table: DeclaredTable, source: int, delay: Micros | None
    ) -> FlowColumn:
        time = column.name == table.timestamp
        mark = EventMark() if time and delay is not None else None
        return FlowColumn(f"{tree.alias}.{column.name}", mark, Near(source) if time else None, _values(column))

    def _named(self, flow: Flow, alias: str, names: list[str]) -> Flow:
        columns = (
            replace(column, name=f"{alias}.{name}" if alias else name)
            for column, name in zip(flow.columns, names, strict=False)
        )
        return replace(flow, columns=tuple(columns))

    def _project(self, tree: nodes.Project, needed: frozenset[int], pending: tuple[exp.Expr, ...]) -> Flow:
        given = self.schema(tree.input)
        items: list[tuple[str, exp.Expr]] = []
        ends = set[int]()
        for item in tree.items:
            if isinstance(item, nodes.Star):
                items += [(given[place].name, column_at(place)) for place in starred_places(item, given)]
            else:
                ends |= set() if self.is_whole_window(item.name) else {len(items)}
                items.append((item.name, placed(item.value, given)))
        wanted = places(*(items[place][1] for place in needed))
        below = tuple(mapped(one, lambda place: items[place][1]) for one in pending)
        flow = self.visit(tree.input, wanted, below)
        columns = tuple(
            replace(column, mark=None) if place in ends and column.mark is not None and column.mark.window else column
            for place, column in enumerate(self.item(name, value, flow) for name, value in items)
        )
        more = any(isinstance(call, exp.Anonymous) and "explode" in call.name.lower() for _, call in items)
        return replace(flow, columns=columns, rate=None if more else flow.rate)

    def item(self, name: str, value: exp.Expr, flow: Flow) -> FlowColumn:
        """The column that an expression makes: any but a column by itself is no event time."""
        place = place_of(value)
        if place is not None:
            return replace(flow.columns[place], name=name)
        constant = isinstance(value, exp.Literal | exp.Boolean | exp.Null)
        return FlowColumn(name, near=near(value, flow.near), values=1 if constant else None)

    def _bucket(self, tree: nodes.Bucket, needed: frozenset[int], pending: tuple[exp.Expr, ...]) -> Flow:
        given = self.schema(tree.input)
        time = placed(tree.time, given)
        width = len(given)
        own = frozenset(place for place in needed if place < width) | places(time)
        inner = tuple(one for one in pending if all(place < width for place in places(one)))
        flow = self.visit(tree.input, own | places(*pending) & frozenset(range(width)), inner)
        mark, at = self.time_of_window(tree, time, flow)
        session = tree.kind is nodes.BucketKind.SESSION
        prompt = mark is not None and mark.window is not None and mark.window.number in flow.final
        self.windows += 1
        window = TimeWindow(self.windows, tree.size, tree.slide or tree.size, session, prompt)
        ends = [
            FlowColumn(
                name, None if mark is None else EventMark(window, end),
                None if at is None else Near(at.source, at.low - (0 if end else tree.size), at.high + end * tree.size),
            )
            for end, name in enumerate(tree.columns[:2])
        ]  # fmt: skip
        last = [FlowColumn(name, mark and EventMark(window, 2), ends[1].near) for name in tree.columns[2:]]
        rate = flow.rate and flow.rate * Fraction(window.size, window.slide)
        return replace(flow, columns=(*flow.columns, *ends, *last), rate=rate)

    def _union(self, tree: nodes.Tree, left: nodes.Tree, right: nodes.Tree, distinct: bool) -> Flow:
        """Engines take the times of the first branch for event times."""
        first, second = self.all_of(left), self.all_of(right)
        rate = first.rate + second.rate if first.rate is not None and second.rate is not None else None
        columns = tuple(
            replace(one, values=None, near=one.near if other.near is not None else None)
            for one, other in zip(first.columns, second.columns, strict=False)
        )
        made = Flow(
            columns, first.streaming or second.streaming, rate, max(first.lag, second.lag),
            changing=first.changing or second.changing,
        )  # fmt: skip
        return self.grouped(tree, made, list(range(len(columns))), "deduplication") if distinct else made

    @abstractmethod
    def grouped(self, tree: nodes.Tree, flow: Flow, keys: list[int], operator: str) -> Flow:
        """Rows each once, by some columns."""


GROWING_ROWS = frozenset({
    "COLLECT_SET", "COLLECT_LIST", "ARRAY_AGG", "PERCENTILE", "PERCENTILE_CONT", "PERCENTILE_DISC", "MEDIAN", "MODE",
    "PERCENTILE_APPROX", "APPROX_PERCENTILE", "HISTOGRAM_NUMERIC", "LISTAGG", "STRING_AGG",
})  # fmt: skip
"""Aggregates whose one row a group grows with the group's rows."""
SIDES = ("left", "right")
ROW_BYTES = {StreamEngine.SPARK: (136, 180), StreamEngine.FLINK: (60, 101)}
"""What a row takes beside its columns, of groups and of joins, as measured: in Spark's memory, in Flink's checkpoint,
where each row has a key of its own."""
NO_STREAM: Micros = -1
"""In the place of a delay: there is no stream."""


def struct_keys(keys: list[exp.Expr], columns: tuple[FlowColumn, ...], strict: bool) -> dict[int, TimeWindow]:
    """The places of starts among keys whose window's end is there, too; ``strict``: written as one value."""
    found = {}
    placed_at = [(place, key) for key in keys if (place := place_of(key)) is not None]
    for place, key in placed_at:
        mark = columns[place].mark
        if mark is None or mark.window is None or mark.end:
            continue
        for other, end in placed_at:
            if columns[other].mark == EventMark(mark.window, 1) and (not strict or _written(key) == _written(end)):
                found[place] = mark.window
    return found


def _written(node: exp.Expr) -> tuple[object, object]:
    """Where a column is written; both ends of a window that is written as one value have the same place."""
    return node.unnest().meta.get("start"), node.unnest().meta.get("end")


def _bytes(column: ViewColumn) -> int | None:
    """The most bytes of a value; None for a string of any length, and what has no type."""
    declared = column.column
    if declared is not None and declared.domain is not None and declared.domain.values:
        return max(map(value_bytes, declared.domain.values))
    if declared is not None and (text := text_bytes(declared)) is not None:
        return text
    return None if column.type is None else type_bytes(column.type)


def _values(column: Column) -> int | None:
    domain = column.domain
    if column.type.family is Family.BOOLEAN:
        return 2
    if domain is None:
        return None
    if domain.values:
        return len(domain.values)
    if isinstance(domain.low, int) and isinstance(domain.high, int) and column.type.family is Family.INTEGER:
        return domain.high - domain.low + 1
    return None


def rows_of(rate: Fraction | None, lifetime: Micros | None) -> int | None:
    """About how many rows come in a length of event time."""
    if lifetime is None or (rate is None and lifetime > 0):
        return None
    return round((rate or 0) * max(lifetime, 0))


# --- joins ------------------------------------------------------------------------------------------------------------


def join_parts(tree: nodes.Join, given: tuple[Schema, Schema]) -> list[exp.Expr]:
    """The parts of a join's condition, over the columns of both sides."""
    width = len(given[0])
    parts = list(conjuncts(placed(tree.condition, (*given[0], *given[1])))) if tree.condition is not None else []
    if tree.member is not None:
        parts += conjuncts(placed(tree.member, (*given[0], *given[1])))
    for name in tree.using:
        left, right = (next(p for p, one in enumerate(side) if one.called(name)) for side in given)
        parts.append(exp.EQ(this=column_at(left), expression=column_at(width + right)))
    return parts


def output_places(tree: nodes.Join, given: tuple[Schema, Schema]) -> list[int]:
    """Which columns of both sides a join's are, in their order."""
    width = len(given[0])
    if tree.kind in nodes.ONE_SIDED:
        return list(range(width))
    both = (*given[0], *given[1])
    once = [next(p for p, one in enumerate(given[0]) if one.called(name)) for name in tree.using]
    return [*once, *(p for p, one in enumerate(both) if not any(one.called(name) for name in tree.using))]


EqualKey = tuple[exp.Expr, exp.Expr]
"""What an equality compares of the left side, and of the right one."""


def equal_keys(parts: Iterable[exp.Expr], width: int) -> list[EqualKey]:
    """The equalities of an expression of the left side with one of the right side."""
    found = []
    for part in parts:
        if isinstance(part, exp.EQ):
            sides = [{place < width for place in places(one)} for one in (part.this, part.expression)]
            if sides == [{True}, {False}]:
                found.append((part.this, part.expression))
            elif sides == [{False}, {True}]:
                found.append((part.expression, part.this))
    return found


def side_name(tree: nodes.Tree, word: str) -> str:
    """The name of a side of a join in SQL."""
    while isinstance(tree, nodes.Filter):
        tree = tree.input
    alias = tree.alias if isinstance(tree, nodes.Scan | nodes.Alias | nodes.Recur | nodes.Bucket) else ""
    return alias or f"the {word} side"


def enough(table: DeclaredTable) -> Micros | None:
    """The delay of a watermark that loses no row that the catalog allows: engines drop a row at the watermark."""
    late = table.arrival.lateness
    return late + UNITS["SECOND"] if late else None


def hull(apart: Distance, first: Flow, second: Flow) -> tuple[str, ...]:
    """The range that a condition implies, as parts of it that engines read; nothing where it has no two ends."""
    low, high = apart
    names = first.event_time(), second.event_time()
    if low is None or high is None or None in names:
        return ()
    return tuple(f"{names[1]} {sign} {_moved(str(names[0]), length)}" for sign, length in ((">=", low), ("<=", high)))


def _moved(name: str, length: Micros) -> str:
    if not length:
        return name
    number, unit = length_text(abs(length)).upper().split()
    return f"{name} {'+' if length > 0 else '-'} INTERVAL '{number}' {unit.removesuffix('S')}"


def windows_open(delay: Micros, window: TimeWindow) -> tuple[Micros, int]:
    """How much event time the open windows hold together, and about how many they are, when one has just closed."""
    length, whole = delay + window.size, delay // window.slide + 1
    every = -(-length // window.slide)
    begun = (every - whole) * length - window.slide * (every * (every - 1) - whole * (whole - 1)) // 2
    return whole * window.size + begun, round(length / window.slide)
