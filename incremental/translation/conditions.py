"""Conditions as conjunctions: their parts, and the equalities by which a join finds partners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from sqlglot import exp

from streambound.analyzer.constants import BOOLEAN
from streambound.analyzer.expressions.expression import Call, Expression
from streambound.analyzer.expressions.registry import BY_NAME
from streambound.incremental.operators import Equality
from streambound.incremental.row_expression import RowExpression


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that all have to hold."""
    node = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(node, exp.And):
        return [*conjuncts(node.this), *conjuncts(node.expression)]
    return [node]


def parts(condition: RowExpression) -> list[RowExpression]:
    """The same of an expression over rows, with the text of each part, where it can be told."""
    found = list(_flat(condition.value))
    texts = condition.text.split(" AND ")
    if len(texts) != len(found):
        texts = [condition.text] * len(found)
    return [RowExpression(part, text) for part, text in zip(found, texts, strict=True)]


def _flat(value: Expression) -> Iterator[Expression]:
    if isinstance(value, Call) and value.function.name == "and":
        for argument in value.arguments:
            yield from _flat(argument)
    else:
        yield value


def all_of(conditions: Iterable[RowExpression]) -> RowExpression | None:
    """The conjunction of conditions; None of none."""
    listed = list(conditions)
    return reduce(_and, listed) if listed else None


def _and(left: RowExpression, right: RowExpression) -> RowExpression:
    return RowExpression(Call(BY_NAME["and"], (left.value, right.value), BOOLEAN), f"{left.text} AND {right.text}")


def split(conditions: Sequence[RowExpression], width: int) -> tuple[tuple[Equality, ...], list[RowExpression]]:
    """Conditions over pairs of rows, the left one with ``width`` columns: equalities of the sides, and the rest."""
    keys, rest = list[Equality](), list[RowExpression]()
    for condition in conditions:
        found = _equality(condition, width)
        if found is None:
            rest.append(condition)
        else:
            keys.append(found)
    return tuple(keys), rest


def _equality(condition: RowExpression, width: int) -> Equality | None:
    value = condition.value
    if not isinstance(value, Call) or value.function.name not in ("=", "<=>"):
        return None
    texts = condition.text.split(f" {value.function.name} ")
    texts = texts if len(texts) == len(value.arguments) else [condition.text, ""]
    sides = [RowExpression(argument, text) for argument, text in zip(value.arguments, texts, strict=True)]
    if sides[0].kind != sides[1].kind:  # what is equal as numbers may differ as rows
        return None
    for left, right in (sides, sides[::-1]):
        if left.positions and right.positions and max(left.positions) < width <= min(right.positions):
            return Equality(left, right.shifted(-width), value.function.name == "<=>")
    return None
