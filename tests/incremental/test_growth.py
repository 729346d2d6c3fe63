"""What circuits keep: integrals that forget by time stay flat while streams go on; those that must not, grow."""

from __future__ import annotations

from fractions import Fraction

import pytest

from streambound.incremental.evaluate import Execution
from streambound.incremental.operators import SourceOp
from streambound.incremental.zset import ZSet
from support.any_queries import CATALOG
from support.lifted import stages_of

WITHIN = "S.a = T.a AND T.ts <= S.ts AND S.ts <= T.ts + 3"


def entries(sql: str, stage: str, ticks: int) -> list[int]:
    """The entries after each tick, with one fresh value a tick on both streams."""
    (circuit,) = (found.circuit for found in stages_of(sql, CATALOG) if found.name == stage)
    execution, result = Execution(circuit), []
    for tick in range(ticks):
        row = (Fraction(tick), Fraction(1), Fraction(tick), Fraction(tick))
        execution.step({SourceOp("S"): ZSet({row: 1}), SourceOp("T"): ZSet({row: 1})}, Fraction(tick))
        result.append(execution.entries())
    return result


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT S.v FROM S, T WHERE {WITHIN}",
        f"SELECT S.b, COUNT(*) AS n FROM S, T WHERE {WITHIN} GROUP BY S.b",
        "SELECT S.v FROM S, T WHERE S.a = T.a AND S.ts = T.ts",
        "SELECT S.v, T.v AS w FROM S, T WHERE S.a = T.a AND S.ts <= T.ts + 2 AND T.ts <= S.ts + 5",
        "SELECT COUNT(*) AS n FROM S",
    ],
)
def test_what_closes_stays_flat(sql: str) -> None:
    kept = entries(sql, "share_integrals", 200)
    assert kept[20] == kept[-1] <= 12


def test_without_pruning_the_same_join_grows() -> None:
    kept = entries(f"SELECT S.v FROM S, T WHERE {WITHIN}", "chain", 50)
    assert kept[-1] > 90


def test_a_group_for_each_value_grows() -> None:
    kept = entries("SELECT S.a, COUNT(*) AS n FROM S GROUP BY S.a", "share_integrals", 50)
    assert kept[-1] == 50
