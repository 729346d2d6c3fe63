"""The tree of a statement, its nodes by path, and where each column of a node's rows comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from sqlglot import exp

from streambound.analyzer.algebra.aggregate_functions import computed_of
from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Aggregate,
    AggregateCall,
    Alias,
    Apply,
    AsOf,
    Bucket,
    BucketKind,
    Distinct,
    Except,
    Filter,
    FirstRows,
    Fixpoint,
    Intersect,
    Join,
    JoinKind,
    Named,
    OrderBy,
    Over,
    Project,
    Recur,
    Scalar,
    Scan,
    SpjBlock,
    Tree,
    Union,
    WindowCall,
    named_inputs,
)
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema, meant, read_by
from streambound.analyzer.algebra.sources import apart, sources_of
from streambound.analyzer.algebra.syntax import conjuncts, scalar_of, scalar_of_column
from streambound.analyzer.algebra.window_functions import looks_back
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.types import DataType, Family
from streambound.preprocess.trees.conditions import values_of
from streambound.preprocess.trees.not_in import compared
from streambound.preprocess.trees.unions import in_both
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.atoms import equal
from streambound.recheck.derivation.claims import ClaimedNode, NotCheckedError

Places = frozenset[int]


@dataclass(frozen=True)
class PlanNode:
    """A node of the tree, with the columns of the relation that a recursion around it defines."""

    tree: Tree
    catalog: Catalog
    recursion: PlanNode | None = None
    """The `Fixpoint` of whose step it is a part."""

    def of(self, tree: Tree) -> PlanNode:
        """Another operator that stands as this one does."""
        return replace(self, tree=tree)

    def input(self, name: str) -> PlanNode:
        """The node that a field of it is."""
        found = named_inputs(self.tree).get(name)
        if found is None:
            raise RejectedError(f"a {type(self.tree).__name__} has no {name}")
        inside = isinstance(self.tree, Fixpoint) and name == "step"
        return PlanNode(found, self.catalog, self if inside else self.recursion)

    def along(self, path: Iterable[str]) -> PlanNode:
        """The node that a path of fields leads to."""
        node = self
        for name in path:
            node = node.input(name)
        return node

    @cached_property
    def schema(self) -> Schema:
        """The columns of its rows."""
        around = () if self.recursion is None else self.recursion.schema
        return schema(self.tree, self.catalog, around)

    @cached_property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.schema)

    @property
    def every(self) -> Places:
        """The places of all columns."""
        return frozenset(range(self.width))

    @property
    def is_static(self) -> bool:
        """Whether its rows never change."""
        return is_static(self.tree, self.catalog)

    @cached_property
    def conditions(self) -> list[exp.Expr]:
        """The parts of its condition that must all be true, by the columns of its input, or of pairs."""
        if isinstance(self.tree, Filter | Join):
            return conjuncts(self.tree.condition)
        return []

    @cached_property
    def row(self) -> Schema:
        """The columns that its condition reads."""
        if isinstance(self.tree, Join):
            return (*self.input("left").schema, *self.input("right").schema)
        return self.input("input").schema if isinstance(self.tree, Filter) else ()

    def same(self, other: PlanNode) -> bool:
        """Whether it is an equal node."""
        if self.tree != other.tree:
            return False
        mine, theirs = self.recursion, other.recursion
        around = mine is theirs or (mine is not None and theirs is not None and mine.same(theirs))
        return around or not _reads_recursion(self.tree)

    def read_by(self, *expressions: exp.Expr | Scalar | None) -> Places:
        """The places of the columns that expressions read, in their subqueries, too."""
        syntax = [parsed(one) if isinstance(one, Scalar) else one for one in expressions if one is not None]
        return read_by(self.schema, *syntax)

    def place_of(self, node: exp.Expr) -> int | None:
        """The place of the column that an expression is; None for another one."""
        inner = node.unnest()
        return meant(inner, self.schema) if isinstance(inner, exp.Column) else None


def _reads_recursion(tree: Tree) -> bool:
    """Whether a tree has rows of a recursion around it, so that it matters which one that is."""
    return isinstance(tree, Recur) or any(map(_reads_recursion, named_inputs(tree).values()))


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a column comes from: a column of an input, which may be missing beside it, or an expression over it."""

    node: PlanNode
    column: int | None = None
    expression: exp.Expr | None = None
    missing: bool = False


