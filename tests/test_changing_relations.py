"""Queries of relations that change: verdicts, bounds, and outputs at random, each prefix evaluated by DuckDB."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import duckdb
import pytest

from streambound.recheck.oracle.relation_states import RowChange, states
from support.circuits import by_tick, certificate_of, checked_circuit, is_bounded, proof_of, proved, run_circuit
from support.prefix_sql import PrefixSql, six_digits
from support.profiles import MORE

Rows = dict[str, list[dict[str, Any]]]
TABLE = {"k": "bigint", "y": "bigint", "z": "bigint"}


def catalog(domain: dict[str, Any] | None = None, key: bool = False, rows: int | None = 4) -> dict[str, Any]:
    stream = {"columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}, "timestamp": "ts"}
    changes: dict[str, Any] = {"timestamp": "ts", "op": "op", **({"key": ["k"]} if key else {})}
    relation: dict[str, Any] = {"columns": TABLE, "changes": changes, **({} if rows is None else {"rows": rows})}
    streams = {name: {**stream, "max_per_timestamp": 2} for name in ("S", "T")}
    return {"streams": streams, "relations": {name: {**relation, "domain": domain or {}} for name in ("R", "Q")}}


def some_rows(seed: int, most: int = 4) -> Rows:
    """Rows of all tables; of relations never more than so many, and no delete of a row that is not there."""
    rng = random.Random(seed)
    found: Rows = {"S": [], "T": [], "R": [], "Q": []}
    there: dict[str, list[dict[str, Any]]] = {"R": [], "Q": []}
    for now in range(1, 41):
        for name in ("S", "T"):
            for _ in range(rng.randint(0, 2)):
                values = {c: None if rng.random() < 0.1 else rng.randint(-1, 4) for c in ("a", "b", "v")}
                found[name].append({**values, "ts": now})
        for name, mine in there.items():
            if mine and (len(mine) == most or rng.random() < 0.4):
                found[name].append({**mine.pop(rng.randrange(len(mine))), "op": "delete", "ts": now})
            elif rng.random() < 0.7:
                row = {c: None if rng.random() < 0.1 else rng.randint(0, 3) for c in TABLE}
                mine.append(row)
                found[name].append({**row, "op": "insert", "ts": now})
    return found


def prefixes(sql: str, tables: dict[str, Any], rows: Rows) -> Counter[tuple[Any, ...]]:
    """What DuckDB returns at each timestamp more than before."""
    read = {name: rows[name] for name in rows if f" {name} " in f"{sql} ".replace(")", " ")}
    return PrefixSql(tables).changes(sql, read)


ON = ("S.a = R.k", "S.a = R.k AND S.b > R.y", "S.a = R.k AND R.y = 1", "S.a = R.k AND S.b <> R.y + 1")
WHERE = ("S.a BETWEEN 0 AND 3 AND S.b BETWEEN 0 AND 3", "S.a IN (0, 2) AND S.b = 1")
QUERIES = (
    "SELECT S.b, R.y FROM S JOIN R ON {on} WHERE {where}",
    "SELECT S.a, R.z FROM S LEFT JOIN R ON {on} WHERE {where}",
    "SELECT S.a FROM S WHERE {where} AND EXISTS (SELECT 1 FROM R WHERE {on})",
    "SELECT S.b FROM S WHERE {where} AND NOT EXISTS (SELECT 1 FROM R WHERE {on})",
    "SELECT R.y, COUNT(*) AS n, SUM(S.v) AS m FROM S JOIN R ON {on} WHERE {where} GROUP BY R.y",
    "SELECT COUNT(S.v) AS n, COUNT(R.z) AS z, SUM(S.v * R.z - S.b) AS m, AVG(S.v) AS av "
    "FROM S JOIN R ON {on} WHERE {where}",
    "SELECT S.a, MIN(S.v) AS lo, MAX(S.v - S.b) AS hi, MAX(R.y) AS y FROM S JOIN R ON {on} WHERE {where} GROUP BY S.a",
    "SELECT DISTINCT S.a, R.y FROM S JOIN R ON {on} WHERE {where}",
    "SELECT S.b, T.b AS c, R.y FROM S JOIN T ON S.a = T.a AND T.b BETWEEN 0 AND 2 JOIN R ON {on} WHERE {where}",
    "SELECT S.b, R.y, Q.z FROM S JOIN R ON {on} JOIN Q ON R.y = Q.k WHERE {where}",
    "SELECT R.y, S.b FROM R JOIN S ON {on} WHERE {where}",
    "SELECT S.b, r.z, r.k FROM R AS r, S WHERE S.a = r.k AND {where}",
    "SELECT COUNT(*) AS n FROM R JOIN S ON {on} WHERE {where}",
    "SELECT S.b, COUNT(*) AS n, SUM(S.v) AS m FROM R JOIN S ON {on} WHERE {where} GROUP BY S.b",
    "SELECT R.y, Q.y AS q FROM R JOIN Q ON R.k = Q.k",
    "SELECT R.y, Q.y AS q FROM R LEFT JOIN Q ON R.k = Q.k AND R.y < Q.y",
    "SELECT R.y FROM R WHERE NOT EXISTS (SELECT 1 FROM Q WHERE Q.k = R.k)",
    "SELECT R.y, COUNT(*) AS n, MIN(R.k) AS lo, SUM(R.z) AS m FROM R WHERE R.k > 0 GROUP BY R.y HAVING COUNT(*) > 1",
    "SELECT R.y FROM R EXCEPT ALL SELECT Q.y FROM Q",
    "SELECT R.y FROM R UNION SELECT Q.y FROM Q",
)


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_bounded_prints_the_differences_of_all_prefixes(query: str) -> None:
    printed = 0
    for seed in range(2 * MORE):
        rng = random.Random(f"{query} {seed}")
        sql = query.format(on=rng.choice(ON), where=rng.choice(WHERE))
        tables, rows = catalog(), some_rows(seed)
        checked = checked_circuit(sql, tables)
        assert checked.verdict == "bounded", [one.message for one in checked.diagnostics]
        run = run_circuit(checked, rows)
        expected = prefixes(sql, tables, rows)
        assert by_tick(six_digits(run.printed), run.ends) == by_tick(expected, run.ends)
        bound = checked.circuit_bound
        assert bound is not None and bound.entries.value is not None and run.peak <= bound.entries.value
        printed += len(expected)
        if printed > 1 and seed + 1 >= MORE:
            break
    assert printed > 1


@pytest.mark.parametrize(
    "sides",
    [("R", "S", "R.k = S.a AND S.a BETWEEN 0 AND 3"),
     ("(SELECT b, COUNT(*) AS y FROM T WHERE b BETWEEN 0 AND 2 GROUP BY b) AS R", "S", "R.b = S.a")],
)  # fmt: skip
def test_the_order_of_an_inner_join_does_not_matter(sides: tuple[str, str, str]) -> None:
    left, right, on = sides
    orders = [f"SELECT R.y, S.a FROM {one} JOIN {other} ON {on}" for one, other in ((left, right), (right, left))]
    first, second = (checked_circuit(sql, catalog()) for sql in orders)
    assert first.verdict == second.verdict == "bounded"
    assert first.circuit_bound is not None and second.circuit_bound is not None
    assert first.circuit_bound.entries.value == second.circuit_bound.entries.value
    assert proof_of(first, certificate_of(first)).faults == ()
    rows = some_rows(5)
    found = run_circuit(first, rows)
    assert found.printed and found.prints(run_circuit(second, rows).printed)


@pytest.mark.parametrize("seed", range(2 * MORE))
def test_upserts_by_key(seed: int) -> None:
    sql = "SELECT S.b, R.y FROM S LEFT JOIN R ON S.a = R.k WHERE S.a BETWEEN 0 AND 3 AND S.b BETWEEN 0 AND 3"
    rng, changes, there = random.Random(seed), list[dict[str, Any]](), dict[int, dict[str, Any]]()
    by_row = list[dict[str, Any]]()
    for now in range(1, 41):
        k = rng.randint(0, 3)
        if k in there and rng.random() < 0.4:
            changes.append({"k": k, "op": "delete", "ts": now})
            by_row.append({**there.pop(k), "op": "delete", "ts": now})
        else:
            row = {"k": k, "y": rng.randint(0, 2), "z": None}
            changes.append({**row, "op": "insert", "ts": now})
            by_row += [{**there[k], "op": "delete", "ts": now}] if k in there else []
            by_row.append({**row, "op": "insert", "ts": now})
            there[k] = row
    rows = some_rows(seed)
    checked = checked_circuit(sql, catalog(key=True))
    run = run_circuit(checked, {**rows, "R": changes})
    assert run.prints(prefixes(sql, catalog(), {**rows, "R": by_row})) and any(n < 0 for n in run.printed.values())


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize("seed", range(2 * MORE))
def test_as_of_the_time_of_the_stream_past_results_stay(kind: str, seed: int) -> None:
    sql = f"SELECT S.v, R.y FROM S {kind} R FOR SYSTEM_TIME AS OF S.ts AS R ON S.a = R.k AND S.b >= R.z WHERE S.b > 0"
    rows = some_rows(seed)
    checked = checked_circuit(sql, catalog())
    assert checked.verdict == "bounded" and checked.circuit is not None and not checked.circuit.retracts
    expected = Counter[tuple[Any, ...]]()
    versions = dict(states([RowChange(r["ts"], r["op"] == "delete", (r["k"], r["y"], r["z"])) for r in rows["R"]], []))
    for row in rows["S"]:
        there = max((time for time in versions if time <= row["ts"]), default=None)
        if (row["b"] or 0) <= 0:
            continue
        there_now = versions[there] if there is not None else []
        pairs = [(k, y, z) for k, y, z in there_now if k is not None and z is not None]
        found = [y for k, y, z in pairs if k == row["a"] and row["b"] >= z]
        for y in found or [None] * (kind == "LEFT JOIN"):
            expected[row["v"], y, row["ts"]] += 1
    run, bound = run_circuit(checked, rows), checked.circuit_bound
    assert run.prints(expected) and expected
    assert bound is not None and bound.entries.value == 8 and run.peak <= 8


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN", "SEMI JOIN", "ANTI JOIN"])
def test_windows_as_of_their_end_change_with_the_relation_until_it(kind: str) -> None:
    shown = ", R.y" if kind in ("JOIN", "LEFT JOIN") else ""
    sql = (
        f"SELECT w.a, w.e, w.n{shown} FROM (SELECT a, window_end AS e, COUNT(*) AS n FROM TUMBLE(TABLE S, "
        f"DESCRIPTOR(ts), INTERVAL 5 MICROSECONDS) GROUP BY a, window_start, window_end) AS w {kind} "
        "R FOR SYSTEM_TIME AS OF w.e AS R ON R.k = w.a AND w.n >= R.z"
    )
    tables = catalog()
    tables["streams"]["S"]["columns"] = {**tables["streams"]["S"]["columns"], "ts": "timestamp"}
    tables["streams"].pop("T")
    checked, most = proved(sql, tables)
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.text == "9*c_S + 8"
    for seed in range(2):
        rows, found = some_rows(seed), Counter[tuple[Any, ...]]()
        changes = [RowChange(r["ts"], r["op"] == "delete", (r["k"], r["y"], r["z"])) for r in rows["R"]]
        versions = {0: [], **dict(states(changes, []))}
        run = run_circuit(checked, rows, ticks=None if seed % 2 else 9)
        for end in run.ends:
            expected = Counter[tuple[Any, ...]]()
            for (a, e), n in Counter((r["a"], r["ts"] // 5 * 5 + 5) for r in rows["S"] if r["ts"] <= end).items():
                there = versions[max(time for time in versions if time <= min(e, end))]
                ys = [y for k, y, z in there if a is not None and k == a and z is not None and n >= z]
                partners = {"SEMI JOIN": ys[:1], "ANTI JOIN": ys or [None], "LEFT JOIN": ys or [None]}.get(kind, ys)
                for y in partners if kind != "ANTI JOIN" or not ys else []:
                    expected[(a, e, n, y) if shown else (a, e, n)] += 1
            found.update({row[:-1]: n for row, n in run.printed.items() if row[-1] == end})
            assert {row: n for row, n in found.items() if n} == expected, (seed, end)
        assert found and run.peak <= most


ASKING_AS_OF = (
    ("SELECT S.v FROM S JOIN {} ON x.k = S.a WHERE S.b > 2 * x.y - 1 AND CAST(x.z AS DOUBLE) <= S.b", 8),
    ("SELECT S.v FROM S WHERE NOT EXISTS (SELECT 1 FROM {} WHERE x.k = S.a)", 8),
    ("SELECT S.v FROM S WHERE S.b > 0 AND EXISTS (SELECT x.z FROM {} WHERE x.k = S.a AND x.y > 1)", 8),
    ("SELECT S.v FROM S WHERE S.a IN (SELECT x.k FROM {})", 8),
    ("SELECT S.v FROM S SEMI JOIN {} ON x.k = S.a AND S.b >= x.y", 8),
    ("SELECT S.v FROM S ANTI JOIN {} ON x.k = S.a", 8),
    (
        "SELECT S.v FROM S WHERE EXISTS (SELECT 1 FROM {0} WHERE x.k = S.a AND x.y > 0) "
        "AND NOT EXISTS (SELECT 1 FROM {0} WHERE x.k = S.a AND x.y > 1)",
        12,
    ),
    ("SELECT S.v FROM S WHERE S.b = 1 OR NOT EXISTS (SELECT 1 FROM {} WHERE x.k = S.a)", 8),
)


@pytest.mark.parametrize(("query", "bound"), ASKING_AS_OF)
def test_asked_as_of_the_time_of_the_stream(query: str, bound: int) -> None:
    """DuckDB asks the relation's versions, one for each time."""
    checked, printed = checked_circuit(query.format("R FOR SYSTEM_TIME AS OF S.ts AS x"), catalog()), 0
    assert checked.verdict == "bounded" and checked.circuit is not None and not checked.circuit.retracts
    assert proof_of(checked, certificate_of(checked)).faults == ()
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.value == bound
    sql = query.format("H AS x").replace("S.v FROM", "S.v, S.ts FROM").replace("x.k = S.a", "x.f = S.ts AND x.k = S.a")
    sql = sql.replace("FROM H AS x)", "FROM H AS x WHERE x.f = S.ts)")
    assert "x.f" in sql
    for seed in range(MORE):
        rows, history, there = some_rows(seed), list[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
        for now in range(1, 41):
            for change in (one for one in rows["R"] if one["ts"] == now):
                there[change["k"], change["y"], change["z"]] += -1 if change["op"] == "delete" else 1
            history += [(*row, now) for row in there.elements()]
        with duckdb.connect() as database:
            database.execute("CREATE TABLE S (a BIGINT, b BIGINT, v BIGINT, ts BIGINT)")
            database.execute("CREATE TABLE H (k BIGINT, y BIGINT, z BIGINT, f BIGINT)")
            database.executemany("INSERT INTO S VALUES (?, ?, ?, ?)", [list(row.values()) for row in rows["S"]])
            database.executemany("INSERT INTO H VALUES (?, ?, ?, ?)", history)
            expected = Counter(database.execute(sql).fetchall())
        run = run_circuit(checked, rows)
        assert run.prints(expected) and run.peak <= bound
        printed += len(expected)
    assert printed


@pytest.mark.parametrize("seed", range(MORE))
def test_windows_above_a_join_as_of_the_time_of_the_stream_have_its_rows(seed: int) -> None:
    joined = "FROM S LEFT JOIN R FOR SYSTEM_TIME AS OF S.ts AS R ON S.a = R.k"
    plain = checked_circuit(f"SELECT S.ts, S.v, R.y {joined}", catalog())
    windows = checked_circuit(
        f"SELECT S.ts DIV 4 AS w, COUNT(R.y) AS n, SUM(S.v) AS t, MAX(R.y) AS m {joined} GROUP BY S.ts DIV 4", catalog()
    )
    rows = some_rows(seed)
    expected: dict[int, list[tuple[Any, Any]]] = {}
    for (ts, v, y, _), n in run_circuit(plain, rows).printed.items():
        expected.setdefault(ts // 4, []).extend([(v, y)] * n)
    found: Counter[tuple[Any, ...]] = Counter()
    run, bound = run_circuit(windows, rows), windows.circuit_bound
    for (*row, _), n in run.printed.items():
        found[tuple(row)] += n
    there = {
        w: [[one for one in column if one is not None] for column in zip(*mine, strict=True)]
        for w, mine in expected.items()
    }
    assert {row: n for row, n in found.items() if n} == {
        (w, len(ys), sum(vs) if vs else None, max(ys, default=None)): 1 for w, (vs, ys) in there.items()
    }
    assert bound is not None and bound.entries.value is not None and run.peak <= bound.entries.value
    assert proof_of(windows, certificate_of(windows)).faults == ()


def test_a_version_of_a_relation_that_does_not_change_is_the_relation() -> None:
    tables = catalog()
    del tables["relations"]["R"]["changes"]
    plain = "SELECT S.v, R.y FROM S JOIN R ON S.a = R.k"
    found = [
        checked_circuit(sql, tables) for sql in (plain, plain.replace("R ON", "R FOR SYSTEM_TIME AS OF S.ts AS R ON"))
    ]
    assert found[0].verdict == found[1].verdict == "bounded" and found[0].tree == found[1].tree


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT S.b FROM S JOIN R FOR SYSTEM_TIME AS OF S.b AS R ON S.a = R.k",
        "SELECT S.b FROM S WHERE EXISTS (SELECT 1 FROM R FOR SYSTEM_TIME AS OF 5 AS x WHERE S.a = x.k)",
        "SELECT S.b FROM S JOIN (SELECT x.k FROM R FOR SYSTEM_TIME AS OF 5 AS x) AS q ON S.a = q.k",
        "SELECT S.b FROM S JOIN T ON S.a = T.a AND T.ts > S.ts JOIN R FOR SYSTEM_TIME AS OF S.ts AS R ON S.a = R.k",
    ],
)
def test_versions_of_another_time_and_what_is_above_them_are_not_decided(sql: str) -> None:
    assert checked_circuit(sql, catalog()).verdict == "unsupported"


