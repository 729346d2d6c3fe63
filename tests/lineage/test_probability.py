"""Probabilities and equivalence, compared with the enumeration of possible worlds in fractions."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from streambound_runtime.lineage.bounds import bounds
from streambound_runtime.lineage.diagrams import equivalent, never_true
from streambound_runtime.lineage.formulas import (
    FALSE,
    TRUE,
    Formula,
    LineageTooLargeError,
    conjunction,
    disjunction,
    negation,
    read_once,
    variable,
    variables,
)
from streambound_runtime.lineage.probability import decimal, probability
from support.worlds import chance, table

NAMES = [f"r.{number}" for number in range(6)]
CHANCES = dict(zip(NAMES, map(Fraction, ("1/2", "7/10", "1", "1/1000000000", "1/10", "1")), strict=True))
LEAVES = [variable(name, float(CHANCES[name])) for name in NAMES]


def drawn(rng: random.Random, depth: int, of: Sequence[Formula] = LEAVES) -> Formula:
    if depth == 0:
        return rng.choice(of)
    parts = [drawn(rng, rng.randrange(depth), of) for _ in range(rng.randint(2, 4))]
    made = rng.choice([conjunction, disjunction])(parts)
    return negation(made) if rng.random() < 0.3 else made


def all_pairs(size: int) -> Formula:
    """r(x), s(x, y), t(y), projected to nothing: nothing splits it."""
    r = [variable(f"r.{i}", 0.5) for i in range(size)]
    s = [[variable(f"s.{i}_{j}", 0.5) for j in range(size)] for i in range(size)]
    t = [variable(f"t.{j}", 0.5) for j in range(size)]
    return disjunction(conjunction([r[i], s[i][j], t[j]]) for i in range(size) for j in range(size))


def test_probabilities_are_those_of_the_worlds() -> None:
    rng = random.Random(1)
    shared = 0
    for _ in range(1000):
        formula = drawn(rng, 4)
        exact = chance(table(str(formula), NAMES), NAMES, CHANCES)
        assert math.isclose(probability(formula), exact, rel_tol=1e-12, abs_tol=1e-15), str(formula)
        shared += not read_once(formula)
    assert shared > 300


def test_equivalence_is_that_of_the_worlds() -> None:
    rng = random.Random(2)
    found = {True: 0, False: 0}
    for _ in range(1500):
        left, right = drawn(rng, 3, LEAVES[:3]), drawn(rng, 3, LEAVES[:3])
        same = table(str(left), NAMES) == table(str(right), NAMES)
        assert equivalent(left, right) == same, f"{left}   {right}"
        found[same] += left != right
    assert min(found.values()) > 20, found


def test_never_true_is_false_in_every_world_of_non_zero_probability() -> None:
    rng = random.Random(3)
    found = 0
    for _ in range(1500):
        formula = conjunction([drawn(rng, 3), negation(drawn(rng, 2))])
        nowhere = chance(table(str(formula), NAMES), NAMES, CHANCES) == 0
        assert never_true(formula) == nowhere, str(formula)
        found += nowhere
    assert 100 < found < 1400


def test_negation_against_a_certain_row_leaves_nothing() -> None:
    row, certain = variable("a.1", 0.5), variable("b.1", 1.0)
    assert never_true(conjunction([row, negation(certain)]))
    assert never_true(FALSE)
    assert not never_true(TRUE)
    assert not never_true(conjunction([row, certain]))


def test_small_probabilities_keep_their_digits() -> None:
    tiny = [variable(f"a.{number}", 1e-18) for number in range(3)]
    assert math.isclose(probability(disjunction(tiny)), 3e-18, rel_tol=1e-12)
    assert math.isclose(probability(negation(conjunction(map(negation, tiny)))), 3e-18, rel_tol=1e-12)
    # Too improbable for a double, and yet not impossible.
    rare = conjunction(variable(f"a.{number}", 1e-200) for number in range(2))
    assert probability(rare) == 0.0
    assert not never_true(rare)


def test_a_certain_row_makes_a_disjunction_certain() -> None:
    assert probability(disjunction([variable("a.1", 1.0), variable("a.2", 0.25)])) == 1.0


def test_formulas_of_many_variables() -> None:
    many = [variable(f"a.{number}", 0.001) for number in range(20_000)]
    assert math.isclose(probability(disjunction(many)), 1 - 0.999**20_000, rel_tol=1e-9)


def test_a_chain_whose_variables_all_occur_twice() -> None:
    links = [variable(f"a.{number}", 0.5) for number in range(150)]
    chain = disjunction(conjunction(pair) for pair in itertools.pairwise(links))
    without, ending = 1.0, 0.0  # the chance that no two neighbours are there, by whether the last one is
    for _ in links:
        without, ending = (without + ending) / 2, without / 2
    assert math.isclose(probability(negation(chain)), without + ending, rel_tol=1e-9)
    assert equivalent(chain, negation(conjunction(negation(pair) for pair in chain.args)))
    assert not equivalent(chain, disjunction([chain, links[7]]))


def test_the_limit_is_an_error_with_its_numbers() -> None:
    small = all_pairs(3)
    names = sorted(variables(small))
    assert len(names) == 15
    exact = chance(table(str(small), names), names, dict.fromkeys(names, Fraction(1, 2)))
    assert math.isclose(probability(small), exact, rel_tol=1e-12)
    with pytest.raises(LineageTooLargeError, match=r"120 variables takes more than 1,000 nodes") as caught:
        probability(all_pairs(10), nodes=1000)
    assert (caught.value.variables, caught.value.nodes) == (120, 1000)
    with pytest.raises(LineageTooLargeError):
        equivalent(all_pairs(10), conjunction([all_pairs(10), disjunction(LEAVES)]), nodes=1000)


def test_bounds_are_around_the_probability_and_equal_where_it_takes_no_more_nodes() -> None:
    rng, apart = random.Random(4), 0
    for _ in range(400):
        formula, nodes = drawn(rng, 5), rng.choice([0, 0, 0, 1, 2])
        exact = chance(table(str(formula), NAMES), NAMES, CHANCES)
        found = bounds(formula, nodes)
        if found is None:
            assert exact == 0, str(formula)
            continue
        try:
            p = decimal(probability(formula, nodes))
            assert found == (p, p) or p == 0.0, str(formula)
        except LineageTooLargeError:
            assert Fraction(found[0]) <= exact <= Fraction(found[1]), str(formula)
            apart += 1
    assert apart > 40


def test_bounds_come_nearer_with_more_nodes() -> None:
    size = 7  # with i rows of r and j of t, none of i·j rows of s is there
    number = [math.comb(size, i) * math.comb(size, j) * Fraction(1, 2 ** (i * j)) for i in range(8) for j in range(8)]
    exact, widths = 1 - sum(number) / 4**size, list[float]()
    for nodes in (0, 10, 100):
        found = bounds(all_pairs(size), nodes)
        assert found is not None and Fraction(found[0]) <= exact <= Fraction(found[1])
        widths.append(found[1] - found[0])
    assert widths[0] > widths[1] > widths[2], widths


def test_neighbours_that_differ_are_told_apart_whatever_that_takes_as_functions() -> None:
    pairs = all_pairs(10)
    assert not equivalent(pairs, disjunction(pairs.args[1:]), nodes=1)
    assert not equivalent(pairs, disjunction([*pairs.args, conjunction([LEAVES[0], negation(LEAVES[4])])]), nodes=1)
