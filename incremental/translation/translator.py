"""The translation of a tree into a circuit over Z-sets: what all families of operators share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Scalar, Tree
from streambound.analyzer.algebra.sql_words import sql_words
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.findings import Positions
from streambound.analyzer.spans import Span
from streambound.incremental.circuit import CircuitBuilder, CircuitColumn, Op
from streambound.incremental.operators import DistinctOp, Equality, FilterOp, JoinOp, MapOp, NegateOp, PlusOp
from streambound.incremental.row_expression import RowExpression, position
from streambound.incremental.translation.conditions import all_of
from streambound.incremental.translation.views import (
    BoundView,
    NamedColumn,
    OuterNeeded,
    Untranslatable,
    bind,
    located,
    own_columns,
)


class Around(Struct, frozen=True):
    """What is around a tree: the query that it is a subquery of, by its rows, and the recursive relations.

    ``outer`` has the columns that the subquery may name; ``used`` collects, where it is a set, the positions of those
    that it does.
    """

    outer: BoundView | None = None
    used: set[int] | None = None
    parent: Around | None = None
    recursive: Mapping[str, BoundView] = field(default_factory=dict)

    def names(self, column: exp.Column) -> bool:
        """Whether a column is one of the query around, or of one further out."""
        if self.outer is None:
            return False
        if located(column, self.outer) is not None:
            return True
        if self.parent is not None and self.parent.names(column):
            raise OuterNeeded(column.sql())
        return False


Translation = Callable[["Translator", Tree, Around], BoundView]


class Translator(Struct):
    """Builds the circuit of a tree; ``subqueries`` are those of expressions, by the identity of their syntax."""

    catalog: Catalog
    subqueries: Mapping[int, Tree]
    registry: Mapping[type[Tree], Translation]
    positions: Positions | None = None
    builder: CircuitBuilder = field(default_factory=CircuitBuilder)

    def view(self, tree: Tree, around: Around) -> BoundView:
        """The rows of a tree; raises Untranslatable."""
        translate = self.registry.get(type(tree))
        if translate is None:
            raise Untranslatable(f"{sql_words(tree)} has no circuit", tree.syntax, tree.at)
        try:
            return translate(self, tree, around)
        except Untranslatable as error:
            raise self._placed(error, tree) from error

    def _placed(self, error: Untranslatable, tree: Tree) -> Untranslatable:
        span = error.span or self.span(error.node) or tree.at or self.span(tree.syntax)
        return Untranslatable(str(error), error.node, span)

    def span(self, node: exp.Expr | None) -> Span | None:
        """Where syntax stands, as far as that is known."""
        return self.positions.of(node) if self.positions is not None and node is not None else None

    def place(self, tree: Tree) -> Span | None:
        """The token of an operator."""
        return tree.at or self.span(tree.syntax)

    # --- one operator over a view ------------------------------------------------------------------------------------

    def add(self, op: Op, inputs: Sequence[int], columns: Sequence[NamedColumn], span: Span | None = None) -> int:
        """The number of a node."""
        schema = tuple(CircuitColumn(column.text, column.kind) for column in columns)
        return self.builder.add(op, tuple(inputs), schema, span)

    def same(self, op: Op, view: BoundView, span: Span | None = None) -> BoundView:
        """An operator that keeps the columns."""
        return view.at(self.add(op, (view.node,), view.columns, span))

    def mapped(
        self,
        view: BoundView,
        items: Sequence[tuple[NamedColumn, RowExpression]],
        prefix: int = 0,
        span: Span | None = None,
    ) -> BoundView:
        """Other columns for each row."""
        columns, values = tuple(column for column, _ in items), tuple(value for _, value in items)
        return BoundView(self.add(MapOp(values), (view.node,), columns, span), columns, prefix)

    def kept(self, view: BoundView, places: Sequence[int], span: Span | None = None) -> BoundView:
        """Some of the columns."""
        return self.mapped(view, [(view.columns[at], view.column(at)) for at in places], 0, span)

    def filtered(self, view: BoundView, conditions: Iterable[RowExpression], span: Span | None = None) -> BoundView:
        """The rows that satisfy all conditions."""
        condition = all_of(conditions)
        return view if condition is None else self.same(FilterOp(condition), view, span)

    def plus(self, left: BoundView, right: BoundView, span: Span | None = None) -> BoundView:
        """The rows of both, which have the same columns."""
        return left.at(self.add(PlusOp(), (left.node, right.node), left.columns, span))

    def minus(self, left: BoundView, right: BoundView, span: Span | None = None) -> BoundView:
        """The rows of the one without those of the other; the difference of the weights."""
        negated = self.add(NegateOp(), (right.node,), right.columns, span)
        return left.at(self.add(PlusOp(), (left.node, negated), left.columns, span))

    def distinct(self, view: BoundView, span: Span | None = None) -> BoundView:
        """Each row once."""
        return self.same(DistinctOp(), view, span)

    def joined(
        self,
        left: BoundView,
        right: BoundView,
        keys: Sequence[Equality] = (),
        condition: RowExpression | None = None,
        span: Span | None = None,
    ) -> BoundView:
        """The pairs of rows."""
        columns = (*left.columns, *right.columns)
        node = self.add(JoinOp(tuple(keys), condition), (left.node, right.node), columns, span)
        return BoundView(node, columns, left.prefix)

    def semi(
        self,
        left: BoundView,
        right: BoundView,
        keys: Sequence[Equality],
        rest: Sequence[RowExpression] = (),
        span: Span | None = None,
    ) -> BoundView:
        """The rows of the left side that have a partner.

        ``a ⋈ distinct(π_key b)``; with conditions that are no equalities the partners of each row are looked for by
        ``distinct(π_a(distinct(π_a a) ⋈ b))``, a's columns being those that the conditions name.
        """
        condition = all_of(rest)
        if condition is None:
            found = self.distinct(
                self.mapped(right, [(NamedColumn("", k.right.text, k.right.kind), k.right) for k in keys], 0, span),
                span,
            )
            pairs = tuple(Equality(key.left, found.column(at), key.null_safe) for at, key in enumerate(keys))
            return self._left_of(left, found, pairs, span)
        width = len(left.columns)
        named = {at for key in keys for at in key.left.positions} | {at for at in condition.positions if at < width}
        places = sorted(named)
        probes = self.distinct(self.kept(left, places, span), span)
        to = {at: position(new, left.columns[at].kind).value for new, at in enumerate(places)}
        moved = {**to, **{at: position(at - width + len(places), right.columns[at - width].kind).value
                          for at in condition.positions if at >= width}}  # fmt: skip
        own_keys = tuple(Equality(key.left.moved(to), key.right, key.null_safe) for key in keys)
        pairs_view = self.joined(probes, right, own_keys, condition.moved(moved), span)
        found = self.distinct(self.kept(pairs_view, range(len(places)), span), span)
        equal = tuple(Equality(left.column(at), found.column(new), True) for new, at in enumerate(places))
        return self._left_of(left, found, equal, span)

    def _left_of(self, left: BoundView, found: BoundView, keys: Sequence[Equality], span: Span | None) -> BoundView:
        both = self.joined(left, found, keys, None, span)
        return replace(left, node=self.kept(both, range(len(left.columns)), span).node)

    # --- the query around --------------------------------------------------------------------------------------------

    def reaching(self, view: BoundView, around: Around, syntaxes: Iterable[exp.Expr]) -> BoundView:
        """The view, with the columns of the query around before its own where an expression names one of them."""
        if around.outer is None:
            return view
        for syntax in syntaxes:
            for column in own_columns(syntax):
                if located(column, _own(view)) is None and around.names(column):
                    found = located(column, around.outer)
                    if around.used is not None and found is not None:
                        around.used.add(found[0])
                    view = self.prefixed(view, around)
        return view

    def prefixed(self, view: BoundView, around: Around) -> BoundView:
        """The view with the columns of the query around before its own: a row for each of their rows."""
        if view.prefix or around.outer is None:
            return view
        both = self.joined(around.outer, view)
        return BoundView(both.node, both.columns, len(around.outer.columns))

    def scalar(self, scalar: Scalar) -> exp.Expr:
        """The syntax of an operator's expression."""
        return scalar.syntax


def _own(view: BoundView) -> BoundView:
    """The view without the columns of the query around, at the same positions."""
    hidden = tuple(NamedColumn("", "", column.kind, hidden=True) for column in view.columns[: view.prefix])
    return replace(view, columns=(*hidden, *view.columns[view.prefix :]))


def bound(view: BoundView, node: exp.Expr, replaced: dict[int, int] | None = None) -> RowExpression:
    """An expression over a view."""
    return bind(node, view, replaced)
