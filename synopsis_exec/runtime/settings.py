"""How a job is run: its command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from streambound_runtime.spec import JobSpec


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


_TEXTS = (
    ("input", "DIR", "read NAME.jsonl or NAME/*.jsonl here, not the catalog's sources"),
    ("base", "DIR", "where relative paths of the catalog's sources start"),
    ("output", "FILE", "all results, in order of _ts (default: out.jsonl where the catalog has no sink)"),
    ("quarantine", "FILE", "rows that are malformed, late or outside their contract"),
    ("checkpoint", "DIR", "state for a restart, a directory or a URI; without it there is none"),
    ("trigger", "WHEN", "end: read what is there, then close all timestamps; available: leave the last ones open for "
     "the next run; or run on, with a micro-batch at each interval, such as '10 seconds'"),
)  # fmt: skip
_NUMBERS = (
    ("limit", "M", "stop above this many entries (default: the bound M)"),
    ("files-per-batch", "N", "files of a stream per micro-batch (default: about a million rows, by their bytes)"),
)
_CHOICES = (
    ("multiplicity", ("count", "rows"), "write a result once with _mult, how many duplicates there are, or as so many "
     "rows"),
    ("report", ("text", "json"), "how each batch is reported"),
)  # fmt: skip


def settings_of(job: JobSpec, argv: Sequence[str] | None = None) -> Settings:
    """The command line; exits with 2 where it is none."""
    parser = argparse.ArgumentParser(description=f"Run the query {job.name} as a Spark Structured Streaming job.")
    for name, metavar, words in _TEXTS:
        parser.add_argument(f"--{name}", metavar=metavar, help=words)
    for name, metavar, words in _NUMBERS:
        parser.add_argument(f"--{name}", metavar=metavar, type=int, help=words)
    for name, choices, words in _CHOICES:
        parser.add_argument(f"--{name}", choices=choices, help=words)
    given = vars(parser.parse_args(argv))
    return Settings(**{name: value for name, value in given.items() if value is not None})
