"""Part of every job: what no run can work with, said before Spark starts."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from streambound.synopsis_exec.job.endpoints import check_endpoints, located
from streambound.synopsis_exec.job.files import is_uri
from streambound.synopsis_exec.job.given import CALL, QUERY, RELATIONS, SINK, STREAMS
from streambound.synopsis_exec.job.reading import FILES, input_files
from streambound.synopsis_exec.job.source import JobError, Source


def check_arguments(options: argparse.Namespace) -> None:
    """Raise JobError for results that cannot be written and input that is not there."""
    if not re.fullmatch(r"end|available|\d+ (second|minute|hour)s?", options.trigger):
        message = f"--trigger is end, available or a time such as '10 seconds', not {options.trigger!r}"
        raise JobError("usage", message, 2)
    sink = SINK is not None or CALL
    if options.trigger not in ("end", "available"):
        if not sink:
            raise JobError("usage", f"a job without end needs a sink: declare [sinks.{QUERY}] in the catalog", 2)
        if options.output or options.quarantine:
            raise JobError("usage", "--output and --quarantine are written when the input ends, and it never does", 2)
    elif not options.output and not sink:
        options.output = "out.jsonl"
    for file in (options.output, options.quarantine):
        if file:
            check_result(Path(file))
    if options.checkpoint and not is_uri(options.checkpoint):
        check_folder(Path(options.checkpoint))
    check_endpoints(options)
    for source in (*STREAMS, *RELATIONS):
        if options.input:
            input_files(source, Path(options.input))
        else:
            check_source(source, options)


def check_folder(checkpoint: Path) -> None:
    """Whether a checkpoint can be there."""
    first = next(path for path in (checkpoint.absolute(), *checkpoint.absolute().parents) if path.exists())
    if not first.is_dir():
        what = "a checkpoint is a directory, in which Spark and the job keep what a restart needs"
        raise JobError("usage", f"{what}, and {first} is a file; name another with --checkpoint DIR", 2)
    if not os.access(first, os.W_OK):
        raise JobError("usage", f"cannot write the checkpoint: {first} is read-only", 2)


def check_result(file: Path) -> None:
    """Whether a file can be written. Its directory must be there: a new one would hide a mistyped path."""
    if file.is_dir():
        raise JobError("usage", f"{file} is a directory; the result must be a file", 2)
    if not file.parent.is_dir():
        raise JobError("usage", f"{file} cannot be written: there is no directory {file.parent}", 2)
    if not os.access(file.parent, os.W_OK):
        raise JobError("usage", f"{file} cannot be written: the directory {file.parent} is read-only", 2)


def check_source(source: Source, options: argparse.Namespace) -> None:
    """Whether the catalog says where a source is, and something is there, where that is seen without Spark."""
    if source.format is None:
        message = f"{source.name} has no source in the catalog; run the job with --input DIR"
        raise JobError("input", message, 3)
    path = located(source.path, options)
    if not path and source.format in FILES and "path" not in source.options:
        raise JobError("input", f"{source.name} cannot be read: its source in the catalog has no path", 3)
    if path and not there(path):
        raise JobError("input", f"{source.name} cannot be read: there is no {path}, its source in the catalog", 3)


def there(path: str) -> bool:
    """Whether a file, a directory or something that fits a pattern is there; taken for granted on other machines."""
    if set(path) & set(":{\\"):
        return True
    found = Path(path)
    return found.exists() or any(Path(found.anchor).glob(str(found.relative_to(found.anchor))))
