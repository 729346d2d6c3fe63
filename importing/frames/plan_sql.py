"""A plan of Spark as SQL that the analyzer reads, and the streams that it is over.

What is below a watermark and keeps no state, projections, filters and functions of single rows, is a part of the
stream: the stream is what `withWatermark` has made. So is a source without one by itself. What the analyzer has no
words for is there a column of the stream; elsewhere it is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.importing.frames.catalyst import CatalystNode, Expression, expression_of
from streambound.importing.frames.expression_sql import (
    NotReadError,
    Printer,
    declared_type,
    identifier,
    is_window,
    plain_name,
    words_of,
)

_STREAMING = ("StreamingRelation", "StreamingRelationV2", "StreamingExecutionRelation", "StreamingDataSourceV2Relation")
_THROUGH = (
    "View", "ResolvedHint", "CollectMetrics", "Repartition", "RepartitionByExpression", "RebalancePartitions",
    "DataFrameDropColumns", "WithWatermark",
)  # fmt: skip
"""Operators that leave rows as they are."""
_JOINS = {
    "Inner": "JOIN", "Cross": "CROSS JOIN", "LeftOuter": "LEFT JOIN", "RightOuter": "RIGHT JOIN",
    "FullOuter": "FULL JOIN", "LeftSemi": "LEFT SEMI JOIN", "LeftAnti": "LEFT ANTI JOIN",
}  # fmt: skip
_STATEFUL = {
    "FlatMapGroupsInPandasWithState": "applyInPandasWithState",
    "TransformWithStateInPandas": "transformWithStateInPandas",
    "TransformWithStateInPySpark": "transformWithState", "TransformWithState": "transformWithState",
    "FlatMapGroupsWithState": "flatMapGroupsWithState",
}  # fmt: skip
"""Operators that keep what a function of the user keeps, by the methods that make them."""
_ROW_BY_ROW = ("MapInPandas", "MapInArrow", "PythonMapInArrow", "MapPartitions", "Generate", "MapElements")
_ANY = re.compile(r"\x00(\d+)\x00")
_COLUMN = re.compile(r"\x00(\d+)\x00\.([^.]+)")
_PLACE = re.compile(r"\x01(\d+)\x02|\x03")


class FrameSource(Struct):
    """A stream or a relation that a plan is over; ``timestamp`` is the column of its watermark, if it has one.

    ``known`` is what the program calls it, ``plain`` its columns that are those of the source as they are; with
    ``more`` it may have more rows than the source. ``node`` is the operator that it is.
    """

    known: str
    streaming: bool
    timestamp: str | None = None
    delay: int | None = None
    more: bool = False
    columns: dict[str, tuple[str, str]] = field(default_factory=dict)
    plain: dict[str, str] = field(default_factory=dict)
    name: str = ""
    node: CatalystNode | None = None

    def column(self, key: str, name: str, kind: str) -> str:
        """The name of a column that stands for something; it is a new one if nothing has stood for that so far."""
        if key not in self.columns:
            taken = {known.lower() for known, _ in self.columns.values()}
            self.columns[key] = (_untaken(plain_name(name), taken), kind)
        return self.columns[key][0]


class FrameName(Struct, frozen=True):
    """What a program calls a column of one of a join's inputs, ``side`` 0 or 1, or of what it groups.

    ``alias`` is the input's own, if it has one; ``alone``: no other column has the name.
    """

    name: str
    alias: str = ""
    alone: bool = True
    side: int = 0


class FrameSql(Struct, frozen=True):
    """A plan as SQL; ``places`` has places of the text, in order, and the operator that is read from there on.

    ``names`` has, of columns of the text in joins and groups, by their table and name, what the program calls them.
    ``unjudged`` says what of it SQL has no words for, at a line: a model of the engine can read the text, a judge of
    its meaning cannot. ``unmarked`` are the times that are taken from a frame before its watermark, so that they have
    none for Spark: they are written as casts. ``timed`` are the deduplications of rows that show an event time.
    """

    text: str
    sources: tuple[FrameSource, ...]
    places: tuple[tuple[int, CatalystNode | None], ...]
    names: Mapping[tuple[str, str], FrameName] = field(default_factory=dict)
    unjudged: NotReadError | None = None
    unmarked: tuple[str, ...] = ()
    timed: tuple[CatalystNode, ...] = ()

    def node(self, offset: int) -> CatalystNode | None:
        """The operator that a place of the text is of."""
        return next((node for start, node in reversed(self.places) if start <= offset), None)


class _Rows(Struct, frozen=True):
    """The rows of an operator as a FROM clause: what stands there, and what refers to which attribute.

    ``source`` is there if it is one source by itself, ``whole`` if it is a query that a SELECT need not enclose.
    ``computed`` are the attributes that are no columns of it, but expressions; ``unread`` those that are neither.
    ``time`` refers to the event time of its one stream; ``origin`` is the source whose rows, one by one, these are.
    """

    text: str
    columns: dict[int, str]
    names: dict[int, str]
    alias: int
    where: tuple[str, ...] = ()
    source: FrameSource | None = None
    whole: str = ""
    computed: frozenset[int] = frozenset()
    unread: dict[int, str] = field(default_factory=dict)
    time: str = ""
    joined: bool = False
    origin: FrameSource | None = None

    def projected(self, ids: Iterable[int]) -> _Rows:
        """With these attributes only, in this order."""
        return replace(self, names={one: self.names[one] for one in ids}, whole="")


def sql_of(plan: CatalystNode) -> FrameSql:
    """The SQL of a plan; raises NotReadError."""
    writer = _Writer(dict(_types(plan)))
    rows = writer.rows(plan)
    return writer.finished(rows.whole or writer.select(rows))


class _Writer(Struct):
    types: dict[int, str]
    sources: dict[tuple[str, str], FrameSource] = field(default_factory=dict)
    numbered: list[FrameSource] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    unjudged: NotReadError | None = None
    unmarked: list[str] = field(default_factory=list)
    nodes: list[CatalystNode] = field(default_factory=list)
    timed: list[CatalystNode] = field(default_factory=list)
    names: dict[str, FrameName] = field(default_factory=dict)

    # --- operators ----------------------------------------------------------------------------------------------------

    def rows(self, node: CatalystNode) -> _Rows:
        """The rows of an operator."""
        try:
            return self._rows(node)
        except NotReadError as error:
            error.line = error.line or node.line
            raise

    def _rows(self, node: CatalystNode) -> _Rows:
        match node.kind:
            case "Project":
                return self._project(node, self.rows(node.child))
            case "Filter":
                return self._filter(node, self.rows(node.child))
            case "SubqueryAlias":
                return self._named(node)
            case "EventTimeWatermark":
                return self._watermark(node, self.rows(node.child))
            case "Join":
                return self._join(node)
            case "Aggregate":
                return self._aggregate(node, self.rows(node.child))
            case "Deduplicate" | "DeduplicateWithinWatermark":
                return self._deduplicate(node, self.rows(node.child))
            case "Distinct":
                rows = self.rows(node.child)
                return self._query(self.select(rows, "DISTINCT "), rows, node)
            case "Union":
                return self._union(node)
            case "GlobalLimit":
                limit, rows = node.expression("limitExpr"), self.rows(node.child)
                if limit is None or limit.value is None:
                    raise NotReadError("a limit that is not a number is not read")
                return self._query(
                    f"{self.select(rows, anew=True)} {self._at(node, f'LIMIT {limit.value}')}", rows, node
                )
            case "LocalLimit":
                return self.rows(node.child)
            case "Sort":
                rows = self._simple(self.rows(node.child))
                keys = [f"{self._sql(one.children[0], rows)}{_direction(one)}" for one in node.expressions("order")]
                text = f"{self.select(rows, anew=True)} {self._at(node, 'ORDER BY ' + ', '.join(keys))}"
                return self._query(text, rows, node)
            case "Expand":
                return self._expand(node, self.rows(node.child))
            case kind if kind in _THROUGH:
                return self.rows(node.child)
            case kind if kind in _STATEFUL:
                why = "keeps what its own function keeps: whether that is bounded, its timeouts and timers say"
                raise NotReadError(f"{_STATEFUL[kind]} {why}")
            case kind if kind in _ROW_BY_ROW:
                return self._opaque(node, self.rows(node.child))
        if not node.children:
            return self._leaf(node, "")
        raise NotReadError(f"{_method(node.kind)} is not read")

    def _named(self, node: CatalystNode) -> _Rows:
        """Under an alias: the user's, or the one that says what a source is called."""
        below = node.child
        while below.kind == "SubqueryAlias":
            below = below.child
        if node.source_name and (below.kind == "Project" or not below.children):  # one in the place of a source, or it
            return self._leaf(replace(below, types=node.types), node.source_name)
        rows = self.rows(node.child)
        if not rows.joined and not node.source_name:
            self.aliases[rows.alias] = str(node.fields["identifier"]["name"])
        return rows

    def _leaf(self, node: CatalystNode, name: str) -> _Rows:
        output = node.expressions("output") or node.expressions("projectList")
        if not output:
            raise NotReadError(f"{_method(node.kind)} is not read")
        streaming = _is_streaming(node)
        self._know(node, [one.id for one in output])
        fingerprint = "" if name else node.fingerprint()
        source = self._source(name or ("events" if streaming else "lookup"), fingerprint, streaming)
        columns = {one.id: source.column(one.name, one.name, self._type(one)) for one in output}
        source.plain.update({one: one for one in columns.values()})
        return self._scan(source, columns, {one.id: one.name for one in output}, node)

    def _know(self, node: CatalystNode, ids: Iterable[int]) -> None:
        """Take down the types of an operator's columns."""
        self.types |= {one: declared_type(kind) for one, kind in zip(ids, node.types, strict=False)}

    def _type(self, column: Expression) -> str:
        return self.types.get(column.id, "string") if column.kind == "Alias" else declared_type(column.type)

    def _source(self, name: str, fingerprint: str, streaming: bool) -> FrameSource:
        key = (name, fingerprint)
        if key not in self.sources:
            self.sources[key] = FrameSource(name, streaming)
            self.numbered.append(self.sources[key])
        return self.sources[key]

    def _scan(self, source: FrameSource, columns: dict[int, str], names: dict[int, str], node: CatalystNode) -> _Rows:
        alias, source.node = self._alias(source.known), node
        text = self._at(node, f"\x04{self.numbered.index(source)}\x04 AS \x00{alias}\x00")
        refs = {one: f"\x00{alias}\x00.{identifier(name)}" for one, name in columns.items()}
        time = f"\x00{alias}\x00.{identifier(source.timestamp)}" if source.timestamp else ""
        return _Rows(text, refs, names, alias, source=source, time=time)

    def _watermark(self, node: CatalystNode, rows: _Rows) -> _Rows:
        """The stream is what is below, if that is one source whose rows are changed one by one."""
        time = node.expression("eventTime")
        if rows.source is None or not rows.source.streaming:
            raise NotReadError("withWatermark above a join, a union or an aggregate is not read")
        if rows.source.timestamp is not None:
            raise NotReadError("withWatermark twice on one stream, which Spark refuses when it runs, is not read")
        attribute = time.children[0] if time is not None and time.kind == "Alias" else time
        if attribute is None or attribute.id not in rows.names or node.delay is None:
            raise NotReadError("withWatermark on an expression is not read")
        return self._rebased(node, rows, attribute.id, node.delay)

    def _rebased(
        self, node: CatalystNode, rows: _Rows, time: int | None, delay: int | None, more: bool = False
    ) -> _Rows:
        """Rows of one source as a source of their own."""
        below = rows.source
        assert below is not None, "the caller has looked"
        self._know(node, rows.names)
        source = self._source(below.known, node.fingerprint(), below.streaming)
        source.delay, source.more = delay, more or below.more
        columns = {}
        for one, name in rows.names.items():
            columns[one] = source.column(name, name, self.types.get(one, "string"))
            origin = rows.columns.get(one, "").rpartition(".")[2].strip("`")
            if one not in rows.computed and origin in below.plain:
                source.plain[columns[one]] = below.plain[origin]
        if time is not None:
            source.timestamp = columns[time]
        return self._scan(source, columns, rows.names, node)

    def _as_source(self, node: CatalystNode, rows: _Rows) -> _Rows | None:
        """Rows of one source, changed one by one, as a source of their own; None for others."""
        time = next((one for one in rows.names if rows.time and rows.columns.get(one) == rows.time), None)
        if rows.origin is None or (rows.time and time is None):
            return None
        return self._rebased(node, replace(rows, source=rows.origin), time, rows.origin.delay)

    def _opaque(self, node: CatalystNode, rows: _Rows) -> _Rows:
        """Rows that a function makes of single rows: a source of their own, where they are of one."""
        output = node.expressions("generatorOutput") if node.kind == "Generate" else node.expressions("output")
        if rows.source is None or (rows.source.timestamp is not None and node.kind != "Generate"):
            raise NotReadError(f"{_method(node.kind)} above a watermark, a join or an aggregate is not read")
        if node.kind != "Generate":
            rows = replace(rows, names={}, columns={}, computed=frozenset())
        more = {one.id: one.name for one in output}
        self.types |= {one.id: declared_type(one.type) for one in output}
        rows = replace(rows, names=rows.names | more)
        time = next((one for one, ref in rows.columns.items() if ref == rows.time and rows.time), None)
        delay = rows.source.delay if rows.source is not None else None
        if rows.time and time not in rows.names:
            raise NotReadError("explode without the event time among its columns is not read")
        return self._rebased(node, rows, time, delay, more=True)

    def _project(self, node: CatalystNode, rows: _Rows) -> _Rows:
        items = node.expressions("projectList")
        if rows.computed and any(item.kind == "Alias" and not _is_window(item) for item in items):
            rows = self._simple(rows)
        columns, names, unread = dict(rows.columns), dict[int, str](), dict(rows.unread)
        computed, wrapped = set(rows.computed), False
        for item in items:
            value = item.children[0] if item.kind == "Alias" else item
            names[item.id] = item.name
            if value.kind == "AttributeReference":
                own = value.id
                columns |= {item.id: columns[own]} if own in columns else {}
                unread |= {item.id: unread[own]} if own in unread else {}
                computed |= {item.id} if own in computed else set()
                continue
            try:
                columns[item.id] = self._sql(value, rows, node.unmarked if _is_window(item) else frozenset())
                computed.add(item.id)
                wrapped = wrapped or not _is_window(item)
            except NotReadError as error:
                if _is_window(item):
                    raise
                if rows.source is None and (made := self._as_source(node.child, rows)) is not None:
                    return self._project(node, made)
                if rows.source is None:
                    unread[item.id] = f"{item.name}: {error}"
                    continue
                name = rows.source.column(value_key(value), item.name, self.types.get(item.id, "string"))
                columns[item.id] = f"\x00{rows.alias}\x00.{identifier(name)}"
        made = replace(rows, columns=columns, names=names, unread=unread, computed=frozenset(computed), whole="")
        return self._simple(made, node) if wrapped and not self._below_watermark(rows) else made

    def _below_watermark(self, rows: _Rows) -> bool:
        return rows.source is not None and rows.source.streaming and rows.source.timestamp is None

    def _filter(self, node: CatalystNode, rows: _Rows) -> _Rows:
        condition = node.expression("condition")
        assert condition is not None, "a filter has one"
        wanted = [one for one in _conjuncts(condition) if not self._is_there(one, rows)]
        if any(one.id in rows.computed for part in wanted for one in _used(part)):
            rows = self._simple(rows)
        parts = []
        for part in wanted:
            try:
                parts.append(self._at(node, self._sql(part, rows)))
            except NotReadError:
                if rows.source is None:
                    if (made := self._as_source(node.child, rows)) is None:
                        raise
                    return self._filter(node, made)
                name = rows.source.column(value_key(part), "passes", "boolean")
                parts.append(f"\x00{rows.alias}\x00.{identifier(name)}")
        return replace(rows, where=(*rows.where, *parts), whole="") if parts else rows

    def _is_there(self, part: Expression, rows: _Rows) -> bool:
        """Whether it says no more than that a time is not NULL: Spark adds that before it makes windows."""
        if part.kind != "IsNotNull" or part.children[0].kind != "AttributeReference":
            return False
        ref = rows.columns.get(part.children[0].id, "")
        return ref != "" and (ref == rows.time or ref.startswith("window_time("))

    def _join(self, node: CatalystNode) -> _Rows:
        kind = str(node.fields["joinType"].get("object", "")).rpartition(".")[2].rstrip("$")
        if kind not in _JOINS:
            raise NotReadError("a join of this kind is not read")
        left, right = (self._item(self.rows(child)) for child in node.children)
        self._call_columns(node, left, right)
        right = self._simple(right) if right.joined else right
        both = _Rows(
            "", left.columns | right.columns, left.names | right.names, left.alias,
            unread=left.unread | right.unread, joined=True,
        )  # fmt: skip
        condition = node.expression("condition")
        on = f" ON {self._sql(condition, both)}" if condition is not None else " ON TRUE" if kind != "Cross" else ""
        word = "CROSS JOIN" if condition is None and kind == "Inner" else _JOINS[kind]
        on = "" if word == "CROSS JOIN" else on
        made = replace(
            both, text=f"{left.text} {self._at(node, f'{word} {right.text}{on}')}", time=left.time or right.time
        )
        one_sided = kind in ("LeftSemi", "LeftAnti")
        return made.projected(left.names) if one_sided else made

    def _call_columns(self, node: CatalystNode, *inputs: _Rows) -> None:
        """Take down what a program calls the columns of an operator's inputs."""
        known = [name.lower() for rows in inputs for name in rows.names.values()]
        for side, (rows, child) in enumerate(zip(inputs, node.children, strict=True)):
            named = child.kind == "SubqueryAlias" and not child.source_name
            alias = str(child.fields["identifier"]["name"]) if named else ""
            for one, name in rows.names.items():
                if one in rows.columns:
                    alone = known.count(name.lower()) == 1
                    self.names.setdefault(rows.columns[one], FrameName(name, alias, alone, side))

    def _item(self, rows: _Rows) -> _Rows:
        """Rows as an item of FROM."""
        return self._simple(rows) if rows.where or rows.computed else rows

    def _aggregate(self, node: CatalystNode, rows: _Rows) -> _Rows:
        keys, items = node.expressions("groupingExpressions"), node.expressions("aggregateExpressions")
        if any(
            one.kind == "GetStructField" and one.children[0].id in rows.computed
            for one in _nodes(*keys, *items)
            if one.kind == "GetStructField" and one.children[0].kind == "AttributeReference"
        ):
            rows = self._simple(rows)
        self._call_columns(node, rows)
        written, names, alias = [], {}, self._alias("grouped")
        taken = set[str]()
        for item in items:
            name = _untaken(plain_name(item.name), taken)
            names[item.id] = name
            written.append(f"{self._sql(item, rows, node.unmarked)} AS {identifier(name)}")
        group = ", ".join(self._at(node, self._sql(key, rows, node.unmarked)) for key in keys)
        text = f"SELECT {', '.join(written)} FROM {rows.text}{_where(rows)}"
        text = self._at(node, f"{text} GROUP BY {group}" if group else text)
        columns = {one: f"\x00{alias}\x00.{identifier(name)}" for one, name in names.items()}
        time = next((columns[one.id] for one in items if self._is_key_time(one, rows)), "")
        return _Rows(f"({text}) AS \x00{alias}\x00", columns, names, alias, whole=text, time=time)

    def _is_key_time(self, item: Expression, rows: _Rows) -> bool:
        value = item.children[0] if item.kind == "Alias" else item
        return value.kind == "AttributeReference" and rows.columns.get(value.id) == rows.time != ""

    def _expand(self, node: CatalystNode, rows: _Rows) -> _Rows:
        """A row for each window of it."""
        made, first = node.expressions("output"), [expression_of(one) for one in node.fields["projections"][0]]
        windows = [(one, value) for one, value in zip(made, first, strict=True) if value.kind != "AttributeReference"]
        if len(windows) != 1 or not is_window(windows[0][0]):
            raise NotReadError("rollup, cube and grouping sets are not read")
        one, value = windows[0]
        names = {column.id: column.name for column in made}
        columns = rows.columns | {one.id: self._sql(value, rows, node.unmarked)}
        return replace(rows, columns=columns, names=names, computed=rows.computed | {one.id}, whole="")

    def _deduplicate(self, node: CatalystNode, rows: _Rows) -> _Rows:
        """The first row of each key: a hint says which of Spark's two operators it is."""
        rows = self._simple(rows) if rows.computed else rows
        hint = "DROP_DUPLICATES"
        if node.kind != "Deduplicate":
            hint += "_WITHIN_WATERMARK"
            why = "dropDuplicatesWithinWatermark lets some duplicates pass, which SQL has no words for"
            self.unjudged = NotReadError(f"{why}: it is not judged, only what Spark keeps is said", node.line)
        keys = [self._sql(key, rows) for key in node.expressions("keys")]
        order = rows.time or next((ref for one, ref in rows.columns.items() if self.types.get(one) == "timestamp"), "")
        if not order:
            raise NotReadError("dropDuplicates of rows without a time is not read")
        number = self._at(node, f"ROW_NUMBER() OVER (PARTITION BY {', '.join(keys)} ORDER BY {order})")
        inner = f"{self.select(rows, anew=True)[: -len(self._from(rows))]}, {number} AS nth_row{self._from(rows)}"
        alias, taken = self._alias("first_rows"), set[str]()
        names = {one: _untaken(plain_name(name), taken) for one, name in rows.names.items() if one in rows.columns}
        columns = {one: f"\x00{alias}\x00.{identifier(name)}" for one, name in names.items()}
        items = ", ".join(f"{columns[one]} AS {identifier(name)}" for one, name in names.items())
        text = self._at(
            node, f"SELECT /*+ {hint} */ {items} FROM ({inner}) AS \x00{alias}\x00 WHERE \x00{alias}\x00.nth_row = 1"
        )
        time = next((columns[one] for one in names if rows.columns[one] == rows.time), "")
        self.timed += [node] if time else []
        made = self._query(text, replace(rows, names=names), node)
        at = {one: ref for one, ref in made.columns.items() if columns.get(one) == time and time}
        return replace(made, time=next(iter(at.values()), ""), unread=rows.unread)

    def _union(self, node: CatalystNode) -> _Rows:
        parts = [self.rows(child) for child in node.children]
        wanted = list(parts[0].names.values())
        selects = [self.select(part, names=wanted) for part in parts]
        return self._query(self._at(node, " UNION ALL ".join(selects)), parts[0], node)

    # --- text ---------------------------------------------------------------------------------------------------------

    def _at(self, node: CatalystNode, text: str) -> str:
        """A text that an operator has made."""
        self.nodes.append(node)
        return f"\x01{len(self.nodes) - 1}\x02{text}\x03"

    def _sql(self, value: Expression, rows: _Rows, unmarked: frozenset[int] = frozenset()) -> str:
        def column(one: Expression) -> str:
            if one.id in rows.unread:
                raise NotReadError(rows.unread[one.id])
            if one.id not in rows.columns:
                raise NotReadError(f"{one.name} is a column of another query, which is not read")
            ref = rows.columns[one.id]
            if one.id not in unmarked or ref != rows.time:
                return ref
            self.unmarked.append(one.name)
            return f"CAST({ref} AS TIMESTAMP)"

        return Printer(column).sql(value)

    def _alias(self, name: str) -> int:
        self.aliases.append(name)
        return len(self.aliases) - 1

    def _from(self, rows: _Rows) -> str:
        return f" FROM {rows.text}{_where(rows)}"

    def select(self, rows: _Rows, word: str = "", names: Sequence[str] = (), anew: bool = False) -> str:
        """Rows as a query of their own; ``anew``: as one to which something can be added."""
        if rows.whole and not word and not names and not anew:
            return rows.whole
        taken = set[str]()
        items = []
        for place, (one, name) in enumerate(rows.names.items()):
            own = _untaken(plain_name(names[place] if names else name), taken)
            if one in rows.columns:
                items.append(f"{rows.columns[one]} AS {identifier(own)}")
        if not items:
            raise NotReadError("a query of no column that is read")
        return f"SELECT {word}{', '.join(items)}{self._from(rows)}"

    def _query(self, text: str, rows: _Rows, node: CatalystNode) -> _Rows:
        """A query of the columns of some rows, as rows."""
        alias, taken = self._alias("rows"), set[str]()
        names = {one: _untaken(plain_name(name), taken) for one, name in rows.names.items()}
        columns = {one: f"\x00{alias}\x00.{identifier(name)}" for one, name in names.items() if one in rows.columns}
        time = next((columns[one] for one in columns if rows.time and rows.columns[one] == rows.time), "")
        return _Rows(
            f"({text}) AS \x00{alias}\x00", columns, names, alias, whole=text, unread=rows.unread, time=time
        )  # fmt: skip

    def _simple(self, rows: _Rows, node: CatalystNode | None = None) -> _Rows:
        """Rows whose attributes are all columns."""
        if not (rows.where or rows.computed or rows.joined) and node is None:
            return rows
        made = self._query(self.select(rows), rows, node or _NO_NODE)
        if rows.source is not None:
            self.aliases[made.alias] = self.aliases[rows.alias]
        return replace(made, origin=rows.source or rows.origin)

    def finished(self, text: str) -> FrameSql:
        """The text with all names in it, and the lines that its places are of."""
        used = dict.fromkeys(int(one) for one in re.findall(r"\x04(\d+)\x04", text))
        taken = set[str]()
        for number in used:
            source = self.numbered[number]
            source.name = _untaken(plain_name(source.known), taken)
        text = re.sub(r"\x04(\d+)\x04", lambda one: identifier(self.numbered[int(one[1])].name), text)
        names, known = dict[str, str](), dict[int, set[str]]()
        for one in re.finditer(r"AS \x00(\d+)\x00", text):
            depth = text.count("(", 0, one.start()) - text.count(")", 0, one.start())  # a query in FROM sees no other
            names[one[1]] = _untaken(plain_name(self.aliases[int(one[1])]), known.setdefault(depth, set()))
        text = _ANY.sub(lambda one: identifier(names[one[1]]), text)
        clean, places, around = "", list[tuple[int, CatalystNode | None]](), list[CatalystNode]()
        position = 0
        for mark in _PLACE.finditer(text):
            clean += text[position : mark.start()]
            position = mark.end()
            if mark[0] == "\x03":
                around.pop()
            else:
                around.append(self.nodes[int(mark[1])])
            places.append((len(clean), next((one for one in reversed(around) if one.call is not None), None)))
        called = dict[tuple[str, str], FrameName | None]()
        for ref, name in self.names.items():
            if (column := _COLUMN.fullmatch(ref)) is not None and column[1] in names:
                shown = names[column[1]], column[2].strip("`")
                called[shown] = name if called.get(shown, name) == name else None
        return FrameSql(
            clean + text[position:],
            tuple(self.numbered[one] for one in used),
            tuple(places),
            {ref: name for ref, name in called.items() if name is not None},
            self.unjudged,
            tuple(dict.fromkeys(self.unmarked)),
            tuple(self.timed),
        )


