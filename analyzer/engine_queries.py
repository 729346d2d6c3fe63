"""Subqueries over relations, and queries of them, in DuckDB's SQL where `engine_sql` has all of their expressions.

NOT EXISTS(SELECT 1 FROM `R` AS `R` WHERE k = `_row`.`a`)
->  NOT "subquery 1", and EXISTS(SELECT 1 FROM "R" AS "R" WHERE "R"."k" = "_row"."a")

Every column has its table's name, and what an expression means is found once more here: so a name means one column.
Spark computes what has windows, ORDER BY, recursion or USING, and aggregates other than COUNT, SUM, MIN, MAX and the
AVG of integers. It also computes IN as a value, whose NULL it turns into FALSE (`RewritePredicateSubquery`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.calls import UnreadCall, aggregate_call, is_aggregate_call
from streambound.analyzer.algebra.nodes import Scalar
from streambound.analyzer.algebra.row_expressions import type_of_call
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.constants import BOOLEAN, Folded
from streambound.analyzer.engine_aggregates import engine_aggregate
from streambound.analyzer.engine_scopes import (
    EngineField,
    EngineQuery,
    QueryScope,
    as_side,
    identifier,
    item_named,
    resolved,
)
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.engine_sql import (
    EnginePart,
    NotInEngine,
    Outside,
    attempted,
    column_part,
    converted,
    translated,
)
from streambound.analyzer.expressions.function import ANY
from streambound.analyzer.expressions.kinds import common, plain
from streambound.analyzer.expressions.rows import ROW, outermost_queries
from streambound.analyzer.types import DataType

Relations = Mapping[str, Mapping[str, DataType]]
"""The columns of relations, by their names in small letters."""
_SELECT = {"expressions", "from_", "joins", "where", "group", "having", "distinct"}
_SET_OPERATION = {"this", "expression", "distinct"}
_JOIN = {"this", "on", "side", "kind"}


class AskingExpression(Struct, frozen=True):
    """An expression over a row, and the subqueries whose values of the row stand in it, by the names they have there.

    The row is called `ROW` in these.
    """

    sql: str
    subqueries: tuple[tuple[str, str], ...]


def engine_asking(
    text: str,
    columns: Mapping[str, DataType],
    kind: DataType,
    relations: Relations,
    named: Callable[[], str],
    condition: bool,
) -> AskingExpression | NotInEngine:
    """``CAST((text) AS kind)`` over columns of these types and relations, in DuckDB's SQL, or why there is none.

    ``named`` gives a name that no column has, and another one when it is called again. ``condition``: all that is asked
    of the value is whether it is true.
    """

    def asking() -> AskingExpression:
        row = tuple(EngineField(ROW, name, plain(one)) for name, one in columns.items())
        given, found = {name: column_part(name, one) for name, one in columns.items()}, dict[str, str]()
        holder = exp.Paren(this=parsed(text).copy())
        for query in _asked(holder):
            _check_tested(query, condition)
            part, name = _Reader(relations).subquery(query, row), named()
            found[name], given[name] = part.node.sql("duckdb"), column_part(name, part.kind)
            query.replace(given[name].node.copy())
        made = converted(translated(holder.this, given), plain(kind), "the column's type")
        return AskingExpression(made.node.sql("duckdb"), tuple(found.items()))

    return attempted(asking)


def engine_query(text: str, relations: Relations) -> str | NotInEngine:
    """A query over relations in DuckDB's SQL, or why there is none.

    >>> from streambound.analyzer.constants import BIGINT
    >>> engine_query("SELECT a, COUNT(*) AS n FROM `R` AS `R` GROUP BY a", {"r": {"a": BIGINT}})
    'SELECT "R"."a", COUNT(*) AS "n" FROM "R" AS "R" GROUP BY "R"."a"'
    """
    return attempted(lambda: _Reader(relations).query(parsed(f"({text})"), ()).node.sql("duckdb"))


class _Reader:
    """Reads queries over some relations."""

    def __init__(self, relations: Relations) -> None:
        self.relations = relations

    def query(self, node: exp.Expr, around: tuple[EngineField, ...]) -> EngineQuery:
        """A query, which may name columns ``around`` it."""
        match node:
            case exp.Subquery():
                _has_only(node, {"this"})
                return self.query(node.this, around)
            case exp.Select():
                return self._select(node, around)
            case exp.Union() | exp.Except() | exp.Intersect():
                return self._set_operation(node)
        raise Outside(node.sql("spark"), "it is a query of another kind")

    def subquery(self, node: exp.Expr, around: tuple[EngineField, ...]) -> EnginePart:
        """EXISTS, IN or a value, by a subquery in an expression over the columns ``around`` it."""
        match node:
            case exp.Exists():
                return EnginePart(exp.Exists(this=self.query(node.this, around).node), BOOLEAN)
            case exp.In():
                return self._is_in(node, around)
        made = self.query(node, around)
        return EnginePart(exp.Subquery(this=made.node), made.only)

    def _is_in(self, node: exp.In, around: tuple[EngineField, ...]) -> EnginePart:
        value, made = self._expression(node.this, QueryScope((), around)), self.query(node.args["query"], around)
        kind = _common([value.kind, made.only])
        value, made = converted(value, kind, "IN"), made.cast([kind])
        left = value.node if isinstance(value.node, exp.Column) else exp.paren(value.node)
        return EnginePart(exp.In(this=left, query=exp.Subquery(this=made.node)), BOOLEAN, value.raises)

    # --- queries ------------------------------------------------------------------------------------------------------

    def _set_operation(self, node: exp.SetOperation) -> EngineQuery:
        _has_only(node, _SET_OPERATION)
        sides = [self.query(side, ()) for side in (node.this, node.expression)]
        if len(sides[0].columns) != len(sides[1].columns):
            raise Outside(node.key.upper(), "its sides have other numbers of columns")
        pairs = zip(sides[0].columns, sides[1].columns, strict=True)
        kinds = [_common([one, other]) for (_, one), (_, other) in pairs]
        left, right = (side.cast(kinds) for side in sides)
        made = type(node)(this=as_side(left), expression=as_side(right), distinct=node.args.get("distinct"))
        return EngineQuery(made, left.columns)

    def _select(self, node: exp.Select, around: tuple[EngineField, ...]) -> EngineQuery:
        _has_only(node, _SELECT)
        made, fields = self._from(node, around)
        scope = QueryScope(fields, around)
        if (where := node.args.get("where")) is not None:
            made.where(self._condition(where.this, scope), copy=False)
        having, group = node.args.get("having"), node.args.get("group")
        items = [item for item in node.expressions if not _is_star(item)]
        if group is not None or having is not None or any(map(_has_aggregate, items)):
            scope = QueryScope(fields, around, self._keys(group, scope))
        if scope.keys:
            made.group_by(*(part.node.copy() for _, part in scope.keys), copy=False)
        if having is not None:
            made.having(self._condition(having.this, scope), copy=False)
        columns = [column for item in node.expressions for column in self._item(item, scope)]
        made.set("expressions", [item_named(part.node, name) for name, part in columns])
        if (distinct := node.args.get("distinct")) is not None:
            _has_only(distinct, set())
            made.set("distinct", exp.Distinct())
        if any(part.wide for _, part in columns):
            raise Outside("a computed time", "times beyond the years 1 to 9999 differ")
        return EngineQuery(made, tuple((name, part.kind) for name, part in columns))

    def _from(self, node: exp.Select, around: tuple[EngineField, ...]) -> tuple[exp.Select, tuple[EngineField, ...]]:
        """A SELECT that has its FROM but no select list yet, and the columns of FROM."""
        if node.args.get("from_") is None:
            return exp.Select(), ()
        table, fields = self._table(node.args["from_"].this)
        made, tables = exp.Select().from_(table), [table.alias]
        for join in node.args.get("joins") or ():
            _has_only(join, _JOIN)
            side, kind, on = join.side.upper(), join.kind.upper(), join.args.get("on")
            if kind in ("SEMI", "ANTI") and on is not None:
                made.where(self._has_partners(join, fields), copy=False)
                continue
            if kind not in ("", "INNER", "CROSS", "OUTER") or (side and on is None):
                raise Outside(f"{side} {kind} JOIN".strip(), "such a join in a subquery was not compared with Spark's")
            table, more = self._table(join.this)
            fields, tables = fields + more, [*tables, table.alias]
            joined = exp.Join(this=table, side=side or None, kind="" if on is not None else "CROSS")
            if on is not None:  # what it says of a row around an outer join has no place in DuckDB's plan
                _no_queries(on, "ON")
                joined.set("on", self._condition(on, QueryScope(fields, () if side else around)))
            made.append("joins", joined)
        if len({one.lower() for one in tables}) != len(tables):
            raise Outside("FROM", "two of its items have one name")
        return made, fields

    def _has_partners(self, join: exp.Join, fields: tuple[EngineField, ...]) -> exp.Expr:
        """A semi or anti join as a condition on the rows beside it; raises Outside where an outer join adds others."""
        if any(one.side.upper() in ("RIGHT", "FULL") for one in join.parent.args["joins"]):  # type: ignore[union-attr]
            raise Outside(f"{join.kind.upper()} JOIN", "an outer join stands beside it")
        table, partners = self._table(join.this)
        _no_queries(join.args["on"], "ON")
        test = self._condition(join.args["on"], QueryScope(partners, fields))
        exists = exp.Exists(this=exp.select("1").from_(table).where(test))
        return exists if join.kind.upper() == "SEMI" else exp.Not(this=exists)

    def _table(self, node: exp.Expr) -> tuple[exp.Expr, tuple[EngineField, ...]]:
        """An item of FROM, and its columns."""
        alias = node.args.get("alias")
        if alias is None or not alias.name:
            raise Outside(node.sql("spark"), "it has no name in FROM")
        names = [column.name for column in alias.args.get("columns") or ()]
        match node:
            case exp.Table():
                _has_only(node, {"this", "alias"})
                known = self.relations.get(node.name.lower())
                if known is None:
                    raise Outside(node.name, "it is no relation that a job reads")
                columns = tuple((name, plain(kind)) for name, kind in known.items())
                named = exp.TableAlias(this=identifier(alias.name))
                table: exp.Expr = exp.Table(this=identifier(node.name), alias=named)
                if names:
                    raise Outside(node.name, "its columns have other names in FROM")
            case exp.Subquery():
                _has_only(node, {"this", "alias"})
                made = self.query(node.this, ())
                names = names or [name for name, _ in made.columns]
                if len(names) != len(made.columns):
                    raise Outside(alias.name, "it has another number of columns")
                columns = tuple((name, kind) for name, (_, kind) in zip(names, made.columns, strict=True))
                named = exp.TableAlias(this=identifier(alias.name), columns=[identifier(name) for name, _ in columns])
                table = exp.Subquery(this=made.node, alias=named)
            case _:
                raise Outside(node.sql("spark"), "it is an item of FROM of another kind")
        if len({name.lower() for name, _ in columns}) != len(columns):
            raise Outside(alias.name, "two of its columns have one name")
        return table, tuple(EngineField(alias.name, name, kind) for name, kind in columns)

    def _keys(self, group: exp.Group | None, scope: QueryScope) -> tuple[tuple[exp.Expr, EnginePart], ...]:
        if group is None:
            return ()
        _has_only(group, {"expressions"})
        found = []
        for key in group.expressions:
            _no_queries(key, "GROUP BY")
            part = self._expression(key, scope)
            if part.constant is not None:
                raise Outside(key.sql("spark"), "it is a constant in GROUP BY")
            found.append((resolved(key, scope), part))
        return tuple(found)

    def _item(self, item: exp.Expr, scope: QueryScope) -> list[tuple[str, EnginePart]]:
        """The columns that an item of a select list is."""
        if _is_star(item):
            star = item if isinstance(item, exp.Star) else item.this
            _has_only(star, set())
            if scope.keys is not None:
                raise Outside("*", "it is of groups")
            table = item.table.lower() if isinstance(item, exp.Column) else ""
            return [(f.name, EnginePart(f.node, f.kind)) for f in scope.fields if table in ("", f.table.lower())]
        value = item.unalias()
        name = item.alias_or_name if isinstance(item, exp.Alias | exp.Column) else item.sql("spark")
        return [(name, self._expression(value, scope))]

    # --- expressions --------------------------------------------------------------------------------------------------

    def _condition(self, node: exp.Expr, scope: QueryScope) -> exp.Expr:
        """A condition, its equalities first and for themselves: by these both engines find partners."""
        tests = conjuncts(node)
        found = [self._equality(one, scope) for one in tests if isinstance(one, exp.EQ)]
        others = [self._expression(one, scope, True) for one in tests if not isinstance(one, exp.EQ)]
        if others:
            found.append(converted(_over(others, exp.and_), BOOLEAN, "a condition"))
        return exp.and_(*(part.node for part in found), copy=False)

    def _equality(self, node: exp.EQ, scope: QueryScope) -> EnginePart:
        """An equality. Spark may join by it, and computes both sides of all rows then."""
        sides = [replace(self._expression(side, scope), raises=False) for side in (node.this, node.expression)]
        return _over(sides, lambda left, right: exp.EQ(this=left, expression=right))

    def _expression(self, node: exp.Expr, scope: QueryScope, condition: bool = False) -> EnginePart:
        """An expression over the columns of a scope; of a ``condition`` all that is asked is whether it is true."""
        parts, holder = dict[str, EnginePart](), exp.Paren(this=resolved(node, scope))

        def put(place: exp.Expr, part: EnginePart) -> None:
            name = f"p{len(parts)}"
            parts[name] = part
            place.replace(exp.column(identifier(name)))

        if scope.keys is not None:
            self._put_groups(holder, scope, put)
        for query in _asked(holder):
            if scope.keys is not None:
                raise Outside("a subquery", "it is of groups")
            _check_tested(query, condition)
            put(query, self.subquery(query, scope.fields))
        for column in [column for column in holder.find_all(exp.Column) if column.name not in parts or column.table]:
            field = scope.field(column)
            put(column, EnginePart(field.node, field.kind))
        return translated(holder.this, parts)

    def _put_groups(self, holder: exp.Expr, scope: QueryScope, put: Callable[[exp.Expr, EnginePart], None]) -> None:
        """Put keys and aggregates in their places, from the outside inwards; raises Outside for another column."""
        waiting = list(holder.iter_expressions())
        for node in waiting:
            key = next((part for key, part in scope.keys or () if key == node.unnest()), None)
            if key is not None:
                put(node, key)
            elif is_aggregate_call(node):
                put(node, self._aggregate(node, QueryScope(scope.fields, scope.around)))
            elif isinstance(node, exp.Column):
                raise Outside(node.sql("spark"), "it is no key of its groups")
            else:
                waiting += node.iter_expressions()

    def _aggregate(self, node: exp.Expr, scope: QueryScope) -> EnginePart:
        _no_queries(node, "an aggregate")
        try:
            call = aggregate_call(node, "", Scalar)
        except UnreadCall as error:
            raise Outside(node.sql("spark"), str(error)) from error
        parts = [self._expression(one.syntax, scope) for one in call.arguments]
        kind, _ = type_of_call(call, [(part.kind, True) for part in parts], grouped=False)
        if call.order or call.ignore_nulls or len(parts) > 1 or kind is None:
            raise Outside(node.sql("spark"), "it was not compared with Spark's")
        only = None if call.filter is None else self._condition(call.filter.syntax, scope)
        return engine_aggregate(call, parts, plain(kind), only)


def _over(parts: Sequence[EnginePart], make: Callable[..., exp.Expr]) -> EnginePart:
    """An operator applied to its operands, in DuckDB's SQL."""
    given = {f"p{place}": part for place, part in enumerate(parts)}
    return translated(make(*(exp.column(identifier(name)) for name in given)), given)


