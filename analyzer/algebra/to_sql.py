"""A tree as one Spark SQL query: what is said of the tree can be asked of Spark."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.calls import call_syntax, interval_syntax, order_syntax

_SET_OPERATIONS: dict[type[nodes.SetOperation], type[exp.SetOperation]] = {
    nodes.Union: exp.Union,
    nodes.Except: exp.Except,
    nodes.Intersect: exp.Intersect,
}
_JOINS = {
    nodes.JoinKind.INNER: {},
    nodes.JoinKind.LEFT: {"side": "LEFT"},
    nodes.JoinKind.RIGHT: {"side": "RIGHT"},
    nodes.JoinKind.FULL: {"side": "FULL"},
    nodes.JoinKind.SEMI: {"side": "LEFT", "kind": "SEMI"},
    nodes.JoinKind.ANTI: {"side": "LEFT", "kind": "ANTI"},
    nodes.JoinKind.NOT_IN: {"side": "LEFT", "kind": "ANTI"},
}


def to_sql(tree: nodes.Tree) -> exp.Query:
    """The query of a tree, as syntax of its own; each recursive relation of it is defined once, at its top."""
    tree, recursive = _apart(tree, {})
    query = _query(tree)
    for name, fixpoint in recursive.items():
        body = exp.Union(this=_query(fixpoint.base), expression=_query(fixpoint.step), distinct=fixpoint.distinct)
        query = query.with_(_identifier(name), as_=body, recursive=True, copy=False)
    return query


def _apart(tree: nodes.Tree, known: dict[str, nodes.Fixpoint]) -> tuple[nodes.Tree, dict[str, nodes.Fixpoint]]:
    """A tree whose recursive relations have names of their own, and these relations, inner ones first."""
    for field, under in nodes.named_inputs(tree).items():
        changed, known = _apart(under, known)
        tree = replace(tree, **{field: changed})
    if isinstance(tree, nodes.Fixpoint):
        name, number = tree.name, 1
        while known.get(name, tree) != tree:
            number += 1
            step, name = _recurring(tree.step, tree.name, f"{tree.name}_{number}"), f"{tree.name}_{number}"
            tree = replace(tree, name=name, step=step)
        known = {**known, name: tree}
    return tree, known


def _recurring(tree: nodes.Tree, name: str, other: str) -> nodes.Tree:
    """A tree that reads a recursive relation under another name."""
    if isinstance(tree, nodes.Recur):
        return replace(tree, name=other) if tree.name == name else tree
    changed = {field: _recurring(under, name, other) for field, under in nodes.named_inputs(tree).items()}
    return replace(tree, **changed)


def _query(tree: nodes.Tree) -> exp.Query:
    match tree:
        case nodes.Project(input, items):
            return _select(items, input)
        case nodes.Aggregate(keys=keys, calls=calls):
            return _select((*(replace(key, alias=True) for key in keys), *map(_column, calls)), tree)
        case nodes.Over(input, calls):
            return _select((nodes.Star(), *map(_column, calls)), tree)
        case nodes.Bucket(columns=columns):
            ends = (nodes.Named(name, nodes.Scalar(_quoted(name)), alias=True) for name in columns)
            return _select((nodes.Star(), *ends), replace(tree, alias=""))
        case nodes.Apply(name=name):
            return _select((nodes.Star(), nodes.Named(name, nodes.Scalar(_quoted(name)), alias=True)), tree)
        case nodes.Distinct(input):
            inner = _query(input)
            plain = isinstance(inner, exp.Select) and not inner.args.get("distinct")
            return inner.distinct(copy=False) if plain and isinstance(inner, exp.Select) else _all_of(inner).distinct()
        case (
            nodes.Union(left, right, distinct)
            | nodes.Except(left, right, distinct)
            | nodes.Intersect(left, right, distinct)
        ):
            make = _SET_OPERATIONS[type(tree)]
            return make(this=_query(left), expression=_query(right), distinct=distinct)
        case nodes.OrderBy(input, keys):
            query = _open(_query(input))
            query.set("order", order_syntax(keys, _copied))
            return query
        case nodes.FirstRows(input, count, offset):
            query = _open(_query(input))
            query = query if count is None else query.limit(_copied(count), copy=False)
            return query if offset is None else query.offset(_copied(offset), copy=False)
        case nodes.SpjBlock(input):
            return _query(input)
        case nodes.Fixpoint(name):
            return exp.select("*").from_(_identifier(name))
    return _from(exp.Select(expressions=[exp.Star()]), tree)


def _select(items: tuple[nodes.Item, ...], tree: nodes.Tree) -> exp.Select:
    """One SELECT over what its list, GROUP BY, HAVING and QUALIFY were lowered to, above a tree of joins."""
    list_ = _List(tree)
    select = exp.Select(expressions=[_item(item, list_) for item in items])
    if list_.qualify is not None:
        select.set("qualify", exp.Qualify(this=list_.value(list_.qualify)))
    if list_.having is not None:
        select.set("having", exp.Having(this=list_.value(list_.having)))
    if list_.keys:
        select.set("group", exp.Group(expressions=list_.keys))
    return _from(select, list_.below)


class _List:
    """The operators between a projection and the joins that it is of: what their columns stand for in SQL."""

    def __init__(self, tree: nodes.Tree) -> None:
        self.meant: dict[str, exp.Expr] = {}
        self.qualify: nodes.Scalar | None = None
        self.having: nodes.Scalar | None = None
        self.keys: list[exp.Expr] = []
        self._names: dict[int, str] = {}
        self.below = self._down(tree)

    def value(self, scalar: nodes.Scalar) -> exp.Expr:
        """An expression, with what its columns stand for."""
        holder = exp.Paren(this=_copied(scalar))
        for column in list(holder.find_all(exp.Column)):
            found = self.meant.get(column.name.lower()) if not column.table else None
            if found is None or column.find_ancestor(exp.Query):
                continue
            nested = isinstance(found, exp.Binary | exp.Not) and column.parent is not holder
            column.replace(exp.Paren(this=found.copy()) if nested else found.copy())
        return holder.this  # type: ignore[no-any-return]

    def _down(self, tree: nodes.Tree) -> nodes.Tree:
        match tree:
            case nodes.Filter(nodes.Over() as over, condition):
                self.qualify = condition
                return self._down(over)
            case nodes.Filter(nodes.Aggregate() as aggregate, condition) | nodes.Filter(
                nodes.Apply(nodes.Aggregate()) as aggregate, condition
            ):
                self.having = condition
                return self._down(aggregate)
            case nodes.Over(input, calls):
                below = self._down(input)
                self.meant |= {call.name.lower(): call_syntax(call, self.value) for call in calls}
                return below
            case nodes.Apply(input, subquery, kind, name, operands):
                below = self._down(input)
                self.meant[name.lower()] = _asked(_query(subquery), kind, [self.value(one) for one in operands])
                return below
            case nodes.Aggregate(input, keys, calls):
                return self._aggregate(input, keys, calls)
            case nodes.Bucket(alias="") as bucket:
                return self._bucket(bucket, grouped=False)
        return tree

    def _aggregate(
        self, tree: nodes.Tree, keys: tuple[nodes.Named, ...], calls: tuple[nodes.AggregateCall, ...]
    ) -> nodes.Tree:
        names = {key.name.lower() for key in keys}
        ends = {name.lower() for name in tree.columns} if isinstance(tree, nodes.Bucket) and not tree.alias else set()
        if isinstance(tree, nodes.Bucket) and ends and ends <= names:
            below = self._bucket(tree, grouped=True)
            keys = tuple(key for key in keys if key.name.lower() not in ends)
            self.keys = [*map(self._key, keys), _bucket_call(tree, self.value)]
        else:
            below = self._down(tree)
            self.keys = [self._key(key) for key in keys]
        made = {key.name.lower(): self._key(key) for key in keys if key.alias}
        self.meant |= made | {call.name.lower(): call_syntax(call, self.value) for call in calls}
        return below

    def _key(self, key: nodes.Named) -> exp.Expr:
        return self.value(key.value)

    def _bucket(self, bucket: nodes.Bucket, grouped: bool) -> nodes.Tree:
        """``grouped``: the bucket is a key, so that its name means it."""
        below = self._down(bucket.input)
        call = _bucket_call(bucket, self.value)
        named = exp.column(call.name)
        for name, end in zip(bucket.columns, ("start", "end"), strict=False):
            part = exp.column(exp.to_identifier(end), call.name) if grouped else None
            self.meant[name.lower()] = part or exp.Dot(this=call.copy(), expression=exp.to_identifier(end))
        if len(bucket.columns) > 2:
            last = exp.Dot(this=named if grouped else call.copy(), expression=exp.to_identifier("end"))
            self.meant[bucket.columns[2].lower()] = exp.Sub(this=last, expression=interval_syntax(1))
        return below


def _bucket_call(bucket: nodes.Bucket, value: Callable[[nodes.Scalar], exp.Expr]) -> exp.Anonymous:
    """The call of Spark's function that makes the buckets."""
    lengths = [bucket.size]
    if bucket.kind is not nodes.BucketKind.SESSION and (bucket.slide != bucket.size or bucket.offset):
        lengths += [bucket.slide, bucket.offset] if bucket.offset else [bucket.slide]
    texts = [exp.Literal.string(f"{length} microseconds") for length in lengths]
    name = "session_window" if bucket.kind is nodes.BucketKind.SESSION else "window"
    return exp.Anonymous(this=name, expressions=[value(bucket.time), *texts])


