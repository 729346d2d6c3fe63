"""A stream joined with a relation with periods as of its time, against DuckDB and the condition written out."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import streambound
from streambound.criteria.vocabulary import Verdict
from support.circuits import checked_circuit
from support.oracle import Oracle
from support.product import decided

CATALOG: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "ts", "columns": {"a": "bigint", "v": "bigint", "ts": "bigint"}},
        "T": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "max_per_timestamp": 3},
    },
    "relations": {
        "P": {
            "columns": {"a": "bigint", "k": "bigint", "vb": "bigint", "ve": "bigint"},
            "period": ["vb", "ve"],
            "rows": 12,
        }
    },
}
AS_OF = "P FOR SYSTEM_TIME AS OF S.ts"
VALID = "P.vb <= S.ts AND S.ts < P.ve"
QUERIES = {
    f"SELECT S.v, P.k FROM S JOIN {AS_OF} ON S.a = P.a": f"SELECT S.v, P.k FROM S JOIN P ON S.a = P.a AND {VALID}",
    f"SELECT S.v, q.k FROM S JOIN {AS_OF} AS q ON S.a = q.a":
        "SELECT S.v, q.k FROM S JOIN P AS q ON S.a = q.a AND q.vb <= S.ts AND S.ts < q.ve",
    f"SELECT S.v, P.k FROM S LEFT JOIN {AS_OF} ON S.a = P.a":
        f"SELECT S.v, P.k FROM S LEFT JOIN P ON S.a = P.a AND {VALID}",
    f"SELECT S.v, P.k FROM S, {AS_OF} WHERE S.a < P.a OR P.k = 1":
        f"SELECT S.v, P.k FROM S, P WHERE (S.a < P.a OR P.k = 1) AND {VALID}",
    f"SELECT S.v FROM S CROSS JOIN {AS_OF}": f"SELECT S.v FROM S JOIN P ON {VALID}",
    f"SELECT S.v, P.k FROM {AS_OF} JOIN S ON S.a = P.a": f"SELECT S.v, P.k FROM P, S WHERE S.a = P.a AND {VALID}",
    f"SELECT S.v FROM S LEFT SEMI JOIN {AS_OF} ON S.a = P.a":
        f"SELECT S.v FROM S WHERE EXISTS (SELECT 1 FROM P WHERE S.a = P.a AND {VALID})",
    f"SELECT S.v FROM S LEFT ANTI JOIN {AS_OF} ON S.a = P.a":
        f"SELECT S.v FROM S WHERE NOT EXISTS (SELECT 1 FROM P WHERE S.a = P.a AND {VALID})",
    f"SELECT S.v FROM S WHERE EXISTS (SELECT 1 FROM {AS_OF} WHERE S.a = P.a AND P.k > 1)":
        f"SELECT S.v FROM S WHERE EXISTS (SELECT 1 FROM P WHERE S.a = P.a AND P.k > 1 AND {VALID})",
    "SELECT S.v, P.k FROM S JOIN P FOR SYSTEM_TIME AS OF 5 AS P ON S.a = P.a":
        "SELECT S.v, P.k FROM S JOIN P ON S.a = P.a AND P.vb <= 5 AND 5 < P.ve",
    f"SELECT S.v, P.k FROM S JOIN T ON S.ts >= T.ts AND S.ts <= T.ts + 3 AND S.a = T.a JOIN {AS_OF} ON S.a = P.a":
        "SELECT S.v, P.k FROM S JOIN T ON S.ts >= T.ts AND S.ts <= T.ts + 3 AND S.a = T.a "
        f"JOIN P ON S.a = P.a AND {VALID}",
}  # fmt: skip


def some_rows(seed: int) -> dict[str, list[dict[str, Any]]]:
    rng = random.Random(seed)

    def value() -> int | None:
        return None if rng.random() < 0.1 else rng.randint(0, 3)

    found: dict[str, list[dict[str, Any]]] = {"S": [], "T": [], "P": []}
    for now in range(1, 13):
        for name in ("S", "T"):
            for _ in range(rng.randint(0, 2)):
                row = {"a": value(), "v": value(), "ts": now}
                found[name].append({column: row[column] for column in CATALOG["streams"][name]["columns"]})
    for _ in range(8):
        begin = rng.randint(0, 10)
        end = rng.choice((None, begin, begin + 1, begin + 4, 20))
        found["P"].append({"a": value(), "k": value(), "vb": rng.choice((begin, begin, begin, None)), "ve": end})
    return found


@pytest.mark.parametrize("sql", QUERIES)
def test_it_is_as_bounded_as_its_condition(sql: str) -> None:
    found, written = (decided(text, CATALOG) for text in (sql, QUERIES[sql]))
    assert found.verdict is written.verdict is Verdict.BOUNDED
    assert found.bound is not None and written.bound is not None
    assert found.bound.entries.text == written.bound.entries.text


def test_a_job_joins_rows_that_are_valid_then(spark: Any) -> None:
    told, rows = 0, some_rows(3)
    frames = {
        name: spark.createDataFrame(
            [tuple(row[column] for column in columns) for row in rows[name]],
            ", ".join(f"{column} BIGINT" for column in columns),
        )
        for kind in CATALOG.values()
        for name, columns in ((name, body["columns"]) for name, body in kind.items())
    }
    for sql in [one for one in QUERIES if " T " not in one][::4]:
        job = streambound.compile(sql, streambound.load_catalog(CATALOG))
        named = {name: frames[name] for name in ("S", "P")}
        found = Counter(
            (*list(row.values())[:-2], row["_ts"]) for row in job.run(spark, named).rows() for _ in range(row["_mult"])
        )
        expected = Oracle(CATALOG, rows).prefix_expected(QUERIES[sql])
        assert found == Counter({(*row, ts): n for ts, mine in expected.items() for row, n in mine.items()}), sql
        told += sum(found.values())
    assert told > 5


def bad_rows() -> list[dict[str, Any]]:
    """Rows of P that match nothing, by what is wrong with them: and one that leaves the domain [0, 12)."""
    periods = [(None, 9), (1, None), (4, 4), (6, 5), (-1, 9), (1, 13)]
    return [{"a": 1, "k": 9, "vb": begin, "ve": end} for begin, end in periods]


WITHIN = {**CATALOG, "time": {"domain": [0, 12]}}
REASONS = ["null-bound", "null-bound", "empty-period", "empty-period", "outside-domain", "outside-domain"]


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT S.v, P.k FROM S JOIN {AS_OF} ON S.a = P.a",
        f"SELECT COUNT(*) AS n FROM S JOIN {AS_OF} ON S.a = P.a",  # a circuit
        "SELECT S.v, x.n FROM S JOIN (SELECT a, COUNT(*) AS n FROM P FOR SYSTEM_TIME AS OF 5 GROUP BY a) AS x "
        "ON x.a = S.a",  # a relation that is computed of it
    ],
)
def test_rows_with_bad_periods_are_put_aside(sql: str, spark: Any) -> None:
    good, bad = [{"a": 1, "k": 1, "vb": 0, "ve": 9}, {"a": 2, "k": 2, "vb": 7, "ve": 12}], bad_rows()
    given = [{"a": a, "v": 10 * a, "ts": ts} for ts, a in ((1, 1), (5, 1), (8, 2), (8, 3), (11, 1))]

    def result(rows: list[dict[str, Any]]) -> Any:
        job = streambound.compile(sql, streambound.load_catalog(WITHIN))
        frames = {
            "S": (given, "a BIGINT, v BIGINT, ts BIGINT"),
            "P": (rows, "a BIGINT, k BIGINT, vb BIGINT, ve BIGINT"),
        }
        named = {
            name: spark.createDataFrame([tuple(row.values()) for row in mine], columns)
            for name, (mine, columns) in frames.items()
        }
        return job.run(spark, named)

    found, expected = result(good + bad), result(good)
    assert sorted(one["reason"] for one in found.quarantined) == sorted(REASONS)
    assert sorted(map(str, found.rows())) == sorted(map(str, expected.rows())) != []
    assert not list(expected.quarantined)


def test_a_bad_period_stops_where_that_is_asked(spark: Any) -> None:
    relation = {**CATALOG["relations"]["P"], "on_violation": "stop"}
    catalog = streambound.load_catalog({**WITHIN, "relations": {"P": relation}})
    job = streambound.compile(f"SELECT S.v, P.k FROM S JOIN {AS_OF} ON S.a = P.a", catalog)
    rows = spark.createDataFrame([(1, 2, 4, 4)], "a BIGINT, k BIGINT, vb BIGINT, ve BIGINT")
    with pytest.raises(Exception, match="the period ends before it begins"):
        job.run(spark, {"S": spark.createDataFrame([(1, 2, 4)], "a BIGINT, v BIGINT, ts BIGINT"), "P": rows})


def test_its_periods_are_columns_like_others_where_it_is_read_otherwise_too() -> None:
    from streambound.analyzer.catalog import catalog_from_mapping
    from streambound.recheck.oracle.versions import unversioned

    sql = f"SELECT S.v, P.k, q.k AS k2 FROM S JOIN {AS_OF} ON S.a = P.a JOIN P AS q ON S.a = q.a"
    decision = decided(sql, WITHIN)
    assert decision.query.as_of == ()
    assert decided(next(iter(QUERIES)), WITHIN).query.as_of == ("P",)
    rows = {"S": [{"a": 1, "v": 10, "ts": 5}], "T": [], "P": [*bad_rows(), {"a": 1, "k": 1, "vb": 0, "ve": 9}]}
    statement = checked_circuit(sql, WITHIN).statement
    assert statement.tree is not None
    plain = unversioned(statement.tree, catalog_from_mapping(WITHIN)).sql("spark").replace("`", "")
    written = f"{sql.replace(' FOR SYSTEM_TIME AS OF S.ts', '')} AND {VALID} AND P.vb >= 0 AND P.ve <= 12"
    found, expected = (Oracle(WITHIN, rows).prefix_expected(one) for one in (plain, written))
    assert found == expected
    assert sum(sum(mine.values()) for mine in expected.values()) == 7


def test_a_stream_has_no_versions() -> None:
    stream = {"timestamp": "vb", "columns": {"a": "bigint", "vb": "bigint", "ve": "bigint"}, "period": ["vb", "ve"]}
    catalog = {**CATALOG, "streams": {**CATALOG["streams"], "U": stream}}
    sql = "SELECT S.v FROM S JOIN U FOR SYSTEM_TIME AS OF S.ts ON S.a = U.a"
    (found,) = checked_circuit(sql, catalog).diagnostics
    assert found.message.endswith("a version of what is no relation that changes")


def test_nothing_is_remembered_of_one_stream() -> None:
    decision = decided(next(iter(QUERIES)), CATALOG)
    assert decision.bound is not None and decision.bound.entries.value == 0


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT S.v FROM S RIGHT JOIN {AS_OF} ON S.a = P.a",
        f"SELECT S.v FROM S FULL JOIN {AS_OF} ON S.a = P.a",
        f"SELECT S.v FROM S JOIN {AS_OF} USING (a)",
        f"SELECT S.v FROM {AS_OF} RIGHT JOIN S ON S.a = P.a",
    ],
)
def test_others_are_refused_at_the_time(sql: str) -> None:
    (found,) = checked_circuit(sql, CATALOG).diagnostics
    assert found.message == "a relation with periods as of a time is outside the query language here"
    assert sql[found.span.start : found.span.end] == "S.ts"


def test_a_query_with_a_name_has_no_versions() -> None:
    sql = f"WITH P AS (SELECT a FROM T) SELECT S.v FROM S JOIN {AS_OF} ON S.a = P.a"
    (found,) = checked_circuit(sql, CATALOG).diagnostics
    assert "outside the query language" in found.message


def test_what_verify_compares_with_says_it_in_words_of_its_own() -> None:
    from streambound.analyzer.catalog import catalog_from_mapping
    from streambound.recheck.oracle.versions import unversioned

    told = 0
    for sql, written in QUERIES.items():
        statement = checked_circuit(sql, CATALOG).statement
        assert statement.tree is not None
        plain = unversioned(statement.tree, catalog_from_mapping(CATALOG)).sql("spark").replace("`", "")
        for seed in range(3):
            oracle = Oracle(CATALOG, some_rows(seed))
            plain = plain.replace("LEFT SEMI JOIN", "SEMI JOIN").replace("LEFT ANTI JOIN", "ANTI JOIN")
            expected = oracle.prefix_expected(written)
            assert oracle.prefix_expected(plain) == expected, sql
            told += sum(map(len, expected.values()))
    assert told > 50
