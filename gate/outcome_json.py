"""Outcomes as plain JSON values and back, for the cache and for worker processes.

The file's text is not in it: whoever reads an outcome back has it.
"""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any

from streambound.analyzer.json_models import exactly, strict_converter
from streambound.analyzer.spans import SourceText
from streambound.reports.outcome import Outcome

if TYPE_CHECKING:
    from cattrs import Converter

JsonObject = dict[str, Any]


def to_json(outcome: Outcome) -> JsonObject:
    """An outcome as JSON values, without its source."""
    found: JsonObject = _converter().unstructure(outcome)
    del found["source"]
    return found


def from_json(value: JsonObject, source: SourceText) -> Outcome:
    """The outcome that `to_json` made of one with this source; raises ValueError or TypeError for anything else."""
    return _converter().structure({**value, "source": source}, Outcome)


@cache
def _converter() -> Converter:
    found = strict_converter()
    found.register_unstructure_hook(SourceText, lambda _: None)
    found.register_structure_hook(SourceText, lambda value, _: exactly(value, SourceText))
    found.register_unstructure_hook(date, date.isoformat)
    found.register_structure_hook(date, lambda value, _: date.fromisoformat(exactly(value, str)))
    return found
