"""What Spark itself says of a streaming query's state before it starts: the oracle of the model of it."""

from __future__ import annotations

import re
from typing import Any

_CLEANUP = re.compile(r"state cleanup \[ left (= null|\w+ predicate).*?, right (= null|\w+ predicate)")
_GROUPS = re.compile(r"StateStoreSave (?:\[([^\]]*)\](, session_window)?)?")
_DEDUPLICATE = re.compile(r"\bDeduplicate \[([^\]]*)\]")
_ORDER = ("none", "constant", "window", "grows")


def explained_class(frame: Any, mode: str) -> str:
    """``refused``, or how the worst of its states behaves: ``none``, ``constant``, ``window`` or ``grows``."""
    from pyspark.errors import PySparkException

    jvm = frame.sparkSession._jvm
    output = getattr(jvm.org.apache.spark.sql.streaming.OutputMode, mode.capitalize())()
    analyzed = frame._jdf.queryExecution().analyzed()
    try:
        jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker.checkForStreaming(analyzed, output)
    except PySparkException:
        return "refused"
    planned = frame.select("*")._jdf.queryExecution()  # one that comes straight of SQL has no physical plan
    text = jvm.PythonSQLUtils.explainString(planned, "extended")
    physical = text.split("== Physical Plan ==")[-1]
    found = ["none"]
    for pair in _CLEANUP.findall(physical):
        found += ["grows" if side == "= null" else "window" for side in pair]
    sessions = re.search(r"HashAggregate\(keys=\[session_window#\d+-T\d+ms", physical)
    for keys, session in _GROUPS.findall(physical):
        timed = (sessions if session else re.search(r"-T\d+ms", keys)) is not None and mode != "complete"
        found.append("window" if timed else "grows" if keys.strip() else "constant")
    for keys in _DEDUPLICATE.findall(text.split("== Analyzed Logical Plan ==")[-1].split("== Optimized")[0]):
        found.append("window" if re.search(r"-T\d+ms", keys) else "grows")
    found += ["window"] if "DeduplicateWithinWatermark" in text else []
    found += ["constant"] if "StreamingGlobalLimit" in physical else []
    return max(found, key=_ORDER.index)
