"""`[functions]`: functions of the user's own, in Python or of Spark's session, on each row as it comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import streambound
from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import CatalogError
from support.circuits import checked_circuit
from support.jobs import write

FUNCTIONS: dict[str, Any] = {
    "score": {"arguments": ["string", "bigint"], "result": "double", "python": "support.own_functions:score"},
    "many": {"arguments": ["bigint"], "result": "boolean", "python": "support.own_functions:many"},
    "risky": {"arguments": ["bigint"], "result": "boolean"},
    "dice": {"arguments": [], "result": "int", "deterministic": False},
}
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {
            "timestamp": "ts",
            "columns": {"k": "bigint", "name": "string", "amount": "bigint", "ts": "bigint"},
            "max_per_timestamp": 2,
        }
    },
    "functions": FUNCTIONS,
}
ROWS = [
    {"k": 1, "name": "abc", "amount": 4, "ts": 1},
    {"k": 2, "name": "bad", "amount": 4, "ts": 2},
    {"k": 3, "name": "abcdef", "amount": 12, "ts": 2},
    {"k": 4, "name": None, "amount": 12, "ts": 3},
    {"k": 5, "name": "a", "amount": 0, "ts": 3},
    {"k": 6, "name": "abc", "amount": 13, "ts": 4},
]


@pytest.mark.parametrize(
    ("sql", "verdict", "most"),
    [
        ("SELECT k, Score(name, amount) AS s FROM S WHERE score(name, amount) > 0.5", "bounded", 0),
        ("SELECT k FROM S WHERE many(amount) OR risky(k + 1)", "bounded", 0),
        ("SELECT many(amount) AS m, COUNT(*) AS n FROM S GROUP BY many(amount)", "bounded", 3),
        ("SELECT DISTINCT many(amount) AS m FROM S", "bounded", 3),
        ("SELECT DISTINCT score(name, 1) AS s FROM S", "unknown", None),
        ("SELECT score(upper(name), 1) AS s, MAX(k) AS k FROM S GROUP BY 1", "unknown", None),
        ("SELECT a.k FROM S AS a JOIN S AS b ON score(a.name, 1) = score(b.name, 2) AND b.ts = a.ts + 1", "bounded", 2),
    ],
)
def test_a_function_gives_any_value_of_its_type(sql: str, verdict: str, most: int | None) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert str(checked.verdict) == verdict, [one.message for one in checked.diagnostics]
    bound = checked.bound or checked.circuit_bound
    assert (bound.entries.value if bound is not None else None) == most
    assert not any("`" in one.message for one in checked.diagnostics), "calls are shown as they are written"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT k, dice() AS d FROM S", "dice is not deterministic"),
        ("SELECT k FROM S WHERE score(name) > 1", "score takes 2 arguments, not 1"),
        ("SELECT k FROM S WHERE scores(name) > 1", "Spark has no function scores"),
        ("SELECT k FROM S WHERE `scores`(name) > 1", "Spark has no function scores"),
    ],
)
def test_calls_that_are_refused(sql: str, message: str) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert str(checked.verdict) == "unsupported"
    assert message in checked.diagnostics[0].message


SCORES = "SELECT k, score(name, amount) AS s FROM S WHERE k <> 6"
MANY = "SELECT many(amount) AS m, COUNT(*) AS n FROM S GROUP BY many(amount)"


def test_rows_of_which_one_raises_an_error_are_put_aside(tmp_path: Path) -> None:
    write(tmp_path / "S.jsonl", *ROWS)
    run = streambound.compile(SCORES, CATALOG).run(inputs=tmp_path)
    assert [(row["k"], row["s"]) for row in run.rows()] == [(1, 0.75), (3, 0.5), (4, None)]
    assert [(row["reason"], row["detail"]) for row in run.quarantined] == [
        ("expression", "score(name, amount) cannot be computed: it raises ValueError: a bad name"),
        ("expression", "score(name, amount) cannot be computed: it raises ValueError: a bad name"),
    ]
    counts = streambound.compile(MANY, CATALOG).run(inputs=tmp_path)
    assert {(row["m"], row["n"]) for row in counts.rows() if row["_mult"] > 0} >= {(True, 2), (False, 3)}
    (bad,) = counts.quarantined
    assert bad["detail"].endswith("own_functions:many gives 'many', which is no boolean")


def test_what_cannot_be_imported_is_said(tmp_path: Path) -> None:
    write(tmp_path / "S.jsonl", *ROWS)
    missing = {"score": FUNCTIONS["score"] | {"python": "no.such:score"}}
    with pytest.raises(streambound.StreamboundError, match=r"the function score, no.such:score cannot be imported"):
        streambound.compile(SCORES, CATALOG | {"functions": missing}).run(inputs=tmp_path)
    with pytest.raises(streambound.StreamboundError, match=r"risky\(k\), of each row of S, is computed by Spark only"):
        streambound.compile("SELECT k FROM S WHERE risky(k)", CATALOG).run(inputs=tmp_path)


def test_spark_calls_them_too(spark: Any, tmp_path: Path) -> None:
    write(tmp_path / "S.jsonl", *ROWS)
    run = streambound.compile(SCORES, CATALOG).run(spark, tmp_path)
    assert [(row["k"], row["s"]) for row in run.rows()] == [(1, 0.75), (3, 0.5), (4, None)]
    assert [row["detail"] for row in run.quarantined] == [
        "score(name, amount) cannot be computed: it raises an error in Python"
    ] * 2
    spark.udf.register("risky", lambda number: number % 2 == 0, "boolean")
    kept = streambound.compile("SELECT k FROM S WHERE risky(k)", CATALOG).run(spark, tmp_path)
    assert [row["k"] for row in kept.rows()] == [2, 4, 6]


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("upper", {"arguments": ["string"], "result": "string"}, "upper is a function that SQL has"),
        ("sum", {"arguments": ["int"], "result": "int"}, "sum is a function that SQL has"),
        ("a b", {"arguments": ["int"], "result": "int"}, "cannot be the name of a function"),
        ("f", {"arguments": ["int"]}, "the function f lacks result"),
        ("f", {"arguments": ["timestamp"], "result": "int"}, "'timestamp' is no type of an argument or result"),
        ("f", {"arguments": ["int"], "result": "array<int>"}, "'array<int>' is no type"),
        ("f", {"arguments": "int", "result": "int"}, "must be a list of strings"),
        ("f", {"arguments": [], "result": "int", "python": "fraud.score"}, "python is module:function"),
        ("f", {"arguments": [], "result": "int", "deterministic": "no"}, "deterministic is true or false"),
        ("f", {"arguments": [], "result": "int", "pure": True}, "unknown key 'pure'"),
    ],
)
def test_what_a_catalog_may_say(name: str, body: dict[str, Any], message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        catalog_from_mapping(CATALOG | {"functions": {name: body}})