def origin(node: PlanNode, column: int) -> Origin | None:
    """Where a column of a node comes from; None where it is neither a column nor an expression of one input."""
    match node.tree:
        case Filter() | Distinct() | OrderBy() | FirstRows() | SpjBlock() | Alias() | AsOf():
            return Origin(node.input("input"), column)
        case Over() | Bucket() | Apply():
            below = node.input("input")
            return Origin(below, column) if column < below.width else None
        case Project():
            below = node.input("input")
            return _of_expression(below, listed(node)[column])
        case Aggregate(keys=keys):
            return _of_expression(node.input("input"), parsed(keys[column].value)) if column < len(keys) else None
        case Except() | Intersect():
            return Origin(node.input("left"), column)
        case Join(kind=kind, using=()):
            left = node.input("left")
            if kind in ONE_SIDED or column < left.width:
                return Origin(left, column, missing=kind in (JoinKind.RIGHT, JoinKind.FULL))
            missing = kind in (JoinKind.LEFT, JoinKind.FULL)
            return Origin(node.input("right"), column - left.width, missing=missing)
    return None


def _of_expression(below: PlanNode, node: exp.Expr) -> Origin:
    place = below.place_of(node)
    return Origin(below, expression=node) if place is None else Origin(below, place)


def listed(node: PlanNode) -> list[exp.Expr]:
    """The items of a select list: expressions, for a ``*`` the columns that it stands for."""
    assert isinstance(node.tree, Project)
    return values_of(node.tree.items, node.input("input").schema)


