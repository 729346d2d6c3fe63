"""Functions of a group's array, and fields of its greatest struct, as aggregates that keep neither.

size(collect_set(x))               ->  CAST(COUNT(DISTINCT x) AS INT)
size(collect_list(x))              ->  CAST(COUNT(x) AS INT)
array_contains(collect_set(x), c)  ->  COUNT(CASE WHEN x = c THEN 1 END) > 0
array_max(collect_list(x))         ->  MAX(x)
sort_array(collect_list(x), false) ->  ARRAY_AGG(x ORDER BY x DESC)

Such an array has no NULL, and is empty where there are no other values.

MAX(STRUCT(y, x)).y                ->  MAX(y)
MAX(STRUCT(y, x)).x                ->  CASE WHEN COUNT(y) = 0 THEN MAX(x) ELSE MAX_BY(x, y) END
MIN(STRUCT(ts, x)).x               ->  MIN_BY(x, ts), of a stream's time, which is never NULL
"""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.schema_columns import Schema

_ARRAYS = ("collect_list", "collect_set")
_SORTED = ("sort_array", "array_sort")
_SIZES, _BEST = ("size", "cardinality", "array_size"), {"array_max": exp.Max, "array_min": exp.Min}


def with_plain_aggregates(root: exp.Expr, columns: Schema) -> None:
    """Put aggregates of columns in the place of such calls, in an expression that is changed, not in its subqueries."""
    for node in list(root.walk(prune=lambda one: isinstance(one, exp.Query))):
        made = None
        if isinstance(node, exp.Anonymous) and node.expressions:
            made = _of_array(node.name.lower(), node.expressions[0], node.expressions[1:])
        elif isinstance(node, exp.Dot):
            made = _of_struct(node.this.unnest(), node.expression.name.lower(), columns)
        if made is not None:
            node.replace(made)


def _of_struct(struct: exp.Expr, name: str, columns: Schema) -> exp.Expr | None:
    """The aggregate that a field of a greatest or least struct is; None for another struct, or one of more fields."""
    best = struct.this if isinstance(struct, exp.Filter) else struct
    made = best.this if isinstance(best, exp.Max | exp.Min) else None
    if not isinstance(made, exp.Anonymous) or made.name.lower() != "named_struct" or len(made.expressions) != 4:
        return None
    (first, order), (second, shown) = (made.expressions[:2], made.expressions[2:])
    if name not in (first.name.lower(), second.name.lower()):
        return None

    def aggregate(kind: type[exp.Expr], *arguments: exp.Expr) -> exp.Expr:
        names = dict(zip(kind.arg_types, (one.copy() for one in arguments), strict=False))
        call = kind(**names)
        return exp.Filter(this=call, expression=struct.expression.copy()) if struct is not best else call

    is_max, by = isinstance(best, exp.Max), exp.ArgMax if isinstance(best, exp.Max) else exp.ArgMin
    always = isinstance(order, exp.Column) and any(one.time and one.called(order.name, order.table) for one in columns)
    if not is_max and not always:
        return None
    if name == first.name.lower():
        return aggregate(type(best), order)
    if always:
        return aggregate(by, shown, order)
    none = exp.EQ(this=aggregate(exp.Count, order), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=none, true=aggregate(exp.Max, shown))], default=aggregate(by, shown, order))


def _of_array(name: str, array: exp.Expr, more: list[exp.Expr]) -> exp.Expr | None:
    """The aggregate that a function of an array is; None for another function or array."""
    collected = array.this if isinstance(array, exp.Filter) else array
    if isinstance(collected, exp.ArrayAgg):
        value, is_set = collected.this, False
    elif isinstance(collected, exp.Anonymous) and collected.name.lower() in _ARRAYS and len(collected.expressions) == 1:
        (value,), is_set = collected.expressions, collected.name.lower() == "collect_set"
    else:
        return None
    if isinstance(value, exp.Order):
        value = value.this
    if isinstance(value, exp.Distinct) and len(value.expressions) == 1:
        (value,), is_set = value.expressions, True
    found: exp.Expr
    if isinstance(value, exp.Distinct):
        return None
    if name in _SIZES and not more:
        found = exp.Count(this=exp.Distinct(expressions=[value.copy()]) if is_set else value.copy())
    elif name in _BEST and not more:
        found = _BEST[name](this=value.copy())
    elif name in _SORTED and len(more) <= (name == "sort_array") and all(isinstance(one, exp.Boolean) for one in more):
        key = exp.Ordered(this=value.copy(), desc=bool(more) and not more[0].this)
        of = exp.Distinct(expressions=[value.copy()]) if is_set else value.copy()
        found = exp.ArrayAgg(this=exp.Order(this=of, expressions=[key]))
    elif name == "array_contains" and len(more) == 1 and not more[0].find(exp.Column, exp.Null):
        same = exp.EQ(this=exp.paren(value.copy()), expression=more[0].copy())
        found = exp.Count(this=exp.Case(ifs=[exp.If(this=same, true=exp.Literal.number(1))]))
    else:
        return None
    if isinstance(array, exp.Filter):
        found = exp.Filter(this=found, expression=array.expression.copy())
    if name in _SIZES:
        return exp.cast(found, "int", dialect="spark")
    return found if name in (*_BEST, *_SORTED) else exp.paren(exp.GT(this=found, expression=exp.Literal.number(0)))
