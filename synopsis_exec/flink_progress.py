"""What Flink's REST API says of a running job: what its tasks keep, how many rows came, where their watermarks are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from time import sleep
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from msgspec import Struct, field

from streambound.analyzer.errors import InputError
from streambound.analyzer.json_models import JsonShapeError, parsed, structured

Answers = Mapping[str, Any]
"""What Flink answered, by the paths that were asked."""
ENDED = ("FINISHED", "CANCELED", "FAILED")
_ASKED = ("Watermark", "numRecordsIn", "numRecordsOut", "numLateRecordsDropped")
_PATIENCE = 30
"""Seconds to wait for an answer."""
_MOST_FAILED = 3
"""Questions in a row that may be left without an answer, after the first one."""
_NO_WATERMARK = -(2**62)
"""Before the first one Flink has the least number of 64 bits."""


class JobTask(Struct, frozen=True):
    """A task of a job, which Flink calls a vertex: its operators in ``name``, and the ``rows`` that came.

    ``watermark`` is that of the rows that a ``source`` brings, or that reach another task, of the subtask that is most
    behind, in microseconds; ``bytes`` is what it kept in the checkpoint.
    """

    name: str
    source: bool
    rows: int = 0
    watermark: int | None = None
    bytes: int = 0
    late: int = 0


class JobProgress(Struct, frozen=True):
    """A job at a moment of the clock, ``now``, and its last checkpoint, begun at ``triggered``, in milliseconds."""

    job: str
    state: str
    now: int
    checkpoint: int
    triggered: int
    tasks: tuple[JobTask, ...]


class _Vertex(Struct, frozen=True):
    id: str
    name: str


class _Job(Struct, frozen=True):
    jid: str
    state: str
    now: int
    vertices: tuple[_Vertex, ...] = ()


class _TaskState(Struct, frozen=True):
    state_size: int


class _Checkpoint(Struct, frozen=True):
    id: int = 0
    trigger_timestamp: int = 0
    tasks: Mapping[str, _TaskState] = field(default_factory=dict)


class _LatestCheckpoints(Struct, frozen=True):
    completed: _Checkpoint | None = None


class _Checkpoints(Struct, frozen=True):
    latest: _LatestCheckpoints = _LatestCheckpoints()


class _Metric(Struct, frozen=True):
    id: str
    min: float = 0
    sum: float = 0


def ask_job(get: Callable[[str], Any], job: str) -> Answers:
    """Flink's answers on a job at this moment; ``get`` fetches paths such as ``/jobs/…``."""
    found = {path: get(path) for path in (f"/jobs/{job}", f"/jobs/{job}/checkpoints")}
    last = structured(found[f"/jobs/{job}/checkpoints"], _Checkpoints, closed=False).latest.completed
    if last is not None:
        path = f"/jobs/{job}/checkpoints/details/{last.id}"
        found[path] = get(path)
    for vertex in structured(found[f"/jobs/{job}"], _Job, closed=False).vertices:
        path = f"/jobs/{job}/vertices/{vertex.id}/subtasks/metrics"
        names = [one.id for one in structured(get(path), tuple[_Metric, ...], closed=False)]
        wanted = [name for name in names if name.endswith(_ASKED)]
        found[path] = get(f"{path}?get={quote(','.join(wanted), safe=',')}") if wanted else []
    return found


def job_progress(text: str, file: str) -> JobProgress:
    """Answers as `ask_job` has them, as JSON; raises InputError for others."""
    answers = parsed(text, file).value
    try:
        return _progress(answers if isinstance(answers, dict) else {})
    except (JsonShapeError, StopIteration, KeyError) as error:
        raise InputError(f"not what Flink answers: {error}", file=file) from error


def is_of_flink(text: str) -> bool:
    """Whether a line of JSON has a job's answers."""
    return text.lstrip().startswith('{"/jobs/')


def _progress(answers: Answers) -> JobProgress:
    root = min(answers, key=len, default="")
    job = structured(answers[root], _Job, closed=False)
    details = [answers[path] for path in answers if path.startswith(f"{root}/checkpoints/details/")]
    last = structured(details[0], _Checkpoint, closed=False) if details else _Checkpoint()
    return JobProgress(
        job.jid, job.state, job.now, last.id, last.trigger_timestamp,
        tuple(_task(one, answers.get(f"{root}/vertices/{one.id}/subtasks/metrics", []), last) for one in job.vertices),
    )  # fmt: skip


def _task(vertex: _Vertex, answered: object, last: _Checkpoint) -> JobTask:
    metrics = structured(answered, tuple[_Metric, ...], closed=False)
    source = vertex.name.startswith("Source: ")
    rows = (
        [one.sum for one in metrics if one.id.startswith("Source__") and one.id.endswith(".numRecordsOut")]
        if source
        else [one.sum for one in metrics if one.id == "numRecordsIn"]
    )
    late = sum(one.sum for one in metrics if one.id.endswith("numLateRecordsDropped"))
    kept = last.tasks[vertex.id].state_size if vertex.id in last.tasks else 0
    return JobTask(
        vertex.name, source, int(max(rows, default=0)), max(_watermarks(metrics, source), default=None), kept, int(late)
    )


def _watermarks(metrics: tuple[_Metric, ...], source: bool) -> Iterator[int]:
    for one in metrics:
        wanted = one.id.endswith(".currentOutputWatermark") if source else one.id == "currentInputWatermark"
        if wanted and one.min > _NO_WATERMARK:
            yield int(one.min) * 1000


def live_answers(url: str, pause: float) -> Iterator[str]:
    """Flink's answers on the job at ``http://host:8081/jobs/ID``, as lines of JSON, after
    each pause in seconds, until it ends.

    Raises InputError where there is no such job.
    """
    base, _, job = url.rstrip("/").rpartition("/jobs/")

    def get(path: str) -> Any:
        with urlopen(f"{base}{path}", timeout=_PATIENCE) as answer:
            return json.load(answer)

    failed = _MOST_FAILED
    while True:
        try:
            answers = ask_job(get, job)
        except (OSError, ValueError) as error:
            failed += 1
            if failed > _MOST_FAILED:
                raise InputError(f"Flink does not answer: {error}", file=url) from error
        else:
            failed = 0
            yield json.dumps(answers)
            if answers[f"/jobs/{job}"]["state"] in ENDED:
                return
        sleep(pause)