# --- what rows are made of --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SourceOfRows:
    """What rows are made of: at most one row each of a table, or a bucket, of which one begins ``every`` so many
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

    def called(self, names: Mapping[str, str]) -> SourceOfRows:
        """The same where sources have other names."""
        return self if self.by is None else replace(self, by=frozenset(names[one] for one in self.by))


Sources = dict[str, SourceOfRows]


def sources(node: PlanNode) -> Sources:
    """What the rows of a node are made of: no two of them, with all their columns, are made of the same rows."""
    match node.tree:
        case Scan(table=name, alias=alias):
            table = node.catalog.table(name)
            key = None if table is None else table.one_key
            if key is None:
                return {alias: SourceOfRows(table)}
            return {alias: SourceOfRows(table, single=key.once), f"key of {alias}": SourceOfRows(single=True)}
        case Alias(alias=alias):
            below = sources(node.input("input"))
            names = {name: f"{alias}.{name}" for name in below}
            return {names[name]: one.called(names) for name, one in below.items()}
        case Filter() | Project() | Distinct() | SpjBlock() | Over() | Apply() | OrderBy():
            return sources(node.input("input"))
        case AsOf():
            below = sources(node.input("input"))
            return {
                name: SourceOfRows(one.table, fan=one.table.rows or 1, version=one.table.rows is not None)
                for name, one in below.items()
                if one.table is not None
            }
        case Aggregate(keys=keys):
            return sources(node.input("input")) if keys else {}
        case Bucket(kind=kind, time=time, size=size, slide=slide, keys=keys):
            below = sources(node.input("input"))
            if kind is BucketKind.SESSION:
                return below
            places = node.input("input").read_by(time, *keys)
            by = frozenset[str]().union(*(says(node.input("input"), place) for place in places))
            most = -(-size // slide) if slide else 1
            return {**below, _bucket(below): SourceOfRows(every=slide or size, by=by, fan=most)}
        case Join(kind=kind):
            return sources(node.input("left")) if kind in ONE_SIDED else _of_pairs(node, kind)
        case Except() | Intersect():
            return sources(node.input("left"))
        case Recur():
            return {f"recursion {place}": SourceOfRows() for place in range(node.width)}
        case Union():
            return {"union": SourceOfRows(union=node)}
        case Fixpoint() | FirstRows():
            return {"": SourceOfRows()}
    raise NotCheckedError(f"the rows of a {type(node.tree).__name__}")


def _of_pairs(node: PlanNode, kind: JoinKind) -> Sources:
    """What pairs are made of: a row that has at most one partner says it."""
    left, right, names = sources(node.input("left")), sources(node.input("right")), names_in_pairs(node)
    theirs = {names[name]: one.called(names) for name, one in right.items()}
    if kind in (JoinKind.RIGHT, JoinKind.FULL):
        left = {name: replace(one, missing=True) for name, one in left.items()}
    if kind in (JoinKind.LEFT, JoinKind.FULL):
        theirs = {name: replace(one, missing=True) for name, one in theirs.items()}
    mine = frozenset(left)
    if kind in (JoinKind.INNER, JoinKind.LEFT):
        theirs = {name: replace(one, by=mine) if one.version else one for name, one in theirs.items()}
    match only_partner(node):
        case "right":
            theirs = {name: replace(one, by=mine, fan=1) for name, one in theirs.items()}
        case "left":
            left = {name: replace(one, by=frozenset(theirs), fan=1) for name, one in left.items()}
    return {**left, **theirs}


def names_in_pairs(node: PlanNode) -> dict[str, str]:
    """What the sources of the right side are called in pairs, so that no two have one name."""
    assert isinstance(node.tree, Join), "pairs are of a join"
    mine = sources_of(node.tree.left)
    known = apart(mine, sources_of(node.tree.right))
    rest = [name for name in sources(node.input("right")) if name not in known]
    return known | apart({*sources(node.input("left")), *mine, *known.values()}, rest)


def only_partner(node: PlanNode) -> str | None:
    """The side of which a row of the other side meets at most one, by a key of it; None where there is none."""
    assert isinstance(node.tree, Join), "pairs are of a join"
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
        if node.tree.kind in allowed and any(key <= by[side] for key in keys(node.input(side))):
            return side
    return None


def _one_to_one(kind: DataType | None, other: DataType | None) -> bool:
    """Whether a value of one type equals one of the other type at most: the texts 1 and 01 both equal the number 1."""
    whole = kind is not None and other is not None and kind.family is other.family is Family.INTEGER
    return whole or (kind is not None and kind == other)


def _bucket(below: Sources) -> str:
    return f"bucket {len(below)}"


def with_said(found: Sources, chosen: frozenset[str]) -> frozenset[str]:
    """Some sources, and those whose rows these say."""
    alone = {name: one.by for name, one in found.items() if one.by is not None and one.fan == 1}
    while more := {name for name, by in alone.items() if by <= chosen} - chosen:
        chosen |= more
    return chosen


def says(node: PlanNode, column: int) -> frozenset[str]:
    """The sources whose rows say the value of a column."""
    match node.tree:
        case Scan(table=table, alias=alias):
            declared = node.catalog.table(table)
            key = None if declared is None else declared.one_key
            held = key is not None and node.schema[column].name in key.attributes
            return frozenset((f"key of {alias}" if held else alias,))
        case Alias(alias=alias):
            return frozenset(f"{alias}.{name}" for name in says(node.input("input"), column))
        case Bucket(kind=kind) if column >= node.input("input").width and kind is not BucketKind.SESSION:
            return frozenset((_bucket(sources(node.input("input"))),))
        case Recur():
            return frozenset((f"recursion {column}",))
        case Union():
            return frozenset(("union",))
        case Fixpoint() | FirstRows():
            return frozenset(("",))
    found = origin(node, column)
    if found is None:
        return frozenset(sources(node))
    if found.column is not None:
        below = says(found.node, found.column)
        if isinstance(node.tree, Join) and found.node.tree is node.tree.right:
            names = names_in_pairs(node)
            return frozenset(names[one] for one in below)
        return below
    places = found.node.read_by(found.expression)
    return frozenset[str]().union(*(says(found.node, place) for place in places))


def ways_to_say(node: PlanNode, column: int) -> Iterator[frozenset[str]]:
    """The sources whose rows say the value of a column, or of one that conditions make equal to it."""
    equals, inner = {column}, isinstance(node.tree, Join) and node.tree.kind is JoinKind.INNER
    if (isinstance(node.tree, Filter) or inner) and node.width == len(node.row):
        several = [equal(part, node.row) for part in node.conditions]
        for _ in several:
            equals = equals.union(*(both for both in several if both & equals))
    for one in sorted(equals):
        yield says(node, one)
        found = origin(node, one)
        if found is None:
            continue
        if found.column is None:
            read = (ways_to_say(found.node, place) for place in sorted(found.node.read_by(found.expression)))
            yield from (frozenset[str]().union(*ways) for ways in product(*read))
            continue
        names: Mapping[str, str] = {}
        if isinstance(node.tree, Alias):
            names = {name: f"{node.tree.alias}.{name}" for name in sources(found.node)}
        elif isinstance(node.tree, Join) and found.node.tree is node.tree.right:
            names = names_in_pairs(node)
        for way in ways_to_say(found.node, found.column):
            yield frozenset(names.get(name, name) for name in way)


def never_changes(node: PlanNode) -> bool:
    """Whether rows that are there never change: those of relations, and of what one was at a row's time (E3)."""
    while isinstance(node.tree, Filter | Alias | Project):
        node = node.input("input")
    return node.is_static or isinstance(node.tree, AsOf)


