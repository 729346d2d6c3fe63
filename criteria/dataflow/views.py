"""The view of each operator of a tree: its rows' sources, keys and number, beside the facts of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from itertools import product as product_of
from typing import TypeGuard

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.facts import FactsOfTree
from streambound.analyzer.algebra.recent_rows import recent_rows
from streambound.analyzer.algebra.rules.operator_input import called
from streambound.analyzer.algebra.schema import schema, starred_places
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.sources import apart, sources_of
from streambound.analyzer.algebra.syntax import conjuncts, scalar_of_column
from streambound.analyzer.algebra.view_facts import NOW, ColumnFacts, TimePromise, ViewFacts, ViewKind, promises
from streambound.analyzer.algebra.window_functions import never_falls
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.symbols import symbol
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.work import by_identity
from streambound.criteria.dataflow.counting import present, rows_of
from streambound.criteria.dataflow.state import smaller
from streambound.criteria.dataflow.view import (
    BUCKET_ENDS,
    ONLY_ROW,
    BucketEnd,
    OperatorView,
    Places,
    RisingColumn,
    RowSource,
    known_of_part,
    place_of,
)
from streambound.criteria.size import Number, Size, Symbol, product, total

RECURSION, MADE = "recursion ", "made of a recursion"
"""Sources that stand for a column of a recursion, and for what is computed of one."""


_MOST_KEYS = 8
"""Keys of one group that are told of."""
_MOST_PAIRS = 16
"""Pairs of the parts of unions that are joined."""


class Views:
    """The views of a tree's operators, each made once. ``recursive``: of the relation that a `Fixpoint` defines."""

    def __init__(
        self, catalog: Catalog, facts: FactsOfTree | None = None, recursive: OperatorView | None = None
    ) -> None:
        self.catalog = catalog
        self._facts = facts or FactsOfTree(catalog)
        self._recursive = recursive
        self._made: dict[int, tuple[nodes.Tree, OperatorView]] = {}

    def of(self, tree: nodes.Tree) -> OperatorView:
        """The view of an operator."""
        known = self._made.get(id(tree))
        if known is None:
            known = self._made[id(tree)] = tree, self._view(tree)
        return known[1]

    def inside(self, tree: nodes.Fixpoint, known: OperatorView | None = None) -> Views:
        """The views of a recursion's step, by what is known of its rows."""
        return Views(self.catalog, self._facts, known or self.of(tree))

    @property
    def recursive(self) -> Schema:
        """The columns of the relation that a `Fixpoint` around the tree defines."""
        return self._recursive.schema if self._recursive else ()

    def schema(self, tree: nodes.Tree) -> Schema:
        """The columns of an operator's rows."""
        known = self._made.get(id(tree))
        return (
            known[1].schema if known else schema(tree, self.catalog, self._recursive.schema if self._recursive else ())
        )

    def pairs(self, tree: nodes.Join) -> OperatorView:
        """The view of a join's pairs."""
        return self.of(pairs_of(tree))

    def _view(self, tree: nodes.Tree) -> OperatorView:
        columns = self.schema(tree)
        found = self._facts_of(tree)
        padded = (*found.columns, *(ColumnFacts() for _ in columns))[: len(columns)]
        if isinstance(tree, nodes.Aggregate) and is_session(tree.input):
            padded = ends_of_sessions(padded, tree.input, self.of(tree.input.input))
        names = [called(column) for column in columns]
        keys = tuple(
            frozenset(map(names.index, key)) for key in found.keys if all(names.count(name) == 1 for name in key)
        )
        made = self._made_of(tree, columns)
        same = _same_in_all(padded) if isinstance(tree, nodes.Filter) else frozenset()
        every_key = tuple(dict.fromkeys(key - same for key in (*made.keys, *keys)))
        made = replace(made, columns=padded, change=found.change, keys=every_key)
        if isinstance(tree, nodes.Join) and tree.kind is nodes.JoinKind.INNER:
            made = replace(made, near=(*made.near, *_beside(made)))
        made = replace(made, parts=tuple(_of_whole(part, padded) for part in self._parts(tree, made)))
        made = replace(made, rising=self._rising(tree, made))
        if found.rows == 0:
            return replace(made, rows=Number(0))
        if isinstance(tree, nodes.Scan) and tree.changes and made.rows is None and made.keys:
            rows = present(made, made.keys[0])  # as many as its key has values
            return replace(made, rows=rows, sources={n: replace(one, rows=rows) for n, one in made.sources.items()})
        if isinstance(tree, nodes.Fixpoint):
            return replace(made, rows=self._recursive_rows(tree, made))
        once = isinstance(tree, nodes.Aggregate | nodes.Distinct) or (isinstance(tree, nodes.Union) and tree.distinct)
        if isinstance(tree, nodes.Aggregate) and made.rows is None:  # at most as many groups as rows
            given = self.of(tree.input)
            made = replace(made, rows=present(given, given.every))
        return replace(made, rows=present(made, made.every)) if once else made

    def _facts_of(self, tree: nodes.Tree) -> ViewFacts:
        recursive = self._recursive
        if recursive is None:
            return self._facts.of(tree)
        known = ViewFacts(recursive.change, columns=recursive.columns)
        return self._facts.of(tree, known, recursive.schema)

    def _rising(self, tree: nodes.Tree, made: OperatorView) -> tuple[RisingColumn, ...]:
        """The columns that never fall: running counts, and these where rows are given on at once."""
        match tree:
            case nodes.Filter(input) | nodes.Alias(input):
                return self.of(input).rising
            case nodes.Project() if made.below is not None:
                given, shown = made.below
                return tuple(
                    replace(one, place=shown[one.place], within=frozenset(shown[place] for place in one.within))
                    for one in given.rising
                    if one.place in shown and one.within <= shown.keys()
                )
            case nodes.Over(input, calls) if made.change <= ViewKind.APPEND_ONLY:
                given = self.of(input)
                found = (_rising(call, n, given) for n, call in enumerate(calls, len(given.schema)))
                return (*given.rising, *(one for one in found if one is not None))
        return ()

    def _parts(self, tree: nodes.Tree, made: OperatorView) -> list[OperatorView]:
        """The parts of a union, or the same operator over each part of its input: their rows together are all rows.

        Of what is computed of several rows, which may be of several parts, the whole's facts hold.
        """
        match tree:
            case nodes.Union(left, right):
                if len(self.schema(left)) != len(self.schema(right)):
                    return []
                return [self._side(part, made) for one in map(self.of, (left, right)) for part in one.parts or (one,)]
            case (
                nodes.Filter() | nodes.Alias() | nodes.Project() | nodes.SpjBlock() | nodes.Distinct() | nodes.Bucket()
            ):
                computed = len(made.schema)
            case nodes.Over(input) | nodes.Apply(input):
                computed = len(self.schema(input))
            case nodes.Aggregate(keys=keys) if keys and not is_session(tree.input):  # sessions are of rows of any part
                computed = len(keys)
            case nodes.Join(kind):
                return self._pairs_of_parts(tree) if kind is not nodes.JoinKind.FULL else []
            case _:
                return []
        parts = [self.of(replace(tree, input=part)) for part in _trees(self.of(tree.input))]
        return [replace(one, columns=(*one.columns[:computed], *made.columns[computed:])) for one in parts]

    def _side(self, side: OperatorView, union: OperatorView) -> OperatorView:
        """A side of a union, with the names and types of its columns."""
        named = _named_as(side, union.schema)
        found = side if named is None else self.of(named)
        columns = (
            own if mine.type == theirs.type and own != ColumnFacts() else whole
            for own, whole, mine, theirs in zip(found.columns, union.columns, found.schema, union.schema, strict=True)
        )
        return replace(found, columns=tuple(columns))

    def _pairs_of_parts(self, tree: nodes.Join) -> list[OperatorView]:
        left, right = self.of(tree.left), self.of(tree.right)
        mine = _trees(left) if tree.kind is not nodes.JoinKind.RIGHT else []
        theirs = _trees(right) if tree.kind in (nodes.JoinKind.INNER, nodes.JoinKind.RIGHT) else []
        if not (mine or theirs) or len(mine or [1]) * len(theirs or [1]) > _MOST_PAIRS:
            return []
        pairs = product_of(mine or [tree.left], theirs or [tree.right])
        return [self.of(replace(tree, left=one, right=other)) for one, other in pairs]

    def _recursive_rows(self, tree: nodes.Fixpoint, made: OperatorView) -> Size | None:
        """The rows of a recursion: combinations of its columns' values, which may be those of relations' rows (F4)."""
        base, step = self.of(tree.base), self.inside(tree, made).of(tree.step)
        sizes = [values_of(place, base, step, made) for place in range(len(made.schema))]
        known = [size for size in sizes if size is not None]
        return product([Number(1), *known]) if len(known) == len(sizes) else None

    def _made_of(self, tree: nodes.Tree, columns: Schema) -> OperatorView:
        """Rows, sources and origins of an operator's rows; its other facts are those of its first input."""
        match tree:
            case nodes.Scan(table=name, alias=alias):
                return self._scan(tree, columns, name, alias)
            case nodes.Recur():
                return self._recur(tree, columns)
            case nodes.Fixpoint():
                return self._alone(tree, columns, "recursion", RowSource())
            case nodes.Alias(input, alias):
                return _renamed(self.of(input), tree, columns, alias)
            case nodes.Project(input):
                return self._project(tree, self.of(input), columns)
            case nodes.Filter(input, condition):
                return _by_equalities(replace(self.of(input), tree=tree, schema=columns), condition)
            case nodes.OrderBy(input) | nodes.SpjBlock(input) | nodes.Distinct(input):
                return replace(self.of(input), tree=tree, schema=columns)
            case nodes.FirstRows(input, count):
                given = self.of(input)
                known = count.text if count else ""
                return replace(given, tree=tree, below=None, rows=Number(int(known)) if known.isdigit() else given.rows)
            case nodes.AsOf(input):
                return self._version(tree, self.of(input), columns)
            case nodes.Over(input, calls):
                given = self.of(input)
                keys = (*given.keys, *_numbered(calls, given))
                return replace(_with_computed(given, tree, columns), keys=keys)
            case nodes.Apply(input):
                return _with_computed(self.of(input), tree, columns)
            case nodes.Bucket():
                return self._bucket(tree, self.of(tree.input), columns)
            case nodes.Aggregate():
                return self._aggregate(tree, self.of(tree.input), columns)
            case nodes.Join():
                return self._join(tree, self.of(tree.left), self.of(tree.right), columns)
            case nodes.Union(left, right, distinct):
                sides = self.of(left), self.of(right)
                found = self._alone(tree, columns, "union", RowSource(rows=_sum(sides[0].rows, sides[1].rows)))
                whole = (found.every,) if distinct else ()
                return replace(found, keys=whole)
            case nodes.Except(left) | nodes.Intersect(left):
                given = self.of(left)
                return replace(given, tree=tree, schema=columns, below=None)

    def _alone(self, tree: nodes.Tree, columns: Schema, name: str, source: RowSource) -> OperatorView:
        """Rows that are made of one row each of one source."""
        origins = tuple(frozenset((name,)) for _ in columns)
        return OperatorView(tree, columns, (), ViewKind.CHANGING, (), source.rows, {name: source}, origins)

    def _recur(self, tree: nodes.Tree, columns: Schema) -> OperatorView:
        """The rows of the recursion around it: each column is of a source of its own, which says where it is from."""
        sources = {f"{RECURSION}{place}": RowSource() for place in range(len(columns))}
        rows = None if self._recursive is None else self._recursive.rows
        origins = tuple(frozenset((name,)) for name in sources)
        return OperatorView(tree, columns, (), ViewKind.CHANGING, (), rows, sources, origins)

    def _scan(self, tree: nodes.Tree, columns: Schema, name: str, alias: str) -> OperatorView:
        table = self.catalog.table(name)
        if table is None or table.kind is Kind.STREAM:
            found = self._alone(tree, columns, alias, RowSource(table))
            if table is not None and table.one_key is not None:
                return _of_one_key(found, table, alias, table.one_key)
            return found if table is None else _keyed(found, table)
        if table.changes is not None:
            return self._alone(
                tree, columns, alias, RowSource(table, None if table.rows is None else Number(table.rows))
            )
        source = RowSource(table, Symbol(symbol("rows", table.name), table.rows))
        return _keyed(self._alone(tree, columns, alias, source), table)

    def _project(self, tree: nodes.Project, given: OperatorView, columns: Schema) -> OperatorView:
        origins, places = list[frozenset[str]](), list[int | None]()
        for item in tree.items:
            if isinstance(item, nodes.Star):
                places += starred_places(item, given.schema)
                origins += [given.origins[place] for place in starred_places(item, given.schema)]
                continue
            origin, plain = _origin(given, given.read_by(item.value)), place_of(item.value.syntax, given)
            if plain is None and any(RECURSION in name for name in origin):
                origin |= {MADE}
            places.append(plain)
            origins.append(origin)
        shown = {place: places.index(place) for place in places if place is not None}
        keys = tuple(frozenset(shown[place] for place in key) for key in given.keys if key <= shown.keys())
        near = tuple((n, one) for place, one in given.near for n, of in enumerate(places) if of == place)
        classes = [*given.equal, *({place} for place in shown if not any(place in one for one in given.equal))]
        equal = (frozenset(n for n, of in enumerate(places) if of in one) for one in classes)
        return replace(
            given,
            tree=tree,
            schema=columns,
            origins=tuple(origins),
            keys=keys,
            near=near,
            below=(given, shown),
            equal=tuple(one for one in equal if len(one) > 1),
        )

    def _version(self, tree: nodes.AsOf, given: OperatorView, columns: Schema) -> OperatorView:
        """Of a relation as of another row's time: what that row joined once is not there any more."""
        most = None if given.rows is None else given.rows.value
        sources = {
            name: RowSource(one.table, fan=most or 1, version=most is not None) for name, one in given.sources.items()
        }
        return replace(given, tree=tree, schema=columns, sources=sources, below=None)

    def _bucket(self, tree: nodes.Bucket, given: OperatorView, columns: Schema) -> OperatorView:
        time = _origin(given, given.read_by(tree.time, *tree.keys))
        if tree.kind is nodes.BucketKind.SESSION:
            ends = tuple(time for _ in columns[len(given.schema) :])
            return replace(given, tree=tree, schema=columns, origins=(*given.origins, *ends), below=None)
        most, name = -(-tree.size // tree.slide) if tree.slide else 1, f"bucket {len(given.sources)}"
        ends = tuple(frozenset((name,)) for _ in columns[len(given.schema) :])
        sources = {**given.sources, name: RowSource(by=time, fan=most, every=tree.slide or tree.size)}
        rows = None if given.rows is None else product([given.rows, Number(most)])
        origins, start = (*given.origins, *ends), frozenset((len(given.schema),)) if most > 1 else frozenset[int]()
        keys = tuple(key | start for key in given.keys)
        return replace(
            given, tree=tree, schema=columns, sources=sources, keys=keys, rows=rows, origins=origins, below=None
        )

    def _aggregate(self, tree: nodes.Aggregate, given: OperatorView, columns: Schema) -> OperatorView:
        """Groups, each made of one of its rows."""
        if not tree.keys:
            none = tuple(frozenset[str]() for _ in columns)
            return OperatorView(tree, columns, (), given.change, (frozenset(),), Number(1), {}, none)
        keys = tuple(_origin(given, given.read_by(key.value)) for key in tree.keys)
        calls = tuple(frozenset(given.sources) for _ in tree.calls)
        return replace(
            given,
            tree=tree,
            schema=columns,
            origins=(*keys, *calls),
            keys=_group_keys([self.bucket_end(tree, place) for place in range(len(tree.keys))]),
            near=(),
            below=None,
            equal=(),
        )

    def right_of_pairs(self, tree: nodes.Join) -> OperatorView:
        """The right side of a join, whose sources are called as in its pairs."""
        right = self.of(tree.right)
        names = _names_in_pairs(tree, self.of(tree.left), right)
        if all(old == new for old, new in names.items()):
            return right
        sources = {names[name]: _by(one, names) for name, one in right.sources.items()}
        origins = tuple(frozenset(names[name] for name in one) for one in right.origins)
        near = tuple((place, replace(one, source=names[one.source])) for place, one in right.near)
        return replace(right, sources=sources, origins=origins, near=near, parts=(), below=None)

    def bucket_end(self, tree: nodes.Tree, place: int) -> BucketEnd | None:
        """The end of a row's bucket that a column is, as it is; None for another column."""
        match tree:
            case nodes.Bucket(input):
                width = len(self.of(input).schema)
                return self.bucket_end(input, place) if place < width else BucketEnd(tree, BUCKET_ENDS[place - width])
            case nodes.Filter(input) | nodes.Alias(input) | nodes.SpjBlock(input) | nodes.Distinct(input):
                return self.bucket_end(input, place)
            case nodes.Aggregate(input, keys):
                plain = place_of(keys[place].value.syntax, self.of(input)) if place < len(keys) else None
                return None if plain is None else self.bucket_end(input, plain)
            case nodes.Project(input, items) if all(isinstance(item, nodes.Named) for item in items):
                item = items[place]
                plain = place_of(item.value.syntax, self.of(input)) if isinstance(item, nodes.Named) else None
                return None if plain is None else self.bucket_end(input, plain)
            case nodes.Join(left=left, right=right, using=()):
                width = len(self.of(left).schema)
                side = (left, place) if place < width else (right, place - width)
                found = self.bucket_end(*side)
                return None if found is None else replace(found, left=(place < width, *found.left))
        return None

    def _join(self, tree: nodes.Join, left: OperatorView, right: OperatorView, columns: Schema) -> OperatorView:
        if tree.kind in nodes.ONE_SIDED:
            recent = recent_rows(tree, self.catalog)
            most = None if recent is None else recent.timestamps
            rows = left.rows if recent is None or most is None else rows_of(recent.stream, most)
            return replace(left, tree=tree, schema=columns, rows=rows, below=None)
        mine, theirs = dict(left.sources), dict(right.sources)
        if tree.kind in (nodes.JoinKind.RIGHT, nodes.JoinKind.FULL):
            mine = {name: replace(one, missing=True) for name, one in mine.items()}
        if tree.kind in (nodes.JoinKind.LEFT, nodes.JoinKind.FULL):
            theirs = {name: replace(one, missing=True) for name, one in theirs.items()}
        renamed = _names_in_pairs(tree, left, right)
        theirs = {name: _by(one, renamed) for name, one in theirs.items()}
        if tree.kind in (nodes.JoinKind.INNER, nodes.JoinKind.LEFT):  # a version's rows are of the row beside them
            theirs = {n: replace(one, by=frozenset(mine)) if one.version else one for n, one in theirs.items()}
        origins = [*left.origins, *(frozenset(renamed[name] for name in one) for one in right.origins)]
        theirs = {renamed[name]: one for name, one in theirs.items()}
        width = len(left.schema)
        if tree.kind in (nodes.JoinKind.RIGHT, nodes.JoinKind.FULL):
            mine, origins[:width] = _with_missing("left", mine, origins[:width], theirs)
        if tree.kind in (nodes.JoinKind.LEFT, nodes.JoinKind.FULL):
            theirs, origins[width:] = _with_missing("right", theirs, origins[width:], mine)
        sources = {**mine, **theirs}
        if tree.using:
            origins = [frozenset(sources) for _ in columns]
        pairs = None if left.rows is None or right.rows is None else product([left.rows, right.rows])
        kept = {
            nodes.JoinKind.LEFT: [left.rows],
            nodes.JoinKind.RIGHT: [right.rows],
            nodes.JoinKind.FULL: [left.rows, right.rows],
        }
        rows = _sum(pairs, *kept.get(tree.kind, []))
        keys: tuple[Places, ...] = ()
        alone = self._partners(tree, left, right)
        if alone[0] and tree.kind in (nodes.JoinKind.INNER, nodes.JoinKind.LEFT):
            said = {name: frozenset(mine) for name in theirs}
            rows, keys = left.rows, left.keys
        elif alone[1] and tree.kind in (nodes.JoinKind.INNER, nodes.JoinKind.RIGHT):
            said = {name: frozenset(theirs) for name in mine}
            rows, keys = right.rows, tuple(frozenset(place + width for place in key) for key in right.keys)
        else:
            said = {}
        sources = {n: replace(one, by=said[n], fan=1) if n in said else one for n, one in sources.items()}
        found = OperatorView(tree, columns, (), left.change, () if tree.using else keys, rows, sources, tuple(origins))
        if tree.using:
            return found
        equal = (*left.equal, *(frozenset(width + place for place in one) for one in right.equal))
        found = replace(found, near=self._near(tree, left, right, renamed), equal=equal)
        return _by_equalities(found, tree.condition) if tree.kind is nodes.JoinKind.INNER else found

    def _near(
        self, tree: nodes.Join, left: OperatorView, right: OperatorView, renamed: Mapping[str, str]
    ) -> tuple[tuple[int, TimePromise], ...]:
        """The promises of pairs about sources that may be missing, which hold where such a row is part of a pair."""
        width, theirs = len(left.schema), frozenset(renamed.values())
        found = [*left.near, *((place + width, replace(one, source=renamed[one.source])) for place, one in right.near)]
        if tree.kind in (nodes.JoinKind.LEFT, nodes.JoinKind.RIGHT, nodes.JoinKind.FULL):
            pair = self.of(replace(tree, kind=nodes.JoinKind.INNER))
            times = [(place, one) for place, column in enumerate(pair.columns) for one in column.times]
            found += [
                (place, one)
                for place, one in (*times, *pair.near)
                if one.source != NOW and in_pairs_only(tree.kind, one.source in theirs, place >= width)
            ]
        return tuple(found)

    def _partners(self, tree: nodes.Join, left: OperatorView, right: OperatorView) -> tuple[bool, bool]:
        """Whether a left row has at most one partner, and a right row: the condition gives it all of a key.

        That is so of a column that has one value in all pairs, too.
        """
        pairs = [(one.left, one.right) for one in equalities(tree.condition)]
        pairs += [(right, left) for left, right in pairs]
        found = [(left.read_by(one), right.read_by(other)) for one, other in pairs]
        equal = [
            (mine, theirs)
            for mine, theirs in found
            if all(_one_to_one(left.schema[p].type, right.schema[q].type) for p in mine for q in theirs)
        ]
        theirs = frozenset(place for mine, other in equal if mine and len(other) == 1 for place in other)
        mine = frozenset(place for own, other in equal if other and len(own) == 1 for place in own)
        keyed = (left.keys or right.keys) and not tree.using
        same = _same_in_all(self._facts_of(pairs_of(tree)).columns) if keyed else frozenset[int]()
        mine, theirs = mine | same, theirs | {place - len(left.schema) for place in same}
        return any(key <= theirs for key in right.keys), any(key <= mine for key in left.keys)


def _same_in_all(columns: Sequence[ColumnFacts]) -> Places:
    """The columns that have one value in all rows."""
    return frozenset(place for place, one in enumerate(columns) if one.values.size == 1)


def _with_missing(
    side: str, sources: Mapping[str, RowSource], origins: Sequence[frozenset[str]], others: Mapping[str, RowSource]
) -> tuple[dict[str, RowSource], list[frozenset[str]]]:
    """A side of which a row may be missing: what is the same in all its rows says whether there is one, too.

    The only row of an aggregate without keys is a source of its own then.
    """
    found = dict(sources)
    if not all(origins) and not found:
        found[f"{ONLY_ROW}{side} {len(others)}"] = RowSource(rows=Number(1), missing=True)
    return found, [one or frozenset(found) for one in origins]


def _rising(call: nodes.WindowCall, place: int, given: OperatorView) -> RisingColumn | None:
    """The column of a function over a window, if it never falls as rows come."""
    within = [place_of(one.syntax, given) for one in call.partition]
    order = place_of(call.order[0].value.syntax, given) if call.order else None
    if order is None or not given.columns[order].newest or given.columns[order].values.null:
        return None
    summed = list[int]()

    def least(column: exp.Expr) -> int | Fraction | None:
        found = place_of(column, given)
        summed.extend([] if found is None else [found])
        return None if found is None else given.columns[found].values.ends[0]

    if not never_falls(call, least) or None in within:
        return None
    return RisingColumn(place, frozenset(one for one in within if one is not None), given.tree, order, tuple(summed))


@by_identity
def pairs_of(tree: nodes.Tree) -> nodes.Join:
    """The pairs of a join."""
    assert isinstance(tree, nodes.Join), "pairs are of a join"
    return replace(tree, kind=nodes.JoinKind.INNER, member=None)


@by_identity
def statement_views(catalog: Catalog) -> Views:
    """The views of a statement, shared by passes, alternatives and the judge."""
    return Views(catalog)


def in_pairs_only(kind: nodes.JoinKind, of_right: bool, in_right: bool) -> bool:
    """Whether a row of an outer join that has a column, and a row of a source of one of its sides, is a pair."""
    if kind is nodes.JoinKind.FULL:
        return of_right is not in_right
    return of_right is (kind is nodes.JoinKind.LEFT)


def _beside(pairs: OperatorView) -> Iterator[tuple[int, TimePromise]]:
    """The promises of columns about sources that may be missing, by their distance from columns near these."""
    known = {(place, one.source) for place, one in pairs.near}
    there = {name for name, one in pairs.sources.items() if not one.missing}
    for place, one in pairs.near:
        if pairs.columns[place].values.null:
            continue
        near = {time.source: time for time in pairs.columns[place].times if time.source in there and not time.function}
        for other, column in enumerate(pairs.columns):
            times = [(time, near[time.source]) for time in column.times if time.source in near and not time.function]
            if one.function or (other, one.source) in known:
                continue
            highs = [mine.high - its.low for mine, its in times if mine.high is not None and its.low is not None]
            if highs and one.high is not None:
                yield other, replace(one, low=None, high=min(highs) + one.high)


def _keyed(scanned: OperatorView, table: DeclaredTable) -> OperatorView:
    """The rows of a table with the keys that come once."""
    keys = (frozenset(p for p, c in enumerate(scanned.schema) if c.name in names) for names in table.keys)
    return replace(scanned, keys=tuple(keys))


def _of_one_key(given: OperatorView, table: DeclaredTable, alias: str, key: StreamKey) -> OperatorView:
    """The rows of a stream of which there is one key: its columns are made of that, which is one row of its own."""
    rows = Number(1) if key.once else None
    sources = {alias: RowSource(table, rows), f"key of {alias}": RowSource(rows=Number(1))}
    origins = tuple(
        frozenset((f"key of {alias}",)) if column.name in key.attributes else origin
        for column, origin in zip(given.schema, given.origins, strict=True)
    )
    return replace(given, rows=rows, sources=sources, origins=origins)


def _names_in_pairs(tree: nodes.Join, left: OperatorView, right: OperatorView) -> dict[str, str]:
    """The names of the right side's sources beside the left side's, as in the facts."""
    known = apart(sources_of(tree.left), sources_of(tree.right))
    rest = [name for name in right.sources if name not in known]
    return known | apart({*left.sources, *sources_of(tree.left), *known.values()}, rest)


def _one_to_one(kind: DataType | None, other: DataType | None) -> bool:
    """Whether a value of one type equals one of the other type at most: the texts 1 and 01 both equal the number 1."""
    whole = kind is not None and other is not None and kind.family is other.family is Family.INTEGER
    return whole or (kind is not None and kind == other)


def _by_equalities(view: OperatorView, condition: nodes.Scalar | None) -> OperatorView:
    """The same where rows of sources of which there is a number say columns that equal theirs."""
    origins, equal = list(view.origins), view.equal
    for one in equalities(condition):
        x, y = place_of(one.left, view), place_of(one.right, view)
        if x is None or y is None or view.schema[x].type != view.schema[y].type:
            continue
        same = [places for places in equal if places & {x, y}]
        equal = (*(places for places in equal if places not in same), frozenset((x, y)).union(*same))
        for mine, other in ((x, y), (y, x)):
            if _has_number(view, origins[other]) and not _has_number(view, origins[mine]):
                origins[mine] = origins[other]
    return replace(view, origins=tuple(origins), equal=equal)


def _has_number(view: OperatorView, names: Iterable[str]) -> bool:
    return all(view.sources[name].rows is not None for name in names)


def _group_keys(ends: Sequence[BucketEnd | None]) -> tuple[Places, ...]:
    """The columns that tell groups apart: of the ends of one bucket of time, which say each other, one."""
    places: dict[object, list[int]] = {}
    for place, end in enumerate(ends):
        places.setdefault(place if end is None else (id(end.bucket), end.left), []).append(place)
    return tuple(frozenset(chosen) for chosen in islice(product_of(*places.values()), _MOST_KEYS))


def values_of(place: int, base: OperatorView, step: OperatorView, made: OperatorView) -> Size | None:
    """How many values a column of a recursion has: those of its domain, or of relations' rows that come into it."""
    size = made.columns[place].values.size
    found, seen, todo = dict[object, Size](), set[int](), [place]
    parts = [part for whole in (base, step) for part in whole.parts or (whole,)]
    while todo:
        here = todo.pop()
        if here in seen:
            continue
        seen.add(here)
        for side, view in enumerate(parts):
            own = [name for name in view.origins[here] if RECURSION in name]
            if own and MADE not in view.origins[here] and len(view.origins[here]) == 1:
                todo.append(int(own[0].rstrip("'").rpartition(RECURSION)[2]))  # a join calls its right side's anew
                continue
            sources = [view.sources.get(name, RowSource()) for name in view.origins[here]]
            rows = [(one.rows, one.missing) for one in sources if one.table is not None and one.rows is not None]
            known, column = view.columns[here].values, view.schema[here].column
            if len(rows) < len(sources) and known.size is None:
                return None if size is None else Number(size)
            tables = tuple(one.table.name for one in sources if one.table)
            if len(rows) == len(sources) == 1 and column is not None:
                found[tables, column] = rows[0][0]
                if rows[0][1]:
                    found[None] = Number(1)  # NULL, of a row without a partner
            elif len(rows) == len(sources):  # a computed one has its own values
                found[side, here] = product([Number(1), *(total([size, Number(int(more))]) for size, more in rows)])
            else:  # two uses of a column may have different values of it
                found[tables, column or (side, here), known] = Number(known.size or 0)
    values = total(found.values()) if found else Number(1)
    return values if size is None or smaller(values, Number(size)) else Number(size)


def equalities(condition: nodes.Scalar | exp.Expr | None) -> list[exp.EQ]:
    """The equations of two columns in a conjunction."""
    return [
        one
        for one in conjuncts(condition)
        if isinstance(one, exp.EQ) and isinstance(one.left, exp.Column) and isinstance(one.right, exp.Column)
    ]


def _origin(given: OperatorView, places: Iterable[int]) -> frozenset[str]:
    return frozenset[str]().union(*(given.origins[place] for place in places))


def _numbered(calls: Sequence[nodes.WindowCall], given: OperatorView) -> Iterator[Places]:
    """The keys that ROW_NUMBER makes of a partition's columns: no two rows of one have the same number."""
    for number, call in enumerate(calls, len(given.schema)):
        places = [place_of(one.syntax, given) for one in call.partition]
        if call.function == "ROW_NUMBER" and None not in places:
            yield frozenset((*(place for place in places if place is not None), number))


def _with_computed(given: OperatorView, tree: nodes.Tree, columns: Schema) -> OperatorView:
    """Each row with columns that it says, of all its sources."""
    more = tuple(frozenset(given.sources) for _ in columns[len(given.schema) :])
    return replace(given, tree=tree, schema=columns, origins=(*given.origins, *more), below=None)


def _renamed(given: OperatorView, tree: nodes.Tree, columns: Schema, alias: str) -> OperatorView:
    """The same rows, whose sources are called after a subquery."""
    names = {name: f"{alias}.{name}" for name in given.sources}
    sources = {names[name]: _by(one, names) for name, one in given.sources.items()}
    origins = tuple(frozenset(names[name] for name in one) for one in given.origins)
    near = tuple((place, replace(one, source=names[one.source])) for place, one in given.near)
    return replace(given, tree=tree, schema=columns, sources=sources, origins=origins, near=near)


def is_session(tree: nodes.Tree) -> TypeGuard[nodes.Bucket]:
    """Whether a tree's rows are those of sessions."""
    return isinstance(tree, nodes.Bucket) and tree.kind is nodes.BucketKind.SESSION


def ends_of_sessions(
    columns: Sequence[ColumnFacts],
    bucket: nodes.Bucket,
    given: OperatorView,
    lengths: Mapping[str, SessionLength] | None = None,
) -> tuple[ColumnFacts, ...]:
    """The columns of sessions, each made of its last row: those by which it closes are ``size`` after that row's time.

    What such a column promises of `NOW` says how far it is from the session's end. With ``lengths``, as
    `longest_sessions` finds them, sessions are made of any of their rows.
    """
    times = [one for place in given.read_by(bucket.time) for one in given.columns[place].times if not one.function]
    first = next((one.low for one in times if one.source == NOW), None)

    def ends(column: ColumnFacts) -> Iterator[TimePromise]:
        for end in column.times:
            for row in times:
                if end.source == NOW != row.source and end.low is not None and first is not None:
                    last = row.moved(bucket.size + end.low - first)
                    if lengths is not None:
                        length = lengths.get(row.source)
                        last = replace(last, high=last.high + length.most if length and last.high is not None else None)
                    yield replace(last, function=end.function, width=end.width)

    return tuple(replace(one, times=promises((*one.times, *ends(one)))) for one in columns)


class SessionLength(Struct, frozen=True):
    """How much later a source's time is at ``most`` in another row of a session: they agree in a key, at a place, that
    is this function of it.
    """

    key: int
    function: str
    most: int


def longest_sessions(keys: Sequence[ColumnFacts]) -> Mapping[str, SessionLength]:
    """How long sessions with some keys are at most, by the time of each source of which a key is a bucket."""
    found = [
        (one.source, SessionLength(place, one.function, one.width - 1 + one.high - one.low))
        for place, key in enumerate(keys)
        for one in key.times
        if not key.values.null and one.source != NOW and one.low is not None and one.high is not None
    ]
    return dict(sorted(found, key=lambda one: -one[1].most))


def _by(source: RowSource, called: Mapping[str, str]) -> RowSource:
    return source if source.by is None else replace(source, by=frozenset(called[name] for name in source.by))


def _of_whole(part: OperatorView, columns: Sequence[ColumnFacts]) -> OperatorView:
    return part.narrowed([known_of_part(own, whole) for own, whole in zip(part.columns, columns, strict=True)])


def _trees(view: OperatorView) -> list[nodes.Tree]:
    """The parts of a view as inputs of an operator above it; none where they have other names."""
    same = all(_names(part.schema) == _names(view.schema) for part in view.parts)
    return [part.tree for part in view.parts] if same else []


def _names(columns: Schema) -> list[str]:
    return [called(column) for column in columns]


def _named_as(side: OperatorView, columns: Schema) -> nodes.Tree | None:
    """A tree with other names for its columns; None if two of these are equal."""
    if _names(side.schema) == _names(columns):
        return side.tree
    aliases = {column.alias for column in columns}
    if len(aliases) > 1 or len({*_names(side.schema)}) < len(columns):
        return None
    items = (nodes.Named(new.name, scalar_of_column(old), True) for old, new in zip(side.schema, columns, strict=True))
    found = nodes.Project(side.tree, tuple(items), syntax=side.tree.syntax)
    return found if aliases == {""} else nodes.Alias(found, aliases.pop(), syntax=side.tree.syntax)


def _sum(*sizes: Size | None) -> Size | None:
    known = [size for size in sizes if size is not None]
    return total(known) if len(known) == len(sizes) else None
