"""Subqueries in conditions and select lists: semi and anti joins, and columns with what they say of each row."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.constants import BOOLEAN
from streambound.analyzer.spans import Span
from streambound.incremental.operators import AtMostOne, Equality, GroupOp
from streambound.incremental.row_expression import RowExpression, constant
from streambound.incremental.translation.conditions import conjuncts, split
from streambound.incremental.translation.translator import Around, Translator
from streambound.incremental.translation.views import (
    BoundView,
    NamedColumn,
    OuterNeeded,
    Untranslatable,
    bind,
    located,
    own_columns,
    own_parts,
)

_TRUE, _FALSE, _UNKNOWN = (constant(value, BOOLEAN, text) for value, text in (
    (Fraction(1), "TRUE"), (Fraction(0), "FALSE"), (None, "NULL")
))  # fmt: skip


class SubqueryTest(Struct, frozen=True):
    """``EXISTS (query)``, or ``values IN (query)``; ``negated``: NOT of it."""

    query: exp.Query | nodes.Tree
    values: tuple[exp.Expr, ...] = ()
    is_in: bool = False
    negated: bool = False

    @property
    def syntax(self) -> exp.Expr | None:
        """Where it stands."""
        return self.query if isinstance(self.query, exp.Expr) else self.query.syntax


class Partners(Struct, frozen=True):
    """The rows of a subquery that are partners of a row: those that satisfy keys and conditions over both."""

    view: BoundView
    keys: tuple[Equality, ...]
    rest: tuple[RowExpression, ...]
    values: tuple[tuple[RowExpression, RowExpression], ...] = ()
    """Of IN: each value with that of the subquery, over the two rows."""


def test_of(node: exp.Expr) -> SubqueryTest | None:
    """The test of a condition that is one."""
    node = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(node, exp.Not):
        inner = test_of(node.this)
        return replace(inner, negated=not inner.negated) if inner is not None else None
    if isinstance(node, exp.Exists):
        return SubqueryTest(_query(node.this))
    if isinstance(node, exp.In) and node.args.get("query"):
        values = node.this.unnest() if isinstance(node.this, exp.Paren) else node.this
        listed = tuple(values.expressions) if isinstance(values, exp.Tuple) else (values,)
        return SubqueryTest(_query(node.args["query"]), listed, True)
    return None


def _query(node: exp.Expr) -> exp.Query:
    while isinstance(node, exp.Subquery):
        node = node.this
    assert isinstance(node, exp.Query)
    return node


def filter_by(
    to: Translator, view: BoundView, conditions: Sequence[exp.Expr], around: Around, span: Span | None = None
) -> BoundView:
    """The rows that satisfy all conditions: those without subqueries first, then a join for each test."""
    tests = [found for found in map(test_of, conditions) if found is not None]
    others = [condition for condition in conditions if test_of(condition) is None]
    view = to.reaching(view, around, [*others, *(value for test in tests for value in test.values)])
    plain = [condition for condition in others if not _has_query(condition)]
    view = to.filtered(view, [bind(condition, view) for condition in plain], span)
    for test in tests:
        view = _tested(to, view, test, around, to.span(test.syntax) or span)
    mixed = [condition for condition in others if _has_query(condition)]
    if not mixed:
        return view
    width = len(view.columns)
    extended, replaced = with_subqueries(to, view, mixed, around, span)
    kept = to.filtered(extended, [bind(condition, extended, replaced) for condition in mixed], span)
    return replace(view, node=to.kept(kept, range(width), span).node)


def _has_query(node: exp.Expr) -> bool:
    return any(isinstance(found, exp.Query) for found in node.find_all(exp.Query))


def _tested(to: Translator, view: BoundView, test: SubqueryTest, around: Around, span: Span | None) -> BoundView:
    """The rows of which a test holds."""
    view, partners = _partners(to, view, test, around)
    width = len(view.columns)
    if not test.is_in:
        found = to.semi(view, partners.view, partners.keys, partners.rest, span)
        return to.minus(view, found, span) if test.negated else found
    if not test.negated:
        keys, rest = split([_equal(pair) for pair in partners.values], width)
        return to.semi(view, partners.view, (*partners.keys, *keys), (*partners.rest, *rest), span)
    for conditions in not_in(partners.values):
        keys, rest = split(conditions, width)
        found = to.semi(view, partners.view, (*partners.keys, *keys), (*partners.rest, *rest), span)
        view = to.minus(view, found, span)
    return view


def not_in(pairs: tuple[tuple[RowExpression, RowExpression], ...]) -> list[list[RowExpression]]:
    """Which partners keep a row out of NOT IN, one alternative after the other: equal, or one of the two NULL.

    With one value: ``y = x``, ``y IS NULL``, ``x IS NULL``, so that for the last two no more than a flag is needed.
    """
    if len(pairs) > 1:
        return [[_may_be_equal(pair) for pair in pairs]]
    ((mine, other),) = pairs
    return [[_equal((mine, other))], [_call("is null", other)], [_call("is null", mine)]]


def _may_be_equal(pair: tuple[RowExpression, RowExpression]) -> RowExpression:
    mine, other = pair
    return _call("or", _equal(pair), _call("is null", mine), _call("is null", other))


def _equal(pair: tuple[RowExpression, RowExpression]) -> RowExpression:
    return _call("=", *pair)


def _call(name: str, *arguments: RowExpression) -> RowExpression:
    from streambound.analyzer.expressions.expression import Call
    from streambound.analyzer.expressions.registry import BY_NAME

    inner = [argument.text for argument in arguments]
    text = f"{inner[0]} {name.upper()}" if len(inner) == 1 else f" {name.upper()} ".join(inner)
    return RowExpression(Call(BY_NAME[name], tuple(argument.value for argument in arguments), BOOLEAN), text)


def _partners(to: Translator, view: BoundView, test: SubqueryTest, around: Around) -> tuple[BoundView, Partners]:
    """The partners of a view's rows in a subquery; the view, which may get the columns of the query around."""
    tree = _tree(to, test.query)
    simple = _simple(to, view, test, tree, around)
    if simple is not None:
        return view, simple
    view, found, prefix = dependent(to, view, tree, around)
    keys = tuple(Equality(view.column(at), found.column(new), True) for new, at in enumerate(prefix))
    width = len(view.columns)
    values = tuple(
        (bind(value, view), found.column(found.prefix + at).shifted(width)) for at, value in enumerate(test.values)
    )
    return view, Partners(found, keys, (), values)


