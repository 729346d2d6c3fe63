"""Recursion over relations that change: verdicts, bounds, and outputs at random, each prefix evaluated by DuckDB."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from support.circuits import Circuit, certificate_of, checked_circuit, proof_of, rounded
from support.prefix_sql import PrefixSql
from support.profiles import MORE

Rows = dict[str, list[dict[str, Any]]]
MOST = 5
"""Rows that a relation has at a time."""


def catalog(key: bool = False, rows: int | None = MOST, **domain: list[int]) -> dict[str, Any]:
    stream = {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"}, "max_per_timestamp": 2}
    changes: dict[str, Any] = {"timestamp": "ts", "op": "op", **({"key": ["k"]} if key else {})}
    pair = {"columns": {"k": "bigint", "y": "bigint"}, "domain": domain}
    changing = {**pair, "changes": changes, **({} if rows is None else {"rows": rows})}
    return {
        "streams": {"E": {**stream, "domain": {"a": [0, 3], "b": [0, 3]}}},
        "relations": {"R": changing, "Q": changing, "V": {**pair, "rows": 3}},
    }


CLOSURE = "WITH RECURSIVE w(x, y) AS (SELECT k, y FROM R UNION SELECT w.x, R.y FROM w JOIN R ON w.y = R.k)"


def entries(sql: str, tables: dict[str, Any]) -> dict[str, str]:
    """The size of each state of a bounded statement, by its proposition."""
    checked = checked_circuit(sql, tables)
    assert checked.verdict == "bounded", [one.message for one in checked.diagnostics]
    assert proof_of(checked, certificate_of(checked)).faults == ()
    assert checked.circuit_bound is not None
    found: dict[str, str] = {}
    for state in checked.circuit_bound.states:
        found[state.proposition] = (
            f"{found[state.proposition]}, {state.size.text}" if state.proposition in found else (state.size.text)
        )
    return found


def test_rows_of_a_relation_bound_the_values_of_a_column_whatever_they_are() -> None:
    # E1: R itself; F2: 5 values a column (F4); F3: the base; D4: R's rows beside r
    assert entries(f"{CLOSURE} SELECT x, y FROM w", catalog()) == {"E1": "5", "F2": "25", "F3": "5", "D4": "5"}


def test_a_domain_bounds_them_where_it_has_fewer_values() -> None:
    assert entries(f"{CLOSURE} SELECT x, y FROM w", catalog(y=[1, 2]))["F2"] == "15"  # 1, 2 and NULL
    found = entries(f"{CLOSURE} SELECT x, y FROM w", catalog(k=[1, 2], y=[1, 2]))
    assert (found["F2"], found["D4"]) == ("9", "5")


def test_constants_and_other_relations_add_values() -> None:
    sql = (
        "WITH RECURSIVE w(x) AS (SELECT k FROM R UNION SELECT Q.y + 1 FROM w JOIN Q ON w.x = Q.k "
        "UNION SELECT 7 FROM w WHERE w.x = 3) SELECT x FROM w"
    )
    assert entries(sql.replace(" UNION SELECT 7 FROM w WHERE w.x = 3", ""), catalog())["F2"] == "10"


def test_what_a_step_computes_of_a_relation_are_values_of_its_own() -> None:
    sql = "WITH RECURSIVE w(x) AS (SELECT y + 1 AS x FROM R UNION SELECT R.y + 2 AS x FROM w JOIN R ON w.x = R.k)"
    assert entries(f"{sql} SELECT x FROM w", catalog())["F2"] == "10"


def test_values_of_a_stream_are_beside_those_of_a_relation() -> None:
    step = "SELECT V.y FROM w JOIN V ON w.x = V.k"
    sql = f"WITH RECURSIVE w(x) AS (SELECT a FROM E UNION {step}) SELECT x FROM w"
    assert entries(sql, catalog())["F2"] == "(rows_V + 5)", "0 to 3 and NULL; at most three of V"


def test_a_row_without_a_partner_has_one_value_more() -> None:
    base = "SELECT E.a, R.y FROM E LEFT JOIN R ON E.a = R.k"
    sql = f"WITH RECURSIVE w(x, y) AS ({base} UNION SELECT w.x, R.y FROM w JOIN R ON w.x = R.k) SELECT x, y FROM w"
    assert entries(sql, catalog())["F2"] == "30", "five values of a; those of R.y, and NULL"


def test_a_key_with_a_domain_says_how_many_rows_there_are() -> None:
    assert entries(f"{CLOSURE} SELECT x, y FROM w", catalog(key=True, rows=None, k=[0, 3])) == {
        "E1": "5",
        "D4": "4",
        "F2": "25",
        "F3": "5",
    }


def test_without_a_number_of_rows_the_relation_is_blamed() -> None:
    found = checked_circuit(f"{CLOSURE} SELECT x, y FROM w", catalog(rows=None))
    assert found.verdict == "unbounded"
    assert "nothing says how many rows it has" in found.diagnostics[0].message
    assert all("[streams.R]" not in one.help for one in found.diagnostics), "it is a relation"


def test_a_stream_that_meets_any_value_of_a_relation_is_unbounded() -> None:
    tables = catalog()
    del tables["streams"]["E"]["domain"]["a"]
    sql = "WITH RECURSIVE w(x) AS (SELECT k FROM R UNION SELECT E.b FROM w JOIN E ON E.a = w.x) SELECT x FROM w"
    found = checked_circuit(sql, tables)
    assert found.verdict == "unbounded"
    assert found.diagnostics[0].message.endswith("every value of E.a must be remembered")
    assert checked_circuit(sql, catalog()).verdict == "bounded"


def test_what_is_added_to_a_column_without_a_bounded_domain_is_refused() -> None:
    step = "SELECT w.x + 1 FROM w JOIN R ON w.x > R.k"
    sql = f"WITH RECURSIVE w(x) AS (SELECT y FROM R UNION {step}) SELECT x FROM w"
    found = checked_circuit(sql, catalog())
    assert found.verdict == "unknown"
    assert found.diagnostics[-1].message.startswith("the values of w.x may grow with each step")
    assert found.diagnostics[-1].help == "give the step a condition that ends it, as in WHERE depth < 10"
    assert checked_circuit(sql.replace(">", "<="), catalog(k=[0, 3], y=[0, 3])).verdict == "bounded"
    assert entries(sql.replace(">", "="), catalog())["F2"] == "10", "w.x + 1 is R.k + 1"


# --- outputs ---------------------------------------------------------------------------------------------------------

BASES = (
    "SELECT k, y FROM R",
    "SELECT y, k + 1 FROM R WHERE k < 3",
    "SELECT a, b FROM E",
    "SELECT E.a, R.y FROM E JOIN R ON E.b = R.k",
    "SELECT R.k, Q.y FROM R JOIN Q ON R.y = Q.k",
    "SELECT k, y FROM V",
)
STEPS = (
    "SELECT w.x, R.y FROM w JOIN R ON w.y = R.k",
    "SELECT w.y, w.x FROM w JOIN R ON w.y = R.k AND w.x = R.y",
    "SELECT R.y, Q.k FROM w JOIN R ON w.y = R.k JOIN Q ON Q.y = R.y",
    "SELECT p.y, q.y FROM w JOIN R AS p ON w.x = p.k JOIN R AS q ON w.y = q.k",
    "SELECT w.x, R.k + 1 FROM w JOIN R ON w.y = R.y - 1 OR w.x = R.y",
    "SELECT w.x, E.b FROM w JOIN E ON w.y = E.a",
    "SELECT E.b, R.y FROM w JOIN E ON w.y = E.a JOIN R ON R.k >= E.b",
    "SELECT w.x, V.y FROM w JOIN V ON w.y = V.k, R",
    "SELECT V.y, R.y FROM w JOIN V ON w.y = V.k JOIN R ON R.k = w.x",
    "SELECT w.x, R.y FROM w, R WHERE R.k IS NULL",
    "SELECT NULL AS x, R.y FROM w, R WHERE w.y = R.k",
)
SHOWN = (
    "SELECT x, y FROM w",
    "SELECT x, COUNT(*) AS n, MAX(y) AS m FROM w GROUP BY x",
    "SELECT DISTINCT y FROM w WHERE x > 0 OR x IS NULL",
)


def some_rows(seed: int, key: bool = False) -> tuple[Rows, Rows]:
    """Rows of all tables, and the same with deletes of what an insert replaces; of relations never more than `MOST`."""
    rng = random.Random(seed)
    given: Rows = {"E": [], "R": [], "Q": [], "V": []}
    told: Rows = {"R": [], "Q": []}
    for _ in range(rng.randint(1, 3)):
        given["V"].append({"k": some_value(rng), "y": some_value(rng)})
    there: dict[str, list[dict[str, Any]]] = {"R": [], "Q": []}
    for now in range(1, 13):
        for _ in range(rng.randint(0, 2) if rng.random() < 0.4 else 0):
            given["E"].append({"a": some_value(rng), "b": some_value(rng), "ts": now})
        for name, mine in there.items():
            if mine and (len(mine) == MOST or rng.random() < 0.4):
                gone = mine.pop(rng.randrange(len(mine)))
                for rows in (given, told):
                    rows[name].append({**gone, "op": "delete", "ts": now})
            if len(mine) < MOST and rng.random() < 0.7:
                row = {"k": rng.randint(0, 3) if key else some_value(rng), "y": some_value(rng)}
                same = [one for one in mine if key and one["k"] == row["k"]]
                if key and any(one["ts"] == now and one["k"] == row["k"] for one in given[name]):
                    continue
                for one in same:
                    mine.remove(one)
                    told[name].append({**one, "op": "delete", "ts": now})
                mine.append(row)
                for rows in (given, told):
                    rows[name].append({**row, "op": "insert", "ts": now})
    return given, {**given, **told}


def some_value(rng: random.Random) -> int | None:
    return None if rng.random() < 0.1 else rng.randint(0, 3)


def differences(sql: str, tables: dict[str, Any], rows: Rows) -> Counter[tuple[Any, ...]]:
    """What DuckDB returns at each timestamp more than before."""
    words = sql.replace(")", " ").replace(",", " ").split()
    relations = {name: [{**row, "ts": row.get("ts", -1)} for row in given] for name, given in rows.items()}
    read = {name: given for name, given in relations.items() if name in words}
    first = min((row["ts"] for given in read.values() for row in given if row["ts"] > 0), default=None)
    return Counter() if first is None else PrefixSql(tables).changes(sql, read, first)


def printed(circuit: Circuit, rng: random.Random) -> tuple[Counter[tuple[Any, ...]], int]:
    """What is printed where steps close one timestamp or several, with restarts; the most entries."""
    cuts: list[list[int]] = []
    for time in circuit.times:
        if cuts and rng.random() < 0.3:
            cuts[-1].append(time)
        else:
            cuts.append([time])
    rows, peak, _ = circuit.run(cuts, restart=rng.random() < 0.7) if cuts else ([], 0, 0)
    found = Counter[tuple[Any, ...]]()
    for time, weight, row in rows:
        found[(*map(rounded, row), time)] += weight
    return found, peak


PAIRS = [(base, step) for i, base in enumerate(BASES) for j, step in enumerate(STEPS) if (i + j) % 6 == 0] + [
    (
        "(SELECT k, k FROM R) UNION (SELECT y, y FROM R) UNION (SELECT * FROM R)",
        "SELECT R.k, w.y FROM R JOIN w ON R.y = w.x",
    )
]
"""Each step with one base, and the program of the DBSP paper's §6.1."""