def only_grows(node: PlanNode) -> bool:
    """Whether no row of a node is ever taken back, as its operators say."""
    match node.tree:
        case Scan(changes=changes):
            return not changes
        case Recur() | AsOf():  # as far as its step does; what a relation was at a time (E3)
            return True
        case Filter() | Project() | Alias() | SpjBlock() | Distinct():
            return only_grows(node.input("input"))
        case Bucket(kind=kind):
            return kind is not BucketKind.SESSION and only_grows(node.input("input"))
        case Apply():
            return node.input("subquery").is_static and only_grows(node.input("input"))
        case Over():
            return only_adds(node)
        case Union():
            return only_grows(node.input("left")) and only_grows(node.input("right"))
        case Intersect(distinct=True):
            return only_grows(node.input("left")) and only_grows(node.input("right"))
        case Join(kind=JoinKind.INNER | JoinKind.SEMI):
            return only_grows(node.input("left")) and only_grows(node.input("right"))
        case Join(kind=JoinKind.LEFT | JoinKind.ANTI | JoinKind.NOT_IN):
            return never_changes(node.input("right")) and only_grows(node.input("left"))
        case Join(kind=JoinKind.RIGHT):
            return node.input("left").is_static and only_grows(node.input("right"))
    return node.is_static


def only_adds(node: PlanNode) -> bool:
    """Whether functions over windows change no row: they look back, by the time at which rows come."""
    below = node.input("input")
    if not isinstance(node.tree, Over) or not only_grows(below):
        return False
    places = [below.place_of(parsed(one.order[0].value)) if looks_back(one) else None for one in node.tree.calls]
    return all(place is not None and _comes_by(below, place) for place in places)


def _comes_by(node: PlanNode, column: int) -> bool:
    """Whether rows come at the time that a column has: that of the only stream that they are made of."""
    streams = [one.table for one in sources(node).values() if one.table is None or not one.table.is_fixed]
    below, place = traced(node, column)
    table = node.catalog.table(below.tree.table) if isinstance(below.tree, Scan) else None
    is_time = table is not None and table.kind is Kind.STREAM and table.columns[place].name == table.timestamp
    return is_time and streams == [table]


def newest_of(node: PlanNode) -> frozenset[str]:
    """The sources of streams' rows of which a row is made that comes with the newest of them, and never goes."""
    match node.tree:
        case Scan(alias=alias, changes=False):
            return frozenset() if node.is_static else frozenset((alias,))
        case Alias(alias=alias):
            return frozenset(f"{alias}.{name}" for name in newest_of(node.input("input")))
        case Filter() | Project():
            return newest_of(node.input("input"))
        case Join(kind=JoinKind.INNER):
            names = names_in_pairs(node)
            return newest_of(node.input("left")) | {names[one] for one in newest_of(node.input("right"))}
    raise NotCheckedError(f"with which rows those of a {type(node.tree).__name__} come")