def _tree(to: Translator, query: exp.Query | nodes.Tree) -> nodes.Tree:
    if not isinstance(query, exp.Query):
        return query
    tree = to.subqueries.get(id(query))
    if tree is None:
        raise Untranslatable("this subquery cannot be read", query)
    return tree


def _simple(to: Translator, view: BoundView, test: SubqueryTest, tree: nodes.Tree, around: Around) -> Partners | None:
    """The partners where only the subquery's WHERE names columns of the query around: they are conditions of a join."""
    while isinstance(tree, nodes.Alias | nodes.OrderBy | nodes.Distinct):
        tree = tree.input
    if not isinstance(tree, nodes.Project):
        return None
    below, conditions = tree.input, list[exp.Expr]()
    if isinstance(below, nodes.Filter):
        conditions = conjuncts(to.scalar(below.condition))
        below = below.input
    try:
        inner = to.view(below, replace(around, outer=None, used=None, parent=None))
    except Untranslatable:
        return None
    own = [one for one in conditions if all(located(column, inner) is not None for column in own_columns(one))]
    joining = [one for one in conditions if one not in own]
    if any(_has_query(one) for one in conditions):
        return None
    both = BoundView(-1, (*view.columns, *inner.columns), len(view.columns))
    items = tree.items[: len(test.values)] if test.is_in else ()
    named = [to.scalar(item.value) for item in items if isinstance(item, nodes.Named)]
    if any(isinstance(part, exp.AggFunc | exp.Window | exp.Query) for one in named for part in own_parts(one)):
        return None
    if len(named) != len(test.values):
        return None
    try:
        inner = to.filtered(inner, [bind(one, inner) for one in own])
        bound = [bind(one, both) for one in joining]
        values = tuple((bind(mine, view), bind(other, both)) for mine, other in zip(test.values, named, strict=True))
    except Untranslatable:
        return None
    keys, rest = split(bound, len(view.columns))
    return Partners(inner, keys, tuple(rest), values)


def dependent(
    to: Translator, view: BoundView, tree: nodes.Tree, around: Around
) -> tuple[BoundView, BoundView, tuple[int, ...]]:
    """A subquery for each row of a view: the view, the subquery's rows, and which columns of the view they begin with.

    The subquery is evaluated once for the different values of the columns that it names ("unnesting arbitrary
    queries", Neumann and Kemper, BTW 2015).
    """
    used: set[int] = set()
    inside = Around(view, used, around, around.recursive)
    try:
        found = to.view(tree, inside)
    except OuterNeeded:
        if view.prefix or around.outer is None:
            raise
        return dependent(to, to.prefixed(view, around), tree, around)
    if not found.prefix:
        return view, found, ()
    places = tuple(sorted(used))
    domain = to.distinct(to.kept(view, places))
    return view, to.view(tree, Around(domain, None, around, around.recursive)), places


# --- columns ---------------------------------------------------------------------------------------------------------


