"""Part of every job: what a restart needs, with the checks that it is whole and belongs to this job."""

from __future__ import annotations

import argparse
import json
import re
from hashlib import sha256
from typing import Any

from streambound.synopsis_exec.job.files import Files
from streambound.synopsis_exec.job.owner import DIFFERENCES, FORMAT, of_job
from streambound.synopsis_exec.job.source import JobError

BEGUN = "begun.json"
"""Says of which files the batch is that is being folded while Spark commits it."""
BEGIN_ANEW = "give this job a new directory: it then reads its sources from their start"


class Checkpoint:
    """The job's part of the checkpoint directory; Spark's is the directory `spark` in it.

    `job.json` says what it belongs to, `state/n.json` is the state after batch n. Nothing reads that unless Spark has
    committed batch n. If `begun.json` names batch n, too, that is made once more, of the files that it says.
    """

    def __init__(self, files: Files) -> None:
        self.files = files

    def claim(self, options: argparse.Namespace, relations: dict[str, list[dict[str, Any]]]) -> bool:
        """Take the directory for this job; whether it was new. Raises JobError when it belongs to another job."""
        mine = of_job(options, relations)
        text = self.files.read("job.json")
        theirs = parsed(text or "")
        if theirs is None:
            if there := [name for name in self.files.names("") if not name.startswith(".") and name != "job.json"]:
                raise self.without_job(there)
            with self.files.written("job.json") as file:
                json.dump(mine, file)
            return True
        part = next((name for name in DIFFERENCES if theirs.get(name) != mine[name]), None)
        if part is not None:
            raise self.foreign(part, theirs, mine)
        return False

    def without_job(self, there: list[str]) -> JobError:
        """The error for a directory that is not empty and does not say which job's it is."""
        if "fingerprint" in there:
            return self.foreign("format", {}, {"format": FORMAT})
        if {"spark", "state"} & {*there}:
            return self.damaged("job.json")
        what = f"{self.files.path} is no checkpoint of a job: it holds {', '.join(there[:3])}"
        return JobError("state", f"{what}; give --checkpoint a directory that is new or empty", 2)

    def foreign(self, part: str, theirs: dict[str, Any], mine: dict[str, Any]) -> JobError:
        """The error for a directory of another job: in which part, what is there, what this job has, the way out."""
        found, way_out = DIFFERENCES[part](theirs, mine)
        message = f"the checkpoint {self.files.path} cannot be continued: {found}; {way_out}, or {BEGIN_ANEW}"
        return JobError("state", message, 2)

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
