"""The Spark session of a job."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from streambound_runtime.endpoints import is_uri
from streambound_runtime.errors import usage
from streambound_runtime.scratch import JAVA_OPTIONS, java_options, temporary_files_there
from streambound_runtime.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CHECKPOINTS = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
"""The other one starts a process for every file on a local disk."""


_PATIENCE = 60
"""Seconds for a Python to start."""
_NEEDED = ("numpy", "pyarrow", "duckdb")
_LOOK = """
import sys
from importlib.util import find_spec
print(*sys.version_info[:2], *(name for name in sys.argv[1:] if find_spec(name) is None))
"""
"""Says the version of a Python, and which modules it does not have."""
_PINNED = {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true"}
_SHORT = {
    "local": "spark.sql.execution.arrow.localRelationThreshold",
    "parts": "spark.sql.files.minPartitionNum",
}
"""Of rows that take fewer bytes than `local` Spark computes expressions one by one, while it plans a query; files are
cut into so many `parts`, where they are large enough: by default as many as there are cores.
"""

_KEPT_FOR_NO_PAGE = (
    "spark.ui.retainedJobs", "spark.ui.retainedStages", "spark.ui.retainedTasks", "spark.sql.ui.retainedExecutions",
)  # fmt: skip
"""How much the driver remembers of past jobs and their plans, a thousand each otherwise: no page shows them here."""


def session(name: str) -> SparkSession:
    """A Spark session in UTC; on this machine alone, one for small and frequent micro-batches.

    `spark-submit` brings its own settings, which are left as they are.
    """
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = (
            builder.appName(f"streambound: {name}")
            .config(JAVA_OPTIONS, java_options())
            .config("spark.sql.shuffle.partitions", 2)
            .config("spark.sql.streaming.checkpointFileManagerClass", _CHECKPOINTS)
            .config("spark.ui.enabled", False)
            .config("spark.ui.showConsoleProgress", False)
        )
        for setting in _KEPT_FOR_NO_PAGE:
            builder = builder.config(setting, 10)
    with temporary_files_there():
        spark = builder.getOrCreate()
    prepared(spark)
    spark.sparkContext.setLogLevel("ERROR")
    for logger in ("py4j", "SQLQueryContextLogger"):  # they would log what `main` reports, or quarantines
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    return spark


def prepared(spark: SparkSession) -> None:
    """Set what results depend on."""
    for name, value in _PINNED.items():
        spark.conf.set(name, value)


@contextmanager
def pinned(spark: SparkSession, **more: str) -> Iterator[None]:
    """Settings on which expressions depend, for a session that a program has made; the last ones by short names."""
    wanted = _PINNED | {_SHORT[name]: value for name, value in more.items()}
    before = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            spark.conf.unset(name) if old is None else spark.conf.set(name, old)


def is_local(spark: SparkSession) -> bool:
    """Whether Spark runs on this machine alone."""
    return master(spark).startswith("local") and not master(spark).startswith("local-cluster")


def master(spark: SparkSession) -> str:
    """Spark's setting ``spark.master``: where it runs, such as ``local[2]`` or ``yarn``."""
    return str(spark.conf.get("spark.master", "local"))


def check_workers(spark: SparkSession) -> None:
    """Raise JobError where the Python that Spark starts on this machine cannot run a job's functions.

    What is on other machines only their workers can say.
    """
    program = getattr(getattr(spark, "sparkContext", None), "pythonExec", sys.executable)  # Connect tells no program
    same = Path(shutil.which(program) or program).absolute() == Path(sys.executable).absolute()
    if same or not is_local(spark):
        return
    if (wrong := _wrong_with(program)) is not None:
        remedy = f"set PYSPARK_PYTHON={sys.executable} before Spark starts, or install what is missing"
        raise usage(f"Spark's workers run {program}, which {wrong}: {remedy}")


def _wrong_with(program: str) -> str | None:
    """Why a Python is none for workers; None where it is one."""
    try:
        look = [program, "-c", _LOOK, *_NEEDED]
        told = subprocess.run(look, check=False, capture_output=True, text=True, timeout=_PATIENCE)
        major, minor, *missing = told.stdout.split()
    except (OSError, subprocess.SubprocessError) as error:
        return f"cannot be started ({getattr(error, 'strerror', None) or error})"
    except ValueError:
        return "is no Python that can be started"
    if (int(major), int(minor)) != sys.version_info[:2]:
        return f"is Python {major}.{minor}, and this is {sys.version_info[0]}.{sys.version_info[1]}"
    return f"has no {' and no '.join(missing)}" if missing else None


def check_cluster(spark: SparkSession, settings: Settings) -> None:
    """Raise JobError for a checkpoint that the machines of a cluster do not share."""
    if not is_local(spark) and not is_uri(settings.checkpoint):
        where = f"on a cluster ({master(spark)}) every machine must reach the checkpoint"
        raise usage(f"{where}: give --checkpoint a URI, such as hdfs://…, s3a://… or, for a mounted disk, file:/…")
