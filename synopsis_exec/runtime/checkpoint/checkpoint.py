"""The job's part of the checkpoint directory; Spark's is the directory `spark` in it.

`job.json` says what it belongs to, `run.json` who runs on it now (`lock`). `state/0` and `state/1` are the states after
the last two batches, each in the place of the one two before. Nothing uses the newer one before Spark has committed its
batch: it gives that again otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from streambound_runtime.checkpoint.lock import RUN, Lock
from streambound_runtime.checkpoint.owner import FORMAT, Owner, difference, of_job, opened, sealed
from streambound_runtime.checkpoint.spark_log import DamagedFileError, SparkLog
from streambound_runtime.checkpoint.state import State, packed, unpacked
from streambound_runtime.checkpoint.store import LocalStore, Store
from streambound_runtime.errors import JobError, unwritable
from streambound_runtime.operators.formula import Relations
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

    def __init__(self, store: Store, engine: str = "spark") -> None:
        self.store, self.lock, self.engine = store, Lock(store), engine
        self.spark_log = (
            SparkLog(store.folder / _SPARK) if engine == "spark" and isinstance(store, LocalStore) else None
        )

    def claim(
        self,
        job: JobSpec,
        settings: Settings,
        relations: Relations,
        check_new: Callable[[], None] = lambda: None,
    ) -> None:
        """Take the directory for a run of a job; of a job that begins ``check_new`` raises JobError if it may not.

        Raises JobError, and has written nothing, when it belongs to another job, or when another run has it.
        """
        mine = of_job(job, settings, relations, self.engine)
        self._belongs_to(job, mine)
        self.lock.take()
        try:
            if not self._belongs_to(job, mine):
                check_new()
                self.store.write(_OWNER, sealed(mine))
            self._mend()
        except BaseException:
            self.lock.release()
            raise

    def _belongs_to(self, job: JobSpec, mine: Owner) -> bool:
        """Whether it is the job's already, or no job's; raises JobError when it is another's."""
        theirs = opened(self.store.read(_OWNER))
        if theirs is None:
            ours = (_OWNER, RUN)
            if there := [name for name in self.store.names() if not name.startswith((".", "_")) and name not in ours]:
                raise self._without_owner(there, job)
        elif found := difference(theirs, mine):
            raise self._foreign(*found)
        return theirs is not None

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
        if self._newest() > last + 1:
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

    def _newest(self) -> int:
        """The last batch after which a state was saved, of those that are whole; -1 for none."""
        return max((int(str(state[0]["batch"])) for place in (0, 1) if (state := self._state(place))), default=-1)

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

    def _mend(self) -> None:
        """Clear up what a run that was stopped in the middle has left, as far as this machine sees.

        Raises JobError where Spark would not start, and nothing can be done.
        """
        if isinstance(self.store, LocalStore):
            self.store.clear()
        if self.spark_log is None:
            return
        try:
            mended = self.spark_log.mend(self._newest())
        except DamagedFileError as error:
            raise self.damaged(f"{_SPARK}/{error.name}") from error
        if mended:
            what = f"Spark was stopped while it wrote {', '.join(mended)} in {self.of_spark}"
            print(f"note: {what}; no result depends on that, and the job goes on", file=sys.stderr)

    def begin(self, batch: int) -> None:
        """Wait until Spark's plan of a batch is on the disk, before the batch is folded."""
        if self.spark_log is None:
            return
        try:
            self.spark_log.sync(batch)
        except OSError as error:
            raise unwritable(f"cannot write {self.of_spark}: {error.strerror or error}") from error

    def unreadable(self) -> str | None:
        """The first file of Spark's part that is damaged, as far as this machine sees; None where there is none."""
        name = None if self.spark_log is None else self.spark_log.first_damaged()
        return None if name is None else f"{_SPARK}/{name}"