@pytest.mark.parametrize(("base", "step"), PAIRS)
def test_recursion_prints_the_differences_of_all_prefixes(base: str, step: str) -> None:
    shown = 0
    for seed in range(MORE):
        rng = random.Random(f"{base} {step} {seed}")
        key = rng.random() < 0.3
        tables, (given, told) = catalog(key=key, k=[0, 3], y=[0, 3]), some_rows(rng.randint(0, 10**6), key)
        sql = f"WITH RECURSIVE w(x, y) AS ({base} UNION {step}) {rng.choice(SHOWN)}"
        checked = checked_circuit(sql, tables)
        assert checked.verdict == "bounded", (sql, [one.message for one in checked.diagnostics])
        assert proof_of(checked, certificate_of(checked)).faults == ()
        circuit = Circuit({"sql": sql, "catalog": tables, "mode": "changes", "input": given})
        found, peak = printed(circuit, rng)
        assert found == differences(sql, tables, told), sql
        assert checked.circuit_bound is not None
        assert checked.circuit_bound.entries.value is not None
        assert peak <= checked.circuit_bound.entries.value
        shown += len(found)
    assert shown > 0


Pairs = set[tuple[Any, ...]]
STEPS_OF_TWO = "UNION SELECT w.x, R.y FROM w JOIN R ON w.y = R.k UNION SELECT R.y, w.x FROM w JOIN R ON w.x = R.k"
ODD = "odd(x, y) AS (SELECT k, y FROM R UNION SELECT even.x, R.y FROM even JOIN R ON even.y = R.k)"
EVEN = "even(x, y) AS (SELECT odd.x, R.y FROM odd JOIN R ON odd.y = R.k)"


