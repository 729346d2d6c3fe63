"""What may stand in a SEQ block: each refusal at its token, with words."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import Checked, check_source
from streambound.criteria.vocabulary import Verdict

INTEGERS = {"columns": {"a": "bigint", "b": "bigint", "m": "map<int,int>", "vb": "bigint", "ve": "bigint"}}
CATALOG = {
    "time": {"domain": [0, 24]},
    "relations": {
        "r": {**INTEGERS, "period": ["vb", "ve"]},
        "s": {**INTEGERS, "period": ["vb", "ve"]},
        "days": {"columns": {"a": "bigint", "db": "date", "de": "date"}, "period": ["db", "de"]},
        "fixed": {"columns": {"a": "bigint", "n": "string"}},
    },
    "streams": {"E": {"timestamp": "ts", "columns": {"a": "bigint", "seq": "bigint", "ts": "bigint"}}},
}
WITHOUT_DOMAIN = {name: part for name, part in CATALOG.items() if name != "time"}


def checked(sql: str, catalog: object = CATALOG) -> Checked:
    assert isinstance(catalog, dict)
    (found,) = check_source(SourceText("q.sql", sql), catalog_from_mapping(catalog))
    return found


def blamed(sql: str, catalog: object = CATALOG) -> tuple[str, str, str]:
    """The verdict, the code and the blamed text of the only diagnostic."""
    found = checked(sql, catalog)
    (one,) = found.diagnostics
    assert one.message
    return found.verdict, str(one.code), found.source.text[one.span.start : one.span.end]


UNSUPPORTED = {
    "SELECT a FROM r ORDER BY a": "a",
    "SELECT a FROM r LIMIT 3": "3",
    "SELECT row_number() OVER (ORDER BY a) AS n FROM r": "ROW_NUMBER() OVER (ORDER BY a)",
    "SELECT a, rand() AS x FROM r": "rand",
    "SELECT a, current_timestamp AS x FROM r": "current_timestamp",
    "SELECT a, my_udf(a) AS x FROM r": "my_udf(a)",
    "SELECT a, (SELECT MAX(s.a) FROM s) AS x FROM r": "MAX(s.a)",
    "SELECT a FROM r WHERE a = 1 OR a IN (SELECT s.a FROM s)": "(SELECT s.a",
    "SELECT a, COUNT(*) AS n FROM r GROUP BY ROLLUP (a)": "ROLLUP",
    "SELECT COUNT(*) AS n FROM r GROUP BY GROUPING SETS ((a), ())": "GROUPING SETS",
    "SELECT * FROM r NATURAL JOIN s": "NATURAL",
    "SELECT E.a FROM E": "E",
    "SELECT r.m FROM r": "r.m",
    "SELECT a, stddev(b) AS x FROM r GROUP BY a": "stddev(b)",
    "SELECT r.a FROM r WHERE EXISTS (SELECT COUNT(*) FROM s WHERE s.a = r.a)": "r.a",
    "SELECT r.a FROM r WHERE EXISTS (SELECT 1 FROM s WHERE EXISTS (SELECT 1 FROM days WHERE days.a = r.a))": "r.a",
    "SELECT r.b, COUNT(*) AS n FROM r GROUP BY r.a": "r.b",
    "SELECT a FROM r WHERE b > 1 AND COUNT(*) > 1": "COUNT(*)",
    "SELECT r.a FROM r JOIN s ON r.a = s.a AND MAX(s.b) > 1": "MAX(s.b)",
    "SELECT a FROM r GROUP BY a, SUM(b)": "SUM(b)",
}


@pytest.mark.parametrize("sql", UNSUPPORTED)
def test_outside_the_language(sql: str) -> None:
    verdict, code, text = blamed(f"SEQ VT ({sql})")
    assert (verdict, code) == (Verdict.UNSUPPORTED, "SB110")
    assert text.lower().startswith(UNSUPPORTED[sql].lower()[:8])


ERRORS = {
    "SELECT r.vb FROM r": ("SB102", "r.vb"),
    "SELECT r.c FROM r": ("SB102", "r.c"),
    "SELECT a FROM r JOIN s ON r.a = s.a": ("SB103", "a"),
    "SELECT r.a, s.a FROM r JOIN s ON r.a = s.a": ("SB103", "s.a"),
    "SELECT a AS _begin FROM r": ("SB103", "a AS _begin"),
    "SELECT a FROM r UNION SELECT a, b FROM s": ("SB106", "UNION"),
    "SELECT r.a FROM r JOIN days ON r.a = days.a": ("SB107", "days"),
    "SELECT a FROM nowhere": ("SB101", "nowhere"),
    "SELECT r.b FROM r JOIN s USING (a, vb)": ("SB102", "vb"),
    "SELECT r.b FROM r LEFT JOIN fixed USING (a, b)": ("SB102", "b"),
}


@pytest.mark.parametrize("sql", ERRORS)
def test_without_meaning(sql: str) -> None:
    verdict, code, text = blamed(f"SEQ VT ({sql})")
    assert verdict is Verdict.ERROR
    assert (code, text) == ERRORS[sql]


@pytest.mark.parametrize("word", ["EXISTS", "NOT EXISTS"])
def test_a_query_of_exists_may_stand_in_more_parentheses(word: str) -> None:
    plain, more = (
        checked(f"SEQ VT (SELECT r.a FROM r WHERE {word} {query})")
        for query in ("(SELECT 1 FROM s WHERE s.a = r.a)", "(((SELECT 1 FROM s WHERE s.a = r.a)))")
    )
    assert plain.verdict is more.verdict is Verdict.BOUNDED
    assert plain.blocks is not None and more.blocks is not None
    assert plain.blocks.blocks[0].query.plan == more.blocks.blocks[0].query.plan


def test_a_name_that_both_have_is_ambiguous_at_its_place() -> None:
    found = checked("SEQ VT (SELECT r.a FROM r JOIN s ON r.a = s.a WHERE b > 1)")
    assert [(str(one.code), one.span.start) for one in found.diagnostics] == [("SB103", 52)]


NEEDS_A_DOMAIN = {
    "SELECT COUNT(*) AS n FROM r": "COUNT(*)",
    "SELECT a FROM fixed": "fixed",
    "SELECT 1 AS one": "SELECT 1",
    "SELECT a FROM fixed UNION ALL SELECT a FROM r": "fixed",
    "SELECT fixed.a FROM fixed LEFT JOIN r ON r.a = fixed.a": "fixed",
    "SELECT a FROM fixed EXCEPT ALL SELECT a FROM r": "fixed",
}
NEEDS_NONE = (
    "SELECT a FROM r",
    "SELECT a, COUNT(*) AS n FROM r GROUP BY a",
    "SELECT r.a, fixed.n FROM r JOIN fixed ON r.a = fixed.a",
    "SELECT r.a, fixed.n FROM r LEFT JOIN fixed ON r.a = fixed.a",
    "SELECT r.a FROM r LEFT ANTI JOIN fixed ON r.a = fixed.a",
    "SELECT a FROM r EXCEPT ALL SELECT a FROM fixed",
    "SELECT a FROM fixed WHERE EXISTS (SELECT 1 FROM r WHERE r.a = fixed.a)",
    "SELECT a FROM fixed INTERSECT SELECT a FROM r",
)


@pytest.mark.parametrize("sql", NEEDS_A_DOMAIN)
def test_a_missing_domain_is_an_error_at_its_token(sql: str) -> None:
    verdict, code, text = blamed(f"SEQ VT ({sql})", WITHOUT_DOMAIN)
    assert (verdict, code) == (Verdict.ERROR, "SB108")
    assert text.startswith(NEEDS_A_DOMAIN[sql])
    for header in ("FROM 0 TO 9", "AS OF 3"):
        assert checked(f"SEQ VT {header} ({sql})", WITHOUT_DOMAIN).verdict is Verdict.BOUNDED
    assert checked(f"SEQ VT ({sql})").verdict is Verdict.BOUNDED


@pytest.mark.parametrize("sql", NEEDS_NONE)
def test_no_domain_is_needed(sql: str) -> None:
    assert checked(f"SEQ VT ({sql})", WITHOUT_DOMAIN).verdict is Verdict.BOUNDED


HEADERS = {
    "FROM 5 TO 5": ("SB104", "5"),
    "FROM 7 TO 5": ("SB104", "7"),
    "AS OF 24": ("SB104", "24"),
    "AS OF DATE '2020-01-01'": ("SB104", "DATE '2020-01-01'"),
    "FROM a TO 9": ("SB104", "a"),
}


@pytest.mark.parametrize("header", HEADERS)
def test_times_that_are_none(header: str) -> None:
    assert blamed(f"SEQ VT {header} (SELECT a FROM r)")[1:] == HEADERS[header]


STARTS = {
    "SEQ VTT (SELECT a FROM r)": "VTT",
    "SEQ VT SELECT a FROM r": "SELECT",
    "SEQ VT AS OFF 3 (SELECT a FROM r)": "AS",
    "SEQ VT FROM 3 (SELECT a FROM r)": "FROM",
    "SEQ VT (SELECT a FROM r) UNION ALL SEQ VT (SELECT a FROM s)": "UNION",
}


@pytest.mark.parametrize("sql", STARTS)
def test_what_is_no_block_is_told_where_it_ceases_to_be_one(sql: str) -> None:
    assert blamed(sql)[1:] == ("SB001", STARTS[sql])


def test_a_time_line_of_dates() -> None:
    catalog = {"relations": {"days": CATALOG["relations"]["days"]}}  # type: ignore[index]
    found = checked("SEQ VT FROM DATE '2020-01-01' TO '2020-02-01' (SELECT COUNT(*) AS n FROM days)", catalog)
    assert found.blocks is not None
    query = found.blocks.blocks[0].query
    assert (query.time_type, query.low, query.high) == ("date", 18262, 18293)


def test_what_is_reported() -> None:
    from streambound.reports.outcome import outcome

    shown = outcome(checked("SEQ VT (SELECT a FROM r)"))
    assert (shown.projection, shown.bound and shown.bound.entries, shown.passes) == ("snapshot", 0, True)


AROUND = "SELECT v.n, v._begin FROM SEQ VT (SELECT a AS n FROM r) AS v JOIN fixed ON fixed.a = v.n ORDER BY v.n"


def test_a_block_is_a_table() -> None:
    found = checked(AROUND)
    assert found.blocks is not None
    assert found.blocks.columns == ("n", "_begin")
    assert {table.name for table in found.blocks.tables} == {"r", "fixed"}
    assert found.blocks.ordered
    assert "{seq_26} AS v" in found.blocks.outer
    assert "{fixed} AS `fixed`" in found.blocks.outer


def test_a_name_that_the_block_has_not() -> None:
    assert blamed("SELECT v.x FROM SEQ VT (SELECT a FROM r) AS v")[1:] == ("SB102", "v.x")


def test_files_with_views_and_names() -> None:
    text = "CREATE VIEW big AS SELECT a FROM r;\nINSERT INTO t SEQ VT (SELECT * FROM big);\nSELECT seq vt FROM E"
    source = SourceText("q.sql", text)
    found = check_source(source, catalog_from_mapping(CATALOG))
    assert [(one.statement.name, one.verdict.value) for one in found[1:2]] == [("t", "bounded")]
    assert found[1].blocks is not None
    assert not found[2].statement.blocks  # a column called seq, shown as vt


@pytest.mark.parametrize(
    ("sql", "token"),
    [
        ("SELECT a FROM fixed WHERE n", "n"),
        ("SELECT x.a FROM r AS x WHERE (x.a)", "x.a"),
        ("SELECT r.a FROM r JOIN fixed ON fixed.n", "fixed.n"),
        ("SELECT w.y FROM (SELECT a AS y FROM r) AS w JOIN s ON s.b", "s.b"),
    ],
)
def test_a_column_that_is_no_boolean_is_no_condition(sql: str, token: str) -> None:
    """Spark refuses it, too."""
    assert blamed(f"SEQ VT ({sql})") == ("error", "SB104", token)


def test_a_boolean_is_a_condition() -> None:
    columns = {"a": "bigint", "ok": "boolean", "vb": "bigint", "ve": "bigint"}
    catalog = {"relations": {"r": {"columns": columns, "period": ["vb", "ve"]}}}
    assert not checked("SEQ VT (SELECT a FROM r WHERE ok)", catalog).diagnostics
    assert not checked("SEQ VT (SELECT x.a FROM r AS x JOIN r AS y ON y.ok)", catalog).diagnostics


TRUTHS = {**CATALOG, "relations": {**CATALOG["relations"], "t": {  # type: ignore[dict-item]
    "columns": {"i": "bigint", "b": "boolean", "n": "string", "d": "date", "vb": "bigint", "ve": "bigint"},
    "period": ["vb", "ve"],
}}}  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "token"),
    [
        ("SELECT i FROM t WHERE b AND i", "i"),
        ("SELECT i FROM t WHERE b AND n", "n"),
        ("SELECT i FROM t WHERE b OR t.i", "t.i"),
        ("SELECT i FROM t WHERE NOT d", "d"),
        ("SELECT i FROM t WHERE n OR n", "n"),
        ("SELECT i FROM t WHERE i = 1 AND (i > 2 OR NOT (b AND 1))", "1"),
        ("SELECT i FROM t WHERE b OR NOT 'yes' AND d", "d"),
        ("SELECT t.i FROM t JOIN r ON t.i = r.a AND r.b", "r.b"),
        ("SELECT t.i FROM t LEFT JOIN r ON t.i = r.a OR t.i", "t.i"),
        ("SELECT n, COUNT(*) AS c FROM t GROUP BY n HAVING n = 'a' AND COUNT(*)", "COUNT(*)"),
        ("SELECT n, MAX(i) AS c FROM t GROUP BY n HAVING n = 'a' OR NOT MAX(i)", "MAX(i)"),
        ("SELECT d, COUNT(*) AS c FROM t GROUP BY d HAVING COUNT(*) > 1 AND d", "d"),
        ("SELECT a FROM r WHERE EXISTS (SELECT 1 FROM t WHERE t.i = r.a AND t.i)", "t.i"),
        ("SELECT i FROM (SELECT i, i + 1 AS j FROM t) WHERE j", "j"),
        ("SELECT i FROM t WHERE b AND i + 1", "i + 1"),
        ("SELECT i FROM (SELECT i, upper(n) AS m FROM t) AS x JOIN r ON x.i = r.a AND x.m", "x.m"),
        ("SELECT COUNT(*) FILTER (WHERE i) AS c FROM t GROUP BY n", "i"),
        ("SELECT l FROM (SELECT length(n) AS l FROM t GROUP BY length(n)) WHERE NOT l", "l"),
    ],
)
def test_what_has_no_truth_value_is_no_part_of_a_condition(sql: str, token: str) -> None:
    assert blamed(f"SEQ VT ({sql})", TRUTHS) == ("error", "SB104", token)
    assert "no condition" in checked(f"SEQ VT ({sql})", TRUTHS).diagnostics[0].message


@pytest.mark.parametrize(
    ("sql", "token"),
    [
        ("SELECT n, hash(*) AS h FROM t", "*"),
        ("SELECT n FROM t WHERE struct(*).i = 3", "*"),
        ("SELECT COUNT(t.*) AS c FROM t GROUP BY n", "*"),
        ("SELECT COUNT(DISTINCT *) AS c FROM t GROUP BY n", "*"),
        ("SELECT n, MAX(struct(*)) AS c FROM t GROUP BY n", "*"),
        ("SELECT map('k', i) AS m FROM t", "map('k', i)"),
        ("SELECT COUNT(*) AS c FROM t GROUP BY str_to_map(n)", "str_to_map(n)"),
    ],
)
def test_what_would_show_more_than_a_snapshot_or_cannot_be_compared_is_refused(sql: str, token: str) -> None:
    assert blamed(f"SEQ VT ({sql})", TRUTHS) == ("unsupported", "SB110", token)


def test_a_star_leaves_out_columns_that_are_there() -> None:
    assert checked("SEQ VT (SELECT * EXCEPT (n) FROM t)", TRUTHS).verdict is Verdict.BOUNDED
    for name in ("vb", "nothing"):
        assert blamed(f"SEQ VT (SELECT * EXCEPT ({name}) FROM t)", TRUTHS)[1] == "SB102"


def test_a_snapshot_at_a_time_has_no_columns_of_a_period() -> None:
    assert checked("SEQ VT AS OF 3 (SELECT i AS _begin FROM t)", TRUTHS).verdict is Verdict.BOUNDED
    assert blamed("SEQ VT AS OF 3 (SELECT i AS _mult FROM t)", TRUTHS)[1] == "SB103"
    assert blamed("SEQ VT (SELECT i AS _begin FROM t)", TRUTHS)[1] == "SB103"


@pytest.mark.parametrize(
    ("sql", "token"),
    [
        ("SELECT SUM(b) AS s FROM t GROUP BY n", "b"),
        ("SELECT n, AVG(d) AS s FROM t GROUP BY n", "d"),
        ("SELECT n, SUM(DISTINCT i > 1) AS s FROM t GROUP BY n", "i > 1"),
        ("SELECT n, SUM(c) AS s FROM (SELECT n, i = 1 OR b AS c FROM t) GROUP BY n", "c"),
        ("SELECT n, SUM(m) AS s FROM (SELECT n, MAX(d) AS m FROM t GROUP BY n) GROUP BY n", "m"),
    ],
)
def test_what_is_no_number_has_no_sum(sql: str, token: str) -> None:
    assert blamed(f"SEQ VT ({sql})", TRUTHS) == ("error", "SB104", token)
    assert "no sum" in checked(f"SEQ VT ({sql})", TRUTHS).diagnostics[0].message


ACCEPTED = [
    "b",
    "b AND NOT b",
    "b OR n",
    "NOT n",
    "NOT (n OR b)",
    "b OR NULL",
    "true AND b",
    "n = 'a' OR 'true'",
]


@pytest.mark.parametrize("condition", ACCEPTED)
def test_what_spark_takes_for_a_condition_is_one(condition: str) -> None:
    assert checked(f"SEQ VT (SELECT i FROM t WHERE {condition})", TRUTHS).verdict is Verdict.BOUNDED


@pytest.mark.spark
def test_spark_takes_them_for_conditions(spark: Any) -> None:
    """As jobs set it up, it casts a text below OR and NOT where something else stands beside it."""
    rows = spark.sql("SELECT true AS b, 'true' AS n")
    for condition in ACCEPTED:
        rows.where(condition).collect()
    for condition in ("n", "n OR n", "1 OR b", "NOT 1"):
        with pytest.raises(Exception, match="DATATYPE_MISMATCH"):
            rows.where(condition).collect()
