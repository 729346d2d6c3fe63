"""Subqueries over streams: [NOT] EXISTS and [NOT] IN of a WHERE are joins, where that can be said; others are applied.

S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.b > 1)  ->  Join(anti, S, Filter(T.b > 1, T), T.a = S.a)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import permutations

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.asked_relations import AskedRelations
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.calls import Reader
from streambound.analyzer.algebra.grouped_subqueries import GroupedSubquery
from streambound.analyzer.algebra.made_columns import fresh_name, made_column
from streambound.analyzer.algebra.running_subqueries import RunningSubquery
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.algebra.verify import is_version, outer_columns
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.expressions.rows import outermost_queries
from streambound.analyzer.findings import Positions
from streambound.analyzer.relation_queries import is_static

_JOINS = {
    (nodes.ApplyKind.EXISTS, False): nodes.JoinKind.SEMI,
    (nodes.ApplyKind.EXISTS, True): nodes.JoinKind.ANTI,
    (nodes.ApplyKind.IN, False): nodes.JoinKind.SEMI,
    (nodes.ApplyKind.IN, True): nodes.JoinKind.NOT_IN,
}


_MORE = ("group", "having", "distinct", "order", "limit", "offset", "qualify", "laterals")
"""What a SELECT may have beside its list, FROM and WHERE."""
_MOST_ASKED = 4
"""The most subqueries in one condition whose cases are told apart."""
_Parts = list[tuple[exp.Expr, list[exp.Query]]]
"""Parts of a condition, with their subqueries over streams."""


class Subqueries(Struct):
    """Lowers the subqueries of one SELECT that do not read unchanging relations alone; ``lowered`` gives their trees.

    ``names`` are those that columns have or get, in small letters; ``recursive`` the columns of a recursive relation.
    ``joining``: what asks relations is joined with them (`asked_relations`), and what is an aggregate for each row with
    its groups (`grouped_subqueries`), where that can be said. ``kept``: all stay in their expressions.
    """

    positions: Positions
    catalog: Catalog
    scalar: Reader
    lowered: Callable[[exp.Query], nodes.Tree]
    names: set[str] = field(default_factory=set)
    recursive: Schema = ()
    joining: bool = False
    kept: bool = False

    def columns(self, tree: nodes.Tree) -> Schema:
        """The columns of a tree's rows."""
        return schema(tree, self.catalog, self.recursive)

    def over_streams(self, node: exp.Expr) -> list[exp.Query]:
        """The subqueries of an expression that read more than relations that do not change."""
        if self.kept:
            return []
        found = ((query, self.lowered(query)) for query in outermost_queries(node))
        return [query for query, tree in found if not is_static(tree, self.catalog)]

    def where(self, tree: nodes.Tree, clause: exp.Expr) -> nodes.Tree:
        """The rows of a tree that satisfy a WHERE."""
        parts = [(part, self.over_streams(part)) for part in conjuncts(clause.this)]
        if self.joining:
            tree, parts = self._with_relations(tree, parts, clause)
        elif not any(queries for _, queries in parts):
            return nodes.Filter(tree, self.scalar(clause.this), syntax=clause)
        plain = [part.copy() for part, queries in parts if not queries]
        if plain:
            condition = exp.and_(*plain, copy=False) if len(plain) > 1 else plain[0]
            tree = nodes.Filter(tree, self.scalar(condition), syntax=clause)
        for part, queries in parts:
            if queries:
                holder = exp.Paren(this=part.copy())
                tree = self._with_groups(tree, [holder])
                asking = holder.this
                tree = (
                    self._joined(tree, asking)
                    or self._either(tree, asking, clause)
                    or self._filtered(tree, asking, clause)
                )
        return tree

    def _with_relations(self, tree: nodes.Tree, parts: _Parts, clause: exp.Expr) -> tuple[nodes.Tree, _Parts]:
        """The tree joined with the relations that parts of a WHERE ask, and the parts that are left."""
        asked, left = self.asked(), []
        for part, queries in parts:
            found = None
            if not queries and outermost_queries(part):
                found = asked.values(tree, part, clause) or self._joined(tree, part)
            if isinstance(found, nodes.Join) and found.kind is nodes.JoinKind.SEMI:
                made = asked.semi_join(found)
                found = made if made != found else None
            elif isinstance(found, nodes.Join) and is_block(tree, self.catalog):
                found = None
            if found is None:
                left.append((part, queries))
            else:
                tree = found
        return tree, left

    def asked(self) -> AskedRelations:
        """The reader of subqueries over relations, which joins rows with these."""
        return AskedRelations(self.catalog, self.scalar, self.lowered, self.fresh)

    def _either(self, tree: nodes.Tree, part: exp.Expr, clause: exp.Expr) -> nodes.Tree | None:
        """``p OR EXISTS q``: the rows with p, and those of the others that have a partner. None for what is no such.

        So it is of AND and OR around several [NOT] EXISTS and [NOT] IN, case by case, each row being in one.
        """
        if not 0 < len(self.over_streams(part)) <= _MOST_ASKED:
            return None
        cases = self._cases([tree], part, True, clause)
        if cases is None or len(cases) < 2:
            return None
        at, cases = self.positions.of(part), sorted(cases, key=lambda case: isinstance(case, nodes.Filter))
        return reduce(lambda others, one: nodes.Union(one, others, distinct=False, syntax=part, at=at), cases)

    def _cases(
        self, trees: list[nodes.Tree] | None, node: exp.Expr, holds: bool, clause: exp.Expr
    ) -> list[nodes.Tree] | None:
        """The rows for which a condition is true, or is not, each in one of some trees; None where that is no such.

        What is NULL, as IN may be, is not true, and makes AND and OR no truer than FALSE does.
        """
        node = node.unnest()
        if trees is None or not self.over_streams(node):
            fails = exp.Not(this=exp.Is(this=exp.paren(node), expression=exp.true()))
            return trees and [self._of_these(tree, node if holds else fails, clause) for tree in trees]
        if not isinstance(node, exp.And | exp.Or):
            joined = [self._partners(tree, node, holds) for tree in trees]
            return None if None in joined else [one for one in joined if one is not None]
        sides = sorted((node.left, node.right), key=lambda side: bool(self.over_streams(side)))
        for first, second in permutations(sides):
            same = self._cases(trees, first, holds, clause)
            other = same if isinstance(node, exp.And) is holds else self._cases(trees, first, not holds, clause)
            found = self._cases(other, second, holds, clause)
            if same is not None and found is not None:
                return found if other is same else [*same, *found]
        return None

    def _partners(self, tree: nodes.Tree, node: exp.Expr, holds: bool) -> nodes.Tree | None:
        """The rows for which [NOT] EXISTS or [NOT] IN is true, or is not; None for what cannot be said by a join."""
        joined = self._joined(tree, node)
        if holds or not isinstance(joined, nodes.Join):
            return joined
        kind = {nodes.JoinKind.SEMI: nodes.JoinKind.ANTI, nodes.JoinKind.ANTI: nodes.JoinKind.SEMI}.get(joined.kind)
        return None if kind is None else replace(joined, kind=kind)

    def _of_these(self, tree: nodes.Tree, condition: exp.Expr, clause: exp.Expr) -> nodes.Filter:
        """The rows for which one more condition is true: a block has one condition."""
        if not isinstance(tree, nodes.Filter):
            return nodes.Filter(tree, self.scalar(condition), syntax=clause)
        return nodes.Filter(tree.input, self.scalar(exp.and_(tree.condition.syntax, condition)), syntax=clause)

    def _filtered(self, tree: nodes.Tree, part: exp.Expr, clause: exp.Expr) -> nodes.Tree:
        holder = exp.Paren(this=part.copy())
        return nodes.Filter(self.applied(tree, [holder]), self.scalar(holder.this), syntax=clause)

    def applied(self, tree: nodes.Tree, roots: list[exp.Expr]) -> nodes.Tree:
        """The tree with a column for each subquery over streams, which takes its place in the expressions."""
        tree = self._with_groups(tree, roots, exists=True)
        for query in [query for root in roots for query in self.over_streams(root)]:
            place, kind, operands = _asked(query)
            if kind is None:
                message = "ANY and ALL with a subquery over streams are outside the query language"
                help = "write IN for = ANY, NOT IN for <> ALL, and a comparison with MIN or MAX for others"
                raise self.positions.finding(Code.UNSUPPORTED, message, place.parent or place, help)
            name = self.fresh("_q")
            asked = tuple(self.scalar(one) for one in operands)
            tree = nodes.Apply(
                tree, self.lowered(query), kind, name, asked, syntax=place.copy(), at=self.positions.of(place)
            )
            _replace(place, made_column(name, self.positions.of(place)), roots)
        return tree

    def _with_groups(self, tree: nodes.Tree, roots: list[exp.Expr], exists: bool = False) -> nodes.Tree:
        """The tree with the groups of correlated subqueries, whose values take their places in the expressions.

        ``exists``: also that of EXISTS, whether there is a MAX(1) of its rows.
        """
        if not self.joining or self.recursive:
            return tree
        for query in [query for root in roots for query in self.over_streams(root)]:
            place, kind, operands = _asked(query)
            if exists and kind is nodes.ApplyKind.IN:
                tree, value = self._with_member(tree, query, place, operands)
                _replace(place, value, roots)
                continue
            grouped = None
            if kind is nodes.ApplyKind.SCALAR:
                grouped = self._grouped(tree, self.lowered(query), place)
            elif exists and kind is nodes.ApplyKind.EXISTS and (one := _of_any(query)) is not None:
                grouped = self._grouped(tree, self.lowered(one), place)
            if grouped is not None:
                tree, value = grouped
                if kind is nodes.ApplyKind.EXISTS:
                    value = exp.Paren(this=exp.Not(this=exp.Is(this=value, expression=exp.Null())))
                _replace(place, value, roots)
        return tree

    def _with_member(
        self, tree: nodes.Tree, query: exp.Query, place: exp.Expr, operands: Sequence[exp.Expr]
    ) -> tuple[nodes.Tree, exp.Expr]:
        """``(v, w) IN (SELECT x, y FROM T WHERE c)`` as a value, of what EXISTS says; as it is where it does not.

        TRUE if T has a row with c, x = v and y = w, NULL if it has one with c of which neither is false, else FALSE.
        """
        given = self.columns(tree)
        values = [value for one in operands if (value := _qualified(one.copy(), (), given)) is not None]
        items = query.expressions if isinstance(query, exp.Select) else []
        if not len(items) == len(values) == len(operands) or _of_any(query) is None:
            return tree, place
        pairs = [(_enclosed(one.unalias()), _enclosed(value)) for one, value in zip(items, values, strict=True)]
        asked: list[exp.Expr | None] = [exp.and_(*(x.eq(v) for x, v in pairs))]
        if len(pairs) == 1 and outer_columns(self.lowered(query), self.catalog):  # no OR, for those of all earlier rows
            asked += [pairs[0][0].is_(exp.null()), None]
        else:
            asked.append(exp.and_(*(exp.or_(x.eq(v), x.is_(exp.null()), v.is_(exp.null())) for x, v in pairs)))
        found = list[exp.Expr]()
        for condition in asked:
            one = _of_any(query)
            assert one is not None, "a plain SELECT"
            grouped = self._grouped(tree, self.lowered(one.where(condition, copy=False)), place)
            if grouped is None:
                return tree, place
            tree = grouped[0]
            found.append(exp.Not(this=exp.Is(this=grouped[1], expression=exp.Null())))
        same, *others = found
        unknown = exp.or_(others[0], *(exp.and_(pairs[0][1].is_(exp.null()), some) for some in others[1:]))
        cases = [exp.If(this=same, true=exp.true()), exp.If(this=unknown, true=exp.Null())]
        return tree, exp.Paren(this=exp.Case(ifs=cases, default=exp.false()))

    def _grouped(self, tree: nodes.Tree, asked: nodes.Tree, place: exp.Expr) -> tuple[nodes.Tree, exp.Expr] | None:
        """The tree with the aggregates of a correlated subquery, and its value; None for others.

        They are running ones (`running_subqueries`), or of groups (`grouped_subqueries`).
        """
        if not outer_columns(asked, self.catalog):
            return None
        given = self.catalog, self.scalar, self.fresh, place.copy(), self.positions.of(place)
        return RunningSubquery(*given).beside(tree, asked) or GroupedSubquery(*given).joined(tree, asked)

    def fresh(self, prefix: str) -> str:
        """A name that nothing has, with that beginning."""
        return fresh_name(self.names, prefix)

    # --- joins --------------------------------------------------------------------------------------------------------

    def _joined(self, tree: nodes.Tree, part: exp.Expr) -> nodes.Tree | None:
        """The join that a conjunct is; None for one that is none."""
        node, negated = part.unnest(), False
        while isinstance(node, exp.Not):
            node, negated = node.this.unnest(), not negated
        queries = outermost_queries(node)
        if len(queries) != 1:
            return None
        (query,) = queries
        place, kind, operands = _asked(query)
        if place is not node or kind not in (nodes.ApplyKind.EXISTS, nodes.ApplyKind.IN):
            return None
        found = self._split(tree, self.lowered(query), kind, len(operands))
        if found is None:
            return None
        right, condition, members = found
        given = self.columns(tree)
        equal = list[exp.Expr]()
        for one, other in zip(operands, members, strict=True):
            if (value := _qualified(one.copy(), (), given)) is None:
                return None
            equal.append(exp.EQ(this=value, expression=other))
        member = exp.and_(*equal, copy=False) if equal else None
        if member is not None and kind is nodes.ApplyKind.IN and not negated:
            condition, member = [member, *condition], None
        joined = exp.and_(*condition, copy=False) if len(condition) > 1 else next(iter(condition), None)
        return nodes.Join(
            _JOINS[kind, negated], tree, right, self.scalar(joined) if joined is not None else None,
            member=self.scalar(member) if member is not None else None, syntax=place, at=self.positions.of(place),
        )  # fmt: skip

    def _split(
        self, tree: nodes.Tree, asked: nodes.Tree, kind: nodes.ApplyKind, width: int
    ) -> tuple[nodes.Tree, list[exp.Expr], list[exp.Expr]] | None:
        """A subquery's rows, what of its WHERE names columns of the row, and its values; None where that is no join."""
        given = self.columns(tree)
        if not outer_columns(asked, self.catalog, self.recursive):
            if kind is nodes.ApplyKind.EXISTS:
                return self._any_rows(asked, given), [], []
            alias, names = self.fresh("_in"), tuple(f"c{i + 1}" for i in range(width))
            if len(self.columns(asked)) != width:
                return None
            return nodes.Alias(asked, alias, names), [], [exp.column(name, alias) for name in names]
        values = list[exp.Expr]()
        while isinstance(asked, nodes.Distinct | nodes.OrderBy | nodes.Project):
            if isinstance(asked, nodes.Project) and kind is nodes.ApplyKind.IN:
                if len(asked.items) != width or not all(isinstance(item, nodes.Named) for item in asked.items):
                    return None
                values = [item.value.syntax.copy() for item in asked.items if isinstance(item, nodes.Named)]
            asked = asked.input
            if kind is nodes.ApplyKind.IN and values:
                break
        rows, parts = (
            (asked.input, conjuncts(asked.condition.syntax)) if isinstance(asked, nodes.Filter) else (asked, [])
        )
        version = is_version(rows)
        if not version and (not parts or outer_columns(rows, self.catalog, self.recursive)):
            return None
        right, rename = self._apart(rows, given)
        if right is None:
            return None
        inner = self.columns(rows)
        own, correlated = list[exp.Expr](), list[exp.Expr]()
        for part in parts:
            mine = all(_is_own(column, part, inner, given) for column in part.find_all(exp.Column))
            nested = bool(outermost_queries(part))
            if nested and not mine:
                return None
            (own if mine and not version else correlated).append(part)
        made = [_qualified(part.copy(), inner, given, rename) for part in correlated]
        listed = [_qualified(value, inner, given, rename) for value in values]
        if any(one is None for one in (*made, *listed)):
            return None
        kept = [_qualified(part.copy(), inner, (), rename) for part in own]
        if any(one is None for one in kept):
            return None
        told = [column for one in (*made, *listed) if one is not None for column in one.find_all(exp.Column)]
        right = self._asked_of(right, [one for one in kept if one is not None], told, asked)
        return right, [one for one in made if one is not None], [one for one in listed if one is not None]

    def _asked_of(
        self, tree: nodes.Tree, conditions: list[exp.Expr], told: list[exp.Column], asked: nodes.Tree
    ) -> nodes.Tree:
        """The rows of a subquery that satisfy these conditions, of which only these columns matter.

        A relation that does not change and has none of them is asked whether it has a partner: S, R  ->  S SEMI JOIN R.
        """
        if isinstance(tree, nodes.Join) and tree.kind is nodes.JoinKind.INNER and not tree.using:
            stream, relation = (
                (tree.right, tree.left) if is_static(tree.left, self.catalog) else (tree.left, tree.right)
            )
            names = self.columns(relation)
            if is_static(relation, self.catalog) and not any(_find(column, names) for column in told):
                own = [] if tree.condition is None else [tree.condition.syntax]
                own += [one for one in conditions if any(_find(column, names) for column in one.find_all(exp.Column))]
                told = told + [column for one in own for column in one.find_all(exp.Column)]
                left = self._asked_of(stream, [one for one in conditions if one not in own], told, asked)
                on = self.scalar(exp.and_(*own)) if own else None
                return replace(tree, kind=nodes.JoinKind.SEMI, left=left, right=relation, condition=on)
        return nodes.Filter(tree, self.scalar(exp.and_(*conditions)), syntax=asked.syntax) if conditions else tree

    def _any_rows(self, asked: nodes.Tree, given: Schema) -> nodes.Tree:
        """The rows of a subquery of which only matters whether there are any: those of its FROM, of a SELECT."""
        right = asked
        while isinstance(right, nodes.Distinct | nodes.OrderBy | nodes.Project):
            right = right.input
        if not isinstance(right, nodes.Filter):
            return self._apart(right, given)[0] or asked
        apart, rename = self._apart(right.input, given)
        own = _qualified(right.condition.syntax.copy(), self.columns(right.input), (), rename)
        return asked if apart is None or own is None else nodes.Filter(apart, self.scalar(own), syntax=right.syntax)

    def _apart(self, right: nodes.Tree, given: Schema) -> tuple[nodes.Tree | None, str]:
        """The rows of a subquery under aliases that the row outside has not, and the new alias if there is one."""
        inner, outer = self.columns(right), {column.alias.lower() for column in given}
        aliases = {column.alias.lower() for column in inner}
        if "" in aliases | outer:
            return None, ""
        if not aliases & outer:
            return right, ""
        names = [column.name.lower() for column in inner]
        if len(aliases) > 1 or len(set(names)) < len(names):
            return None, ""
        alias = self.fresh(f"_{inner[0].alias.lower()}")
        return nodes.Alias(right, alias), alias


