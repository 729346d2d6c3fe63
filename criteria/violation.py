"""What a criterion reports: values with a culprit and a span; no criterion raises."""

from __future__ import annotations

from dataclasses import dataclass

from streambound.analyzer.codes import Code
from streambound.analyzer.spans import Span


@dataclass(frozen=True, slots=True)
class Violation:
    """One violated condition.

    ``condition`` is its name in the theorem or criterion; ``stream`` and ``attribute`` the culprit; ``code`` that of
    the diagnostic that reports it, None for the paper's theorems.
    """

    condition: str
    stream: str
    attribute: str | None
    message: str
    span: Span
    code: Code | None = None
    help: str = ""


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """A criterion's answer for a whole query."""

    name: str
    holds: bool
    violations: tuple[Violation, ...]
