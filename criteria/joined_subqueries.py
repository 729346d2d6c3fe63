"""What a statement's rows are like where its subqueries over relations say yes: joins with these relations.

S WHERE EXISTS (SELECT 1 FROM R WHERE R.k = S.b)   ->  S, R WHERE R.k = S.b
S WHERE S.b > (SELECT MAX(k) FROM R)               ->  S, R WHERE S.b > R.k
S JOIN (SELECT name, COUNT(*) AS n FROM R GROUP BY name) q …  ->  S JOIN (SELECT name, 1 AS n FROM R) q …

It is another statement: whoever looks for rows that satisfy the first one finds them among those of the second, and
executes the first one on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from sqlglot import exp

from streambound.analyzer.catalog import Catalog, Kind
from streambound.analyzer.expressions.rows import outermost_queries

_VALUES = (exp.Max, exp.Min, exp.Sum, exp.Avg, exp.AnyValue, exp.First, exp.Last)
"""Aggregates that have the value of their argument where it is the only one."""
_DROPPED = ("distinct", "group", "having", "order", "limit", "offset")


def joined_subqueries(statement: exp.Expr, catalog: Catalog) -> exp.Expr | None:
    """The statement with a join for each subquery, computed relation, left and semi join of relations.

    What is negated is left out. None where there is nothing of the kind, or it is not known how.
    """
    tree, aliases = statement.copy(), (f"_joined{number}" for number in count(1))
    for select in list(tree.find_all(exp.Select)):
        if select is not tree and _is_computed(select, catalog):
            _of_one_row(select)
        for join in list(select.args.get("joins") or ()):
            _inner(join, catalog)
    while (query := _next_query(tree)) is not None:
        if not isinstance(query, exp.Select) or not _moved(query, catalog, next(aliases)):
            return None
    return tree if tree != statement else None


def _tables(query: exp.Expr) -> list[exp.Table]:
    return list(query.find_all(exp.Table))


def _only_relations(query: exp.Expr, catalog: Catalog) -> bool:
    declared = [catalog.table(table.name) for table in _tables(query)]
    return all(table is not None and table.kind is Kind.RELATION for table in declared)


def _is_computed(select: exp.Select, catalog: Catalog) -> bool:
    """Whether a SELECT in FROM, or of a WITH, computes a relation of relations."""
    named = isinstance(select.parent, exp.Subquery | exp.CTE) and not _asked_in(select)
    return named and any(select.args.get(part) for part in _DROPPED) and _only_relations(select, catalog)


def _of_one_row(select: exp.Select) -> None:
    """Say of each row of a relation what the SELECT would say if it were the only one."""
    if (having := select.args.get("having")) is not None:
        select.where(_of_row(having.this), copy=False)
    for item in select.expressions:
        item.replace(exp.alias_(_of_row(item.unalias()), item.alias_or_name, quoted=True))
    for part in _DROPPED:
        select.set(part, None)


def _of_row(node: exp.Expr) -> exp.Expr:
    """An expression over groups, of a group of one row."""

    def value(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Count):
            return exp.Literal.number(1)
        return part.this if isinstance(part, _VALUES) else part

    return node.transform(value)


def _inner(join: exp.Join, catalog: Catalog) -> None:
    """Make the left or semi join with a relation an inner one, and leave an anti join out."""
    if not _only_relations(join.this, catalog):
        return
    if (join.kind or "").upper() == "ANTI":
        join.pop()
    elif join.side.upper() == "LEFT":
        join.set("side", None)
        join.set("kind", None)


def _next_query(tree: exp.Expr) -> exp.Query | None:
    """The next subquery in an expression that is in no other one."""
    for select in tree.find_all(exp.Select):
        for query in _asked_by(select):
            return query
    return None


def _asked_by(select: exp.Select) -> Iterator[exp.Query]:
    scopes = [*select.expressions, *(select.args.get(name) for name in ("where", "having"))]
    scopes += [join.args.get("on") for join in select.args.get("joins") or ()]
    for scope in scopes:
        yield from outermost_queries(scope) if scope is not None else ()


def _asked_in(query: exp.Query) -> bool:
    """Whether a query stands in an expression."""
    around = query.parent
    while isinstance(around, exp.Subquery):
        if isinstance(around.parent, exp.From | exp.Join):
            return False
        around = around.parent
    return not isinstance(around, exp.From | exp.Join | exp.CTE | exp.SetOperation | None)


def _moved(query: exp.Select, catalog: Catalog, alias: str) -> bool:
    """Move a subquery's relations into the FROM around it, and its condition to its place; whether that is known."""
    place = query.parent
    while isinstance(place, exp.Subquery) and isinstance(place.parent, exp.Subquery | exp.In | exp.Exists):
        place = place.parent
    around = place.find_ancestor(exp.Select) if place is not None else None
    if place is None or around is None or not _only_relations(query, catalog) or query.args.get("with_"):
        return False
    if (negation := _negation(place)) is not None:
        negation.replace(exp.true())
        return True
    sources = [query.args["from_"], *(query.args.get("joins") or ())] if query.args.get("from_") else []
    if not all(isinstance(source.this, exp.Table) for source in sources):
        return False
    _apart(query, sources, catalog, alias)
    where, having = query.args.get("where"), query.args.get("having")
    conditions = [where.this] if where is not None else []
    conditions += [_of_row(having.this)] if having is not None else []
    conditions += [source.args["on"] for source in sources if source.args.get("on") is not None]
    values = [_of_row(item.unalias()) for item in query.expressions]
    condition = exp.and_(*conditions) if conditions else exp.true()
    match place:
        case exp.Exists():
            place.replace(exp.paren(condition))
        case exp.In():
            own = place.this.unnest()
            operands = own.expressions if isinstance(own, exp.Tuple) else [own]
            equal = (exp.EQ(this=one.copy(), expression=other) for one, other in zip(operands, values, strict=False))
            place.replace(exp.paren(exp.and_(*equal, condition)))
        case exp.Subquery() if len(values) == 1:
            place.replace(exp.paren(values[0]))
            around.where(condition, copy=False)
        case _:
            return False
    for source in sources:
        around.append("joins", exp.Join(this=source.this, kind="CROSS"))
    return True


def _negation(place: exp.Expr) -> exp.Expr | None:
    """The NOT around EXISTS or IN."""
    around = place.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    return around if isinstance(around, exp.Not) and isinstance(place, exp.Exists | exp.In) else None


def _apart(query: exp.Select, sources: list[exp.Expr], catalog: Catalog, alias: str) -> None:
    """Give a subquery's relations aliases of their own, and its columns their relation's alias."""
    names: dict[str, str] = {}
    columns: dict[str, str] = {}
    for number, source in enumerate(sources):
        table, own = source.this, f"{alias}_{number}"
        declared = catalog.table(table.name)
        names[table.alias_or_name.lower()] = own
        for known in declared.columns if declared is not None else ():
            columns.setdefault(known.name.lower(), own)
        table.set("alias", exp.TableAlias(this=exp.to_identifier(own)))
    for column in list(query.find_all(exp.Column)):
        if column.table:
            own = names.get(column.table.lower(), "")
        else:
            own = columns.get(column.name.lower(), "") if column.find_ancestor(exp.Select) is query else ""
        if own:
            column.set("table", exp.to_identifier(own))
