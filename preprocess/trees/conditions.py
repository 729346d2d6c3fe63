"""Conditions where they say most: below what they pass, so that the facts and demands there know of them.

    σ_p(S) ⟕ T  ←  σ_p(S ⟕ T)        S ⋈_c T  ←  σ_c(S ⋈ T)        S ⋈ T  ←  σ_q(S ⟕ T), q is not true of NULLs
    γ_k(σ_p(S)) ←  σ_p(γ_k(S)), p of k alone (A8), and so of the partitions of windows; both sides of set operations

A select-project-join block stays in one piece, with its conditions as they are: splitting them is its rule's.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.null_conditions import rejects_null
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema, meant
from streambound.analyzer.algebra.substitution import substituted, values_of
from streambound.analyzer.algebra.syntax import column_of, conjunction, conjuncts
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.preprocess.trees.with_inputs import with_inputs

_LEFT_ALONE = (
    nodes.JoinKind.INNER,
    nodes.JoinKind.LEFT,
    nodes.JoinKind.SEMI,
    nodes.JoinKind.ANTI,
    nodes.JoinKind.NOT_IN,
)
_RIGHT_ALONE = (nodes.JoinKind.INNER, nodes.JoinKind.RIGHT)
_OF_LEFT_IN_ON = (nodes.JoinKind.INNER, nodes.JoinKind.RIGHT, nodes.JoinKind.SEMI)
_OF_RIGHT_IN_ON = (
    nodes.JoinKind.INNER,
    nodes.JoinKind.LEFT,
    nodes.JoinKind.SEMI,
    nodes.JoinKind.ANTI,
    nodes.JoinKind.NOT_IN,
)


def conditions_down(tree: nodes.Tree, catalog: Catalog) -> nodes.Tree:
    """A tree whose conditions are as far down as they mean the same."""
    if is_static(tree, catalog) or is_block(tree, catalog):
        return tree
    tree = with_inputs(tree, lambda one: conditions_down(one, catalog))
    if isinstance(tree, nodes.Filter):
        found = tree.input
        for part in conjuncts(tree.condition):
            found = filtered(found, part, catalog)
        return found
    return _on_down(tree, catalog) if isinstance(tree, nodes.Join) and not tree.using else tree


def _on_down(tree: nodes.Join, catalog: Catalog) -> nodes.Tree:
    """The parts of ON that are of one side alone, in that side."""
    left, right = schema(tree.left, catalog), schema(tree.right, catalog)
    rest = list[exp.Expr]()
    for part in conjuncts(tree.condition):
        if tree.kind in _OF_LEFT_IN_ON and _is_of(part, left, right):
            tree = replace(tree, left=filtered(tree.left, part, catalog))
        elif tree.kind in _OF_RIGHT_IN_ON and _is_of(part, right, left):
            tree = replace(tree, right=filtered(tree.right, part, catalog))
        else:
            rest.append(part)
    return tree if len(rest) == len(conjuncts(tree.condition)) else replace(tree, condition=conjunction(rest))


def filtered(tree: nodes.Tree, part: exp.Expr, catalog: Catalog) -> nodes.Tree:
    """The rows of a tree for which a condition is true, which is asked as far down as that is the same."""
    if part.find(exp.Query) is not None:
        return _above(tree, part)
    found = _below(tree, part, catalog)
    return _above(tree, part) if found is None else found


def _above(tree: nodes.Tree, part: exp.Expr) -> nodes.Filter:
    if isinstance(tree, nodes.Filter):
        both = conjunction([*conjuncts(tree.condition), part])
        return tree if both is None else replace(tree, condition=both)
    condition = conjunction([part])
    assert condition is not None, "one part"
    return nodes.Filter(tree, condition, syntax=tree.syntax, at=tree.at)


def _below(tree: nodes.Tree, part: exp.Expr, catalog: Catalog) -> nodes.Tree | None:
    """The tree with the condition inside; None where it must stay above."""
    match tree:
        case nodes.Alias(input) | nodes.Distinct(input):
            return _moved(tree, input, part, _by_place(schema(tree, catalog), schema(input, catalog)), catalog)
        case nodes.Project(input, items):
            given = schema(input, catalog)
            return _moved(tree, input, part, (schema(tree, catalog), values_of(items, given)), catalog)
        case nodes.Filter(input) if not is_block(tree, catalog):
            return replace(tree, input=filtered(input, part, catalog))
        case nodes.Aggregate(input, keys) if keys:
            own = schema(tree, catalog)[: len(keys)]
            return _moved(tree, input, part, (own, [key.value.syntax for key in keys]), catalog)
        case nodes.Bucket(input, kind):
            given = schema(input, catalog)
            kept = (
                [column_of(one) for one in given]
                if kind is not nodes.BucketKind.SESSION
                else [key.syntax for key in tree.keys]
            )
            passing = [c for c in given if column_of(c) in kept]
            return _moved(tree, input, part, (tuple(passing), [column_of(c) for c in passing]), catalog)
        case nodes.Over(input):
            of_all = [{one.syntax for one in call.partition} for call in tree.calls]
            given = schema(input, catalog)
            passing = [c for c in given if all(any(_is(c, node, given) for node in one) for one in of_all)]
            return _moved(tree, input, part, (tuple(passing), [column_of(c) for c in passing]), catalog)
        case nodes.Apply(input):
            given = schema(input, catalog)
            return _moved(tree, input, part, (given, [column_of(c) for c in given]), catalog)
        case nodes.Union() | nodes.Except() | nodes.Intersect():
            return _both_sides(tree, part, catalog)
        case nodes.Join():
            return None if is_block(tree, catalog) else _joined(tree, part, catalog)
    return None


Unary = nodes.Alias | nodes.Distinct | nodes.Project | nodes.Aggregate | nodes.Bucket | nodes.Over | nodes.Apply
"""The operators that conditions pass on their way to the rows below."""
Values = tuple[Schema, Sequence[exp.Expr]]
"""Columns, and what each is over the input's columns."""


