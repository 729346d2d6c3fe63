"""SEQ TP over streams of random rows, against all possible worlds at every point of time."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from streambound.criteria.vocabulary import Verdict
from streambound.synopsis_exec.period_rows import allowed
from streambound.synopsis_exec.verify import gives_nothing
from streambound_runtime.lineage.formulas import variable_name
from streambound_runtime.promises import PeriodContract
from streambound_runtime.reading.relations import conflicts
from support.circuits import checked_circuit, circuit_plan
from support.period_streams import PeriodRun, run_periods
from support.profiles import MORE
from support.tp_queries import (
    JOINS,
    drawn_count,
    drawn_join_of_counts,
    drawn_query,
    drawn_rows,
    drawn_set_operation,
    equal,
    less,
)
from support.tp_worlds import Base, Joined, Query, Row, Selected, differences, expected, expected_count

COLUMNS = {"a": {"n": "string", "k": "int"}, "b": {"h": "string", "j": "int"}, "c": {"g": "string", "l": "int"}}
Drawn = dict[str, list[Row]]


def catalog(static: str = "", **more: Any) -> dict[str, Any]:
    """Three streams, of which one may be ``static`` instead."""
    own = {"id": "bigint", "p": "double", "vb": "bigint", "ve": "bigint"}
    both = {"period": ["vb", "ve"], "key": "id", "probability": "p"}
    rows = {"timestamp": "vb", "max_valid": 9, **both, **more}
    tables = {name: {"columns": {**kinds, **own}} for name, kinds in COLUMNS.items()}
    streams = {name: {**kinds, **rows} for name, kinds in tables.items() if name != static}
    return {"streams": streams, "relations": {static: {**tables[static], **both}} if static else {}}


def drawn_join(rng: random.Random) -> Selected:
    a, b = Base("a", ("n", "k"), "x"), Base("b", ("h", "j"), "y")
    if rng.random() < 0.1:
        return Selected(a)
    if rng.random() < 0.2:  # a row is not independent of itself
        b = Base("a", ("n", "k"), "y")
    j, h = f"y.{b.columns[1]}", f"y.{b.columns[0]}"
    on, holds = rng.choice(
        [
            (f"x.k = {j}", lambda r, s: equal(r[1], s[1])),
            (f"x.k < {j}", lambda r, s: less(r[1], s[1])),
            (f"x.k <=> {j}", lambda r, s: r[1] == s[1]),
            (f"x.k = {j} AND x.n <> {h}", lambda r, s: equal(r[1], s[1]) and (less(r[0], s[0]) or less(s[0], r[0]))),
            ("1 = 1", lambda r, s: True),
        ]
    )
    how = rng.choice(JOINS)
    joined = Joined(how, a, b, on, holds)
    where, keeps = rng.choice([("", lambda fact: True), ("x.k = 1", lambda fact: equal(fact[1], 1))])
    places = None
    if on == f"x.k = {j}" and how in ("INNER", "LEFT") and b.name == "b" and rng.random() < 0.5:
        places = (0, 1, 2)  # j is k
    return Selected(joined, places, where, keeps)


def text(query: Query) -> str:
    """The SQL, in which the columns of a self-join have names of their own."""
    if isinstance(query, Selected) and query.source.columns == ("n", "k", "n", "k"):
        return query.select.replace("SELECT *", "SELECT x.n AS n1, x.k AS k1, y.n AS n2, y.k AS k2")
    return query.select


def ran(
    query: Query, relations: Drawn, every: int, emit: str = "", restarts: bool = False, static: str = "", sql: str = ""
) -> PeriodRun:
    checked = checked_circuit(f"{emit}SEQ TP ({sql or text(query)})", catalog(static))
    assert checked.verdict is Verdict.BOUNDED, (text(query), checked.diagnostics)
    rows = {
        name: [
            dict(
                zip((*COLUMNS[name], "id", "p", "vb", "ve"), (*r.fact, r.key, float(r.p), r.begin, r.end), strict=True)
            )
            for r in mine
        ]
        for name, mine in relations.items()
    }
    found = run_periods(checked, rows, every, restarts)
    assert not found.rejected
    assert found.limit is not None and max(found.entries) <= found.limit
    return found


def printed(run: PeriodRun) -> list[tuple[Any, ...]]:
    assert set(run.all.values()) <= {1}
    return [row[:-1] for row in run.all]


def is_told_when_it_ends(run: PeriodRun) -> None:
    """Assert that by each frontier what has ended before it has been told, and nothing else."""
    told = Counter[Any]()
    for until, rows in run.printed:
        told += rows
        assert told == Counter({row: n for row, n in run.all.items() if until is None or row[-4] < until}), until


def glued(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Neighbours of one fact and lineage, put together again."""
    whole: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for *fact, begin, end, lineage, p in sorted(rows, key=lambda row: row[-4]):
        spans = whole.setdefault((*fact, lineage, p), [])
        if spans and spans[-1][1] == begin:
            spans[-1] = spans[-1][0], end
        else:
            spans.append((begin, end))
    return [(*key[:-2], begin, end, *key[-2:]) for key, spans in whole.items() for begin, end in spans]