def _joined(left: Pairs, right: Pairs) -> Pairs:
    return {(a, d) for a, b in left for c, d in right if b is not None and b == c}


def _closed(edges: Pairs) -> Pairs:
    found = set(edges)
    while more := _joined(found, found) - found:
        found |= more
    return found


def _of_two_steps(edges: Pairs) -> Pairs:
    found = set(edges)
    while (
        more := (_joined(found, edges) | {(d, a) for a, _ in found for c, d in edges if a is not None and a == c})
        - found
    ):
        found |= more
    return found


def _of_even_length(edges: Pairs) -> Pairs:
    odd, even = set(edges), set[tuple[Any, ...]]()
    while (more := _joined(odd, edges) - even) or _joined(even, edges) - odd:
        even |= more
        odd |= _joined(even, edges)
    return even


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("sql", "closed"),
    [
        (
            "w(x, y) AS (SELECT k, y FROM R UNION SELECT p.x, q.y FROM w p JOIN w q ON p.y = q.x) SELECT x, y FROM w",
            _closed,
        ),
        (f"w(x, y) AS (SELECT k, y FROM R {STEPS_OF_TWO}) SELECT x, y FROM w", _of_two_steps),
        (f"{ODD}, {EVEN} SELECT x, y FROM even", _of_even_length),
        (f"{EVEN}, {ODD} SELECT x, y FROM even", _of_even_length),
    ],
)
def test_several_rows_of_a_recursion_in_a_step_and_several_steps(
    sql: str, closed: Callable[[Pairs], Pairs], seed: int
) -> None:
    """DuckDB joins only the newest rows with each other, so that the fixpoint of each prefix is worked out here."""
    rng = random.Random(seed)
    tables, (given, told) = catalog(), some_rows(seed)
    checked = checked_circuit(f"WITH RECURSIVE {sql}", tables)
    assert proof_of(checked, certificate_of(checked)).faults == ()
    circuit = Circuit({"sql": f"WITH RECURSIVE {sql}", "catalog": tables, "mode": "changes", "input": given})
    found, peak = printed(circuit, rng)
    expected, before = Counter[tuple[Any, ...]](), Pairs()
    for time in sorted({row["ts"] for row in told["R"]}):
        edges = {(r["k"], r["y"]) for r in told["R"] if r["ts"] <= time and left(told["R"], r, time) > 0}
        now = closed(edges)
        expected.update({(*row, time): 1 for row in now - before} | {(*row, time): -1 for row in before - now})
        before = now
    assert found == expected
    assert min(found.values()) < 0
    assert checked.circuit_bound is not None
    assert peak <= (checked.circuit_bound.entries.value or 0)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (f"{ODD}, even(x) AS (SELECT odd.x FROM odd)", "odd and even read each other and have 2 and 1 columns"),
        (f"{ODD}, even AS (SELECT * FROM odd)", "even reads what reads it, and has no names of columns"),
        (f"{ODD.replace('UNION', 'UNION ALL')}, {EVEN}", "UNION ALL of relations that read each other"),
        (f"{EVEN}, odd(x, y) AS (SELECT even.x, even.y FROM even)", "even and what it reads start with no rows"),
    ],
)
def test_relations_that_read_each_other_and_are_not_one_are_refused(sql: str, words: str) -> None:
    found = checked_circuit(f"WITH RECURSIVE {sql} SELECT even.x FROM even", catalog())
    assert found.verdict == "unsupported"
    assert found.diagnostics[0].message.startswith(words)


