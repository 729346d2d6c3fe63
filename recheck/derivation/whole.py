"""All rows that there are of a node at a time, by those of relations that it is made of; and the rows of a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf

from msgspec import Struct, field

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.nodes import JoinKind
from streambound.analyzer.algebra.recent_rows import asks_for_newest, newest_columns
from streambound.analyzer.algebra.value_sets import ValueSet, of_domain
from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.symbols import symbol
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity, product, total
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.facts import CheckedFacts
from streambound.recheck.derivation.plan import Places, PlanNode, is_session, pairs, traced
from streambound.recheck.derivation.rows import SourceOfRows, Sources, keys, only_partner, sources, ways_to_say

_NO_MORE_ROWS = (
    nodes.Filter, nodes.Alias, nodes.Project, nodes.SpjBlock, nodes.Distinct, nodes.Over, nodes.Apply, nodes.OrderBy,
)  # fmt: skip
"""Operators that have no more rows than their input."""


def with_as_many(node: PlanNode) -> PlanNode | None:
    """The input of which there are as many rows as of the node, or more."""
    match node.tree:
        case tree if isinstance(tree, _NO_MORE_ROWS) or (isinstance(tree, nodes.Aggregate) and tree.keys):
            return node.below
        case nodes.Except() | nodes.Intersect():
            return node.input("left")
        case nodes.Join(kind=kind) if kind in nodes.ONE_SIDED:
            return node.input("left")
    return None


def with_as_many_each(node: PlanNode) -> Iterator[PlanNode]:
    """A node and those below of which there are as many rows as of the node, or more."""
    yield node
    while not asks_for_newest(node.tree) and (below := with_as_many(node)) is not None:
        node = below
        yield node


class WholeRows(Struct):
    """Counts all rows; ``values`` are those of a recursion's columns by place, and ``symbols`` those of formulas.

    Where no relation's rows say a column of its base or its step, ``facts`` do.
    """

    symbols: dict[str, Quantity]
    values: Mapping[int, Quantity] = field(default_factory=dict)
    facts: CheckedFacts | None = None

    def of(self, node: PlanNode) -> Quantity:
        """All rows of a node at a time; raises RejectedError where it may have any number."""
        several = [*with_as_many_each(node)]
        node = several[-1]
        if any(frozenset() in keys(one) for one in several):  # no two rows differ
            return Quantity.number(1)
        if asks_for_newest(node.tree):
            return self.of_recent(node)
        by_keys = (self._by_key(one, key) for one in several for key in keys(one))
        if (known := next((one for one in by_keys if one is not None), None)) is not None:
            return known
        match node.tree:
            case nodes.Scan() if options := self.of_relation(node.table):
                return options[0]
            case nodes.Bucket(size=size, slide=slide) if not is_session(node.tree):
                return self.of(node.below) * Quantity.number(-(-size // slide) if slide else 1)
            case nodes.Union():
                return total(map(self.of, node.inputs.values()))
            case nodes.Join(kind=kind, using=()):
                left, right = map(self.of, node.inputs.values())
                if (only := only_partner(node)) is not None:
                    return left if only == "right" else right
                alone = {JoinKind.LEFT: [left], JoinKind.RIGHT: [right], JoinKind.FULL: [left, right]}
                return total([left * right, *alone.get(kind, [])])
            case nodes.Recur() if node.recursion is not None:
                return self.of(node.recursion)
            case nodes.Fixpoint():
                return product(self._of_recursion(node, place) for place in range(node.width))
        raise RejectedError("all rows of what may have any number")

    def _by_key(self, node: PlanNode, key: Places) -> Quantity | None:
        """A row for each combination of rows of the relations that say a key; None where others say it."""
        said = [self._relations(node, place) for place in key]
        known = {name: one for found in said for name, one in (found or {}).items()}
        return None if None in said else product(self._of_source(one) for one in known.values())

    def _of_source(self, source: SourceOfRows) -> Quantity:
        """The rows of a source that is a relation's, and none of them where it may be missing."""
        return self.of_relation(source.table)[0] + Quantity.number(int(source.missing))

    def of_recent(self, node: PlanNode, kept: bool = False) -> Quantity:
        """G1: the rows of a stream at the timestamps from the newest row's back to the oldest that its time allows.

        Where that is any one, only those that are ``kept`` have a number: until their time is old enough.
        """
        place, most = self._behind(node, kept)
        below = node.input("left")
        while isinstance(below.tree, nodes.Filter | nodes.Alias | nodes.Project) or asks_for_newest(below.tree):
            below = next(iter(below.inputs.values()))
        scan, column = traced(node.input("left"), place)
        table = scan.table
        newest = {(node.catalog.table(name), column) for name, column in newest_columns(node.input("right").tree)}
        are_times = all(one and one.kind is Kind.STREAM and one.timestamp == column for one, column in newest)
        is_time = table is not None and (table, scan.schema[column].name) in newest
        if table is None or not is_time or not are_times or not scan.same(below):
            raise RejectedError("now() beside what is no time of a stream's rows")
        sizes = stream_rows(self.symbols, table, most + 1)
        return min(sizes, key=lambda one: inf if one.most is None else one.most)

    @staticmethod
    def _behind(node: PlanNode, kept: bool) -> tuple[int, int]:
        """The column that is compared with the newest row's time, and how far it is behind at most, while ``kept``."""
        newest, both = node.input("left").width, pairs(node)
        said = [(part, list(atoms.differences(part, both.row))) for part in both.conditions]
        if any(not atoms.is_atom(part, both.row) or len(found) != 1 for part, found in said):
            raise RejectedError("now() beside other conditions")
        known = [found[0] for _, found in said]
        ends = [most for x, _, most in known if x == newest]
        times = {y if x == newest else x for x, y, _ in known}
        if not ends and kept:
            ends = [max(-1 - most for _, y, most in known if y == newest)]
        if len(times) != 1 or not ends or newest in times:
            raise RejectedError("now() beside several columns, or all rows whose times must be older")
        return min(times), max(-1, min(ends))

    def of_relation(self, table: DeclaredTable | None) -> list[Quantity]:
        """The rows of a relation, as declared, or one for each value of its key; none where neither says so."""
        if table is None or table.kind is Kind.STREAM:
            return []
        if table.is_fixed:
            name = symbol("rows", table.name)
            return [self.symbols.setdefault(name, Quantity.symbol(name, table.rows))]
        if table.rows is not None:
            return [Quantity.number(table.rows)]
        names = table.changes.key if table.changes is not None else ()
        columns = [column for name in names if (column := table.column(name)) is not None]
        sizes = [of_domain(column.domain, column.type, null=True).size for column in columns]
        known = [Quantity.number(size) for size in sizes if size is not None]
        return [product(known)] if columns and len(known) == len(columns) else []

    def _of_recursion(self, node: PlanNode, column: int) -> Quantity:
        """F4: the values of a column: those that its facts say, or those of relations' rows that come into it."""
        if column in self.values:
            return self.values[column]
        found, todo, seen = dict[object, Quantity](), [column], set[int]()
        while todo:
            here = todo.pop()
            seen.add(here)
            for number, (side, at) in enumerate(one for input in node.inputs.values() for one in _parts(input, here)):
                below, place = traced(side, at)
                if isinstance(below.tree, nodes.Recur) and below.recursion is not None and below.recursion.same(node):
                    todo += {place} - seen
                    continue
                relations = self._relations(side, at)
                if relations is None:
                    known = self._known(side, at)
                    found[known] = Quantity.number(known.size or 0)
                    continue
                below, place = traced(side, at, missing=True)
                if isinstance(below.tree, nodes.Scan) and len(relations) == 1:
                    (only,) = relations.values()
                    name = str(only.table and only.table.name)
                    found[below.tree.table, place, name] = self.of_relation(only.table)[0]
                    found |= {None: Quantity.number(1)} if only.missing else {}  # NULL, of rows without a partner
                else:  # a computed one has its own values
                    found[number, here] = product(map(self._of_source, relations.values()))
        return total(found.values())

    def _known(self, node: PlanNode, column: int) -> ValueSet:
        """The finite value set that a fact gives to a column of a side; equal ones are the same values."""
        known = [] if self.facts is None else [self.facts.sets[one] for one in self.facts.about(node, column)]
        found = next((one for one in known if one.size is not None), None)
        if found is None:
            raise RejectedError("a column of a recursion with any values")
        return found

    def _relations(self, node: PlanNode, column: int) -> Sources | None:
        """The relations of which rows, of each one, say a column's value; None where others do."""
        mine = sources(node)
        for way in ways_to_say(node, column):
            known = {name: mine[name] for name in sorted(way) if not mine[name].version}
            if len(known) == len(way) and all(self.of_relation(one.table) for one in known.values()):
                return known
        return None


def _parts(node: PlanNode, column: int) -> Iterator[tuple[PlanNode, int]]:
    """The nodes and columns that a column comes from; each side of a union."""
    below, place = traced(node, column)
    if isinstance(below.tree, nodes.Union):
        for side in below.inputs.values():
            yield from _parts(side, place)
    else:
        yield node, column


def stream_rows(symbols: dict[str, Quantity], table: DeclaredTable, timestamps: int) -> list[Quantity]:
    """The rows of consecutive timestamps, by each of the rates that there are."""
    c, rate = symbol("c", table.name), symbol("rate", table.name)
    found = [symbols.setdefault(c, Quantity.symbol(c, table.max_per_timestamp)) * Quantity.number(timestamps)]
    if table.max_rate is not None:
        begun, rest = divmod(timestamps, table.max_rate.per)
        number = Quantity.number(begun + (1 if rest else 0))
        found.append(symbols.setdefault(rate, Quantity.symbol(rate, table.max_rate.rows)) * number)
    return found
