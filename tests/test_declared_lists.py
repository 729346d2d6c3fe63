"""A declared list of values bounds every attribute that equals the declared one, in the proof and in the job."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.criteria.bound import bound
from support.choices import Choices
from support.kernel import run_kernel
from support.oracle import prefix_expected
from support.product import decided
from support.streams import adversarial_rows, small_rows

CATALOG: dict[str, Any] = {
    "streams": {
        name: {"timestamp": "ts", "columns": {"n": "string", "a": "bigint", "b": "bigint", "ts": "bigint"}, **more}
        for name, more in (("S", {}), ("T", {"domain": {"n": ["x", "y", "z"], "a": [1, 2, 4]}}), ("U", {}))
    }
}
CASES = [
    ("a string", "SELECT T.b FROM S, T WHERE S.ts < T.ts AND S.n = T.n", 3),
    ("an integer list with gaps", "SELECT T.b FROM S, T WHERE S.ts < T.ts AND S.a = T.a", 3),
    ("moved by a constant", "SELECT T.b FROM S, T WHERE S.ts < T.ts AND S.a = T.a + 1", 3),
    (
        "through a third stream",
        "SELECT T.b FROM S, U, T WHERE S.ts < U.ts AND U.ts < T.ts AND S.n = U.n AND U.n = T.n",
        6,
    ),
]


@pytest.mark.parametrize(("sql", "entries"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_list_bounds_what_equals_it(sql: str, entries: int) -> None:
    decision = decided(sql, CATALOG)
    found = bound(decision.derivation.split)
    assert decision.verdict == "bounded"
    assert found is not None and found.entries.value == entries
    for seed in range(3):
        for make in (small_rows, adversarial_rows):
            rows = make(Choices.seeded(seed), CATALOG, 8)
            run = run_kernel(decision, CATALOG, rows)
            assert run.printed == prefix_expected(sql, CATALOG, rows)
            assert run.peak <= entries
