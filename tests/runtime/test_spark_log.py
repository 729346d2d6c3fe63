"""Spark's part of a checkpoint after a stop amid a write: what can be done again is removed, the rest is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest

from streambound_runtime.checkpoint.spark_log import DamagedFileError, SparkLog


def put(folder: Path, name: str, text: str) -> None:
    """A file as Spark writes it, with checksums of every 512 bytes beside it."""
    file, data = folder / name, text.encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    sums = b"".join(crc32(data[at : at + 512]).to_bytes(4, "big") for at in range(0, len(data), 512))
    file.with_name(f".{file.name}.crc").write_bytes(b"crc\0" + (512).to_bytes(4, "big") + sums)


def entry(source: int, number: int) -> str:
    return "v1\n" + json.dumps({"path": f"file:/in/{source}/{number}.jsonl", "timestamp": 1, "batchId": number})


def plan(*ends: int | dict[str, int]) -> str:
    lines = [json.dumps({"logOffset": end} if isinstance(end, int) else end) for end in ends]
    return "\n".join(["v1", json.dumps({"batchWatermarkMs": 0, "conf": {"long": "x" * 900}}), *lines])


@pytest.fixture
def log(tmp_path: Path) -> SparkLog:
    """Two sources; batch 0 is committed, batch 1 planned, and the second source has brought nothing for that."""
    put(tmp_path, "metadata", '{"id":"a"}')
    for source, number in ((0, 0), (1, 0), (0, 1)):
        put(tmp_path, f"sources/{source}/{number}", entry(source, number))
    put(tmp_path, "offsets/0", plan(0, 0))
    put(tmp_path, "commits/0", 'v1\n{"nextBatchWatermarkMs":0}')
    put(tmp_path, "offsets/1", plan(1, 0))
    return SparkLog(tmp_path)


def names(log: SparkLog) -> set[str]:
    return {str(file.relative_to(log.folder)) for file in log.folder.rglob("*") if file.is_file()}


BROKEN: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "cut short": lambda file: file.write_bytes(file.read_bytes()[: len(file.read_bytes()) // 2]),
    "no text": lambda file: file.write_bytes(b"\xff" + file.read_bytes()),
    "other bytes": lambda file: file.write_bytes(file.read_bytes().replace(b"0", b"7").replace(b"a", b"b")),
    "missing": lambda file: file.unlink(),
}


def test_a_whole_log_stays_as_it_is(log: SparkLog) -> None:
    before = {name: (log.folder / name).read_bytes() for name in names(log)}
    for newest in (-1, 0, 1):
        assert log.mend(newest) == []
    assert {name: (log.folder / name).read_bytes() for name in names(log)} == before
    assert log.first_damaged() is None


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("name", ["offsets/1", "sources/0/1"])
def test_a_plan_that_no_batch_has_begun_with_is_made_again(log: SparkLog, name: str, how: str) -> None:
    """Whichever file of the plan is broken, its offsets go, and the files of the broken entry are seen anew."""
    whole = names(log)
    BROKEN[how](log.folder / name)
    gone = {"offsets/1", "offsets/.1.crc"} | ({"sources/0/1", "sources/0/.1.crc"} if name == "sources/0/1" else set())
    if (name, how) == ("offsets/1", "missing"):  # as if Spark had been stopped before it
        assert log.mend(0) == []
        assert whole - names(log) == {"offsets/1"}
    else:
        assert log.mend(0) == [name]
        assert whole - names(log) == gone
    assert log.mend(0) == [] and log.first_damaged() is None


@pytest.mark.parametrize("how", [*BROKEN][:4])
@pytest.mark.parametrize("name", ["offsets/1", "sources/0/1"])
def test_a_plan_whose_batch_has_begun_is_not_made_again(log: SparkLog, name: str, how: str) -> None:
    """The batch has results that another plan would not give: the state after it is saved."""
    BROKEN[how](log.folder / name)
    before = names(log)
    with pytest.raises(DamagedFileError) as caught:
        log.mend(1)
    assert (caught.value.name, names(log)) == (name, before)


@pytest.mark.parametrize("how", [*BROKEN][:4])
def test_a_commit_that_is_broken_gives_the_batch_again(log: SparkLog, how: str) -> None:
    (log.folder / "offsets" / "1").unlink()
    BROKEN[how](log.folder / "commits" / "0")
    assert log.mend(0) == ["commits/0"]
    assert {"commits/0", "commits/.0.crc"}.isdisjoint(names(log)) and log.whole("offsets/0")


@pytest.mark.parametrize("how", BROKEN)
def test_the_plan_of_the_last_committed_batch_cannot_be_told_again(log: SparkLog, how: str) -> None:
    BROKEN[how](log.folder / "offsets" / "0")
    with pytest.raises(DamagedFileError, match="offsets/0"):
        log.mend(0)


@pytest.mark.parametrize("how", BROKEN)
def test_the_random_name_of_the_query_is_made_anew(log: SparkLog, how: str) -> None:
    """Spark does not start without it once there are offsets, and nothing else refers to it."""
    BROKEN[how](log.folder / "metadata")
    assert log.mend(0) == ["metadata"]
    assert json.loads((log.folder / "metadata").read_text())["id"] and log.first_damaged() is None


def test_nothing_is_made_of_nothing(tmp_path: Path) -> None:
    assert SparkLog(tmp_path / "spark").mend(-1) == []
    assert not (tmp_path / "spark").exists()


@pytest.mark.parametrize("how", [*BROKEN][:3])
@pytest.mark.parametrize("name", ["metadata", "sources/0/0", "offsets/0"])
def test_a_first_start_that_was_stopped_anywhere_begins_again(tmp_path: Path, name: str, how: str) -> None:
    put(tmp_path, "metadata", '{"id":"a"}')
    if name != "metadata":
        put(tmp_path, "sources/0/0", entry(0, 0))
    if name == "offsets/0":
        put(tmp_path, "offsets/0", plan(0))
    log = SparkLog(tmp_path)
    BROKEN[how](tmp_path / name)
    assert log.mend(-1) == [name] and log.mend(-1) == []


def test_files_that_spark_has_seen_and_no_one_knows_any_more(log: SparkLog) -> None:
    """They would be read again: an entry that is missing among those of committed batches."""
    (log.folder / "sources" / "1" / "0").unlink()
    with pytest.raises(DamagedFileError, match="sources/1/0"):
        log.mend(0)


@pytest.mark.parametrize("compact", ["2.compact", "3.compact"])
def test_a_compact_entry_has_the_files_of_those_before(log: SparkLog, compact: str) -> None:
    """Spark removes what it has compacted, also before it commits the batch."""
    put(log.folder, "commits/1", "v1\n{}")
    end = int(compact.partition(".")[0])
    put(log.folder, "offsets/2", plan(end, 0))
    for number in range(2, end):
        put(log.folder, f"sources/0/{number}", entry(0, number))
    put(log.folder, f"sources/0/{compact}", entry(0, 1))
    (log.folder / "sources" / "0" / "0").unlink()
    assert log.mend(1) == []
    (log.folder / "sources" / "0" / compact).write_text("v1\n{")
    with pytest.raises(DamagedFileError, match=f"sources/0/{compact}"):
        log.mend(1)


def test_a_compact_entry_that_was_cut_short_is_made_again_from_those_before(log: SparkLog) -> None:
    put(log.folder, "sources/0/2.compact", entry(0, 2))
    BROKEN["cut short"](log.folder / "sources" / "0" / "2.compact")
    assert log.mend(0) == ["sources/0/2.compact"]
    assert log.whole("sources/0/1")


@pytest.mark.parametrize("content", [b"", b"v1\n{", b"v1\n\xff", b"garbage"])
@pytest.mark.parametrize("name", ["offsets/0", "commits/0", "sources/0/0", "sources/1/0"])
def test_what_is_damaged_of_committed_batches_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    """What Spark did not write completely when it was stopped is not: then that is to blame."""
    for number in range(3):
        put(tmp_path, f"sources/0/{number}", entry(0, number))
        put(tmp_path, f"sources/1/{number}", entry(1, number))
        put(tmp_path, f"offsets/{number}", plan(number, number))
        put(tmp_path, f"commits/{number}", "v1\n{}")
    for newest in ("metadata", "commits/2", "offsets/2", "sources/0/2"):
        (tmp_path / newest).write_bytes(content)
    log = SparkLog(tmp_path)
    assert log.first_damaged() is None
    (tmp_path / name).write_bytes(content)
    assert log.first_damaged() == name


def test_what_other_sources_keep_is_theirs(tmp_path: Path) -> None:
    """Kafka's first offsets begin with a zero; a source of someone else's may keep what it likes."""
    put(tmp_path, "metadata", '{"id":"a"}')
    put(tmp_path, "offsets/0", plan({"topic": 3}, {"position": 9}))
    put(tmp_path, "sources/0/0", '\0v1\n{"topic":{"0":0}}')
    (tmp_path / "sources" / "1").mkdir()
    (tmp_path / "sources" / "1" / "0").write_bytes(b"\xff\x00")
    log = SparkLog(tmp_path)
    before = names(log)
    assert log.whole("sources/0/0")
    for newest in (-1, 0):
        assert log.mend(newest) == []
    assert names(log) == before


def test_what_is_planned_is_on_the_disk_before_the_batch_begins(log: SparkLog, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr("os.fsync", lambda number: synced.append(str(Path(f"/proc/self/fd/{number}").resolve())))
    log.sync(1)
    names = ["offsets/1", "offsets/.1.crc", "sources/0/1", "sources/0/.1.crc"]
    assert synced == [str(log.folder / name) for name in names]
