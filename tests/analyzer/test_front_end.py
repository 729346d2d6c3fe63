"""The front end on named cases, their canonical text read back, and text that nobody meant as SQL."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from streambound.analyzer.codes import Code
from streambound.analyzer.errors import InputError
from streambound.analyzer.lower import Lowered
from streambound.analyzer.render import render
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.analyzer.workspace import read_sql
from support.cases import Case, canonical, finding, lowered, read_cases
from support.meaning import meaning

CASES = read_cases("front_end.cases")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    assert canonical(case.text) == case.expected


@pytest.mark.parametrize("case", CASES, ids=str)
def test_canonical_text_means_the_same(case: Case) -> None:
    for _, result in lowered(case.text):
        if result.query is not None:
            ((_, again),) = lowered(render(result.query))
            assert again.query is not None, again.diagnostics
            assert meaning(replace(again.query, name=result.query.name)) == meaning(result.query)
            assert render(again.query) == render(result.query)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_pretty_text_means_the_same(case: Case) -> None:
    for _, result in lowered(case.text):
        if result.query is not None:
            ((_, again),) = lowered(render(result.query, pretty=True))
            assert again.query is not None, again.diagnostics
            assert render(again.query) == render(result.query)


def test_every_code_of_the_front_end_has_a_case() -> None:
    seen = {line.split()[0] for case in CASES for line in case.expected.splitlines() if line.startswith("SB")}
    assert seen | {Code.NO_TIME_DOMAIN} == {rule for rule in Code if rule < "SB150"}  # that one is of SEQ blocks


@pytest.mark.parametrize("case", CASES, ids=str)
def test_line_endings_do_not_move_findings(case: Case) -> None:
    windows = case.text.replace("\n", "\r\n")
    places = [
        [(d.code, d.span.line, d.span.column, d.span.end_line, d.span.end_column) for d in result.diagnostics]
        for text in (case.text, windows)
        for _, result in lowered(text)
    ]
    half = len(places) // 2
    assert places[:half] == places[half:]


def test_findings_explain_themselves() -> None:
    for case in CASES:
        for _, result in lowered(case.text):
            for diagnostic in result.diagnostics:
                assert diagnostic.message, case.name
                assert "sqlglot" not in diagnostic.message + diagnostic.help, case.name


def test_findings_speak_the_words_of_the_query() -> None:
    """No name of the parser's own: a keyword in a message is in the text, or is what SQL calls the thing."""
    ours = {"SELECT", "FROM", "GROUP", "BY", "UNION", "VIEW", "ON", "OF", "WITH", "AS", "IS", "NOT", "NULL"}
    for case in CASES:
        for _, result in lowered(case.text):
            for diagnostic in result.diagnostics:
                words = set(re.findall(r"\b[A-Z]{2,}\b", diagnostic.message))
                assert words - ours <= set(re.findall(r"\w+", case.text.upper())), (case.name, diagnostic.message)


def only(sql: str) -> Lowered:
    ((_, result),) = lowered(sql)
    return result


