"""What is said of a query: its verdict, and what its memory depends on."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """The verdict on a statement's memory."""

    BOUNDED = "bounded"
    UNBOUNDED = "unbounded"
    UNKNOWN = "unknown"
    UNSUPPORTED = "unsupported"
    ERROR = "error"
    NO_QUERY = "no-query"
    """It reads no stream, as CREATE TABLE or SET: there is nothing to decide, and it passes."""

    @property
    def fits(self) -> bool:
        """Whether the statement needs no more than constant memory."""
        return self in (Verdict.BOUNDED, Verdict.NO_QUERY)


class Tier(StrEnum):
    """Whether the memory of a query is constant, or grows with rates and windows."""

    CONSTANT = "constant"
    """The query and the catalog alone: constants, declared ranges, relations."""
    RATE_WINDOW = "rate-window"
    """Also how many tuples share a timestamp, and the length of a window or of a finite stream."""
    UNBOUNDED = "unbounded"
    UNKNOWN = "unknown"
