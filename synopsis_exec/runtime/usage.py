"""What no run can work with, said before Spark starts."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from streambound_runtime.endpoints import check_endpoints, is_uri
from streambound_runtime.errors import usage
from streambound_runtime.reading.inputs import input_files
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec


def checked(job: JobSpec, settings: Settings) -> Settings:
    """The settings, with an output where one is needed.

    Raises JobError for results that cannot be written and input that is not there.
    """
    if settings.multiplicity == "rows" and job.key:
        raise usage("upserts have no multiplicity, as there is one row of each key: --multiplicity count")
    if settings.multiplicity == "rows" and job.plan.retracts:
        raise usage("the query takes results back, which lines without a multiplicity cannot say: --multiplicity count")
    if not re.fullmatch(r"end|available|\d+ (second|minute|hour)s?", settings.trigger):
        raise usage(f"--trigger is end, available or a time such as '10 seconds', not {settings.trigger!r}")
    if settings.files_per_batch is not None and settings.files_per_batch < 1:
        raise usage(f"--files-per-batch is at least 1, not {settings.files_per_batch}")
    if not settings.ends:
        if job.sink is None:
            raise usage(f"a job without end needs a sink: declare [sinks.{job.name}] in the catalog")
        if settings.output or settings.quarantine:
            raise usage("--output and --quarantine are written when the input ends, and it never does")
    elif not settings.output and job.sink is None:
        settings = replace(settings, output="out.jsonl")
    for file in filter(None, (settings.output, settings.quarantine)):
        _check_result(Path(file))
    if settings.checkpoint and not is_uri(settings.checkpoint):
        _check_folder(Path(settings.checkpoint).absolute())
    check_endpoints(job, settings)
    if settings.input:
        for table in job.tables:
            input_files(table.name, Path(settings.input))
    return settings


def _check_folder(checkpoint: Path) -> None:
    """Whether a checkpoint can be there."""
    first = next(path for path in (checkpoint, *checkpoint.parents) if path.exists())
    if not first.is_dir():
        what = "a checkpoint is a directory, in which Spark and the job keep what a restart needs"
        raise usage(f"{what}, and {first} is a file; name another with --checkpoint DIR")
    if not os.access(first, os.W_OK):
        raise usage(f"cannot write the checkpoint: {first} is read-only")


def _check_result(file: Path) -> None:
    """Whether a file can be written. Its directory must be there: a new one would hide a mistyped path."""
    if file.is_dir():
        raise usage(f"{file} is a directory; the result must be a file")
    if not file.parent.is_dir():
        raise usage(f"{file} cannot be written: there is no directory {file.parent}")
    if not os.access(file.parent, os.W_OK):
        raise usage(f"{file} cannot be written: the directory {file.parent} is read-only")