def with_subqueries(
    to: Translator, view: BoundView, syntaxes: Sequence[exp.Expr], around: Around, span: Span | None = None
) -> tuple[BoundView, dict[int, int]]:
    """The view with a column for each subquery of some expressions; and which expression is which column."""
    replaced: dict[int, int] = {}
    for node in [part for syntax in syntaxes for part in _parts_with_query(syntax)]:
        test = test_of(node) if not isinstance(node, exp.Query) else None
        before = view.prefix
        if test is None:
            assert isinstance(node, exp.Query)
            view = _value(to, view, _tree(to, _query(node)), around, span)
        else:
            view = _mark(to, view, test, around, span)
        shift = view.prefix - before
        replaced = {one: at + shift for one, at in replaced.items()}
        replaced[id(node)] = len(view.columns) - 1
    return view, replaced


def _parts_with_query(node: exp.Expr) -> list[exp.Expr]:
    """The outermost parts that are a subquery, or a test with one."""
    if isinstance(node, exp.Exists | exp.Query) or (isinstance(node, exp.In) and node.args.get("query")):
        return [node]
    return [part for child in node.iter_expressions() for part in _parts_with_query(child)]


def apply(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """Each row with what a subquery says of it."""
    assert isinstance(tree, nodes.Apply)
    view = to.view(tree.input, around)
    operands = tuple(map(to.scalar, tree.operands))
    view = to.reaching(view, around, operands)
    if tree.kind is nodes.ApplyKind.SCALAR:
        found = _value(to, view, tree.subquery, around, to.place(tree))
    else:
        test = SubqueryTest(tree.subquery, operands, tree.kind is nodes.ApplyKind.IN)
        found = _mark(to, view, test, around, to.place(tree))
    *others, last = found.columns
    return replace(found, columns=(*others, replace(last, name=tree.name)))


def _value(to: Translator, view: BoundView, tree: nodes.Tree, around: Around, span: Span | None) -> BoundView:
    """The view with the value of a scalar subquery; NULL where it has no row, and a failure where it has several."""
    view, found, places = dependent(to, view, tree, around)
    if len(found.columns) != len(places) + 1:
        raise Untranslatable("a subquery that is a value has one column", tree.syntax)
    width = len(view.columns)
    keys = tuple(Equality(view.column(at), found.column(new), True) for new, at in enumerate(places))
    if not _is_one_row(tree):
        groups = tuple(found.column(at) for at in range(len(places)))
        found = to.same(GroupOp(groups, AtMostOne()), found, span)
    value = NamedColumn("", "(subquery)", found.columns[-1].kind)
    both = to.joined(view, found, keys, None, span)
    columns = [*zip(view.columns, view.all_columns(), strict=True)]
    result = to.mapped(both, [*columns, (value, both.column(len(both.columns) - 1))], view.prefix, span)
    if not _is_one_row(tree):
        alone = to.minus(view, to.semi(view, found, keys, (), span), span)
        empty = to.mapped(alone, [*columns, (value, constant(None, value.kind, "NULL"))], view.prefix, span)
        result = to.plus(result, empty, span)
    assert len(result.columns) == width + 1
    return result


def _is_one_row(tree: nodes.Tree) -> bool:
    """Whether a query has exactly one row, whatever it reads."""
    while isinstance(tree, nodes.Alias | nodes.OrderBy | nodes.Distinct | nodes.Project):
        tree = tree.input
    return isinstance(tree, nodes.Aggregate) and not tree.keys


def _mark(to: Translator, view: BoundView, test: SubqueryTest, around: Around, span: Span | None) -> BoundView:
    """The view with a column that says whether a test holds: true, false, or of IN unknown."""
    view, partners = _partners(to, view, replace(test, negated=False), around)
    width = len(view.columns)
    columns = [*zip(view.columns, view.all_columns(), strict=True)]
    mark = NamedColumn("", "(test)", BOOLEAN)

    def marked(rows: BoundView, value: RowExpression) -> BoundView:
        return to.mapped(rows, [*columns, (mark, value)], view.prefix, span)

    equal = [_equal(pair) for pair in partners.values]
    keys, rest = split(equal, width)
    found = to.semi(view, partners.view, (*partners.keys, *keys), (*partners.rest, *rest), span)
    left, result = to.minus(view, found, span), marked(found, _TRUE)
    if test.is_in:
        for conditions in [[_may_be_equal(pair) for pair in partners.values]]:
            maybe = to.semi(left, partners.view, partners.keys, (*partners.rest, *conditions), span)
            left, result = to.minus(left, maybe, span), to.plus(result, marked(maybe, _UNKNOWN), span)
    return to.plus(result, marked(left, _FALSE), span)
