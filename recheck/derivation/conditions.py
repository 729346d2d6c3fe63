"""Conditions below what they pass: each move is one line of the table in `_below`, by its side condition.

σ_p(π(R)) -> π(σ_p'(R))     σ_p(γ_k(R)) -> γ_k(σ_p(R)), p of k alone     σ_p(R ∪ S) -> σ_p(R) ∪ σ_p(S)
σ_p(R ⟕ S) -> σ_p(R) ⟕ S, p of R alone     σ_p(R ⟕ S) -> σ_p(R ⋈ S), p not true of NULLs     σ_p(R ⋈ S) -> R ⋈_p S

Before that, conditions are in a plain form: CASE WHEN p THEN 'x' END IS NOT NULL -> p,  a NOT IN (1) -> a <> 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Alias,
    Apply,
    Bucket,
    BucketKind,
    Distinct,
    Except,
    Filter,
    Intersect,
    Join,
    JoinKind,
    Over,
    Project,
    Scalar,
    Tree,
    Union,
    named_inputs,
)
from streambound.analyzer.algebra.null_conditions import rejects_null
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema, meant
from streambound.analyzer.algebra.syntax import column_of, conjunction, conjuncts, scalar_of
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.recheck.derivation.trees import PlanNode, listed

_INNER, _LEFT, _RIGHT, _FULL, _SEMI, _ANTI, _NOT_IN = (
    JoinKind.INNER,
    JoinKind.LEFT,
    JoinKind.RIGHT,
    JoinKind.FULL,
    JoinKind.SEMI,
    JoinKind.ANTI,
    JoinKind.NOT_IN,
)
_ABOVE = {"left": (_INNER, _LEFT, _SEMI, _ANTI, _NOT_IN), "right": (_INNER, _RIGHT)}
"""Joins below which a condition above them goes that is of one side alone."""
_ON = {"left": (_INNER, _RIGHT, _SEMI), "right": (_INNER, _LEFT, _SEMI, _ANTI, _NOT_IN)}
"""Joins whose own condition goes below them where it is of one side alone."""


Cases = tuple[list[tuple[exp.Expr, exp.Expr]], exp.Expr | None]
"""Conditions with the values that the first true one has, and the value of other rows, None for NULL."""


def plain_conditions(tree: Tree, catalog: Catalog) -> Tree:
    """A filter or a join whose condition is in the plain form of what is true of the same rows."""
    if not isinstance(tree, Filter | Join) or tree.condition is None:
        return tree
    node = parsed(tree.condition)
    cases = list(node.find_all(exp.Case, exp.If, exp.In))
    if node.find(exp.Query) or all(isinstance(one, exp.In) and len(one.expressions) != 1 for one in cases):
        return tree
    made = _plain(node)
    return tree if made == node else replace(tree, condition=scalar_of(made))


def _plain(node: exp.Expr) -> exp.Expr:
    match node:
        case exp.Paren():
            return exp.paren(_plain(node.this))
        case exp.And() | exp.Or():
            return type(node)(this=_plain(node.left), expression=_plain(node.right))
        case exp.Not():
            return _negated(node.this.unnest()) or node.copy()
        case exp.Case() | exp.If() if (cases := _cases(node)) is not None:
            values, default = [value for _, value in cases[0]], cases[1]
            known = all(isinstance(one, exp.Boolean) and one.this for one in values)
            if known and (default is None or (isinstance(default, exp.Boolean) and not default.this)):
                return exp.or_(*(_plain(condition) for condition, _ in cases[0]))
    return node.copy()


def _negated(node: exp.Expr) -> exp.Expr | None:
    """What is true where another condition is false; None for a condition like any other."""
    if isinstance(node, exp.In) and len(node.expressions) == 1 and not node.args.get("query"):
        return exp.NEQ(this=node.this.copy(), expression=node.expressions[0].copy())
    cases = _cases(node.this.unnest()) if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null) else None
    if cases is None or cases[1] is not None:
        return None
    if not all(isinstance(value, exp.Literal | exp.Boolean) for _, value in cases[0]):
        return None
    return exp.or_(*(_plain(condition) for condition, _ in cases[0]))


def _cases(node: exp.Expr) -> Cases | None:
    """What a CASE without an operand, or an IF, is of."""
    if isinstance(node, exp.If):
        found, default = [(node.this, node.args["true"])], node.args.get("false")
    elif isinstance(node, exp.Case) and node.this is None:
        found, default = [(one.this, one.args["true"]) for one in node.args["ifs"]], node.args.get("default")
    else:
        return None
    return found, None if isinstance(default, exp.Null) else default


def conditions_down(tree: Tree, catalog: Catalog) -> Tree:
    """A tree whose conditions are as far down as they mean the same; blocks stay as they are."""
    if is_static(tree, catalog) or is_block(tree, catalog):
        return tree
    tree = over_inputs(tree, {name: conditions_down(one, catalog) for name, one in named_inputs(tree).items()})
    if isinstance(tree, Filter):
        found = tree.input
        for part in conjuncts(tree.condition):
            found = passed_down(found, part, catalog)
        return found
    return _on_down(tree, catalog) if isinstance(tree, Join) and not tree.using else tree


def over_inputs(tree: Tree, below: dict[str, Tree]) -> Tree:
    """An operator over other inputs."""
    same = all(one is getattr(tree, name) for name, one in below.items())
    return tree if same else replace(tree, **below)  # type: ignore[arg-type]


def passed_down(tree: Tree, part: exp.Expr, catalog: Catalog) -> Tree:
    """The rows of a tree for which a condition is true, asked as far down as that is the same."""
    found = None if part.find(exp.Query) is not None else _below(tree, part, catalog)
    if found is not None:
        return found
    if isinstance(tree, Filter):
        return replace(tree, condition=_scalar([*conjuncts(tree.condition), part]))
    return Filter(tree, _scalar([part]), syntax=tree.syntax, at=tree.at)


def _scalar(parts: Sequence[exp.Expr]) -> Scalar:
    found = conjunction(parts)
    assert found is not None, "there are some"
    return found


def _below(tree: Tree, part: exp.Expr, catalog: Catalog) -> Tree | None:
    """The tree with the condition inside; None where it must stay above."""
    if isinstance(tree, Join):
        return None if is_block(tree, catalog) else _into_join(tree, part, catalog)
    if isinstance(tree, Filter):
        return None if is_block(tree, catalog) else replace(tree, input=passed_down(tree.input, part, catalog))
    if isinstance(tree, Union | Except | Intersect):
        own = schema(tree, catalog)
        sides = {
            name: substituted(part, own, [column_of(one) for one in schema(side, catalog)])
            for name, side in (("left", tree.left), ("right", tree.right))
        }
        if sides["left"] is None or sides["right"] is None:
            return None
        left, right = passed_down(tree.left, sides["left"], catalog), passed_down(tree.right, sides["right"], catalog)
        return replace(tree, left=left, right=right)
    if not isinstance(tree, Alias | Distinct | Project | Aggregate | Bucket | Over | Apply):
        return None
    shown = _passing(tree, catalog)
    made = None if shown is None else substituted(part, *shown)
    return None if made is None else replace(tree, input=passed_down(tree.input, made, catalog))


def _passing(
    tree: Alias | Distinct | Project | Aggregate | Bucket | Over | Apply, catalog: Catalog
) -> tuple[Schema, Sequence[exp.Expr]] | None:
    """The columns by which conditions pass an operator, and what each is over the input's columns."""
    own, given = schema(tree, catalog), schema(tree.input, catalog)
    plain = [column_of(one) for one in given]
    match tree:
        case Alias() | Distinct():
            return own, plain
        case Project():
            return own, listed(PlanNode(tree, catalog))
        case Aggregate(keys=keys):
            return (own[: len(keys)], [parsed(key.value) for key in keys]) if keys else None
        case Bucket(kind=BucketKind.SESSION, keys=keys):
            kept = list(map(parsed, keys))
            some = [one for one in given if column_of(one) in kept]
            return tuple(some), [column_of(one) for one in some]
        case Over(calls=calls):
            partitions = [[meant(node, given) for node in _columns(call.partition)] for call in calls]
            places = [p for p in range(len(given)) if all(p in one for one in partitions)]
            return tuple(given[p] for p in places), [plain[p] for p in places]
    return given, plain


