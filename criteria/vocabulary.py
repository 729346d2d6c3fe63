"""What is said of a query: its verdict, and what its memory depends on."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What is known of a statement's memory."""

    BOUNDED = "bounded"
    UNBOUNDED = "unbounded"
    UNKNOWN = "unknown"
    UNSUPPORTED = "unsupported"
    ERROR = "error"


class Tier(StrEnum):
    """What the memory of a query depends on."""

    CONSTANT = "constant"
    """The query and the catalog alone: constants, declared ranges, relations."""
    RATE_WINDOW = "rate-window"
    """Also how many tuples share a timestamp, and the length of a window or of a finite stream."""
    UNBOUNDED = "unbounded"
    UNKNOWN = "unknown"
