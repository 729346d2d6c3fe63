"""Z-sets are a commutative group; distinct and pos are what DBSP's sections 4.1 and 7.3 say of them."""

from hypothesis import given
from hypothesis import strategies as st

from streambound.incremental.zset import KeyedSums, ZSet
from support.profiles import examples
from support.zsets import BAGS, ROWS, ZSETS

SUMS = st.dictionaries(ROWS, st.tuples(st.integers(-2, 2), st.integers(-2, 2)), max_size=4).map(
    lambda sums: KeyedSums(2, sums)
)


@examples(50)
@given(ZSETS, ZSETS, ZSETS)
def test_they_are_a_commutative_group(a: ZSet, b: ZSet, c: ZSet) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + ZSet() == a
    assert a - a == ZSet()
    assert a - b == a + -b
    assert all((a + b)[row] == a[row] + b[row] for row in (*a, *b))


@examples(50)
@given(SUMS, SUMS, SUMS)
def test_keyed_sums_are_a_commutative_group(a: KeyedSums, b: KeyedSums, c: KeyedSums) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + KeyedSums(2) == a
    assert a - a == KeyedSums(2)
    assert -a + b == b - a


@examples(50)
@given(ZSETS)
def test_distinct_and_positive(a: ZSet) -> None:
    assert all(weight == 1 for _, weight in a.distinct().items())
    assert a.distinct().distinct() == a.distinct()
    assert {row for row, weight in a.items() if weight > 0} == set(a.distinct())
    assert all(weight > 0 for _, weight in a.positive().items())
    assert a == a.positive() - (-a).positive()


@examples(50)
@given(BAGS, BAGS)
def test_of_bags_pos_of_a_difference_is_monus(a: ZSet, b: ZSet) -> None:
    left = (a - b).positive()
    assert all(left[row] == max(a[row] - b[row], 0) for row in (*a, *b))
    assert all((a - left)[row] == min(a[row], b[row]) for row in (*a, *b))


@examples(25)
@given(ZSETS)
def test_map_sums_the_weights_of_rows_that_become_equal(a: ZSet) -> None:
    assert a.map(lambda row: ())[()] == sum(weight for _, weight in a.items())


def test_a_row_of_weight_zero_is_not_there() -> None:
    row = (None,)
    assert not ZSet({row: 0})
    assert not ZSet([(row, 1), (row, -1)])
    assert len(ZSet([(row, 1), (row, 1)])) == 1
