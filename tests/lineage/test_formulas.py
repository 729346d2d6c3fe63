"""Formulas in normal form, and what is shorter but the same, compared with truth tables."""

from __future__ import annotations

import random

import pytest

from streambound_runtime.lineage.absorption import absorbed
from streambound_runtime.lineage.encoding import decoded, encoded, lineage_dag
from streambound_runtime.lineage.formulas import (
    FALSE,
    TRUE,
    Formula,
    assigned,
    conjunction,
    disjunction,
    negation,
    read_once,
    variable,
    variable_name,
    variables,
)
from support.worlds import table

A, B, C, D = (variable(f"r.{name}", 0.5) for name in "abcd")
NAMES = ["r.a", "r.b", "r.c", "r.d"]


def drawn(rng: random.Random, depth: int, leaves: tuple[Formula, ...] = (A, B, C, D)) -> tuple[Formula, str]:
    """A formula, and the same as it was put together, before any normal form."""
    if depth == 0 or rng.random() < 0.2:
        leaf = rng.choice(leaves)
        return leaf, leaf.text
    if rng.random() < 0.3:
        inner, text = drawn(rng, depth - 1, leaves)
        return negation(inner), f"!({text})"
    parts = [drawn(rng, depth - 1, leaves) for _ in range(rng.randint(2, 4))]
    join, sign = rng.choice([(conjunction, " & "), (disjunction, " | ")])
    return join(part for part, _ in parts), sign.join(f"({text})" for _, text in parts)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (conjunction([A, negation(disjunction([C, B]))]), "r.a & !(r.b | r.c)"),
        (conjunction([negation(A), B]), "r.b & !r.a"),
        (disjunction([conjunction([B, A]), A]), "r.a | r.a & r.b"),
        (conjunction([disjunction([B, A]), C]), "(r.a | r.b) & r.c"),
        (negation(negation(A)), "r.a"),
        (negation(conjunction([A, B])), "!(r.a & r.b)"),
        (conjunction([A, conjunction([B, C]), A]), "r.a & r.b & r.c"),
        (conjunction([A, TRUE]), "r.a"),
        (conjunction([A, negation(A)]), "false"),
        (disjunction([A, B, negation(disjunction([B, A]))]), "true"),
        (conjunction([A, negation(disjunction([A, B]))]), "false"),
        (disjunction([]), "false"),
        (conjunction([]), "true"),
    ],
)
def test_the_canonical_text(formula: Formula, text: str) -> None:
    assert str(formula) == text


@pytest.mark.parametrize(
    ("relation", "key", "name"),
    [("a", "1", "a.1"), ("a", "-1", 'a."-1"'), ("a", "x y", 'a."x y"'), ("a", 'q"', 'a."q"""'), ("a", "ü", 'a."ü"')],
)
def test_a_key_that_is_no_word_is_quoted(relation: str, key: str, name: str) -> None:
    assert variable_name(relation, key) == name


def test_a_normal_form_is_the_same_function() -> None:
    rng = random.Random(1)
    for _ in range(2000):
        formula, text = drawn(rng, 3)
        assert table(str(formula), NAMES) == table(text, NAMES), text


def test_equal_texts_are_equal_formulas() -> None:
    assert conjunction([A, B]) == conjunction([B, A]) != disjunction([A, B])
    assert len({conjunction([A, B]), conjunction([B, A]), A}) == 2


def test_what_is_absorbed_is_the_same_function_and_no_longer() -> None:
    rng = random.Random(2)
    shorter = 0
    for _ in range(2000):
        formula, _ = drawn(rng, 3)
        found = absorbed(formula)
        assert table(str(found), NAMES) == table(str(formula), NAMES), str(formula)
        assert len(str(found)) <= len(str(formula)) or read_once(found)
        shorter += len(str(found)) < len(str(formula))
    assert shorter > 500


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([A, conjunction([A, B])], "r.a"),
        ([A, conjunction([B, negation(A)])], "r.a | r.b"),
        ([conjunction([A, B]), conjunction([A, negation(B)])], "r.a"),
        ([conjunction([A, B]), conjunction([A, C]), conjunction([A, negation(disjunction([B, C]))])], "r.a"),
        # What b FULL JOIN c gives, all of it: b | c | d.
        (
            [
                conjunction([A, B]),
                conjunction([A, C]),
                conjunction([A, negation(disjunction([B, C]))]),
                conjunction([B, negation(A)]),
                conjunction([C, negation(A)]),
            ],
            "r.a | r.b | r.c",
        ),
    ],
)
def test_joins_of_joins_are_absorbed(parts: list[Formula], text: str) -> None:
    assert str(absorbed(disjunction(parts))) == text


def test_a_part_of_the_variables_is_given_values() -> None:
    rng = random.Random(3)
    for _ in range(500):
        formula, _ = drawn(rng, 3)
        values = {name: rng.random() < 0.5 for name in rng.sample(NAMES, 2)}
        text = str(formula)
        for name, value in values.items():
            text = text.replace(name, "true" if value else "false")
        assert table(str(assigned(formula, values)), NAMES) == table(text, NAMES)


def test_formulas_travel_as_texts() -> None:
    rng = random.Random(4)
    for _ in range(300):
        formula, _ = drawn(rng, 3, (variable("r.a", 0.1), variable('r."x ""&|! y"', 1.0), B))
        back = decoded(encoded(formula))
        assert back == formula
        assert variables(back) == variables(formula)
    assert decoded(encoded(TRUE)) is TRUE
    assert decoded(encoded(FALSE)) is FALSE


def test_the_column_has_shared_parts_once() -> None:
    shared = disjunction([B, C])
    found = lineage_dag(disjunction([conjunction([A, shared]), conjunction([D, negation(shared)])]))
    assert found[-1]["op"] == "|"
    assert [part["var"] for part in found if part["op"] == "var"] == ["r.a", "r.b", "r.c", "r.d"]
    assert sum(part["op"] == "|" and len(part["args"]) == 2 for part in found) == 2
    assert all(place < here for here, part in enumerate(found) for place in part["args"])
