"""Recursion as deep as a formula has variables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_DEPTH = 1_000_000


@contextmanager
def deep() -> Iterator[None]:
    """Functions may call themselves more often than Python lets them; such calls take no C stack since Python 3.11."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
