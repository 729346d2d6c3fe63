"""What Spark lets a SELECT name for short: earlier items of its list, and fields of structs.

SELECT cents / 100 AS euros, euros * 2 AS twice  ->  SELECT cents / 100 AS euros, (cents / 100) * 2 AS twice
SELECT g.a … GROUP BY g.a, of a column g         ->  SELECT (g).a AS a … GROUP BY (g).a
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from streambound.analyzer.algebra.schema_columns import Schema


def with_earlier_items(node: exp.Select, given: Schema) -> exp.Select:
    """A SELECT over rows of these columns, which come first, with what later items name of earlier ones."""
    earlier, changed = dict[str, exp.Expr](), None
    names = {column.name.lower() for column in given} | {column.alias.lower() for column in given}
    for place, item in enumerate(node.expressions):
        found = [one for one in _bare(item) if one.name.lower() in earlier and one.name.lower() not in names]
        if found:
            changed = changed or _copied(node)
            item = changed.expressions[place]
            for one in [one for one in _bare(item) if one.name.lower() in earlier and one.name.lower() not in names]:
                one.replace(exp.paren(earlier[one.name.lower()].copy()))
        if isinstance(item, exp.Alias):
            earlier.setdefault(item.alias.lower(), item.this)
    return changed or node


def with_fields(node: exp.Select, given: Schema, outer: Schema) -> exp.Select:
    """A SELECT that groups, with fields of structs apart from columns with an alias."""
    aliases = {column.alias.lower() for column in (*given, *outer)}
    names = {column.name.lower() for column in given}

    def is_field(column: exp.Column) -> bool:
        table = column.table.lower()
        return bool(table) and table not in aliases and table in names and not column.args.get("db")

    if not any(map(is_field, _columns(node))):
        return node
    node = _copied(node)
    for column in [one for one in _columns(node) if is_field(one)]:
        struct = exp.Column(this=column.args["table"].copy())
        field = exp.Dot(this=struct, expression=column.this.copy())
        listed = isinstance(column.parent, exp.Select) and column.arg_key == "expressions"
        column.replace(exp.alias_(field, column.name, quoted=True) if listed else field)
    return node


def _copied(node: exp.Select) -> exp.Select:
    made = node.copy()
    made.parent = node.parent
    return made


def _columns(node: exp.Select) -> Iterator[exp.Column]:
    """The columns of a SELECT's list and clauses, in no subquery."""
    clauses = [
        *node.expressions,
        *filter(None, (node.args.get(name) for name in ("where", "group", "having", "qualify"))),
    ]
    for clause in clauses:
        yield from (one for one in clause.find_all(exp.Column) if one.find_ancestor(exp.Query) is node)


def _bare(item: exp.Expr) -> list[exp.Column]:
    """The columns without an alias in an item, in no subquery."""
    return [
        one for one in item.find_all(exp.Column)
        if not one.table and not isinstance(one.this, exp.Star) and one.find_ancestor(exp.Query) is item.parent
    ]  # fmt: skip