def _asked(query: exp.Query) -> tuple[exp.Expr, nodes.ApplyKind | None, list[exp.Expr]]:
    """The expression around a subquery, the kind of the subquery, and the operands its rows are compared with."""
    around = query.parent
    while isinstance(around, exp.Subquery) and isinstance(around.parent, exp.Subquery | exp.In | exp.Exists):
        around = around.parent
    match around:
        case exp.Exists():
            return around, nodes.ApplyKind.EXISTS, []
        case exp.In():
            value = around.this.unnest()
            return around, nodes.ApplyKind.IN, list(value.expressions) if isinstance(value, exp.Tuple) else [value]
        case exp.Subquery() if not isinstance(around.parent, exp.Any | exp.All):
            return around, nodes.ApplyKind.SCALAR, []
    return around or query, None, []


def _replace(place: exp.Expr, value: exp.Expr, roots: list[exp.Expr]) -> None:
    """Put a value in the place of an expression, which may be one of the roots itself."""
    place.replace(value)
    roots[:] = [value if one is place else one for one in roots]


def _enclosed(node: exp.Expr) -> exp.Expr:
    return node.copy() if isinstance(node, exp.Column) else exp.paren(node)


def _of_any(query: exp.Query) -> exp.Select | None:
    """``SELECT MAX(1) …``, which is NULL where the rows of a SELECT are none; None for what is no plain SELECT."""
    if not isinstance(query, exp.Select) or any(query.args.get(name) for name in _MORE) or query.find(exp.AggFunc):
        return None
    one = query.copy()
    one.set("expressions", [exp.Max(this=exp.Literal.number(1))])
    return one


