"""The standard streams of every command: what goes wrong there ends each of them in the same way.

Whoever reads may stop (`| head -1`), a disk may be full, there may be no output at all (`>&-`): what a command wanted
to say and could not is never exit status 0. Nobody needs to read messages on standard error: the status says enough.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

NOBODY_READS = 141
"""The status of a command whose reader went away: what shells give a program that SIGPIPE ended."""
_CANNOT_WRITE = 3
_STANDARD = 3
"""How many file descriptors have a meaning of their own."""


class OutputLost(BaseException):
    """Standard output takes no more: the exit status, and what to say, or nothing where nobody reads.

    It ends a command as KeyboardInterrupt does: nothing on the way handles it.
    """

    def __init__(self, status: int, message: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.remedy = status, message, remedy


class _Output(io.FileIO):
    """Standard output: the first failure is raised as OutputLost, what is written after it goes nowhere."""

    lost = False

    def write(self, data: Any, /) -> int:
        if self.lost:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except BrokenPipeError:
            self.lost = True
            raise OutputLost(NOBODY_READS) from None
        except OSError as error:
            self.lost = True
            raise OutputLost(_CANNOT_WRITE, f"cannot write the output: {error.strerror}") from None


class _Closed(io.RawIOBase):
    """The output of a process that was started without one."""

    lost = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        if not self.lost and memoryview(data).nbytes:
            self.lost = True
            raise OutputLost(_CANNOT_WRITE, "standard output is closed", "give it a file, as in > report.txt")
        return memoryview(data).nbytes


class _Messages(io.FileIO):
    """Standard error: what cannot be written is not."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


class _NoInput(io.RawIOBase):
    """The input of a process that was started without one."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        from streambound.analyzer.errors import InputError

        raise InputError("there is no standard input")


def watch_streams() -> None:
    """Put these in place of the process's own, but not of those that a program around this one has put there."""
    if None in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        _occupy()
    if sys.stdin is sys.__stdin__ is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_NoInput()), "utf-8")
    if sys.stdout is sys.__stdout__:
        sys.stdout = _text(_Closed() if sys.stdout is None else _Output(sys.stdout.fileno(), "w", False), sys.stdout)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text(_Messages(2 if sys.stderr is None else sys.stderr.fileno(), "w", False), sys.stderr)


@contextmanager
def reporting(status: int) -> Iterator[None]:
    """While a report is printed that fails by itself: a reader who has seen enough does not change that status."""
    try:
        yield
    except OutputLost as lost:
        raise (OutputLost(status) if status and not lost.message else lost) from None


def _text(raw: io.RawIOBase, like: TextIO | None) -> io.TextIOWrapper:
    """A text stream on a raw one, with the encoding of the stream that it replaces."""
    encoding, errors = ("utf-8", "backslashreplace") if like is None else (like.encoding, like.errors)
    by_line = like is None or like is sys.__stderr__ or bool(getattr(like, "line_buffering", False))
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=by_line)


def _occupy() -> None:
    """Open nothing in place of closed standard streams, lest a file that is opened later take their numbers."""
    while (opened := os.open(os.devnull, os.O_RDWR)) < _STANDARD:
        os.set_inheritable(opened, True)
    os.close(opened)
