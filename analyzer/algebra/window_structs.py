"""Windows of time as one value: what reads them sees two columns, their ends, and so knows when they close.

SELECT w, MAX(n) FROM (SELECT window(ts, '1 hour') AS w, … AS n …) GROUP BY w
->  SELECT named_struct('start', `w.start`, 'end', `w.end`) AS w, MAX(n)
    FROM (SELECT window_start AS `w.start`, window_end AS `w.end`, … AS n …) GROUP BY `w.start`, `w.end`

It is exact: two windows are equal, and in the order of structs, as their starts and then their ends are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.made_columns import made_column
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.findings import Positions

Node = TypeVar("Node", bound=exp.Expr)
_ENDS = ("start", "end")
_NAME = "{}.{}"


class WindowStructs(Struct):
    """The windows of one statement that are two columns; ``apart`` are the names of these, in small letters."""

    positions: Positions
    columns: Callable[[nodes.Tree], Schema]
    apart: set[str] = field(default_factory=set)

    def split(self, tree: nodes.Tree) -> nodes.Tree:
        """A query's rows, with the two ends of each window in its list in the window's place."""
        match tree:
            case nodes.Project(items=items):
                made = tuple(one for item in items for one in self._halves(item))
                return tree if made == items else replace(tree, items=made)
            case nodes.Distinct(input=below):
                found = self.split(below)
                return tree if found is below else replace(tree, input=found)
        return tree

    def renamed(self, tree: nodes.Tree, names: tuple[str, ...]) -> tuple[nodes.Tree, tuple[str, ...]]:
        """A query in FROM, split, and the names that its columns get there, if it gives them some."""
        tree = self.split(tree)
        given = [column.name for column in self.columns(tree)] if names and self.apart else []
        if any(map(self._is_start, given)):
            rest, found = iter(names), list[str]()
            for old, before in zip(given, ["", *given], strict=False):
                if not self._is_start(before):
                    new = next(rest, old)
                    found += [self._name(new, end) for end in _ENDS] if self._is_start(old) else [new]
            names = tuple(found)
        return tree, names

    def alike(self, left: nodes.Tree, right: nodes.Tree) -> tuple[nodes.Tree, nodes.Tree]:
        """Both sides of a set operation, with windows as two columns where both have the same, or as one."""
        both = self.split(left), self.split(right)
        places = [[n for n, c in enumerate(self.columns(side)) if self._is_start(c.name)] for side in both]
        return both if places[0] == places[1] else (self.whole(left), self.whole(right))

    def whole(self, tree: nodes.Tree) -> nodes.Tree:
        """A query's rows as it says: each pair of ends is a window again."""
        return self._listed(tree, self._joined)

    def printed(self, tree: nodes.Tree) -> nodes.Tree:
        """A statement's rows, of which a window ``w`` is two columns, ``w_start`` and ``w_end``."""
        tree = self.split(tree)
        if isinstance(tree, nodes.Distinct):
            return replace(tree, input=self.printed(tree.input))
        if isinstance(tree, nodes.Union | nodes.Except | nodes.Intersect):
            return replace(tree, left=self.printed(tree.left), right=self.printed(tree.right))
        return self._listed(tree, self._named_apart)

    def _listed(self, tree: nodes.Tree, made: Callable[[list[nodes.Item]], Iterable[nodes.Item]]) -> nodes.Tree:
        """A query's rows with another list, which is made of all of its items, where one is the end of a window."""
        if not self.apart or not any(self._is_start(column.name) for column in self.columns(tree)):
            return tree
        if isinstance(tree, nodes.Project):
            given = self.columns(tree.input)
            items = [one for item in tree.items for one in _written_out(item, given)]
        else:
            tree = nodes.Project(tree, (), syntax=tree.syntax)
            items = list(_written_out(nodes.Star(), self.columns(tree.input)))
        return replace(tree, items=tuple(made(items)))

    def _named_apart(self, items: list[nodes.Item]) -> Iterator[nodes.Item]:
        for item in items:
            if isinstance(item, nodes.Named) and item.name.lower() in self.apart:
                item = replace(item, name=item.name.replace(".", "_"), alias=True)
            yield item

    def by_ends(self, node: Node, given: Schema) -> Node:
        """A SELECT over columns, or a condition, with the ends of windows in their place; a copy, if there are some."""
        windows = [(column.alias.lower(), _base(column.name)) for column in given if self._is_start(column.name)]
        if not windows:
            return node
        around = exp.Paren(this=node.copy())
        _without_ordinals(around.this)
        aliases = {column.alias.lower() for column in given}
        for compared in list(nodes_of(around.this, (exp.EQ, exp.NullSafeEQ, exp.NEQ), top=True)):
            sides = [(one, _meant(one, windows, aliases)) for one in (compared.this, compared.expression)]
            if all(found is not None and not found[2] for _, found in sides):
                kind = exp.EQ if isinstance(compared, exp.NEQ) else type(compared)
                pairs = ([_end(one, end) for one, _ in sides] for end in _ENDS)
                equal: exp.Expr = exp.Paren(this=exp.and_(*(kind(this=a, expression=b) for a, b in pairs)))
                compared.replace(exp.Not(this=equal) if isinstance(compared, exp.NEQ) else equal)
        for column in list(nodes_of(around.this, (exp.Column,), top=True)):
            assert isinstance(column, exp.Column), "a column"
            if (found := _meant(column, windows, aliases)) is not None:
                self._put(column, *found)
        return around.this.pop()  # type: ignore[no-any-return]

    def using(self, names: tuple[str, ...], *sides: Schema) -> tuple[str, ...]:
        """The names of USING, with the two ends of each window that all sides have."""
        both = [{_base(column.name) for column in side if self._is_start(column.name)} for side in sides]
        shared = set.intersection(*both) if both else set()
        return tuple(
            one for name in names for one in (_pair(name.lower()) if name.lower() in shared else (name,))
        )  # fmt: skip

    def _halves(self, item: nodes.Item) -> tuple[nodes.Item, ...]:
        if not isinstance(item, nodes.Named) or (ends := _ends_of(item)) is None:
            return (item,)
        return tuple(
            nodes.Named(self._name(item.name, end), one, alias=True) for end, one in zip(_ENDS, ends, strict=True)
        )

    def _name(self, name: str, end: str) -> str:
        made = _NAME.format(name, end)
        self.apart.add(made.lower())
        return made

    def _is_start(self, name: str) -> bool:
        return name.lower().endswith(".start") and name.lower() in self.apart

    def _joined(self, items: list[nodes.Item]) -> Iterator[nodes.Item]:
        skip = False
        for item, after in zip(items, [*items[1:], None], strict=True):
            if isinstance(item, nodes.Named) and isinstance(after, nodes.Named) and self._is_start(item.name):
                node = _struct(item.value.syntax.copy(), after.value.syntax.copy())
                yield nodes.Named(item.name[: -len(".start")], nodes.Scalar(node), alias=True)
                skip = True
            elif not skip:
                yield item
            else:
                skip = False

    def _put(self, column: exp.Column, name: str, alias: str, end: str) -> None:
        """Put one end, or what stands for both, in a column's place."""
        place = self.positions.of(column)

        def made(end: str) -> exp.Column:
            found = made_column(_NAME.format(name, end), place)
            found.set("table", exp.to_identifier(alias) if alias else None)
            return found

        if end or isinstance(column.parent, exp.Is | exp.Count):  # a window is NULL where its start is
            found = made(end or "start")
            is_item = isinstance(column.parent, exp.Select) and column.arg_key == "expressions"
            column.replace(exp.alias_(found, end) if is_item else found)
            return
        parent: exp.Expr | None = column.parent
        listed: exp.Expr = column
        if isinstance(parent, exp.Alias | exp.Ordered):
            listed, parent = parent, parent.parent
        both: list[exp.Expr]
        if isinstance(parent, exp.Select) and listed.arg_key == "expressions":
            called = listed.alias_or_name
            both = [exp.alias_(made(one), self._name(called, one), quoted=True) for one in _ENDS]
        elif isinstance(listed, exp.Ordered):
            both = [exp.Ordered(**{**listed.copy().args, "this": made(one)}) for one in _ENDS]
        elif isinstance(parent, exp.Group) or listed.arg_key == "partition_by":
            both = [made(one) for one in _ENDS]
        else:
            column.replace(_struct(*map(made, _ENDS)))
            return
        assert parent is not None and listed.arg_key is not None
        others = parent.args[listed.arg_key]
        if isinstance(parent, exp.Group):  # the window as a whole says more than one end of it
            ends = {one.name for one in both}
            others = [
                one for one in others
                if one is listed or one.name not in ends or (one.text("table") or alias) != (alias or one.text("table"))
            ]  # fmt: skip
        parent.set(listed.arg_key, [new for one in others for new in (both if one is listed else [one])])


