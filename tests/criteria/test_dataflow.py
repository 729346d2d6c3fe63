"""The rules of `criteria.dataflow`: what each operator remembers, by what is demanded of it and known of its inputs.

`tests/cases/sizes/` has statements with M; those of a paragraph mean the same, and remember as much.
"""

from __future__ import annotations

import pytest

from streambound.analyzer.algebra import nodes
from streambound.analyzer.catalog import Catalog, catalog_from_mapping
from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import some_statements
from streambound.criteria.check import check_source
from streambound.criteria.dataflow.decision import of_judgement
from streambound.criteria.dataflow.judge import Judgement, judge
from streambound.synopsis_exec.operations.plan import plan_of_operators
from support.cases import Judged, read_judged

_COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "k": "string", "ts": "timestamp"}
CATALOG = catalog_from_mapping(
    {
        "streams": {
            name: {
                "timestamp": "ts",
                "columns": _COLUMNS,
                "domain": {"b": [0, 2], "k": ["x", "y"]},
                "max_rate": {"rows": 10, "per": "1 second"},
            }
            for name in ("S", "T", "U")
        },
        "relations": {
            "R": {
                "columns": {"a": "bigint", "y": "bigint"},
                "rows": 50,
                "changes": {"timestamp": "ts", "op": "op", "key": ["a"]},
            }
        },
    }
)


def judged(sql: str, catalog: Catalog = CATALOG) -> Judgement:
    (statement,) = some_statements(SourceText("q.sql", sql), None, catalog.readable)
    found = judge(statement, catalog)
    assert found is not None, sql
    return found


def size(sql: str, catalog: Catalog = CATALOG) -> str:
    """M, or what is unbounded, or has no rule."""
    found = judged(sql, catalog)
    if found.entries is not None:
        return found.entries.text
    return "no rule" if found.outside else "unbounded"


NUMBERS = catalog_from_mapping(
    {
        "streams": {
            "N": {
                "timestamp": "ts",
                "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"},
                "domain": {"a": [0, 9], "b": [0, 2]},
            },
            "M": {"timestamp": "ts", "columns": {"v": "bigint", "ts": "bigint"}},
            "D": {"timestamp": "ts", "columns": {"ts": "timestamp"}},
        },
        "relations": {"R": {"columns": {"y": "bigint"}}},
    }
)


