"""What USING means; joins other than inner ones: what each is called, why it is refused, and what to do instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Positions
from streambound.analyzer.query import Op, conjunction
from streambound.analyzer.scopes import Item, Scope, Visible
from streambound.analyzer.terms import TermReader

JOIN_WORDS = (TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.SEMI, TokenType.ANTI, TokenType.OUTER)
"""What such a join may begin with."""
_DOWNSTREAM = "downstream (select what ON compares)"


def is_inner(join: exp.Join) -> bool:
    """Whether a join is in the query language, as far as its kind goes."""
    return not join.side and (join.kind or "INNER") in ("INNER", "CROSS")


def name_of(join: exp.Join) -> str:
    """The join as SQL calls it: ``LEFT SEMI JOIN``."""
    return " ".join(filter(None, (join.side, join.kind, "JOIN")))


def instead(join: exp.Join, before: Sequence[exp.Expr], is_static: Callable[[exp.Expr], bool], distinct: bool) -> str:
    """What to do instead of a join that is no inner one.

    ``before`` are the FROM's entries in front of it, ``is_static`` says of an entry that it reads relations alone, and
    ``distinct`` that the statement's result is a set.
    """
    if join.kind == "SEMI":
        if distinct:
            return "write JOIN: under DISTINCT it gives the same"
        return "JOIN gives the same where no row has several partners, and always under SELECT DISTINCT"
    missing = {"RIGHT": list(before), "FULL": [*before, join.this]}.get(join.side, [join.this])
    static = all(map(is_static, missing))
    if join.kind == "ANTI" and static:
        return f"a relation does not change: leave out rows with a partner from the job's output, {_DOWNSTREAM}"
    if static:
        leaves_out = "or write JOIN, which leaves out rows without a partner"
        return f"a relation does not change: join the job's output with it {_DOWNSTREAM}, {leaves_out}"
    result = "its result" if join.kind == "ANTI" else "its result with NULLs"
    waits = f"a row without a partner may still get one, so {result} would have to wait, or to be taken back"
    return waits if join.kind == "ANTI" else f"{waits}; JOIN leaves such rows out"


def using(joined: Scope, left: Scope, right: Scope, names: Sequence[exp.Expr], positions: Positions) -> Scope:
    """``A JOIN B USING (x)  ->  A JOIN B ON A.x = B.x``, where ``x`` is one column, and the first that ``*`` shows.

    ``joined`` is the cross product of the two sides. Raises Finding where a side has no such column, or several.
    """
    equal, merged, first = [], set(joined.merged), list[Visible]()
    for name in names:
        (owner, mine), (other, theirs) = (_owner(side, name, positions) for side in (left, right))
        equal.append(TermReader(positions).compare(mine.term, Op.EQ, theirs.term, name))
        merged |= {(name.name.lower(), item.alias.lower()) for item in (owner, other)}
        first.append(mine)
    lowered = {name.name.lower() for name in names}
    rest = [column for side in (left, right) for column in side.star if column.name.lower() not in lowered]
    where = conjunction((joined.where, *equal))
    return replace(joined, where=where, shown=(*first, *rest), merged=frozenset(merged))


def _owner(side: Scope, name: exp.Expr, positions: Positions) -> tuple[Item, Visible]:
    found = [(item, column) for item in side.items for column in item.find(name.name)]
    if not found:
        raise positions.finding(Code.UNKNOWN_COLUMN, f"one side of this join has no column {name.name!r}", name)
    if len(found) > 1 and not side.is_merged(name.name, [item for item, _ in found]):
        message = f"column {name.name!r} is ambiguous: one side of this join has several of that name"
        raise positions.finding(Code.AMBIGUOUS_COLUMN, message, name)
    return found[0]