def _asked(query: exp.Query, kind: nodes.ApplyKind, operands: list[exp.Expr]) -> exp.Expr:
    """A subquery in an expression."""
    match kind:
        case nodes.ApplyKind.EXISTS:
            return exp.Exists(this=query)
        case nodes.ApplyKind.IN:
            value = operands[0] if len(operands) == 1 else exp.Tuple(expressions=operands)
            return exp.In(this=value, query=exp.Subquery(this=query))
        case nodes.ApplyKind.SCALAR:
            return exp.Subquery(this=query)


def _column(call: nodes.AggregateCall | nodes.WindowCall) -> nodes.Named:
    return nodes.Named(call.name, nodes.Scalar(_quoted(call.name)), alias=True)


def _quoted(name: str) -> exp.Column:
    return exp.column(_identifier(name))


def _open(query: exp.Query) -> exp.Query:
    """A query that can still get an ORDER BY or a LIMIT."""
    return _all_of(query) if any(query.args.get(name) for name in ("limit", "offset")) else query


def _all_of(query: exp.Query) -> exp.Select:
    return exp.select("*").from_(exp.Subquery(this=query, alias=exp.TableAlias(this=_identifier("q"))))


def _from(select: exp.Select, tree: nodes.Tree) -> exp.Select:
    """A SELECT over a tree of joins, and their filter."""
    if isinstance(tree, nodes.Filter):
        list_ = _List(tree.input)
        if not isinstance(tree.input, nodes.Apply):
            return _from(select, tree.input).where(_copied(tree.condition), copy=False)
        return _from(select, list_.below).where(list_.value(tree.condition), copy=False)
    if isinstance(tree, nodes.Join) and tree.kind in nodes.ONE_SIDED and not tree.using:
        return _from(select, tree.left).where(_partners(tree), copy=False)
    if isinstance(tree, nodes.Scan) and tree.table == nodes.ONE_ROW:
        return select
    joins = list[nodes.Join]()
    while isinstance(tree, nodes.Join):
        joins.insert(0, tree)
        tree = tree.left
    select.from_(_entry(tree), copy=False)
    for join in joins:
        node = exp.Join(this=_entry(join.right), **_JOINS[join.kind])
        if (condition := _condition(join)) is not None:
            node.set("on", condition)
        elif join.using:
            node.set("using", [_identifier(name) for name in join.using])
        elif join.kind in (nodes.JoinKind.SEMI, nodes.JoinKind.ANTI):
            node.set("on", exp.true())
        elif join.kind is nodes.JoinKind.INNER:
            node.set("kind", "CROSS")
        select.append("joins", node)
    return select