def test_not_in_a_version_is_decided_when_a_row_comes() -> None:
    sql = "SELECT S.b FROM S WHERE S.a NOT IN (SELECT x.k FROM R FOR SYSTEM_TIME AS OF S.ts AS x)"
    checked, most = proved(sql, catalog())
    changes = [(1, "insert", 1), (1, "delete", 5), (None, "insert", 8)]
    rows = [(1, 10, 2), (2, 20, 3), (None, 30, 3), (1, 40, 6), (None, 50, 7), (2, 60, 9)]
    given = {
        "R": [{"k": k, "y": 0, "op": op, "ts": ts} for k, op, ts in changes],
        "S": [{"a": a, "b": b, "v": 0, "ts": ts} for a, b, ts in rows],
    }
    found = run_circuit(checked, given, ticks=None)
    assert found.printed == {(20, 3): 1, (40, 6): 1, (50, 7): 1}, "of no rows a NULL is none, too"
    assert found.peak <= most


def test_groups_of_versions_are_not_bounded_by_what_the_relation_has_now() -> None:
    sql = "SELECT R.y, COUNT(*) AS n FROM S JOIN R FOR SYSTEM_TIME AS OF S.ts AS R ON S.a = R.k GROUP BY R.y"
    assert not is_bounded(sql, catalog())