@pytest.mark.parametrize(
    ("sql", "message", "help"),
    [
        ("SELECT a FROM Ss", "unknown stream or relation 'Ss'", "did you mean S?"),
        ("SELECT a FROM nowhere", "unknown stream or relation 'nowhere'", "declares S, T, U, E, G, odd name, R"),
        ("SELECT T.cc FROM T", "T has no column 'cc'", "did you mean T.c?"),
        ("SELECT a FROM S, T", "column 'a' is ambiguous: S and T have it", "write S.a"),
        ("SELECT S.a FROM S JOIN T USING (q)", "one side of this join has no column 'q'", ""),
        ("SELECT * EXCEPT (q) FROM S", "* has no column 'q'", ""),
        ("SELECT a FROM S WHERE", "syntax error: WHERE is incomplete", ""),
        ("SELECT COUNT(*) FROM S", "the aggregate COUNT is outside the query language", "downstream"),
        ("SELECT a FROM S WHERE a = 'x", "syntax error: this string is never closed", ""),
        ("SELECT a FROM S WHERE `a", "syntax error: this quoted name is never closed", ""),
        ("SELECT a FROM S /* a", "syntax error: this block comment is never closed", ""),
        (
            "SELEC a FROM S",
            "syntax error: a statement starts with SELECT or WITH, not with 'SELEC'",
            "did you mean SEL",
        ),
        (
            "SELECT S.a FROM S ASOF JOIN T MATCH_CONDITION (S.ts >= T.ts) ON S.a = T.a",
            "syntax error: unexpected 'MATCH_CONDITION'",
            "compare the times in ON",
        ),
        ("SELECT a FORM S", "syntax error: unexpected 'S'", "did you mean FROM?"),
        ("SELECT a FROM", "syntax error: the name of a stream or relation is missing after 'FROM'", ""),
        ("SELECT a FROM S WHERE (", "syntax error: something is missing after '('", ""),
        ("SELECT (a FROM S", "syntax error: ) is missing before 'FROM'", ""),
        ("SELECT a FROM S WHERE a IN (1", "syntax error: ) is missing at the end", ""),
        ('SELECT "S"."a" FROM S', 'syntax error: "S" is a string and cannot be a name', "backticks: `S`"),
        ("SELECT DATE_ADD(a) FROM S", "date_add takes 2 to 3 arguments, not 1", ""),
        (
            "SELECT NOW() FROM S",
            "NOW gives another value whenever it is evaluated, so the results would not follow from the rows",
            "use a column of the stream instead",
        ),
        ("SELECT uper(s) FROM S", "Spark has no function uper", "did you mean upper?"),
        ("SELECT from_json(s, 'a INT') FROM S", "the type of what from_json gives here is not known", "write CAST("),
        ("SELECT explode(s) FROM S", "s is a string, and rows are made of arrays", ""),
        ("SELECT a FROM S WHERE upper(a + 1)", "a condition must be true or false", ""),
        (
            "SELECT S.a FROM S, T WHERE S.s LIKE T.s",
            "a condition over rows of S and T is outside the query language",
            "f(a.x) = g(b.y)",
        ),
        ("SELECT a FROM S WHERE a = ${p}", "a parameter is outside the query language", "put its value into the query"),
        ("SELECT a FROM S FOR UPDATE", "FOR UPDATE is outside the query language", ""),
        ("SELECT a FROM f(S) AS S", "a table function in FROM is outside the query language", ""),
        (
            "SELECT s, count(*) AS n FROM S GROUP BY aa",
            "the streams and relations in this FROM have no column 'aa'",
            "did you mean a?",
        ),
        ("SHOW TABLES", "SHOW reads no stream: there is nothing to decide", ""),
        ('SELECT a FROM S WHERE "a" = 1', "'a' is not a whole number, as a bigint must be", "write `a`"),
        ('SELECT a FROM S WHERE a = "b"', "'b' is not a whole number, as a bigint must be", "write `b`"),
        (
            "SELECT 5 - ts AS d FROM S",
            "the select list takes application times, and here one is only subtracted",
            "select the time itself",
        ),
        (
            "SELECT k FROM E WHERE at < 5",
            "an application timestamp of type timestamp cannot be compared with a number",
            "write TIMESTAMP '",
        ),
        (
            "SELECT a FROM S WHERE ts < TIMESTAMP '2026-01-01'",
            "an application timestamp of type bigint cannot be compared with a timestamp",
            "write an integer",
        ),
        (
            "SELECT S.ts + T.ts AS d FROM S, T",
            "the select list takes application times, and this is neither a time nor the difference of two",
            "the difference of two times",
        ),
        (
            "SELECT ts - ts AS d FROM S",
            "the select list takes application times, and a time less itself is a constant",
            "select the time itself",
        ),
    ],
)
def test_messages(sql: str, message: str, help: str) -> None:
    first = only(sql).diagnostics[0]
    assert first.message == message
    assert help in first.help


def test_an_unknown_column_points_at_the_declaration() -> None:
    (related,) = only("SELECT q FROM S").diagnostics[0].related
    assert (Path(related.file).name, related.line, related.message) == ("streams.toml", 3, "S is declared here")


def test_several_findings_come_in_the_order_of_the_text() -> None:
    sql = "SELECT p, q FROM S WHERE rand() = 1 AND r = 1"
    assert [finding(d, sql) for d in only(sql).diagnostics] == [
        'SB102 1:8-9 "p"',
        'SB102 1:11-12 "q"',
        'SB110 1:26-30 "rand"',
        'SB102 1:41-42 "r"',
    ]


