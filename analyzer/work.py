"""The budget of a statement: steps of work are counted, not seconds, so that every machine gives the same verdict.

Whatever may take long says how many steps it takes (`spend`), each about two microseconds. Each thread has its meter,
as it has a logging context: what takes long is at the bottom of hundreds of functions, none of which decides by it.
Outside of `at_most` any number of steps may be spent. TooMuchWork ends a statement (`criteria.check`), or a search in
it without which there is a verdict, too (`share`); no rule handles it. A function that spends steps is cached for one
statement only (`cached`), so that no statement changes how many steps another one takes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import _lru_cache_wrapper, lru_cache, wraps
from math import inf
from typing import ParamSpec, Self, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

STATEMENT = 6_000_000
"""Steps that a statement is given in all."""


class TooMuchWork(Exception):
    """More steps than are allowed would be needed."""


class StepLimit:
    """A part of a budget, for a ``with`` block.

    After it, ``steps`` says how many it took, and ``ran_out`` whether it, or a part in it, would have taken more.
    """

    steps: float = 0
    ran_out: bool = False

    def __init__(self, most: float) -> None:
        self._most = most

    def __enter__(self) -> Self:
        self._outer = _meter.left, _meter.parts
        self._allowed = _meter.left = min(self._most, _meter.left)
        _meter.parts = (*_meter.parts, self)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, TooMuchWork):
            for part in _meter.parts:
                part.ran_out = True
        left, _meter.parts = self._outer
        self.steps = self._allowed - max(_meter.left, 0)
        _meter.left = left - self.steps


class Search(StepLimit):
    """A part that ends where its steps are used up, and no more than that."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:  # type: ignore[override]
        super().__exit__(kind, error, trace)
        return isinstance(error, TooMuchWork)


class _Meter(threading.local):
    left: float = inf
    parts: tuple[StepLimit, ...] = ()


_meter = _Meter()
_clearing: list[Callable[[], None]] = []
"""What forgets all that is cached of a statement."""


def spend(steps: float = 1) -> None:
    """Account for some steps; raises TooMuchWork where fewer are left."""
    _meter.left -= steps
    if _meter.left < 0:
        raise TooMuchWork


def at_most(steps: float) -> StepLimit:
    """Allow at most ``steps`` steps in a block, or fewer if an outer block has fewer left; they count there, too."""
    return StepLimit(steps)


def share(steps: float = inf) -> Search:
    """As `at_most`, for a search without which there is a verdict, too: the block ends where its steps are used up."""
    return Search(steps)


def cached(size: int) -> Callable[[Callable[..., T]], _lru_cache_wrapper[T]]:
    """`functools.lru_cache`, cleared at the start of each statement."""

    def of(function: Callable[..., T]) -> _lru_cache_wrapper[T]:
        found = lru_cache(size)(function)
        _clearing.append(found.cache_clear)
        return found

    return of


def by_identity(function: Callable[P, T]) -> Callable[P, T]:
    """A function cached by the identity of its arguments until the start of the next statement.

    For trees: comparing two of them, or hashing one, takes as long as most functions of them.
    """
    known: dict[tuple[object, ...], tuple[object, T]] = {}
    _clearing.append(known.clear)

    @wraps(function)
    def of(*arguments: P.args, **named: P.kwargs) -> T:
        key = (*map(id, arguments), *((name, id(value)) for name, value in named.items()))
        found = known.get(key)
        if found is None:  # an object that is kept has its id for itself
            found = known[key] = (arguments, named), function(*arguments, **named)
        return found[1]

    return of


def begin() -> None:
    """Begin a statement: forget what was found of others."""
    for clear in _clearing:
        clear()


@contextmanager
def uncounted() -> Iterator[None]:
    """Count no steps in the block, so that a statement without any left can still be explained."""
    before, _meter.left = _meter.left, inf
    try:
        yield
    finally:
        _meter.left = before


class Allowance:
    """Steps that several blocks share, one after the other."""

    def __init__(self, steps: float) -> None:
        self.left = steps

    @contextmanager
    def spent(self, most: float) -> Iterator[float]:
        """Allow ``most`` steps in the block, or the fewer that are left; gives how many."""
        part = at_most(min(most, self.left))
        try:
            with part:
                yield min(most, self.left)
        finally:
            self.left = max(0, self.left - part.steps)