def _columns(scalars: Sequence[Scalar]) -> list[exp.Column]:
    return [node for node in map(parsed, scalars) if isinstance(node, exp.Column)]


def substituted(part: exp.Expr, columns: Schema, values: Sequence[exp.Expr]) -> exp.Expr | None:
    """A condition with values for columns; None where it reads another column, or a value is a subquery."""
    holder = exp.Paren(this=part.copy())
    for column in list(holder.find_all(exp.Column)):
        place = meant(column, columns)
        if place is None or place >= len(values) or values[place].find(exp.Query) is not None:
            return None
        value = values[place].copy()
        column.replace(value if isinstance(value, exp.Column) else exp.paren(value))
    found: exp.Expr = holder.this
    return found


# --- joins ------------------------------------------------------------------------------------------------------------


def _into_join(tree: Join, part: exp.Expr, catalog: Catalog) -> Tree | None:
    if tree.using:
        return None
    for name in ("left", "right"):
        if tree.kind in _ABOVE[name] and is_of(part, tree, name, catalog):
            return _into_side(tree, name, part, catalog)
    if tree.kind is _INNER:
        return replace(tree, condition=_scalar([*conjuncts(tree.condition), part]))
    kind = _without_padding(tree, part, catalog)
    return None if kind is tree.kind else passed_down(_on_down(replace(tree, kind=kind), catalog), part, catalog)