# --- names ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "sql", "names"),
    [
        ("dir/late.sql", "SELECT 1", ["late"]),
        ("dir/late.sql", "SELECT 1; SELECT 2", ["late:1", "late:2"]),
        ("late.sql", "-- name: x\nSELECT 1; SELECT 2", ["x", "late:2"]),
        ("late.sql", "-- name: x\n-- name: y\nSELECT 1", ["y"]),
        ("late.sql", "--name:x\r\nSELECT 1", ["x"]),
        ("late.sql", "SELECT 1 -- name: x", ["late"]),
        ("late.sql", "SELECT 1 -- name: x\n; SELECT 2", ["late:1", "late:2"]),
        ("late.sql", "SELECT 1; -- name: x\nSELECT 2", ["late:1", "x"]),
        ("late.sql", "/* -- name: x\n*/ SELECT 1", ["late"]),
        ("late.sql", "/* /* */\n-- name: x\n*/ SELECT 1", ["late"]),
        ("late.sql", "-- /*\n-- name: x\nSELECT 1", ["x"]),
        ("late.sql", "", []),
    ],
)
def test_names(file: str, sql: str, names: list[str]) -> None:
    assert [statement.name for statement in split_statements(SourceText(file, sql))] == names


# --- files ----------------------------------------------------------------------------------------------------


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_bytes("\ufeffSELECT q FROM S".encode())
    (statement,) = split_statements(read_sql(tmp_path / "q.sql"))
    assert statement.span.column == 1


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the file: No such file") as caught:
        read_sql(tmp_path / "none.sql")
    assert caught.value.file == str(tmp_path / "none.sql")
    assert caught.value.exit_status == 3


@pytest.mark.parametrize("content", [b"\xff\xfeS\x00", b"SELECT \x00", b"caf\xe9"])
def test_a_binary_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "q.sql").write_bytes(content)
    with pytest.raises(InputError, match=r"not UTF-8|binary") as caught:
        read_sql(tmp_path / "q.sql")
    assert caught.value.remedy == "is it a SQL file?"


# --- text that nobody meant as SQL ----------------------------------------------------------------------------

VOCABULARY = """
SELECT DISTINCT FROM WHERE AND OR NOT IN BETWEEN IS NULL UNION ALL JOIN ON WITH AS ( ( ) ) , , . ; * + - < <= = <>
a b s d f day ts S T U E R S.a T.c S.ts S.a E.at G.at 1 2.5 1e400 'x' 'it' `q` " ' DATE TIMESTAMP INTERVAL DAY MONTH
CASE WHEN END EXISTS COUNT(*) OVER GROUP BY ORDER LIMIT VALUES INSERT /* */ -- ? :p [ ] { } $ @ \\ é 漢 😀
"""
WORDS = (*VOCABULARY.split(), "\t", "\n")
garbage = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=30)
queries = st.tuples(
    st.sampled_from(["SELECT S.a FROM S, T WHERE ", "SELECT DISTINCT a FROM S WHERE ", "SELECT "]),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join),
).map("".join)


@settings(max_examples=400, deadline=None)
@given(garbage | queries)
@example("SELECT a FROM S WHERE x < 1e400")
@example("SELECT a FROM S WHERE a < 1e400 * 1e400")
@example("SELECT a FROM S WHERE a < 1e999999999")
@example("SELECT INTERVAL 1 DAY FROM S")
@example("FROM SELECT")
@example("ELSE")
@example("SELECT a FROM S WHERE a < " + " + ".join(["1"] * 1500))
@example("SELECT a FROM S WHERE " + "(" * 60 + "a = 1" + ")" * 60)
def test_no_text_breaks_the_front_end(text: str) -> None:
    source = SourceText("garbage.sql", text)
    for _, result in lowered(text):
        assert (result.query is None) == bool(result.diagnostics)
        for diagnostic in result.diagnostics:
            assert diagnostic.code in Code
            span = diagnostic.span
            assert 0 <= span.start <= span.end <= len(text)
            assert source.span(span.start, span.end) == span
        if result.query is not None:
            assert only(render(result.query)).query is not None


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=40))
def test_no_bytes_break_reading(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.sql"
    path.write_bytes(content)
    try:
        source = read_sql(path)
    except InputError:
        return
    split_statements(source)
