"""The registry of output formats: add one by adding a file and a line here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from msgspec import Struct

if TYPE_CHECKING:
    from streambound.reports.beside import Beside
    from streambound.reports.outcome import Outcome


class Format(Struct, frozen=True):
    """A named way to print outcomes: ``NAME_report`` in the module of that name, imported when it is used.

    ``details`` are those of `reports.outcome.DETAILS` that it prints; ``for_people`` says that no program
    reads it, so that what a terminal cannot show may be replaced; ``compares`` that it has what the run was compared
    with; ``json`` that it is JSON, ``commands`` that its lines are commands to CI.
    """

    name: str
    summary: str
    details: frozenset[str] = frozenset()
    for_people: bool = False
    compares: bool = False
    json: bool = False
    commands: bool = False

    def render(self, outcomes: tuple[Outcome, ...], color: bool = False, beside: Beside | None = None) -> str:
        """The whole text, without a line end; ``color`` is ignored by all but text."""
        function = f"{self.name}_report"
        render = getattr(import_module(f"streambound.reports.{function}"), function)
        if self.compares and beside is not None:
            return cast("str", render(outcomes, color, beside))
        return cast("str", render(outcomes, color))


_ALL = frozenset({"certificate", "lto_queries", "theorems"})

FORMATS: tuple[Format, ...] = (
    Format("text", "for people, with the SQL and carets", for_people=True),
    Format("json", "all there is, with certificates", _ALL, compares=True, json=True),
    Format("jsonl", "the same, a query a line", _ALL, compares=True, json=True),
    Format("sarif", "SARIF 2.1.0, for code scanning", json=True),
    Format(
        "github",
        "annotations and a step summary in GitHub Actions",
        compares=True,
        commands=True,
    ),
    Format("gitlab", "a code quality report for GitLab", json=True),
    Format("junit", "JUnit XML: a suite per file, a test per query"),
    Format("markdown", "a comment on a pull request", compares=True),
    Format("html", "one page for a browser", frozenset({"drawings", "theorems"})),
)

FORMAT_NAMES = tuple(form.name for form in FORMATS)


def format_named(name: str) -> Format:
    """The format of a name; raises StopIteration for a name that none has."""
    return next(form for form in FORMATS if form.name == name)
