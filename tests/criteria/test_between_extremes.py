"""Sets that compare an attribute with one below and one above: bounded wherever each case keeps one extremum."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from streambound.analyzer.boundedness import Facts
from streambound.criteria.bound import bound, has_bound
from streambound.criteria.set import set_violations
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.witness_search import find_witness
from support.against_sql import printed_as_sql_says
from support.choices import Choices
from support.product import decided
from support.profiles import MORE

CATALOG: dict[str, Any] = {
    "streams": {s: {"timestamp": "ts", "columns": dict.fromkeys(("A", "B", "ts"), "bigint")} for s in "XYZ"},
    "relations": {"R": {"columns": {"K": "bigint", "M": "bigint"}}},
}


def _between(choices: Choices) -> str:
    """X.A between two attributes of older streams, which are on either side of anchors; sometimes a window."""
    upper = choices.pick(["Y.B", "Y.B", "Z.B"])
    anchors = ["R.K", "R.K", "R.M", "0", "2"]
    where = [
        "X.ts > Y.ts",
        f"Y.A {choices.pick(['<', '<='])} X.A",
        f"X.A {choices.pick(['<', '<='])} {upper} + {choices.integer(0, 1)}",
        f"Y.A <= {choices.pick(anchors)} + {choices.integer(-1, 1)}",
        f"{upper} >= {choices.pick(anchors)} - {choices.integer(-1, 1)}",
    ]
    if "Z" in upper:
        where.append(choices.pick(["X.ts > Z.ts", "Y.ts > Z.ts", "X.ts > Z.ts AND Z.ts <= Y.ts + 2"]))
    if choices.chance(20):
        where.append("X.ts <= Y.ts + 3")
    relation = any("R." in atom for atom in where)
    selected = choices.pick(["1 AS one", "1 AS one", "R.K", "R.M"]) if relation else "1 AS one"
    sources = ["X", "Y", *(["Z"] if "Z" in upper else []), *(["R"] if relation else [])]
    return f"SELECT DISTINCT {selected} FROM {', '.join(sources)} WHERE {' AND '.join(where)}"


def _rows(choices: Choices) -> dict[str, list[dict[str, int]]]:
    def row(*names: str) -> dict[str, int]:
        return {name: choices.integer(-3, 5) for name in names}

    streams = {s: [{**row("A", "B"), "ts": choices.integer(0, 7)} for _ in range(choices.integer(2, 7))] for s in "XYZ"}
    return {**streams, "R": [row("K", "M") for _ in range(choices.integer(0, 3))]}


def test_extremes_between_anchors_are_kept_case_by_case() -> None:
    """What (3) alone would reject is accepted, and prints what SQL says within its bound; no witness contradicts it."""
    seen: Counter[str] = Counter()
    for seed in range(25 * MORE):
        choices = Choices.seeded(seed)
        sql = _between(choices)
        decision = decided(sql, CATALOG)
        split = decision.derivation.split
        rejected = tuple(b for b in split.branches if set_violations(Facts.of(b)))
        seen[f"{decision.verdict}"] += 1
        if decision.verdict is not Verdict.BOUNDED or not rejected:
            continue
        assert find_witness(split, rejected).witness is None, sql
        assert bound(split) is not None, sql
        seen["by cases"] += 1
        seen["relations"] += "R." in sql
        rows = _rows(choices)
        ran = printed_as_sql_says(sql, decision, CATALOG, rows)
        seen["results"] += ran.results if ran is not None else 0
    assert min(seen["by cases"], seen["relations"], seen["results"]) > 3 * MORE, seen


@pytest.mark.parametrize(
    ("kind", "values", "weak", "strict"),
    [("double", (-0.5, 0.0, 1.5, 2.0), "<=", "<"), ("string", ("", "a", "ab", "b"), ">=", ">")],
)
def test_a_strict_limit_and_one_that_is_not_are_kept_case_by_case(
    kind: str, values: tuple[object, ...], weak: str, strict: str
) -> None:
    """Of dense types, of which neither limit follows from the other: where one attribute is less, and where not."""
    columns = {"A": kind, "B": kind, "k": "bigint", "ts": "bigint"}
    stream = {"timestamp": "ts", "columns": columns}
    catalog: dict[str, Any] = {"streams": dict.fromkeys("XY", stream)}
    keyed = f"X.k = Y.k AND X.k BETWEEN 0 AND 1 AND X.A {weak} Y.A AND X.A {strict} Y.B"
    results = 0
    for order in ("X.ts > Y.ts", "Y.ts >= X.ts", "Y.ts > X.ts + 1"):
        sql = f"SELECT DISTINCT X.k FROM X, Y WHERE {order} AND {keyed}"
        decision = decided(sql, catalog)
        found = bound(decision.derivation.split)
        assert decision.verdict is Verdict.BOUNDED and found is not None
        for seed in range(5):
            choices = Choices.seeded(seed)
            rows = {
                name: [
                    {"A": choices.pick(values), "B": choices.pick(values), "k": choices.integer(0, 2), "ts": now // 2}
                    for now in range(12)
                ]
                for name in "XY"
            }
            ran = printed_as_sql_says(sql, decision, catalog, rows)
            results += 0 if ran is None else ran.results
    assert results > 5


def test_what_has_no_best_match_has_no_bound() -> None:
    """The frontier of pairs, which is unbounded, and one of finitely many pairs, of which no table is known."""
    near = "X.A < Y.A AND Z.A < Y.B"
    order = "X.ts > Y.ts AND Z.ts > Y.ts"
    for more in ("", " AND Y.A <= Y.B + 5 AND Y.B <= Y.A + 5"):
        decision = decided(f"SELECT DISTINCT 1 AS one FROM X, Y, Z WHERE {order} AND {near}{more}", CATALOG)
        assert decision.verdict is (Verdict.UNKNOWN if more else Verdict.UNBOUNDED)
        assert not any(has_bound(branch, None) for branch in decision.derivation.split.branches)