def _base(name: str) -> str:
    return name.lower()[: -len(".start")]


def _pair(name: str) -> tuple[str, ...]:
    return tuple(_NAME.format(name, end) for end in _ENDS)


def _struct(start: exp.Expr, end: exp.Expr) -> exp.Expr:
    """A window as one value, which is NULL where an outer join has filled its ends with NULLs."""
    parts = [exp.Literal.string("start"), start, exp.Literal.string("end"), end]
    there = exp.Not(this=exp.Is(this=start.copy(), expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=there, true=exp.Anonymous(this="named_struct", expressions=parts))])


def _ends_of(item: nodes.Named) -> tuple[nodes.Scalar, nodes.Scalar] | None:
    """The ends of a window that an item of a list is; None for another item."""
    node = item.value.syntax
    if not isinstance(node, exp.Anonymous) or node.name.lower() != "named_struct" or len(node.expressions) != 4:
        return None
    _, start, _, end = node.expressions
    names = (node.expressions[0].name, node.expressions[2].name)
    if names != _ENDS or not isinstance(start, exp.Column) or not isinstance(end, exp.Column):
        return None
    return nodes.Scalar(start), nodes.Scalar(end)


def _written_out(item: nodes.Item, given: Schema) -> Iterator[nodes.Item]:
    """An item, or all columns that a star stands for."""
    if isinstance(item, nodes.Named):
        yield item
        return
    without = {name.lower() for name in item.without}
    for column in given:
        if (not item.alias or column.alias.lower() == item.alias.lower()) and column.name.lower() not in without:
            node = exp.column(column.name, table=column.alias or None, quoted=True)
            yield nodes.Named(column.name, nodes.Scalar(node))