def _is_end(node: PlanNode, column: int) -> bool:
    """Whether a column is an end of a bucket of time, as it is."""
    if isinstance(node.tree, Bucket) and column >= node.input("input").width:
        return True
    found = origin(node, column)
    return found is not None and found.column is not None and _is_end(found.node, found.column)


def _buckets(node: PlanNode) -> list[PlanNode]:
    """The buckets of time below a node."""
    below = [one for name in named_inputs(node.tree) for one in _buckets(node.input(name))]
    return [*below, node] if isinstance(node.tree, Bucket) else below


def keys(node: PlanNode) -> list[Places]:
    """Columns in which no two rows of a node agree, as its operators say."""
    match node.tree:
        case Scan(table=table):
            declared = node.catalog.table(table)
            key = declared.changes.key if declared is not None and declared.changes is not None else ()
            once = [one.attributes for one in declared.ending if one.once] if declared is not None else []
            several = [frozenset(p for p, c in enumerate(node.schema) if c.name in names) for names in (key, *once)]
            return [places for places in several if places]
        case Aggregate(keys=mine):
            every = frozenset(range(len(mine)))
            ends = frozenset(place for place in every if _is_end(node, place))
            return [every, *(every - ends | {one} for one in ends)] if len(_buckets(node)) == 1 else [every]
        case Except(distinct=distinct) | Intersect(distinct=distinct):
            return [*([node.every] if distinct else []), *keys(node.input("left"))]
        case Distinct():
            return [node.every, *keys(node.input("input"))]
        case Union(distinct=True):
            return [node.every]
        case Filter() | Alias() | Apply() | SpjBlock() | Bucket(kind=BucketKind.TUMBLING):
            return keys(node.input("input"))
        case Over(calls=calls):
            return [*keys(node.input("input")), *_numbered(calls, node.input("input"))]
        case Bucket(kind=kind, size=size, slide=slide) if kind is not BucketKind.SESSION:
            start = frozenset((node.input("input").width,)) if slide and slide < size else frozenset[int]()
            return [key | start for key in keys(node.input("input"))]
        case Project():
            found = [origin(node, place) for place in range(node.width)]
            shown: dict[int, list[int]] = {}
            for place, one in enumerate(found):
                if one is not None and one.column is not None:
                    shown.setdefault(one.column, []).append(place)
            below = [key for key in keys(node.input("input")) if key <= shown.keys()]
            return [frozenset(places) for key in below for places in product(*(shown[one] for one in sorted(key)))]
        case Join(using=(), kind=kind) if kind in ONE_SIDED:
            return keys(node.input("left"))
        case Join(using=()):
            width, side = node.input("left").width, only_partner(node)
            if side == "right":
                return keys(node.input("left"))
            if side == "left":
                return [frozenset(place + width for place in key) for key in keys(node.input("right"))]
    return []


def _numbered(calls: Sequence[WindowCall], below: PlanNode) -> Iterator[Places]:
    """The number of a row in its partition, beside the partition's columns."""
    for number, call in enumerate(calls, below.width):
        places = [below.place_of(parsed(one)) for one in call.partition]
        if call.function == "ROW_NUMBER" and None not in places:
            yield frozenset((*(place for place in places if place is not None), number))


def traced(node: PlanNode, column: int, missing: bool = False) -> tuple[PlanNode, int]:
    """The lowest operator of which a column is one as it is, and, unless it may be ``missing``, is always there."""
    found = origin(node, column)
    while found is not None and found.column is not None and (missing or not found.missing):
        node, column = found.node, found.column
        found = origin(node, column)
    return node, column


def session_of(node: PlanNode) -> Bucket | None:
    """The sessions of which a select list has the keys of rows."""
    below = node.input("input") if isinstance(node.tree, Project) else node
    below = below.input("input") if isinstance(below.tree, Filter) else below
    return below.tree if isinstance(below.tree, Bucket) and below.tree.kind is BucketKind.SESSION else None


