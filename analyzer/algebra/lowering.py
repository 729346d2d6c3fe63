"""SQL to algebra: all that SQL can name becomes an operator; what is decided of it is asked later."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from itertools import chain, count

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.buckets import FLINK_COLUMNS, BucketCalls, TableFunction, is_bucket, table_function
from streambound.analyzer.algebra.calls import is_aggregate_call, sort_keys
from streambound.analyzer.algebra.constant_rows import rows_of
from streambound.analyzer.algebra.earlier_items import with_earlier_items, with_fields
from streambound.analyzer.algebra.first_rows import first_rows
from streambound.analyzer.algebra.generators import Generators, may_generate
from streambound.analyzer.algebra.implied_limits import may_have_limits, with_limits
from streambound.analyzer.algebra.ksql_windows import ksql_window, with_window_as_key
from streambound.analyzer.algebra.lateral_aggregates import with_lateral_values
from streambound.analyzer.algebra.latest_partners import may_have_latest, with_latest
from streambound.analyzer.algebra.misplaced_stars import check_stars
from streambound.analyzer.algebra.names_apart import with_names_apart
from streambound.analyzer.algebra.pivots import pivoted
from streambound.analyzer.algebra.recent_rows import is_now, with_recent_rows
from streambound.analyzer.algebra.recursive_queries import (
    NotOneRelationError,
    as_set,
    base_and_step,
    reads,
    with_one_relation,
)
from streambound.analyzer.algebra.relation_sets import asking_join
from streambound.analyzer.algebra.schema import schema, without_added
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.algebra.select_list import SelectList
from streambound.analyzer.algebra.subqueries import Subqueries
from streambound.analyzer.algebra.using_on import Pair, condition_of, shared_columns, starred_once, with_owners
from streambound.analyzer.algebra.valid_rows import valid_rows
from streambound.analyzer.algebra.waiting_time import with_waiting_times
from streambound.analyzer.algebra.window_structs import Node, WindowStructs
from streambound.analyzer.catalog import Catalog, Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.constants import INT
from streambound.analyzer.expressions.rows import outermost_queries
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound.analyzer.findings import Positions
from streambound.analyzer.literals import LiteralReader
from streambound.analyzer.relation_queries import is_static
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
    "laterals": (TokenType.LATERAL,),
    "sample": (TokenType.TABLE_SAMPLE,),
    "using": (TokenType.USING,),
    "method": (TokenType.NATURAL, TokenType.ASOF),
    "recursive": (TokenType.RECURSIVE,),
    "pivots": (TokenType.PIVOT, TokenType.UNPIVOT),
}
_CALLED = {
    "order": "ORDER BY",
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "sample": "TABLESAMPLE",
    "laterals": "LATERAL VIEW",
    "pivots": "PIVOT",
    "locks": "FOR UPDATE",
}
_SET_OPERATIONS: dict[str, type[nodes.SetOperation]] = {
    "union": nodes.Union,
    "except": nodes.Except,
    "intersect": nodes.Intersect,
}
_PLACES = "leave it out: it says where rows are, and not which"
_BEFORE = "make the rows before the stream is read, and declare their columns"
_HELP = {
    "NATURAL JOIN": "name the columns that both have in USING (…)",
    "ASOF JOIN": "write it ON T.k = S.k AND T.ts <= S.ts, with the columns that are shown; or JOIN R FOR "
    "SYSTEM_TIME AS OF S.ts, where R is a relation that changes",
    "SORT BY": _PLACES, "CLUSTER BY": _PLACES, "DISTRIBUTE BY": _PLACES, "LATERAL VIEW": _BEFORE,
    "TABLESAMPLE": "keep some values of a key instead: WHERE pmod(hash(id), 10) = 0",
    "PIVOT": "write a column for each value: SUM(x) FILTER (WHERE k = 'a') AS a, and GROUP BY",
    "FOR UPDATE": "leave it out: a stream is only read",
}  # fmt: skip
"""What to do instead of a clause."""
_JOIN_WORDS = (TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.SEMI, TokenType.ANTI, TokenType.OUTER)
"""What a join that is no inner one may begin with."""
_NO_TIME = "a relation with periods as of a time is outside the query language here"
_WITH_ON = "put it to the right of an INNER or LEFT JOIN … ON"
_SOURCES = {
    "lateral": (
        "LATERAL",
        "ask first for the latest row, JOIN LATERAL (SELECT T.v FROM T WHERE T.k = S.k AND T.ts <= S.ts ORDER BY T.ts "
        "DESC LIMIT 1) AS q ON TRUE, or for aggregates, and name them q.n; or write a join with ON",
    ),
}
"""What a source is called that is none here, and what to do instead."""
_IN_ORDER = "leave it out, and list the columns in the same order on both sides"
_FIRST_OF_EACH = "say which row of each key is shown: DISTINCT ON (k) … ORDER BY k, ts DESC, and LIMIT around it"
_READ = "name a stream or a relation in FROM"
_BARE = "leave the parentheses out, or write (SELECT … FROM a JOIN b ON …) AS c"
_QUERIES_ONLY = "a statement is a SELECT, or a UNION of SELECTs"
_CLAUSES = (
    "expressions", "from_", "joins", "where", "group", "having", "qualify", "distinct", "order", "limit", "offset",
    "with_", "kind", "hint", "windows",
)  # fmt: skip
"""The clauses of a SELECT that the algebra has operators for."""


class Cte(Struct, frozen=True):
    """A common table expression with the names that its body sees: the outer ones and those before it."""

    node: exp.CTE
    scope: Ctes
    recursive: bool = False


Ctes = Mapping[str, "Cte | nodes.Recur"]
"""What is in scope by the names of CTEs, in small letters."""


class Lowering(Struct, frozen=True, dict=True):
    """Makes trees of the queries of one statement; raises Finding for what no operator stands for.

    ``queries`` collects those of subqueries in expressions, by the identity of their syntax, which ``kept`` holds;
    ``apart`` the columns that are ends of windows (`window_structs`), ``once`` the columns that USING merges, by
    enclosing SELECT (`using_on`), ``around`` the rows that subqueries may name. ``recursive`` has the columns of the
    enclosing recursive relations. ``joining``: what asks relations is joined with them, where that is the same
    (`asked_relations`). ``periods``: it is a part of a SEQ block, whose streams may have dates for times. ``written``:
    conditions and set operations stay as they are written.
    """

    positions: Positions
    catalog: Catalog
    queries: dict[int, nodes.Tree] = field(default_factory=dict)
    kept: list[exp.Query] = field(default_factory=list)
    recursive: list[Schema] = field(default_factory=list)
    joining: bool = False
    periods: bool = False
    written: bool = False
    apart: set[str] = field(default_factory=set)
    once: list[list[Pair]] = field(default_factory=list)
    around: list[nodes.Tree] = field(default_factory=list)

    @property
    def windows(self) -> WindowStructs:
        """The rewriter of window columns to two columns, and back."""
        return WindowStructs(self.positions, self._columns, self.apart)

    def _columns(self, tree: nodes.Tree) -> Schema:
        return schema(tree, self.catalog, self.recursive[-1] if self.recursive else ())

    def statement(self, node: exp.Expr) -> nodes.Tree:
        """The tree of a whole statement."""
        check_stars(node, self.positions)
        tree = self.windows.printed(self.query(node, {}))
        if not self.periods and not any(map(_reads_table, (tree, *self.queries.values()))):
            raise self.positions.finding(Code.UNSUPPORTED, "this reads no stream and no relation", node, _READ)
        if self.written:
            return tree
        tree = tree if self.periods else self._with_relations(tree)
        self.queries.update({key: with_waiting_times(one, self.catalog) for key, one in self.queries.items()})
        tree = with_waiting_times(tree, self.catalog)
        if not any(map(is_now, node.walk())):
            return tree
        return with_recent_rows(with_names_apart(tree, self.catalog, self.positions), self.queries, self.catalog)

    def _with_relations(self, tree: nodes.Tree) -> nodes.Tree:
        """A tree in which rows that the statement writes down are relations: in FROM, as those computed of others."""
        if isinstance(tree, nodes.Alias) and is_static(tree, self.catalog):
            return tree
        if not _reads_table(tree):
            return nodes.Project(
                nodes.Alias(tree, "q", syntax=tree.syntax), (nodes.Star(syntax=tree.syntax),), syntax=tree.syntax
            )
        changed = {name: self._with_relations(under) for name, under in nodes.named_inputs(tree).items()}
        return replace(tree, **changed) if changed else tree

    def fresh(self, name: str) -> str:
        """The name, or with a number one that no column of the catalog has and the SQL does not say."""
        numbered = (f"{name}_{number}" for number in count(1))
        return next(one for one in chain([name], numbered) if one.lower() not in self._names)

    @cached_property
    def _names(self) -> frozenset[str]:
        columns = (column.name.lower() for table in self.catalog.tables for column in table.columns)
        return self.positions.words.union(columns)

    def query(self, node: exp.Expr, ctes: Ctes) -> nodes.Tree:
        """The tree of a query expression."""
        spend()
        ranked = None if self.written or self.periods else first_rows(node, self.fresh)
        if ranked is not None and self._reads_streams(node, ctes, set()):
            return self._select(ranked, ctes)
        if isinstance(node, exp.Subquery | exp.Paren):
            self.reject(node, ("this", "alias", "order", "limit", "offset"))
            return self._ordered(node, ctes, self.query(node.this, ctes))
        if isinstance(node, exp.Select):
            return self._select(node, self._with(node, ctes))
        if isinstance(node, exp.Values):
            return self.query(self._rows(node), ctes)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, self._with(node, ctes))
        if isinstance(node, exp.Table):
            raise self.positions.finding(
                Code.UNSUPPORTED, "a join in parentheses is outside the query language", node, _BARE
            )
        at: exp.Expr | Span = node if node.parent else self.positions.first_token
        word = self.positions.first_word(node)
        raise self.positions.finding(Code.UNSUPPORTED, f"{word} is outside the query language", at, _QUERIES_ONLY)

    def _reads_streams(self, node: exp.Expr, ctes: Ctes, seen: set[int]) -> bool:
        """Whether a query reads more than relations that do not change."""
        for table in node.find_all(exp.Table):
            cte = ctes.get(table.name.lower()) if not table.args.get("db") else None
            if isinstance(table.this, exp.Anonymous) or isinstance(cte, nodes.Recur):
                return True
            if cte is not None:
                if id(cte) not in seen and self._reads_streams(cte.node.this, cte.scope, seen | {id(cte)}):
                    return True
                seen.add(id(cte))
                continue
            found = self.catalog.table(table.name)
            if found is not None and (found.kind is Kind.STREAM or found.changes is not None):
                return True
        return False

    def _with(self, node: exp.Expr, ctes: Ctes) -> Ctes:
        """The CTEs in scope in a query with a WITH clause."""
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        self.reject(clause, ("expressions", "recursive"))
        self._distinct_aliases(clause.expressions)
        try:
            clause = with_one_relation(clause, self.fresh)
        except NotOneRelationError as error:
            raise self.positions.finding(Code.UNSUPPORTED, error.words, error.node, error.help) from None
        for cte in clause.expressions:
            ctes = {**ctes, cte.alias.lower(): Cte(cte, ctes, bool(clause.args.get("recursive")))}
        return ctes

    def _set_operation(self, node: exp.SetOperation, ctes: Ctes) -> nodes.Tree:
        self.reject(node, ("this", "expression", "distinct", "with_", "by_name", "order", "limit", "offset"))
        if node.args.get("by_name"):
            raise self.positions.finding(Code.UNSUPPORTED, "BY NAME is outside the query language", node, _IN_ORDER)
        left, right = self.windows.alike(self.query(node.this, ctes), self.query(node.expression, ctes))
        make = _SET_OPERATIONS[node.key]
        words = {"union": TokenType.UNION, "except": TokenType.EXCEPT, "intersect": TokenType.INTERSECT}[node.key]
        at = self.positions.keyword_before(self.positions.of(node.expression).start, words)
        made: nodes.Tree = make(left, right, bool(node.args.get("distinct")), syntax=node, at=at)
        made = made if self.written else asking_join(made, self._columns, self.catalog)
        return self._ordered(node, ctes, made)

    def _select(self, node: exp.Select, ctes: Ctes) -> nodes.Tree:
        if not self.written and ksql_window(node) is not None:
            plain = node.copy()
            plain.set("laterals", None)
            plain.parent = node.parent
            self.once.append([])
            given = self._columns(self.joined(plain, ctes)) if plain.args.get("from_") else ()
            self.once.pop()
            return self._select(with_window_as_key(node, given, self.positions), ctes)
        if not self.written and may_generate(node):
            several = Generators(self.positions, lambda entry: self._columns(self.entry(entry, ctes)), self.fresh)
            return self._select(several.without(node), ctes)
        self.reject(node, _CLAUSES)
        if not (self.written or self.periods) and may_have_latest(node):
            latest = with_latest(node, lambda entry: self._columns(self.entry(entry, ctes)), self.fresh)
            if latest is not None:
                return self._select(latest, ctes)
        if not (self.written or self.periods) and (with_values := with_lateral_values(node)) is not None:
            return self._select(with_values, ctes)
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise self.positions.finding(
                Code.UNSUPPORTED,
                "DISTINCT ON without an order of its own is outside the query language",
                distinct,
                _FIRST_OF_EACH,
            )
        self.once.append([])
        tree = nodes.Scan(nodes.ONE_ROW, "", syntax=node) if node.args.get("from_") is None else self.joined(node, ctes)
        written, node = node, self._over(node, tree)
        node = with_earlier_items(node, self._columns(tree))
        if node.args.get("group"):
            node = with_fields(node, self._columns(tree), self._outer())
        self.around.append(tree)
        where = node.args.get("where")
        valid = self._valid_first(node, ctes)
        if valid is not None:
            where = exp.Where(this=exp.and_(valid, where and where.this))
        given = self._columns(tree)
        if where is not None:
            limited = self._limited(where.this, tree)
            where = where if limited is where.this else exp.Where(this=limited)
            tree = self._subqueries(tree, ctes).where(tree, where)
        known = {(column.alias, column.name) for column in given}
        made = tuple(column for column in self._columns(tree) if (column.alias, column.name) not in known)
        tree = self._listed(node, tree, ctes)
        if made and isinstance(tree, nodes.Project):
            tree = replace(tree, items=tuple(without_added(item, made) for item in tree.items))
        self.around.pop()
        if (once := self.once.pop()) and isinstance(tree, nodes.Project):
            tree = starred_once(tree, self._columns(tree.input), once)
        if distinct is not None:
            at = self.positions.eliminates_duplicates(written)
            tree = nodes.Distinct(self.windows.split(tree), syntax=written, at=at)
        return self._ordered(node, ctes, tree)

    def _over(self, node: Node, *trees: nodes.Tree) -> Node:
        """A clause over the rows of trees, with what its windows, and the columns of USING, are in their place."""
        if self.apart:
            own = tuple(column for tree in trees for column in self._columns(tree))
            mine = {column.alias.lower() for column in own}
            outer = tuple(one for one in self._outer() if one.alias.lower() not in mine)
            node = self.windows.by_ends(node, (*own, *outer))
        if not self.once or not self.once[-1]:
            return node
        return with_owners(node, self.once[-1], tuple(column for tree in trees for column in self._columns(tree)))

    def _outer(self) -> Schema:
        """The columns of the SELECTs that enclose a subquery, innermost first."""
        return tuple(column for tree in reversed(self.around) for column in self._columns(tree))

    def _limited(self, condition: exp.Expr, *trees: nodes.Tree) -> exp.Expr:
        """A condition over the rows of trees, with what it says of times."""
        if self.written or not may_have_limits(condition):
            return condition
        own = tuple(column for tree in trees for column in self._columns(tree))
        return with_limits(condition, (*own, *self._outer()), self.positions)

    def _rows(self, node: exp.Values) -> exp.Query:
        """The query that VALUES is; raises Finding."""
        self.reject(node, ("expressions", "alias"))
        found = rows_of(node)
        if found is None:
            message = "the rows of VALUES have different numbers of columns"
            raise self.positions.finding(Code.UNION_MISMATCH, message, node)
        return found

    def _listed(self, node: exp.Select, tree: nodes.Tree, ctes: Ctes) -> nodes.Tree:
        """A SELECT's list over its FROM and WHERE: a projection, of groups or of columns over windows too."""
        clauses = [name for name in ("group", "having", "qualify") if node.args.get(name)]
        subqueries = self._subqueries(tree, ctes)
        plain = not clauses and not any(map(_is_more, node.expressions))
        if plain and not any(map(subqueries.over_streams, node.expressions)):
            return nodes.Project(tree, tuple(self._item(item, ctes) for item in node.expressions), syntax=node)
        grouping = next((name for name in ("group", "having") if name in clauses), "")
        at = self._keyword(grouping, node.args[grouping], node) if grouping else None
        made = SelectList(
            node.copy(), node, self.positions, subqueries, lambda one: self.scalar(one, ctes),
            lambda one: self._item(one, ctes), at, self.written,
        )  # fmt: skip
        return made.lower(tree)

    def _ordered(self, node: exp.Expr, ctes: Ctes, tree: nodes.Tree) -> nodes.Tree:
        """A query's tree under its ORDER BY, LIMIT and OFFSET."""
        order, limit, offset = (node.args.get(name) for name in ("order", "limit", "offset"))
        if order is not None:
            keys = sort_keys(order, lambda key: self.scalar(key, ctes))
            tree = nodes.OrderBy(tree, keys, syntax=order, at=self._keyword("order", order, node))
        if limit is not None:
            self._check_limit(limit)
        for clause in filter(None, (limit, offset)):
            self._check_int(clause.args.get("count") or clause.args.get("expression"), clause.key.upper())
        if limit is not None or offset is not None:
            first = "offset" if limit is None else "limit"
            count = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit and limit.expression
            at = self._keyword(first, node.args[first], node)
            skipped = self.scalar(offset.expression, ctes) if offset else None
            tree = nodes.FirstRows(
                tree, self.scalar(count, ctes) if count else None, skipped, syntax=limit or offset, at=at
            )
        return tree

    def _check_int(self, node: exp.Expr | None, clause: str) -> None:
        """Raise a Finding for a constant that Spark does not take for a number of rows."""
        constant = None if node is None else LiteralReader(self.positions).constant(node)
        if node is not None and constant is not None and constant.kind != INT:
            whole = whole_number(node)
            help = f"write {whole[0]}" if whole is not None and abs(whole[0]) < 2**31 else ""
            message = f"{clause} takes an INT, and {node.sql('spark')} is {constant.kind.with_article}"
            raise self.positions.finding(Code.TYPE_MISMATCH, message, node, help)

    def _check_limit(self, limit: exp.Expr) -> None:
        """Raise a Finding for a LIMIT or FETCH that is more than a number of rows."""
        options = limit.args.get("limit_options") or exp.LimitOptions()
        if limit.args.get("expressions") or options.args.get("percent") or options.args.get("with_ties"):
            message = (
                "LIMIT or FETCH of more than a number of rows (WITH TIES, PERCENT, BY) is outside the query language"
            )
            help = "write RANK() OVER (ORDER BY …) in a subquery, and its limit in WHERE"
            raise self.positions.finding(
                Code.UNSUPPORTED, message, self._keyword("limit", limit, limit.parent or limit), help
            )

    def _item(self, node: exp.Expr, ctes: Ctes) -> nodes.Item:
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            star = node if isinstance(node, exp.Star) else node.this
            if star.args.get("replace") or star.args.get("rename"):
                message = "SELECT * REPLACE is outside the query language"
                raise self.positions.finding(Code.UNSUPPORTED, message, node, "list the columns")
            without = tuple(column.name for column in star.args.get("except_") or ())
            return nodes.Star(node.table if isinstance(node, exp.Column) else "", without, syntax=node)
        if isinstance(node, exp.Alias):
            return nodes.Named(node.alias, self.scalar(node.this, ctes), alias=True)
        inner = node.unnest()
        return nodes.Named(
            inner.parts[-1].name if isinstance(inner, exp.Column) else inner.sql("spark"), self.scalar(inner, ctes)
        )

    def joined(self, node: exp.Expr, ctes: Ctes) -> nodes.Tree:
        """The joins of a FROM, from left to right."""
        first = node.args["from_"].this
        joins = node.args.get("joins") or []
        self._distinct_aliases([first, *(join.this for join in joins)])
        tree = self.entry(self._valid(first, ctes)[0], ctes)
        for join in joins:
            tree = self.join(tree, join, ctes)
        return tree

    def join(self, left: nodes.Tree, join: exp.Join, ctes: Ctes) -> nodes.Tree:
        """A join of what is left of it with a FROM entry."""
        natural = join.method == "NATURAL" and not self.periods
        self.reject(join, ("this", "on", "using", "side", "kind", *(["method"] if natural else [])))
        inner = not join.side and (join.kind or "INNER") in ("INNER", "CROSS")
        word = join.kind if join.kind in ("SEMI", "ANTI") else join.side
        kind = nodes.JoinKind.INNER if inner else nodes.JoinKind(word.lower())
        on = join.args.get("on")
        entry, valid = self._valid(join.this, ctes)
        right, before = self.entry(entry, ctes), self._before(join)
        join = self._by_shared_names(join, left, right) if natural else join
        using = tuple(name.name for name in join.args.get("using") or ())
        if valid is not None:
            if using or join.side in ("RIGHT", "FULL"):
                raise self.positions.finding(Code.UNSUPPORTED, _NO_TIME, join.this.args["version"], _WITH_ON)
            on = exp.and_(on, valid)
        at = None if inner else self.positions.keyword(*_JOIN_WORDS, after=before)
        if using and inner and not natural:
            at = self._keyword("using", join.args["using"], join)
        if self.apart:
            using = self.windows.using(using, self._columns(left), self._columns(right))
        on = on and self._limited(self._over(on, left, right), left, right)
        if using and not (inner and is_block(left, self.catalog) and is_block(right, self.catalog)):
            mine, other = self._columns(left), self._columns(right)
            padded = [pair for pair in self.once[-1] if pair.kind in (nodes.JoinKind.RIGHT, nodes.JoinKind.FULL)]
            known = {pair.name.lower(): pair for pair in reversed(padded)}
            pairs = [
                Pair(known.get(name.lower()) or self._shared(name, mine, join), self._shared(name, other, join), kind)
                for name in using
            ]
            self.once[-1][:0] = pairs
            using, on = (), condition_of(pairs, join.args["using"])
        made = nodes.Join(
            kind, left, right, self.scalar(on, ctes) if on is not None else None, using, syntax=join, at=at
        )
        if self.joining and kind is nodes.JoinKind.SEMI and is_static(right, self.catalog):
            return self._subqueries(left, ctes).asked().semi_join(made)
        return made

    def _by_shared_names(self, join: exp.Join, left: nodes.Tree, right: nodes.Tree) -> exp.Join:
        """``a NATURAL JOIN b``  ->  ``a JOIN b USING (…)``, of the columns that both have."""
        other = {column.name.lower() for column in self._columns(right)}
        names = dict.fromkeys(one.name for one in self._columns(left) if one.name.lower() in other)
        made, place = join.copy(), next(join.this.find_all(exp.Identifier)).meta
        made.set("method", None)
        made.set("using", [exp.to_identifier(name, quoted=True) for name in names])
        for one in made.args["using"]:
            one.meta.update(place)
        made.parent = join.parent
        return made

    def _shared(self, name: str, side: Schema, join: exp.Join) -> ViewColumn:
        """The column of one side that USING names; raises Finding where there is none, or several."""
        found = shared_columns(name, side, self.once[-1])
        if len(found) == 1:
            return found[0]
        written = join.args["using"]
        at = next((one for one in written if one.name.lower() == name.lower()), written[0])
        if not found:
            message = f"USING names {name!r}, which both sides must have"
            raise self.positions.finding(Code.UNKNOWN_COLUMN, message, at)
        message = f"column {name!r} is ambiguous: one side of this join has several of that name"
        raise self.positions.finding(Code.AMBIGUOUS_COLUMN, message, at, "write ON, with an alias before each column")

    def _valid(self, entry: exp.Expr, ctes: Ctes) -> tuple[exp.Expr, exp.Expr | None]:
        """An entry of FROM, and the condition for its rows to be valid where it is a relation as of a time."""
        named = isinstance(entry, exp.Table) and not entry.args.get("db") and entry.name.lower() in ctes
        return (entry, None) if named else valid_rows(entry, self.catalog)

    def _valid_first(self, node: exp.Select, ctes: Ctes) -> exp.Expr | None:
        """The condition of a FROM's first entry, which WHERE says, as it has no ON."""
        first = node.args.get("from_")
        if first is None:
            return None
        valid = self._valid(first.this, ctes)[1]
        if valid is not None and any(join.side in ("RIGHT", "FULL") for join in node.args.get("joins") or []):
            raise self.positions.finding(Code.UNSUPPORTED, _NO_TIME, first.this.args["version"], _WITH_ON)
        return valid

    def _distinct_aliases(self, entries: list[exp.Expr]) -> None:
        """Raise a Finding where two entries of a FROM, or of a WITH, have one name."""
        seen = set[str]()
        for entry in entries:
            alias = entry.alias_or_name.lower()
            if alias and alias in seen:
                message = f"two sources are called {entry.alias_or_name!r}"
                raise self.positions.finding(Code.DUPLICATE_ALIAS, message, entry, "give one an alias: … AS t2")
            seen.add(alias)

    def entry(self, node: exp.Expr, ctes: Ctes) -> nodes.Tree:
        """The tree of one FROM entry: a table, a CTE or a subquery."""
        pivots: list[exp.Expr] = node.args.get("pivots") or []
        if len(pivots) == 1 and not (self.written or self.periods):
            plain = node.copy()
            plain.set("pivots", None)
            plain.parent = node.parent
            made = pivoted(plain, pivots[0], self._columns(self.entry(plain, ctes)))
            if made is not None:
                made.parent = node.parent
                return self.entry(made, ctes)
        if isinstance(node, exp.Table):
            self.reject(node, ("this", "alias", "db", "catalog", "version"))
            self._check_version(node.args.get("version"))
            if (function := table_function(node)) is not None:
                return self._table_function(node, function, ctes)
            cte = ctes.get(node.name.lower()) if not node.args.get("db") else None
            return self._table(node, ctes) if cte is None else self._cte(node, cte)
        if isinstance(node, exp.Subquery):
            self.reject(node, ("this", "alias"))
            tree, names = self.windows.renamed(self.query(node.this, ctes), _column_names(node))
            return nodes.Alias(tree, node.alias_or_name, names, syntax=node)
        if isinstance(node, exp.Values):
            tree, names = self.windows.renamed(self.query(self._rows(node), ctes), _column_names(node))
            return nodes.Alias(tree, node.alias_or_name, names, syntax=node)
        called, help = _SOURCES.get(node.key, ("this source", "name a stream, a relation or a subquery"))
        raise self.positions.finding(Code.UNSUPPORTED, f"{called} in FROM is outside the query language", node, help)

    def _table_function(self, node: exp.Table, function: TableFunction, ctes: Ctes) -> nodes.Tree:
        """``TUMBLE(TABLE t, DESCRIPTOR(ts), size) AS x``: t's rows, with the ends of their buckets."""
        alias = node.alias_or_name if node.args.get("alias") else function.table.name
        table = exp.Table(this=function.table.this.copy(), alias=exp.TableAlias(this=exp.to_identifier(alias)))
        rows = self.entry(table, ctes)
        lengths = BucketCalls(self.positions, set(), lambda one: self.scalar(one, ctes)).read(
            function.name, list(function.lengths), exp.Anonymous(this=function.name), node
        )
        time, keys = self.scalar(function.time, ctes), tuple(self.scalar(key, ctes) for key in function.keys)
        made = nodes.Bucket(
            rows, lengths.kind, time, lengths.size, lengths.slide, lengths.offset, FLINK_COLUMNS, alias, keys,
            syntax=node, at=self.positions.of(node),
        )  # fmt: skip
        tree = self._cumulated(made) if function.name == "cumulate" else made
        names = _column_names(node)
        return nodes.Alias(tree, alias, names, syntax=node) if names else tree

    def _cumulated(self, hopping: nodes.Bucket) -> nodes.Tree:
        """``CUMULATE(TABLE t, DESCRIPTOR(ts), step, size)``, by the windows of that size which hop by the step.

        [e - size, e)  ->  [b, e) WHERE e <= b + size, of the tumbling window [b, b + size) that the time is in.
        """
        start, end, _ = FLINK_COLUMNS
        alias, size, last = hopping.alias, hopping.size, self.fresh("_last")
        whole = replace(hopping, kind=nodes.BucketKind.TUMBLING, slide=size, columns=(start, last))
        windows = replace(hopping, input=whole, columns=(self.fresh("_first"), *FLINK_COLUMNS[1:]))
        within = exp.LTE(this=exp.column(end, alias), expression=exp.column(last, alias))
        names = [*(column.name for column in self._columns(hopping.input)), *FLINK_COLUMNS]
        items = tuple(nodes.Named(name, nodes.Scalar(exp.column(name, alias, quoted=True))) for name in names)
        rows = nodes.Project(
            nodes.Filter(windows, nodes.Scalar(within), syntax=hopping.syntax), items, syntax=hopping.syntax
        )
        return nodes.Alias(rows, alias, syntax=hopping.syntax, at=hopping.at)

    def _table(self, node: exp.Table, ctes: Ctes) -> nodes.Tree:
        alias, names = node.alias_or_name, _column_names(node)
        self._not_below(node)
        table = find_table(node, self.catalog, self.positions)
        if table.has_dates and not self.periods:
            message = f"{table.name}, whose times are dates, is outside the query language but for SEQ blocks"
            raise self.positions.finding(Code.UNSUPPORTED, message, node, f"declare {table.timestamp} as a timestamp")
        tree: nodes.Tree = nodes.Scan(table.name, alias, table.changes is not None, syntax=node)
        version = node.args.get("version")
        if version is not None and not table.is_fixed:
            tree = nodes.AsOf(
                tree, self.scalar(version.expression, ctes), syntax=version, at=self.positions.of(version)
            )
        return nodes.Alias(tree, alias, names, syntax=node) if names else tree

    def _check_version(self, version: exp.Version | None) -> None:
        """Raise a Finding for a version of a table that is none as of a time."""
        if version is None or (version.name.upper(), version.text("kind")) == ("TIMESTAMP", "AS OF"):
            return
        word = "VERSION AS OF" if version.text("kind") == "AS OF" else f"SYSTEM_TIME {version.text('kind')}"
        help = "declare that version as a relation of its own, or write FOR SYSTEM_TIME AS OF a time"
        raise self.positions.finding(Code.UNSUPPORTED, f"{word} is outside the query language", version, help)

    def _not_below(self, node: exp.Table) -> None:
        """Raise a Finding where a name is that of a common table expression further down, and of no table."""
        inside, clause = _around(node)
        if inside is None or clause is None or node.args.get("db") or self.catalog.table(node.name) is not None:
            return
        bodies = {cte.alias.lower(): cte for cte in clause.expressions}
        if node.name.lower() not in bodies:
            return
        name, reader = node.name, inside.alias
        message = f"{name!r} is defined below {reader}, which reads it"
        raise self.positions.finding(Code.UNKNOWN_STREAM, message, node.this, f"move it before {reader}")

    def _cte(self, node: exp.Table, cte: Cte | nodes.Recur) -> nodes.Tree:
        self.reject(node, ("this", "alias"))
        alias, names = node.alias_or_name, _column_names(node)
        if isinstance(cte, nodes.Recur):
            recur = nodes.Recur(cte.name, alias, syntax=node)
            return nodes.Alias(recur, alias, names, syntax=node) if names else recur
        body, name = cte.node.this, cte.node.alias
        tree = self._recursive(cte) if cte.recursive and reads(body, name) else self.query(body, cte.scope)
        tree, names = self.windows.renamed(tree, names or _column_names(cte.node))
        return nodes.Alias(tree, alias, names, syntax=node)

    def _recursive(self, cte: Cte) -> nodes.Tree:
        """``WITH RECURSIVE name AS (base UNION step)``."""
        name = cte.node.alias
        body = base_and_step(cte.node.this.unnest(), name)
        clause = cte.node.parent
        at = self._keyword("recursive", True, clause) if clause is not None else None
        if not isinstance(body, exp.Union) or reads(body.this, name):
            message = "a recursive query is a UNION of what it starts with and what it makes of itself"
            raise self.positions.finding(Code.UNSUPPORTED, message, body)
        self.reject(body, ("this", "expression", "distinct", "with_"))
        inner = self._with(body, cte.scope)
        base = self.windows.whole(self.query(body.this, inner))
        if names := _column_names(cte.node):
            base = nodes.Alias(base, name, names, syntax=cte.node)
        self.recursive.append(schema(base, self.catalog, self.recursive[-1] if self.recursive else ()))
        step = self.windows.whole(self.query(body.expression, {**inner, name.lower(): nodes.Recur(name, name)}))
        self.recursive.pop()
        if body.args.get("distinct"):
            return nodes.Fixpoint(name, as_set(base), as_set(step), True, syntax=cte.node, at=at)
        return nodes.Fixpoint(name, base, step, False, syntax=cte.node, at=at)

    def scalar(self, node: exp.Expr, ctes: Ctes) -> nodes.Scalar:
        """An expression, whose subqueries are lowered."""
        for query in outermost_queries(node):
            self._subquery(query, ctes)
        return nodes.Scalar(node)

    def _subquery(self, query: exp.Query, ctes: Ctes) -> nodes.Tree:
        """The tree of a subquery in an expression, which is lowered once."""
        if id(query) not in self.queries:
            self.queries[id(query)] = self.windows.whole(self.query(query, ctes))
            self.kept.append(query)
        return self.queries[id(query)]

    def _subqueries(self, tree: nodes.Tree, ctes: Ctes) -> Subqueries:
        """The reader of a SELECT's subqueries over the tree of its FROM."""
        made = Subqueries(
            self.positions, self.catalog, lambda one: self.scalar(one, ctes), lambda one: self._subquery(one, ctes),
            recursive=self.recursive[-1] if self.recursive else (), joining=self.joining, kept=self.periods,
        )  # fmt: skip
        columns = made.columns(tree)
        made.names = {name.lower() for column in columns for name in (column.name, column.alias)}
        return made

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
            raise self.positions.finding(
                Code.UNSUPPORTED, f"{label} is outside the query language", at, _HELP.get(label, "")
            )

    def _keyword(self, name: str, value: object, node: exp.Expr) -> Span:
        start = self.positions.of(node).start
        if isinstance(node, exp.With):
            return self.positions.keyword_before(start, *_KEYWORDS[name]) or self.positions.of(node)
        first, after = self.positions.of(_first(value, node)), min(start, self._before(node))
        nearest = self.positions.keyword_before(first.start + 1, *_KEYWORDS.get(name, ()))
        if nearest is not None and nearest.start >= after:
            return nearest
        return self.positions.keyword(*_KEYWORDS.get(name, ()), after=after) or first

    def _before(self, node: exp.Expr) -> int:
        """Where to look for a node's keywords: after what stands before it."""
        parent = node.parent
        if isinstance(node, exp.Join) and isinstance(parent, exp.Select):
            joins = parent.args.get("joins") or []
            index = next(i for i, join in enumerate(joins) if join is node)
            previous = joins[index - 1] if index else parent.args.get("from_")
            return self.positions.of(previous).end if previous is not None else 0
        return self.positions.of(node).start