def drawn(seed: int) -> tuple[random.Random, Selected, Drawn]:
    rng = random.Random(seed)
    return rng, drawn_join(rng), {"a": drawn_rows(rng, 4), "b": drawn_rows(rng, 4)}


def test_random_queries_are_what_possible_worlds_say() -> None:
    """At the end; and before, what has ended before a frontier has been told, and nothing else."""
    negated, unmatched = 0, 0
    for seed in range(20 * MORE):
        rng, query, relations = drawn(seed)
        run = ran(query, relations, rng.randint(2, 6), restarts=rng.random() < 0.3)
        rows = printed(run)
        assert differences(iter(rows), query, relations) == [], (text(query), relations)
        is_told_when_it_ends(run)
        negated += sum("!" in row[-2] for row in rows)
        unmatched += sum(row[:4] == (None,) * 4 for row in rows if len(row) == 8)
    assert negated > 7 and unmatched, "the sample says something"


@pytest.mark.parametrize("seed", range(150, 150 + 4 * MORE))
def test_fragments_are_the_result_in_parts(seed: int) -> None:
    """Neighbours of one fact and lineage put together again are the result; each is final when it is told."""
    rng, query, relations = drawn(seed)
    run = ran(query, relations, rng.randint(2, 6), "-- streambound: emit fragments\n", rng.random() < 0.3)
    since = 0
    for until, rows in run.printed:
        assert all(row[-5] >= since and (until is None or row[-4] <= until) for row in rows), text(query)
        since = since if until is None else until
    rows = glued(printed(run))
    assert differences(iter(rows), query, relations) == [], text(query)


def beside(seed: int) -> tuple[random.Random, Selected, Drawn, str]:
    """A join of a stream and a relation, whichever side that is."""
    rng = random.Random(seed)
    query = drawn_join(rng)
    while not isinstance(query.source, Joined) or query.source.right == Base("a", ("n", "k"), "y"):
        query = drawn_join(rng)
    return rng, query, {"a": drawn_rows(rng, 4), "b": drawn_rows(rng, 4)}, rng.choice("ab")


@pytest.mark.parametrize("seed", range(1000, 1000 + 6 * MORE))
def test_relations_beside_streams_are_what_possible_worlds_say(seed: int) -> None:
    """What has ended is told, with each way to tell it, and a relation's rows count as valid ones."""
    rng, query, relations, static = beside(seed)
    emit = rng.choice(["", "", "-- streambound: emit fragments\n"])
    run = ran(query, relations, rng.randint(2, 6), emit, rng.random() < 0.3, static)
    if emit:
        assert differences(iter(glued(printed(run))), query, relations) == [], (text(query), relations, static)
        return
    assert differences(iter(printed(run)), query, relations) == [], (text(query), relations, static)
    is_told_when_it_ends(run)


