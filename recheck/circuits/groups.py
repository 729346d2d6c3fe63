"""Aggregates of blocks: A1 (sums), A3 and A4 (best values, different ones), A5 (windows), K1 (keys that end), D3."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Alias,
    Bucket,
    BucketKind,
    Filter,
    Named,
    Project,
    Scalar,
    SpjBlock,
    Tree,
)
from streambound.analyzer.algebra.percentiles import percentile_of
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.catalog import Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.errors import TooManyBranchesError
from streambound.analyzer.flatten import written
from streambound.analyzer.query import (
    Attribute,
    Branch,
    Comparison,
    Computed,
    Op,
    Query,
    Source,
    TimeValue,
    conjunction,
)
from streambound.preprocess.pipeline import Derivation, derive
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.buckets import BucketOf
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.ended_keys import UNTIL_OVER, EndedColumns, ended_key
from streambound.recheck.circuits.evidence import keys_with_values
from streambound.recheck.circuits.groups_of_views import BEST, PERCENTILE, groups_of_view
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import scalar
from streambound.recheck.circuits.view import ClosesBy, ClosingColumn, View
from streambound.recheck.circuits.windows import TIME, BucketColumn, Open, groups_in_windows, windows_of

_LINEAR = ("COUNT", "SUM", "AVG", "VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
_ENDS = ("start", "end", "last")
_NEWEST = "(newest)"
"""The virtual stream that asks whether a value is the best one, and its column (A3)."""


def aggregate(tree: Tree, states: States) -> View:
    """The groups of a SELECT with aggregates."""
    assert isinstance(tree, Aggregate)
    tree = replace(tree, calls=tuple(map(_of_value, tree.calls)))
    for call in tree.calls:
        if call.function not in (*BEST, *_LINEAR, PERCENTILE) or call.order:
            raise NotRecheckedError(f"the aggregate {call.function}")
    if (one := _flattened(tree)) is not None:
        return aggregate(one, states)
    below, bucket = _bucket_below(tree, states)
    if bucket is not None:
        return _Groups(replace(tree, input=below), states, bucket).view()
    if not is_block(tree.input, states.catalog):
        return groups_of_view(tree, states)
    if _needs_columns(tree, states):
        return groups_of_view(replace(tree, input=SpjBlock(tree.input, syntax=tree.syntax)), states)
    return _Groups(tree, states).view()


def _needs_columns(tree: Aggregate, states: States) -> bool:
    """Whether a block gives the columns of its rows: it has none, or its sums are by what is computed of several."""
    keys = [Named(f"_k{n}", key.value, alias=True) for n, key in enumerate(tree.keys, 1)]
    valued = [call for call in tree.calls if _has_values(call)]
    sums = any(call.arguments or call.filter is not None for call in tree.calls if not _has_values(call))
    query = states.blocks.query(tree.input, keys)
    if sums and any(isinstance(o.value, Computed) for branch in query.branches for o in branch.outputs):
        return True
    kept = any(call.function not in BEST for call in valued)  # the best ones are in the groups' entries
    return bool(keys or kept) and not derive(query).split.branches


def _has_values(call: AggregateCall) -> bool:
    return call.function in (*BEST, PERCENTILE) or call.distinct


def _of_value(call: AggregateCall) -> AggregateCall:
    """A percentile as an aggregate of its value alone: at 0 and 1 it is the least or greatest double."""
    asked = percentile_of(call)
    if asked is None:
        return call
    ends = {0.0: BEST, 1.0: BEST[::-1]}.get(asked.part)
    node = written(asked.value)
    if ends is None:
        return replace(call, function=PERCENTILE, arguments=(scalar(node),), order=())
    least = scalar(exp.cast(node.copy(), "double"))
    return replace(call, function=ends[asked.descending], arguments=(least,), order=(), distinct=False)


# --- aggregates of aggregates (D3) -----------------------------------------------------------------------------------


def _flattened(tree: Aggregate) -> Aggregate | None:
    """SUM of COUNT or SUM, MIN of MIN, MAX of MAX, over inner keys: one aggregate of the inner rows."""
    below: Tree = tree.input
    while isinstance(below, Alias) and not below.columns:
        below = below.input
    if not isinstance(below, Project) or not isinstance(below.input, Aggregate) or not tree.calls:
        return None
    inner = below.input
    shown = {item.name.lower(): parsed(item.value) for item in below.items if isinstance(item, Named)}
    keys, calls = list[Named](), list[AggregateCall]()
    for key in tree.keys:
        node = _shown_as(key.value, shown)
        mine = [one for one in inner.keys if node is not None and _text(parsed(one.value)) == _text(node)]
        if not mine:
            return None
        keys.append(replace(key, value=mine[0].value))
    for call in tree.calls:
        if call.filter is not None or call.distinct or len(call.arguments) != 1:
            return None
        node = _shown_as(call.arguments[0], shown)
        name = node.name.lower() if isinstance(node, exp.Column) else ""
        found = next((one for one in inner.calls if name and one.name.lower() == name), None)
        pair = (call.function, "" if found is None else found.function)
        if found is None or found.distinct or pair not in {(f, f) for f in ("SUM", *BEST)} | {("SUM", "COUNT")}:
            return None
        calls.append(replace(found, name=call.name, function=call.function))
    return replace(tree, input=inner.input, keys=tuple(keys), calls=tuple(calls))


def _shown_as(value: Scalar, shown: dict[str, exp.Expr]) -> exp.Expr | None:
    node = parsed(value)
    return shown.get(node.name.lower()) if isinstance(node, exp.Column) else None


def _text(node: exp.Expr) -> str:
    return node.unnest().sql("spark").lower()


# --- groups ----------------------------------------------------------------------------------------------------------


def _bucket_below(tree: Aggregate, states: States) -> tuple[Tree, Bucket | None]:
    """The block that buckets are made of, with the conditions above them that do not read their ends."""
    conditions, below = list[Filter](), tree.input
    while isinstance(below, Filter):
        conditions.append(below)
        below = below.input
    if not isinstance(below, Bucket):
        return tree.input, None
    bucket, block = below, below.input
    for one in reversed(conditions):
        if any(_end(bucket, node) for node in parsed(one.condition).find_all(exp.Column)):
            return tree.input, None
        block = replace(one, input=block)
    return (block, bucket) if is_block(block, states.catalog) else (tree.input, None)


def _end(bucket: Bucket | None, node: exp.Expr) -> str | None:
    """Which end of a bucket an expression is."""
    if bucket is None or not isinstance(node, exp.Column) or node.table.lower() not in ("", bucket.alias.lower()):
        return None
    pairs = zip(bucket.columns, _ENDS, strict=False)
    return next((end for name, end in pairs if name.lower() == node.name.lower()), None)


@dataclass
class _Groups:
    """One SELECT with aggregates over a block, of which a ``bucket`` is made first."""

    tree: Aggregate
    states: States
    bucket: Bucket | None = None

    def view(self) -> View:
        """The lines of its groups and of their values."""
        tree, states, evidence = self.tree, self.states, self.states.evidence
        keys = self._keys()
        valued = [call for call in tree.calls if _has_values(call)]
        once = bool(tree.calls) and len(valued) == len(tree.calls)
        query = states.blocks.query(tree.input, keys, distinct=once)
        derivation = derive(query)
        split = derivation.split
        windows = self._windows(query, split, len(keys))
        ended = None
        if windows is None and self.bucket is None:
            ended = ended_key(split, len(keys), states) or ended_key(split, len(keys), states, promised=False)
        evidence.block(split, "A5" if windows else "A1", once, together=derivation.together)
        asked = [(call, derive(self._argument(keys, call, windows))) for call in valued]
        for call, one in asked:
            joined = any(len(branch.streams) > 1 for branch in one.split.branches)
            if call.function in BEST and joined and windows is None:
                evidence.block(_with_newest(one.split, call.function == "MAX"), "A3", True, _NEWEST)
            else:
                evidence.block(one.split, "A4", _is_set(call), together=one.together)
        return self._lines(derivation, windows, ended, asked)

    def _lines(
        self,
        derivation: Derivation,
        windows: BucketColumn | None,
        ended: EndedColumns | None,
        asked: list[tuple[AggregateCall, Derivation]],
    ) -> View:
        split, evidence = derivation.split, self.states.evidence
        states, names = self.states, tuple(key.value.text for key in self.tree.keys)
        freed = "when its window has closed" if windows else "never, but a group of no rows"
        freed = UNTIL_OVER if ended else freed
        view = View()
        if not names:
            states.line("A1", (), Quantity.number(1), freed)
            view = View(Quantity.number(1))
        elif windows is not None:
            open = groups_in_windows(split, windows, evidence)
            states.line("A5", names, open(0), freed)
            view = View(closing=self._closing(windows, open))
        elif ended is not None:
            ended.line("K1", split, names, states)
        else:
            counted = evidence.counted(derivation)
            found = evidence.results([counted])
            states.line("A1", keys_with_values(names, counted, found.tables), found.entries, freed)
            view = View(found.entries)
        for call, one in asked:
            if call.function in BEST:
                continue  # the best value is in the group's entry
            more = (*names, "_v")
            if windows is not None:
                states.line("A4", more, groups_in_windows(one.split, windows, evidence, values=True)(0), freed)
            elif ended is not None:
                states.line("K1", more, ended.most(one.split, states), freed)
            else:
                counted = evidence.counted(one)
                found = evidence.results([counted])
                states.line("A4", keys_with_values(more, counted, found.tables), found.entries, freed)
        return view

    def _keys(self) -> tuple[Named, ...]:
        """The columns of the block that the keys are, or are made of: what is no end of a bucket, and a time."""
        keys = [(n, key) for n, key in enumerate(self.tree.keys, 1) if _end(self.bucket, _node(key)) is None]
        named = tuple(Named(f"_k{n}", key.value, alias=True) for n, key in keys)
        if self.bucket is None:
            return named
        if len(named) == len(self.tree.keys):
            raise NotRecheckedError("buckets that are no keys")
        if any(_end(self.bucket, node) for _, key in keys for node in parsed(key.value).find_all(exp.Column)):
            raise NotRecheckedError("a key that is made of the ends of a bucket")
        return (*named, Named(TIME, self.bucket.time, alias=True))

    def _windows(self, query: Query, split: Query, keys: int) -> BucketColumn | None:
        if self.bucket is None:
            return windows_of(query, split, keys)
        sessions = self.bucket.kind is BucketKind.SESSION
        if sessions:
            self._check_sessions()
        made = BucketOf("start", self.bucket.slide or self.bucket.size, self.bucket.size)
        return windows_of(query, split, keys, made, sessions)

    def _check_sessions(self) -> None:
        """Sessions are of the rows of a group: those that agree in all other keys."""
        assert self.bucket is not None
        ends = {_end(self.bucket, _node(key)) for key in self.tree.keys}
        own = {_text(parsed(key)) for key in self.bucket.keys}
        others = {_text(_node(key)) for key in self.tree.keys if _end(self.bucket, _node(key)) is None}
        if not {"start", "end"} <= ends or "last" in ends or own != others:
            raise NotRecheckedError("sessions of other keys, or without both ends")

    def _closing(self, windows: BucketColumn, open: Open) -> tuple[ClosesBy, ...]:
        """The keys that say when a group closes: the bucket, or the ends of one."""
        ends = [_end(self.bucket, _node(key)) for key in self.tree.keys]
        size, delay, how = windows.of.longest, windows.delay, windows.of.how
        plain = [place for place, end in enumerate(ends) if end is None]
        if self.bucket is None or how != "start" or windows.place < len(plain):
            columns = [ClosingColumn(plain[windows.place], how, size, delay)]
        elif windows.sessions:
            columns = [ClosingColumn(ends.index("end"), "session", size, delay)]
        else:
            columns = [ClosingColumn(place, end, size, delay) for place, end in enumerate(ends) if end is not None]
        return (ClosesBy(tuple(columns), open),)

    def _argument(self, keys: tuple[Named, ...], call: AggregateCall, windows: BucketColumn | None) -> Query:
        """The values of an argument, for each group: of the rows for which FILTER is true, where it reads one source.

        Else, and where they are computed, NULL for rows that do not count. A time of which the best is asked is a value
        as others are, so it is written as what a row computes of it.
        """
        if len(call.arguments) != 1:
            raise NotRecheckedError("aggregates of several arguments")
        node, condition = written(call.arguments[0]), None if call.filter is None else written(call.filter)
        blocks, below = self.states.blocks, self.tree.input
        if condition is not None and not condition.find(exp.Query) and len(blocks.sources_of(below, condition)) == 1:
            found = self._valued(keys, call, node, None if isinstance(node, exp.Column) else condition, condition)
            try:
                number = len(derive(found).split.branches)
            except TooManyBranchesError:
                number = 0
            if number and (windows is None or number == len(windows.buckets) == 1):
                return found
        return self._valued(keys, call, node, condition, None)

    def _valued(
        self,
        keys: tuple[Named, ...],
        call: AggregateCall,
        node: exp.Expr,
        counted: exp.Expr | None,
        passing: exp.Expr | None,
    ) -> Query:
        """An argument where it is ``counted``, of the rows that are ``passing``."""

        def values(condition: exp.Expr | None) -> Query:
            counts = node if condition is None else exp.Case(ifs=[exp.If(this=condition.copy(), true=node.copy())])
            items = (*keys, Named("_v", scalar(counts), alias=True))
            return self.states.blocks.query(self.tree.input, items, distinct=_is_set(call), passing=passing)

        found = values(counted)
        value = found.branches[0].outputs[-1].value
        if call.function not in BEST or not isinstance(value, TimeValue) or value.minus is not None:
            return found
        return values(exp.Not(this=exp.Is(this=exp.Paren(this=node.copy()), expression=exp.Null())))


def _is_set(call: AggregateCall) -> bool:
    """Whether it is enough to know which values there are, not how often."""
    return call.distinct or call.function != PERCENTILE


def _node(key: Named) -> exp.Expr:
    return parsed(key.value).unnest()


# --- best values of a join (A3) --------------------------------------------------------------------------------------


def _with_newest(split: Query, greatest: bool) -> Query:
    """``MIN(e) <= z`` iff the body has a row with ``e <= Z.z`` for a virtual stream Z that is newer than all."""
    return replace(split, branches=tuple(_beside(branch, greatest) for branch in split.branches), distinct=True)


def _beside(branch: Branch, greatest: bool) -> Branch:
    *keys, best = branch.outputs
    if not isinstance(best.value, Attribute) or not branch.streams:
        raise NotRecheckedError("the greatest or least of what is no column of one stream")
    first = branch.streams[0]
    time = first.column(first.timestamp or "")
    columns = (Column(_NEWEST, branch.column(best.value).type), replace(time, domain=None))
    newest = Source(_NEWEST, _NEWEST, Kind.STREAM, columns, time.name, first.span)
    as_good = Comparison(best.value, Op.GE if greatest else Op.LE, Attribute(_NEWEST, _NEWEST), 0, best.span)
    its_time = Attribute(_NEWEST, time.name)
    older = [Comparison(Attribute(one.alias, one.timestamp or ""), Op.LT, its_time, 0) for one in branch.streams]
    where = conjunction((branch.where, as_good, *older))
    return replace(branch, sources=(*branch.sources, newest), where=where, outputs=tuple(keys))
