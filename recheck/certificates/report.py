"""A JSON report of `check` against the files it speaks of: every bounded query's certificate, checked again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streambound.analyzer.errors import InputError
from streambound.analyzer.lower import lower
from streambound.analyzer.query import Query
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import split_statements
from streambound.analyzer.workspace import Workspace, read_query
from streambound.preprocess.pipeline import Derivation, derive
from streambound.recheck.certificates.validate import Proof, proved

_CONSTANT, _GROWING = "constant", "rate-window"
"""The tiers of bounds: without, and with the tuples per timestamp."""


@dataclass(frozen=True, slots=True)
class Rechecked:
    """A bounded query of a report, and the reasons why its certificate does not hold; none when it does."""

    name: str
    faults: tuple[str, ...]


def recheck(report: Any, catalog_file: Path | None) -> tuple[Rechecked, ...]:
    """Check the certificates of a report's bounded queries against the files that it names.

    Raises InputError for what is no report, or a file that cannot be read.
    """
    queries = _Queries(Workspace(catalog_file))
    if not isinstance(report, dict) or not isinstance(report.get("queries"), list):
        raise InputError("not a JSON report", remedy="write one with streambound check --format json")
    bounded = [item for item in report["queries"] if isinstance(item, dict) and item.get("verdict") == "bounded"]
    return tuple(Rechecked(str(item.get("name")), _faults(item, queries)) for item in bounded)


class _Queries:
    """The queries that a report's items speak of. Each file is read and split once, however many items are of it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._statements: dict[Path, dict[tuple[str, int], Statement]] = {}

    def of(self, item: dict[str, Any]) -> Query | None:
        """The query of an item: the statement of that name, at that line of its file; None where there is none."""
        path, name, line = Path(str(item.get("file"))), item.get("name"), item.get("line")
        if path not in self._statements:
            # Of two with one name on one line the first is meant.
            found = reversed(split_statements(read_query(path), None, self._workspace.catalog(path).models))
            self._statements[path] = {(statement.name, statement.span.line): statement for statement in found}
        if not isinstance(name, str) or not isinstance(line, int):
            return None
        statement = self._statements[path].get((name, line))
        return lower(statement, self._workspace.catalog(path)).query if statement is not None else None


def proof_of(derivation: Derivation, document: Any) -> Proof:
    """What a certificate proves of a query, which may be of the one that is split no more than needed."""
    proof = proved(derivation.split, document)
    if not proof.faults or derivation.together == derivation.split:
        return proof
    other = proved(derivation.together, document)
    return proof if other.faults else other


def _faults(item: dict[str, Any], queries: _Queries) -> tuple[str, ...]:
    if item.get("certificate") is None:
        return ("it has no certificate",)
    query = queries.of(item)
    if query is None:
        return ("there is no such query in the file any more",)
    proof = proof_of(derive(query), item["certificate"])
    if proof.entries is None or proof.faults:  # perhaps of another shape than `_differs` knows
        return proof.faults
    found = ["its bound is not the certificate's"] if _differs(item) else []
    tier = _GROWING if proof.entries.rated else _CONSTANT
    if item.get("tier") != tier:
        found.append(f"its tier is {tier}, not {item.get('tier')}")
    return tuple(found)


def _differs(item: dict[str, Any]) -> bool:
    """Whether the report's bound is another one than the certificate proves."""
    bound, entries = item.get("bound"), item["certificate"].get("entries", {})
    return bound != {"entries": entries.get("value"), "formula": entries.get("formula")}