@pytest.mark.parametrize("drawing", [drawn_query, drawn_set_operation, drawn_count, drawn_join_of_counts])
@pytest.mark.parametrize("seed", range(4 * MORE))
def test_operands_set_operations_groups_and_lists_that_leave_out_columns(seed: int, drawing: Any) -> None:
    """What has ended before a frontier has been told, however time is cut: a fact's lineage is a function."""
    rng = random.Random(seed)
    query, relations = drawing(rng), {"a": drawn_rows(rng, 4), "b": drawn_rows(rng, 3), "c": drawn_rows(rng, 2)}
    run = ran(query, relations, rng.randint(2, 6), restarts=rng.random() < 0.3, static=rng.choice(["", "", *COLUMNS]))
    assert differences(iter(printed(run)), query, relations) == [], (query.select, relations)
    is_told_when_it_ends(run)


@pytest.mark.parametrize("seed", range(4 * MORE))
def test_what_is_expected_is_the_mean_of_all_worlds(seed: int) -> None:
    """Of groups that are not there it is 0: at each point of time."""
    rng = random.Random(seed)
    query, relations = drawn_count(rng), {"a": drawn_rows(rng, 4), "b": drawn_rows(rng, 3)}
    sql = query.select.replace(query.counted, f"EXPECTED({query.counted})")
    run = ran(query, relations, rng.randint(2, 6), restarts=rng.random() < 0.3, sql=sql)
    for key, value, begin, end, _, _ in printed(run):
        for t in range(begin, end):
            assert value == pytest.approx(float(expected_count(query, relations, t, key)), abs=1e-12)
    whole = {(row[0], t) for row in printed(run) for t in range(row[2], row[3])}
    assert whole == {(fact[0], t) for fact, b, e, _ in expected(query, relations) for t in range(b, e)}


@pytest.mark.parametrize("seed", range(3 * MORE))
def test_parts_of_an_inner_join_are_told_when_the_later_row_begins(seed: int) -> None:
    rng = random.Random(seed)
    joined = Joined("INNER", Base("a", ("n", "k"), "x"), Base("b", ("h", "j"), "y"), "x.k = y.j",
                    lambda r, s: equal(r[1], s[1]))  # fmt: skip
    query, relations = Selected(joined), {"a": drawn_rows(rng, 4), "b": drawn_rows(rng, 4)}
    run = ran(query, relations, rng.randint(1, 3), "-- streambound: emit parts\n", rng.random() < 0.3)
    assert differences(iter(printed(run)), query, relations) == []
    since = 0
    for until, rows in run.printed:
        assert all(since <= row[-5] for row in rows)
        assert until is None or all(row[-5] < until for row in rows)
        since = since if until is None else until


def one(sql: str, emit: str = "", **more: Any) -> Any:
    return checked_circuit(f"{emit}SEQ TP ({sql})", catalog(**more))


def test_what_is_remembered_is_the_rows_that_are_valid() -> None:
    """Both sides, and of each the latest ends of keys and facts, and a counter for each end."""
    assert one("SELECT * FROM a JOIN b ON k = j").circuit_bound.entries.text == str(2 * 9 + 2 * 3 * 9)
    assert one("SELECT * FROM a FULL JOIN b ON k = j").circuit_bound.entries.text == str(2 * 9 + 2 * 3 * 9 + 1)
    assert one("SELECT * FROM a", "-- streambound: emit parts\n").circuit_bound.entries.text == str(3 * 9)


@pytest.mark.parametrize(
    ("sql", "never"),
    [
        ("SELECT * FROM a WHERE k > 5 AND k < 3", True),
        ("SELECT * FROM a JOIN b ON k = j WHERE j > 5 AND j < 3", True),
        ("SELECT * FROM (SELECT * FROM a WHERE false) AS x LEFT JOIN b ON k = j", True),
        ("SELECT * FROM (SELECT * FROM a WHERE false) AS x RIGHT JOIN b ON k = j", False),
        ("SELECT * FROM a LEFT ANTI JOIN (SELECT * FROM b WHERE j = 1 AND j = 2) AS y ON k = j", False),
        ("SELECT * FROM (SELECT * FROM a WHERE false) AS x FULL JOIN b ON k = j", False),
    ],
)
def test_that_there_never_is_a_row_is_told(sql: str, never: bool) -> None:
    statement = one(sql)
    assert [found.code for found in statement.diagnostics] == ["SB150"] * never
    assert gives_nothing(circuit_plan(statement)) == never
    rows = [{"n": "x", "k": n, "h": "y", "j": n, "id": n, "p": 0.5, "vb": n, "ve": n + 2} for n in range(3)]
    assert bool(run_periods(statement, {"a": rows, "b": rows}).all) != never


