"""The registry of output formats: add one by adding a file and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from criteria.check import Checked
from reports.json_report import json_report
from reports.text_report import text_report


@dataclass(frozen=True, slots=True)
class Format:
    """A named way to print checked statements; ``render(checked, color)`` returns the whole text."""

    name: str
    render: Callable[[tuple[Checked, ...], bool], str]


FORMATS: tuple[Format, ...] = (
    Format("text", text_report),
    Format("json", json_report),
)
