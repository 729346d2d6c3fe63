"""How tests hand a small job to spark-submit."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from support.quick_java import OPTIONS


def program(name: str) -> str:
    """Where a command of Spark is."""
    import pyspark

    return str(Path(pyspark.__file__).parent / "bin" / name)


def environment(folder: Path) -> dict[str, str]:
    """Without what this process's own Spark may have set, but for how every Java of the tests runs."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    more = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOG_DIR": str(folder)}
    return {**kept, **OPTIONS, **more, "SPARK_WORKER_DIR": str(folder / "work")}


def spark_submit(master: str, *settings: str) -> list[str]:
    """How a small job is submitted; what follows is the job."""
    every = ("spark.ui.enabled=false", *settings)
    start = [program("spark-submit"), "--master", master, "--driver-memory", "512m"]
    return start + [part for setting in every for part in ("--conf", setting)]
