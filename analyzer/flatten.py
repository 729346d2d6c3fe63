"""Flattening: a tree of selections, projections, inner joins and unions becomes a list of flat SELECTs.

A select-project-join block is what is flattened here; the first operator that no block can hold is refused, in the
words of `operators_outside`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import count, product

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.blocks import decided_on_arrival
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.computed_relations import has_to_be_computed
from streambound.analyzer.conditions import ConditionReader
from streambound.analyzer.constants import VOID, Folded
from streambound.analyzer.derived import DerivedColumns
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.operators_outside import aggregate_refused, refused
from streambound.analyzer.query import Op, conjunction
from streambound.analyzer.scopes import Item as ScopeItem
from streambound.analyzer.scopes import Scope, Visible, find_table, table_scope
from streambound.analyzer.terms import LinearTerm, TermReader
from streambound.analyzer.work import spend


class Select(Struct, frozen=True):
    """One flattened SELECT: a scope with its condition, and the named terms of its select list."""

    scope: Scope
    outputs: tuple[tuple[Visible, exp.Expr], ...]


class Flattener(Struct):
    """Flattens one statement. ``distinct``: its result is a set, so inner duplicates do not matter.

    ``owners`` collects the alias that each name without one could be qualified with, by the name's offset;
    ``queries`` has the trees of subqueries in expressions, by the identity of their syntax; ``computed`` collects the
    relations that are computed of others: their SQL by their names in small letters.
    """

    positions: Positions
    catalog: Catalog
    distinct: bool
    findings: list[Finding] = field(default_factory=list)
    wanted: dict[str, tuple[str, str]] = field(default_factory=dict)
    owners: dict[int, str] = field(default_factory=dict)
    derived: DerivedColumns = field(default_factory=DerivedColumns)
    queries: Mapping[int, nodes.Tree] = field(default_factory=dict)
    computed: dict[str, str] = field(default_factory=dict)
    _serial: count[int] = field(default_factory=lambda: count(1))

    def query(self, tree: nodes.Tree, prefix: str = "") -> list[Select]:
        """All flattened SELECTs of a tree; raises Finding at an operator that is outside the query language."""
        match tree:
            case nodes.Distinct(input) if self.distinct:
                return self.query(input, prefix)
            case nodes.Union(left, right, distinct) if self.distinct or not distinct:
                return self.union(tree, self.query(left, prefix), self.query(right, prefix))
            case nodes.Project(
                nodes.Aggregate(input, (), calls), _
            ):  # the list says which aggregate is outside the language
                found = self.select(input, (), prefix)
                self.findings += [aggregate_refused(call, self.positions) for call in calls]
                return found
            case nodes.Project(input, items):
                return self.select(input, items, prefix)
        raise refused(tree, self.positions, self.distinct)

    def union(self, tree: nodes.Union, left: list[Select], right: list[Select]) -> list[Select]:
        """Both sides of a UNION, checked to have the same columns."""
        names = left[0].outputs
        for select in right:
            self.same_columns(names, select, tree)
        return left + [self._renamed(select, names) for select in right]

    def same_columns(self, names: tuple[tuple[Visible, exp.Expr], ...], select: Select, tree: nodes.Union) -> None:
        """Raise a Finding where a branch's columns do not match the first one's in number and type."""
        if len(names) != len(select.outputs):
            if self.findings:  # a side's column that is no column
                raise self.findings[0]
            message = f"this branch has {len(select.outputs)} columns, the first one {len(names)}"
            raise self.positions.finding(Code.UNION_MISMATCH, message, written(tree).expression)
        for (first, _), (second, where) in zip(names, select.outputs, strict=True):
            kinds = first.term.kind, second.term.kind
            if VOID not in kinds and not kinds[0].comparable(kinds[1]) and kinds[0] != kinds[1]:
                message = f"column {first.name!r} is {kinds[0].name} above and {kinds[1].name} here"
                raise self.positions.finding(Code.UNION_MISMATCH, message, where)

    @staticmethod
    def _renamed(select: Select, names: tuple[tuple[Visible, exp.Expr], ...]) -> Select:
        outputs = tuple(
            (replace(mine, name=first.name), node)
            for (first, _), (mine, node) in zip(names, select.outputs, strict=True)
        )
        return replace(select, outputs=outputs)

    def select(self, tree: nodes.Tree, items: tuple[nodes.Item, ...], prefix: str) -> list[Select]:
        """A SELECT, one result per combination of the unions in its FROM."""
        conditions, results = list[nodes.Scalar](), list[Select]()
        while isinstance(tree, nodes.Filter):
            conditions.append(tree.condition)
            tree = tree.input
        for scope in self.scopes(tree, prefix):
            filtered = reduce(self.where, map(written, reversed(conditions)), scope)
            outputs = tuple(output for item in items for output in self.outputs(item, self.reader(filtered)))
            results.append(Select(filtered, outputs))
        return results

    def reader(self, scope: Scope) -> ConditionReader:
        """The reader of the expressions of a SELECT with this scope."""
        return ConditionReader(self.positions, self.catalog, scope, self.owners, self.derived, self.queries)

    def where(self, scope: Scope, clause: exp.Expr) -> Scope:
        """A scope with a condition added; what is outside the language in it is a finding."""
        reader, parts = self.reader(scope), [scope.where]
        for part in _conjuncts(clause):
            try:
                parts.append(reader.formula(part))
            except Finding as finding:
                self.findings.append(finding)
        return replace(scope, where=conjunction(tuple(parts)))

    def scopes(self, tree: nodes.Tree, prefix: str) -> list[Scope]:
        """The scopes of a FROM, one per combination of union branches inside it."""
        match tree:
            case nodes.Join(nodes.JoinKind.INNER, left, right):
                sides = self.scopes(left, prefix), self.scopes(right, prefix)
                return [self._inner(pair, tree) for pair in product(*sides)]
            case nodes.Join() if (asking := decided_on_arrival(tree, self.catalog)) is not None:
                kept, asked = asking
                scopes = self.scopes(kept, prefix)
                return [found for scope in scopes for found in self._asking(scope, asked, tree, prefix)]
            case nodes.Scan() if tree.table:
                return [self._table(tree, prefix)]
            case nodes.Alias(input) if has_to_be_computed(input, self.catalog, self.distinct):
                return [self.computed_relation(tree, prefix)]
            case nodes.Alias(input, alias):
                inner = input if isinstance(input, nodes.Scan) else None
                before = len(self.findings)
                selects = self.query(input, alias) if inner is None else [self._all_of(inner, prefix)]
                if len(self.findings) > before:  # what it has no column for cannot be told from what it should not have
                    raise self.findings.pop(before)
                return [self._as_item(select, tree) for select in selects]
        raise refused(tree, self.positions, self.distinct)

    def _inner(self, pair: tuple[Scope, Scope], join: nodes.Join) -> Scope:
        """Two scopes joined, under the condition or the equalities of their join."""
        both = _joined(pair)
        if join.using:
            both = using(both, *pair, written(join).args["using"], self.positions)
        return both if join.condition is None else self.where(both, written(join.condition))

    def _asking(self, scope: Scope, asked: nodes.Tree, join: nodes.Join, prefix: str) -> Iterator[Scope]:
        """The scopes of the preserved side of a join with a relation: with a partner, and without one.

        ``S LEFT JOIN R ON c  ->  S JOIN R ON c``, and ``S WHERE NOT EXISTS (R WHERE c)`` with NULLs for R's columns.
        """
        pads = join.kind in (nodes.JoinKind.LEFT, nodes.JoinKind.RIGHT)
        partners = self.scopes(asked, prefix) if pads else []
        for other in partners:
            yield self._inner((other, scope) if join.kind is nodes.JoinKind.RIGHT else (scope, other), join)
        if join.condition is not None:
            self._unambiguous(join.condition, scope, schema(asked, self.catalog))
        exists = self.reader(scope).asks(asked, join.condition, join.kind is nodes.JoinKind.SEMI, written(join))
        alone = replace(scope, where=conjunction((scope.where, exists)))
        if not pads:
            yield alone
            return
        nulls = Scope(tuple(_missing(item) for item in partners[0].items))
        yield _joined((nulls, alone) if join.kind is nodes.JoinKind.RIGHT else (alone, nulls))

    def _unambiguous(self, condition: nodes.Scalar, scope: Scope, fields: Schema) -> None:
        """Raise a Finding where a name without an alias means a column of either side."""
        around = written(condition).find_ancestor(exp.Query)
        for column in written(condition).find_all(exp.Column):
            alone = not column.table and column.find_ancestor(exp.Query) is around
            sides = any(item.find(column.name) for item in scope.items), any(f.called(column.name) for f in fields)
            if alone and all(sides):
                message = f"column {column.name!r} is ambiguous: both sides of this join have it"
                raise self.positions.finding(Code.AMBIGUOUS_COLUMN, message, column, "write an alias before it")

    def _table(self, scan: nodes.Scan, prefix: str) -> Scope:
        node = written(scan)
        assert isinstance(node, exp.Table), "what a scan is lowered from"
        unique = f"{scan.alias}#{next(self._serial)}"
        self.wanted[unique] = scan.alias, prefix
        table = self.catalog.table(scan.table) or find_table(node, self.catalog, self.positions)
        if table.changes is not None:
            message = f"{table.name} changes (changes = …): such a relation is outside the query language"
            raise self.positions.finding(Code.UNSUPPORTED, message, node)
        return table_scope(node, table, scan.alias, unique, self.positions)

    def computed_relation(self, tree: nodes.Alias, prefix: str = "") -> Scope:
        """A relation that is computed of others, under the name that it has in the query."""
        node = written(tree)
        found = self.reader(Scope()).relation(tree, node)
        name, number = tree.alias or "q", 2
        while self.catalog.table(name) or self.computed.get(name.lower(), found.query) != found.query:
            name, number = f"{tree.alias or 'q'}_{number}", number + 1
        self.computed[name.lower()] = found.query
        unique = f"{tree.alias}#{next(self._serial)}"
        self.wanted[unique] = tree.alias or name, prefix
        table = DeclaredTable(name, Kind.RELATION, found.columns, rows=found.rows, query=found.query)
        return table_scope(node, table, tree.alias, unique, self.positions)

    def _all_of(self, scan: nodes.Scan, prefix: str) -> Select:
        """A table with all its columns, which are about to get other names."""
        scope = self._table(scan, prefix)
        return Select(scope, tuple((column, written(scan)) for column in scope.items[0].columns))

    def _as_item(self, select: Select, tree: nodes.Alias) -> Scope:
        visible = tuple(column for column, _ in select.outputs)
        if names := tree.columns:
            if len(names) != len(visible):
                message = f"{tree.alias!r} names {len(names)} columns, its query has {len(visible)}"
                raise self.positions.finding(Code.UNION_MISMATCH, message, written(tree))
            renamed = zip(names, visible, strict=True)
            visible = tuple(replace(column, name=name, computed=next(self._serial)) for name, column in renamed)
        return Scope((ScopeItem(tree.alias, visible),), select.scope.sources, select.scope.where)

    def outputs(self, item: nodes.Item, reader: ConditionReader) -> Iterator[tuple[Visible, exp.Expr]]:
        """The columns that an item of a select list gives; what is outside the language in it is a finding."""
        try:
            if isinstance(item, nodes.Star):
                yield from self._star(item, reader.scope)
                return
            node = written(item.value)
            if not item.alias and isinstance(node, exp.Column) and (column := reader.visible(node)) is not None:
                yield replace(column, name=item.name), node
            else:
                term, syntax, several = reader.output(node)
                yield Visible(item.name, term, next(self._serial), syntax, several), node
        except Finding as finding:
            self.findings.append(finding)

    def _star(self, star: nodes.Star, scope: Scope) -> Iterator[tuple[Visible, exp.Expr]]:
        node = written(star)
        items = [item for item in scope.items if not star.alias or item.alias.lower() == star.alias.lower()]
        if not items:
            message = f"no stream or relation {star.alias!r} in this FROM"
            raise self.positions.finding(Code.UNKNOWN_STREAM, message, node)
        columns = [column for item in items for column in item.columns] if star.alias else list(scope.star)
        for name in star.without:
            kept = [column for column in columns if column.name.lower() != name.lower()]
            if len(kept) == len(columns):
                raise self.positions.finding(Code.UNKNOWN_COLUMN, f"* has no column {name!r}", _excepted(node, name))
            columns = kept
        yield from ((column, node) for column in columns)


def _excepted(star: exp.Expr, name: str) -> exp.Expr:
    inner = star.this if isinstance(star, exp.Column) else star
    names: list[exp.Expr] = inner.args["except_"]
    return next(one for one in names if one.name == name)


def written(part: object) -> exp.Expr:
    """The SQL that an operator or expression was lowered from."""
    syntax: exp.Expr | None = getattr(part, "syntax", None)
    assert syntax is not None, f"a tree that was read back has no positions: {part}"
    return syntax


def _missing(item: ScopeItem) -> ScopeItem:
    """A FROM item that no row has a partner in: all its columns are NULL."""
    columns = []
    for column in item.columns:
        kind = column.term.type or column.term.kind
        null = exp.cast(exp.Null(), kind.name) if kind != VOID else exp.Null()
        columns.append(Visible(column.name, LinearTerm(Folded(None, VOID)), column.computed, null))
    return ScopeItem(item.alias, tuple(columns))


def _joined(scopes: tuple[Scope, ...]) -> Scope:
    """The cross product of the items of a FROM."""
    items = tuple(item for scope in scopes for item in scope.items)
    sources = tuple(source for scope in scopes for source in scope.sources)
    spend(len(items) + len(sources))
    plain = all(scope.shown is None for scope in scopes)
    shown = None if plain else tuple(column for scope in scopes for column in scope.star)
    merged = frozenset[tuple[str, str]]().union(*(scope.merged for scope in scopes))
    return Scope(items, sources, conjunction(tuple(scope.where for scope in scopes)), shown, merged)


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    node = node.unnest()
    if not isinstance(node, exp.And):
        yield node
        return
    for part in node.flatten():
        yield from _conjuncts(part)


def using(joined: Scope, left: Scope, right: Scope, names: Sequence[exp.Expr], positions: Positions) -> Scope:
    """``A JOIN B USING (x)  ->  A JOIN B ON A.x = B.x``, where ``x`` is one column, and the first that ``*`` shows.

    ``joined`` is the cross product of the two sides. Raises Finding where a side has no such column, or several.
    """
    pairs = [(_owner(left, name, positions)[1], _owner(right, name, positions)[1], name) for name in names]
    equal = [TermReader(positions).compare(mine.term, Op.EQ, theirs.term, name) for mine, theirs, name in pairs]
    known, first = set(joined.merged), list[Visible]()
    for name in names:
        (owner, mine), (other, _) = (_owner(side, name, positions) for side in (left, right))
        known |= {(name.name.lower(), item.alias.lower()) for item in (owner, other)}
        first.append(mine)
    lowered = {name.name.lower() for name in names}
    rest = [column for side in (left, right) for column in side.star if column.name.lower() not in lowered]
    where = conjunction((joined.where, *equal))
    return replace(joined, where=where, shown=(*first, *rest), merged=frozenset(known))


def _owner(side: Scope, name: exp.Expr, positions: Positions) -> tuple[ScopeItem, Visible]:
    found = [(item, column) for item in side.items for column in item.find(name.name)]
    if not found:
        raise positions.finding(Code.UNKNOWN_COLUMN, f"one side of this join has no column {name.name!r}", name)
    if len(found) > 1 and not side.is_merged(name.name, [item for item, _ in found]):
        message = f"column {name.name!r} is ambiguous: one side of this join has several of that name"
        raise positions.finding(Code.AMBIGUOUS_COLUMN, message, name)
    return found[0]
