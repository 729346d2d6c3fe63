"""How much work a statement may need: steps are counted, not seconds, so that every machine gives the same verdict.

Whatever may take long says how many steps it takes (`spend`), each about a microsecond; outside `at_most` any number
may be.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf


class TooMuchWork(Exception):
    """More steps than are allowed would be needed."""


class _Meter(threading.local):
    left: float = inf


_meter = _Meter()


def spend(steps: float = 1) -> None:
    """Account for some steps; raises TooMuchWork where fewer are left."""
    _meter.left -= steps
    if _meter.left < 0:
        raise TooMuchWork


@contextmanager
def at_most(steps: float) -> Iterator[None]:
    """Allow so many steps in the block, or the fewer that are left where it stands; they count there, too."""
    before = _meter.left
    allowed = _meter.left = min(steps, before)
    try:
        yield
    finally:
        _meter.left = before - (allowed - _meter.left)


class Spent:
    """How many steps a block has taken, once it is over."""

    steps: float = 0


@contextmanager
def spent_in(most: float) -> Iterator[Spent]:
    """As `at_most`, and how many steps the block takes."""
    found = Spent()
    with at_most(most):
        before = _meter.left
        try:
            yield found
        finally:
            found.steps = before - _meter.left


class Allowance:
    """Steps that several blocks share, one after the other."""

    def __init__(self, steps: float) -> None:
        self.left = steps

    @contextmanager
    def spent(self, most: float) -> Iterator[float]:
        """Allow ``most`` steps in the block, or the fewer that are left; gives how many."""
        with at_most(min(most, self.left)):
            before = _meter.left
            try:
                yield before
            finally:
                self.left = max(0, self.left - (before - _meter.left))
