"""Sources and sinks of the catalog on Spark: what comes in by other ways than files, and where results go."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from synopsis_exec.test_codegen import FIGURE2, figure2_job

from streambound.synopsis_exec.simulate import load_kernel
from support.jobs import batches, kernel, read, run, write

on_spark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
COLUMNS = {"a": "bigint", "ts": "bigint"}


def one_stream(source: dict[str, Any] | None = None, **top: Any) -> dict[str, Any]:
    stream = {"timestamp": "ts", "columns": COLUMNS, **({"source": source} if source else {})}
    return {"streams": {"S": stream}, **top}


class TestOnSpark:
    pytestmark = on_spark

    def test_results_of_every_type_go_to_files_batch_by_batch(self, spark: Any, tmp_path: Path) -> None:
        """A batch that is tried again replaces its files; what comes after the end replaces the end's."""
        columns = {
            "d": "decimal(30,4)", "born": "date", "at": "timestamp", "local": "timestamp_ntz", "ok": "boolean",
            "x": "double", "t y": "string", "ts": "timestamp",
        }  # fmt: skip
        sink = {"format": "parquet", "path": "out", "options": {"compression": "zstd"}}
        catalog = {"streams": {"S": {"timestamp": "ts", "columns": columns}}, "sinks": {"q": sink}}
        catalog["counters"] = "decimal"
        select = ", ".join(f"S.`{name}`" for name in columns if name != "ts")
        job = kernel(f"SELECT {select}, NULL AS nothing FROM S", catalog)
        row = {
            "d": "-12345678901234567890123456.1234", "born": "0001-01-01", "at": "2024-01-01T00:00:00.5Z",
            "local": "2024-01-01T00:00:01", "ok": True, "x": 1e-300, "t y": 'é"\n', "ts": "2024-01-01T00:00:00Z",
        }  # fmt: skip
        nulls = {**dict.fromkeys(columns), "ts": "2024-01-01T00:00:01Z"}
        write(tmp_path / "in" / "S" / "0.jsonl", row, row, modified=1_600_000_000)
        write(tmp_path / "in" / "S" / "1.jsonl", nulls, modified=1_600_000_001)
        save = job.Checkpoint.save

        def fail(*arguments: Any) -> None:
            raise RuntimeError("killed")

        options = ("--base", str(tmp_path))
        job.Checkpoint.save = fail
        with pytest.raises(RuntimeError, match="killed"):
            run(spark, job, tmp_path, *options)
        job.Checkpoint.save = save
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
        with pytest.raises(job.JobError, match="/out holds the batches of another run; remove them"):
            run(spark, job, tmp_path, *options, "--checkpoint", str(tmp_path / "another"))

    def test_a_run_that_leaves_the_end_open_goes_on_and_the_checkpoint_may_be_anywhere(
        self, spark: Any, tmp_path: Path
    ) -> None:
        """Three runs on a checkpoint that Hadoop's file system holds, the first two with the end open."""
        batches(tmp_path / "all")
        job = load_kernel(figure2_job())
        anywhere = ["--checkpoint", f"file:{tmp_path}/checkpoint"]
        for number, trigger in enumerate(("available", "available", "end")):
            for file in sorted((tmp_path / "all").glob(f"*/part-{number}.jsonl")):
                (tmp_path / "in" / file.parent.name).mkdir(parents=True, exist_ok=True)
                file.rename(tmp_path / "in" / file.parent.name / file.name)
            summary = run(spark, job, tmp_path, *anywhere, "--trigger", trigger)
            assert (read(tmp_path / "output") == read(FIGURE2 / "expected.jsonl")) == (trigger == "end")
        assert summary["rows"] == {"S": 4, "T": 5, "U": 3}
        (tmp_path / "checkpoint" / "state" / "2.json").write_bytes(b"\xff")
        with pytest.raises(job.JobError, match=r"the checkpoint is damaged: file:.*2\.json"):
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
        job = kernel("SELECT S.a FROM S", one_stream(sinks={"q": {"call": "my_sink:write"}}))
        job.session = lambda: spark
        assert job.main([*options, "--checkpoint", str(tmp_path / "1")]) == 0
        import my_sink  # type: ignore[import-not-found]

        assert my_sink.seen == [(0, [(5, 0, 1)]), (1, [(6, 1, 1)])]
        assert job.main([*options, "--checkpoint", str(tmp_path / "1")]) == 0
        assert my_sink.seen[2:] == []
        job.CALL = "my_sink:fail"
        capsys.readouterr()
        assert job.main([*options, "--checkpoint", str(tmp_path / "2")]) == 3
        assert "error: the sink my_sink:fail failed in batch 0: no table" in capsys.readouterr().err
        job.CALL = "my_sink:nothing"
        assert job.main([*options, "--checkpoint", str(tmp_path / "3")]) == 2
        assert "error: the sink my_sink:nothing cannot be imported: " in capsys.readouterr().err

    def test_records_of_kafka(self, spark: Any, tmp_path: Path) -> None:
        """As far as that goes without a broker: what Kafka's columns become, and what becomes Kafka's columns."""
        source = {"format": "kafka", "options": {"subscribe": "s", "kafka.bootstrap.servers": "b:1"}}
        job = kernel("SELECT S.a FROM S", one_stream(source))
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

            def load(self) -> Any:
                return frame

        rows = job.rows_of(Reader(), job.STREAMS[0], job.arguments([]), True).collect()
        codes = [None, "not-json", "not-json", "not-utf8", "no-value"]
        assert [row.reason and job.code_and_detail(row.reason)[0] for row in rows] == codes
        assert [row.place.asDict() for row in rows] == [{"partition": 3, "offset": 7}] * 5
        assert (rows[0].row.a, rows[0].row.ts) == (1, 2)
        records = job.kafka_records(spark.sql("SELECT 1 AS a, CAST(NULL AS INT) AS b"), 7).collect()
        assert [json.loads(record.value) for record in records] == [{"a": 1, "b": None}]
        bad = spark.createDataFrame([], job.BAD_ROW).columns
        assert bad == [*job.QUARANTINED]
        records_of_bad = job.kafka_records(spark.sql("SELECT 1 AS a, CAST(NULL AS INT) AS b"), 7, nulls=False)
        assert [json.loads(record.value) for record in records_of_bad.collect()] == [{"a": 1}]
        assert [(h.key, bytes(h.value)) for h in records[0].headers] == [("batch", b"7"), ("row", b"0")]

    def test_a_source_with_columns_of_its_own(self, spark: Any, tmp_path: Path) -> None:
        """Columns are found by name and cast; what cannot be cast is quarantined."""
        job = kernel("SELECT S.a FROM S", one_stream({"format": "mine"}))
        values = "('1', 2, 'x'), ('one', 3, 'y'), (NULL, 4, 'z'), ('5', NULL, 'z')"
        frame = spark.sql(f"SELECT * FROM VALUES {values} AS t(A, ts, other)")
        rows = job.own_columns(job.STREAMS[0], frame).collect()
        assert [row.reason for row in rows] == [
            None, "wrong-type: a is not a bigint", None, "no-timestamp: ts, the timestamp, is NULL"
        ]  # fmt: skip
        assert [tuple(row.row) for row in rows] == [(1, 2), (None, 3), (None, 4), (5, None)]
        assert rows[1].raw.asDict() == {"A": "one", "ts": 3, "other": "y"}
        with pytest.raises(job.JobError, match="S cannot be read: its source has no column a, only b, ts"):
            job.own_columns(job.STREAMS[0], spark.sql("SELECT 1 AS b, 2 AS ts"))

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
        options = {"rows": "25", "step": "10"}
        job = kernel("SELECT S.a FROM S", one_stream({"format": "counting", "options": options}))
        arguments = ["--output", str(tmp_path / "out"), "--checkpoint", str(tmp_path / "checkpoint")]
        rows = []
        for trigger in ("available", "available", "end"):
            summary = job.run(spark, job.arguments([*arguments, "--trigger", trigger]), lambda event: None)
            rows.append(summary["rows"]["S"])
        assert (rows, summary["quarantined"]) == ([10, 20, 25], {"a is not a bigint": 5})
        found = [(row["a"], row["_ts"], row["_mult"]) for row in read(tmp_path / "out")]
        assert found == [(n, n // 2, 1) for n in range(25) if n % 5]
        source = {"format": "rate-micro-batch", "options": {"rowsPerBatch": 10, "numPartitions": 1}}
        columns = {"value": "bigint", "timestamp": "timestamp"}
        catalog = {"streams": {"S": {"timestamp": "timestamp", "columns": columns, "source": source}}}
        job = kernel("SELECT S.value FROM S WHERE S.value < 7", catalog)
        arguments = ["--output", str(tmp_path / "rate"), "--checkpoint", str(tmp_path / "rates")]
        summary = job.run(spark, job.arguments(arguments), lambda event: None)
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
                ({"format": "csv", "path": "T", "options": {"header": True}}, "Spark stopped the job: .*"),
            ]
        ):
            job = kernel("SELECT S.a FROM S", one_stream(source))
            with pytest.raises(job.JobError, match=message) as caught:
                job.run(spark, job.arguments([*options, str(tmp_path / f"{number}")]), lambda event: None)
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
    assert kernel("SELECT S.a FROM S", one_stream()).main(["--input", str(tmp_path), *arguments]) == 2
    assert capsys.readouterr().err == f"error: {message}\n"


