"""What the rows of a node are made of, which of that says a column, the keys of rows, and when these are taken back.

A source is named by the fields that lead to it: ``left.input.row``; so it has one name below each operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.nodes import BucketKind, JoinKind
from streambound.analyzer.algebra.recent_rows import asks_for_newest
from streambound.analyzer.algebra.value_sets import ANYTHING, ValueSet, between, of_domain
from streambound.analyzer.algebra.window_functions import Gives, looks_back, window_function
from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.types import DataType, Family
from streambound.recheck.derivation.atoms import Sets, differences, equal, is_atom, left_of
from streambound.recheck.derivation.claims import NotCheckedError
from streambound.recheck.derivation.plan import Places, PlanNode, is_session, origin, pairs, traced


class SourceOfRows(Struct, frozen=True):
    """A source of rows: at most one row each of a table, or a bucket, one of which begins every ``every``
    timestamps; ``missing``: or without one. Rows of the sources ``by`` leave at most ``fan`` of these: of a ``version``
    of a relation as many as it has rows. There may be a ``single`` one; a row of a ``union`` is one of a side's.
    """

    table: DeclaredTable | None = None
    missing: bool = False
    every: int | None = None
    by: frozenset[str] | None = None
    fan: int = 1
    version: bool = False
    single: bool = False
    union: PlanNode | None = None

    @property
    def is_stream(self) -> bool:
        """Whether its rows are of a stream."""
        return self.table is not None and self.table.kind is Kind.STREAM


Sources = dict[str, SourceOfRows]
_ONLY_ROW = SourceOfRows(single=True, missing=True)
"""The row of a join's side that is made of no others', if there is one beside it."""


def sources(node: PlanNode) -> Sources:
    """The sources of a node's rows: no two rows, with all their columns, come from the same source rows."""
    match node.tree:
        case nodes.Scan():
            key = None if node.table is None else node.table.one_key
            if key is None:
                return {"row": SourceOfRows(node.table)}
            return {"row": SourceOfRows(node.table, single=key.once), "key": SourceOfRows(single=True)}
        case nodes.Recur():
            return {f"column {place}": SourceOfRows() for place in range(node.width)}
        case nodes.Union():
            return {"union": SourceOfRows(union=node)}
        case nodes.Fixpoint():
            return {"rows": SourceOfRows()}
        case nodes.Aggregate(keys=()):
            return {}
        case nodes.Join(kind=kind) if kind not in nodes.ONE_SIDED:
            return _of_pairs(node, kind)
        case nodes.Join() | nodes.Except() | nodes.Intersect():
            return _under("left", node)
        case nodes.AsOf():
            return {
                name: SourceOfRows(one.table, fan=one.table.rows or 1, version=one.table.rows is not None)
                for name, one in _under("input", node).items()
                if one.table is not None
            }
        case nodes.Bucket(time=time, size=size, slide=slide, keys=keys) if not is_session(node.tree):
            by = _named("input", says_all(node.below, node.below.read_by(time, *keys)))
            most = -(-size // slide) if slide else 1
            return {**_under("input", node), "bucket": SourceOfRows(every=slide or size, by=by, fan=most)}
    return _under("input", node)


def _named(name: str, found: Iterable[str]) -> frozenset[str]:
    """The names of an input's sources above it."""
    return frozenset(f"{name}.{one}" for one in found)


def _under(name: str, node: PlanNode) -> Sources:
    """The sources of an input."""
    return {
        f"{name}.{key}": one if one.by is None else replace(one, by=_named(name, one.by))
        for key, one in sources(node.input(name)).items()
    }


def _of_pairs(node: PlanNode, kind: JoinKind) -> Sources:
    """The sources of pairs: a row with at most one partner determines it."""
    left, right = _under("left", node), _under("right", node)
    if kind in (JoinKind.RIGHT, JoinKind.FULL):
        left = {name: replace(one, missing=True) for name, one in left.items()}
    if kind in (JoinKind.LEFT, JoinKind.FULL):
        right = {name: replace(one, missing=True) for name, one in right.items()}
    left |= {} if left or kind not in (JoinKind.RIGHT, JoinKind.FULL) else {"left.row": _ONLY_ROW}
    right |= {} if right or kind not in (JoinKind.LEFT, JoinKind.FULL) else {"right.row": _ONLY_ROW}
    only, mine, theirs = only_partner(node), frozenset(left), frozenset(right)
    kept = kind in (JoinKind.INNER, JoinKind.LEFT)
    right = {name: replace(one, by=mine) if kept and one.version else one for name, one in right.items()}
    if only == "right":
        right = {name: replace(one, by=mine, fan=1) for name, one in right.items()}
    elif only == "left":
        left = {name: replace(one, by=theirs, fan=1) for name, one in left.items()}
    return {**left, **right}


def only_partner(node: PlanNode) -> str | None:
    """The side of which a row of the other side meets at most one, by a key of it; None where there is none."""
    assert isinstance(node.tree, nodes.Join), "pairs are of a join"
    both, width = pairs(node), node.input("left").width
    by = {"left": set[int](), "right": set[int]()}
    for part in both.conditions if not node.tree.using else ():
        places = [both.place_of(one) for one in (part.left, part.right)] if isinstance(part, exp.EQ) else []
        known = sorted(place for place in places if place is not None)
        if len(known) == 2 and known[0] < width <= known[1] and _one_to_one(*(both.schema[one].type for one in known)):
            by["left"].add(known[0])
            by["right"].add(known[1] - width)
    kinds = {"right": (JoinKind.INNER, JoinKind.LEFT), "left": (JoinKind.INNER, JoinKind.RIGHT)}
    for side, allowed in kinds.items():
        first = width if side == "right" else 0
        for key in keys(node.input(side)) if node.tree.kind in allowed else ():
            if key <= by[side] or key - by[side] <= {place - first for place in same_in_all(both)}:
                return side
    return None


def _one_to_one(kind: DataType | None, other: DataType | None) -> bool:
    """Whether a value of one type equals one of the other type at most: the texts 1 and 01 both equal the number 1."""
    whole = kind is not None and other is not None and kind.family is other.family is Family.INTEGER
    return whole or (kind is not None and kind == other)


# --- what says a column -----------------------------------------------------------------------------------------------


def with_said(found: Sources, chosen: frozenset[str]) -> frozenset[str]:
    """Some sources, and those whose rows these say."""
    alone = {name: one.by for name, one in found.items() if one.by is not None and one.fan == 1}
    while more := {name for name, by in alone.items() if by <= chosen} - chosen:
        chosen |= more
    return chosen


def says_all(node: PlanNode, columns: Iterable[int]) -> frozenset[str]:
    """The sources whose rows say the values of some columns."""
    return frozenset[str]().union(*(says(node, one) for one in columns))


def says(node: PlanNode, column: int) -> frozenset[str]:
    """The sources whose rows say the value of a column."""
    match node.tree:
        case nodes.Scan():
            key = None if node.table is None else node.table.one_key
            return frozenset(("key" if key is not None and node.schema[column].name in key.attributes else "row",))
        case nodes.Bucket(time=time, keys=by) if column >= node.below.width:  # a session is of a time and some keys
            of_session = _named("input", says_all(node.below, node.below.read_by(time, *by)))
            return of_session if is_session(node.tree) else frozenset(("bucket",))
        case nodes.Recur():
            return frozenset((f"column {column}",))
    found = origin(node, column)
    if found is None:
        return frozenset(sources(node))
    read = [found.column] if found.column is not None else found.node.read_by(found.expression)
    said = _named(found.name, says_all(found.node, read))
    if said or not found.missing:
        return said
    # what is the same in all rows of a side says whether there is one
    return frozenset(name for name in sources(node) if name.startswith(f"{found.name}."))


def ways_to_say(node: PlanNode, column: int) -> Iterator[frozenset[str]]:
    """The sources whose rows say the value of a column, or of one that conditions make equal to it."""
    equals, inner = {column}, isinstance(node.tree, nodes.Join) and node.tree.kind is JoinKind.INNER
    if (isinstance(node.tree, nodes.Filter) or inner) and node.width == len(node.row):
        several = [equal(part, node.row) for part in node.conditions]
        for _ in several:
            equals = equals.union(*(both for both in several if both & equals))
    for one in sorted(equals):
        yield says(node, one)
        if (found := origin(node, one)) is not None:
            read = [found.column] if found.column is not None else sorted(found.node.read_by(found.expression))
            for ways in product(*(ways_to_say(found.node, place) for place in read)):
                if (said := frozenset[str]().union(*ways)) or not found.missing:
                    yield _named(found.name, said)


# --- when rows are taken back -----------------------------------------------------------------------------------------


def version_of(node: PlanNode) -> PlanNode | None:
    """The relation as of a time that a side of a join is, with conditions above it."""
    while isinstance(node.tree, nodes.Filter) or (isinstance(node.tree, nodes.Alias) and not node.tree.columns):
        node = node.below
    return node if isinstance(node.tree, nodes.AsOf) else None


def never_changes(node: PlanNode) -> bool:
    """Whether rows that are there never change: those of relations, and of what one was at a row's time (E3)."""
    while isinstance(node.tree, nodes.Filter | nodes.Alias | nodes.Project):
        node = node.below
    return node.never_changes or isinstance(node.tree, nodes.AsOf)


def only_grows(node: PlanNode) -> bool:
    """Whether no row of a node is ever taken back, as its operators say."""
    if node.never_changes:
        return True
    match node.tree:
        case nodes.Scan(changes=changes):
            return not changes
        case nodes.Recur() | nodes.AsOf():  # as far as its step does; what a relation was at a time (E3)
            return True
        case nodes.Join(kind=JoinKind.LEFT | JoinKind.ANTI | JoinKind.NOT_IN):
            return never_changes(node.input("right")) and only_grows(node.input("left"))
        case nodes.Join(kind=JoinKind.RIGHT):
            return node.input("left").never_changes and only_grows(node.input("right"))
        case nodes.Over():
            return only_adds(node)
        case nodes.Join() if asks_for_newest(node.tree):
            return _is_for_good(node) and only_grows(node.input("left"))
        case nodes.Apply():
            return node.input("subquery").never_changes and only_grows(node.below)
        case (
            nodes.Filter() | nodes.Project() | nodes.Alias() | nodes.SpjBlock() | nodes.Distinct() | nodes.Union()
            | nodes.Bucket() | nodes.Intersect(distinct=True) | nodes.Join(kind=JoinKind.INNER | JoinKind.SEMI)
        ):  # fmt: skip
            return not is_session(node.tree) and all(map(only_grows, node.inputs.values()))
    return False


def _is_for_good(node: PlanNode) -> bool:
    """Whether the newest row's time, which never falls, must only be so much later than other values (G1)."""
    both, newest = pairs(node), node.input("left").width
    said = [
        (is_atom(part, both.row), [later for _, later, _ in differences(part, both.row)]) for part in both.conditions
    ]
    return all(alone and later == [newest] for alone, later in said)


def only_adds(node: PlanNode) -> bool:
    """Whether functions over windows change no row: they look back, by the time at which rows come."""
    below = node.below
    if not isinstance(node.tree, nodes.Over) or not only_grows(below):
        return False
    places = [below.place_of(one.order[0].value) if looks_back(one) else None for one in node.tree.calls]
    return all(place is not None and _comes_by(below, place) for place in places)


def _comes_by(node: PlanNode, column: int) -> bool:
    """Whether rows come at the time that a column has: of the only stream that they are made of, or of a union's."""
    streams = [one for one in sources(node).values() if one.table is None or not one.table.is_fixed]
    below, place = traced(node, column)
    if len(streams) != 1:
        return False
    if isinstance(below.tree, nodes.Union):
        union = streams[0].union
        return union is not None and union.same(below) and all(_comes_by(one, place) for one in below.inputs.values())
    table = below.table
    is_time = table is not None and table.kind is Kind.STREAM and table.columns[place].name == table.timestamp
    return is_time and streams[0].table == table


def newest_of(node: PlanNode) -> frozenset[str]:
    """The sources of streams' rows of which a row is made that comes with the newest of them, and never goes."""
    match node.tree:
        case nodes.Scan(changes=False):
            return frozenset() if node.never_changes else frozenset(("row",))
        case nodes.Filter() | nodes.Project() | nodes.Alias() | nodes.Join(kind=JoinKind.INNER):
            return frozenset[str]().union(*(_named(name, newest_of(one)) for name, one in node.inputs.items()))
    raise NotCheckedError(f"with which rows those of a {type(node.tree).__name__} come")


# --- keys -------------------------------------------------------------------------------------------------------------


def keys(node: PlanNode) -> list[Places]:
    """Columns in which no two rows of a node agree, as its operators say."""
    match node.tree:
        case nodes.Scan() if (table := node.table) is not None:
            if table.one_key is not None and table.one_key.once:
                return [frozenset()]
            of_rows = () if table.changes is None else table.changes.key
            several = [of_rows, *(one.attributes for one in table.ending if one.once)]
            # within a length of time is at a timestamp
            several += [(*k.columns, *([] if k.within is None else [str(table.timestamp)])) for k in table.unique]
            return [frozenset(p for p, c in enumerate(node.schema) if c.name in names) for names in several if names]
        case nodes.Aggregate(keys=mine):
            every = frozenset(range(len(mine)))
            ends = frozenset(place for place in every if _is_end(node, place))
            return [every, *(every - ends | {one} for one in ends)] if _buckets(node) == 1 else [every]
        case nodes.Except(distinct=distinct) | nodes.Intersect(distinct=distinct):
            return [*([node.every] if distinct else []), *keys(node.input("left"))]
        case nodes.Distinct():
            return [node.every, *keys(node.below)]
        case nodes.Union(distinct=True):
            return [node.every]
        case nodes.Filter():
            below = keys(node.below)
            same = same_in_all(node) if below else frozenset[int]()
            return [key - same for key in below]
        case nodes.Alias() | nodes.Apply() | nodes.SpjBlock() | nodes.Bucket(kind=BucketKind.TUMBLING):
            return keys(node.below)
        case nodes.Over(calls=calls):
            numbered = list[Places]()
            for number, call in enumerate(calls, node.below.width):
                places = {node.below.place_of(one) for one in call.partition}
                if call.function == "ROW_NUMBER" and None not in places:
                    numbered.append(frozenset((*(p for p in places if p is not None), number)))
            return [*keys(node.below), *numbered]
        case nodes.Bucket(size=size, slide=slide) if not is_session(node.tree):
            start = frozenset((node.below.width,)) if slide and slide < size else frozenset[int]()
            return [key | start for key in keys(node.below)]
        case nodes.Project():
            found = [origin(node, place) for place in range(node.width)]
            shown: dict[int, list[int]] = {}
            for place, one in enumerate(found):
                if one is not None and one.column is not None:
                    shown.setdefault(one.column, []).append(place)
            below = [key for key in keys(node.below) if key <= shown.keys()]
            return [frozenset(places) for key in below for places in product(*(shown[one] for one in sorted(key)))]
        case nodes.Join(using=(), kind=kind):
            only = "right" if kind in nodes.ONE_SIDED else only_partner(node)
            first = node.input("left").width if only == "left" else 0
            side = {"right": "left", "left": "right"}.get(only or "")
            return [] if side is None else [frozenset(p + first for p in key) for key in keys(node.input(side))]
    return []


def same_in_all(node: PlanNode) -> Places:
    """The columns that have one value in all rows, or pairs, that satisfy a condition."""
    known: Sets = {place: _given(*traced(node, place)) for place in range(len(node.row))}
    for part in node.conditions * 2:  # the second time with what others say of columns that it makes equal
        known = left_of(part, node.row, known)
    return frozenset(place for place, one in known.items() if one.size == 1)


def _given(node: PlanNode, column: int) -> ValueSet:
    """The values that are declared of a column of a table; ranks begin with 1."""
    match node.tree:
        case nodes.Scan() if node.table is not None:
            declared = node.table.columns[column]
            return of_domain(declared.domain, declared.type, null=True)
        case nodes.Over(calls=calls) if column >= node.below.width:
            ranks = window_function(calls[column - node.below.width]).gives is Gives.NUMBER
            return between(1, None, null=False) if ranks else ANYTHING
    return ANYTHING


def _is_end(node: PlanNode, column: int) -> bool:
    """Whether a column is an end of a bucket of time, as it is."""
    while not isinstance(node.tree, nodes.Bucket) or column < node.below.width:
        found = origin(node, column)
        if found is None or found.column is None:
            return False
        node, column = found.node, found.column
    return True


def _buckets(node: PlanNode) -> int:
    """How many buckets of time there are below a node, and it."""
    return isinstance(node.tree, nodes.Bucket) + sum(map(_buckets, node.inputs.values()))