def test_buckets_of_times_beside_each_other_are_not_inside_each_other() -> None:
    sql = (
        "SELECT S.ts DIV 4 AS x, COUNT(DISTINCT U.ts DIV 2) FROM N AS T JOIN N AS S ON S.ts BETWEEN T.ts - 1 AND T.ts "
        "JOIN N AS U ON U.ts BETWEEN T.ts - 1 AND T.ts GROUP BY 1"
    )
    (values,) = (one.size for one in judged(sql, NUMBERS).states if one.what == "values")
    most = 0
    for now in range(4, 40):  # with rows at every time
        pairs = ((t, s, u) for t in range(now + 1) for s in (t - 1, t) for u in (t - 1, t) if min(s, u) >= 0)
        most = max(most, len({(s // 4, u // 2) for _, s, u in pairs if s // 4 * 4 + 3 + 1 > now}))
    assert most == 3
    assert values is not None and values.value is not None and values.value >= most


@pytest.mark.parametrize("case", read_judged("sizes"), ids=str)
def test_statements_have_their_size_and_a_job(case: Judged) -> None:
    catalog = catalog_from_mapping(case.declared)
    for sql in case.texts:
        (statement,) = some_statements(SourceText("q.sql", sql), None, catalog.readable)
        found = judge(statement, catalog)
        assert found is not None
        if found.entries is None:
            words = [one.words for one in found.outside]
            assert (f"no rule: {'; '.join(words)}" if words else "unbounded") == case.expected, sql
            continue
        assert found.entries.text == case.expected, sql
        try:
            assert plan_of_operators(of_judgement(found), statement).bound.entries == found.entries
        except NotExecutableError as refused:
            assert "two columns of the select list are named" in str(refused)


def test_an_aggregate_without_a_rule_is_said_with_its_name() -> None:
    sql = "SELECT APPROX_COUNT_DISTINCT(a) AS n FROM S"
    (outside,) = judged(sql).outside
    assert isinstance(outside.operator, nodes.AggregateCall)
    (told,) = check_source(SourceText("q.sql", sql), CATALOG)[0].diagnostics
    assert told.message == "the aggregate APPROX_COUNT_DISTINCT is outside the query language"
    assert sql[told.span.start : told.span.end] == "APPROX_COUNT_DISTINCT(a)"


def test_what_is_unbounded_names_the_column() -> None:
    (state,) = (one for one in judged("SELECT b, a, COUNT(*) FROM S GROUP BY b, a").states if one.count is None)
    assert (state.what, state.blame) == ("groups", 1)


# --- rows without a partner -------------------------------------------------------------------------------------------

PADDED = catalog_from_mapping(
    {
        "streams": {
            "I": {"timestamp": "ts", "columns": {"ts": "bigint", "a": "bigint", "v": "bigint"}, "max_per_timestamp": 2},
            "J": {
                "timestamp": "ts",
                "columns": {"ts": "bigint", "b": "bigint", "x": "bigint"},
                "domain": {"x": [0, 10]},
                "max_per_timestamp": 2,
            },
        }
    }
)


def test_what_is_kept_of_partitions_goes_with_their_time() -> None:
    day = "PARTITION BY date_trunc('day', ts) ORDER BY"
    for asked in (f"LAG(v) OVER ({day} ts)", f"SUM(v) OVER ({day} ts ROWS UNBOUNDED PRECEDING)"):
        (state,) = judged(f"SELECT v, {asked} AS x FROM S").states
        assert state.count is not None and state.count.closing is not None and state.count.size.text == "1"
    first = f"SELECT v FROM (SELECT v, ROW_NUMBER() OVER ({day} v, a) AS r FROM S) q WHERE r <= 2"
    (state,) = judged(first).states
    assert state.count is not None and state.count.closing is not None and state.count.size.text == "2"
    # Rows of windows close before their day does: all of a day's are kept, and go with it.
    hours = "(SELECT date_trunc('hour', ts) AS w, COUNT(*) AS n FROM S GROUP BY date_trunc('hour', ts)) g"
    for asked in ("ROW_NUMBER() OVER (PARTITION BY date_trunc('day', w) ORDER BY w)", f"LAG(n) OVER ({day} w)"):
        sql = f"SELECT w FROM (SELECT w, {asked.replace('ts', 'w')} AS r FROM {hours}) q WHERE r <= 2"
        assert size(sql) == "26"


def test_a_column_that_may_be_missing_says_nothing_of_how_long_rows_come() -> None:
    """J.x is from 0 to 10 and near I.ts, in pairs; rows of I without a partner have any timestamp, and any value."""
    near = "I.ts <= J.x + 5 AND I.ts >= J.x - 5 AND I.ts >= J.ts AND I.ts <= J.ts + 5"
    above = "WHERE I.a > 0 OR J.b > 0 GROUP BY I.a"
    assert size(f"SELECT I.a, COUNT(DISTINCT I.v) AS n FROM I LEFT JOIN J ON {near} {above}", PADDED) == "unbounded"
    assert size(f"SELECT I.a, COUNT(DISTINCT I.v) AS n FROM I JOIN J ON {near} {above}", PADDED) != "unbounded"


def test_null_is_one_of_the_values_beside_a_time() -> None:
    """Four rows of I at one time, three with a partner whose x is one less, the same or one more, make four groups."""
    on = "I.a = J.b AND J.ts BETWEEN I.ts AND I.ts + 1 AND J.x BETWEEN I.ts - 1 AND I.ts + 1"
    found = judged(f"SELECT I.ts, J.x, COUNT(*) AS n FROM I LEFT JOIN J ON {on} GROUP BY I.ts, J.x", PADDED)
    assert {one.what: one.size.text for one in found.states if one.size is not None}["groups"] == "(c_J + 1)"


def test_rows_of_except_wait_for_those_of_the_other_side() -> None:
    """A row of J may have any old time in x, and takes back what EXCEPT gave when I had it; its own ts is not over."""
    narrow = catalog_from_mapping(
        {
            "streams": {
                name: {
                    "timestamp": "ts",
                    "columns": {"ts": "bigint", "a": "bigint", "x": "bigint"},
                    "domain": {"a": [0, 3]},
                }
                for name in ("I", "J")
            }
        }
    )
    assert size("SELECT I.ts, I.a FROM I EXCEPT SELECT J.x, J.a FROM J", narrow) == "unbounded"
    assert size("SELECT I.ts, I.a FROM I EXCEPT SELECT J.ts, J.a FROM J", narrow) == "0"


def test_rows_of_a_union_are_kept_as_long_as_any_part_has_equal_ones() -> None:
    """A row of Q that comes late, with the time of an old row of I as its n, is no new row of the union."""
    beside = catalog_from_mapping(
        {
            "streams": {"I": {"timestamp": "ts", "columns": {"ts": "bigint", "v": "bigint"}}},
            "relations": {
                "Q": {
                    "columns": {"k": "bigint", "n": "bigint"},
                    "rows": 10,
                    "changes": {"timestamp": "at", "op": "op", "key": ["k"]},
                }
            },
        }
    )
    both = "SELECT ts AS c FROM I UNION ALL SELECT n AS c FROM Q"
    assert size(both.replace(" ALL", ""), beside) == size(f"SELECT DISTINCT c FROM ({both}) q", beside) == "unbounded"
    assert size(f"SELECT c, COUNT(*) AS n FROM ({both}) q GROUP BY c", beside) == "unbounded"


def test_a_day_does_not_tell_windows_apart() -> None:
    """Windows of ten minutes that wait for a day are 144; grouped by their day as well, they are as many."""
    plain = {"streams": {name: {"timestamp": "ts", "columns": {"ts": "timestamp", "a": "bigint"}} for name in "ST"}}
    for day in ("window_end", "DATE_TRUNC('DAY', window_start)"):
        windows = (
            f"SELECT window_start AS s, {day} AS d, COUNT(*) AS n "
            f"FROM TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '10' MINUTES) GROUP BY window_start, {day}"
        )
        sql = f"SELECT w.n, w.d, T.a FROM ({windows}) w JOIN T ON T.ts >= w.s AND T.ts <= w.s + INTERVAL 1 DAY"
        states = judged(sql, catalog_from_mapping(plain)).states
        assert {one.what: one.size.text for one in states if one.size is not None}["left"] == "144"


@pytest.mark.parametrize(("kind", "rows"), [("bigint", "3*c_S"), ("int", "3*c_S"), ("string", "150*c_S")])
def test_a_key_of_another_type_has_several_partners(kind: str, rows: str) -> None:
    """'1' and '01' are two keys, and both equal the number 1: a row of S may have all 50 rows of Q for partners."""
    keyed = catalog_from_mapping(
        {
            "streams": {
                "S": {"timestamp": "ts", "columns": {"ts": "bigint", "a": "bigint"}},
                "T": {"timestamp": "ts", "columns": {"ts": "bigint"}},
            },
            "relations": {
                "Q": {
                    "columns": {"k": kind, "n": "bigint"},
                    "rows": 50,
                    "changes": {"timestamp": "at", "op": "op", "key": ["k"]},
                }
            },
        }
    )
    joined = "SELECT S.ts, Q.n FROM S JOIN Q FOR SYSTEM_TIME AS OF S.ts ON S.a = Q.k"
    sql = f"SELECT q.n FROM ({joined}) q JOIN T ON T.ts >= q.ts AND T.ts <= q.ts + 3"
    assert {one.what: one.size.text for one in judged(sql, keyed).states if one.size is not None}["left"] == rows


def test_rows_of_a_set_operation_wait_for_a_side_that_ends() -> None:
    """While S may still bring any v, all rows of T are remembered that it may equal, however few S brings."""
    free = {name: {"timestamp": "ts", "columns": {"ts": "bigint", "v": "bigint"}} for name in "ST"}
    catalog = catalog_from_mapping({"streams": free})
    for operator in ("EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL"):
        both = f"SELECT S.v FROM S WHERE S.ts < 100 {operator} SELECT T.v FROM T"
        assert size(both, catalog) == "unbounded"
        assert size(f"{both} WHERE T.ts < 50", catalog) == "100*c_S + 50*c_T"


def test_subqueries_without_a_name_are_two() -> None:
    """Both have their own q1, whose times are not equal for that: all rows of each wait for the other one's."""
    free = {
        name: {"timestamp": "ts", "columns": {"ts": "bigint", "a": "bigint"}, "domain": {"a": [0, 3]}} for name in "ST"
    }
    catalog = catalog_from_mapping({"streams": free})
    left, right = "SELECT q1.ts, q1.a FROM S AS q1", "SELECT q1.ts AS t, q1.a AS b FROM T AS q1"
    for names in (("", ""), ("x", "y")):
        pairs = f"({left}) {names[0]} LEFT JOIN ({right}) {names[1]} ON a = b"
        assert size(f"SELECT ts, COUNT(*) AS n FROM {pairs} GROUP BY ts", catalog) == "unbounded"
        groups = [f"({side} GROUP BY q1.ts, q1.a) {name}" for side, name in zip((left, right), names, strict=True)]
        assert size(f"SELECT ts, t FROM {' JOIN '.join(groups)} ON a = b", catalog) == "unbounded"
        near = f"SELECT ts, t FROM {' JOIN '.join(groups)} ON a = b AND t BETWEEN ts AND ts + 2"
        assert size(near, catalog) == "8"
