"""Buckets of time: calls of `window`, `session_window` and Flink's group functions, and its table functions."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.algebra.calls import Reader, microseconds
from streambound.analyzer.algebra.made_columns import made_column
from streambound.analyzer.algebra.nodes import Bucket, BucketKind, Scalar, Tree
from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Positions
from streambound.analyzer.spans import Span

_CALLS = ("window", "session_window", "tumble", "hop", "session")
_FUNCTIONS = {
    "window": BucketKind.TUMBLING,
    "session_window": BucketKind.SESSION,
    "tumble": BucketKind.TUMBLING,
    "hop": BucketKind.HOPPING,
    "session": BucketKind.SESSION,
    "cumulate": BucketKind.HOPPING,
}
_ENDS = ("start", "end", "rowtime")


FLINK_COLUMNS = ("window_start", "window_end", "window_time")
"""What Flink's table functions call the ends of a bucket, and its last moment."""
_WORDS = {
    "tumble": ("size", "offset"),
    "hop": ("slide", "size", "offset"),
    "cumulate": ("step", "size", "offset"),
    "session": ("gap",),
}
"""What the arguments of Flink's table functions are called, after the table and its time."""


class TableFunction(Struct, frozen=True):
    """A call of Flink's: its table, its time, the keys of sessions, and the lengths in their order."""

    name: str
    table: exp.Column
    time: exp.Expr
    keys: tuple[exp.Expr, ...]
    lengths: tuple[exp.Expr, ...]


def table_function(node: exp.Table) -> TableFunction | None:
    """``TUMBLE(TABLE t, DESCRIPTOR(ts), size)`` in FROM, in TABLE(…) or without; None for another source."""
    call = node.this
    while isinstance(call, exp.Anonymous) and call.name.upper() == "TABLE" and len(call.expressions) == 1:
        call = call.expressions[0]
    name = call.name.lower() if isinstance(call, exp.Anonymous) else ""
    if name not in _WORDS:
        return None
    named = {one.this.name.lower(): one.expression for one in call.expressions if isinstance(one, exp.Kwarg)}
    given = [one for one in call.expressions if not isinstance(one, exp.Kwarg)]
    table, described = named.get("data"), named.get("timecol")
    if table is None and given:
        table = given.pop(0)
    keys = list[exp.Expr]()
    while described is None and given:
        first = given.pop(0)
        is_time = isinstance(first, exp.Anonymous) and first.name.lower() == "descriptor"
        described = first if is_time else None
        keys += [] if is_time else [first]
    lengths = [*given, *(named[word] for word in _WORDS[name] if word in named)]
    time = described.expressions if isinstance(described, exp.Anonymous) else []
    if described is None and keys and isinstance(keys[0], exp.Column):  # RisingWave's TUMBLE(t, ts, size)
        time, given, keys = keys[:1], keys[1:], []
        lengths = [*given, *lengths]
    needed = 2 if name in ("hop", "cumulate") else 1
    whole = isinstance(table, exp.Column) and len(time) == 1 and needed <= len(lengths) <= len(_WORDS[name])
    if not whole or not isinstance(table, exp.Column) or (keys and name != "session"):
        return None
    return TableFunction(name, table, time[0], tuple(keys), tuple(lengths))


class Lengths(Struct, frozen=True):
    """The kind of buckets, and how they lie, in microseconds."""

    kind: BucketKind
    size: int
    slide: int = 0
    offset: int = 0


