"""Ways to write the same query differently, as changes of sqlglot's syntax tree. Shares no code with the analyzer.

Each rewrite keeps the meaning on every input, NULLs included (`tests/test_rewrites.py` runs both texts in DuckDB). It
changes one place that it is offered at random, and returns None where it finds none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp

from tests.support.choices import Choices

Tree = exp.Expression
Kinds = Mapping[str, str]
"""The type of a column by its name: generated catalogs give a name one type."""

FLIPPED: dict[type[Tree], type[Tree]] = {
    exp.LT: exp.GT, exp.LTE: exp.GTE, exp.EQ: exp.EQ, exp.GTE: exp.LTE, exp.GT: exp.LT, exp.NEQ: exp.NEQ,
}  # fmt: skip
NEGATED: dict[type[Tree], type[Tree]] = {
    exp.LT: exp.GTE, exp.LTE: exp.GT, exp.EQ: exp.NEQ, exp.GTE: exp.LT, exp.GT: exp.LTE, exp.NEQ: exp.EQ,
}  # fmt: skip
_BOOLEAN = (exp.Where, exp.And, exp.Or, exp.Not, exp.Paren, exp.Join)


@dataclass(frozen=True)
class Rewrite:
    """A rewrite. ``joins`` says that it changes which joins between streams the query states (paper, C2 and C4)."""

    apply: Callable[[Tree, Kinds, Choices], Tree | None]
    joins: bool = False

    @property
    def name(self) -> str:
        """Named after its function."""
        return self.apply.__name__


def kinds_of(catalog: Mapping[str, Any]) -> dict[str, str]:
    """The types of a catalog's columns by name."""
    tables = {**catalog.get("streams", {}), **catalog.get("relations", {})}
    return {column: kind for body in tables.values() for column, kind in body["columns"].items()}


def rewritten(sql: str, rewrite: Rewrite, kinds: Kinds, choices: Choices) -> str | None:
    """The statement with one rewrite applied somewhere; None where it applies nowhere."""
    tree = rewrite.apply(sqlglot.parse_one(sql, read="spark"), kinds, choices)
    return None if tree is None else tree.sql("spark")


# --- conditions as they stand, anywhere in a WHERE or ON ----------------------------------------------------------


