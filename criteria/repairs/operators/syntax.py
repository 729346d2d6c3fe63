"""What the steps of a repair do to the syntax of a statement, and to its catalog."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.changes import stream_keys
from streambound.analyzer.expressions.dialect import parsed
from streambound.criteria.repairs.operators.spots import unplaced
from streambound.criteria.repairs.steps import (
    AddConjunct,
    AddGroupKey,
    AskNotExists,
    Declaration,
    DeclareDomain,
    DeclareOpenKeys,
    KeepDuplicates,
    ReadAsOf,
    Step,
)


def changed_syntax(tree: exp.Expr, steps: tuple[Step, ...]) -> exp.Expr | None:
    """The syntax after some steps; None where one of them has no place in it."""
    tree = tree.copy()
    for step in steps:
        if not isinstance(step, Declaration) and not _applied(tree, step):
            return None
    return tree


def changed_catalog(catalog: Catalog, steps: tuple[Step, ...]) -> Catalog:
    """The catalog after some steps."""
    domains = [step for step in steps if isinstance(step, DeclareDomain)]
    keys = [step for step in steps if isinstance(step, DeclareOpenKeys)]
    tables = tuple(_promised(_declared(table, domains), keys) for table in catalog.tables)
    if keys:
        known = {table.name: table.punctuations for table in tables}
        tables = tuple(replace(table, ending=stream_keys(known, table.name)) for table in tables)
    return replace(catalog, tables=tables) if domains or keys else catalog


def _promised(table: DeclaredTable, steps: list[DeclareOpenKeys]) -> DeclaredTable:
    most = {step.attributes: step.most for step in steps if step.table == table.name}
    told = (replace(one, max_open=most.get(one.attributes, one.max_open)) for one in table.punctuations)
    return replace(table, punctuations=tuple(told)) if most else table


def _declared(table: DeclaredTable, steps: list[DeclareDomain]) -> DeclaredTable:
    found = {step.column: step.domain for step in steps if step.table == table.name}
    columns = (replace(c, domain=found[c.name]) if c.name in found else c for c in table.columns)
    return replace(table, columns=tuple(columns)) if found else table


def _applied(tree: exp.Expr, step: Step) -> bool:
    """Apply a step to a tree; False where that has no place for it."""
    match step:
        case AddConjunct(place, text):
            node = place.node(tree)
            if isinstance(node, exp.Select):
                _conjunct(node, "where", text)
                return True
            return isinstance(node, exp.Join) and _joined(node, text)
        case AddGroupKey(spot, key, shown, name):
            select = spot.node(tree)
            if not isinstance(select, exp.Select) or select.args.get("group") is None:
                return False
            select.args["group"].append("expressions", _read(key))
            select.append("expressions", unplaced(exp.alias_(_read(shown), name)))
            return True
        case KeepDuplicates(spot):
            query = spot.node(tree)
            if not isinstance(query, exp.Select | exp.SetOperation):
                return False
            query.set("distinct", None if isinstance(query, exp.Select) else False)
            return True
        case AskNotExists(spot, equality):
            negation = spot.node(tree)
            if not isinstance(negation, exp.Not) or (select := asked(negation)) is None:
                return False
            _conjunct(select, "where", equality)
            negation.set("this", exp.Exists(this=select))
            return True
        case ReadAsOf(spot, time):
            table = spot.node(tree)
            if not isinstance(table, exp.Table) or table.args.get("version"):
                return False
            table.set("version", exp.Version(this="TIMESTAMP", kind="AS OF", expression=_read(time)))
            return True
    return False


def asked(negation: exp.Not) -> exp.Select | None:
    """The SELECT of ``NOT IN (SELECT …)``; None for another negation."""
    member = negation.this.unnest()
    query = member.args.get("query") if isinstance(member, exp.In) else None
    select = query.unnest() if query is not None else None
    return select if isinstance(select, exp.Select) else None


def _joined(join: exp.Join, text: str) -> bool:
    if join.args.get("on") is None:
        return False
    _conjunct(join, "on", text)
    return True


def _conjunct(node: exp.Expr, name: str, text: str) -> None:
    """``a AND text``, and parentheses around an OR."""
    there = node.args.get(name)
    written = there.this if isinstance(there, exp.Where) else there
    condition = _read(text)
    if written is not None:
        first = exp.Paren(this=written) if isinstance(written, exp.Or) else written
        condition = exp.And(this=first, expression=condition)
    node.set(name, exp.Where(this=condition) if name == "where" else condition)


def _read(text: str) -> exp.Expr:
    return unplaced(parsed(text).copy())