def test_facts_of_few_values_need_no_other_declaration() -> None:
    given = _unlimited()
    for stream in given["streams"].values():
        stream["domain"] = {next(iter(stream["columns"])): ["x", "y"], [*stream["columns"]][1]: [1, 4]}
    found = checked_circuit("SEQ TP (SELECT * FROM a LEFT JOIN b ON k = j)", given)
    assert found.verdict is Verdict.BOUNDED
    assert found.circuit_bound.entries.text == str(6 * 3 * 5), "three or five values, and NULL"


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM a", "SELECT * FROM a JOIN b ON k = j", "SELECT * FROM a LEFT ANTI JOIN b ON k = j"]
)
def test_without_a_bound_rows_are_told_apart(sql: str) -> None:
    found = checked_circuit(f"SEQ TP ({sql})", _unlimited())
    assert found.verdict is Verdict.UNBOUNDED
    assert {message.code for message in found.diagnostics} == {"SB213"}


def _unlimited() -> dict[str, Any]:
    given = catalog()
    for stream in given["streams"].values():
        del stream["max_valid"]
    return given


KEYS: dict[str, tuple[str, int | str]] = {
    "boolean": ("true", 1),
    "date": ("2024-02-29", 19782),
    "timestamp": ("2024-02-29 10:00:00.25", 1709200800250000),
    "timestamp_ntz": ("1969-12-31 23:59:59", -1_000_000),
    "decimal(30,3)": ("-1234567890123456789.500", -1234567890123456789500),
    "decimal(9,8)": ("0.00000001", 1),
    "smallint": ("-7", -7),
    "string": ("7 b", "7 b"),
}
"""A key of each type, as a text and encoded."""


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_is_the_text_that_it_is_cast_to(kind: str) -> None:
    given = catalog()
    given["streams"]["a"]["columns"]["id"] = kind
    found = checked_circuit("SEQ TP (SELECT * FROM a LEFT JOIN b ON k = j)", given)
    assert found.verdict is Verdict.BOUNDED, found.diagnostics
    rows = {"a": [{"n": "x", "k": 1, "id": KEYS[kind][1], "p": 0.5, "vb": 0, "ve": 3}], "b": []}
    run = run_periods(found, rows, restarts=True)
    assert [row[-3] for row in run.all] == [variable_name("a", KEYS[kind][0])]


@pytest.mark.parametrize(("kind", "value"), [("decimal(2,1)", 7), ("float", 0.699999988079071), ("double", 0.7)])
def test_a_probability_is_the_number_of_its_shortest_text(kind: str, value: float) -> None:
    given = catalog()
    given["streams"]["a"]["columns"]["p"] = kind
    rows = [{"n": "x", "k": 1, "id": 1, "p": value, "vb": 0, "ve": 3}]
    assert [row[-2] for row in run_periods(checked_circuit("SEQ TP (SELECT * FROM a)", given), {"a": rows}).all] == [
        0.7
    ]


@pytest.mark.parametrize("kind", ["double", "float", "binary"])
def test_a_key_without_a_certain_text_is_refused(kind: str) -> None:
    given = catalog()
    given["streams"]["a"]["columns"]["id"] = kind
    found = checked_circuit("SEQ TP (SELECT * FROM a)", given)
    assert found.verdict is Verdict.UNSUPPORTED
    assert "no text that is always the same" in found.diagnostics[0].message


def test_the_texts_of_keys_are_those_of_spark(spark: Any) -> None:
    """Of keys of a column, not of constants, which another part of Spark casts."""
    made = spark.sql("SELECT " + ", ".join(f"CAST('{text}' AS {kind}) AS `{kind}`" for kind, (text, _) in KEYS.items()))
    row = made.unionAll(made).selectExpr(*(f"CAST(`{kind}` AS STRING)" for kind in KEYS)).first()
    assert list(row) == [text for text, _ in KEYS.values()]


