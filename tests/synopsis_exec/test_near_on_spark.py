"""Files that the driver reads by itself give the rows that Spark reads from them; what is doubtful is left to Spark."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from support.jobs import kernel

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

COLUMNS = {"k": "string", "n": "int", "born": "date", "seen": "timestamp", "ts": "bigint", "spare": "int"}
MOMENT = datetime(2024, 1, 1, 12, 30, 1, 7, tzinfo=UTC)
ROWS = [
    {"k": k, "n": n, "born": date(1970, 1, 2), "seen": MOMENT, "ts": n, "spare": n}
    for n, k in enumerate(["a", "é", None, "", " "])
]
SQL = "SELECT S.k, S.n, S.born, S.seen FROM S"


def ran(spark: Any, folder: Path, source: dict[str, Any], near: bool) -> tuple[list[str], list[str], bool]:
    """The output, the quarantine, and whether the driver has read a file by itself."""
    stream = {
        "timestamp": "ts",
        "columns": COLUMNS,
        "domain": {"n": [0, 9]},
        "source": {**source, "path": str(folder / "in")},
    }
    job = kernel(SQL, {"streams": {"S": stream}})
    job.Job.whole = property(lambda self: True, lambda self, whole: None)
    paths_near, found = job.paths_near, []

    def paths(arrived: Any) -> Any:
        found.append(paths_near(arrived) if near else None)
        return found[-1]

    read = {name: getattr(job, name) for name in ("lines_of_file", "columns_of_file")}
    used: list[bool] = []
    for name, reading in read.items():
        setattr(job, name, lambda *a, reading=reading: (one := reading(*a), used.append(one is not None))[0])
    job.paths_near = paths
    where = folder / ("near" if near else "fetched")
    where.mkdir()
    options = [part for name in ("checkpoint", "output", "quarantine") for part in (f"--{name}", str(where / name))]
    job.run(spark, job.arguments(options), lambda report: None)
    output, bad = ((where / name).read_text(encoding="utf-8").splitlines() for name in ("output", "quarantine"))
    return output, sorted(bad), any(used) and all(used)


# --- Parquet ----------------------------------------------------------------------------------------------------------


def table(**types: Any) -> Any:
    import pyarrow as pa

    kinds = {
        "k": pa.string(),
        "n": pa.int32(),
        "born": pa.date32(),
        "seen": pa.timestamp("us", "UTC"),
        "ts": pa.int64(),
        "spare": pa.int32(),
        **types,
    }
    return pa.table({name: pa.array([row[name] for row in ROWS], kind) for name, kind in kinds.items() if kind})


def parquet(folder: Path, name: str = "0.parquet", rows: Any = None, **options: Any) -> None:
    from pyarrow import parquet as pq

    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table() if rows is None else rows, folder / name, **options)


def several(folder: Path) -> None:
    parquet(folder, "a b%20c+é.parquet")
    parquet(folder, "0.parquet", row_group_size=2)


def with_and_without_nulls(folder: Path) -> None:
    import pyarrow as pa

    rows = table()
    parquet(folder, "0.parquet", rows)
    parquet(folder, "1.parquet", rows.cast(pa.schema([f.with_nullable(f.name != "ts") for f in rows.schema])))
    parquet(folder, "2.parquet", rows.slice(0, 0))


def by_spark(folder: Path, spark: Any) -> None:
    spark.createDataFrame(table()).write.mode("append").parquet(str(folder))


def old(folder: Path) -> None:
    import pyarrow as pa

    rows = table()
    parquet(folder, rows=rows.set_column(2, "born", pa.array([date(1899, 1, 1), *[None] * 4])))


FILES: dict[str, tuple[Callable[[Path], None], bool]] = {
    "as they are": (parquet, True),
    "several, with odd names": (several, True),
    "NULL is possible or not, and no rows": (with_and_without_nulls, True),
    "INT96": (lambda folder: parquet(folder, use_deprecated_int96_timestamps=True), False),
    "old dates": (old, False),
    "a directory per value": (lambda folder: parquet(folder, "ts=7/0.parquet", table(ts=None)), False),
    "columns in capitals": (
        lambda f: parquet(f, rows=table().rename_columns(["K", *list(COLUMNS)[1:]])),
        False,
    ),
    "more columns": (lambda f: parquet(f, rows=table().append_column("more", table().column("n"))), True),
}


@pytest.mark.parametrize("name", FILES)
def test_parquet(spark: Any, tmp_path: Path, name: str) -> None:
    write, near = FILES[name]
    write(tmp_path / "in")
    output, bad, used = ran(spark, tmp_path, {"format": "parquet"}, near=True)
    assert (output, bad, False) == ran(spark, tmp_path, {"format": "parquet"}, near=False)
    assert used == near
    assert len(output) >= 5
    assert not bad


@pytest.mark.parametrize("fault", ["a column twice", "another type of a column that is not used"])
def test_what_spark_refuses(spark: Any, tmp_path: Path, fault: str) -> None:
    import pyarrow as pa

    rows = table().append_column("K", pa.array("abcde")) if fault == "a column twice" else table(spare=None)
    rows = rows if "spare" in rows.column_names else rows.append_column("spare", pa.array(list("abcde")))
    parquet(tmp_path / "in", rows=rows)
    said = []
    for near in (True, False):
        with pytest.raises(Exception, match=r"(?i)spare|duplicate|cannot be read|Spark stopped") as stopped:
            ran(spark, tmp_path, {"format": "parquet"}, near)
        said.append(str(stopped.value))
    assert said[0] == said[1]


def test_files_that_spark_wrote(spark: Any, tmp_path: Path) -> None:
    """Its timestamps are INT96 where nothing else is said."""
    for kind, near in (("TIMESTAMP_MICROS", True), ("INT96", False)):
        folder = tmp_path / kind
        before = spark.conf.get("spark.sql.parquet.outputTimestampType")
        spark.conf.set("spark.sql.parquet.outputTimestampType", kind)
        try:
            by_spark(folder / "in", spark)
        finally:
            spark.conf.set("spark.sql.parquet.outputTimestampType", before)
        output, bad, used = ran(spark, folder, {"format": "parquet"}, near=True)
        assert (output, bad, False) == ran(spark, folder, {"format": "parquet"}, near=False)
        assert (used, len(output)) == (near, 5)


# --- lines ------------------------------------------------------------------------------------------------------------


def text(rows: list[dict[str, Any]] = ROWS, end: str = "\n") -> bytes:
    cells = ({**row, "born": str(row["born"]), "seen": row["seen"].isoformat().replace("+00:00", "Z")} for row in rows)
    return "".join(json.dumps(row, ensure_ascii=False) + end for row in cells).encode()


LINES: dict[str, tuple[str, bytes, bool, int]] = {
    "as they are": ("0.json", text(), True, 0),
    "no end of the last": ("0.jsonl", text().rstrip(b"\n"), True, 0),
    "blank lines": ("0", b"\n  \n" + text() + b"\n \n   ", True, 0),
    "tabs are no blanks": ("0.json", b"\t\n" + text() + b" {\n", True, 2),
    "carriage returns": ("0.json", text(end="\r\n") + b"{}\r{}", False, 2),
    "a mark of the order of bytes": ("0.json", b"\xef\xbb\xbf" + text(), False, 0),
    "compressed": ("0.json.gz", gzip.compress(text()), False, 0),
    "no text": ("0.json", text() + b'{"k": "\xff"}\n', True, 1),
    "an odd name": ("a b%20c+é.json", text() + b"nothing\n", True, 1),
}


@pytest.mark.parametrize("name", LINES)
def test_lines(spark: Any, tmp_path: Path, name: str) -> None:
    file, content, near, wrong = LINES[name]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / file).write_bytes(content)
    output, bad, used = ran(spark, tmp_path, {"format": "json"}, near=True)
    assert (output, bad, False) == ran(spark, tmp_path, {"format": "json"}, near=False)
    assert used == near
    assert len(output) == 5
    assert len(bad) == wrong


def test_an_empty_file(spark: Any, tmp_path: Path) -> None:
    """Spark's scan leaves it out."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "0.json").write_bytes(b"")
    for near in (True, False):
        assert ran(spark, tmp_path, {"format": "json"}, near)[:2] == ([], [])


# --- which files ------------------------------------------------------------------------------------------------------


def test_large_files_and_options_that_say_how_to_read_are_for_spark(spark: Any, tmp_path: Path) -> None:
    parquet(tmp_path / "in")
    assert ran(spark, tmp_path, {"format": "parquet", "options": {"mergeSchema": "true"}}, near=True)[2] is False
    (tmp_path / "near").rename(tmp_path / "merged")
    assert ran(spark, tmp_path, {"format": "parquet", "options": {"maxFilesPerTrigger": 1}}, near=True)[2] is True
