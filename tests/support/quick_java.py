"""How the tests' Javas run: most live for seconds, and would spend these on loading their code and on optimising it.

`make test` first writes an archive of the classes that a job needs, which halves the processor time of a Spark that
starts (9 s to 5 s). A Java to which it does not fit, or that finds none, goes without.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
CLASSES = ROOT / ".venv" / "spark.jsa"
"""The archive; it belongs to what is installed beside it."""
_PLAIN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_ARCHIVED = f" -XX:SharedArchiveFile={CLASSES} -Xlog:disable -Xlog:all=error:stderr"
QUICKLY = _PLAIN + (_ARCHIVED if CLASSES.exists() and " " not in str(CLASSES) else "")
"""Compile without optimising; collect in one thread; take classes as they were loaded before, or do not mention it."""
OPTIONS = {"SPARK_SUBMIT_OPTS": QUICKLY, "SPARK_LAUNCHER_OPTS": _PLAIN, "SPARK_DAEMON_JAVA_OPTS": QUICKLY}
"""So for what is started with this environment; executors of a cluster are told by a setting of Spark."""
FEW_ROWS = "--conf spark.sql.codegen.wholeStage=false --conf spark.sql.adaptive.enabled=false"
"""Compile no code for whole stages of a query, and plan it once: for a few rows that takes a sixth of its time.

Expressions are compiled as ever, and so are the stages of jobs that tests start as programs of their own.
"""


def run_java_quickly() -> None:
    """Have every Spark that a test starts do so, unless the environment says otherwise."""
    for name, options in OPTIONS.items():
        os.environ.setdefault(name, options)


def write_classes(to: Path) -> None:
    """Run a small job, whose Java leaves an archive when it ends, if it is one that makes some.

    What is wrong with the job is for tests to say.
    """
    new, example = to.with_suffix(".new"), ROOT / "examples" / "figure2"
    new.unlink(missing_ok=True)
    archiving = {"SPARK_SUBMIT_OPTS": f"{_PLAIN} -XX:ArchiveClassesAtExit={new} -Xlog:disable"}
    command = [sys.executable, "-m", "streambound", "run", str(example / "figure2.sql")]
    with TemporaryDirectory() as folder:
        # Until its output is closed, which Java does later than Python.
        command += ["--input", str(example / "data"), "--output", f"{folder}/results.jsonl", "--engine", "spark"]
        subprocess.run(command, env={**os.environ, **OPTIONS, **archiving}, capture_output=True, check=False)
    if new.exists():
        new.replace(to)


if __name__ == "__main__":
    write_classes(Path(sys.argv[1]))
