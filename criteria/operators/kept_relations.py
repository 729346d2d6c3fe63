"""Relations that do not change whose rows a join keeps while, or until, no row of what does change is their partner.

``R ⋉ V`` are the rows of R that ``π(R ⋈ V)`` has at all, π to the columns of R that matter, and ``R ▷ V`` the others;
``R ⟕ V`` is ``R ⋈ V`` with the latter padded, and FULL JOIN has beside these the rows of V without a partner, which are
known when they come. ``R ⋈ V`` remembers nothing of R, so that what is added is one entry for each row of R, whether it
has a partner, whatever the values of V are (E1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Join, JoinKind, Named, Project, Scalar, Tree
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.columns import Column
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.judged import State
from streambound.criteria.operators.join_sides import inner_join
from streambound.criteria.operators.judge import Context
from streambound.criteria.operators.parts import MapPart, Part, SetPart, UnionPart
from streambound.criteria.operators.states import JudgedPart, RowsOfSide
from streambound.criteria.operators.static_rows import judge_static
from streambound.criteria.operators.written_columns import called, named, names_in
from streambound.criteria.size import Number, total

_ASKING = (JoinKind.SEMI, JoinKind.ANTI)


def keeps_relation(tree: Join, catalog: Catalog) -> bool:
    """Whether a join keeps rows of such a relation."""
    left, right = is_static(tree.left, catalog), is_static(tree.right, catalog)
    kept = {JoinKind.RIGHT: right, JoinKind.FULL: left or right}
    return not tree.using and kept.get(tree.kind, left and tree.kind in (JoinKind.LEFT, *_ASKING))


def judge_kept_relation(tree: Join, context: Context) -> JudgedPart:
    """A join that `keeps_relation`."""
    return _KeptRelation(tree, context).judged()


class _KeptRelation:
    """One join, while it is judged; columns are places among those of both sides."""

    def __init__(self, tree: Join, context: Context) -> None:
        self.tree, self.context = tree, context
        sides = schema(tree.left, context.catalog), schema(tree.right, context.catalog)
        self.columns = (*sides[0], *sides[1])
        right = tree.kind is JoinKind.RIGHT or not is_static(tree.left, context.catalog)
        self.kept, self.other = (tree.right, tree.left) if right else (tree.left, tree.right)
        self.own = own = range(len(sides[0]), len(self.columns)) if right else range(len(sides[0]))
        condition = names_in([] if tree.condition is None else [parsed(tree.condition)])
        self.names = None if context.needed is None else {**condition, **context.needed}
        self.read = [place for place in own if called(self.columns[place], self.names)] or [own[0]]
        within = own if tree.kind in _ASKING else range(len(self.columns))
        self.shown = [place for place in within if called(self.columns[place], context.needed)]
        self.others = [place for place in self.shown if place not in own]

    def judged(self) -> JudgedPart:
        """The verdict of the join, and its plan."""
        tree, context = self.tree, self.context
        joined = self._judged(inner_join(tree, context.catalog), [*self.read, *self.others])
        if joined.part is None:
            return joined
        with context.reading(self.names):
            relation = judge_static(self.kept, context)
        assert relation.part is not None and relation.rows is not None, "the rows of a relation"
        columns = dict(zip(self.read, relation.part.columns, strict=True))
        name, operation = context.name(f"{tree.kind} join"), "semi" if tree.kind is JoinKind.SEMI else "anti"
        met = self._picked(joined.part, self.read, columns, self.read)
        part = SetPart(name, operation, relation.part, met, relation.part.columns, grows=not joined.retracts)
        span, keys = context.positions.of(tree.syntax or exp.Null()), tuple(one.name for one in part.columns)
        state = State(name, "E1", relation.rows, keys, "never: the relation does not change", span)
        if tree.kind in _ASKING:
            found = self._picked(part, self.shown, columns, self.read)
            retracts = joined.retracts or tree.kind is JoinKind.ANTI
            return JudgedPart(part=found, states=(*joined.states, state), rows=relation.rows, retracts=retracts)
        given = dict(zip([*self.read, *self.others], joined.part.columns, strict=True))
        parts = [
            self._picked(joined.part, self.shown, given, list(given)),
            self._picked(part, self.shown, given, self.read),
        ]
        states, rows = (*joined.states, state), None if joined.rows is None else total([joined.rows, relation.rows])
        different = relation.rows
        if tree.kind is JoinKind.FULL:
            alone = self._judged(replace(tree, kind=JoinKind.ANTI, left=self.other, right=self.kept), self.others)
            if alone.part is None:
                return alone
            parts.append(self._picked(alone.part, self.shown, given, self.others))
            states, rows, different = (*states, *alone.states), None, total([relation.rows, Number(1)])
        union = UnionPart(context.name("union"), tuple(parts), parts[0].columns)
        side = RowsOfSide(frozenset(n for n, place in enumerate(self.shown) if place in self.own), lambda _: different)
        return JudgedPart(part=union, states=states, rows=rows, retracts=True, sides=(side,))

    def _judged(self, tree: Tree, places: Sequence[int]) -> JudgedPart:
        """Some columns of another join of the same sides."""
        found = []
        for number, place in enumerate(places):
            column = self.columns[place]
            node = next((node for name, node in (self.names or {}).items() if column.called(*name)), None)
            found.append(Named(f"c{number}", _scalar(named(column, node, self.columns)), alias=True))
        items = tuple(found) or (Named("c0", _scalar(exp.Literal.number(1)), alias=True),)
        with self.context.reading(None):
            return self.context.judge(Project(tree, items, syntax=self.tree.syntax), self.context)

    def _picked(self, part: Part, shown: Sequence[int], typed: Mapping[int, Column], has: Sequence[int]) -> Part:
        """A part with the columns at some places, of these types; it ``has`` those at others, and NULL for the rest."""
        mine = dict(zip(has, part.columns, strict=False))
        columns = tuple(replace(typed[place], name=f"c{n}") for n, place in enumerate(shown))
        texts = tuple(
            exp.column(mine[place].name, quoted=True).sql("spark")
            if place in mine
            else exp.cast(exp.Null(), column.type.name).sql("spark")
            for place, column in zip(shown, columns, strict=True)
        )
        return MapPart(self.context.name("map"), part, columns, texts)


def _scalar(node: exp.Expr) -> Scalar:
    return Scalar(node.sql("spark"), node)
