"""Whether a written job still is what its query, catalog and this version of the tool give: `compile --check`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from streambound.analyzer.errors import InputError, UsageError
from streambound.analyzer.version import __version__
from streambound.synopsis_exec.job_file import JOB, RUNTIME, CompiledJob, files_of_job, job_in, other_runtimes
from streambound.synopsis_exec.period_job import CompiledPeriodJob
from streambound_runtime.spec import JobSpec

MOST_LINES = 40
"""Lines of a difference that are shown."""
_WRITTEN_FOR = re.compile(r"^# It needs streambound_runtime (\d[^\s:]*): ", re.M)
_VERSION = re.compile(r"streambound_runtime-(\d[0-9A-Za-z.+-]*)\.zip")


def stale(folder: Path, job: CompiledJob | CompiledPeriodJob) -> tuple[list[str], list[str]]:
    """Why the files in a directory are not, byte for byte, those of a job, and how its `job.py` differs; else empty.

    Raises InputError for a `job.py` that cannot be read, and UsageError for a job of another version.
    """
    found = {name: _content(folder / name) for name in (JOB, RUNTIME)}
    wanted, older = files_of_job(job.text), other_runtimes(folder)
    if found == wanted and not older:
        return [], []
    text = _text(folder / JOB, found[JOB])
    _check_version(folder, text, [told[1] for file in older if (told := _VERSION.fullmatch(file.name))])
    why = [*_causes_of(text, job), *_of_runtime(found[RUNTIME], wanted[RUNTIME])]
    return why, difference(text, job.text, str(folder / JOB))


def _content(file: Path) -> bytes | None:
    """The content of a file; None if it does not exist. Raises InputError if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        if isinstance(error, FileNotFoundError) and file.name == RUNTIME:
            return None
        raise InputError(f"cannot read the job: {error.strerror}", file=str(file)) from error


def _text(file: Path, content: bytes | None) -> str:
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("the job is not UTF-8 text", file=str(file)) from error


def _check_version(folder: Path, text: str, beside: list[str]) -> None:
    """Raise UsageError for a job that another version wrote, and for a runtime of one beside it."""
    told = _WRITTEN_FOR.search(text)
    other = next((version for version in (told[1] if told else __version__, *beside) if version != __version__), None)
    if other is not None:
        what = f"the job is for streambound_runtime {other}, and this is streambound {__version__}"
        remedy = f"compile it again, or check it with streambound {other}"
        raise UsageError(what, file=str(folder / JOB), remedy=remedy)


def _causes_of(text: str, job: CompiledJob | CompiledPeriodJob) -> list[str]:
    if text == job.text:
        return []
    if isinstance(job, CompiledPeriodJob):
        return ["the query or the catalog changed, or the file was changed by hand"]
    return causes(text, job.job)


def _of_runtime(found: bytes | None, wanted: bytes) -> Iterator[str]:
    if found is None:
        yield f"its runtime {RUNTIME} is not beside it"
    elif found != wanted:
        yield f"{RUNTIME} is not the runtime of this streambound: it was changed, or another build wrote it"


def causes(text: str, new: JobSpec) -> list[str]:
    """Why a file is not that of a job, although of this version.

    >>> from streambound_runtime.spec import Saved
    >>> from streambound_runtime.operators.plan import Synopsis
    >>> causes("print()", JobSpec("q", "1", (), (), (), "bigint", Synopsis((), (), 0), Saved("", "", "")))
    ['it is no job that streambound wrote']
    """
    old = job_in(text)
    if old is None:
        return ["it is no job that streambound wrote"]
    found = []
    if old.saved.query != new.saved.query:
        found.append("the query changed")
    if _declared(old) != _declared(new):
        found.append("the catalog changed")
    return found or ["it was changed by hand, or another build of streambound wrote it"]


def _declared(job: JobSpec) -> tuple[object, ...]:
    """The catalog's part of a job: streams and relations without what the query needs of them."""
    streams = tuple(replace(stream, needs=(), useful=(), derived=()) for stream in job.streams)
    relations = tuple(replace(relation, needs=(), derived=()) for relation in job.relations)
    return job.saved.catalog, job.plan.most, streams, relations, job.sink, job.quarantine, job.quarantine_limit


def difference(old: str, new: str, file: str) -> list[str]:
    """The differing lines of two jobs as a unified diff, from the file's to what is compiled now, the first of them."""
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), file, "compiled now", n=1, lineterm=""))
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"... and {more} more lines"]
