"""Mode `final` of joins: each row once, when no later row can change it, and as of when that is."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from operator import and_
from typing import Any

import pytest

from support.circuits import TWO_STREAMS as CATALOG
from support.circuits import Circuit, Printed, checked_circuit, is_bounded, random_rows, reference, run_circuit
from support.profiles import MORE

LAST = 40
"""No row comes so late, nor waits until then."""
LATER, AROUND = "T.ts BETWEEN S.ts AND S.ts + 3", "T.ts BETWEEN S.ts - 2 AND S.ts + 3"
BEFORE = "T.b = S.b AND T.ts <= S.ts"
NOT_EXISTS = "SELECT S.a, S.v FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND"
WAITS: dict[str, int] = {
    f"SELECT S.a, S.v, T.v AS w FROM S LEFT JOIN T ON T.a = S.a AND {LATER}": 3,
    f"SELECT S.a, S.v, T.v AS w FROM S LEFT JOIN T ON T.a = S.a AND T.v > S.v AND {AROUND}": 3,
    f"SELECT S.a, S.ts, T.v AS w, T.ts AS u FROM S LEFT JOIN T ON T.v < S.v AND {AROUND}": 3,
    f"SELECT S.a, S.v, T.v AS w FROM S RIGHT JOIN T ON T.a = S.a AND {AROUND}": 2,
    f"SELECT S.a, S.v, T.v AS w, T.ts AS u FROM S FULL JOIN T ON T.a = S.a AND {AROUND}": 3,
    f"SELECT S.a, S.v, T.b AS w FROM S LEFT JOIN T ON {BEFORE}": 0,
    f"SELECT S.a + S.v AS z, T.v AS w FROM S LEFT JOIN T ON T.a = S.a AND {AROUND}": 3,
    f"SELECT S.a, S.v, T.v AS w FROM S LEFT JOIN T ON T.a = S.a AND {AROUND} WHERE T.v IS NULL OR T.v > 0": 3,
    f"SELECT S.a, S.v FROM S LEFT ANTI JOIN T ON T.a = S.a AND {LATER}": 3,
    f"{NOT_EXISTS} T.v <= S.v AND {AROUND})": 3,
    f"SELECT S.a, S.v FROM S LEFT ANTI JOIN T ON {BEFORE}": 0,
    f"SELECT S.a, S.v FROM S LEFT SEMI JOIN T ON T.a = S.a AND {AROUND}": 0,
    f"SELECT S.a, T.v FROM S JOIN T ON T.a = S.a AND {AROUND}": 0,
    f"SELECT S.a, S.v FROM S LEFT ANTI JOIN T ON T.a = S.a AND {AROUND} UNION ALL SELECT T.a, T.v FROM T": 3,
    f"SELECT S.a, COUNT(*) AS n FROM S GROUP BY S.ts, S.a UNION ALL {NOT_EXISTS} {LATER})": 3,
}
"""Statements, and for how long at most a row waits for a partner."""


@pytest.mark.parametrize("sql", WAITS)
def test_final_results_are_those_of_all_rows_each_once(sql: str) -> None:
    checked = checked_circuit(f"-- streambound: emit final\n{sql}", CATALOG)
    assert checked.verdict == "bounded", checked.diagnostics
    if checked.circuit is None:
        return  # a select-project-join query, whose changes are final
    bound = checked.circuit_bound
    assert bound is not None
    for seed in range(MORE):
        rows = random_rows(1, seed, 25)
        found, changes = run_circuit(checked, rows, final=True, ticks=None), reference(sql, CATALOG, rows)
        assert all(n > 0 for n in found.printed.values())
        assert upto(LAST, found.printed) == upto(LAST, changes) != {}
        assert bound.entries.value is not None and found.peak <= bound.entries.value
        views = [upto(time, changes) for time in range(LAST)]
        for now in range(LAST):
            printed = upto(now, found.printed)
            assert all(printed <= view for view in views[now:]), "what is printed stays"
            lasting = reduce(and_, views[max(0, now - WAITS[sql]) :])
            assert now < WAITS[sql] or lasting <= printed, "what stays is printed in time"


def upto(time: int, printed: Printed) -> Printed:
    """The sum of what is printed until a time."""
    found = Printed()
    for row, n in printed.items():
        found[row[:-1]] += n * (row[-1] <= time)
    return Counter({row: n for row, n in found.items() if n})


@pytest.mark.parametrize("number", range(2))
def test_restarts_change_nothing(number: int) -> None:
    sql = list(WAITS)[number]
    rows = random_rows(1, number, 25)
    circuit = Circuit({"sql": sql, "catalog": CATALOG, "mode": "final", "input": rows}, "timestamp")
    whole, _, _ = circuit.run([circuit.times], restart=False)
    assert whole == sorted(whole, key=lambda row: row[0])
    cuts = [circuit.times[at : at + 3] for at in range(0, len(circuit.times), 3)]
    assert circuit.run(cuts, restart=True)[0] == whole


@pytest.mark.parametrize(
    ("sql", "operator", "help"),
    [
        (
            "SELECT S.b, T.b AS u FROM S LEFT JOIN T ON T.b = S.b",
            "left join",
            "limit how much later a partner may come, or print changes",
        ),
        (
            "SELECT S.b FROM S LEFT ANTI JOIN T ON T.b = S.b AND T.ts > S.ts",
            "anti join",
            "limit how much later a partner may come, or print changes",
        ),
        ("SELECT b, COUNT(*) AS n FROM S GROUP BY b", "groups", "group by a bucket of time, or print changes"),
    ],
)
def test_what_may_change_for_ever_is_refused_at_the_operator(sql: str, operator: str, help: str) -> None:
    assert checked_circuit(sql, CATALOG).verdict == "bounded"
    checked = checked_circuit(f"-- streambound: emit final\n{sql}", CATALOG)
    (found,) = checked.diagnostics
    assert checked.verdict == "unsupported" and operator in found.message and found.help == help
    assert "may take results back for ever" in found.message and found.span.line == 2


@pytest.mark.parametrize("kind", ["SEMI", "ANTI"])
def test_rows_that_wait_are_not_kept_as_an_extremum(kind: str) -> None:
    sql = f"SELECT S.a FROM S LEFT {kind} JOIN T ON T.v < S.v AND T.ts <= S.ts + 3"
    assert not is_bounded(sql, CATALOG), "each of them would have to be counted"
    assert is_bounded(sql.replace(" + 3", ""), CATALOG)


def row(a: int, ts: int, v: int = 0) -> dict[str, Any]:
    return {"a": a, "b": 0, "v": v, "ts": ts}


def test_a_row_is_printed_when_it_is_known_that_no_partner_comes() -> None:
    sql = f"SELECT S.a, S.v, T.v AS w FROM S LEFT JOIN T ON T.a = S.a AND {LATER}"
    rows = {"S": [row(1, 1), row(2, 1), row(2, 1), row(3, 8)], "T": [row(1, 2, 7), row(3, 9, 8), row(3, 11, 9)]}
    found = run_circuit(checked_circuit(sql, CATALOG), rows, final=True, ticks=None)
    assert found.prints({(1, 0, 7, 2): 1, (2, 0, None, 4): 2, (3, 0, 8, 9): 1, (3, 0, 9, 11): 1})
