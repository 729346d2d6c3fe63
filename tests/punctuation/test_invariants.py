"""Pass, keep and propagation of each operator, on random grammatical streams and all that may still come.

Operators are computed naively here. Passing must be right (and for sort as much as its definition says), keeping enough
and, where one attribute decides, no more than enough; a punctuation that is propagated is never contradicted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations, product
from typing import Any

from hypothesis import given

from streambound.punctuation.duplicate_elimination import (
    duplicate_elimination_keep,
    duplicate_elimination_pass,
    duplicate_elimination_propagation,
)
from streambound.punctuation.join import join_keep, join_pass, join_propagation
from streambound.punctuation.match import match
from streambound.punctuation.project import project_keep, project_pass, project_propagation
from streambound.punctuation.select import select_keep, select_pass, select_propagation
from streambound.punctuation.sort import initial, sort_keep, sort_pass, sort_propagation, sort_propagation_out_of_order
from streambound.punctuation.union import union_keep, union_pass, union_propagation
from support.choices import Choices, drawn
from support.grid import GRID, ORDERED, Said, Stream, after, stream
from support.profiles import examples

Row = tuple[Any, ...]
Rows = Sequence[Row]


def contradicted(punctuations: Sequence[Any], later: Rows) -> bool:
    return any(match(row, punctuation) for row in later for punctuation in punctuations)


# --- sort ---------------------------------------------------------------------------------------------------------


def largest_contiguous(said: Sequence[Said]) -> set[Said]:
    """The largest subset after which no row that may come is before one that may not, by trying all."""
    some = [one for one in said if all(one.values)]
    for size in range(len(some), -1, -1):
        for chosen in combinations(some, size):
            inside = [row for row in product(ORDERED, GRID) if any(one.describes(row) for one in chosen)]
            outside = [row for row in product(ORDERED, GRID) if not any(one.describes(row) for one in chosen)]
            last = max((row[0] for row in inside), default=-9)
            if all(row[0] >= last for row in outside):
                return set(chosen)
    raise AssertionError("the empty set is contiguous")


def sort_case(choices: Choices) -> tuple[Stream, Stream]:
    start = keyed(choices, stream(choices, 2, 9))
    whole = keyed(choices, stream(choices, 2, 6, before=start))
    return start, whole


def keyed(choices: Choices, found: Stream) -> Stream:
    """Without rows whose first attribute is NULL, which cannot be sorted by it; often with a promise of order."""
    rows = tuple(e for e in found.elements if isinstance(e, Said) or e[0] is not None)
    return Stream(found.width, rows, found.nulls)


@examples(75)
@given(drawn(sort_case))
def test_sort(case: tuple[Stream, Stream]) -> None:
    start, whole = case
    first = largest_contiguous(start.all_said)
    assert set(initial(0, start.punctuations)) == {one.punctuation for one in first}
    out = sort_pass(0, start.rows, start.punctuations)
    assert Counter(out) == Counter(row for row in start.rows if any(one.describes(row) for one in first))
    assert [row[0] for row in out] == sorted(row[0] for row in out)
    highest = max((row[0] for row in out), default=-9)
    kept = sort_keep(0, start.rows, start.punctuations)
    assert all(row[0] >= highest for row in chain(kept, whole.rows[len(start.rows) :]))  # a prefix of the whole result
    assert all(row[0] >= highest for row in start.to_come if row[0] is not None)
    assert Counter(kept) + Counter(out) == Counter(start.rows)
    state = (*kept, *after(whole, start).rows)
    later = sort_pass(0, state, whole.punctuations)
    assert Counter(sort_pass(0, whole.rows, whole.punctuations)) == Counter(out) + Counter(later)
    emitted = sort_propagation(0, start.punctuations)
    early = sort_propagation_out_of_order(0, start.rows, start.punctuations)
    assert set(emitted) <= set(early) <= set(start.punctuations)
    assert not contradicted(early, [row for row in chain(kept, start.to_come) if row[0] is not None])
    waiting = [one for one in start.all_said if all(one.values) and not any(map(one.describes, kept))]
    assert set(early) == {one.punctuation for one in waiting} | set(emitted)


# --- two inputs ---------------------------------------------------------------------------------------------------

Two = tuple[Stream, Stream, Stream, Stream]


def two(choices: Choices, width: int) -> Two:
    left, right = stream(choices, width, 7), stream(choices, width, 7)
    return left, right, stream(choices, width, 4, before=left), stream(choices, width, 4, before=right)


@examples(75)
@given(drawn(lambda choices: two(choices, 2)))
def test_union(case: Two) -> None:
    left, right, left_whole, right_whole = case
    assert Counter(union_pass(left.rows, right.rows)) == Counter(left.rows) + Counter(right.rows)
    assert union_keep(left.rows, right.rows) == ((), ())
    emitted = union_propagation(left.punctuations, right.punctuations)
    assert not contradicted(emitted, [*left.to_come, *right.to_come])
    assert not contradicted(emitted, [*after(left_whole, left).rows, *after(right_whole, right).rows])
    for row in product(GRID, repeat=2):  # all that both have ended is said
        assert any(match(row, p) for p in emitted) == (left.closed(row) and right.closed(row))


def joined(on: Sequence[tuple[int, int]], left: Rows, right: Rows) -> list[Row]:
    return [(*a, *b) for a in left for b in right if all(a[i] == b[j] and a[i] is not None for i, j in on)]


JOINS = ([(0, 0)], [(0, 1)], [(0, 0), (1, 1)], [])


def check_join(case: Two, on: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Returns how many rows need not be kept, and how many punctuations are propagated."""
    left, right, left_whole, right_whole = case
    out = join_pass(on, left.rows, right.rows)
    assert Counter(out) == Counter(joined(on, left.rows, right.rows))
    kept = join_keep(on, left.rows, left.punctuations, right.rows, right.punctuations)
    for rows, all_rows in zip(kept, (left.rows, right.rows), strict=True):
        assert not Counter(rows) - Counter(all_rows)
    more = after(left_whole, left).rows, after(right_whole, right).rows
    later = Counter(joined(on, left_whole.rows, right_whole.rows)) - Counter(out)
    pieces = [*joined(on, kept[0], more[1]), *joined(on, more[0], kept[1]), *joined(on, *more)]
    assert Counter(pieces) == later
    to_come = list(left.to_come), list(right.to_come)
    assert Counter(joined(on, kept[0], to_come[1])) == Counter(joined(on, left.rows, to_come[1]))
    assert Counter(joined(on, to_come[0], kept[1])) == Counter(joined(on, to_come[0], right.rows))
    emitted = join_propagation(on, left.punctuations, right.punctuations)
    assert not contradicted(emitted, list(later))
    assert not contradicted(emitted, joined(on, [*left.rows, *to_come[0]], to_come[1]))
    assert not contradicted(emitted, joined(on, to_come[0], [*right.rows, *to_come[1]]))
    return len(left.rows) + len(right.rows) - len(kept[0]) - len(kept[1]), len(emitted)


