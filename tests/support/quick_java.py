"""How the tests' Javas run: most live for seconds, and would spend half the processor time on optimising their code."""

from __future__ import annotations

import os

QUICKLY = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Compile without optimising; collect in one thread."""
UNFUSED = "--conf spark.sql.codegen.wholeStage=false"
"""Compile no code for whole stages of a query: for a few rows that takes a quarter of its time.

Expressions are compiled as ever, and so are the stages of jobs that tests start as programs of their own.
"""


def run_java_quickly() -> None:
    """Have every Spark that a test starts do so, unless the environment says otherwise."""
    os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICKLY)
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", QUICKLY)