class BucketCalls(Struct):
    """Reads the calls of one SELECT that mean buckets of time; ``taken`` are names of columns, in small letters."""

    positions: Positions
    taken: set[str]
    scalar: Reader

    def lower(self, select: exp.Select, tree: Tree, keys: list[exp.Expr]) -> tuple[Tree, list[exp.Expr]]:
        """The tree with a bucket below, if there is a call; in the SELECT and in the keys columns take its place."""
        roots = [exp.Paren(this=key) for key in keys]
        scope = [*select.expressions, *filter(None, map(select.args.get, ("having", "qualify"))), *roots]
        calls = [call for root in scope for call in _calls(root)]
        if not calls:
            return tree, keys
        first = calls[0]
        if other := next((call for call in calls if _same(call) != _same(first)), None):
            message = "several windows of time in one SELECT are outside the query language"
            raise self.positions.finding(Code.UNSUPPORTED, message, other, "join a query for each of them")
        time, lengths = self.lengths(first)
        ends = [self._free(name) for name in FLINK_COLUMNS[: 3 if _asks_last(scope) else 2]]
        own, struct = self._keys(roots, first)
        session = tuple(self.scalar(key) for key in own) if lengths.kind is BucketKind.SESSION else ()
        grouped = [*own, *map(exp.column, ends)] if struct else own
        name = "session_window" if lengths.kind is BucketKind.SESSION else "window"
        for root in list(scope[: len(scope) - len(roots)]):
            self._put(root, name if struct else "", ends)
        made = Bucket(
            tree, lengths.kind, time, lengths.size, lengths.slide, lengths.offset, tuple(ends), keys=session,
            syntax=first, at=self.positions.of(first),
        )  # fmt: skip
        return made, grouped

    def _keys(self, roots: list[exp.Paren], call: exp.Expr) -> tuple[list[exp.Expr], bool]:
        """The keys that are no buckets, and whether one is: the bucket is two keys, its start and its end."""
        keys, struct = list[exp.Expr](), False
        for root in roots:
            if any(call is root.this or _is_end(root.this, call) for call in _calls(root)):
                struct = True  # one end of a window of a fixed length says which window it is
                continue
            if any(True for _ in _calls(root)):
                message = "a key that is made of a window of time is outside the query language"
                raise self.positions.finding(Code.UNSUPPORTED, message, call, "group by the window itself")
            keys.append(root.this)
        return keys, struct

    def _put(self, node: exp.Expr, name: str, ends: list[str]) -> None:
        """Put the bucket's ends in the place of what means them; ``name``: what SQL calls the bucket itself."""
        if isinstance(node, exp.Query):
            return
        place = self.positions.of(node)
        which = _end_of(node, name)
        if which is None:
            for part in list(node.iter_expressions()):
                self._put(part, name, ends)
            return
        parent = node.parent
        put = _bucket(which, ends, place)
        if which == "" and isinstance(parent, exp.Select):  # an item without a name is called as the function
            put = exp.alias_(put, name or "window")
        node.replace(put)

    def lengths(self, call: exp.Expr) -> tuple[Scalar, Lengths]:
        """The time and the lengths of a call: ``window(ts, size[, slide[, start]])``, ``HOP(ts, slide, size)``."""
        name, given = call.name.lower(), call.expressions
        most = {"window": 4, "hop": 4, "tumble": 3}.get(name, 2)
        if not 2 <= len(given) <= most or (name == "hop" and len(given) < 3):
            raise self.positions.finding(Code.UNSUPPORTED, f"{call.name} has another number of arguments", call)
        return self.scalar(given[0]), self.read(name, given[1:], call)

    def read(self, name: str, given: list[exp.Expr], call: exp.Expr, place: exp.Expr | None = None) -> Lengths:
        """The lengths of the function of a name, from its arguments after the time; ``place``: where it is called."""
        found = [self._length(one, call, place or call) for one in given]
        kind = _FUNCTIONS[name]
        if kind is BucketKind.SESSION:
            return Lengths(kind, self._positive(found[0], call, place))
        if name in ("hop", "cumulate"):
            found[:2] = [found[1], found[0]]
        if name == "tumble":
            found.insert(1, found[0])
        size = self._positive(found[0], call, place)
        slide = self._positive(found[1], call, place) if len(found) > 1 else size
        offset = found[2] if len(found) > 2 else 0
        if slide > size:
            message = "windows of time that do not touch each other are outside the query language"
            raise self.positions.finding(Code.UNSUPPORTED, message, place or call, "make them longer")
        if name == "cumulate" and size % slide:
            message = "the windows of CUMULATE grow by a step that its size is a multiple of"
            raise self.positions.finding(Code.UNSUPPORTED, message, place or call)
        offset %= size if name == "cumulate" else slide
        return Lengths(BucketKind.TUMBLING if slide == size else BucketKind.HOPPING, size, slide, offset)

    def _length(self, node: exp.Expr, call: exp.Expr, place: exp.Expr) -> int:
        found = microseconds(node)
        if found is None:
            message = f"the lengths of {call.name} must be constants of fixed length, as in '10 seconds'"
            raise self.positions.finding(Code.UNSUPPORTED, message, node if node.find(exp.Column) else place)
        return found

    def _positive(self, length: int, call: exp.Expr, place: exp.Expr | None) -> int:
        if length <= 0:
            raise self.positions.finding(Code.UNSUPPORTED, f"{call.name} needs a length above 0", place or call)
        return length

    def _free(self, name: str) -> str:
        found, number = name, 1
        while found.lower() in self.taken:
            found, number = f"{name}_{number}", number + 1
        self.taken.add(found.lower())
        return found


