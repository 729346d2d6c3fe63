"""Failures that the user can do something about, with the exit status of the job."""

from __future__ import annotations


class JobError(Exception):
    """``kind`` is one word for programs; ``status`` the exit status: 1 a contract or the bound was broken, 2 wrong
    usage, 3 something cannot be read or written.
    """

    def __init__(self, kind: str, message: str, status: int) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status


def usage(message: str) -> JobError:
    """The error for what the user has to ask otherwise: exit status 2."""
    return JobError("usage", message, 2)


def unreadable(message: str) -> JobError:
    """The error for input that is not there or cannot be read: exit status 3."""
    return JobError("input", message, 3)


def unwritable(message: str) -> JobError:
    """The error for output that cannot be written: exit status 3."""
    return JobError("output", message, 3)