def _reads_table(tree: nodes.Tree) -> bool:
    """Whether a tree reads more than rows that the statement writes down."""
    return (
        isinstance(tree, nodes.Recur)
        or getattr(tree, "table", nodes.ONE_ROW) != nodes.ONE_ROW
        or any(map(_reads_table, nodes.inputs(tree)))
    )


def _first(value: object, node: exp.Expr) -> exp.Expr:
    items = value if isinstance(value, list) else [value]
    return next((item for item in items if isinstance(item, exp.Expr)), node)


def _is_more(node: exp.Expr) -> bool:
    """Whether an item of a list is more than an expression over one row: outside of its subqueries."""
    if isinstance(node, exp.Query):
        return False
    if isinstance(node, exp.Window) or is_aggregate_call(node) or is_bucket(node):
        return True
    return any(_is_more(one) for one in node.iter_expressions())


def _around(node: exp.Expr) -> tuple[exp.CTE | None, exp.With | None]:
    """The innermost common table expression that a node is in, and its WITH."""
    inside = node.find_ancestor(exp.CTE)
    return inside, None if inside is None else inside.find_ancestor(exp.With)


def _column_names(node: exp.Expr) -> tuple[str, ...]:
    alias = node.args.get("alias") or exp.TableAlias()
    return tuple(column.name for column in alias.args.get("columns") or [])