@pytest.mark.parametrize(
    ("sql", "emit", "words"),
    [
        ("SELECT n FROM a", "parts", "emit parts of rows that come of several"),
        ("SELECT * FROM a LEFT JOIN b ON k = j", "parts", "emit parts of rows without a match"),
        ("SELECT * FROM a LEFT JOIN b ON k = j", "changes", "emit changes is outside the query language here"),
    ],
)
def test_what_is_refused_is_said(sql: str, emit: str, words: str) -> None:
    found = one(sql, f"-- streambound: emit {emit}\n" if emit else "")
    assert found.verdict is Verdict.UNSUPPORTED
    assert found.diagnostics[0].message.startswith(words)


@pytest.mark.parametrize(
    ("sql", "most"),
    [
        ("SELECT n FROM a", 9 + 9),
        ("SELECT n, j, h FROM a LEFT JOIN b ON k = j", 2 * 9 + 9 * 9 + 9),
        ("SELECT q.n FROM (SELECT * FROM a JOIN b ON k = j) AS q LEFT ANTI JOIN c ON q.k = l", 3 * 9 + 9 * 9),
    ],
)
def test_facts_that_come_of_several_rows_are_remembered_while_they_may_go_on(sql: str, most: int) -> None:
    """Beside what contracts are checked with: latest ends of keys and facts, and a counter for each end."""
    found = one(sql)
    streams = sum(f" {name} " in f" {sql.replace(')', ' ')} " for name in COLUMNS)
    assert found.circuit_bound.entries.text == str(most + streams * 3 * 9)


def test_rows_that_conflict_are_put_aside() -> None:
    def row(name: str, k: int | None, key: int, p: float, begin: int, end: int) -> dict[str, Any]:
        return {"n": name, "k": k, "id": key, "p": p, "vb": begin, "ve": end}

    rows = [row("x", 1, 1, 0.5, 0, 5), row("y", 1, 1, 0.5, 2, 4), row("x", 1, 2, 0.5, 3, 6), row("x", 1, 3, 0.5, 5, 6)]
    found = run_periods(one("SELECT * FROM a"), {"a": rows}, restarts=True)
    assert [(row.values["id"], row.reason) for row in found.rejected] == [(1, "key"), (2, "overlapping-fact")]
    assert sorted(row[2:4] for row in found.all) == [(0, 5), (5, 6)]


def test_of_a_relation_the_rows_that_are_valid_are_remembered() -> None:
    found = checked_circuit("SEQ TP (SELECT * FROM a LEFT JOIN b ON k = j)", catalog("b"))
    assert found.verdict is Verdict.BOUNDED
    assert found.circuit_bound.entries.text == "rows_b + 36", "those of a, with the ends of its contract"


def test_of_a_relation_all_that_share_a_key_or_a_fact_are_put_aside() -> None:
    """Those that share a key first, then facts at a common time; where they end and begin they have none."""
    contract = PeriodContract("vb", "ve", variable="id", probability="p", fact=("n",))
    rng = random.Random(5)
    for _ in range(200):
        rows = [
            {"id": rng.randint(1, 9), "n": rng.choice("xy"), "p": 0.5, "vb": begin, "ve": begin + rng.randint(1, 4)}
            for begin in rng.choices(range(12), k=7)
        ]
        shared = {n for n, row in enumerate(rows) if sum(row["id"] == other["id"] for other in rows) > 1}
        left = [n for n in range(7) if n not in shared]
        twice = {
            n
            for n in left
            for m in left
            if n != m
            and rows[n]["n"] == rows[m]["n"]
            and {*range(rows[n]["vb"], rows[n]["ve"])} & {*range(rows[m]["vb"], rows[m]["ve"])}
        }
        reasons = {place: reason for place, (reason, _) in conflicts(contract, rows).items()}
        assert reasons == dict.fromkeys(shared, "key") | dict.fromkeys(twice, "overlapping-fact")
        kept = [n for n, _ in allowed(contract, [*enumerate(rows)], timed=False)]
        assert kept == sorted({*left} - twice)
