"""The demo's scenarios: which queries, over which data, in which order, and what each shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from streambound.analyzer.errors import InputError


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
