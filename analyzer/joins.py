"""Joins other than inner ones: what each is called, why it is outside the query language, and what to do instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

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
