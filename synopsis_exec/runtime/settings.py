"""How a job is run: its command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from streambound_runtime.spec import Job


@dataclass(frozen=True, slots=True)
class Settings:
    """``input`` is a directory that is read instead of the catalog's sources, whose relative paths start at ``base``.

    ``trigger`` is "end", "available" or how often a micro-batch is made, as in "10 seconds"; ``limit`` the most
    entries, by default the plan's bound; ``multiplicity`` "count" or "rows"; ``report`` "text" or "json".
    """

    checkpoint: str = ""
    input: str = ""
    base: str = ""
    output: str = ""
    quarantine: str = ""
    trigger: str = "end"
    limit: int | None = None
    multiplicity: str = "count"
    files_per_batch: int | None = None
    report: str = "text"

    @property
    def ends(self) -> bool:
        """Whether the job reads what is there, and then ends."""
        return self.trigger in ("end", "available")


def settings_of(job: Job, argv: Sequence[str] | None = None) -> Settings:
    """The command line; exits with 2 where it is none."""
    parser = argparse.ArgumentParser(description=f"Run the query {job.name} as a Spark Structured Streaming job.")
    parser.add_argument(
        "--input", metavar="DIR", default="", help="read NAME.jsonl or NAME/*.jsonl here, not the catalog's sources"
    )
    parser.add_argument("--base", metavar="DIR", default="", help="where relative paths of the catalog's sources start")
    parser.add_argument(
        "--output",
        metavar="FILE",
        default="",
        help="all results, in order of _ts (default: out.jsonl where the catalog has no sink)",
    )
    parser.add_argument(
        "--quarantine", metavar="FILE", default="", help="rows that are malformed, late or outside their contract"
    )
    parser.add_argument(
        "--checkpoint",
        metavar="DIR",
        default="",
        help="state for a restart, a directory or a URI; without it there is none",
    )
    parser.add_argument(
        "--trigger",
        metavar="WHEN",
        default="end",
        help="end: read what is there, then close all timestamps; available: leave the last ones open for the next "
        "run; or run on, with a micro-batch every so often, as in '10 seconds'",
    )
    parser.add_argument(
        "--limit", metavar="M", type=int, help="stop above this many synopsis entries (default: the bound M)"
    )
    parser.add_argument(
        "--multiplicity",
        choices=("count", "rows"),
        default="count",
        help="write a result once with _mult, how many duplicates there are, or as so many rows",
    )
    parser.add_argument(
        "--files-per-batch",
        metavar="N",
        type=int,
        help="files of a stream per micro-batch (default: about a million rows, by their bytes)",
    )
    parser.add_argument("--report", choices=("text", "json"), default="text", help="how each batch is reported")
    return Settings(**vars(parser.parse_args(argv)))