def test_the_rows_of_a_relation_bound_several_steps() -> None:
    step = "SELECT w.x, R.y FROM w JOIN R ON w.y = R.k UNION ALL SELECT w.x, R.k FROM w JOIN R ON w.y = R.y"
    sql = f"WITH RECURSIVE w(x, y) AS (SELECT k, y FROM R UNION ({step})) SELECT x, y FROM w"
    found = entries(sql, catalog(rows=100))
    assert found["F2"] == "20000", "values of R.k, and values of R.y: 100 and 200"
    assert entries(sql.replace("UNION ALL", "UNION"), catalog(rows=100)) == found, "its rows are different, anyway"
    assert checked_circuit(sql, catalog(rows=None)).verdict == "unbounded"


def left(rows: list[dict[str, Any]], row: dict[str, Any], time: int) -> int:
    """How often a row is there at a time."""
    same = [r for r in rows if r["ts"] <= time and (r["k"], r["y"]) == (row["k"], row["y"])]
    return sum(-1 if r["op"] == "delete" else 1 for r in same)


def test_types_of_recursive_columns_are_those_of_the_base() -> None:
    sql = "WITH RECURSIVE r AS (SELECT CAST(a AS STRING) AS x FROM E UNION SELECT {} FROM r) SELECT x FROM r"
    messages = [checked_circuit(sql.format(call), catalog()).diagnostics[0].message for call in ("SUM(x)", "MAX(x)")]
    assert messages[0] == "SUM is of numbers, and this is a string"
    assert "aggregates" in messages[1]
