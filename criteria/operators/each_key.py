"""A query that can be answered for each value of a key alone: proposition K3.

Let every stream of a query have a key that the records of one stream end in all of them, and let no operator bring rows
of different values together: joins, partitions, groups and distinct rows have it among what must be equal. Then the
query is the sum of the queries for one value each, and what is kept for a value goes when it is over. A query for one
value is judged by the other propositions, with streams of which the key is one value (`Source.one_key`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Scan, Tree, inputs
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute, Branch, Query
from streambound.criteria.judged import State
from streambound.criteria.operators.ended_keys import UNTIL_OVER, key_states
from streambound.criteria.operators.judge import Context, NoRule
from streambound.criteria.operators.parts import (
    EndingKey,
    GroupPart,
    KeyedPart,
    MapPart,
    OverPart,
    Part,
    RelationPart,
    SetPart,
    UnionPart,
    ViewJoinPart,
)
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.parts import BestPart, BlockPart, PairPart
from streambound.criteria.size import Number, product

EACH_KEY = "K3"
"""The proposition that bounds what is kept for each key."""
Carried = tuple[frozenset[int], ...]
"""The places of a part's columns that have the key, for each of its attributes."""
Judge = Callable[[Tree, Context], JudgedPart]


def judge_each_key(tree: Tree, context: Context, judge: Judge) -> JudgedPart | None:
    """What a tree remembers for each value of a key that ends, of all that are open; None where it is for no key.

    Of several keys the one with the fewest that are open.
    """
    if context.unbounded or context.one_key:
        return None
    tables = [table for name in _scanned(tree) if (table := context.catalog.table(name)) is not None]
    keys = {key.name: key for table in tables for key in table.ending if key.max_open is not None}
    for key in sorted(keys.values(), key=lambda one: one.max_open or 0):
        one = _one_key(context, key)
        try:
            judged = judge(tree, one)
            if judged.part is None:
                continue
            found = _Keyed(key, one.catalog)
            part, _ = found.of(judged.part)
            return _of_all(replace(judged, part=part), found, context)
        except (NoRule, _NotOfOneKey):
            continue
    return None


def columns_of_key(part: Part, context: Context) -> frozenset[str]:
    """The columns of a part that have one value, since there is one of the key, as they are written; none elsewhere."""
    if context.one_key is None:
        return frozenset()
    try:
        _, carried = _Keyed(context.one_key, context.catalog).of(part)
    except _NotOfOneKey:
        return frozenset()
    return frozenset(_written(part.columns[place]) for place in frozenset[int]().union(*carried))


def _written(column: Column) -> str:
    return exp.column(column.name, quoted=True).sql("spark")


def _scanned(tree: Tree) -> Iterator[str]:
    if isinstance(tree, Scan):
        yield tree.table
    for below in inputs(tree):
        yield from _scanned(below)


def _one_key(context: Context, key: StreamKey) -> Context:
    """The same where the streams that have a key have one value of it."""

    def one(table: DeclaredTable) -> DeclaredTable:
        mine = next((other for other in table.ending if other.name == key.name), None)
        return replace(table, one_key=mine, ending=(), punctuations=())

    catalog = replace(context.catalog, tables=tuple(map(one, context.catalog.tables)))
    return replace(context, catalog=catalog, blocks=replace(context.blocks, catalog=catalog), one_key=key)


def _of_all(judged: JudgedPart, found: _Keyed, context: Context) -> JudgedPart:
    """What is said of one key, of all that are open; raises _NotOfOneKey for a state that is of no key."""
    most = Number(found.key.max_open or 0)
    shared = {state.name for _, state in context.relations.values()}

    def all_of(state: State) -> State:
        if state.name in shared:
            return state
        if not any(state.name == name or state.name.startswith(f"{name} ") for name in found.names):
            raise _NotOfOneKey
        freed = UNTIL_OVER if state.freed.startswith("never") else f"{UNTIL_OVER}, or {state.freed}"
        return State(state.name, EACH_KEY, product([most, state.size]), state.keys, freed, state.span)

    states = tuple(map(all_of, judged.states))
    if found.names:
        states = (*key_states(found.key, context.catalog, judged.states[0].span), *states)
    return replace(judged, states=states, rows=None, closes=(), sides=())  # what is over stays in the view


