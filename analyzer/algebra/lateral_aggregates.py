"""LATERAL with aggregates and no groups, which has one row beside each row, as a subquery for each of its values.

SELECT S.k, q.n FROM S JOIN LATERAL (SELECT COUNT(*) AS n, MAX(T.v) AS m FROM T WHERE θ) AS q ON TRUE
->  SELECT S.k, (SELECT COUNT(*) AS n FROM T WHERE θ) AS n FROM S
"""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.calls import is_aggregate_call

_PLAIN = {"expressions", "from_", "where", "joins"}


def with_lateral_values(node: exp.Select) -> exp.Select | None:
    """The SELECT without the first such join; None without one, or where a star may stand for its columns."""
    joins = node.args.get("joins") or []
    place, values = next(((n, found) for n, join in enumerate(joins) if (found := _values(join))), (0, {}))
    if not values or any(one.is_star for one in node.expressions):
        return None
    alias = joins[place].this.alias_or_name.lower()
    made = node.copy()
    made.parent = node.parent
    del made.args["joins"][place]
    for column in list(made.find_all(exp.Column)):
        name = column.name.lower()
        if name in values and column.table.lower() == alias:
            value: exp.Expr = values[name].copy()
            if isinstance(column.parent, exp.Select) and column.arg_key == "expressions":
                value = exp.Alias(this=value, alias=exp.to_identifier(column.name, quoted=True))
            column.replace(value)
    left = any(column.table.lower() in ("", alias) and column.name.lower() in values for column in _own(made))
    return None if left else made


def _own(node: exp.Select) -> list[exp.Column]:
    return [one for one in node.find_all(exp.Column) if one.find_ancestor(exp.Query) is node]


def _values(join: exp.Join) -> dict[str, exp.Subquery]:
    """A subquery for each column of a LATERAL that has one row beside each row; none of another join."""
    on, lateral = join.args.get("on"), join.this
    subquery = lateral.this if isinstance(lateral, exp.Lateral) else None
    select = subquery.this if isinstance(subquery, exp.Subquery) else None
    always = on is None or (isinstance(on, exp.Boolean) and on.this)
    sided = join.side not in ("", "LEFT") or join.args.get("using")
    if not isinstance(select, exp.Select) or not always or sided or not lateral.alias_or_name:
        return {}
    items = {one.alias_or_name.lower(): one for one in select.expressions}
    clauses = {name for name, value in select.args.items() if value}
    aggregates = all(any(map(is_aggregate_call, one.walk(prune=_is_query))) for one in select.expressions)
    if not clauses <= _PLAIN or not aggregates or not all(items) or len(items) < len(select.expressions):
        return {}
    found = dict[str, exp.Subquery]()
    for name, one in items.items():
        asked = select.copy()
        asked.set("expressions", [one.copy()])
        found[name] = exp.Subquery(this=asked)
    return found


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, exp.Query)