def _into_side(tree: Join, name: str, part: exp.Expr, catalog: Catalog) -> Join:
    if name == "left":
        return replace(tree, left=passed_down(tree.left, part, catalog))
    return replace(tree, right=passed_down(tree.right, part, catalog))


def _on_down(tree: Join, catalog: Catalog) -> Join:
    """The parts of ON that are of one side alone, in that side."""
    rest, parts, given = list[exp.Expr](), conjuncts(tree.condition), tree
    for part in parts:
        name = next((n for n in ("left", "right") if tree.kind in _ON[n] and is_of(part, given, n, catalog)), None)
        if name is None:
            rest.append(part)
        else:
            tree = _into_side(tree, name, part, catalog)
    return tree if len(rest) == len(parts) else replace(tree, condition=conjunction(rest))


def _without_padding(tree: Join, part: exp.Expr, catalog: Catalog) -> JoinKind:
    """The kind of an outer join above which a condition is not true of rows without a partner."""
    left, right = schema(tree.left, catalog), schema(tree.right, catalog)

    def drops(missing: Schema, other: Schema) -> bool:
        return rejects_null(part, lambda column: _all_of([column], missing, other))

    needs = (drops(right, left), drops(left, right))
    kinds = {
        _LEFT: {(True, False): _INNER, (True, True): _INNER},
        _RIGHT: {(False, True): _INNER, (True, True): _INNER},
        _FULL: {(True, True): _INNER, (True, False): _RIGHT, (False, True): _LEFT},
    }
    return kinds.get(tree.kind, {}).get(needs, tree.kind)


def is_of(part: exp.Expr, tree: Join, name: str, catalog: Catalog) -> bool:
    """Whether a condition reads columns of one side of a join alone, and some."""
    sides = [schema(tree.left, catalog), schema(tree.right, catalog)]
    mine, other = sides if name == "left" else reversed(sides)
    columns = list(part.find_all(exp.Column))
    return bool(columns) and part.find(exp.Query) is None and _all_of(columns, mine, other)


def _all_of(columns: Sequence[exp.Expr], mine: Schema, other: Schema) -> bool:
    named = [one for node in columns for one in node.find_all(exp.Column)]
    return all(meant(one, mine) is not None and meant(one, other) is None for one in named) and bool(named)