def _is_streaming(node: CatalystNode) -> bool:
    return node.kind in _STREAMING or any(map(_is_streaming, node.children))


def _types(plan: CatalystNode) -> Iterator[tuple[int, str]]:
    """The types of all attributes that some operator reads, by what tells them apart."""
    todo: list[Any] = [plan]
    while todo:
        one = todo.pop()
        if isinstance(one, CatalystNode):
            todo += [one.fields, *one.children]
        elif isinstance(one, Mapping):
            if "exprId" in one and "dataType" in one:
                yield int(one["exprId"]["id"]), declared_type(one["dataType"])
            todo += one.values()
        elif isinstance(one, list):
            todo += one


_NO_NODE = CatalystNode("", {}, ())


def value_key(value: Expression) -> str:
    """What a computed column is known by: the same expression of the same columns is the same column."""
    return CatalystNode("", {"of": [one.fields for one in value.walk()]}, ()).fingerprint()


def _where(rows: _Rows) -> str:
    return f" WHERE {' AND '.join(rows.where)}" if rows.where else ""


def _untaken(name: str, taken: set[str]) -> str:
    """A name that none of some has, which then has it."""
    found = name
    number = 2
    while found.lower() in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found.lower())
    return found


def _nodes(*values: Expression) -> list[Expression]:
    return [one for value in values for one in value.walk()]


def _used(value: Expression) -> list[Expression]:
    return [one for one in value.walk() if one.kind == "AttributeReference"]


def _conjuncts(condition: Expression) -> list[Expression]:
    if condition.kind != "And":
        return [condition]
    return [part for child in condition.children for part in _conjuncts(child)]


def _is_window(item: Expression) -> bool:
    """Whether an item names a window of time, or the last moment of one."""
    value = item.children[0] if item.kind == "Alias" else item
    ends = [one.value for one in value.children[::2]] if value.kind == "CreateNamedStruct" else []
    return ends == ["start", "end"] or value.kind == "PreciseTimestampConversion"


def _direction(order: Expression) -> str:
    return " DESC" if "Descending" in str(order.fields.get("direction")) else ""


def _method(kind: str) -> str:
    """What a user calls an operator."""
    if kind == "Window":
        return "a function over a window of rows, with OVER,"
    return words_of(Expression(kind, {}, ())).replace("_", " ")