def test_a_job_without_end_writes_no_file_at_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = kernel("SELECT S.a FROM S", one_stream(sinks={"q": {"format": "noop"}}))
    assert job.main(["--trigger", "1 minute", "--output", str(tmp_path / "o")]) == 2
    assert "--output and --quarantine are written when the input ends, and it never does" in capsys.readouterr().err


def test_a_result_named_as_the_directories_of_its_files_is_refused() -> None:
    from streambound.analyzer.errors import NotExecutableError

    files = {"sinks": {"q": {"format": "csv", "path": "x"}}}
    with pytest.raises(NotExecutableError, match="its sink's files have a column Batch of their own"):
        kernel("SELECT S.a AS Batch FROM S", one_stream(**files))
    assert kernel("SELECT S.a AS Batch FROM S", one_stream())


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
    job: Any = kernel("SELECT S.a FROM S", one_stream())
    assert job.in_one_line(RuntimeError(text)) == said


def test_a_cluster_needs_a_checkpoint_that_all_machines_reach() -> None:
    job: Any = kernel("SELECT S.a FROM S", one_stream())

    spark = SimpleNamespace(sparkContext=SimpleNamespace(master="yarn"))
    check: Callable[..., None] = job.check_cluster
    check(spark, job.arguments(["--checkpoint", "hdfs://x/y"]))
    with pytest.raises(job.JobError, match=r"on a cluster \(yarn\) every machine must reach the checkpoint"):
        check(spark, job.arguments(["--checkpoint", "/tmp/x"]))
