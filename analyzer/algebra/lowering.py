"""SQL to algebra: all that SQL can name becomes an operator; what is decided of it is asked later."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Alias,
    AsOf,
    Distinct,
    Except,
    Filter,
    FirstRows,
    Fixpoint,
    Intersect,
    Item,
    Join,
    JoinKind,
    Named,
    OrderBy,
    Over,
    Project,
    Recur,
    Scalar,
    Scan,
    SetOperation,
    Star,
    Tree,
    Union,
)
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.expressions.rows import outermost_queries
from streambound.analyzer.findings import Positions
from streambound.analyzer.scopes import find_table
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
    "using": (TokenType.USING,),
    "method": (TokenType.NATURAL, TokenType.ASOF),
    "recursive": (TokenType.RECURSIVE,),
    "pivots": (TokenType.PIVOT, TokenType.UNPIVOT),
}
_CALLED = {
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "sample": "TABLESAMPLE",
    "laterals": "LATERAL VIEW",
    "pivots": "PIVOT",
    "locks": "FOR UPDATE",
}
_SET_OPERATIONS: dict[str, type[SetOperation]] = {"union": Union, "except": Except, "intersect": Intersect}
_JOIN_WORDS = (TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.SEMI, TokenType.ANTI, TokenType.OUTER)
"""What a join that is no inner one may begin with."""
_QUERIES_ONLY = "a statement is a SELECT, or a UNION of SELECTs"
_CLAUSES = (
    "expressions", "from_", "joins", "where", "group", "having", "qualify", "distinct", "order", "limit", "offset",
    "with_", "kind", "hint",
)  # fmt: skip
"""The clauses of a SELECT that the algebra has operators for."""


@dataclass(frozen=True)
class Cte:
    """A common table expression with the names that its body sees: the outer ones and those before it."""

    node: exp.CTE
    scope: Ctes
    recursive: bool = False


Ctes = Mapping[str, "Cte | Recur"]
"""What is in scope by the names of CTEs, in small letters."""


@dataclass(frozen=True)
class Lowering:
    """Makes trees of the queries of one statement; raises Finding for what no operator stands for.

    ``queries`` collects those of subqueries in expressions, by the identity of their syntax.
    """

    positions: Positions
    catalog: Catalog
    queries: dict[int, Tree] = field(default_factory=dict)

    def query(self, node: exp.Expr, ctes: Ctes) -> Tree:
        """The tree of a query expression."""
        spend()
        if isinstance(node, exp.Subquery | exp.Paren):
            self.reject(node, ("this", "alias", "order", "limit", "offset"))
            return self._ordered(node, ctes, self.query(node.this, ctes))
        if isinstance(node, exp.Select):
            return self._select(node, self._with(node, ctes))
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, self._with(node, ctes))
        if isinstance(node, exp.Table):
            raise self.positions.finding(Code.UNSUPPORTED, "a join in parentheses is outside the query language", node)
        at: exp.Expr | Span = node if node.parent else self.positions.first_token
        word = self.positions.first_word(node)
        raise self.positions.finding(Code.UNSUPPORTED, f"{word} is outside the query language", at, _QUERIES_ONLY)

    def _with(self, node: exp.Expr, ctes: Ctes) -> Ctes:
        """What is in scope in a query with a WITH clause."""
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        self.reject(clause, ("expressions", "recursive"))
        self._distinct_aliases(clause.expressions)
        for cte in clause.expressions:
            ctes = {**ctes, cte.alias.lower(): Cte(cte, ctes, bool(clause.args.get("recursive")))}
        return ctes

    def _set_operation(self, node: exp.SetOperation, ctes: Ctes) -> Tree:
        self.reject(node, ("this", "expression", "distinct", "with_", "by_name", "order", "limit", "offset"))
        if node.args.get("by_name"):
            raise self.positions.finding(Code.UNSUPPORTED, "UNION BY NAME is outside the query language", node)
        left, right = self.query(node.this, ctes), self.query(node.expression, ctes)
        make = _SET_OPERATIONS[node.key]
        words = {"union": TokenType.UNION, "except": TokenType.EXCEPT, "intersect": TokenType.INTERSECT}[node.key]
        at = self.positions.keyword_before(self.positions.of(node.expression).start, words)
        return self._ordered(node, ctes, make(left, right, bool(node.args.get("distinct")), syntax=node, at=at))

    def _select(self, node: exp.Select, ctes: Ctes) -> Tree:
        self.reject(node, _CLAUSES)
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise self.positions.finding(Code.UNSUPPORTED, "DISTINCT ON is outside the query language", distinct)
        if node.args.get("from_") is None:
            raise self.positions.finding(Code.UNSUPPORTED, "a SELECT without FROM reads no stream", node)
        tree = self._from(node, ctes)
        if where := node.args.get("where"):
            tree = Filter(tree, self._scalar(where.this, ctes), syntax=where)
        tree = self._listed(node, tree, ctes)
        if distinct is not None:
            tree = Distinct(tree, syntax=node, at=self.positions.eliminates_duplicates(node))
        return self._ordered(node, ctes, tree)

    def _listed(self, node: exp.Select, tree: Tree, ctes: Ctes) -> Tree:
        """A SELECT's list over its FROM and WHERE: an aggregate, columns over windows, or a projection."""
        items = tuple(self._item(item, ctes) for item in node.expressions)
        group, having, qualify = (node.args.get(name) for name in ("group", "having", "qualify"))
        if group is not None or having is not None or any(map(_aggregates, node.expressions)):
            first = "group" if group else "having"
            at = self._keyword(first, node.args[first], node) if group or having else None
            keys = tuple(self._scalar(key, ctes) for key in _grouped(group)) if group else ()
            return Aggregate(tree, keys, items, self._scalar(having.this, ctes) if having else None, syntax=node, at=at)
        over = next((found for item in node.expressions for found in item.find_all(exp.Window)), None)
        if over is not None or qualify is not None:
            at = self._keyword("qualify", qualify, node) if over is None else self.positions.of(over)
            return Over(tree, items, self._scalar(qualify.this, ctes) if qualify else None, syntax=node, at=at)
        return Project(tree, items, syntax=node)

    def _ordered(self, node: exp.Expr, ctes: Ctes, tree: Tree) -> Tree:
        """A query's tree under its ORDER BY, LIMIT and OFFSET."""
        order, limit, offset = (node.args.get(name) for name in ("order", "limit", "offset"))
        if order is not None:
            keys = tuple(self._scalar(key, ctes) for key in order.expressions)
            tree = OrderBy(tree, keys, syntax=order, at=self._keyword("order", order, node))
        if limit is not None or offset is not None:
            first = "offset" if limit is None else "limit"
            count = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit and limit.expression
            at = self._keyword(first, node.args[first], node)
            skipped = self._scalar(offset.expression, ctes) if offset else None
            tree = FirstRows(tree, self._scalar(count, ctes) if count else None, skipped, syntax=limit or offset, at=at)
        return tree

    def _item(self, node: exp.Expr, ctes: Ctes) -> Item:
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            star = node if isinstance(node, exp.Star) else node.this
            if star.args.get("replace") or star.args.get("rename"):
                message = "SELECT * REPLACE is outside the query language"
                raise self.positions.finding(Code.UNSUPPORTED, message, node, "list the columns")
            without = tuple(column.name for column in star.args.get("except_") or ())
            return Star(node.table if isinstance(node, exp.Column) else "", without, syntax=node)
        if isinstance(node, exp.Alias):
            return Named(node.alias, self._scalar(node.this, ctes), alias=True)
        inner = node.unnest()
        return Named(
            inner.parts[-1].name if isinstance(inner, exp.Column) else inner.sql("spark"), self._scalar(inner, ctes)
        )

    def _from(self, node: exp.Expr, ctes: Ctes) -> Tree:
        """The joins of a FROM, from left to right."""
        first = node.args["from_"].this
        joins = node.args.get("joins") or []
        self._distinct_aliases([first, *(join.this for join in joins)])
        tree = self._entry(first, ctes)
        for join in joins:
            tree = self._join(tree, join, ctes)
        return tree

    def _join(self, left: Tree, join: exp.Join, ctes: Ctes) -> Tree:
        self.reject(join, ("this", "on", "using", "side", "kind"))
        inner = not join.side and (join.kind or "INNER") in ("INNER", "CROSS")
        word = join.kind if join.kind in ("SEMI", "ANTI") else join.side
        kind = JoinKind.INNER if inner else JoinKind(word.lower())
        using, on = tuple(name.name for name in join.args.get("using") or ()), join.args.get("on")
        at = None if inner else self.positions.keyword(*_JOIN_WORDS, after=self._before(join))
        if using and inner:
            at = self._keyword("using", join.args["using"], join)
        right = self._entry(join.this, ctes)
        return Join(kind, left, right, self._scalar(on, ctes) if on is not None else None, using, syntax=join, at=at)

    def _distinct_aliases(self, entries: list[exp.Expr]) -> None:
        """Raise a Finding where two entries of a FROM, or of a WITH, have one name."""
        seen = set[str]()
        for entry in entries:
            alias = entry.alias_or_name.lower()
            if alias and alias in seen:
                message = f"two sources are called {entry.alias_or_name!r}"
                raise self.positions.finding(Code.DUPLICATE_ALIAS, message, entry, "give one an alias: … AS t2")
            seen.add(alias)

    def _entry(self, node: exp.Expr, ctes: Ctes) -> Tree:
        """The tree of one FROM entry: a table, a CTE or a subquery."""
        if isinstance(node, exp.Table):
            self.reject(node, ("this", "alias", "db", "catalog", "version"))
            cte = ctes.get(node.name.lower()) if not node.args.get("db") else None
            return self._table(node, ctes) if cte is None else self._cte(node, cte)
        if isinstance(node, exp.Subquery):
            self.reject(node, ("this", "alias"))
            return Alias(self.query(node.this, ctes), node.alias_or_name, _column_names(node), syntax=node)
        called = {"values": "VALUES", "lateral": "LATERAL"}.get(node.key, "this source")
        raise self.positions.finding(Code.UNSUPPORTED, f"{called} in FROM is outside the query language", node)

    def _table(self, node: exp.Table, ctes: Ctes) -> Tree:
        alias, names = node.alias_or_name, _column_names(node)
        tree: Tree = Scan(find_table(node, self.catalog, self.positions).name, alias, syntax=node)
        if version := node.args.get("version"):
            tree = AsOf(tree, self._scalar(version.expression, ctes), syntax=version, at=self.positions.of(version))
        return Alias(tree, alias, names, syntax=node) if names else tree

    def _cte(self, node: exp.Table, cte: Cte | Recur) -> Tree:
        alias, names = node.alias_or_name, _column_names(node)
        if isinstance(cte, Recur):
            recur = Recur(cte.name, alias, syntax=node)
            return Alias(recur, alias, names, syntax=node) if names else recur
        body, name = cte.node.this, cte.node.alias
        tree = self._recursive(cte) if cte.recursive and _reads(body, name) else self.query(body, cte.scope)
        return Alias(tree, alias, names or _column_names(cte.node), syntax=node)

    def _recursive(self, cte: Cte) -> Tree:
        """``WITH RECURSIVE name AS (base UNION step)``."""
        body, name = cte.node.this.unnest(), cte.node.alias
        clause = cte.node.parent
        at = self._keyword("recursive", True, clause) if clause is not None else None
        if not isinstance(body, exp.Union) or _reads(body.this, name):
            message = "a recursive query is a UNION of what it starts with and what it makes of itself"
            raise self.positions.finding(Code.UNSUPPORTED, message, body)
        inner = self._with(body, cte.scope)
        step = self.query(body.expression, {**inner, name.lower(): Recur(name, name)})
        base = self.query(body.this, inner)
        if names := _column_names(cte.node):
            base = Alias(base, name, names, syntax=cte.node)
        return Fixpoint(name, base, step, bool(body.args.get("distinct")), syntax=cte.node, at=at)

    def _scalar(self, node: exp.Expr, ctes: Ctes) -> Scalar:
        for query in outermost_queries(node):
            self.queries[id(query)] = self.query(query, ctes)
        return Scalar(node.sql("spark", comments=False), syntax=node)

    def reject(self, node: exp.Expr, allowed: tuple[str, ...]) -> None:
        """Raise a Finding for the first argument of a node that no operator stands for, at its keyword."""
        found = [
            (self._keyword(name, value, node), name)
            for name, value in node.args.items()
            if value and name not in allowed
        ]
        for at, name in sorted(found):
            called = f"{node.args[name]} JOIN" if name == "method" else name.rstrip("_").upper().replace("_", " ")
            written = re.search(rf"\b{re.escape(called)}\b", self.positions.source.text, re.I)
            label = _CALLED.get(name) or (called if written else "this clause")
            raise self.positions.finding(Code.UNSUPPORTED, f"{label} is outside the query language", at)

    def _keyword(self, name: str, value: object, node: exp.Expr) -> Span:
        start = self.positions.of(node).start
        if isinstance(node, exp.With):
            return self.positions.keyword_before(start, *_KEYWORDS[name]) or self.positions.of(node)
        at = self.positions.keyword(*_KEYWORDS.get(name, ()), after=min(start, self._before(node)))
        return at or self.positions.of(_first(value, node))

    def _before(self, node: exp.Expr) -> int:
        """Where to look for a node's keywords: after what stands before it."""
        parent = node.parent
        if isinstance(node, exp.Join) and isinstance(parent, exp.Select):
            joins = parent.args.get("joins") or []
            index = next(i for i, join in enumerate(joins) if join is node)
            previous = joins[index - 1] if index else parent.args.get("from_")
            return self.positions.of(previous).end if previous is not None else 0
        return self.positions.of(node).start


def _first(value: object, node: exp.Expr) -> exp.Expr:
    items = value if isinstance(value, list) else [value]
    return next((item for item in items if isinstance(item, exp.Expr)), node)


def _grouped(group: exp.Group) -> list[exp.Expr]:
    """What a GROUP BY names: its keys, and its ROLLUP, CUBE and GROUPING SETS as one each."""
    special = [found for name in ("rollup", "cube", "grouping_sets") for found in group.args.get(name) or ()]
    return [*group.expressions, *special]


def _aggregates(node: exp.Expr) -> bool:
    """Whether an expression aggregates its SELECT's rows: not in a subquery of its own, nor over a window."""
    for found in node.find_all(exp.AggFunc):
        inside = found.parent
        while inside is not None and inside is not node.parent and not isinstance(inside, exp.Window | exp.Query):
            inside = inside.parent
        if inside is node.parent:
            return True
    return False


def _reads(node: exp.Expr, name: str) -> bool:
    return any(table.name.lower() == name.lower() for table in node.find_all(exp.Table))


def _column_names(node: exp.Expr) -> tuple[str, ...]:
    alias = node.args.get("alias") or exp.TableAlias()
    return tuple(column.name for column in alias.args.get("columns") or [])
