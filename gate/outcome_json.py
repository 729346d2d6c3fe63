"""Outcomes as plain JSON values and back, for the cache and for worker processes.

The file's text is not in it: whoever reads an outcome back has it.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from typing import Any

from streambound.analyzer.json_models import JsonReader, exactly, plain
from streambound.analyzer.spans import SourceText
from streambound.reports.outcome import Outcome

JsonObject = dict[str, Any]
_READER = JsonReader(
    own={
        SourceText: lambda value: exactly(value, SourceText),
        date: lambda value: date.fromisoformat(exactly(value, str)),
    }
)


def to_json(outcome: Outcome) -> JsonObject:
    """An outcome as JSON values, without its source."""
    return {one.name: plain(getattr(outcome, one.name)) for one in fields(outcome) if one.name != "source"}


def from_json(value: JsonObject, source: SourceText) -> Outcome:
    """The outcome that `to_json` made of one with this source; raises ValueError for anything else."""
    return _READER.read({**value, "source": source}, Outcome)