def is_bucket(node: exp.Expr) -> bool:
    """Whether a call means buckets of time, or an end of one."""
    return isinstance(node, exp.Anonymous) and (node.name.lower() in _CALLS or bool(_auxiliary(node)))


def _calls(node: exp.Expr) -> Iterator[exp.Anonymous]:
    """The calls that mean buckets of time, outside of subqueries; `TUMBLE_START(…)` and the like included."""
    if isinstance(node, exp.Query):
        return
    if isinstance(node, exp.Anonymous) and is_bucket(node):
        copies = [one.copy() for one in node.expressions]
        yield node if not _auxiliary(node) else exp.Anonymous(this=_auxiliary(node), expressions=copies)
        return
    for part in node.iter_expressions():
        yield from _calls(part)


def _auxiliary(node: exp.Expr) -> str:
    """The group function whose end ``TUMBLE_START(…)`` asks for."""
    name, _, which = node.name.lower().rpartition("_")
    return name if isinstance(node, exp.Anonymous) and which in _ENDS and name in ("tumble", "hop", "session") else ""


def _same(call: exp.Expr) -> str:
    """A call's text, by which it is known to mean the same buckets."""
    lengths = [str(microseconds(one)) for one in call.expressions[1:]]
    return f"{call.name}({call.expressions[0].sql('spark')}, {', '.join(lengths)})".lower()


def _end_of(node: exp.Expr, name: str) -> str | None:
    """Which end of the bucket a node means; all of it: empty; None: something else."""
    if isinstance(node, exp.Anonymous):
        if _auxiliary(node):
            return node.name.lower().rpartition("_")[2]
        if node.name.lower() == "window_time" and name and len(node.expressions) == 1:
            return "rowtime" if _end_of(node.expressions[0], name) == "" else None
        return "" if node.name.lower() in _CALLS else None
    if isinstance(node, exp.Dot) and _end_of(node.this, name) == "":
        return node.expression.name.lower() if node.expression.name.lower() in ("start", "end") else None
    if isinstance(node, exp.Column) and name:
        if not node.table and node.name.lower() == name:
            return ""
        if node.table.lower() == name and node.name.lower() in ("start", "end"):
            return node.name.lower()
    return None


def _is_end(node: exp.Expr, call: exp.Expr) -> bool:
    """Whether a key is an end of a window whose length is always the same."""
    fixed = "session" not in call.name.lower()
    return fixed and isinstance(node, exp.Dot) and node.this is call and _end_of(node, "") in ("start", "end")


def _asks_last(scope: list[exp.Expr]) -> bool:
    """Whether one of these expressions is the last moment of a bucket."""
    calls = (call.name.lower() for one in scope for call in one.find_all(exp.Anonymous))
    return any(name == "window_time" or name.endswith("_rowtime") for name in calls)


def _bucket(which: str, ends: list[str], place: Span) -> exp.Expr:
    columns = [made_column(name, place) for name in ends]
    if which:
        return columns[("start", "end", "rowtime").index(which)]
    parts = [exp.Literal.string("start"), columns[0], exp.Literal.string("end"), columns[1]]
    return exp.Anonymous(this="named_struct", expressions=parts)
