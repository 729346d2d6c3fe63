"""Whether a written job still is what its query, catalog and this version of the tool give: `compile --check`."""

from __future__ import annotations

import difflib
import re
from dataclasses import replace

from streambound.synopsis_exec.job_file import job_in
from streambound_runtime.spec import JobSpec
from streambound_runtime.text import printed

MOST_LINES = 40
"""Lines of a difference that are shown."""
_RUNTIME = re.compile(r"streambound_runtime-(\d[0-9A-Za-z.+-]*)\.zip")


def causes(text: str, new: JobSpec) -> list[str]:
    """Why a file's job is not the one that is compiled now; empty where it is, whatever else the file says.

    >>> from streambound_runtime.spec import Saved
    >>> from streambound_runtime.operators.plan import Synopsis
    >>> causes("print()", JobSpec("q", "1", (), (), (), "bigint", Synopsis((), (), 0), Saved("", "", "")))
    ['it is no job that streambound wrote']
    """
    old = job_in(text)
    if old is None:
        version = _RUNTIME.search(text)
        written = version is not None and version[1] != new.runtime
        return [_by(version[1], new)] if version and written else ["it is no job that streambound wrote"]
    if old == new:
        return []
    found = []
    if old.saved.query != new.saved.query:
        found.append("the query changed")
    if _declared(old) != _declared(new):
        found.append("the catalog changed")
    if old.runtime != new.runtime:
        found.append(_by(old.runtime, new))
    return found or ["it was changed by hand, or another build of streambound wrote it"]


def _by(version: str, new: JobSpec) -> str:
    return f"streambound {version} wrote it, this is {new.runtime}"


def _declared(job: JobSpec) -> tuple[object, ...]:
    """What the catalog says: of streams and relations all but what a query needs of them."""
    streams = tuple(replace(stream, needs=(), useful=(), derived=()) for stream in job.streams)
    relations = tuple(replace(relation, needs=(), derived=()) for relation in job.relations)
    return job.saved.catalog, job.plan.most, streams, relations, job.sink, job.quarantine, job.quarantine_limit


def difference(text: str, new: JobSpec, file: str) -> list[str]:
    """The differing lines of the jobs as a unified diff, from the file's to what is compiled now, the first of them."""
    old = job_in(text)
    before, now = "" if old is None else printed(old), printed(new)
    lines = list(difflib.unified_diff(before.splitlines(), now.splitlines(), file, "compiled now", n=1, lineterm=""))
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"... and {more} more lines"]
