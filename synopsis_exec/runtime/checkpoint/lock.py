"""One run at a time uses a checkpoint: a run that another one has replaced stops writing."""

from __future__ import annotations

import atexit
import getpass
import json
import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict, cast
from uuid import uuid4

from streambound_runtime.checkpoint.store import Store
from streambound_runtime.errors import JobError

RUN = "run.json"
"""The file that says who runs on a checkpoint; empty when no run does."""


class Holder(TypedDict):
    """A run: a random id, and for people the host, the process and the user that it has, and since when.

    ``started`` tells the process from a later one of the same number: its start in ticks of the host's clock.
    """

    id: str
    host: str
    process: int
    started: str
    user: str
    since: str


class Lock:
    """Who runs on a checkpoint. Before each write the store asks `check` whether this run still does."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.mine = b""

    def take(self) -> None:
        """Become the checkpoint's run; raises JobError where another one runs, or may run.

        A run of a dead process on this host is over. So is an earlier run of this process: Spark stops the query of
        the earlier run when the same one starts again.
        """
        data = self.store.read(RUN)
        other, here = _run(data), socket.gethostname()
        if other is not None and (other["host"] != here or _alive(other)):
            raise self._taken(other, f"end it first, or give this job a checkpoint of its own{self._lost(other, here)}")
        mine = Holder(
            id=uuid4().hex, host=here, process=os.getpid(), started=_start_of(os.getpid()) or "", user=_user(),
            since=datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip
        self.mine = json.dumps(mine).encode()
        if not self.store.swap(RUN, data, self.mine):
            newer = _run(self.store.read(RUN)) or mine
            raise self._taken(newer, "it has started at the same moment")
        self.store.guard = self.check
        atexit.register(self.release)

    def check(self) -> None:
        """Raise JobError where this is no longer the checkpoint's run."""
        data = self.store.read(RUN)
        if data == self.mine:
            return
        newer = _run(data)
        by = f"to {_in_words(newer)}" if newer else f"when its {RUN} was removed"
        what = f"this run has lost the checkpoint {self.store.path} {by}; it stops, and has written nothing since"
        raise JobError("state", what, 3)

    def release(self) -> None:
        """Leave the checkpoint to the next run."""
        atexit.unregister(self.release)
        with suppress(Exception):  # Spark may be gone: then the next run finds a dead process
            self.store.swap(RUN, self.mine, b"")

    def _taken(self, other: Holder, way_out: str) -> JobError:
        return JobError("state", f"the checkpoint {self.store.path} is in use by {_in_words(other)}; {way_out}", 2)

    def _lost(self, other: Holder, here: str) -> str:
        """Advice where only a person can know whether a run is over."""
        if other["host"] == here:
            return ""
        file = self.store.where(RUN)
        return f"; if it is over, which cannot be seen from {here}, remove {file}: a run without that writes nothing"


def _run(data: bytes | None) -> Holder | None:
    """The run that a file names; None if there is none."""
    try:
        run = json.loads(data or b"")
    except ValueError:
        return None
    return cast("Holder", run) if isinstance(run, dict) and run.keys() >= Holder.__annotations__.keys() else None


def _in_words(run: Holder) -> str:
    return f"process {run['process']} of {run['user']} on {run['host']}, which runs since {run['since']}"


def _alive(run: Holder) -> bool:
    """Whether a run of this host is that of another process, which lives."""
    return run["process"] != os.getpid() and _start_of(run["process"]) == run["started"]


def _start_of(process: int) -> str | None:
    """When a process of this host has started, in ticks since the host has; "" where it does not say; None if dead."""
    if not Path("/proc/self/stat").exists():
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return None
        except PermissionError:
            pass
        return ""
    try:
        state, *fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state in "ZX" else fields[18]


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return str(os.getuid())
