"""Sort by one attribute, which is never NULL; rows that are equal there may come in any order.

The invariants of the pages "Pass Invariants" and "Propagation Invariants". Sort is the operator that punctuations
unblock: without them it can output nothing before its input ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from streambound.punctuation.combine import is_empty
from streambound.punctuation.coverage import first_gap, spans
from streambound.punctuation.match import Punctuation, Row, match, set_match


def initial(attribute: int, punctuations: Iterable[Punctuation]) -> tuple[Punctuation, ...]:
    """``Initial(Sort_A, Ps)``: the largest subset of Ps that begins where the order begins and leaves no gap.

    ``maximal Ps' ⊆ Ps | ¬∃ t1, t2: SetMatch(t1, Ps') ∧ ¬SetMatch(t2, Ps') ∧ t2 <_A t1``

    There is one: the union of two such subsets is one too. A punctuation beyond the first gap is in none, and leaving
    it out may open an earlier gap.
    """
    inside = tuple(punctuation for punctuation in punctuations if not is_empty(punctuation))
    while True:
        gap = first_gap(attribute, inside)
        before = tuple(p for p in inside if all(end[:2] <= gap[:2] for _, end in spans(p[attribute])))
        if before == inside:
            return before
        inside = before


def sort_pass(attribute: int, rows: Sequence[Row], punctuations: Sequence[Punctuation]) -> tuple[Row, ...]:
    """``Pass(Sort_A, Ts, Ps) = Sort_A {t ∈ Ts | SetMatch(t, Initial(Sort_A, Ps))}``."""
    first = initial(attribute, punctuations)
    return tuple(sorted((row for row in rows if set_match(row, first)), key=lambda row: row[attribute]))


def sort_keep(attribute: int, rows: Sequence[Row], punctuations: Sequence[Punctuation]) -> tuple[Row, ...]:
    """``Ts − Pass(Sort_A, Ts, Ps)``: what has been output is not needed any more."""
    first = initial(attribute, punctuations)
    return tuple(row for row in rows if not set_match(row, first))


def sort_propagation(attribute: int, punctuations: Sequence[Punctuation]) -> tuple[Punctuation, ...]:
    """``Propagation(Sort_A, Ts, Ps) = Initial(Sort_A, Ps)``: in the order of the output."""
    return initial(attribute, punctuations)


def sort_propagation_out_of_order(
    attribute: int, rows: Sequence[Row], punctuations: Sequence[Punctuation]
) -> tuple[Punctuation, ...]:
    """``Initial(Sort_A, Ps) ∪ {p ∈ Ps | ¬∃ t ∈ Ts − Pass(Sort_A, Ts, Ps): match(t, p)}``.

    Says more, ahead of the output: that there is no author with G, when those up to D are out.
    """
    first = initial(attribute, punctuations)
    waiting = [row for row in rows if not set_match(row, first)]
    return tuple(p for p in punctuations if p in first or not (is_empty(p) or any(match(row, p) for row in waiting)))
