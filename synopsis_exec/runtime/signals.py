"""Signals that end a process, as exceptions, so that what it holds is released."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread


@contextmanager
def signals_raised() -> Iterator[None]:
    """Raise SystemExit where SIGTERM or SIGHUP would end this process at once."""
    before = {}
    if current_thread() is main_thread():
        before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP)}
    taken = [one for one, handler in before.items() if handler is signal.SIG_DFL]

    def raised(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    for one in taken:
        signal.signal(one, raised)
    try:
        yield
    finally:
        for one in taken:
            signal.signal(one, signal.SIG_DFL)
