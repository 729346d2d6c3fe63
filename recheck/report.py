"""A JSON report of `check` against the files it speaks of: every bounded query's certificate, checked again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.errors import InputError
from analyzer.lower import lower
from analyzer.query import Query
from analyzer.statements import split_statements
from analyzer.workspace import Workspace, read_query
from preprocess.pipeline import derive
from recheck.validate import faults


@dataclass(frozen=True, slots=True)
class Rechecked:
    """A bounded query of a report, and the reasons why its certificate does not hold; none when it does."""

    name: str
    faults: tuple[str, ...]


def recheck(report: Any, catalog_file: Path | None) -> tuple[Rechecked, ...]:
    """Check the certificates of a report's bounded queries against the files that it names.

    Raises InputError for what is no report, or a file that cannot be read.
    """
    workspace = Workspace(catalog_file)
    if not isinstance(report, dict) or not isinstance(report.get("queries"), list):
        raise InputError("not a JSON report", remedy="write one with streambound check --format json")
    bounded = [item for item in report["queries"] if isinstance(item, dict) and item.get("verdict") == "bounded"]
    return tuple(Rechecked(str(item.get("name")), _faults(item, workspace)) for item in bounded)


def _faults(item: dict[str, Any], workspace: Workspace) -> tuple[str, ...]:
    if item.get("certificate") is None:
        return ("it has no certificate",)
    query = _query(item, workspace)
    if query is None:
        return ("there is no such query in the file any more",)
    found = faults(derive(query).split, item["certificate"])
    return (*found, *(("its bound is not the certificate's",) if _differs(item) else ()))


def _differs(item: dict[str, Any]) -> bool:
    """Whether the report's bound is another one than the certificate proves."""
    bound, entries = item.get("bound"), item["certificate"].get("entries", {})
    return bound != {"entries": entries.get("value"), "formula": entries.get("formula")}


def _query(item: dict[str, Any], workspace: Workspace) -> Query | None:
    """The query that a report's item speaks of: the statement of that name, at that line of its file."""
    path = Path(str(item.get("file")))
    for statement in split_statements(read_query(path)):
        if (statement.name, statement.span.line) == (item.get("name"), item.get("line")):
            return lower(statement, workspace.catalog(path)).query
    return None
