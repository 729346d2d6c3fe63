"""Fingerprints know a finding again when its text has moved, and tell it from every other."""

from __future__ import annotations

import re

import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.reports.fingerprint import fingerprint, fingerprints, stable_path
from streambound.reports.outcome import Outcome, outcome

CATALOG = parse_catalog("""
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "string", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", b = "string", ts = "bigint" }
""")
FINDINGS = {
    "unbounded": "SELECT T.a, T.b AS x FROM S, T WHERE S.ts > T.ts AND S.b = 'x  Y'",
    "unknown column": "SELECT S.nope FROM S",
    "unsupported": "SELECT COLLECT_LIST(S.a) FROM S",
    "syntax": "SELECT S.a S.b FROM S",
}


def check(sql: str, file: str = "q.sql") -> tuple[Outcome, ...]:
    return tuple(map(outcome, check_source(SourceText(file, sql), CATALOG)))


def prints(sql: str, file: str = "q.sql") -> list[str]:
    return [one for mine in fingerprints(check(sql, file)) for one in mine]


LAYOUTS = {
    "100 lines above": lambda sql: "-- a comment\n" * 100 + sql,
    "100 lines of other queries above": lambda sql: "SELECT S.a FROM S WHERE S.nope = 1;\n" * 100 + sql,
    "another query with the same culprit above": lambda sql: f"SELECT T.a FROM T, S WHERE S.ts > T.ts;\n{sql}",
    "a query below": lambda sql: f"{sql};\nSELECT S.a FROM S",
    "a line per word": lambda sql: re.sub(r" (?=[^']*(?:'[^']*'[^']*)*$)", "\n\t", sql),
    "CRLF": lambda sql: re.sub(r" (?=[^']*(?:'[^']*'[^']*)*$)", "\r\n", sql),
    "comments between": lambda sql: sql.replace(" FROM", " /* … */ FROM -- here\n"),
    "other case of keywords": lambda sql: sql.replace("SELECT", "select").replace("FROM", "From"),
    "backticks": lambda sql: re.sub(r"\b([ST])\.(\w+)", r"`\1`.`\2`", sql),
    "redundant parentheses": lambda sql: "(" + re.sub(r"\b([ST]\.\w+)(?= [>=])", r"((\1))", sql) + ")",
    "no trailing newline": lambda sql: f"{sql}\n\n",
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("sql", FINDINGS.values(), ids=FINDINGS.keys())
def test_layout_and_neighbours_change_no_fingerprint(sql: str, layout) -> None:  # type: ignore[no-untyped-def]
    before = prints(sql)
    assert before
    assert set(before) <= set(prints(layout(sql)))


def test_an_unclosed_string_is_known_by_what_follows_it() -> None:
    (before,) = prints("SELECT S.a FROM S WHERE S.b = 'x y")
    assert prints("\n" * 100 + "SELECT S.a\nFROM S\nWHERE S.b = 'x y") == [before]
    assert prints("SELECT S.a FROM S WHERE S.b = 'x z") != [before]


@pytest.mark.parametrize("copies", [2, 5])
@pytest.mark.parametrize("sql", FINDINGS.values(), ids=FINDINGS.keys())
def test_twins_differ(sql: str, copies: int) -> None:
    found = prints(";\n".join([sql] * copies))
    assert len(found) == copies * len(prints(sql))
    assert len(set(found)) == len(found)
    assert prints(sql)[0] in found


DIFFERENT = [
    ("SELECT S.nope FROM S", "SELECT S.nopf FROM S"),
    ("SELECT S.nope FROM S", "SELECT S.nope, S.a FROM S"),
    ("SELECT S.nope FROM S WHERE S.b = 'x'", "SELECT S.nope FROM S WHERE S.b = 'X'"),
    ("SELECT S.nope FROM S WHERE S.b = 'x y'", "SELECT S.nope FROM S WHERE S.b = 'x  y'"),
    ("SELECT S.nope FROM S WHERE S.b = 'S'", "SELECT S.nope FROM S WHERE S.b = S"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_findings_differ(one: str, other: str) -> None:
    assert prints(one)[0] != prints(other)[0]


def test_findings_of_one_statement_differ() -> None:
    found = prints("SELECT S.x, S.x, S.y FROM S")
    assert len(found) == 3
    assert len(set(found)) == 3


def test_a_name_survives_edits_of_the_query() -> None:
    before = prints("-- name: late\nSELECT T.a FROM S, T WHERE S.ts > T.ts")
    assert prints("-- name: late\nSELECT S.a, T.a FROM S, T WHERE S.ts > T.ts AND S.a = 3") == before
    assert prints("-- name: later\nSELECT T.a FROM S, T WHERE S.ts > T.ts") != before


def test_a_file_is_part_of_it_and_can_be_called_otherwise() -> None:
    sql = "SELECT S.nope FROM S"
    assert prints(sql, "a.sql") != prints(sql, "b.sql")
    assert prints(sql, "./a.sql") == prints(sql, "x/../a.sql") == prints(sql, stable_path("a.sql"))
    renamed = fingerprints(check(sql, "new.sql"), lambda file: {"new.sql": "a.sql"}[file])
    assert renamed == fingerprints(check(sql, "a.sql"))


PLAIN, PARENTHESES = "f32771c1ba686e67208cd591d1a78780", "5a8e3cfd9d893b92983dc8686def7ce0"
"""Of ``SELECT S.nope FROM S`` and ``SELECT (S.nope) FROM S``, by the release in which parentheses counted."""


def test_a_finding_keeps_the_fingerprint_that_a_baseline_knows() -> None:
    sql = "SELECT (S.nope) FROM S"
    assert prints(sql) == [PLAIN]
    assert fingerprints(check(sql), known={PARENTHESES}) == ((PARENTHESES,),)
    assert fingerprints(check(f"SELECT S.nope FROM S;{sql}"), known={PLAIN, PARENTHESES}) == ((PLAIN,), (PARENTHESES,))


def test_what_a_baseline_knows_once_is_known_once() -> None:
    found = fingerprints(check("SELECT (S.nope) FROM S; SELECT S.nope FROM S"), known={PLAIN})
    assert [one for mine in found for one in mine].count(PLAIN) == 1
    assert len(set(found)) == 2


def test_one_alone_is_the_same_as_in_a_run() -> None:
    items = check(";".join(["SELECT S.nope FROM S"] * 3))
    assert [fingerprint(item, item.diagnostics[0], i) for i, item in enumerate(items)] == [
        one for mine in fingerprints(items) for one in mine
    ]


def test_a_fingerprint_is_the_same_on_every_machine_and_in_every_process() -> None:
    assert prints("SELECT S.nope FROM S") == ["f32771c1ba686e67208cd591d1a78780"]
