"""``S.a NOT IN (SELECT T.a …)  ->  NOT EXISTS (SELECT T.a … WHERE T.a = S.a)``, or NULLs left out of both sides.

One NULL that T sends makes NOT IN unknown for every row, so all rows that were printed wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from streambound.criteria.repairs.operators.rejected import RejectedTree
from streambound.criteria.repairs.operators.scopes import SelectScope
from streambound.criteria.repairs.operators.spots import Spot
from streambound.criteria.repairs.operators.syntax import asked
from streambound.criteria.repairs.steps import AddConjunct, AskNotExists, Change

NOT_EXISTS = 6
NO_NULLS = 8


def not_exists(rejected: RejectedTree) -> Iterator[Change]:
    """NOT EXISTS, which NULLs do not decide; then NOT IN without NULLs."""
    for scope in rejected.scopes:
        for negation in scope.select.find_all(exp.Not):
            select = asked(negation)
            if select is None or negation.find_ancestor(exp.Select) is not scope.select:
                continue
            sides = _sides(scope, negation, select)
            outer, inner, spot = Spot.of(scope.select), Spot.of(select), Spot.of(negation)
            if sides is None or outer is None or inner is None or spot is None:
                continue
            value, member = sides
            note = f"a NULL of {value} or {member} no longer hides rows"
            step = AskNotExists(spot, f"{member} = {value}")
            yield Change(("not exists",), ("ask NOT EXISTS instead of NOT IN",), NOT_EXISTS, (step,), (note,))
            steps = (AddConjunct(outer, f"{value} IS NOT NULL"), AddConjunct(inner, f"{member} IS NOT NULL"))
            title = f"leave out where {value} or {member} is NULL"
            yield Change(("not null",), (title,), NO_NULLS, steps, (f"a NULL of {member} no longer hides all rows",))


def _sides(scope: SelectScope, negation: exp.Not, select: exp.Select) -> tuple[str, str] | None:
    """The value and the member that NOT IN compares, as they are written; None where they are not sure to be names."""
    value, items = negation.this.unnest().this, select.expressions
    if not isinstance(value, exp.Column) or len(items) != 1 or not isinstance(items[0].unalias(), exp.Column):
        return None
    member = items[0].unalias()
    if any(select.args.get(name) for name in ("group", "having", "limit", "offset", "joins")):
        return None
    if not value.table:
        owners = [item for item in scope.items if item.table.column(value.name) is not None]
        if len(owners) != 1:
            return None
        return owners[0].written(value.name), str(member.sql("spark"))
    return str(value.sql("spark")), str(member.sql("spark"))
