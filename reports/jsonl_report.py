"""The JSON output of `check` line by line: an object per query as in `queries`, and at last one with the summary."""

from __future__ import annotations

import json

from streambound.reports.beside import NOTHING, Beside
from streambound.reports.json_report import SCHEMA_VERSION, query_json, summary_json
from streambound.reports.outcome import Outcome


def jsonl_report(outcomes: tuple[Outcome, ...], color: bool = False, beside: Beside = NOTHING) -> str:
    """All statements, one a line; ``color`` is ignored."""
    lines = [{"schema_version": SCHEMA_VERSION, **query_json(item)} for item in outcomes]
    return "\n".join(
        json.dumps(line, ensure_ascii=False)
        for line in (*lines, {"schema_version": SCHEMA_VERSION} | summary_json(outcomes, beside))
    )