@pytest.mark.parametrize(
    ("sql", "domain", "verdict"),
    [
        ("SELECT S.b, R.y FROM S JOIN R ON S.a = R.k WHERE S.b IN (1, 2)", {}, "unbounded"),
        ("SELECT S.b, R.y FROM S JOIN R ON S.a = R.k WHERE S.b IN (1, 2)", {"k": [0, 3]}, "bounded"),
        ("SELECT S.v, R.y FROM S JOIN R ON S.a = R.k", {"k": [0, 3]}, "unbounded"),
        ("SELECT SUM(S.v) AS m FROM S JOIN R ON S.a = R.k", {"k": [0, 3]}, "bounded"),
        ("SELECT SUM(S.v) AS m FROM S JOIN R ON S.a = R.k", {}, "unbounded"),
        ("SELECT S.b FROM S WHERE S.b = 1 AND NOT EXISTS (SELECT 1 FROM R WHERE S.a = R.k)", {}, "unbounded"),
        ("SELECT R.y, COUNT(*) AS n FROM R GROUP BY R.y", {}, "bounded"),
    ],
)
def test_verdicts(sql: str, domain: dict[str, Any], verdict: str) -> None:
    assert checked_circuit(sql, catalog(domain)).verdict == verdict


def test_a_relation_without_a_number_of_rows_has_that_of_its_key() -> None:
    sql = "SELECT R.y FROM R JOIN Q ON R.y = Q.k"
    assert checked_circuit(sql, catalog(rows=None)).verdict == "unbounded"
    assert checked_circuit(sql, catalog({"k": [0, 3]}, rows=None)).verdict == "unknown"
    found = checked_circuit(sql, catalog({"k": [0, 3]}, key=True, rows=None)).circuit_bound
    assert found is not None and found.entries.value == 2 * 5 + 2 * 4, "of partners one for each key that is not NULL"


def test_a_row_that_says_how_it_changes_needs_a_key() -> None:
    tables = catalog()
    tables["relations"]["R"]["columns"] = {**TABLE, "op": "string"}
    found = checked_circuit("SELECT R.y FROM R", tables)
    assert found.verdict == "unsupported" and "R.op is of a change" in found.diagnostics[0].message
