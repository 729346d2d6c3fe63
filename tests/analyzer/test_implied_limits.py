"""Conditions of rounded times: with their limits they are true of the same rows, and bound statements."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from random import Random

import pytest
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.row_expressions import known_expression
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.constants import TIMESTAMP, Folded
from streambound.analyzer.expressions.expression import value_of
from streambound.analyzer.expressions.times import _units_later
from streambound.analyzer.lower import lower
from streambound.analyzer.rounded_times import RoundedTime, _later
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from support.circuits import checked_circuit, proved

COLUMNS = {"a": "bigint", "ts": "timestamp"}
MAPPING = {
    "streams": {
        name: {"timestamp": "ts", "columns": COLUMNS, "max_rate": {"rows": 10, "per": "1 second"}}
        for name in ("S", "T")
    }
}
CATALOG = catalog_from_mapping(MAPPING)
SECOND, DAY = 1_000_000, 86_400_000_000
CONDITIONS = {
    "unix_timestamp(T.ts) - unix_timestamp(S.ts) <= 3": SECOND,
    "unix_timestamp(T.ts) - unix_timestamp(S.ts) BETWEEN -2 AND 3": SECOND,
    "abs(unix_timestamp(T.ts) - unix_timestamp(S.ts)) < 3": SECOND,
    "3 > abs(unix_seconds(T.ts) - unix_seconds(S.ts))": SECOND,
    "unix_millis(T.ts) - unix_millis(S.ts) < 2500": SECOND,
    "(unix_timestamp(T.ts) - unix_timestamp(S.ts)) / 2 <= 2": SECOND,
    "unix_timestamp(T.ts) <= unix_timestamp(S.ts) + 3": SECOND,
    "timestampdiff(SECOND, S.ts, T.ts) BETWEEN 0 AND 3": SECOND,
    "abs(timestampdiff(MINUTE, S.ts, T.ts)) <= 2": 60 * SECOND,
    "T.ts - S.ts <= INTERVAL 3 SECONDS": SECOND,
    "unix_timestamp(S.ts) DIV 3 = unix_timestamp(T.ts) DIV 3": SECOND,
    "floor(unix_timestamp(S.ts) / 3) = floor(unix_timestamp(T.ts) / 3)": SECOND,
    "unix_timestamp(S.ts) - unix_timestamp(S.ts) % 3 = unix_timestamp(T.ts) - unix_timestamp(T.ts) % 3": SECOND,
    "window(S.ts, '3 seconds') = window(T.ts, '3 seconds')": SECOND,
    "date(S.ts) = date(T.ts)": DAY // 3,
    "to_date(S.ts) < to_date(T.ts)": DAY // 3,
    "date_add(to_date(S.ts), 1) >= CAST(T.ts AS DATE)": DAY // 3,
    "datediff(T.ts, S.ts) BETWEEN 0 AND 1": DAY // 3,
    "date_trunc('HOUR', S.ts) = date_trunc('HOUR', T.ts)": 1000 * SECOND,
    "date_trunc('month', S.ts) = date_trunc('month', T.ts)": 11 * DAY,
    "T.ts <= S.ts + INTERVAL 1 MONTH": 11 * DAY,
    "T.ts >= S.ts - INTERVAL '2' MONTHS": 22 * DAY,
    "T.ts < timestampadd(YEAR, 1, S.ts)": 111 * DAY,
    "date(S.ts) = date(T.ts) OR unix_timestamp(T.ts) - unix_timestamp(S.ts) < 60": DAY // 3,
}
"""Conditions, and a unit of time by which times lie around their limits."""


def condition(text: str) -> tuple[exp.Expr, exp.Expr, tuple[nodes.Join, ...]]:
    """An ON as it is written, and as it is lowered, with its join."""
    (statement,) = split_statements(SourceText("q.sql", f"SELECT S.a FROM S JOIN T ON {text}"))
    assert statement.tree is not None
    tree = lower(statement, CATALOG).tree
    assert isinstance(tree, nodes.Project)
    assert isinstance(tree.input, nodes.Join)
    assert tree.input.condition is not None
    return statement.tree.args["joins"][0].args["on"], tree.input.condition.syntax, (tree.input,)  # type: ignore[return-value]


@pytest.mark.parametrize("text", CONDITIONS)
def test_the_same_rows_satisfy_a_condition_with_its_limits(text: str) -> None:
    written, made, (join,) = condition(text)
    columns = schema(join, CATALOG)
    places = {(c.alias, c.name): place for place, c in enumerate(columns)}
    random, unit, true = Random(text), CONDITIONS[text], 0
    given = known_expression(made, columns)
    assert given is not None
    old = None if "window" in text else known_expression(written, columns)
    for _ in range(400):
        middle = random.choice([-unit, 0, 1_600_000_000 * SECOND, 951_782_400 * SECOND])  # 1970, and a leap day
        times = [middle + random.randint(-4, 4) * unit + random.choice([-1, 0, 1, 499_999]) for _ in range(2)]
        row = dict.fromkeys(map(str, range(len(columns))), None)
        row |= {str(places["S", "ts"]): Fraction(times[0]), str(places["T", "ts"]): Fraction(times[1])}
        holds = value_of(given, row).value
        wanted = times[0] // (3 * SECOND) == times[1] // (3 * SECOND) if old is None else value_of(old, row).value == 1
        assert (holds == 1) is wanted, times
        true += holds == 1
    assert 20 < true < 380


def test_so_many_months_later_is_so_many_days() -> None:
    first = datetime(2019, 1, 1, tzinfo=UTC)
    for months in (-25, -12, -3, -2, -1, 1, 2, 3, 6, 12, 13, 24):
        found = _later("month", RoundedTime(low=months, high=months), RoundedTime(("t",), unit=1))
        assert found is not None
        for day in range(4 * 365 + 1):
            moment = Fraction(int((first + timedelta(day)).timestamp()) * SECOND)
            moved = _units_later("month", months, Folded(moment, TIMESTAMP))
            assert isinstance(moved, Fraction)
            assert found.low <= moved - moment <= found.high


BOUNDED = {
    "SELECT S.a, T.a AS y FROM S LEFT JOIN T ON S.a = T.a AND "
    "abs(unix_timestamp(T.ts) - unix_timestamp(S.ts)) <= 60": 1240,
    "SELECT S.a, T.a AS y FROM S FULL JOIN T ON S.a = T.a AND "
    "date_trunc('HOUR', S.ts) = date_trunc('HOUR', T.ts)": 72000,
    "SELECT S.a FROM S LEFT ANTI JOIN T ON S.a = T.a AND timestampdiff(SECOND, S.ts, T.ts) BETWEEN 0 AND 60": 620,
    "SELECT S.a FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND "
    "abs(CAST(T.ts AS BIGINT) - CAST(S.ts AS BIGINT)) < 60)": 1200,
    "SELECT a FROM (SELECT a, ts, LAG(ts) OVER (PARTITION BY a ORDER BY ts) AS p FROM S) q "
    "WHERE unix_timestamp(ts) - unix_timestamp(p) < 60": 610,
    "SELECT S.a, T.a AS y FROM S LEFT JOIN T ON S.a = T.a AND "
    "window(S.ts, '10 minutes') = window(T.ts, '10 minutes')": 12000,
    "SELECT S.a, T.a AS y FROM S LEFT JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MONTH": 26784000,
}
"""Statements beyond joins alone, with M."""


@pytest.mark.parametrize("sql", BOUNDED)
def test_limits_bound_what_waits_and_the_certificate_is_accepted(sql: str) -> None:
    assert proved(sql, MAPPING)[1] == BOUNDED[sql]


@pytest.mark.parametrize(
    "text", [text for text in CONDITIONS if "<=" not in text.split("BETWEEN")[0] and "OR" not in text]
)
def test_joins_alone_need_no_more_than_their_window(text: str) -> None:
    more = " AND T.ts BETWEEN S.ts - INTERVAL 9 DAYS AND S.ts" if " < " in text or " >= " in text else ""
    checked = checked_circuit(f"SELECT S.a, T.a AS y FROM S JOIN T ON S.a = T.a AND {text}{more}", MAPPING)
    assert str(checked.verdict) == "bounded"


@pytest.mark.parametrize(
    "text",
    [
        "NOT date(S.ts) = date(T.ts)", "date(S.ts) <> date(T.ts)", "hour(S.ts) = hour(T.ts)",
        "date_format(S.ts, 'HH') = date_format(T.ts, 'HH')", "pmod(unix_micros(S.ts), 5) = pmod(unix_micros(T.ts), 5)",
        "abs(S.a - T.a) > 3", "S.a DIV 3 = T.a DIV 3",
    ],
)  # fmt: skip
def test_other_conditions_say_nothing_of_times(text: str) -> None:
    written, made, _ = condition(text)
    assert made.sql("spark") == written.sql("spark")
