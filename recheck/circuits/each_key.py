"""Queries that can be answered for each value of a key alone, whose states are kept for the open ones (K3).

A record of one stream ends a key in every stream that is read. Where all rows that an operator compares, joins or
groups have one value of it, the result is the sum of those for each value, and nothing is kept of one that is over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Aggregate,
    Alias,
    Distinct,
    Except,
    Filter,
    Intersect,
    Join,
    JoinKind,
    Named,
    Over,
    Project,
    Scan,
    SpjBlock,
    Star,
    Tree,
    Union,
    inputs,
)
from streambound.analyzer.algebra.schema import parsed, schema, starred_places
from streambound.analyzer.algebra.schema_columns import meant
from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.query import Attribute, Branch
from streambound.analyzer.relation_queries import is_static
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.distances import ContradictionError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.ended_keys import UNTIL_OVER, key_lines
from streambound.recheck.circuits.evidence import Line
from streambound.recheck.circuits.states import Rule, States
from streambound.recheck.circuits.trees import conjuncts, scalar, with_conditions_moved
from streambound.recheck.circuits.view import NOTHING_KNOWN, View

Places = tuple[frozenset[int], ...]
"""For each attribute of the key the columns that have it, by their places."""


def of_each_key(tree: Tree, rule: Rule, states: States) -> View:
    """The states of a tree for one value of a key, as often as values are open; of its key with the fewest.

    Raises NotRecheckedError or RejectedError where there is none.
    """
    wrong: RejectedError | NotRecheckedError = NotRecheckedError("streams without a key that ends in all of them")
    for key in _shared_keys(tree, states.catalog):
        saved = states.saved()
        try:
            _lines_of(tree, key, rule, states)
            return NOTHING_KNOWN
        except (RejectedError, NotRecheckedError) as error:
            states.restore(saved)
            wrong = error
    raise wrong


def with_several_values(keys: Sequence[Named], tree: Tree, states: States) -> tuple[Named, ...]:
    """Expressions over a tree's rows but for those of which there is one value: columns that have the one key."""
    if states.one_key is None:
        return tuple(keys)
    carried, given = _KeyPlaces(states, len(states.one_key.attributes)), schema(tree, states.catalog)
    try:
        places = frozenset[int]().union(*carried.places(tree))
    except NotRecheckedError:
        return tuple(keys)
    nodes = [parsed(key.value) for key in keys]
    one = [isinstance(node, exp.Column) and meant(node, given) in places for node in nodes]
    return tuple(key for key, known in zip(keys, one, strict=True) if not known)


def _shared_keys(tree: Tree, catalog: Catalog) -> list[StreamKey]:
    """The keys that end in every stream of a tree, and of which so many are open; those with the fewest first."""
    tables = [table for name in _scanned(tree) if (table := catalog.table(name)) is not None and not table.is_fixed]
    names = [{key.name for key in table.ending} for table in tables]
    shared = set.intersection(*names) if names else set()
    keys = {key.name: key for table in tables for key in table.ending if key.name in shared}
    return sorted((key for key in keys.values() if key.max_open is not None), key=lambda key: key.max_open or 0)


def _scanned(tree: Tree) -> Iterator[str]:
    if isinstance(tree, Scan):
        yield tree.table
    for below in inputs(tree):
        yield from _scanned(below)


def _lines_of(tree: Tree, key: StreamKey, rule: Rule, states: States) -> None:
    """The lines of the keys themselves, and those of one key, multiplied."""

    def one(table: DeclaredTable) -> DeclaredTable:
        mine = next((other for other in table.ending if other.name == key.name), None)
        return replace(table, one_key=mine, ending=(), punctuations=())

    catalog = replace(states.catalog, tables=tuple(map(one, states.catalog.tables)))
    of_one = replace(states, catalog=catalog, blocks=replace(states.blocks, catalog=catalog), one_key=key)
    _KeyPlaces(of_one, len(key.attributes)).places(tree)
    lines, relations = len(states.evidence.lines), dict(states.relations)
    rule(tree, of_one)
    if of_one.relations != relations:
        raise NotRecheckedError("relations that change beside keys that end")
    found = states.evidence.lines[lines:]
    del states.evidence.lines[lines:]
    key_lines(key.stream, states)
    most = Quantity.number(key.max_open or 0)
    states.evidence.lines += [(name, _until_over(line, most)) for name, line in found]


def _until_over(line: Line, most: Quantity) -> Line:
    """What is kept of all open keys; raises NotRecheckedError where it goes by time."""
    if line.lifetime.endswith("has closed"):
        raise NotRecheckedError("windows of time beside keys that end")
    freed = UNTIL_OVER if line.lifetime.startswith("never") else f"{UNTIL_OVER}, or {line.lifetime}"
    return Line("K3", line.keys, most * line.entries, freed)