# --- nodes that rules make --------------------------------------------------------------------------------------------


def pairs(node: PlanNode) -> PlanNode:
    """The pairs of a join."""
    if not isinstance(node.tree, Join):
        raise RejectedError("pairs of what is no join")
    return node.of(replace(node.tree, kind=JoinKind.INNER, member=None))


def with_partners(node: PlanNode) -> PlanNode:
    """The rows of a join, of a semi or anti join with those that it asks for."""
    if not isinstance(node.tree, Join):
        raise RejectedError("partners of what is no join")
    asks = node.tree.kind in (JoinKind.SEMI, JoinKind.ANTI)
    return node.of(replace(node.tree, kind=JoinKind.LEFT)) if asks else node


def with_conditions(node: PlanNode) -> PlanNode:
    """An inner join with the condition that stands above it; another node as it is."""
    join = node.input("input").tree if isinstance(node.tree, Filter) else None
    if not isinstance(node.tree, Filter) or not isinstance(join, Join) or join.kind is not JoinKind.INNER:
        return node
    parts = [parsed(one) for one in (join.condition, node.tree.condition) if one is not None]
    return node.input("input").of(replace(join, condition=scalar_of(exp.and_(*parts))))


def keyed(node: PlanNode, call: int | None = None, own: bool = True) -> PlanNode:
    """The rows below groups with their keys, and with the value of one of the aggregates for its rows.

    Without their ``own`` columns these are the keys alone.
    """
    if not isinstance(node.tree, Aggregate):
        raise RejectedError("keys of what has no groups")
    tree, below = node.tree, node.input("input")
    shown = below.schema if own else ()
    items = [Named(f"c{n}", scalar_of_column(one), alias=True) for n, one in enumerate(shown)]
    items += [Named(f"_k{n}", key.value, alias=True) for n, key in enumerate(tree.keys)]
    rows = tree.input
    if call is not None:
        if not 0 <= call < len(tree.calls):
            raise RejectedError("there is no such aggregate")
        one = tree.calls[call]
        value = scalar_of(value_of(one))
        if all(value.text != key.value.text for key in tree.keys):
            items.append(Named("_v0", value, alias=True))
        rows = rows if one.filter is None else filtered(rows, parsed(one.filter), tree)
    return node.of(Project(rows, tuple(items), syntax=tree.syntax))


def both_selections(node: PlanNode) -> PlanNode:
    """The rows that both selections of a union have."""
    both = in_both(node.tree)
    if both is None:
        raise RejectedError("no union of selections")
    return node.of(both)


def compared_values(node: PlanNode, side: str) -> PlanNode:
    """What NOT IN compares: its member, of the left rows, or the values beside it, of pairs."""
    sides = compared(node.tree)
    if sides is None:
        raise RejectedError("no NOT IN")
    return node.of(sides[side == "values"])


def partitions(node: PlanNode, call: int | None, columns: tuple[int, ...] = (), whole: bool = False) -> PlanNode:
    """What a function over windows has partitions by, with more columns of the rows; or the whole rows with that."""
    tree, below = node.tree, node.input("input")
    if not isinstance(tree, Over) or call is None or not 0 <= call < len(tree.calls):
        raise RejectedError("partitions of no function")
    if any(not 0 <= one < below.width for one in columns):
        raise RejectedError("columns that are none")
    more = [scalar_of_column(below.schema[one]) for one in columns]
    own = list(tree.calls[call].partition)
    shown = [*map(scalar_of_column, below.schema), *own] if whole else [*own, *more]
    items = tuple(Named(f"c{n}", one, alias=True) for n, one in enumerate(shown))
    return node.of(Project(tree.input, items, syntax=tree.syntax))


