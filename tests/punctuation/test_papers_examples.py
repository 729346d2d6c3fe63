"""The examples of the pages "Punctuated Data Streams" (Tucker, 2005) and of the encyclopedia's "Punctuations"."""

from __future__ import annotations

from streambound.punctuation.combine import combine
from streambound.punctuation.duplicate_elimination import duplicate_elimination_keep
from streambound.punctuation.join import join_keep, join_pass, join_propagation
from streambound.punctuation.match import match, set_match
from streambound.punctuation.pattern import ConstantPattern, Empty, Listed, RangePattern, Wildcard
from streambound.punctuation.project import project_propagation
from streambound.punctuation.select import select_pass, select_propagation
from streambound.punctuation.sort import initial, sort_keep, sort_pass, sort_propagation, sort_propagation_out_of_order
from streambound.punctuation.union import union_pass, union_propagation

ALL = Wildcard()


def test_quotes() -> None:
    """ "Schemes": a constant, a range, a range without a lower end, a list; tuples of ticker, price, date, time."""
    quote = ("CSCO", 16.51, "2001-05-18", "11:30")
    assert match(quote, (ConstantPattern("CSCO"), ALL, ALL, ALL))
    assert match(quote, (ALL, ALL, ConstantPattern("2001-05-18"), RangePattern("10:00", "12:00")))
    assert not match(quote, (ALL, ALL, ConstantPattern("2001-05-18"), RangePattern(None, "11:00")))
    assert match(quote, (Listed(("CSCO", "INTC")), ALL, ALL, ALL))
    assert not set_match(quote, [(ConstantPattern("INTC"), ALL, ALL, ALL), (ALL, ALL, ALL, Empty())])


def test_union_passes_on_what_both_inputs_have_ended() -> None:
    """ "Propagation Invariants": [5, 15] and [10, 20] give [10, 15]; [5, 15] and [20, 25] give nothing."""
    first, second = (RangePattern(5, 15), ALL), (RangePattern(10, 20), ALL)
    assert union_propagation([first], []) == ()
    assert union_propagation([first], [second]) == ((RangePattern(10, 15), ALL),)
    assert union_propagation([first], [(RangePattern(20, 25), ALL)]) == ()
    assert union_propagation([first], [second, (RangePattern(20, 25), ALL)]) == (combine(first, second),)
    assert union_pass([(7, "a")], [(7, "a"), (8, "b")]) == ((7, "a"), (7, "a"), (8, "b"))


AUTHORS = [("Adams",), ("Hesse",), ("Austen",), ("Dante",), ("Brecht",)]
UP_TO_D = [(RangePattern(None, "C", open_high=True),), (RangePattern("C", "E", open_high=True),)]
NO_G = (RangePattern("G", "H", open_high=True),)
NO_H = (RangePattern("H", "I", open_high=True),)


def test_sort_of_authors() -> None:
    """ "Propagation Invariants": authors up to D are out; that there is none with G can be said all the same."""
    punctuations = [*UP_TO_D, NO_G, NO_H]
    assert initial(0, punctuations) == tuple(UP_TO_D)
    assert sort_pass(0, AUTHORS, punctuations) == (("Adams",), ("Austen",), ("Brecht",), ("Dante",))
    assert sort_keep(0, AUTHORS, punctuations) == (("Hesse",),)
    assert sort_propagation(0, punctuations) == tuple(UP_TO_D)
    assert sort_propagation_out_of_order(0, AUTHORS, punctuations) == (*UP_TO_D, NO_G)  # there is one with H
    seen = (Listed(("Adams", "Gide")),)  # of which one is out, and the other is not there
    assert sort_propagation_out_of_order(0, AUTHORS, [*UP_TO_D, seen]) == (*UP_TO_D, seen)
    gap = [UP_TO_D[0], (RangePattern("C", "E", open_low=True, open_high=True),)]  # there may still be an author C
    assert sort_pass(0, AUTHORS, gap) == (("Adams",), ("Austen",), ("Brecht",))


def test_a_sort_needs_punctuations_on_the_attribute_that_it_sorts_by() -> None:
    """ "Pass Invariants": a punctuation must correlate with the order."""
    rows = [(2, "a"), (1, "b")]
    assert sort_pass(0, rows, [(ALL, ConstantPattern("a"))]) == ()
    assert sort_pass(0, rows, [(RangePattern(None, 1), ConstantPattern("b"))]) == ()
    before_2, only_a = (RangePattern(None, 2, open_high=True), ALL), (ConstantPattern(2), ConstantPattern("a"))
    assert sort_pass(0, rows, [before_2, only_a]) == ((1, "b"), (2, "a"))


def test_what_a_punctuation_beyond_the_gap_alone_covered_is_a_gap() -> None:
    before_0, at_0_and_5, to_1 = (
        (RangePattern(None, 0, open_high=True),),
        (Listed((0, 5)),),
        (RangePattern(0, 1, open_low=True),),
    )
    assert initial(0, [before_0, at_0_and_5, to_1]) == (before_0,)
    assert initial(0, [before_0, (ConstantPattern(0),), to_1]) == (before_0, (ConstantPattern(0),), to_1)


def test_several_punctuations_end_a_value_together() -> None:
    small, large, null = (
        (RangePattern(None, 9), pattern) for pattern in (RangePattern(None, 5), RangePattern(5), ConstantPattern(None))
    )
    assert initial(0, [small, large, null]) == (small, large, null)
    assert initial(0, [small, large]) == ()  # a row with NULL may still come


def test_bids_of_an_auction() -> None:
    """ "Punctuations": when an auction closes, a punctuation matches all its bids. Bids are auction, bidder, price."""
    closed = (ConstantPattern(7), ALL, ALL)
    bids = [(7, "x", 10), (8, "x", 5), (7, "y", 12)]
    assert duplicate_elimination_keep([*bids, *bids], [closed]) == ((8, "x", 5),)
    assert select_propagation(lambda bid: bid[2] > 9, [closed]) == (closed,)
    assert select_pass(lambda bid: bid[2] > 9, bids) == ((7, "x", 10), (7, "y", 12))
    assert project_propagation([0, 2], [closed, (ConstantPattern(8), ConstantPattern("x"), ALL)]) == (
        (ConstantPattern(7), ALL),
    )


def test_bids_joined_with_auctions() -> None:
    """An auction is there once; bids of closed auctions, and auctions without bids to come, need not be kept."""
    auctions, bids = [(7, "vase"), (8, "chair"), (9, "lamp")], [(7, 10), (9, 5), (7, 12)]
    once = [(Listed((7, 8, 9)), ALL)]
    over = [(ConstantPattern(7), ALL)]
    assert join_pass([(0, 0)], auctions, bids)[0] == (7, "vase", 7, 10)
    assert join_keep([(0, 0)], auctions, once, bids, over) == (((8, "chair"), (9, "lamp")), ())
    assert join_propagation([(0, 0)], once, over) == ((ConstantPattern(7), ALL, ConstantPattern(7), ALL),)
    assert join_propagation([(0, 0)], [(ConstantPattern(8), ALL)], over) == ()
    assert join_keep([(0, 0)], auctions, [], bids, [(ConstantPattern(7), ConstantPattern(10))]) == (
        tuple(auctions),
        tuple(bids),
    )
