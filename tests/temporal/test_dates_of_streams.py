"""SEQ statements over streams whose periods are of dates: as with the numbers of the days."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from streambound.analyzer.errors import CatalogError, UsageError
from streambound.analyzer.values import parse_date
from streambound.api import catalog_of
from streambound.criteria.check import Checked
from streambound.criteria.vocabulary import Verdict
from streambound.jobs import planned_circuit
from streambound.synopsis_exec.feeds import feed
from support.choices import Choices
from support.circuits import certificate_of, checked_circuit, proof_of
from support.period_streams import FIRST_DAY, drawn, run_periods, with_dates
from support.profiles import MORE
from support.snapshots import COLUMNS, generated

FIRST = parse_date(str(FIRST_DAY))
TABLE: dict[str, Any] = {
    "timestamp": "vb",
    "columns": {"name": "string", "n": "bigint", "vb": "date", "ve": "date"},
    "period": ["vb", "ve"],
}
RANDOM = {**TABLE, "columns": {**TABLE["columns"], "id": "bigint", "p": "double"}, "key": "id", "probability": "p"}


def checked(sql: str, table: dict[str, Any] = TABLE, **more: Any) -> Checked:
    return checked_circuit(sql, {"streams": {name: {**table, **more} for name in ("S", "T")}})


def both(seed: int) -> tuple[Checked, Checked]:
    """A random statement over numbers, and over dates."""
    sql, catalog = drawn(seed)
    return checked_circuit(sql, catalog), checked_circuit(sql, with_dates(catalog))


@pytest.mark.parametrize("seed", range(5 * MORE))
def test_the_verdict_and_what_is_remembered_are_those_of_numbers(seed: int) -> None:
    numbers, dates = both(seed)
    assert dates.verdict is numbers.verdict, drawn(seed)
    assert [one.message for one in dates.diagnostics] == [one.message for one in numbers.diagnostics]
    if dates.circuit is None or dates.verdict is not Verdict.BOUNDED:
        return
    assert dates.circuit_bound == numbers.circuit_bound
    assert proof_of(dates, certificate_of(dates)).faults == ()


@pytest.mark.parametrize("seed", range(60, 60 + 6 * MORE))
def test_the_results_are_those_of_numbers(seed: int) -> None:
    numbers, dates = both(seed)
    if dates.circuit is None or dates.verdict is not Verdict.BOUNDED:
        pytest.skip("nothing to run")
    given = generated(Choices.seeded(seed))
    rows = {
        name: [dict(zip((*COLUMNS[name], "vb", "ve"), row, strict=True)) for row in mine]
        for name, mine in given.rows.items()
    }
    later = {name: [{**row, "vb": FIRST + row["vb"], "ve": FIRST + row["ve"]} for row in r] for name, r in rows.items()}
    every = 1 + seed % 4
    found, wanted = run_periods(dates, later, every), run_periods(numbers, rows, every)
    assert found.entries == wanted.entries
    assert len(found.rejected) == len(wanted.rejected)
    assert found.all == Counter({(*v, FIRST + b, FIRST + e, n): k for (*v, b, e, n), k in wanted.all.items()})


def test_the_sample_says_something() -> None:
    told = Counter(both(seed)[1].verdict for seed in range(40))
    assert told[Verdict.BOUNDED] > 15 and told[Verdict.UNBOUNDED] > 1


def test_days_before_1970_are_days() -> None:
    rows = [{"name": "x", "n": 1, "vb": begin, "ve": begin + 5} for begin in (-719_162, -3, 0)]
    found = run_periods(checked("SEQ VT (SELECT name FROM S)", max_valid=3), {"S": rows}, every=100_000)
    assert found.all == Counter(
        {("x", -719_162, -719_157, 1): 1, ("x", -3, 0, 1): 1, ("x", 0, 2, 2): 1, ("x", 2, 5, 1): 1}
    )


@pytest.mark.parametrize(
    ("more", "entries"),
    [
        ({"max_duration": "2 weeks", "max_per_timestamp": 3}, 3 * 14),
        ({"max_duration": 14, "max_per_timestamp": 3}, 3 * 14),
        ({"max_duration": "48 hours", "max_rate": {"rows": 5, "per": "1 day"}}, 5 * 2),
        ({"max_duration": 2, "max_rate": {"rows": 5, "per": 1}}, 5 * 2),
    ],
)
def test_lengths_are_days(more: dict[str, Any], entries: int) -> None:
    found = checked("SEQ VT (SELECT name FROM S)", lateness="1 day", **more)
    assert found.circuit_bound is not None and found.circuit_bound.entries.value == 2 * entries, (
        "half of it is open results"
    )
    assert found.catalog is not None and found.catalog.tables[0].arrival.lateness == 1


@pytest.mark.parametrize(
    "more",
    [
        {"max_duration": "36 hours"},
        {"lateness": "1 hour"},
        {"lateness": 1.5},
        {"max_rate": {"rows": 1, "per": "1 second"}},
        {"idle_after": "half a day"},
    ],
)
def test_parts_of_days_are_no_lengths(more: dict[str, Any]) -> None:
    with pytest.raises(CatalogError) as caught:
        catalog_of({"streams": {"S": {**TABLE, **more}}})
    assert caught.value.remedy == 'write a number of days, or whole days as in "2 days": the times are dates'


def test_only_rows_with_periods_have_dates_for_times() -> None:
    with pytest.raises(CatalogError, match="must have an integer or timestamp type") as caught:
        catalog_of({"streams": {"S": {key: value for key, value in TABLE.items() if key != "period"}}})
    assert caught.value.remedy == "declare it as timestamp: only of rows with a period the times may be dates"
    number = {"columns": {"n": "bigint"}, "changes": {"timestamp": "at", "key": ["n"]}}
    with pytest.raises(CatalogError, match="'at' has no type"):
        catalog_of({"streams": {"S": TABLE}, "relations": {"R": number}})


@pytest.mark.parametrize(
    ("sql", "at"),
    [
        ("SELECT name FROM S", 18),
        ("SELECT COUNT(*) AS c FROM S GROUP BY name", 27),
        ("WITH w AS (SELECT vb FROM S WHERE n = 1) SELECT DISTINCT vb FROM w", 27),
        ("SELECT U.k FROM U, S WHERE U.ts BETWEEN S.vb AND S.vb + INTERVAL '2' DAY", 20),
        ("SELECT U.k FROM U WHERE U.k IN (SELECT n FROM S)", 47),
    ],
)
def test_outside_of_seq_blocks_they_are_refused_where_they_are_read(sql: str, at: int) -> None:
    other = {"timestamp": "ts", "columns": {"k": "bigint", "ts": "timestamp"}}
    found = checked_circuit(sql, {"streams": {"S": {**TABLE, "max_valid": 3}, "U": other}})
    assert found.verdict is Verdict.UNSUPPORTED
    (told,) = found.diagnostics
    assert told.message == "S, whose times are dates, is outside the query language but for SEQ blocks"
    assert (told.span.column, told.help) == (at, "declare vb as a timestamp")


def test_one_block_has_one_type_of_time() -> None:
    number = {**TABLE, "columns": {**TABLE["columns"], "vb": "bigint", "ve": "bigint"}}
    sql = "SEQ VT (SELECT S.name FROM S JOIN T ON S.n = T.n)"
    found = checked_circuit(sql, {"streams": {"S": TABLE, "T": number}})
    assert found.verdict is Verdict.ERROR
    assert found.diagnostics[0].message == "T has periods of bigint, and S of date"


def test_rows_that_must_all_be_remembered_end_with_the_calendar() -> None:
    witness = checked("SEQ VT (SELECT name FROM S)").period_witness
    assert witness is not None and witness.rows([False] * 5000) is not None
    rare = checked("SEQ VT (SELECT name FROM S)", max_rate={"rows": 1, "per": "400 days"}).period_witness
    assert rare is not None and rare.rows([False] * 500) is not None
    assert rare.rows([False] * 5000) is None, "they would end after 9999-12-31"


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize(
    ("sql", "table", "more"),
    [
        ("SEQ VT (SELECT name, COUNT(*) AS c FROM S GROUP BY name)", TABLE, {"max_duration": "5000 weeks"}),
        ("SEQ TP (SELECT * FROM S)", RANDOM, {"max_valid": 7}),
    ],
)
def test_endless_rows_are_as_many_as_are_asked_for(sql: str, table: Any, more: Any, seed: int | None) -> None:
    found = checked(sql, table, max_per_timestamp=2, **more)
    assert found.catalog is not None
    plan = planned_circuit(found, found.catalog)
    assert plan is not None
    last, tuples = parse_date("9999-12-31"), 20_000
    rows = [row for (_, row), _ in zip(feed(plan, seed, tuples).rows, range(tuples), strict=False)]
    assert len(rows) == tuples and max(row["ve"] for row in rows) <= last
    with pytest.raises(UsageError, match="before 9,000,000 tuples"):
        next(feed(plan, seed, 9_000_000).rows)
