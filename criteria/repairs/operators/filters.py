"""``SELECT … FROM (SELECT a, COUNT(*) … GROUP BY a) x WHERE x.a = 5``: the condition inside, before rows are grouped.

σ_p(γ_k(Q)) = γ_k(σ_p(Q)) for a condition p on keys k, of groups, of partitions and of DISTINCT; likewise for both sides
of UNION, EXCEPT and INTERSECT. Above them the condition stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from streambound.analyzer.diagnostics import FixKind
from streambound.analyzer.types import DataType
from streambound.criteria.repairs.operators.rejected import RejectedTree
from streambound.criteria.repairs.operators.spots import Spot
from streambound.criteria.repairs.steps import AddConjunct, Change

WEIGHT = 3
_NOTE = "the same rows are left, and fewer are remembered"
_ORDERED = ("limit", "offset", "qualify", "laterals", "pivots", "connect", "match", "sample")
_PLAIN = (
    exp.Column, exp.Identifier, exp.Literal, exp.Neg, exp.Null, exp.Boolean, exp.Paren, exp.Is, exp.Not, exp.And,
    exp.Or, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In,
)  # fmt: skip
"""What a condition is made of: it says the same of a row wherever it stands, and raises no error."""


def early_filters(rejected: RejectedTree) -> Iterator[Change]:
    """Conditions on keys, of a HAVING and above a subquery in FROM or a CTE, where rows come in."""
    for scope in rejected.scopes:
        select = scope.select
        having = select.args.get("having")
        if having is not None:
            own = [part for part in _conjuncts(having.this) if not _is_renamed(part, select)]
            steps = [step for part in own for step in _steps(part, {}, select)]
            yield from _change("filter before rows are grouped", steps)
        where, start, joins = select.args.get("where"), select.args.get("from_"), select.args.get("joins") or ()
        if where is None or start is None or any(join.method for join in joins):
            continue
        sides = {join.side.upper() for join in joins}
        for item in (start.this, *(join.this for join in joins)):
            query, name = _read(item, rejected.tree), item.alias_or_name
            if query is None or item.alias_column_names or not sides <= ({"", "LEFT"} if item is start.this else {""}):
                continue
            own = [part for part in _conjuncts(where.this) if _is_of(part, name, alone=not joins)]
            found = [list(_inside(part, query, rejected)) for part in own]
            yield from _change(f"filter the rows of {name} where they come in", [s for one in found for s in one])


def _read(item: exp.Expr, tree: exp.Expr) -> exp.Expr | None:
    """The query whose rows nothing but an item of a FROM reads: its own, or that of a CTE."""
    if any(item.args.get(name) for name in (*_ORDERED, "version", "db")):
        return None
    if isinstance(item, exp.Subquery):
        return item.this if item.alias else None
    ctes = [one for one in tree.find_all(exp.CTE) if one.alias.lower() == item.name.lower()]
    reads = [one for one in tree.find_all(exp.Table) if one.name.lower() == item.name.lower()]
    if not isinstance(item, exp.Table) or len(ctes) != 1 or len(reads) != 1 or ctes[0].alias_column_names:
        return None
    named = ctes[0].find_ancestor(exp.With)
    return None if named is None or named.args.get("recursive") else ctes[0].this


def _change(title: str, steps: list[AddConjunct]) -> Iterator[Change]:
    if steps:
        yield Change(("filter",), (title,), WEIGHT, tuple(dict.fromkeys(steps)), (_NOTE,), FixKind.SAFE)


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a condition that are made of columns and constants, each with a column."""
    for part in condition.flatten() if isinstance(condition, exp.And) else (condition,):
        if all(isinstance(node, _PLAIN) for node in part.walk()) and part.find(exp.Column):
            yield part


def _is_of(part: exp.Expr, alias: str, alone: bool) -> bool:
    names = {column.table.lower() for column in part.find_all(exp.Column)}
    return names <= ({alias.lower(), ""} if alone else {alias.lower()})


def _is_renamed(part: exp.Expr, select: exp.Select) -> bool:
    """Whether a name of a HAVING may be that of a column of the result, which is another one than what is read."""
    shown = {item.alias.lower(): item.unalias() for item in select.expressions if item.alias}
    columns = part.find_all(exp.Column)
    return any(not one.table and shown.get(one.name.lower(), one) != one for one in columns)


def _inside(part: exp.Expr, query: exp.Expr, rejected: RejectedTree) -> Iterator[AddConjunct]:
    """A condition on what a query says, where each SELECT of it reads; nothing where one of them has no place."""
    selects = list(_selects(query))
    columns = [column.name.lower() for column in part.find_all(exp.Column)]
    first = [item.alias_or_name.lower() for item in selects[0].expressions] if selects else []
    steps, types = list[AddConjunct](), list[tuple[DataType | None, ...]]()
    for select in selects:
        if any(first.count(name) != 1 for name in columns) or len(select.expressions) != len(first):
            return
        meant = {name: select.expressions[first.index(name)].unalias() for name in columns}
        found = list(_steps(part, meant, select))
        if not found:
            return
        steps += found
        types.append(tuple(_type(one, select, rejected) for one in meant.values()))
    if len(types) == 1 or (len(set(types)) == 1 and None not in types[0]):  # a set operation may convert values
        yield from steps


def _type(column: exp.Expr, select: exp.Select, rejected: RejectedTree) -> DataType | None:
    """The type of a column that a SELECT reads from a stream or relation; None where that is not certain."""
    items = next((scope.items for scope in rejected.scopes if scope.select is select), ())
    found = [item.table.column(column.name) for item in items if column.text("table") in ("", item.alias)]
    known = [one for one in found if one is not None]
    return known[0].type if len(known) == 1 else None


def _selects(query: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs of a query, of all sides of its set operations; none where one of them is ordered or cut short."""
    query = query.unnest()
    if any(query.args.get(name) for name in _ORDERED):
        return
    if isinstance(query, exp.Select):
        yield query
    elif isinstance(query, exp.SetOperation):
        sides = [list(_selects(query.this)), list(_selects(query.expression))]
        yield from sides[0] + sides[1] if all(sides) else ()


def _steps(part: exp.Expr, meant: dict[str, exp.Expr], select: exp.Select) -> Iterator[AddConjunct]:
    """A condition in the WHERE of a SELECT, if it is of its keys; ``meant`` is what its columns are there."""
    spot, keys = Spot.of(select), _keys(select)
    names = {column: meant.get(column.name.lower(), column) for column in part.find_all(exp.Column)}
    if spot is None or any(item.is_star for item in select.expressions):
        return
    if not all(isinstance(one, exp.Column) and (keys is None or one in keys) for one in names.values()):
        return
    written = part.transform(lambda node: names[node].copy() if node in names else node)
    text = written.sql("spark", comments=False)
    yield AddConjunct(spot, f"({text})" if isinstance(written, exp.Or) else text)


def _keys(select: exp.Select) -> list[exp.Expr] | None:
    """The keys of a SELECT's groups and partitions; None where each of its rows stands for itself."""
    group, found = select.args.get("group"), list[list[exp.Expr]]()
    if group is not None:
        plain = not any(value for name, value in group.args.items() if name != "expressions")
        found.append(group.expressions if plain else [])
    own = select.walk(prune=lambda node: isinstance(node, exp.Query) and node is not select)
    for node in own:
        if isinstance(node, exp.Window):
            found.append(node.args.get("partition_by") or [])
        elif isinstance(node, exp.AggFunc | exp.Anonymous) and group is None and not node.find_ancestor(exp.Window):
            found.append([])
    return [key for key in found[0] if all(key in others for others in found)] if found else None