def _by_place(outer: Schema, inner: Schema) -> Values:
    return outer, [column_of(one) for one in inner]


def _is(column: object, node: exp.Expr, given: Schema) -> bool:
    place = meant(node, given) if isinstance(node, exp.Column) else None
    return place is not None and given[place] == column


def _moved(tree: Unary, input: nodes.Tree, part: exp.Expr, values: Values, catalog: Catalog) -> nodes.Tree | None:
    """The condition below an operator whose columns have these values; None where it reads others."""
    made = substituted(part, *values)
    return None if made is None else replace(tree, input=filtered(input, made, catalog))


def _both_sides(
    tree: nodes.Union | nodes.Except | nodes.Intersect, part: exp.Expr, catalog: Catalog
) -> nodes.Tree | None:
    own = schema(tree, catalog)
    made = []
    for side in (tree.left, tree.right):
        mine = substituted(part, own, [column_of(one) for one in schema(side, catalog)])
        if mine is None:
            return None
        made.append(filtered(side, mine, catalog))
    return replace(tree, left=made[0], right=made[1])


def _joined(tree: nodes.Join, part: exp.Expr, catalog: Catalog) -> nodes.Tree | None:
    if tree.using:
        return None
    left, right = schema(tree.left, catalog), schema(tree.right, catalog)
    if tree.kind in _LEFT_ALONE and _is_of(part, left, right):
        return replace(tree, left=filtered(tree.left, part, catalog))
    if tree.kind in _RIGHT_ALONE and _is_of(part, right, left):
        return replace(tree, right=filtered(tree.right, part, catalog))
    if tree.kind is nodes.JoinKind.INNER:
        return replace(tree, condition=conjunction([*conjuncts(tree.condition), part]))
    kind = _without_padding(tree.kind, part, left, right)
    return None if kind is tree.kind else filtered(_on_down(replace(tree, kind=kind), catalog), part, catalog)


def _without_padding(kind: nodes.JoinKind, part: exp.Expr, left: Schema, right: Schema) -> nodes.JoinKind:
    """The kind of an outer join above which a condition drops rows without a partner."""
    drops_right = rejects_null(part, lambda column: _is_of(column, right, left))  # rows without a right partner
    drops_left = rejects_null(part, lambda column: _is_of(column, left, right))
    match kind:
        case nodes.JoinKind.LEFT if drops_right:
            return nodes.JoinKind.INNER
        case nodes.JoinKind.RIGHT if drops_left:
            return nodes.JoinKind.INNER
        case nodes.JoinKind.FULL if drops_right or drops_left:
            if drops_right and drops_left:
                return nodes.JoinKind.INNER
            return nodes.JoinKind.RIGHT if drops_right else nodes.JoinKind.LEFT
    return kind


def _is_of(part: exp.Expr, mine: Schema, other: Schema) -> bool:
    """Whether a condition reads columns of one side alone, and some."""
    columns = list(part.find_all(exp.Column))
    own = all(meant(one, mine) is not None and meant(one, other) is None for one in columns)
    return bool(columns) and own and part.find(exp.Query) is None