class _NotOfOneKey(Exception):
    """That an operator brings rows of different values of the key together."""


@dataclass
class _Keyed:
    """Parts, each with its state for each value of a key; ``names`` are those that have one.

    The ``catalog`` is that of one key.
    """

    key: StreamKey
    catalog: Catalog
    names: list[str] = field(default_factory=list)

    def of(self, part: Part) -> tuple[Part, Carried]:
        """The part, and where its columns have the key; raises _NotOfOneKey."""
        match part:
            case BlockPart():
                carried = self._carried(part.split, len(part.columns))
                held = bool(part.bound.tables)
                return (self._keyed(part, self._streams(part.split)) if held else part), carried
            case BestPart():
                return self._keyed(part, self._streams(part.query)), self._carried(part.query, len(part.columns))
            case MapPart():
                below, carried = self.of(part.input)
                names = list(map(_written, part.input.columns))
                places = [names.index(text) if text in names else None for text in part.expressions]
                return replace(part, input=below), _moved(carried, places)
            case UnionPart():
                several = [self.of(one) for one in part.inputs]
                return replace(part, inputs=tuple(one for one, _ in several)), _common([one for _, one in several])
            case GroupPart():
                return self._group(part)
            case SetPart():
                return self._set(part)
            case PairPart():
                return self._pair(part)
            case ViewJoinPart():
                return self._view_join(part)
            case OverPart():
                return self._over(part)
        raise _NotOfOneKey

    def _keyed(
        self,
        part: BlockPart | BestPart | PairPart | OverPart | ViewJoinPart,
        streams: Sequence[tuple[str, tuple[str, ...]]] = (),
        *inputs: Carried,
    ) -> KeyedPart:
        self.names.append(part.joint.name if isinstance(part, PairPart) else part.name)
        ending = EndingKey(self.key.stream, self.key.marked, ())
        return KeyedPart(part.name, part, ending, tuple(streams), tuple(map(_first, inputs)))

    def _ends(self, carried: Carried) -> EndingKey:
        return EndingKey(self.key.stream, self.key.marked, _first(carried))

    # --- operators --------------------------------------------------------------------------------------------------

    def _group(self, part: GroupPart) -> tuple[Part, Carried]:
        if part.closing is not None or part.session is not None:
            raise _NotOfOneKey
        keys = range(part.keys)
        rows, carried = self.of(part.rows)
        several = [self.of(argument) for argument in part.arguments]
        found = _within(_common((carried, *(one for _, one in several))), keys)
        self.names.append(part.name)
        arguments = tuple(one for one, _ in several)
        return replace(part, rows=rows, arguments=arguments, ends=self._ends(found)), found

    def _set(self, part: SetPart) -> tuple[Part, Carried]:
        if part.closing is not None:
            raise _NotOfOneKey
        left, carried = self.of(part.left)
        right = None
        if part.right is not None:
            right, other = self.of(part.right)
            carried = _common((carried, other))
        self.names.append(part.name)
        return replace(part, left=left, right=right, ends=self._ends(_known(carried))), carried

    def _pair(self, part: PairPart) -> tuple[Part, Carried]:
        split = part.joint.split
        carried = self._carried(split, len(part.columns))
        kept = {"left": part.left, "semi": part.left, "anti": part.left, "right": part.right}.get(part.kind)
        shown = [output.value for output in split.branches[0].outputs]
        mine = [n for n, value in enumerate(shown) if isinstance(value, Attribute) and value.source == kept]
        return self._keyed(part, self._streams(split)), _within(carried, mine, known=False)

    def _view_join(self, part: ViewJoinPart) -> tuple[Part, Carried]:
        if part.closing != (None, None):
            raise _NotOfOneKey
        left, mine = self.of(part.left)
        width = range(len(part.left.columns))
        if isinstance(part.right, RelationPart):
            shown = [int(name[1:]) if name[0] == "l" else None for name in part.shown]
            return replace(part, left=left), _moved(mine, shown)
        right, theirs = self.of(part.right)
        equal = {(t.column, t.other) for t in part.tests if t.op == "==" and t.other is not None and not t.value}
        equal |= {(other, column) for column, other in equal}
        pairs = [
            next(((m, n) for m in sorted(one) for n in sorted(other) if (f"l{m}", f"r{n}") in equal), None)
            for one, other in zip(mine, theirs, strict=True)
        ]
        known = [pair for pair in pairs if pair is not None]
        if len(known) < len(pairs):
            raise _NotOfOneKey
        joined = replace(part, left=left, right=right)
        sides = (tuple(frozenset([m]) for m, _ in known), tuple(frozenset([n]) for _, n in known))
        places = {f"l{n}": n for n in width}
        if part.kind == "inner":
            places |= {f"r{n}": m for m, n in known}
        return self._keyed(joined, (), *sides), _moved(mine, [places.get(name) for name in part.shown])

    def _over(self, part: OverPart) -> tuple[Part, Carried]:
        below, carried = self.of(part.input)
        found = _within(carried, part.partition)
        if part.closing is not None:
            raise _NotOfOneKey
        return self._keyed(replace(part, input=below), (), found), _within(carried, range(part.width), known=False)

    # --- blocks -----------------------------------------------------------------------------------------------------

    def _streams(self, split: Query) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The streams of a block with the columns of their keys."""
        tables = dict.fromkeys(s.table for branch in split.branches for s in branch.streams if s.one_key is not None)
        known = [(name, self._of(name)) for name in tables]
        return tuple((name, key.attributes) for name, key in known if key is not None)

    def _of(self, stream: str) -> StreamKey | None:
        table = self.catalog.table(stream)
        return None if table is None else table.one_key

    def _carried(self, split: Query, width: int) -> Carried:
        """Where the columns of a block have the key; raises _NotOfOneKey where its streams have different values."""
        found = [self._of_branch(branch, width) for branch in split.branches]
        return _common(found) if found else tuple(frozenset(range(width)) for _ in self.key.marked)

    def _of_branch(self, branch: Branch, width: int) -> Carried:
        facts, streams = Facts.of(branch), branch.streams
        if any(source.one_key is None for source in streams):
            raise _NotOfOneKey
        values = [output.value for output in branch.outputs[:width]]
        found = []
        for number in range(len(self.key.marked)):
            mine = [Attribute(s.alias, s.one_key.attributes[number]) for s in streams if s.one_key is not None]
            if any(other not in facts.equal_to(mine[0]) or facts.difference(mine[0], other) for other in mine[1:]):
                raise _NotOfOneKey
            found.append(frozenset(place for place, value in enumerate(values) if value in mine))
        return tuple(found)


def _first(carried: Carried) -> tuple[int, ...]:
    """One place for each attribute of the key; raises _NotOfOneKey where there is none."""
    return tuple(map(min, _known(carried)))


def _known(carried: Carried) -> Carried:
    if not all(carried):
        raise _NotOfOneKey
    return carried


def _within(carried: Carried, places: Sequence[int], known: bool = True) -> Carried:
    """What is at some places only; where it must be ``known``, raises _NotOfOneKey for a key that is not."""
    found = tuple(one & frozenset(places) for one in carried)
    return _known(found) if known else found


def _common(several: Sequence[Carried]) -> Carried:
    """The places at which all have the key."""
    return tuple(frozenset.intersection(*ones) for ones in zip(*several, strict=True))


def _moved(carried: Carried, places: Sequence[int | None]) -> Carried:
    """Where columns have the key that are those of other columns, at these places."""
    return tuple(frozenset(n for n, place in enumerate(places) if place in one) for one in carried)
