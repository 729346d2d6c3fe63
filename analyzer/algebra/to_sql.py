"""A tree as one Spark SQL query: what is said of the tree can be asked of Spark."""

from __future__ import annotations

from sqlglot import exp

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
    SpjBlock,
    Tree,
    Union,
)
from streambound.analyzer.algebra.schema import parsed

_SET_OPERATIONS: dict[type[SetOperation], type[exp.SetOperation]] = {
    Union: exp.Union,
    Except: exp.Except,
    Intersect: exp.Intersect,
}
_JOINS = {
    JoinKind.INNER: {},
    JoinKind.LEFT: {"side": "LEFT"},
    JoinKind.RIGHT: {"side": "RIGHT"},
    JoinKind.FULL: {"side": "FULL"},
    JoinKind.SEMI: {"side": "LEFT", "kind": "SEMI"},
    JoinKind.ANTI: {"side": "LEFT", "kind": "ANTI"},
}


def to_sql(tree: Tree) -> exp.Query:
    """The query of a tree, as syntax of its own."""
    match tree:
        case Project(input, items):
            return _from(exp.Select(expressions=_items(items)), input)
        case Over(input, items, qualify):
            over = _from(exp.Select(expressions=_items(items)), input)
            if qualify is not None:
                over.set("qualify", exp.Qualify(this=_copied(qualify)))
            return over
        case Aggregate(input, keys, items, having):
            select = _from(exp.Select(expressions=_items(items)), input).group_by(*map(_copied, keys), copy=False)
            return select if having is None else select.having(_copied(having), copy=False)
        case Distinct(input):
            inner = to_sql(input)
            plain = isinstance(inner, exp.Select) and not inner.args.get("distinct")
            return inner.distinct(copy=False) if plain and isinstance(inner, exp.Select) else _all_of(inner).distinct()
        case Union(left, right, distinct) | Except(left, right, distinct) | Intersect(left, right, distinct):
            make = _SET_OPERATIONS[type(tree)]
            return make(this=to_sql(left), expression=to_sql(right), distinct=distinct)
        case OrderBy(input, keys):
            return _open(to_sql(input)).order_by(*map(_copied, keys), copy=False)
        case FirstRows(input, count, offset):
            query = _open(to_sql(input))
            query = query if count is None else query.limit(_copied(count), copy=False)
            return query if offset is None else query.offset(_copied(offset), copy=False)
        case SpjBlock(input):
            return to_sql(input)
        case Fixpoint(name, base, step, distinct):
            body = exp.Union(this=to_sql(base), expression=to_sql(step), distinct=distinct)
            select = exp.select("*").from_(_identifier(name))
            return select.with_(_identifier(name), as_=body, recursive=True, copy=False)
    return _from(exp.select("*"), tree)


def _open(query: exp.Query) -> exp.Query:
    """A query that can still get an ORDER BY or a LIMIT."""
    return _all_of(query) if any(query.args.get(name) for name in ("limit", "offset")) else query


def _all_of(query: exp.Query) -> exp.Select:
    return exp.select("*").from_(exp.Subquery(this=query, alias=exp.TableAlias(this=_identifier("q"))))


def _from(select: exp.Select, tree: Tree) -> exp.Select:
    """A SELECT over a tree of joins, and their filter."""
    if isinstance(tree, Filter):
        return _from(select, tree.input).where(_copied(tree.condition), copy=False)
    joins = list[Join]()
    while isinstance(tree, Join):
        joins.insert(0, tree)
        tree = tree.left
    select.from_(_entry(tree), copy=False)
    for join in joins:
        node = exp.Join(this=_entry(join.right), **_JOINS[join.kind])
        if join.condition is not None:
            node.set("on", _copied(join.condition))
        elif join.using:
            node.set("using", [_identifier(name) for name in join.using])
        elif join.kind is JoinKind.INNER:
            node.set("kind", "CROSS")
        select.append("joins", node)
    return select


def _entry(tree: Tree) -> exp.Expr:
    match tree:
        case Scan(table=name, alias=alias) | Recur(name, alias):
            return exp.Table(this=_identifier(name), alias=exp.TableAlias(this=_identifier(alias)))
        case AsOf(input, time):
            table = _entry(input)
            table.set("version", exp.Version(this="TIMESTAMP", kind="AS OF", expression=_copied(time)))
            return table
        case Alias(input, alias, columns):
            named = exp.TableAlias(this=_identifier(alias) if alias else None)
            if columns:
                named.set("columns", [_identifier(name) for name in columns])
            return exp.Subquery(this=to_sql(input), alias=named)
    return exp.Subquery(this=to_sql(tree), alias=exp.TableAlias(this=_identifier("q")))


def _items(items: tuple[Item, ...]) -> list[exp.Expr]:
    return [_item(item) for item in items]


def _item(item: Item) -> exp.Expr:
    if isinstance(item, Named):
        value = _copied(item.value)
        return exp.Alias(this=value, alias=_identifier(item.name)) if item.alias else value
    star = exp.Star(except_=[exp.column(_identifier(name)) for name in item.without] or None)
    return exp.Column(this=star, table=_identifier(item.alias)) if item.alias else star


def _copied(scalar: Scalar) -> exp.Expr:
    return parsed(scalar).copy()


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)
