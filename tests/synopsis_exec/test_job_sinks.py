"""Sources and sinks of the catalog on Spark: what comes in by other ways than files, and where results go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from streambound.jobs import compile
from streambound_runtime.checkpoint.checkpoint import Checkpoint
from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.errors import JobError
from streambound_runtime.failures import in_one_line
from streambound_runtime.main import main
from streambound_runtime.quarantine import FIELDS
from streambound_runtime.reading.sources import raw_rows
from streambound_runtime.session import check_cluster
from streambound_runtime.settings import Settings
from streambound_runtime.sinks import BAD_ROW, Sinks, kafka_records
from streambound_runtime.spec import JobSpec, SinkSpec
from support.jobs import FIGURE2, batches, figure2, job_of, read, run, run_with, write

COLUMNS = {"a": "bigint", "ts": "bigint"}


def one_stream(source: dict[str, Any] | None = None, **top: Any) -> dict[str, Any]:
    stream = {"timestamp": "ts", "columns": COLUMNS, **({"source": source} if source else {})}
    return {"streams": {"S": stream}, **top}


@contextmanager
def set_in(spark: Any, settings: dict[str, int]) -> Iterator[None]:
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield
    for name in settings:
        spark.conf.unset(name)


class Given:
    """Spark's reader of a source that is nowhere else."""

    def __init__(self, spark: Any, values: str, columns: str) -> None:
        self.frame = spark.sql(f"SELECT * FROM VALUES {values} AS t({columns})")

    def format(self, name: str) -> Given:
        return self

    def options(self, **options: str) -> Given:
        return self

    def load(self, path: str | None) -> Any:
        return self.frame


