"""The job's part of the checkpoint directory; Spark's is the directory `spark` in it.

`job.json` says what it belongs to. `state/0` and `state/1` are the states after the last two batches, each in the
place of the one two before. Nothing uses the newer one before Spark has committed its batch: it gives that again
otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from streambound_runtime.checkpoint.owner import FORMAT, Owner, difference, of_job
from streambound_runtime.checkpoint.state import State, packed, unpacked
from streambound_runtime.checkpoint.store import LocalStore, Store
from streambound_runtime.errors import JobError
from streambound_runtime.row_values import Value
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec

if TYPE_CHECKING:
    import pyarrow as pa

_BEGIN_ANEW = "give this job a new directory: it then reads its sources from their start"
_OWNER, _STATE, _SPARK = "job.json", "state", "spark"


class Checkpoint:
    """The job's files in a checkpoint directory (see the module): whose it is, and the states after the last batches.

    Methods raise JobError where a file is damaged, or where the directory belongs to another job.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def claim(
        self, job: JobSpec, settings: Settings, relations: Mapping[str, list[dict[str, Value]]], engine: str = "spark"
    ) -> bool:
        """Take the directory for a job; whether it was new. Raises JobError when it belongs to another job."""
        mine = of_job(job, settings, relations, engine)
        data = self.store.read(_OWNER)
        theirs = _parsed(data or b"")
        if theirs is None:
            if there := [name for name in self.store.names() if not name.startswith((".", "_")) and name != _OWNER]:
                raise self._without_owner(there, job)
            self.store.write(_OWNER, json.dumps(mine).encode())
            return True
        if found := difference(theirs, mine):
            raise self._foreign(*found)
        return False

    def _without_owner(self, there: list[str], job: JobSpec) -> JobError:
        """The error for a directory that is not empty and does not say which job's it is."""
        if "fingerprint" in there:
            found = difference({}, {"format": FORMAT, "version": job.runtime})
            assert found is not None
            return self._foreign(*found)
        if {_SPARK, _STATE} & {*there}:
            return self.damaged(_OWNER)
        what = f"{self.store.path} is no checkpoint of a job: it holds {', '.join(there[:3])}"
        return JobError("state", f"{what}; give --checkpoint a directory that is new or empty", 2)

    def _foreign(self, found: str, way_out: str) -> JobError:
        """The error for a directory of another job."""
        what = f"the checkpoint {self.store.path} cannot be continued: {found}; {way_out}, or {_BEGIN_ANEW}"
        return JobError("state", what, 2)

    def damaged(self, name: str) -> JobError:
        """The error for a file that is missing or was changed."""
        message = f"the checkpoint is damaged: {self.store.where(name)} is missing or was changed; restore it, or "
        return JobError("state", message + _BEGIN_ANEW, 3)

    # --- states -------------------------------------------------------------------------------------------------------

    def committed(self) -> tuple[int, State] | None:
        """The last batch that Spark has committed, and the state after it; None where there is none.

        Raises JobError where Spark's part is not of the same age, or the state is damaged.
        """
        names = self.store.names(f"{_SPARK}/commits")
        last = max((int(name) for name in names if name.isdecimal()), default=-1)
        newest = max((int(str(state[0]["batch"])) for place in (0, 1) if (state := self._state(place))), default=-1)
        if newest > last + 1:
            raise self.damaged(f"{_SPARK}/commits")
        state = self.before(last + 1)
        return None if state is None else (last, state)

    def newest(self) -> tuple[int, State] | None:
        """The last batch whose state is whole, and that state, of a run without Spark: it commits by saving a state."""
        found = [(int(str(state[0]["batch"])), state) for place in (0, 1) if (state := self._state(place))]
        return max(found, key=lambda one: one[0], default=None)

    def before(self, batch: int) -> State | None:
        """The state before a batch that Spark gives; None for the first. Raises JobError where it is not whole."""
        if batch == 0:
            return None
        place = (batch - 1) % 2
        state = self._state(place)
        if state is None or state[0]["batch"] != batch - 1:
            raise self.damaged(f"{_STATE}/{place}")
        return state

    def _state(self, place: int) -> State | None:
        return unpacked(self.store.read(f"{_STATE}/{place}"))

    def save(self, batch: int, head: Mapping[str, object], tables: Mapping[str, pa.Table]) -> None:
        """Write the state after a batch; the one before it stays, for a replay."""
        self.store.write(f"{_STATE}/{batch % 2}", packed({"batch": batch, **head}, tables))

    # --- what Spark keeps ---------------------------------------------------------------------------------------------

    @property
    def of_spark(self) -> str:
        """The path or URI of Spark's own checkpoint, for the option ``checkpointLocation`` of its query."""
        return self.store.where(_SPARK)

    def unreadable(self) -> str | None:
        """The first file of Spark's part that is not whole, as far as this machine sees; None where there is none."""
        if not isinstance(self.store, LocalStore):
            return None
        folders = [f"{_SPARK}/offsets", f"{_SPARK}/commits"]
        folders += [f"{_SPARK}/sources/{source}" for source in self.store.names(f"{_SPARK}/sources")]
        logs = [f"{folder}/{name}" for folder in folders for name in self.store.names(folder) if name[0].isdecimal()]
        return next((name for name in (f"{_SPARK}/metadata", *logs) if not _is_complete(self.store.read(name))), None)


def _is_complete(data: bytes | None) -> bool:
    """Whether a file of Spark's is as it writes them: a version, then a JSON value a line."""
    try:
        for line in (data or b"").decode().split("\n"):
            if line not in ("", "-") and not re.fullmatch(r"v\d+", line):
                json.loads(line)
    except ValueError:
        return False
    return bool(data)


def _parsed(data: bytes) -> Owner | None:
    """What a file says whose job a checkpoint is; None where it says nothing."""
    try:
        found = json.loads(data)
    except ValueError:
        return None
    return cast("Owner", found) if isinstance(found, dict) else None
