"""`unique`: each key comes once while a stream remembers it, or in a relation: a job sees to it, and M counts it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.errors import CatalogError
from streambound.jobs import compile as compile_sql
from streambound.synopsis_exec.ended_rows import counting
from streambound.synopsis_exec.job_spec import job_spec
from streambound_runtime.reading.relations import repeated
from support.circuits import (
    Circuit,
    certificate_of,
    checked_circuit,
    circuit_plan,
    encoded_rows,
    in_duckdb,
    in_the_end,
    proof_of,
    proved,
    random_rows,
    replay,
    restarts_and_other_ticks_change_nothing,
    run_circuit,
)
from support.embedded import run_here
from support.jobs import read, write
from support.operator_queries import coming_once
from support.profiles import MORE

STREAM: dict[str, Any] = {
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"},
    "timestamp": "ts",
    "max_per_timestamp": 2,
}
OFTEN: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}}


def once(unique: list[Any], within: int | None = None, **more: Any) -> dict[str, Any]:
    """S with keys that come once."""
    promise = {"unique": unique} | ({} if within is None else {"within": within})
    return {"streams": {"S": STREAM | promise | more, "T": STREAM}}


FEW = {"a": {"values": [1, 2, 3, 9]}, "b": [0, 2]}
WINDOW = "S.ts <= T.ts + 4 AND T.ts <= S.ts + 4"
BOUNDED: dict[str, tuple[str, dict[str, Any], int]] = {
    "rows one by one": ("SELECT a, v FROM S WHERE v > 0", once(["a"], 7), 14),
    "two keys": ("SELECT a, v FROM S", once([["a"], ["a", "b"]], 7), 28),
    "the values of a key, NULL with them": ("SELECT a, v FROM S", once(["a"], domain=FEW), 5),
    "a key of two columns for ever": ("SELECT a, v FROM S WHERE v > 0", once(["a", "b"], domain=FEW), 5 * 4),
    "fewer values than rows": ("SELECT a, v FROM S", once(["a"], 7, domain=FEW), 5),
    "fewer rows than values": ("SELECT a, v FROM S", once(["a"], 2, domain=FEW), 4),
    "groups": ("SELECT b, COUNT(*) AS n FROM S GROUP BY b", once(["a"], 3, domain={"b": [0, 2]}), 6 + 4),
    "a join": (f"SELECT S.a, T.v FROM S JOIN T ON S.a = T.a AND {WINDOW}", once(["a"], 9), 18 + 8 + 8),
    "an outer join": (f"SELECT S.a, T.v FROM S LEFT JOIN T ON S.a = T.a AND {WINDOW}", once(["a"], 9), 18 + 8 + 8),
    "all rows there are": ("SELECT S.v, T.a FROM S LEFT JOIN T ON S.a = T.a", once(["a"], domain=FEW), 5 + 5 + 4 + 4),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_the_memory_of_keys_counts(name: str) -> None:
    sql, catalog, most = BOUNDED[name]
    if name == "all rows there are":
        catalog["streams"]["T"] = catalog["streams"]["S"]
    checked, found = proved(sql, catalog)
    assert found == most
    assert checked.circuit_bound is not None
    keys = [state for state in checked.circuit_bound.states if state.proposition == "K4"]
    assert keys and all(state.name.startswith("unique a") and "S.a" in state.keys for state in keys[:1])
    certificate = certificate_of(checked)
    for number, claimed in enumerate(certificate["keys"]):
        fewer = json.loads(json.dumps(certificate))
        value = claimed["size"]["value"] - 1
        fewer["keys"][number]["size"] = {"formula": str(value), "value": value}
        assert proof_of(checked, fewer).faults
    assert proof_of(checked, certificate | {"keys": []}).faults


def test_a_row_with_a_key_is_in_two_windows_that_overlap() -> None:
    windows = "window(ts, '8 microseconds', '4 microseconds')"
    sql = f"SELECT MODE() WITHIN GROUP (ORDER BY b) AS m FROM S GROUP BY {windows}"
    _, found = proved(sql, once(["b"], domain={"b": [0, 2]}))
    assert found == 2 + 2 * 4 + 4, "a group and four values for each open window, and the keys that have come"


def _first_rows(sql: str, catalog: dict[str, Any], seed: int) -> tuple[dict[str, Any], dict[str, Any], int]:
    """Random rows, those that keep the promise, and how many do not."""
    rows = random_rows(1, seed)
    good = {name: coming_once(body, rows[name]) for name, body in catalog["streams"].items()}
    return rows, good, sum(map(len, rows.values())) - sum(map(len, good.values()))


@pytest.mark.parametrize("name", BOUNDED)
def test_a_job_keeps_the_first_row_of_each_key(name: str) -> None:
    sql, catalog, _ = BOUNDED[name]
    checked, most = proved(sql, catalog)
    left_out = 0
    for seed in range(2 * MORE):
        rows, good, bad = _first_rows(sql, catalog, seed)
        found = run_circuit(checked, rows, ticks=None if seed % 2 else 4)
        assert in_the_end(found.printed) == in_duckdb(sql, good), seed
        assert found.peak <= most
        left_out += bad
        plan = circuit_plan(checked)
        items = [
            (None, table, row)
            for table, mine in rows.items()
            for row in mine
            if table in (item.name for item in plan.inputs)
        ]
        kept = [row for _, table, row in counting(plan.inputs, items) if table == "S"]
        assert sorted(map(repr, kept)) == sorted(map(repr, good["S"])), "what `verify` compares with"
    assert left_out


@pytest.mark.parametrize("name", ["two keys", "an outer join", "a key of two columns for ever"])
def test_restarts_and_other_steps_change_nothing(name: str) -> None:
    sql, catalog, _ = BOUNDED[name]
    case = {"sql": sql, "catalog": catalog, "mode": "changes", "input": random_rows(1, 3)}
    restarts_and_other_ticks_change_nothing(Circuit(case, "batch"))


def test_a_witness_keeps_the_promise() -> None:
    """Of a key that comes again some time DISTINCT has no end; of one that never does there are only so many rows."""
    assert str(checked_circuit("SELECT DISTINCT a FROM S", once(["a"], 5)).verdict) == "unbounded"
    cross = "SELECT S.v, T.a FROM S JOIN T ON S.b = T.b"
    assert str(checked_circuit(cross, OFTEN).verdict) == "unbounded"
    assert str(checked_circuit(cross, once(["a"], 5)).verdict) == "unbounded"
    assert str(checked_circuit("SELECT S.v, S.b FROM S, T WHERE T.ts > S.ts", once(["a"], 5)).verdict) == "unbounded"
    few = {"streams": dict.fromkeys("ST", STREAM | {"unique": ["a"], "domain": {"a": [1, 3]}})}
    assert str(checked_circuit(cross, few).verdict) == "unknown"


def test_second_rows_are_quarantined_and_counted(tmp_path: Path) -> None:
    catalog = once(["a"], 5)
    job = compile_sql("SELECT a, v FROM S WHERE v > 1", catalog)
    assert job.placement == "driver"
    rows = [{"a": 1, "b": 0, "v": 1, "ts": 1}, {"a": 1, "b": 0, "v": 2, "ts": 5}, {"a": 1, "b": 0, "v": 3, "ts": 6}]
    more = [
        {"a": None, "b": 0, "v": 3, "ts": 7},
        {"a": None, "b": 0, "v": 2, "ts": 7},
        {"a": 2, "b": 0, "v": 0, "ts": 30},
    ]
    for number, part in enumerate((rows[:1], rows[1:], more)):
        write(tmp_path / "in" / "S" / f"{number}.jsonl", *part, modified=1_600_000_000 + number)
    summary = run_here(job.compiled.job, tmp_path)
    assert [(row["a"], row["v"]) for row in read(tmp_path / "output")] == [(1, 3), (None, 2)]
    words = "a second row of a key that comes once: a within 5"
    assert summary["quarantined"] == {words: 2}
    told = [json.loads(row["row"]) for row in read(tmp_path / "quarantine")]
    assert told == [rows[1], more[0]]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('unique = ["c"]', "'c' is no column of S"),
        ('unique = "a"', "must be a list of strings"),
        ("unique = []", "names no column"),
        ('unique = ["a", "A"]', "is named twice"),
        ('unique = ["a"]', "nothing says how long a key of a is remembered"),
        ('unique = ["a", "b"]', "nothing says how long a key of a, b is remembered"),
        ('unique = ["l"]\nwithin = 3', "l is no simple value"),
        ('unique = ["a"]\nwithin = 0', "within must be longer than nothing"),
        ("within = 3", "within says how long a unique key is remembered"),
        ('unique = ["a"]\nwithin = "soon"', "within must be a length of time"),
        ('unique = ["a"]\nwithin = 3\nperiod = ["ts", "e"]', "rows with periods are unique while they are valid"),
    ],
)
def test_what_a_catalog_may_say(more: str, message: str) -> None:
    text = (
        f'[streams.S]\ntimestamp = "ts"\n{more}\n'
        'columns = { ts = "bigint", e = "bigint", a = "bigint", b = "tinyint", l = "array<int>" }\n'
    )
    with pytest.raises(CatalogError, match=message):
        parse_catalog(text)


# --- relations that never change --------------------------------------------------------------------------------------

KEYED: dict[str, Any] = {
    "streams": {"S": STREAM, "T": STREAM},
    "relations": {"R": {"columns": {"a": "bigint", "b": "bigint"}, "rows": 5, "unique": ["a"]}},
}
PLAIN = {**KEYED, "relations": {"R": {key: KEYED["relations"]["R"][key] for key in ("columns", "rows")}}}
SUMS = "SUM(S.v) OVER (PARTITION BY {} ORDER BY S.ts RANGE BETWEEN 4 PRECEDING AND CURRENT ROW) AS n"
OF_CUSTOMERS: dict[str, tuple[str, int, int]] = {
    "sums of a window": (f"SELECT S.a, {SUMS.format('S.b')} FROM S JOIN R ON S.a = R.a", 8, 5 * 8),
    "sums by what the relation has": (f"SELECT S.a, {SUMS.format('R.b')} FROM S JOIN R ON S.a = R.a", 8, 5 * 8),
    "its rows by another column": (f"SELECT S.a, {SUMS.format('S.b')} FROM S JOIN R ON S.a = R.b", 5 * 8, 5 * 8),
    "a view of it": (f"SELECT S.a, {SUMS.format('w.b')} FROM S JOIN (SELECT b, a FROM R) AS w ON w.a = S.a", 8, 5 * 8),
}


@pytest.mark.parametrize("name", OF_CUSTOMERS)
def test_a_row_joins_one_of_a_relation(name: str) -> None:
    sql, most, without = OF_CUSTOMERS[name]
    assert (proved(sql, KEYED)[1], proved(sql, PLAIN)[1]) == (most, without)
    checked, _ = proved(sql, KEYED)
    for seed in range(2 * MORE):
        random, rows = Random(seed), random_rows(1, seed)
        keys = random.sample([None, 1, 2, 3, 9, 10], 5)
        rows["R"] = [{"a": key, "b": random.choice([None, 1, 2])} for key in keys]
        found = run_circuit(checked, rows)
        assert in_the_end(found.printed) == in_duckdb(sql, rows)
        assert found.peak <= most


@pytest.mark.parametrize("of", ["w.n = 1", "w.n < 2", "w.n = 2 AND w.n IS NOT NULL"])
def test_one_number_of_a_partition_is_one_row(of: str) -> None:
    """A column that has one value in all pairs is no part of a key: a row joins one of those that ROW_NUMBER counts."""
    numbered = "SELECT a AS k, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) AS n FROM R"
    sql = f"SELECT S.a, {SUMS.format('S.b')} FROM S JOIN ({numbered}) AS w ON w.k = S.a AND {of}"
    checked, most = proved(sql, PLAIN)
    assert most == 8 + 5
    assert proved(sql.replace(of, "w.n IN (1, 2)"), PLAIN)[1] == 8 * 5 + 5
    (relation,) = circuit_plan(checked).computed
    for seed in range(2 * MORE):
        random, rows = Random(seed), random_rows(1, seed)
        rows["R"] = [{name: random.choice([None, 1, 2, 3]) for name in "ab"} for _ in range(5)]
        names = [column.name for column in relation.declared]
        given = [dict(zip(names, row, strict=True)) for row in in_duckdb(relation.query, rows).elements()]
        found = run_circuit(checked, {**rows, relation.name: given})
        assert in_the_end(found.printed) == in_duckdb(sql, rows)
        assert found.peak <= most


def test_a_key_that_a_relation_repeats_would_break_the_bound() -> None:
    """So that the promise is what bounds it: with the rows that it forbids there are more entries than M."""
    sql, most, _ = OF_CUSTOMERS["sums of a window"]
    checked, _ = proved(sql, KEYED)
    plan = circuit_plan(checked)
    rows = {
        "S": [{"a": 1, "b": 0, "v": 1, "ts": time} for time in range(8) for _ in range(2)],
        "R": [{"a": 1, "b": n} for n in range(5)],
    }
    given = encoded_rows(plan, rows)
    found = list(replay(job_spec(plan), {"R": given["R"]}, {"S": given["S"]}, range(8)))
    assert max(one.entries for one in found) > most and found[-1].beyond


@pytest.mark.parametrize("unique", [["a"], [["a"], ["b"]], ["a", "b"], [["b"], ["a", "b"]]])
def test_of_rows_with_one_key_the_least_is_good(unique: list[Any]) -> None:
    catalog = {**KEYED, "relations": {"R": {**KEYED["relations"]["R"], "rows": 40, "unique": unique}}}
    plan = circuit_plan(checked_circuit(f"SELECT R.b, {SUMS.format('S.b')} FROM S JOIN R ON S.a = R.a", catalog))
    (relation,) = job_spec(plan).relations
    for seed in range(20 * MORE):
        random = Random(seed)
        rows = [{name: random.choice([None, 0, 1, 2, 3]) for name in "ab"} for _ in range(random.randint(0, 12))]
        bad = repeated(relation, rows)
        kept = [row for place, row in enumerate(rows) if place not in bad]
        body = {"columns": ["a", "b"], "unique": unique}
        assert sorted(map(repr, kept)) == sorted(map(repr, coming_once(body, rows)))
        items = [(None, "R", row) for row in rows]
        assert [row for *_, row in counting(plan.inputs, items)] == kept, "what `verify` compares with"


def test_second_rows_of_a_relation_are_quarantined(tmp_path: Path) -> None:
    job = compile_sql("SELECT S.a, R.b FROM S JOIN R ON S.a = R.a", KEYED).compiled.job
    again = [{"a": 1, "b": 7}, {"a": None, "b": 2}, {"a": 2, "b": 4}]
    write(tmp_path / "in" / "R" / "0.jsonl", *again[:2], {"a": 1, "b": 5}, {"a": None, "b": 1})
    write(tmp_path / "in" / "R" / "1.jsonl", {"a": 2, "b": 4}, again[2])
    write(tmp_path / "in" / "S" / "0.jsonl", *({"a": n, "b": 0, "v": 0, "ts": n} for n in (1, 2)))
    summary = run_here(job, tmp_path)
    assert [(row["a"], row["b"]) for row in read(tmp_path / "output")] == [(1, 5), (2, 4)]
    assert summary["quarantined"] == {"a second row of a key that comes once: a": 3}
    told = read(tmp_path / "quarantine")
    assert [json.loads(row["row"]) for row in told] == again
    assert [(Path(row["file"]).name, row["line"], row["reason"]) for row in told] == [
        ("0.jsonl", 1, "not-unique"),
        ("0.jsonl", 2, "not-unique"),
        ("1.jsonl", 2, "not-unique"),
    ]


def test_a_witness_has_one_row_of_a_key() -> None:
    assert str(checked_circuit("SELECT DISTINCT S.v FROM S JOIN R ON S.a = R.a", KEYED).verdict) == "unbounded"
    cross = "SELECT S.v, T.v AS w, R.b FROM S JOIN T ON S.b = T.b JOIN R ON R.a = S.a AND R.b = T.a"
    assert str(checked_circuit(cross, KEYED).verdict) == "unbounded"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('unique = ["z"]', "'z' is no column of R"),
        ('unique = ["a"]\nwithin = 3', "unknown key 'within'"),
        ('unique = ["a"]\nperiod = ["a", "b"]', "rows with periods are unique while they are valid"),
        ('unique = ["a"]\nchanges = { timestamp = "b", op = "op" }', "is that of its changes"),
    ],
)
def test_what_a_catalog_may_say_of_a_relation(more: str, message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        parse_catalog(f'[relations.R]\ncolumns = {{ a = "bigint", b = "bigint" }}\n{more}\n')
