"""Flattening: a query expression's CTEs, subqueries, joins and unions become a list of flat SELECTs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count, product

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from streambound.analyzer.catalog import Catalog, Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.conditions import ConditionReader
from streambound.analyzer.derived import DerivedColumns
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.joins import JOIN_WORDS, instead, is_inner, name_of, using
from streambound.analyzer.query import Formula, conjunction
from streambound.analyzer.scopes import Item, Scope, Visible, find_table, table_scope
from streambound.analyzer.spans import Span
from streambound.analyzer.work import spend

_KEYWORDS = {
    "group": (TokenType.GROUP_BY,),
    "having": (TokenType.HAVING,),
    "order": (TokenType.ORDER_BY,),
    "sort": (TokenType.SORT_BY,),
    "cluster": (TokenType.CLUSTER_BY,),
    "distribute": (TokenType.DISTRIBUTE_BY,),
    "limit": (TokenType.LIMIT, TokenType.FETCH),
    "offset": (TokenType.OFFSET,),
    "qualify": (TokenType.QUALIFY,),
    "windows": (TokenType.WINDOW,),
    "laterals": (TokenType.LATERAL,),
    "sample": (TokenType.TABLE_SAMPLE,),
    "method": (TokenType.NATURAL, TokenType.ASOF),
    "recursive": (TokenType.RECURSIVE,),
    "pivots": (TokenType.PIVOT, TokenType.UNPIVOT),
}
_CALLED = {
    "group": "GROUP BY",
    "order": "ORDER BY",
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "sample": "TABLESAMPLE",
    "laterals": "LATERAL VIEW",
    "pivots": "PIVOT",
    "locks": "FOR UPDATE",
    "version": "a version of a table (… AS OF)",
}
_HELP = {
    "method": "name the columns that both have in USING (…)",
    "group": "aggregate the job's output downstream: its _mult column already counts duplicates",
}
_QUERIES_ONLY = "a statement is a SELECT, or a UNION of SELECTs"
_SELECT_ARGS = ("expressions", "from_", "joins", "where", "distinct", "with_", "kind", "hint")


@dataclass(frozen=True)
class Select:
    """One flattened SELECT: a scope with its condition, and the named terms of its select list."""

    scope: Scope
    outputs: tuple[tuple[Visible, exp.Expr], ...]


@dataclass(frozen=True)
class Cte:
    """A common table expression with the names that its body sees: the outer ones and those before it."""

    node: exp.CTE
    scope: Ctes


Ctes = dict[str, Cte]


@dataclass
class Flattener:
    """Flattens one statement. ``distinct``: its result is a set, so inner duplicates do not matter.

    ``owners`` collects the alias that each name without one could be qualified with, by the name's offset.
    """

    positions: Positions
    catalog: Catalog
    distinct: bool
    ctes: Ctes = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    wanted: dict[str, tuple[str, str]] = field(default_factory=dict)
    owners: dict[int, str] = field(default_factory=dict)
    derived: DerivedColumns = field(default_factory=DerivedColumns)
    _serial: count[int] = field(default_factory=lambda: count(1))

    def reject(self, node: exp.Expr, allowed: tuple[str, ...]) -> None:
        """Raise a Finding for the first argument of a node that is outside the language, at its keyword."""
        found = [
            (self._keyword(name, value, node), name)
            for name, value in node.args.items()
            if value and name not in allowed
        ]
        for at, name in sorted(found):
            called = f"{node.args[name]} JOIN" if name == "method" else name.rstrip("_").upper().replace("_", " ")
            written = re.search(rf"\b{re.escape(called)}\b", self.positions.source.text, re.I)
            label = _CALLED.get(name) or (called if written else "this clause")
            message = f"{label} is outside the query language"
            raise self.positions.finding(Code.UNSUPPORTED, message, at, _HELP.get(name, ""))

    def _keyword(self, name: str, value: object, node: exp.Expr) -> Span:
        if isinstance(node, exp.With):
            return self.positions.keyword_before(self.positions.of(node).start, *_KEYWORDS[name]) or self.positions.of(
                node
            )
        after = min(self.positions.of(node).start, self._before(node))
        at = self.positions.keyword(*_KEYWORDS.get(name, ()), after=after)
        return at or self.positions.of(self._first(value, node))

    def _before(self, node: exp.Expr) -> int:
        parent = node.parent
        if isinstance(node, exp.Join) and isinstance(parent, exp.Select):
            joins = parent.args.get("joins") or []
            index = next(i for i, join in enumerate(joins) if join is node)
            previous = joins[index - 1] if index else parent.args.get("from_")
            return self.positions.of(previous).end if previous is not None else 0
        return self.positions.of(node).start

    @staticmethod
    def _first(value: object, node: exp.Expr) -> exp.Expr:
        items = value if isinstance(value, list) else [value]
        return next((item for item in items if isinstance(item, exp.Expr)), node)

    def query(self, node: exp.Expr, prefix: str = "") -> list[Select]:
        """All flattened SELECTs of a query expression."""
        if isinstance(node, exp.Subquery | exp.Paren):
            self.reject(node, ("this", "alias"))
            return self.query(node.this, prefix)
        if isinstance(node, exp.Select):
            return self.select(node, prefix)
        if isinstance(node, exp.SetOperation):
            return self.union(node, prefix)
        if isinstance(node, exp.Table):
            raise self.positions.finding(Code.UNSUPPORTED, "a join in parentheses is outside the query language", node)
        at: exp.Expr | Span = node if node.parent else self.positions.first_token
        word = self.positions.first_word(node)
        raise self.positions.finding(Code.UNSUPPORTED, f"{word} is outside the query language", at, _QUERIES_ONLY)

    def union(self, node: exp.SetOperation, prefix: str) -> list[Select]:
        """Both sides of a UNION, checked to have the same columns."""
        if not isinstance(node, exp.Union):
            at = self.positions.keyword(TokenType.EXCEPT, TokenType.INTERSECT, after=0)
            raise self.positions.finding(
                Code.UNSUPPORTED, f"{node.key.upper()} is outside the query language", at or node
            )
        self.reject(node, ("this", "expression", "distinct", "with_", "by_name"))
        if node.args.get("by_name"):
            raise self.positions.finding(Code.UNSUPPORTED, "UNION BY NAME is outside the query language", node)
        with self._ctes(node):
            left = self.query(node.this, prefix)
            right = self.query(node.expression, prefix)
        names = left[0].outputs
        for select in right:
            self.same_columns(names, select, node)
        return left + [self._renamed(select, names) for select in right]

    def same_columns(self, names: tuple[tuple[Visible, exp.Expr], ...], select: Select, node: exp.SetOperation) -> None:
        """Raise a Finding where a branch's columns do not match the first one's in number and type."""
        at = node.expression
        if len(names) != len(select.outputs):
            message = f"this branch has {len(select.outputs)} columns, the first one {len(names)}"
            raise self.positions.finding(Code.UNION_MISMATCH, message, at)
        for (first, _), (second, where) in zip(names, select.outputs, strict=True):
            kinds = first.term.type, second.term.type
            if None not in kinds and not kinds[0].comparable(kinds[1]):  # type: ignore[union-attr, arg-type]
                message = f"column {first.name!r} is {kinds[0].name} above and {kinds[1].name} here"  # type: ignore[union-attr]
                raise self.positions.finding(Code.UNION_MISMATCH, message, where)

    @staticmethod
    def _renamed(select: Select, names: tuple[tuple[Visible, exp.Expr], ...]) -> Select:
        outputs = tuple(
            (replace(mine, name=first.name), node)
            for (first, _), (mine, node) in zip(names, select.outputs, strict=True)
        )
        return replace(select, outputs=outputs)

    @contextmanager
    def _ctes(self, node: exp.Expr) -> Iterator[None]:
        """Adds a WITH clause's names for the duration of a query expression."""
        saved, clause = self.ctes, node.args.get("with_")
        if clause is not None:
            self.reject(clause, ("expressions",))
            self.distinct_aliases(clause.expressions)
            for cte in clause.expressions:
                self.ctes = {**self.ctes, cte.alias.lower(): Cte(cte, self.ctes)}
        try:
            yield
        finally:
            self.ctes = saved

    def select(self, node: exp.Select, prefix: str) -> list[Select]:
        """A SELECT, one result per combination of the unions in its FROM."""
        self.reject(node, _SELECT_ARGS)
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise self.positions.finding(Code.UNSUPPORTED, "DISTINCT ON is outside the query language", distinct)
        if node.args.get("from_") is None:
            raise self.positions.finding(Code.UNSUPPORTED, "a SELECT without FROM reads no stream", node)
        with self._ctes(node):
            results = []
            for scope in self.from_scopes(node, prefix):
                reader = ConditionReader(self.positions, self.catalog, scope, self.owners, self.derived)
                parts: list[Formula] = [scope.where]
                parts.extend(self._conditions(node, reader))
                outputs = [output for item in node.expressions for output in self._outputs(item, reader)]
                results.append(Select(replace(scope, where=conjunction(tuple(parts))), tuple(outputs)))
            return results

    def _conditions(self, node: exp.Select, reader: ConditionReader) -> Iterator[Formula]:
        clauses = [join.args["on"] for join in node.args.get("joins") or [] if join.args.get("on") is not None]
        if where := node.args.get("where"):
            clauses.append(where.this)
        for clause in clauses:
            for part in _conjuncts(clause):
                try:
                    yield reader.formula(part)
                except Finding as finding:
                    self.findings.append(finding)

    def from_scopes(self, node: exp.Select, prefix: str) -> list[Scope]:
        """The scopes of a FROM list, one per combination of union branches inside it."""
        entries, shared = [node.args["from_"].this], list[list[exp.Expr]]()
        for join in node.args.get("joins") or []:
            if not is_inner(join):
                at = self.positions.keyword(*JOIN_WORDS, after=self._before(join)) or join
                help = instead(join, entries, lambda entry: self._is_static(entry, self.ctes), self.distinct)
                raise self.positions.finding(
                    Code.UNSUPPORTED, f"{name_of(join)} is outside the query language", at, help
                )
            self.reject(join, ("this", "on", "kind", "using"))
            entries.append(join.this)
            shared.append(join.args.get("using") or [])
        self.distinct_aliases(entries)
        choices = [self.entry(entry, prefix) for entry in entries]
        return [self._joined(choice, shared) for choice in product(*choices)]

    def _joined(self, scopes: tuple[Scope, ...], shared: list[list[exp.Expr]]) -> Scope:
        """The items of a FROM together, each joined by USING or without with those before it."""
        if not any(shared):
            return _crossed(scopes)
        whole = scopes[0]
        for scope, names in zip(scopes[1:], shared, strict=True):
            both = _crossed((whole, scope))
            whole = using(both, whole, scope, names, self.positions) if names else both
        return whole

    def _is_static(self, entry: exp.Expr, ctes: Ctes) -> bool:
        """Whether an entry of a FROM reads relations alone."""
        for node in entry.find_all(exp.Table):
            cte, table = ctes.get(node.name.lower()), self.catalog.table(node.name)
            static = self._is_static(cte.node.this, cte.scope) if cte else table and table.kind is Kind.RELATION
            if not static:
                return False
        return True

    def distinct_aliases(self, entries: list[exp.Expr]) -> None:
        """Raise a Finding where two entries of a FROM, or of a WITH, have one name."""
        seen = set[str]()
        for entry in entries:
            alias = entry.alias_or_name.lower()
            if alias and alias in seen:
                message = f"two sources are called {entry.alias_or_name!r}"
                raise self.positions.finding(Code.DUPLICATE_ALIAS, message, entry, "give one an alias: … AS t2")
            seen.add(alias)

    def entry(self, node: exp.Expr, prefix: str) -> list[Scope]:
        """The scopes of one FROM entry: a table, a CTE or a subquery."""
        if isinstance(node, exp.Table):
            self.reject(node, ("this", "alias", "db", "catalog"))
            cte = self.ctes.get(node.name.lower()) if not node.args.get("db") else None
            if cte is None:
                return [self._table(node, prefix)]
            saved, self.ctes = self.ctes, cte.scope
            try:
                selects = self._subquery(cte.node.this, node.alias_or_name)
            finally:
                self.ctes = saved
            names = _column_names(node) or _column_names(cte.node)
            return [self._as_item(select, node.alias_or_name, names, node) for select in selects]
        if isinstance(node, exp.Subquery):
            self.reject(node, ("this", "alias"))
            alias = node.alias_or_name
            selects = self._subquery(node.this, alias)
            return [self._as_item(select, alias, _column_names(node), node) for select in selects]
        called = {"values": "VALUES", "lateral": "LATERAL"}.get(node.key, "this source")
        raise self.positions.finding(Code.UNSUPPORTED, f"{called} in FROM is outside the query language", node)

    def _table(self, node: exp.Table, prefix: str) -> Scope:
        table = find_table(node, self.catalog, self.positions)
        alias = node.alias_or_name
        if _column_names(node):
            raise self.positions.finding(
                Code.UNSUPPORTED, "column aliases in FROM are outside the query language", node
            )
        unique = f"{alias}#{next(self._serial)}"
        self.wanted[unique] = alias, prefix
        return table_scope(node, table, alias, unique, self.positions)

    def _subquery(self, node: exp.Expr, alias: str) -> list[Select]:
        inner = [item for item in node.walk() if isinstance(item, exp.Select | exp.Union)]
        for item in inner:
            if item.args.get("distinct") and not self.distinct:
                at = self.positions.eliminates_duplicates(item)
                message = "duplicate elimination inside a subquery of a bag query is outside the query language"
                raise self.positions.finding(
                    Code.UNSUPPORTED, message, at or item, "move DISTINCT to the outermost SELECT"
                )
        return self.query(node, alias)

    def _as_item(self, select: Select, alias: str, names: list[str], node: exp.Expr) -> Scope:
        visible = tuple(column for column, _ in select.outputs)
        if names:
            if len(names) != len(visible):
                message = f"{alias!r} names {len(names)} columns, its query has {len(visible)}"
                raise self.positions.finding(Code.UNION_MISMATCH, message, node)
            renamed = zip(names, visible, strict=True)
            visible = tuple(replace(column, name=name, computed=next(self._serial)) for name, column in renamed)
        return Scope((Item(alias, visible),), select.scope.sources, select.scope.where)

    def _outputs(self, node: exp.Expr, reader: ConditionReader) -> Iterator[tuple[Visible, exp.Expr]]:
        try:
            if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
                yield from self._star(node, reader.scope)
                return
            if isinstance(node, exp.Alias):
                yield self._computed(node.alias, node.this, reader), node.this
                return
            inner = node.unnest()
            if isinstance(inner, exp.Column) and (column := reader.visible(inner)) is not None:
                yield replace(column, name=inner.name), inner
            else:
                name = inner.parts[-1].name if isinstance(inner, exp.Column) else inner.sql("spark")
                yield self._computed(name, inner, reader), inner
        except Finding as finding:
            self.findings.append(finding)

    def _computed(self, name: str, node: exp.Expr, reader: ConditionReader) -> Visible:
        term, tree, several = reader.output(node)
        return Visible(name, term, next(self._serial), tree, several)

    def _star(self, node: exp.Expr, scope: Scope) -> Iterator[tuple[Visible, exp.Expr]]:
        star = node.this if isinstance(node, exp.Column) else node
        if star.args.get("replace") or star.args.get("rename"):
            raise self.positions.finding(Code.UNSUPPORTED, "SELECT * REPLACE is outside the query language", node)
        alias = node.table.lower() if isinstance(node, exp.Column) else ""
        items = [item for item in scope.items if not alias or item.alias.lower() == alias]
        if not items:
            message = f"no stream or relation {node.table!r} in this FROM"  # type: ignore[attr-defined]
            raise self.positions.finding(Code.UNKNOWN_STREAM, message, node)
        columns = [column for item in items for column in item.columns] if alias else list(scope.star)
        for name in star.args.get("except_") or []:
            kept = [column for column in columns if column.name.lower() != name.name.lower()]
            if len(kept) == len(columns):
                raise self.positions.finding(Code.UNKNOWN_COLUMN, f"* has no column {name.name!r}", name)
            columns = kept
        for column in columns:
            yield column, node


def _column_names(node: exp.Expr) -> list[str]:
    alias = node.args.get("alias") or exp.TableAlias()
    return [column.name for column in alias.args.get("columns") or []]


def _crossed(scopes: tuple[Scope, ...]) -> Scope:
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
