"""What Spark, one of its Python workers or the system says of a failure, in a line."""

from __future__ import annotations

import re
from errno import EDQUOT, ENOSPC
from os import strerror

from streambound_runtime.errors import JobError, unwritable

FULL = "no space is left on the device"
NO_SPACE = re.compile("|".join(map(re.escape, (strerror(ENOSPC), strerror(EDQUOT), "There is not enough space"))))
"""What the system and Java call a disk that is full, or a user's part of it."""
_TRACEBACK = "Traceback (most recent call last):\n"
_JAVA = re.compile(r"\n(?:[ \t]*at [\w.$]+|Driver stacktrace:|Caused by: |JVM stacktrace:).*", re.S)
_OF_PYTHON = re.compile(r"(?:[\w.]+\.)?(\w+)(?:: (.*))?", re.S)
"""The class of an exception, and what it says."""
_NUMBERED = re.compile(r"\[Errno \d+\] ")
_CRASHED = "Python worker exited unexpectedly"


def in_one_line(error: BaseException) -> str:
    """Spark's message, without its code, its number and the stacks of Java and Python.

    >>> in_one_line(RuntimeError("[A_B] no such thing SQLSTATE: 42K03"))
    'no such thing'
    """
    text = str(error).strip() or type(error).__name__
    if NO_SPACE.search(text):
        return FULL
    if _TRACEBACK in text:
        return f"a Python worker failed: {_of_worker(text)}"
    if _CRASHED in text:
        return "a Python worker was ended from outside, as when memory runs out"
    text = re.sub(r"\[STREAM_FAILED\] Query \[[^\[\]]*\] terminated with exception: ", "", text)
    coded = re.search(r"\[[A-Z][A-Z0-9_.]+\] (.*)", text)
    causes = re.findall(r"^(?:Caused by)?: [\w.$]+: (.+)$", text, re.M)
    return re.sub(r" SQLSTATE: .*", "", coded.group(1) if coded else [text.split("\n")[0], *causes][-1])


def stopped(why: str) -> JobError:
    """The error for what stopped Spark, of which `in_one_line` says why."""
    if why.startswith(FULL):
        return unwritable(f"Spark stopped the job: {why} of the checkpoint, of the results or of TMPDIR")
    return JobError("spark", f"Spark stopped the job: {why}", 3)


def of_full_disk(error: OSError) -> JobError:
    """The error for a file that cannot be written since there is no space; raises any other one."""
    if error.errno not in (ENOSPC, EDQUOT):
        raise error
    what = f" {error.filename}" if error.filename else ""
    return unwritable(f"cannot write{what}: {FULL} of the checkpoint, of the results or of TMPDIR")


def _of_worker(text: str) -> str:
    """The exception that a worker ended with: the last of its traceback."""
    lines = _JAVA.sub("", text.rpartition(_TRACEBACK)[2]).split("\n")
    start = next((number for number, line in enumerate(lines) if line and not line[0].isspace()), 0)
    told = " ".join(line.strip() for line in lines[start:]).strip()
    found = _OF_PYTHON.fullmatch(told)
    return told if found is None else _said(found[1], found[2] or "")


def failure_of(error: Exception) -> str:
    """An exception in a line: what the system says in words, of others their class, too."""
    return _said(type(error).__name__, str(error))


def _said(name: str, text: str) -> str:
    said = _NUMBERED.sub("", text)
    if not said or (said == text and name != JobError.__name__):
        return f"{name}: {said}" if said else name
    return said