def flip_sides(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < y  ->  y > x``"""
    return _somewhere(tree, choices, _comparisons(tree), lambda c: FLIPPED[type(c)](this=c.right, expression=c.left))


def move_offset(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x + 2 < y  ->  x < y - 2``, and from the right to the left"""
    moves = {exp.Add: exp.Sub, exp.Sub: exp.Add}
    found = [c for c in _comparisons(tree) if type(c.left) in moves or type(c.right) in moves]

    def moved(atom: Tree) -> Tree:
        side, other = ("this", "expression") if type(atom.left) in moves else ("expression", "this")
        term = atom.args[side]
        atom.set(other, moves[type(term)](this=_closed(atom.args[other]), expression=term.expression))
        atom.set(side, term.this)
        return atom

    return _somewhere(tree, choices, found, moved)


def shift_both_sides(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < y  ->  x + 2 < y + 2``"""
    found = [c for c in _comparisons(tree) if _is_integer(c, kinds)]
    shift = str(choices.integer(1, 3))

    def shifted(atom: Tree) -> Tree:
        sides = (exp.Add(this=_closed(side), expression=exp.Literal.number(shift)) for side in (atom.left, atom.right))
        return type(atom)(this=next(sides), expression=next(sides))

    return _somewhere(tree, choices, found, shifted)


def negate_twice(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``c  ->  NOT (NOT (c))``"""
    return _somewhere(tree, choices, _conditions(tree), lambda c: _not(_not(c)))


def negate_opposite(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < y  ->  NOT (x >= y)``, ``x <> y  ->  NOT (x = y)``"""
    opposite = lambda c: _not(NEGATED[type(c)](this=c.left, expression=c.right))  # noqa: E731
    return _somewhere(tree, choices, _comparisons(tree), opposite)


def push_not_inwards(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``NOT (x < y)  ->  x >= y``, ``NOT (a AND b)  ->  NOT a OR NOT b``, ``NOT NOT c  ->  c``"""
    inner = {node: node.this.unnest() for node in tree.find_all(exp.Not)}
    found = [node for node, part in inner.items() if type(part) in NEGATED or isinstance(part, exp.Connector | exp.Not)]

    def pushed(node: Tree) -> Tree:
        part = inner[node]
        if isinstance(part, exp.Not):
            return _closed(part.this)
        if isinstance(part, exp.Connector):
            other = exp.Or if isinstance(part, exp.And) else exp.And
            return exp.Paren(this=other(this=_not(part.left), expression=_not(part.right)))
        return NEGATED[type(part)](this=part.left, expression=part.right)

    return _somewhere(tree, choices, found, pushed)


def pull_not_outwards(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a OR b  ->  NOT (NOT a AND NOT b)``"""
    demorgan = lambda c: _not(exp.And(this=_not(c.left), expression=_not(c.right)))  # noqa: E731
    return _somewhere(tree, choices, list(tree.find_all(exp.Or)), demorgan)


def open_between(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x BETWEEN a AND b  ->  x >= a AND x <= b``"""

    def opened(node: Tree) -> Tree:
        low = exp.GTE(this=node.this.copy(), expression=node.args["low"])
        return exp.Paren(this=exp.And(this=low, expression=exp.LTE(this=node.this, expression=node.args["high"])))

    return _somewhere(tree, choices, list(tree.find_all(exp.Between)), opened)


def close_between(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x = 3  ->  x BETWEEN 3 AND 3``"""
    found = [c for c in _comparisons(tree) if isinstance(c, exp.EQ)]
    return _somewhere(
        tree, choices, found, lambda c: exp.Between(this=c.left, low=_closed(c.right), high=_closed(c.right.copy()))
    )


def strict_or_weak(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < y  ->  x <= y - 1``, ``x >= 3  ->  x > 2``: over integers"""
    step: dict[type[Tree], tuple[type[Tree], str]] = {
        exp.LT: (exp.LTE, "-1"), exp.LTE: (exp.LT, "1"), exp.GT: (exp.GTE, "1"), exp.GTE: (exp.GT, "-1"),
    }  # fmt: skip
    found = [c for c in _comparisons(tree) if type(c) in step and _is_integer(c, kinds)]

    def stepped(atom: Tree) -> Tree:
        op, offset = step[type(atom)]
        return op(this=atom.left, expression=_plus(atom.right, int(offset)))

    return _somewhere(tree, choices, found, stepped)


def equality_as_two(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x = y  ->  x <= y AND x >= y``"""
    found = [c for c in _comparisons(tree) if isinstance(c, exp.EQ)]

    def both(atom: Tree) -> Tree:
        weak = exp.LTE(this=atom.left.copy(), expression=atom.right.copy())
        return exp.Paren(this=exp.And(this=weak, expression=exp.GTE(this=atom.left, expression=atom.right)))

    return _somewhere(tree, choices, found, both)


def in_as_or(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x IN (1, 2)  ->  x = 1 OR x = 2``"""

    def spelled(node: Tree) -> Tree:
        options = _shuffled(node.expressions, choices)
        return exp.Paren(this=_any([exp.EQ(this=node.this.copy(), expression=option) for option in options]))

    return _somewhere(tree, choices, list(tree.find_all(exp.In)), spelled)


def repeat_in(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x IN (1, 2)  ->  x IN (2, 1, 2)``"""

    def repeated(node: Tree) -> Tree:
        node.set("expressions", _shuffled([*node.expressions, node.expressions[0].copy()], choices))
        return node

    return _somewhere(tree, choices, list(tree.find_all(exp.In)), repeated)


def range_as_in(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x BETWEEN 1 AND 3  ->  x IN (1, 2, 3)``: over integers"""
    found = [
        node
        for node in tree.find_all(exp.Between)
        if _is_integer(node, kinds) and None not in (ends := _ends(node)) and 0 <= ends[1] - ends[0] < 6
    ]

    def listed(node: Tree) -> Tree:
        low, high = _ends(node)
        values = [_number(value) for value in range(low, high + 1)]
        return exp.In(this=node.this, expressions=_shuffled(values, choices))

    return _somewhere(tree, choices, found, listed)


def split_range(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < 3  ->  (x < 1 OR x >= 1 AND x < 3)``, ``x <= 3  ->  (x <= 3 OR x < 2)``: they touch, or overlap"""
    found = [c for c in _comparisons(tree) if _is_bound(c, kinds) and isinstance(c, exp.LT | exp.LTE)]
    touching = choices.chance(50)

    def halves(atom: Tree) -> Tree:
        middle = _value(atom.right) - choices.integer(1, 2)
        below = exp.LT(this=atom.left.copy(), expression=_number(middle))
        above: Tree = atom.copy()
        if touching:
            above = exp.And(this=exp.GTE(this=atom.left.copy(), expression=_number(middle)), expression=above)
        return exp.Paren(this=_any(_shuffled([below, above], choices)))

    return _somewhere(tree, choices, found, halves)


def boolean_form(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``b  ->  b = TRUE``, ``b = TRUE  ->  NOT b = FALSE``, ``b  ->  b <> FALSE``"""
    flags = [node for node in tree.find_all(exp.Column) if kinds.get(node.name) == "boolean"]
    bare = [node for node in flags if isinstance(node.parent, _BOOLEAN)]
    pick = choices.integer(0, 2)

    def stated(node: Tree) -> Tree:
        if pick == 0:
            return exp.EQ(this=node.copy(), expression=exp.true())
        if pick == 1:
            return exp.NEQ(this=node.copy(), expression=exp.false())
        return _not(exp.EQ(this=node.copy(), expression=exp.false()))

    return _somewhere(tree, choices, bare, stated)


def bare_boolean(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``b = TRUE  ->  b``, ``b = FALSE  ->  NOT b``"""
    found = [c for c in _comparisons(tree) if isinstance(c, exp.EQ) and isinstance(c.right, exp.Boolean)]
    found = [c for c in found if isinstance(c.left, exp.Column)]
    return _somewhere(tree, choices, found, lambda c: c.left if c.right.this else _not(c.left))


def reorder_alternatives(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a OR b OR c  ->  c OR a OR b``"""
    found = [node for node in tree.find_all(exp.Or) if not isinstance(node.parent, exp.Or)]
    shuffle = lambda node: exp.Paren(this=_any(_shuffled(_flat(node), choices)))  # noqa: E731
    return _somewhere(tree, choices, found, shuffle)


def absorbed_alternative(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a  ->  (a OR a AND b)``, ``b`` being another condition of the WHERE"""
    wheres = [node for node in tree.find_all(exp.Where) if isinstance(node.this.unnest(), exp.And)]
    if not wheres:
        return None
    parts = _parts(choices.pick(wheres))
    first, second = choices.pick(parts), choices.pick(parts)
    more = exp.And(this=_closed(first.copy()), expression=_closed(second.copy()))
    first.replace(exp.Paren(this=_any(_shuffled([first.copy(), exp.Paren(this=more)], choices))))
    return tree


def distribute(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a AND (b OR c)  ->  a AND b OR a AND c``"""
    for where in _shuffled(list(tree.find_all(exp.Where)), choices):
        parts = _parts(where)
        choice = next((part for part in parts if isinstance(part.unnest(), exp.Or)), None)
        others = [part for part in parts if part is not choice]
        if choice is None or not others:
            continue
        common = choices.pick(others)
        rest = [part for part in others if part is not common]
        options = [
            exp.Paren(this=exp.And(this=_closed(common.copy()), expression=_closed(option)))
            for option in _flat(choice.unnest())
        ]
        where.set("this", exp.and_(*rest, exp.Paren(this=_any(options))))
        return tree
    return None


# --- the conjunction of a WHERE -----------------------------------------------------------------------------------


def repeat_conjunct(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a AND b  ->  a AND b AND a``"""
    return _grown(tree, choices, lambda parts: [choices.pick(parts)])


def shuffle_conjuncts(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a AND b AND c  ->  c AND a AND b``"""
    wheres = [where for where in tree.find_all(exp.Where) if len(_parts(where)) > 1]
    for where in wheres:
        where.set("this", exp.and_(*_shuffled(_parts(where), choices)))
    return tree if wheres else None


def add_weaker(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < 5  ->  x < 5 AND x < 7``, ``x < y  ->  x < y AND x <> y``"""

    def weaker(parts: list[Tree]) -> list[Tree]:
        found = []
        for part in parts:
            if isinstance(part, exp.LT | exp.GT):
                weak = exp.LTE if isinstance(part, exp.LT) else exp.GTE
                found.append(choices.pick([weak, exp.NEQ])(this=part.left.copy(), expression=part.right.copy()))
            if _is_bound(part, kinds) and isinstance(part, exp.LT | exp.LTE | exp.GT | exp.GTE):
                away = choices.integer(1, 3) * (1 if isinstance(part, exp.LT | exp.LTE) else -1)
                op = choices.pick([type(part), exp.NEQ])
                found.append(op(this=part.left.copy(), expression=_number(_value(part.right) + away * 2)))
        return [choices.pick(found)] if found else []

    return _grown(tree, choices, weaker)


def add_not_null(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < 5  ->  x < 5 AND x IS NOT NULL``"""

    def present(parts: list[Tree]) -> list[Tree]:
        columns = [column for part in parts if type(part) in NEGATED for column in part.find_all(exp.Column)]
        return [_not(exp.Is(this=choices.pick(columns).copy(), expression=exp.null()))] if columns else []

    return _grown(tree, choices, present)


def add_transitive_time(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``S.ts > T.ts AND T.ts > U.ts  ->  … AND S.ts > U.ts``"""
    return _grown(tree, choices, lambda parts: _transitive(parts, choices, time=True))


def add_transitive(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < y AND y <= z  ->  … AND x < z``"""
    return _grown(tree, choices, lambda parts: _transitive(parts, choices, time=False))


def _transitive(parts: list[Tree], choices: Choices, time: bool) -> list[Tree]:
    less = []
    for part in parts:
        sides = [part.left, part.right] if type(part) in NEGATED else []
        if sides and all(isinstance(side, exp.Column | exp.Literal) for side in sides):
            x, y = sides
            if isinstance(part, exp.LT | exp.LTE | exp.EQ):
                less.append((x, y, isinstance(part, exp.LT)))
            if isinstance(part, exp.GT | exp.GTE | exp.EQ):
                less.append((y, x, isinstance(part, exp.GT)))
    found: list[Tree] = []
    for x, y, strict in less:
        for u, z, also_strict in less:
            columns = isinstance(x, exp.Column) and isinstance(y, exp.Column) and x != z
            if y == u and columns and (x.name == "ts") is time:
                op = exp.LT if strict or also_strict else exp.LTE
                found.append(op(this=x.copy(), expression=z.copy()))
    return [choices.pick(found)] if found else []


def other_spanning_tree(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x = y AND y = z  ->  x = y AND x = z``, constants included"""
    changed = False
    for where in list(tree.find_all(exp.Where)):
        parts = _parts(where)
        equal = [p for p in parts if isinstance(p, exp.EQ) and all(_is_leaf(side) for side in (p.left, p.right))]
        chains: list[list[Tree]] = []
        for part in equal:
            mine = [chain for chain in chains if part.left in chain or part.right in chain]
            merged = [side for chain in mine for side in chain]
            merged += [side for side in (part.left, part.right) if side not in merged]
            chains = [chain for chain in chains if chain not in mine] + [merged]
        if not any(len(chain) > 2 for chain in chains):
            continue
        rest = [part for part in parts if part not in equal]
        for chain in chains:
            chain = _shuffled(chain, choices)
            for place, side in enumerate(chain[1:], start=1):
                other = chain[choices.integer(0, place - 1)]
                if isinstance(side, exp.Column) or isinstance(other, exp.Column):
                    rest.append(exp.EQ(this=other.copy(), expression=side.copy()))
                else:
                    return None  # two constants: a contradiction, or the same one written twice
        where.set("this", exp.and_(*rest))
        changed = True
    return tree if changed else None


# --- FROM, subqueries, unions -------------------------------------------------------------------------------------


def permute_from(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``FROM a, b JOIN c ON p WHERE q  ->  FROM c, a, b WHERE p AND q``"""
    selects = _joining(tree)
    for select in selects:
        entries, parts = _entries(select), _all_conditions(select)
        _set_from(select, _shuffled(entries, choices), parts)
    return tree if selects else None


def commas_as_joins(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``FROM a, b WHERE p  ->  FROM a JOIN b ON p``"""
    selects = _joining(tree)
    for select in selects:
        entries, rest = _entries(select), _all_conditions(select)
        seen, joins = {entries[0].alias_or_name}, []
        for entry in entries[1:]:
            seen.add(entry.alias_or_name)
            mine = [p for p in rest if {c.table for c in p.find_all(exp.Column)} <= seen and choices.chance(70)]
            rest = [part for part in rest if part not in mine]
            kind = {"on": exp.and_(*mine)} if mine else {"kind": "CROSS"}
            joins.append(exp.Join(this=entry, **kind))
        _set_from(select, entries[:1], rest)
        select.set("joins", joins)
    return tree if selects else None


def rename_aliases(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``SELECT S.a FROM S  ->  SELECT q1.a FROM S AS q1``"""
    renamed = False
    for number, select in enumerate(list(tree.find_all(exp.Select))):
        columns = [column for column in select.find_all(exp.Column) if column.parent_select is select]
        order = _shuffled(list(range(len(_entries(select)))), choices)
        fresh = {e.alias_or_name: f"q{number}_{place}" for e, place in zip(_entries(select), order, strict=True)}
        for entry in _entries(select):
            entry.set("alias", exp.TableAlias(this=exp.to_identifier(fresh[entry.alias_or_name])))
        for column in (column for column in columns if column.table in fresh):
            column.set("table", exp.to_identifier(fresh[column.table]))
            renamed = True
    return tree if renamed else None


def wrap_table(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``FROM S WHERE S.a < 5 AND …  ->  FROM (SELECT * FROM S WHERE S.a < 5) AS S WHERE …``"""
    found = [(select, entry) for select in _joining(tree) for entry in _entries(select) if isinstance(entry, exp.Table)]
    if not found:
        return None
    select, entry = choices.pick(found)
    alias, inner = entry.alias_or_name, entry.name
    parts = _all_conditions(select) if not select.args["joins"][0].args.get("on") else []
    own = [p for p in parts if {c.table for c in p.find_all(exp.Column)} == {alias}]
    pushed = [part for part in own if choices.chance(60)]
    query = exp.select("*").from_(exp.to_table(inner))
    if pushed:
        _set_where(select, [part for part in parts if part not in pushed])
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


REWRITES: tuple[Rewrite, ...] = (
    Rewrite(flip_sides),
    Rewrite(move_offset),
    Rewrite(shift_both_sides),
    Rewrite(negate_twice),
    Rewrite(negate_opposite),
    Rewrite(push_not_inwards),
    Rewrite(pull_not_outwards),
    Rewrite(open_between),
    Rewrite(close_between),
    Rewrite(strict_or_weak),
    Rewrite(equality_as_two),
    Rewrite(in_as_or),
    Rewrite(repeat_in),
    Rewrite(range_as_in),
    Rewrite(split_range),
    Rewrite(boolean_form),
    Rewrite(bare_boolean),
    Rewrite(reorder_alternatives),
    Rewrite(absorbed_alternative),
    Rewrite(distribute),
    Rewrite(repeat_conjunct),
    Rewrite(shuffle_conjuncts),
    Rewrite(add_weaker),
    Rewrite(add_not_null),
    Rewrite(add_transitive_time),
    Rewrite(add_transitive, joins=True),
    Rewrite(other_spanning_tree, joins=True),
    Rewrite(permute_from),
    Rewrite(commas_as_joins),
    Rewrite(rename_aliases),
    Rewrite(wrap_table),
    Rewrite(wrap_statement),
    Rewrite(swap_union),
)


# --- syntax -------------------------------------------------------------------------------------------------------


def _somewhere(tree: Tree, choices: Choices, places: list[Any], change: Callable[[Any], Tree]) -> Tree | None:
    """The tree with one of the places changed; None where there is none."""
    if not places:
        return None
    place = choices.pick(places)
    place.replace(_closed(change(place.copy() if place.parent is None else place)))
    return tree


def _comparisons(tree: Tree) -> list[Any]:
    return [node for node in tree.walk() if type(node) in NEGATED]


def _conditions(tree: Tree) -> list[Any]:
    kinds = (*NEGATED, exp.Between, exp.In, exp.Is, exp.Or, exp.Not)
    return [node for node in tree.walk() if isinstance(node, kinds) and isinstance(node.parent, _BOOLEAN)]


def _parts(where: Tree) -> list[Any]:
    """The conjuncts of a WHERE."""
    found: list[Tree] = []
    pending = [where.this]
    while pending:
        node = pending.pop(0)
        inner = node.unnest()
        if isinstance(inner, exp.And):
            pending[:0] = [inner.left, inner.right]
        else:
            found.append(inner if type(inner) in NEGATED else node)
    return found


def _grown(tree: Tree, choices: Choices, more: Callable[[list[Any]], list[Tree]]) -> Tree | None:
    """The tree with conjuncts added to one WHERE."""
    for where in _shuffled(list(tree.find_all(exp.Where)), choices):
        parts = _parts(where)
        added = [_closed(part.copy()) for part in more(parts)]
        if added:
            place = choices.integer(0, len(parts))
            where.set("this", exp.and_(*parts[:place], *added, *parts[place:]))
            return tree
    return None


def _joining(tree: Tree) -> list[exp.Select]:
    return [select for select in tree.find_all(exp.Select) if select.args.get("joins")]


def _entries(select: Tree) -> list[Any]:
    return [select.args["from_"].this, *(join.this for join in select.args.get("joins") or ())]


def _all_conditions(select: Tree) -> list[Any]:
    """The conjuncts of a SELECT's WHERE and ON clauses."""
    clauses = [exp.Where(this=join.args["on"]) for join in select.args.get("joins") or () if join.args.get("on")]
    if select.args.get("where"):
        clauses.append(select.args["where"])
    return [part for clause in clauses for part in _parts(clause)]


def _set_from(select: Tree, entries: list[Any], parts: list[Any]) -> None:
    select.set("from_", exp.From(this=entries[0]))
    select.set("joins", [exp.Join(this=entry) for entry in entries[1:]])
    _set_where(select, parts)


def _set_where(select: Tree, parts: list[Any]) -> None:
    select.set("where", exp.Where(this=exp.and_(*(_closed(part) for part in parts))) if parts else None)


def _flat(node: Tree) -> list[Any]:
    return [part for side in node.flatten() for part in (_flat(side) if isinstance(side, exp.Or) else [side])]


def _any(options: list[Any]) -> Tree:
    return exp.or_(*(_closed(option) for option in options))


def _closed(node: Tree) -> Tree:
    """The node in parentheses where it is neither a leaf nor one comparison."""
    plain = (exp.Column, exp.Literal, exp.Paren, exp.Boolean, exp.Cast, exp.In, exp.Is, *NEGATED)
    return node if isinstance(node, plain) else exp.Paren(this=node)


def _not(node: Tree) -> Tree:
    return exp.Not(this=exp.Paren(this=node.copy()))


def _shuffled(items: list[Any], choices: Choices) -> list[Any]:
    left, found = list(items), []
    while left:
        found.append(left.pop(choices.integer(0, len(left) - 1)))
    return found


def _is_leaf(node: Tree) -> bool:
    return isinstance(node, exp.Column | exp.Literal | exp.Boolean | exp.Cast) or _value(node) is not None


def _is_integer(node: Tree, kinds: Kinds) -> bool:
    """Whether a condition compares integer attributes."""
    columns = list(node.find_all(exp.Column))
    return bool(columns) and all(kinds.get(column.name) == "bigint" for column in columns)


def _is_bound(node: Tree, kinds: Kinds) -> bool:
    """Whether a condition compares an integer attribute with a constant on the right."""
    return (
        type(node) in NEGATED
        and isinstance(node.left, exp.Column)
        and _value(node.right) is not None
        and _is_integer(node, kinds)
    )


def _value(node: Tree) -> Any:
    """An integer literal's value."""
    if isinstance(node, exp.Neg):
        inner = _value(node.this)
        return None if inner is None else -inner
    return int(node.this) if isinstance(node, exp.Literal) and node.is_int else None


def _ends(node: Tree) -> Any:
    return _value(node.args["low"]), _value(node.args["high"])


def _number(value: int) -> Tree:
    literal = exp.Literal.number(abs(value))
    return exp.Neg(this=literal) if value < 0 else literal


def _plus(node: Tree, offset: int) -> Tree:
    if (value := _value(node)) is not None:
        return _number(value + offset)
    op = exp.Sub if offset < 0 else exp.Add
    return op(this=_closed(node), expression=_number(abs(offset)))


__all__ = ["REWRITES", "Iterator", "Rewrite", "kinds_of", "rewritten"]
