"""What has one cause is one finding: others are related places of it, in all that is printed."""

from __future__ import annotations

import json

import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.reports.json_report import json_report
from streambound.reports.outcome import outcome

COLUMNS = 'columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }\ntimestamp = "ts"\n'
CATALOG = parse_catalog(f"[streams.S]\n{COLUMNS}\n[streams.T]\n{COLUMNS}", "streams.toml")
WAIT, RETURNED = "may still wait", "DISTINCT must remember"

CAUSES: dict[str, tuple[str, list[tuple[str, int]]]] = {
    "a join without a window": ("SELECT S.v, T.v AS w, T.b FROM S JOIN T ON S.a = T.a", [("SB201", 1), ("SB203", 1)]),
    "an outer join without a window": (
        "SELECT S.v, T.v AS w FROM S LEFT JOIN T ON S.a = T.a",
        [("SB201", 1), ("SB203", 1)],
    ),
    "NOT IN": ("SELECT S.a FROM S WHERE S.a NOT IN (SELECT T.a FROM T)", [("SB201", 0), ("SB203", 0)]),
    "a scalar subquery": ("SELECT S.a FROM S WHERE S.v > (SELECT AVG(T.v) FROM T WHERE T.a = S.a)", [("SB201", 1)]),
    "the rows of a DISTINCT": ("SELECT DISTINCT a, b, v FROM S", [("SB201", 1)]),
    "both sides of a UNION": ("SELECT a FROM S UNION SELECT b FROM T", [("SB201", 1)]),
    "the keys of groups, and their values": (
        "SELECT a, b, COUNT(DISTINCT v) AS n FROM S GROUP BY a, b",
        [("SB201", 1)],
    ),
    "the key of a partition": ("SELECT LAG(v) OVER (PARTITION BY a, b ORDER BY ts) AS w FROM S", [("SB201", 1)]),
    "a join, and the groups of its rows": (
        "SELECT S.a, COUNT(*) AS n FROM S JOIN T ON S.b = T.b GROUP BY S.a",
        [("SB201", 1), ("SB203", 1)],
    ),
    "a join, and a DISTINCT": ("SELECT DISTINCT S.a FROM S JOIN T ON S.b = T.b", [("SB201", 0), ("SB203", 1)]),
    "two windows": (
        "SELECT LAG(v) OVER (PARTITION BY a ORDER BY ts) AS p, LAG(v) OVER (PARTITION BY b ORDER BY ts) AS q FROM S",
        [("SB201", 0), ("SB201", 0)],
    ),
    "joins in two SELECTs": (
        "SELECT S.v FROM S JOIN T ON S.a = T.a UNION ALL SELECT T.v FROM S JOIN T ON S.b = T.b",
        [("SB201", 0), ("SB203", 1), ("SB203", 1), ("SB201", 0)],
    ),
}


def findings(sql: str) -> list[Diagnostic]:
    (item,) = check_source(SourceText("q.sql", sql), CATALOG)
    return [one for one in item.diagnostics if one.code.value in ("SB201", "SB202", "SB203", "SB214")]


@pytest.mark.parametrize("name", CAUSES)
def test_one_cause_is_one_finding(name: str) -> None:
    sql, expected = CAUSES[name]
    found = findings(sql)
    also = [[one.message for one in finding.related if one.file == "q.sql"] for finding in found]
    assert [(one.code.value, len(more)) for one, more in zip(found, also, strict=True)] == expected, also
    assert all("also: " in one or "too" in one for more in also for one in more)
    assert len({one.message for one in found}) == len(found)


def test_columns_of_which_the_same_is_said_are_listed_once() -> None:
    (finding,) = findings("SELECT S.a, S.b, S.v, T.a AS c, T.b AS d, T.v AS e FROM S CROSS JOIN T")
    (also,) = (one.message for one in finding.related if one.file == "q.sql")
    assert also.startswith("also: nothing bounds S.b") and also.endswith("; so it is for S.v, T.a, T.b, T.v")


def test_related_places_are_in_the_report() -> None:
    (item,) = check_source(SourceText("q.sql", CAUSES["a scalar subquery"][0]), CATALOG)
    report = json.loads(json_report((outcome(item),)))
    (finding,) = (one for one in report["queries"][0]["diagnostics"] if one["code"] == "SB201")
    assert [(one["file"], one["message"].partition(":")[0]) for one in finding["related"]] == [("q.sql", "also")]


def test_all_rows_are_kept_where_there_are_no_partitions() -> None:
    (finding,) = findings("SELECT LAG(v) OVER (ORDER BY v) AS w FROM S")
    assert finding.message == "nothing bounds what this remembers: all rows are kept"
    assert finding.help.startswith("order it by time, or take it over a window of time")


def test_values_that_are_bounded_are_not_blamed() -> None:
    few = parse_catalog(f"[streams.S]\n{COLUMNS}domain = {{ v = [1, 80] }}\n", "streams.toml")
    (item,) = check_source(SourceText("q.sql", "SELECT a, COUNT(DISTINCT v) AS n FROM S GROUP BY a"), few)
    (found,) = item.diagnostics
    assert "S.a, a group's key" in found.message
    assert not [one for one in found.related if one.file == "q.sql"]
