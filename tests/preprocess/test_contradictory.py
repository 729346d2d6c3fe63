"""Conjunctions with ``<>`` over few values: contradictory iff no choice of values satisfies them."""

from __future__ import annotations

from itertools import product
from typing import Any

from streambound.preprocess.contradictory import contradictory
from support.choices import Choices
from support.product import lowered
from support.profiles import MORE

NAMES = "abcd"
OPS = {"<>": "!=", "<": "<", "<=": "<="}


def test_small_conjunctions_against_all_values() -> None:
    found = {True: 0, False: 0}
    columns = dict.fromkeys(NAMES, "bigint")
    catalog: dict[str, Any] = {"streams": {"S": {"timestamp": "ts", "columns": {**columns, "ts": "bigint"}}}}
    for seed in range(200 * MORE):
        choices = Choices.seeded(seed)
        highs = {name: choices.integer(0, 2) for name in NAMES}
        atoms = []
        for _ in range(choices.integer(2, 7)):
            x, y = choices.pick(NAMES), choices.pick(NAMES)
            if x != y:
                atoms.append((x, choices.pick(("<>", "<>", "<>", "<", "<=")), y, choices.integer(-1, 1)))
        texts = [f"S.{name} BETWEEN 0 AND {high}" for name, high in highs.items()]
        texts += [f"S.{x} {op} S.{y} + ({offset})" for x, op, y, offset in atoms]
        (branch,) = lowered(f"SELECT 1 AS one FROM S WHERE {' AND '.join(texts)}", catalog).branches
        possible = any(
            all(eval(f"{of[x]} {OPS[op]} {of[y]} + {offset}") for x, op, y, offset in atoms)
            for values in product(*(range(highs[name] + 1) for name in NAMES))
            for of in [dict(zip(NAMES, values, strict=True))]
        )
        assert contradictory(branch) is not possible, texts
        found[possible] += 1
    assert min(found.values()) > 30, found