def _without_ordinals(node: exp.Expr) -> None:
    """Put the items of the list in the place of the numbers that GROUP BY names them by, as their numbers change."""
    group = node.args.get("group") if isinstance(node, exp.Select) else None
    for key in list(group.expressions) if group is not None else ():
        number = key.unnest()
        if isinstance(number, exp.Literal) and number.is_int and 1 <= int(number.name) <= len(node.expressions):
            key.replace(node.expressions[int(number.name) - 1].unalias().copy())


def nodes_of(node: exp.Expr, kinds: tuple[type[exp.Expr], ...], top: bool = False) -> Iterator[exp.Expr]:
    """The nodes of some kinds in an expression, or in a SELECT's clauses, but in its subqueries and its FROM."""
    if isinstance(node, exp.Query | exp.From | exp.Join | exp.With) and not top:
        return
    if isinstance(node, kinds):
        yield node
    for part in node.iter_expressions():
        yield from nodes_of(part, kinds)


def _end(window: exp.Column, end: str) -> exp.Column:
    """``q.w``  ->  ``q.w.start``."""
    made = exp.Column(this=exp.to_identifier(end), table=window.this.copy(), db=window.args.get("table"))
    return made.copy()


def _meant(node: exp.Expr, windows: list[tuple[str, str]], aliases: set[str]) -> tuple[str, str, str] | None:
    """The window that a node is, its alias as it is written, and which end: of ``w``, ``q.w``, ``q.w.end``."""
    if not isinstance(node, exp.Column):
        return None
    table, name = node.table, node.name
    if any(base == name.lower() and table.lower() in ("", alias) for alias, base in windows):
        return name, table, ""
    if table and table.lower() not in aliases and name.lower() in _ENDS:
        owner = node.text("db")
        if any(base == table.lower() and owner.lower() in ("", alias) for alias, base in windows):
            return table, owner, name.lower()
    return None