def _common(kinds: Sequence[DataType]) -> DataType:
    """The type that values of several have together."""
    found = common([Folded(None, kind) for kind in kinds])
    if found == ANY:
        raise Outside(" and ".join(kind.name for kind in kinds), "cast one side to the type of the other")
    return found


def _asked(holder: exp.Expr) -> list[exp.Expr]:
    """The outermost subqueries of an expression, each with the EXISTS, IN or parentheses that it is in."""
    found = {id(node): node for node in map(_asking, outermost_queries(holder))}
    return [node for node in found.values() if not any(id(one) in found for one in _above(node))]


def _check_tested(node: exp.Expr, condition: bool) -> None:
    """Raises Outside for an IN whose NULL matters; ``condition`` says that the whole expression is only tested."""
    if not isinstance(node, exp.In):
        return
    above: exp.Expr = node
    while above.parent is not None:
        under, above = above, above.parent
        if isinstance(above, exp.If) and under.arg_key == "this" and getattr(above.parent, "this", None) is None:
            return
        if not isinstance(above, exp.And | exp.Or | exp.Not | exp.Paren):
            condition = False
    if not condition:
        raise Outside("IN", "it is a value, and Spark makes FALSE of its NULL")


def _asking(query: exp.Expr) -> exp.Expr:
    while isinstance(query.parent, exp.Subquery):
        query = query.parent
    of_in = isinstance(query.parent, exp.In) and query.arg_key == "query"
    return query.parent if query.parent is not None and (of_in or isinstance(query.parent, exp.Exists)) else query


def _above(node: exp.Expr) -> Iterator[exp.Expr]:
    while node.parent is not None:
        node = node.parent
        yield node


def _has_aggregate(node: exp.Expr) -> bool:
    """Whether there is an aggregate in an expression, in no subquery."""
    return any(
        is_aggregate_call(one) and one.find_ancestor(exp.Query) is node.find_ancestor(exp.Query) for one in node.walk()
    )


def _is_star(item: exp.Expr) -> bool:
    return isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))


def _no_queries(node: exp.Expr, where: str) -> None:
    if node.find(exp.Query) is not None:
        raise Outside("a subquery", f"it stands in {where}")


def _has_only(node: exp.Expr, known: set[str]) -> None:
    """Raises Outside where a node says more than this."""
    more = next((name for name, value in node.args.items() if value and name not in known), None)
    if more is not None:
        raise Outside(more.strip("_").upper(), "it is not among what DuckDB is given of a subquery")
