"""Part of every job: what a restart needs, with the checks that it is whole and belongs to this job."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any

from synopsis_exec.job.files import Files
from synopsis_exec.job.given import SAVED
from synopsis_exec.job.source import JobError

FORMAT = 3
"""The layout of what is saved; a checkpoint with another one is refused."""
BEGUN = "begun.json"
"""Says of which files the batch is that is being folded while Spark commits it."""
MEANINGS = {
    "format": "saved by a version of streambound that lays it out in another way",
    "query": "of another query",
    "catalog": "of another catalog",
    "tables": "saved by a version of streambound that keeps other tables",
    "sources": "of other sources",
    "relations": "of other rows of the relations",
}
BEGIN_ANEW = "give this job a new directory: it then reads its sources from their start"


class Checkpoint:
    """The job's part of the checkpoint directory; Spark's is the directory `spark` in it.

    `job.json` says what it belongs to, `state/n.json` is the state after batch n. Nothing reads that unless Spark has
    committed batch n. If `begun.json` names batch n, too, that is made once more, of the files that it says.
    """

    def __init__(self, files: Files) -> None:
        self.files = files

    def claim(self, sources: Any, relations: Any) -> bool:
        """Take the directory for this job; whether it was new. Raises JobError when it belongs to another job."""
        mine = {"format": FORMAT, **SAVED, "sources": digest(sources), "relations": digest(relations)}
        text = self.files.read("job.json")
        if text is None or (not self.states() and parsed(text) is None):
            if self.files.read("fingerprint") is not None or self.states():
                raise self.foreign(["format"])
            with self.files.written("job.json") as file:
                json.dump(mine, file)
            return True
        theirs = parsed(text)
        if theirs is None:
            raise self.damaged("job.json")
        differing = [name for name in MEANINGS if theirs.get(name) != mine[name]]
        if differing:
            raise self.foreign(differing)
        return False

    def foreign(self, differing: list[str]) -> JobError:
        """The error for a directory of another job."""
        what = ", ".join(MEANINGS[name] for name in differing)
        return JobError(
            "state", f"the checkpoint {self.files.path} is {what}; {BEGIN_ANEW}, or run the job that it belongs to", 2
        )

    def damaged(self, name: str) -> JobError:
        """The error for a file that is missing or was changed."""
        message = f"the checkpoint is damaged: {self.files.where(name)} is missing or was changed; restore it, or "
        return JobError("state", message + BEGIN_ANEW, 3)

    def states(self) -> list[int]:
        """The batches whose state is there."""
        return numbers(self.files.names("state"))

    def committed(self) -> int | None:
        """The last batch that Spark has committed. Raises JobError when Spark's part is not of the same age."""
        last = max(numbers(self.files.names("spark/commits")), default=None)
        newest = max(self.states(), default=-1)
        if newest > (-1 if last is None else last) + 1:
            raise self.damaged("spark/commits")
        return last

    def unreadable(self) -> str | None:
        """The first file of Spark's part that is not whole; None where there is none."""
        folders = ["spark/offsets", "spark/commits"]
        folders += [f"spark/sources/{source}" for source in self.files.names("spark/sources")]
        logs = [f"{folder}/{name}" for folder in folders for name in self.files.names(folder) if name[0].isdecimal()]
        return next((name for name in ("spark/metadata", *logs) if not self.whole(name)), None)

    def whole(self, name: str) -> bool:
        """Whether a file of Spark's is as it writes them: a version, then a JSON value a line."""
        try:
            text = self.files.read(name)
            for line in text.split("\n") if text else []:
                if line not in ("", "-") and not re.fullmatch(r"v\d+", line):
                    json.loads(line)
        except ValueError:
            return False
        return bool(text)

    def load(self, batch: int) -> dict[str, Any]:
        """The state after a batch."""
        name = f"state/{batch}.json"
        state = self._sealed(name)
        if state is None:
            raise self.damaged(name)
        return state

    def save(self, batch: int, state: dict[str, Any]) -> None:
        """Write the state after a batch; the one before it stays, for a replay."""
        self._seal(f"state/{batch}.json", state)
        self.files.remove(f"state/{batch - 2}.json")

    def _sealed(self, name: str) -> dict[str, Any] | None:
        """What a file says, if it is whole."""
        try:
            head, _, body = (self.files.read(name) or "").partition("\n")
            if json.loads(head)["sha256"] == sha256(body.encode()).hexdigest():
                said: dict[str, Any] = json.loads(body)
                return said
        except (ValueError, KeyError, TypeError):
            pass
        return None

    def _seal(self, name: str, said: dict[str, Any]) -> None:
        """Write a file that says whether it is whole."""
        body = json.dumps(said)
        with self.files.written(name) as file:
            file.write(json.dumps({"sha256": sha256(body.encode()).hexdigest()}) + "\n" + body)

    # --- a batch that Spark has committed, and the job has not done ---------------------------------------------------

    def note(self, batch: int, files: list[list[str]]) -> None:
        """Write which files of each stream a batch has, before Spark may commit it."""
        self._seal(BEGUN, {"batch": batch, "files": files})

    def forget(self) -> None:
        """Remove that: the batch is done, and was reported."""
        self.files.remove(BEGUN)

    def begun(self) -> tuple[int, list[list[str]]] | None:
        """The last batch that Spark has committed, and its files, if the job has not done it; None if it has.

        What was saved of it may be cut off where files are shared; the state before it is always there.
        """
        last = self.committed()
        if last is None or BEGUN not in self.files.names(""):
            return None
        said = self._sealed(BEGUN)
        if said is None and last not in self.states():
            raise self.damaged(BEGUN)
        return (last, said["files"]) if said is not None and said["batch"] == last else None


def numbers(names: list[str]) -> list[int]:
    """The batches that files are named after."""
    return [int(stem) for name in names if (stem := name.partition(".")[0]).isdecimal()]


def parsed(text: str) -> dict[str, Any] | None:
    """A JSON object; None for anything else."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def digest(value: Any) -> str:
    """A hash of what JSON can hold, whatever the order of its rows."""
    rows = sorted(json.dumps(row, sort_keys=True) for row in value)
    return sha256("\n".join(rows).encode()).hexdigest()
