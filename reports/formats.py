"""The registry of output formats: add one by adding a file and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reports.json_report import json_report
from reports.outcome import Outcome
from reports.text_report import text_report


@dataclass(frozen=True, slots=True)
class Format:
    """A named way to print checked statements; ``render(outcomes, color)`` returns the whole text.

    ``details`` are those of `reports.outcome.DETAILS` that it prints.
    """

    name: str
    render: Callable[[tuple[Outcome, ...], bool], str]
    details: frozenset[str] = frozenset()


FORMATS: tuple[Format, ...] = (
    Format("text", text_report),
    Format("json", json_report, frozenset({"certificate", "lto_queries"})),
)