@dataclass(frozen=True, slots=True)
class _KeyPlaces:
    """Which columns of operators have a key of so many attributes; the ``states`` are those of one value of it."""

    states: States
    width: int

    def places(self, tree: Tree) -> Places:
        """Those of a tree; raises NotRecheckedError where it brings rows of different values of the key together."""
        if is_static(tree, self.states.catalog):
            raise NotRecheckedError("rows without a key beside keys that end")
        if is_block(tree, self.states.catalog):
            distinct = isinstance(tree, Distinct) or (isinstance(tree, Union) and tree.distinct)
            found = self._of_block(tree, distinct)
            return _known(found) if distinct else found
        match tree:
            case Alias(input) | SpjBlock(input):
                return self.places(input)
            case Filter(input, condition):
                return self.places(with_conditions_moved(input, condition, self.states.catalog)[0])
            case Distinct(input):
                return _known(self.places(input))
            case Project(input, items):
                return self._projected(input, [*items])
            case Union(left, right, distinct):
                found = _common([self.places(left), self.places(right)])
                return _known(found) if distinct else found
            case Except(left, right) | Intersect(left, right):
                return _known(_common([self.places(left), self.places(right)]))
            case Aggregate(input, keys):
                return _known(self._moved(input, [parsed(key.value) for key in keys]))
            case Over(input, calls):
                for call in calls:
                    _known(self._moved(input, [parsed(one) for one in call.partition]))
                return self.places(input)
            case Join():
                return self._joined(tree)
        raise NotRecheckedError(f"{type(tree).__name__} operators of keys that end")

    def _projected(self, below: Tree, items: Sequence[Named | Star]) -> Places:
        given, nodes = schema(below, self.states.catalog), list[exp.Expr]()
        for item in items:
            if isinstance(item, Star):
                every = (given[place] for place in starred_places(item, given))
                nodes += [exp.column(one.name, table=one.alias or None, quoted=True) for one in every]
            else:
                nodes.append(parsed(item.value))
        return self._moved(below, nodes)

    def _moved(self, below: Tree, nodes: Sequence[exp.Expr]) -> Places:
        """Which of some expressions over a tree's columns have the key: those that are such a column."""
        found, given = self.places(below), schema(below, self.states.catalog)
        columns = [meant(node, given) if isinstance(node, exp.Column) else None for node in nodes]
        return tuple(frozenset(n for n, place in enumerate(columns) if place in one) for one in found)

    def _joined(self, tree: Join) -> Places:
        """A join in which rows of one value of the key meet: some equality of both sides is of each attribute of it."""
        if tree.kind is JoinKind.NOT_IN or tree.using:
            raise NotRecheckedError("keys that end in NOT IN, or in columns that USING joins")
        catalog = self.states.catalog
        left, right = schema(tree.left, catalog), schema(tree.right, catalog)
        mine = self.places(tree.left)
        shown = tuple(frozenset(n + len(left) for n in one) for one in mine)
        if is_static(tree.right, catalog) and tree.kind in (*ONE_SIDED, JoinKind.INNER, JoinKind.LEFT):
            return mine
        theirs = self.places(tree.right)
        equal = set[tuple[int | None, int | None]]()
        for part in conjuncts(tree.condition):
            if isinstance(part, exp.EQ) and isinstance(part.left, exp.Column) and isinstance(part.right, exp.Column):
                for one, other in ((part.left, part.right), (part.right, part.left)):
                    equal.add((meant(one, left), meant(other, right)))
        for own, others in zip(mine, theirs, strict=True):
            if not any((m, n) in equal for m in own for n in others):
                raise NotRecheckedError("joins of rows of different values of a key that ends")
        shown = tuple(frozenset(n + len(left) for n in one) for one in theirs)
        match tree.kind:
            case JoinKind.INNER:
                return tuple(one | other for one, other in zip(mine, shown, strict=True))
            case JoinKind.RIGHT:
                return shown
            case JoinKind.FULL:
                return tuple(frozenset() for _ in mine)
        return mine

    # --- blocks -----------------------------------------------------------------------------------------------------

    def _of_block(self, tree: Tree, distinct: bool) -> Places:
        given = schema(tree, self.states.catalog)
        nodes = [exp.column(one.name, table=one.alias or None, quoted=True) for one in given]
        if isinstance(tree, Project | Union | Distinct):
            names = tuple(f"c{n}" for n in range(len(given)))
            tree = Alias(tree, "_k", names, syntax=tree.syntax or exp.Null())
            nodes = [exp.column(name, table="_k") for name in names]
        items = [Named(f"c{n}", scalar(node), alias=True) for n, node in enumerate(nodes)]
        branches = derive(self.states.blocks.query(tree, items, distinct=distinct)).split.branches
        every = tuple(frozenset(range(len(given))) for _ in range(self.width))
        return _common([every, *(one for branch in branches if (one := self._of_branch(branch)) is not None)])

    def _of_branch(self, branch: Branch) -> Places | None:
        """None where nothing satisfies the branch."""
        conditions, found = Conditions(branch), list[frozenset[int]]()
        keys = {source.alias: source.one_key for source in branch.sources if source.alias in conditions.streams}
        for number in range(self.width):
            mine = [Attribute(alias, key.attributes[number]) for alias, key in keys.items() if key is not None]
            try:
                alike = all(conditions.equal(mine[0], other) == 0 for other in mine[1:])
            except ContradictionError:
                return None
            if len(mine) < len(keys) or not mine or not alike:
                raise NotRecheckedError("blocks of rows of different values of a key that ends")
            found.append(frozenset(n for n, output in enumerate(branch.outputs) if output.value in mine))
        return tuple(found)


def _known(places: Places) -> Places:
    """Those of an operator that brings rows together, which have the whole key; raises NotRecheckedError elsewhere."""
    if not all(places):
        raise NotRecheckedError("groups of rows of different values of a key that ends")
    return places


def _common(several: Sequence[Places]) -> Places:
    return tuple(frozenset.intersection(*ones) for ones in zip(*several, strict=True))