class TestOnSpark:
    def test_results_of_every_type_go_to_files_batch_by_batch(
        self, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A batch that is tried again replaces its files; what comes after the end replaces the end's."""
        columns = {
            "d": "decimal(30,4)", "born": "date", "at": "timestamp", "local": "timestamp_ntz", "ok": "boolean",
            "x": "double", "t y": "string", "ts": "timestamp",
        }  # fmt: skip
        sink = {"format": "parquet", "path": "out", "options": {"compression": "zstd"}}
        catalog = {"streams": {"S": {"timestamp": "ts", "columns": columns}}, "sinks": {"q": sink}}
        catalog["counters"] = "decimal"
        select = ", ".join(f"S.`{name}`" for name in columns if name != "ts")
        job = job_of(f"SELECT {select}, NULL AS nothing FROM S", catalog)
        row = {
            "d": "-12345678901234567890123456.1234", "born": "0001-01-01", "at": "2024-01-01T00:00:00.5Z",
            "local": "2024-01-01T00:00:01", "ok": True, "x": 1e-300, "t y": 'é"\n', "ts": "2024-01-01T00:00:00Z",
        }  # fmt: skip
        nulls = {**dict.fromkeys(columns), "ts": "2024-01-01T00:00:01Z"}
        write(tmp_path / "in" / "S" / "0.jsonl", row, row, modified=1_600_000_000)
        write(tmp_path / "in" / "S" / "1.jsonl", nulls, modified=1_600_000_001)

        def fail(*arguments: Any) -> None:
            raise RuntimeError("killed")

        options = ("--base", str(tmp_path))
        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="killed"):
            patch.setattr(Checkpoint, "save", fail)
            run(spark, job, tmp_path, *options)
        run(spark, job, tmp_path, *options)
        write(tmp_path / "in" / "S" / "2.jsonl", {**nulls, "x": "Infinity"}, modified=1_600_000_002)
        run(spark, job, tmp_path, *options)
        files = f"read_parquet('{tmp_path}/out/batch=*/*.parquet', hive_partitioning = true)"
        found = duckdb.sql(f"SELECT * EXCLUDE (batch) FROM {files} ORDER BY _ts, x")
        expected = [
            '-12345678901234567890123456.1234', '0001-01-01', '2024-01-01T00:00:00.500000', '2024-01-01T00:00:01', True,
            1e-300, 'é"\n', None, "2024-01-01T00:00:00", 2,
        ]  # fmt: skip
        assert found.columns == [*(name for name in columns if name != "ts"), "nothing", "_ts", "_mult"]
        first, *others = found.fetchall()
        shown = [v.replace(tzinfo=None).isoformat() if hasattr(v, "hour") else v for v in first]
        assert [str(v) if i in (0, 1) else v for i, v in enumerate(shown)] == expected
        assert [(*row[:5], row[6], row[9]) for row in others] == [(None,) * 6 + (1,)] * 2
        assert {row[5] for row in others} == {None, float("inf")}
        kinds = dict(zip(found.columns, map(str, found.types), strict=True))
        assert (kinds["d"], kinds["_mult"], kinds["nothing"]) == ("DECIMAL(30,4)", "DECIMAL(38,0)", "VARCHAR")
        with pytest.raises(JobError, match="/out holds the batches of another run; remove them"):
            run(spark, job, tmp_path, *options, "--checkpoint", str(tmp_path / "another"))

    def test_a_next_job_reads_the_punctuations(
        self, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A batch that is tried again replaces them, too."""
        over = {"attributes": ["k"], "column": "over", "value": True}
        columns = {"k": "bigint", "v": "bigint", "over": "boolean", "ts": "timestamp"}
        bids = {"timestamp": "ts", "columns": columns, "punctuations": [over]}
        out = {"format": "parquet", "path": str(tmp_path / "out")}
        sinks = {"<sql>": {**out, "punctuations": True}}
        job = compile("SELECT k, v FROM S WHERE v > 1", {"streams": {"S": bids}, "sinks": sinks}).compiled.job
        assert isinstance(job, JobSpec)
        at = "2024-01-01T00:00:0{}Z"
        row = {"v": 5, "over": None}
        write(tmp_path / "in" / "S" / "0.jsonl", {"k": 1, "ts": at.format(0), **row}, modified=1_600_000_000)
        ends = {"k": 1, "over": True, "ts": at.format(1)}
        small = {"k": 2, "v": 0, "over": None, "ts": at.format(5)}
        write(tmp_path / "in" / "S" / "1.jsonl", ends, small, modified=1_600_000_001)
        available = ("--trigger", "available")
        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="killed"):
            patch.setattr(Checkpoint, "save", lambda *arguments: (_ for _ in ()).throw(RuntimeError("killed")))
            run(spark, job, tmp_path, *available)
        run(spark, job, tmp_path, *available)
        files = f"read_parquet('{tmp_path}/out/batch=*/*.parquet')"
        found = duckdb.sql(f"SELECT k, v, _mult, _over, second(_ts) FROM {files} ORDER BY _ts, v").fetchall()
        told = (None, None, None, "_ts")  # to a microsecond before what is open
        assert {*found} == {(*told, 59), (1, 5, 1, None, 0), (1, None, None, "k", 1), (*told, 4)} and len(found) == 4
        columns = {"k": "bigint", "v": "bigint", "_over": "string", "_ts": "timestamp"}
        marks = {"punctuation": {"column": "_over", "value": "_ts"}, "punctuations": [{**over, "column": "_over"}]}
        marks["punctuations"][0] |= {"value": "k", "max_open": 1}
        results = {"timestamp": "_ts", "columns": columns, "source": out, **marks}
        final = "-- streambound: emit final\nSELECT k, SUM(v) AS v FROM R GROUP BY k"
        job = compile(final, {"streams": {"R": results}}).compiled.job
        assert isinstance(job, JobSpec)
        options = ["--checkpoint", str(tmp_path / "next"), "--output", str(tmp_path / "sums"), *available]
        run_with(spark, job, options)
        assert [(one["k"], one["v"], one["_ts"]) for one in read(tmp_path / "sums")] == [(1, 5, at.format(1))]

    def test_a_run_that_leaves_the_end_open_goes_on_and_the_checkpoint_may_be_anywhere(
        self, spark: Any, tmp_path: Path
    ) -> None:
        """Three runs on a checkpoint that Hadoop's file system holds, the first two with the end open."""
        batches(tmp_path / "all")
        job = figure2().job
        anywhere = ["--checkpoint", f"file:{tmp_path}/checkpoint"]
        for number, trigger in enumerate(("available", "available", "end")):
            for file in sorted((tmp_path / "all").glob(f"*/part-{number}.jsonl")):
                (tmp_path / "in" / file.parent.name).mkdir(parents=True, exist_ok=True)
                file.rename(tmp_path / "in" / file.parent.name / file.name)
            summary = run(spark, job, tmp_path, *anywhere, "--trigger", trigger)
            assert (read(tmp_path / "output") == read(FIGURE2 / "expected.jsonl")) == (trigger == "end")
        assert summary["rows"] == {"S": 4, "T": 5, "U": 3}
        (tmp_path / "checkpoint" / "state" / "0").write_bytes(b"\xff")
        with pytest.raises(JobError, match=r"the checkpoint is damaged: file:.*/state/0"):
            run(spark, job, tmp_path, *anywhere)

    def test_a_function_as_a_sink(self, spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "my_sink.py").write_text(
            "from pyspark.sql import SparkSession\nseen = []\ndef write(rows, batch):\n"
            "    assert SparkSession.getActiveSession() is not None\n"
            "    seen.append((batch, [tuple(row) for row in rows.collect()]))\n"
            "def fail(rows, batch):\n    raise ValueError('no table')\n"
        )
        write(tmp_path / "in" / "S.jsonl", {"a": 5, "ts": 0}, {"a": 6, "ts": 1})
        options = ["--input", str(tmp_path / "in"), "--base", str(tmp_path)]
        job = job_of("SELECT S.a FROM S", one_stream(sinks={"q": {"call": "my_sink:write"}}))
        assert main(job, [*options, "--checkpoint", str(tmp_path / "1")]) == 0
        import my_sink  # type: ignore[import-not-found]

        assert my_sink.seen == [(0, [(5, 0, 1)]), (1, [(6, 1, 1)])]
        assert main(job, [*options, "--checkpoint", str(tmp_path / "1")]) == 0
        assert my_sink.seen[2:] == []
        job = replace(job, sink=SinkSpec(call="my_sink:fail"))
        capsys.readouterr()
        assert main(job, [*options, "--checkpoint", str(tmp_path / "2")]) == 3
        assert "error: the sink my_sink:fail failed in batch 0: no table" in capsys.readouterr().err
        job = replace(job, sink=SinkSpec(call="my_sink:nothing"))
        assert main(job, [*options, "--checkpoint", str(tmp_path / "3")]) == 2
        assert "error: the sink my_sink:nothing cannot be imported: " in capsys.readouterr().err

    def test_records_of_kafka(self, spark: Any, tmp_path: Path) -> None:
        """As far as that goes without a broker: what Kafka's columns become, and what becomes Kafka's columns."""
        source = {"format": "kafka", "options": {"subscribe": "s", "kafka.bootstrap.servers": "b:1"}}
        job = job_of("SELECT S.a FROM S", one_stream(source))
        good, array = (f"X'{text.encode().hex()}'" for text in ('{"a":1,"ts":2}', "[]"))
        values = f"({good}), (X''), ({array}), (X'ff'), (NULL)"
        frame = spark.sql(f"SELECT *, 3 AS partition, 7L AS offset FROM VALUES {values} AS t(value)")

        class Reader:
            """Spark's reader, with records from nowhere."""

            def format(self, name: str) -> Reader:
                assert name == "kafka"
                return self

            def options(self, **options: str) -> Reader:
                assert options == {"subscribe": "s", "kafka.bootstrap.servers": "b:1", "startingOffsets": "earliest"}
                return self

            def load(self, path: str | None) -> Any:
                return frame

        (stream,) = job.streams
        found = Decoder(stream).decode(raw_rows(Reader(), stream, Settings()).toArrow())
        rejected = found.rejected.to_pylist()
        assert [row["reason"] for row in rejected] == ["not-json", "not-json", "not-utf8", "no-value"]
        assert [(row["partition"], row["offset"]) for row in rejected] == [(3, 7)] * 4
        assert found.good.to_pylist() == [{"part": 0, "ts": 2, "a": 1}]
        records = kafka_records(spark.sql("SELECT 1 AS a, CAST(NULL AS INT) AS b"), 7).collect()
        assert [json.loads(record.value) for record in records] == [{"a": 1, "b": None}]
        bad = spark.createDataFrame([], BAD_ROW).columns
        assert bad == [*FIELDS]
        records_of_bad = kafka_records(spark.sql("SELECT 1 AS a, CAST(NULL AS INT) AS b"), 7, nulls=False)
        assert [json.loads(record.value) for record in records_of_bad.collect()] == [{"a": 1}]
        assert [(h.key, bytes(h.value)) for h in records[0].headers] == [("batch", b"7"), ("row", b"0")]

    def test_a_replay_on_more_cores_has_the_same_headers(
        self, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from pyspark.sql import DataFrameWriter

        found: list[Any] = []
        monkeypatch.setattr(DataFrameWriter, "save", lambda writer: found.append(writer._df.collect()))
        write(tmp_path / "part.json", *({"a": number} for number in range(99)))
        sink = {"format": "kafka", "options": {"kafka.bootstrap.servers": "b:1", "topic": "t"}}
        sinks = Sinks(spark, job_of("SELECT S.a FROM S", one_stream(sinks={"q": sink})), Settings())
        for cores in (2, 5):
            with set_in(spark, {"spark.sql.files.openCostInBytes": 1, "spark.sql.leafNodeDefaultParallelism": cores}):
                sinks.results(lambda: sinks.lines(str(tmp_path / "part.json")), 3, 99)
        assert len(found[0]) == 99 and found[0] == found[1]

    def test_upserts_are_records_with_a_key(self, spark: Any) -> None:
        rows = spark.sql("SELECT * FROM VALUES (1, NULL, 5, 'upsert'), (NULL, 2, 6, 'delete') AS t(a, b, _ts, _op)")
        records = [(json.loads(one.key), one.value) for one in kafka_records(rows, 7, key=("a",)).collect()]
        assert records == [({"a": 1}, '{"a":1,"b":null}'), ({"a": None}, None)]

    def test_a_source_with_columns_of_its_own(self, spark: Any, tmp_path: Path) -> None:
        """Columns are found by name and cast; what cannot be cast is quarantined."""
        (stream,) = job_of("SELECT S.a FROM S", one_stream({"format": "mine"})).streams
        values = "('1', 2, 'x'), ('one', 3, 'y'), (NULL, 4, 'z'), ('5', NULL, 'z')"
        found = Decoder(stream).decode(raw_rows(Given(spark, values, "A, ts, other"), stream, Settings()).toArrow())
        assert found.good.to_pylist() == [{"part": 0, "ts": 2, "a": 1}, {"part": 0, "ts": 4, "a": None}]
        told = [(row["detail"], json.loads(row["row"])) for row in found.rejected.to_pylist()]
        assert told == [
            ("a is not a bigint", {"A": "one", "ts": 3, "other": "y"}),
            ("ts, the timestamp, is NULL", {"a": 5}),
        ]
        with pytest.raises(JobError, match="S cannot be read: its source has no column a, only b, ts"):
            raw_rows(Given(spark, "(1, 2)", "b, ts"), stream, Settings())

    def test_sources_of_python_and_of_spark_by_their_options(self, spark: Any, tmp_path: Path) -> None:
        """A data source written in Python, and one of Spark's that is no file; restarts go on where they were."""
        from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

        class Reader(SimpleDataSourceStreamReader):
            def __init__(self, options: Any) -> None:
                self.rows, self.step = int(options["rows"]), int(options["step"])

            def initialOffset(self) -> dict[str, int]:
                return {"at": 0}

            def read(self, start: dict[str, int]) -> Any:
                end = {"at": min(start["at"] + self.step, self.rows)}
                return self.readBetweenOffsets(start, end), end

            def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Any:
                return iter([(str(n) if n % 5 else "none", n // 2, n) for n in range(start["at"], end["at"])])

        class Counting(DataSource):
            @classmethod
            def name(cls) -> str:
                return "counting"

            def schema(self) -> str:
                return "a STRING, ts BIGINT, other BIGINT"

            def simpleStreamReader(self, schema: Any) -> Any:
                return Reader(self.options)

        spark.dataSource.register(Counting)
        options = {"rows": "15", "step": "10"}
        job = job_of("SELECT S.a FROM S", one_stream({"format": "counting", "options": options}))
        arguments = ["--output", str(tmp_path / "out"), "--checkpoint", str(tmp_path / "checkpoint")]
        rows = []
        for trigger in ("available", "end"):
            summary = run_with(spark, job, [*arguments, "--trigger", trigger], lambda event: None)
            rows.append(summary["rows"]["S"])
        assert (rows, summary["quarantined"]) == ([10, 15], {"a is not a bigint": 3})
        found = [(row["a"], row["_ts"], row["_mult"]) for row in read(tmp_path / "out")]
        assert found == [(n, n // 2, 1) for n in range(15) if n % 5]
        source = {"format": "rate-micro-batch", "options": {"rowsPerBatch": 10, "numPartitions": 1}}
        columns = {"value": "bigint", "timestamp": "timestamp"}
        catalog = {"streams": {"S": {"timestamp": "timestamp", "columns": columns, "source": source}}}
        job = job_of("SELECT S.value FROM S WHERE S.value < 7", catalog)
        arguments = ["--output", str(tmp_path / "rate"), "--checkpoint", str(tmp_path / "rates")]
        summary = run_with(spark, job, arguments, lambda event: None)
        assert (summary["rows"], summary["quarantined"]) == ({"S": 10}, {})
        found = [(row["value"], row["_ts"]) for row in read(tmp_path / "rate")]
        assert found == [(n, "1970-01-01T00:00:00Z") for n in range(7)]

    def test_files_without_a_declared_column(self, spark: Any, tmp_path: Path) -> None:
        """Never NULLs in silence, nor one column for another."""
        spark.sql("SELECT 1L AS b, 2L AS ts").write.parquet(str(tmp_path / "S"))
        (tmp_path / "T").mkdir()
        (tmp_path / "T" / "1.csv").write_text("ts,a\n1,2\n")
        options = ["--base", str(tmp_path), "--output", str(tmp_path / "out"), "--checkpoint"]
        for number, (source, message) in enumerate(
            [
                ({"format": "parquet", "path": "S"}, "S cannot be read: its source has no column a, only b, ts"),
                (
                    {"format": "csv", "path": "T", "options": {"header": True}},
                    "S cannot be read: Encountered error while reading file .*1.csv",
                ),
            ]
        ):
            job = job_of("SELECT S.a FROM S", one_stream(source))
            with pytest.raises(JobError, match=message) as caught:
                run_with(spark, job, [*options, str(tmp_path / f"{number}")], lambda event: None)
            assert caught.value.status == 3
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--trigger", "10 seconds"], "a job without end needs a sink: declare [sinks.q] in the catalog"),
        (["--trigger", "soon"], "--trigger is end, available or a time such as '10 seconds', not 'soon'"),
    ],
)
def test_triggers_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(job_of("SELECT S.a FROM S", one_stream()), ["--input", str(tmp_path), *arguments]) == 2
    assert capsys.readouterr().err == f"error: {message}\n"


def test_a_job_without_end_writes_no_file_at_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = job_of("SELECT S.a FROM S", one_stream(sinks={"q": {"format": "noop"}}))
    assert main(job, ["--trigger", "1 minute", "--output", str(tmp_path / "o")]) == 2
    assert "--output and --quarantine are written when the input ends, and it never does" in capsys.readouterr().err


def test_a_result_named_as_the_directories_of_its_files_is_refused() -> None:
    from streambound.analyzer.errors import NotExecutableError

    files = {"sinks": {"q": {"format": "csv", "path": "x"}}}
    with pytest.raises(NotExecutableError, match="its sink's files have a column Batch of their own"):
        job_of("SELECT S.a AS Batch FROM S", one_stream(**files))
    assert job_of("SELECT S.a AS Batch FROM S", one_stream())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[A_B] no such thing SQLSTATE: 42K03", "no such thing"),
        ("[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: no batch 2", "no batch 2"),
        ("An error occurred while calling o1.start.", "An error occurred while calling o1.start."),
        ("An error occurred while calling o1.x.\n: a.B: Job aborted.\n\tat e.f(g)\n"
         "Caused by: j.IOException: File too large\n\tat h.i(j)\n\t... 3 more", "File too large"),
        ("An error occurred while calling o1.x.\n: a.B$C: [C_D] Not found.\nCaused by: a.D: c", "Not found."),
    ],
)  # fmt: skip
def test_what_spark_says_in_one_line(text: str, said: str) -> None:
    assert in_one_line(RuntimeError(text)) == said


def test_a_cluster_needs_a_checkpoint_that_all_machines_reach() -> None:
    spark: Any = SimpleNamespace(conf={"spark.master": "yarn"})
    check_cluster(spark, Settings(checkpoint="hdfs://x/y"))
    with pytest.raises(JobError, match=r"on a cluster \(yarn\) every machine must reach the checkpoint"):
        check_cluster(spark, Settings(checkpoint="/tmp/x"))