def _is_own(column: exp.Column, part: exp.Expr, inner: Schema, outer: Schema) -> bool:
    """Whether a column in a condition of a subquery is one of its rows', or of a subquery's in it."""
    around = column.find_ancestor(exp.Query)
    nested = around is not None and around is not part.find_ancestor(exp.Query)
    return _find(column, inner) or (nested and not _find(column, outer))


def _find(column: exp.Column, given: Schema) -> bool:
    return any(found.called(column.name, column.table) for found in given)


def _qualified(node: exp.Expr, inner: Schema, outer: Schema, rename: str = "") -> exp.Expr | None:
    """An expression with an alias before each name, those of the inner rows first; None where a name has none."""
    holder = exp.Paren(this=node)
    for column in holder.find_all(exp.Column):
        if isinstance(column.this, exp.Star) or len(column.parts) > 2:
            return None
        mine = [found for found in inner if found.called(column.name, column.table)]
        theirs = [found for found in outer if found.called(column.name, column.table)]
        if column.find_ancestor(exp.Query):
            if rename:
                return None
            continue
        found = mine or theirs
        if len(found) != 1:
            return None
        alias = rename if mine and rename else found[0].alias
        if alias:
            column.set("table", exp.to_identifier(alias))
    return holder.this  # type: ignore[no-any-return]