@examples(50)
@given(drawn(lambda choices: two(choices, 2)))
def test_join(case: Two) -> None:
    for on in JOINS:
        check_join(case, on)


@examples(75)
@given(drawn(lambda choices: two(choices, 1)))
def test_join_keeps_no_more_than_it_must(case: Two) -> None:
    left, right = case[:2]
    check_join(case, [(0, 0)])
    kept = join_keep([(0, 0)], left.rows, left.punctuations, right.rows, right.punctuations)
    needed = tuple(row for row in left.rows if row[0] is not None and row in set(right.to_come))
    assert tuple(row for row in kept[0] if row[0] is not None) == needed


# --- one input ----------------------------------------------------------------------------------------------------


def one(choices: Choices) -> tuple[Stream, Stream]:
    start = stream(choices, 2, 10)
    return start, stream(choices, 2, 5, before=start)


@examples(75)
@given(drawn(one))
def test_duplicate_elimination(case: tuple[Stream, Stream]) -> None:
    start, whole = case
    out = duplicate_elimination_pass(start.rows)
    assert Counter(out) == Counter(set(start.rows))
    kept = duplicate_elimination_keep(start.rows, start.punctuations)
    assert set(kept) == set(start.rows) & set(start.to_come)  # each of these, and no other, may come again
    new = {row for row in after(whole, start).rows if row not in kept}
    assert new == set(whole.rows) - set(start.rows)
    emitted = duplicate_elimination_propagation(start.punctuations)
    assert emitted == start.punctuations
    assert not contradicted(emitted, [*new, *(row for row in start.to_come if row not in kept)])


@examples(75)
@given(drawn(one))
def test_select_and_project(case: tuple[Stream, Stream]) -> None:
    start, whole = case

    def small(row: Row) -> bool:
        return row[0] is not None and row[0] < 1

    chosen = Counter({row: n for row, n in Counter(start.rows).items() if row[0] is not None and row[0] < 1})
    assert Counter(select_pass(small, start.rows)) == chosen
    assert select_keep(small, start.rows) == project_keep([0], start.rows) == ()
    assert select_propagation(small, start.punctuations) == start.punctuations
    assert not contradicted(start.punctuations, [row for row in start.to_come if row[0] is not None and row[0] < 1])
    for attributes in ([0], [1], [1, 0], [0, 0], []):
        assert project_pass(attributes, start.rows) == tuple(tuple(r[i] for i in attributes) for r in start.rows)
        emitted = project_propagation(attributes, start.punctuations)
        assert not contradicted(emitted, [tuple(row[i] for i in attributes) for row in start.to_come])
        later = after(whole, start).rows
        assert not contradicted(emitted, [tuple(row[i] for i in attributes) for row in later])


def test_random_streams_let_operators_do_something() -> None:
    """So that the properties above cannot become true of nothing."""
    counts: Counter[str] = Counter()
    for seed in range(200):
        choices = Choices.seeded(seed)
        start, _ = sort_case(choices)
        early = sort_propagation_out_of_order(0, start.rows, start.punctuations)
        counts["sort passes"] += bool(sort_pass(0, start.rows, start.punctuations))
        counts["sort keeps"] += bool(sort_keep(0, start.rows, start.punctuations))
        counts["sort says in order"] += bool(initial(0, start.punctuations))
        counts["sort says out of order"] += len(early) > len(initial(0, start.punctuations))
        case = two(choices, 2)
        counts["union says"] += bool(union_propagation(case[0].punctuations, case[1].punctuations))
        for on in JOINS:
            dropped, said = check_join(case, on)
            counts[f"join drops on {on}"] += bool(dropped)
            counts[f"join says on {on}"] += bool(said)
        counts["project says"] += bool(project_propagation([0], start.punctuations))
        forgotten = len(set(start.rows)) - len(duplicate_elimination_keep(start.rows, start.punctuations))
        counts["duplicate elimination drops"] += bool(forgotten)
    assert len(counts) == 7 + 2 * len(JOINS)
    assert min(counts.values()) > 10, counts
