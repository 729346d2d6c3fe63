"""Part of every job: what no run can work with, said before Spark starts."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from synopsis_exec.job.given import RELATIONS, STREAMS
from synopsis_exec.job.reading import input_files, source_path
from synopsis_exec.job.source import JobError, Source

FILES = ("csv", "json", "orc", "parquet", "text")
"""Formats that are nothing without a path: Spark reads no rows from nowhere."""


def check_arguments(options: argparse.Namespace) -> None:
    """Raise JobError for results that cannot be written and input that is not there."""
    for file in (options.output, options.quarantine):
        if file:
            check_result(Path(file))
    for source in (*STREAMS, *RELATIONS):
        if options.input:
            input_files(source, Path(options.input))
        else:
            check_source(source, options)


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
    path = source_path(source, options)
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