def _condition(join: nodes.Join) -> exp.Expr | None:
    """The condition on partners; for NOT IN it includes the rows where it is unknown."""
    condition = _copied(join.condition) if join.condition is not None else None
    if join.member is None:
        return condition
    member = exp.func("coalesce", _copied(join.member), exp.true())
    return exp.and_(condition, member) if condition is not None else member


def _partners(join: nodes.Join) -> exp.Expr:
    """A semi or anti join as a condition."""
    query, condition = _from(exp.select("1"), join.right), _condition(join)
    exists = exp.Exists(this=query if condition is None else query.where(condition, copy=False))
    return exists if join.kind is nodes.JoinKind.SEMI else exp.Not(this=exists)


def _entry(tree: nodes.Tree) -> exp.Expr:
    match tree:
        case nodes.Scan(table=name, alias=alias) | nodes.Recur(name, alias):
            return exp.Table(this=_identifier(name), alias=exp.TableAlias(this=_identifier(alias)))
        case nodes.AsOf(input, time):
            table = _entry(input)
            table.set("version", exp.Version(this="TIMESTAMP", kind="AS OF", expression=_copied(time)))
            return table
        case nodes.Alias(input, alias, columns):
            named = exp.TableAlias(this=_identifier(alias) if alias else None)
            if columns:
                named.set("columns", [_identifier(name) for name in columns])
            return exp.Subquery(this=_query(input), alias=named)
    alias = tree.alias if isinstance(tree, nodes.Bucket) else "q"
    return exp.Subquery(this=_query(tree), alias=exp.TableAlias(this=_identifier(alias)))


def _item(item: nodes.Item, list_: _List) -> exp.Expr:
    if isinstance(item, nodes.Named):
        value = list_.value(item.value)
        return exp.Alias(this=value, alias=_identifier(item.name)) if item.alias else value
    without = [name for name in item.without if name.lower() not in list_.meant]
    star = exp.Star(except_=[exp.column(_identifier(name)) for name in without] or None)
    return exp.Column(this=star, table=_identifier(item.alias)) if item.alias else star


def _copied(scalar: nodes.Scalar) -> exp.Expr:
    return scalar.syntax.copy()


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)