def parts(node: PlanNode) -> list[PlanNode]:
    """The parts of a union, or the same operator over each part of its input: their rows together are all rows."""
    tree = node.tree
    match tree:
        case Union():
            sides = [_named_as(node.input(name), node) for name in ("left", "right")]
            return [part for side in sides for part in parts(side) or [side]]
        case Bucket(kind=BucketKind.SESSION) | Aggregate(keys=()):
            return []
        case Filter() | Alias() | Project() | SpjBlock() | Distinct() | Bucket() | Over() | Apply() | Aggregate():
            return [node.of(replace(tree, input=one.tree)) for one in _alike(node.input("input"))]
        case Join(kind=kind) if kind is not JoinKind.FULL:
            left, right = node.input("left"), node.input("right")
            mine = _alike(left) if kind is not JoinKind.RIGHT else []
            theirs = _alike(right) if kind in (JoinKind.INNER, JoinKind.RIGHT) else []
            pairs_of_parts = product(mine or [left], theirs or [right]) if mine or theirs else ()
            return [node.of(replace(tree, left=one.tree, right=other.tree)) for one, other in pairs_of_parts]
    return []


def _alike(node: PlanNode) -> list[PlanNode]:
    """The parts of an input, if their columns have its names."""
    found = parts(node)
    return found if all(_names(one) == _names(node) for one in found) else []


def _names(node: PlanNode) -> list[str]:
    return [f"{one.alias}.{one.name}".strip(".").lower() for one in node.schema]


def _named_as(side: PlanNode, union: PlanNode) -> PlanNode:
    """A side of a union with the union's names for its columns; as it is where they cannot be told apart."""
    columns, names = union.schema, _names(side)
    aliases = {column.alias for column in columns}
    if names == _names(union) or len(aliases) > 1 or len({*names}) < len(columns):
        return side
    items = [Named(new.name, scalar_of_column(old), True) for old, new in zip(side.schema, columns, strict=True)]
    found: Tree = Project(side.tree, tuple(items), syntax=side.tree.syntax)
    (alias,) = aliases
    return side.of(found if not alias else Alias(found, alias, syntax=side.tree.syntax))


def filtered(rows: Tree, where: exp.Expr, tree: Aggregate) -> Filter:
    """The rows that a FILTER of an aggregate lets pass."""
    return Filter(rows, scalar_of(where), syntax=rows.syntax or tree.syntax)


def value_of(call: AggregateCall) -> exp.Expr:
    """The value that an aggregate is computed of."""
    if len(computed_of(call)) != 1:
        raise NotCheckedError("values of several arguments")
    return parsed(computed_of(call)[0])


@dataclass(frozen=True)
class PlanNodes:
    """The nodes that a derivation speaks of."""

    root: PlanNode
    claimed: tuple[ClaimedNode, ...]
    used: set[int] = field(default_factory=set)

    @cached_property
    def found(self) -> tuple[PlanNode, ...]:
        """Each of them."""
        return tuple(map(self._found, self.claimed))

    def at(self, number: int | None) -> PlanNode:
        """One of them."""
        if number is None or not 0 <= number < len(self.claimed):
            raise RejectedError(f"there is no node {number}")
        self.used.add(number)
        return self.found[number]

    def _found(self, claim: ClaimedNode) -> PlanNode:
        node = self._made(claim, self.root.along(claim.path))
        if claim.part is not None:
            found = parts(node)
            if not 0 <= claim.part < len(found):
                raise RejectedError("there is no such part")
            node = found[claim.part]
        return node.along(claim.below)

    @staticmethod
    def _made(claim: ClaimedNode, node: PlanNode) -> PlanNode:
        match claim.made:
            case "":
                return node
            case "pairs":
                return pairs(node)
            case "partners":
                return with_partners(node)
            case "keyed":
                return keyed(node, claim.call)
            case "session":
                return keyed(node, claim.call, own=False)
            case "passing":
                return keyed(node, claim.call).input("input")
            case "partitions" | "partitioned":
                return partitions(node, claim.call, claim.columns, claim.made == "partitioned")
            case "both":
                return both_selections(node)
            case "member" | "values":
                return compared_values(node, claim.made)
            case "common":
                assert isinstance(node.tree, Except | Intersect), "a set operation"
                return node.of(Intersect(node.tree.left, node.tree.right, node.tree.distinct))
        raise RejectedError(f"nothing makes a node of {claim.made!r}")
