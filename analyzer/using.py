"""What USING means: an equality, and one column instead of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Positions
from streambound.analyzer.query import Op, conjunction
from streambound.analyzer.scopes import Item, Scope, Visible
from streambound.analyzer.terms import TermReader


def using(joined: Scope, left: Scope, right: Scope, names: Sequence[exp.Expr], positions: Positions) -> Scope:
    """``A JOIN B USING (x)  ->  A JOIN B ON A.x = B.x``, where ``x`` is one column, and the first that ``*`` shows.

    ``joined`` is the cross product of the two sides. Raises Finding where a side has no such column, or several.
    """
    pairs = [(_owner(left, name, positions)[1], _owner(right, name, positions)[1], name) for name in names]
    equal = [TermReader(positions).compare(mine.term, Op.EQ, theirs.term, name) for mine, theirs, name in pairs]
    known, first = set(joined.merged), list[Visible]()
    for name in names:
        (owner, mine), (other, _) = (_owner(side, name, positions) for side in (left, right))
        known |= {(name.name.lower(), item.alias.lower()) for item in (owner, other)}
        first.append(mine)
    lowered = {name.name.lower() for name in names}
    rest = [column for side in (left, right) for column in side.star if column.name.lower() not in lowered]
    where = conjunction((joined.where, *equal))
    return replace(joined, where=where, shown=(*first, *rest), merged=frozenset(known))


def _owner(side: Scope, name: exp.Expr, positions: Positions) -> tuple[Item, Visible]:
    found = [(item, column) for item in side.items for column in item.find(name.name)]
    if not found:
        raise positions.finding(Code.UNKNOWN_COLUMN, f"one side of this join has no column {name.name!r}", name)
    if len(found) > 1 and not side.is_merged(name.name, [item for item, _ in found]):
        message = f"column {name.name!r} is ambiguous: one side of this join has several of that name"
        raise positions.finding(Code.AMBIGUOUS_COLUMN, message, name)
    return found[0]
