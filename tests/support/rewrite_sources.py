"""Rewrites of FROM, aliases, subqueries and unions."""

from __future__ import annotations

from sqlglot import exp

from support.choices import Choices
from support.syntax import Kinds, Tree, all_conditions, entries, joining, set_from, set_where, shuffled


def permute_from(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``FROM a, b JOIN c ON p WHERE q  ->  FROM c, a, b WHERE p AND q``"""
    selects = joining(tree)
    for select in selects:
        found, parts = entries(select), all_conditions(select)
        set_from(select, shuffled(found, choices), parts)
    return tree if selects else None


def commas_as_joins(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``FROM a, b WHERE p  ->  FROM a JOIN b ON p``"""
    selects = joining(tree)
    for select in selects:
        found, rest = entries(select), all_conditions(select)
        seen, joins = {found[0].alias_or_name}, []
        for entry in found[1:]:
            seen.add(entry.alias_or_name)
            mine = [p for p in rest if {c.table for c in p.find_all(exp.Column)} <= seen and choices.chance(70)]
            rest = [part for part in rest if part not in mine]
            kind = {"on": exp.and_(*mine)} if mine else {"kind": "CROSS"}
            joins.append(exp.Join(this=entry, **kind))
        set_from(select, found[:1], rest)
        select.set("joins", joins)
    return tree if selects else None


def rename_aliases(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``SELECT S.a FROM S  ->  SELECT q1.a FROM S AS q1``"""
    renamed = False
    for number, select in enumerate(list(tree.find_all(exp.Select))):
        columns = [column for column in select.find_all(exp.Column) if column.parent_select is select]
        order = shuffled(list(range(len(entries(select)))), choices)
        fresh = {e.alias_or_name: f"q{number}_{place}" for e, place in zip(entries(select), order, strict=True)}
        for entry in entries(select):
            entry.set("alias", exp.TableAlias(this=exp.to_identifier(fresh[entry.alias_or_name])))
        for column in (column for column in columns if column.table in fresh):
            column.set("table", exp.to_identifier(fresh[column.table]))
            renamed = True
    return tree if renamed else None


def wrap_table(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``FROM S WHERE S.a < 5 AND …  ->  FROM (SELECT * FROM S WHERE S.a < 5) AS S WHERE …``"""
    found = [(select, entry) for select in joining(tree) for entry in entries(select) if isinstance(entry, exp.Table)]
    if not found:
        return None
    select, entry = choices.pick(found)
    alias, inner = entry.alias_or_name, entry.name
    parts = [] if any(join.args.get("on") for join in select.args["joins"]) else all_conditions(select)
    own = [p for p in parts if {c.table for c in p.find_all(exp.Column)} == {alias}]
    pushed = [part for part in own if choices.chance(60)]
    query = exp.select("*").from_(exp.to_table(inner))
    if pushed:
        set_where(select, [part for part in parts if part not in pushed])
        for column in (column for part in pushed for column in part.find_all(exp.Column)):
            column.set("table", exp.to_identifier(inner))
        query = query.where(*pushed, dialect="spark")
    entry.replace(query.subquery(alias))
    return tree


def wrap_statement(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``SELECT x FROM …  ->  SELECT w.x FROM (SELECT x FROM …) AS w``, or as a CTE"""
    names = tree.named_selects
    if len(set(names)) < len(names) or "*" in names or "wrapped" in tree.sql():
        return None
    distinct = bool(tree.args.get("distinct"))
    outer = exp.select(*(exp.alias_(exp.column(name, "wrapped"), name) for name in names))
    clause = tree.args.get("with_")
    tree.set("with_", None)
    if choices.chance(50):
        ctes = list(clause.expressions) if clause else []
        cte = exp.CTE(this=tree, alias=exp.TableAlias(this=exp.to_identifier("wrapped")))
        outer = outer.from_("wrapped")
        outer.set("with_", exp.With(expressions=[*ctes, cte]))
    else:
        outer = outer.from_(exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier("wrapped"))))
        outer.set("with_", clause)
    return outer.distinct() if distinct else outer


def swap_union(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a UNION b  ->  b UNION a``"""
    if not isinstance(tree, exp.Union) or tree.left.named_selects != tree.right.named_selects:
        return None
    left, right = tree.left, tree.right
    tree.set("this", right)
    tree.set("expression", left)
    return tree
