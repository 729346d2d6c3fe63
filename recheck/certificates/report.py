"""A JSON report of `check` against the files it speaks of: every bounded query's certificate, checked again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.json_models import JsonDocument
from streambound.analyzer.lower import lower
from streambound.analyzer.query import Query
from streambound.analyzer.registration import ALLOW_OUTSIDE, require_below
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import split_statements
from streambound.analyzer.workspace import Workspace, read_query
from streambound.preprocess.pipeline import Derivation, derive
from streambound.recheck.certificates.validate import Proof, proved
from streambound.recheck.derivation.claims import NotCheckedError
from streambound.recheck.derivation.validate import proved as operators_proved
from streambound.recheck.periods.validate import reads_relations_only, seq_proved

_CONSTANT, _GROWING = "constant", "rate-window"
"""The tiers of bounds: without, and with the tuples per timestamp."""


class ReportedBound(Struct, frozen=True):
    """The bound of a query as a report has it."""

    entries: int | None
    formula: str | None


class ReportedQuery(Struct, frozen=True):
    """The part of a report on a query that is checked; `certificates.claims` reads the certificate."""

    name: str
    file: str
    line: int
    verdict: str
    tier: str | None = None
    bound: ReportedBound | None = None
    certificate: Any = None


class ReportedQueries(Struct, frozen=True):
    """A report of `check --format json`."""

    queries: tuple[ReportedQuery, ...]


class Rechecked(Struct, frozen=True):
    """A bounded query of a report, and the reasons why its certificate does not hold; none when it does."""

    name: str
    faults: tuple[str, ...]
    unknown: str = ""
    """What of it is not known here, where the certificate was neither accepted nor refuted."""


def recheck(report: JsonDocument, catalog_file: Path | None, allow_outside: bool = False) -> tuple[Rechecked, ...]:
    """Check the certificates of a report's bounded queries against the files that it names.

    These lie below the working directory, or that of the catalog that is given, unless ``allow_outside``. Raises
    InputError for what is no report, or a file that cannot be read, and UsageError for one that lies elsewhere.
    """
    places = () if allow_outside else (Path(), *([catalog_file.parent] if catalog_file is not None else []))
    queries = _Queries(Workspace(catalog_file), places)
    remedy = "write one with streambound check --format json"
    found = report.read(ReportedQueries, "not a JSON report", remedy, closed=False).queries
    return tuple(_rechecked(item, queries) for item in found if item.verdict == "bounded")


def _rechecked(item: ReportedQuery, queries: _Queries) -> Rechecked:
    try:
        return Rechecked(item.name, _faults(item, queries))
    except NotCheckedError as error:
        return Rechecked(item.name, (), str(error))


class _Queries:
    """The queries that a report's items speak of. Each file is read and split once, however many items are of it.

    They lie below one of some ``places``; anywhere, where there are none.
    """

    def __init__(self, workspace: Workspace, places: Sequence[Path]) -> None:
        self._workspace, self._places = workspace, places
        self._statements: dict[Path, dict[tuple[str, int], Statement]] = {}

    def of(self, item: ReportedQuery) -> tuple[Statement, Catalog] | None:
        """The statement of an item, of that name, at that line of its file; None where there is none."""
        path = Path(item.file)
        if path not in self._statements:
            if self._places:
                message = f"{item.file}, which the report names, leads out of the current directory"
                remedy = f"recheck takes {ALLOW_OUTSIDE}, where that is meant; or run it where the report was written"
                require_below(self._places, path, message, remedy)
            # Of two with one name on one line the first is meant.
            found = reversed(split_statements(read_query(path), None, self._workspace.catalog(path).readable))
            self._statements[path] = {(statement.name, statement.span.line): statement for statement in found}
        statement = self._statements[path].get((item.name, item.line))
        return (statement, self._workspace.catalog(path)) if statement is not None else None


def proof_of(derivation: Derivation, document: Any) -> Proof:
    """The proof of a certificate, which may be for the query that is split no more than needed."""
    proof = proved(derivation.split, document)
    if not proof.faults or derivation.together == derivation.split:
        return proof
    other = proved(derivation.together, document)
    return proof if other.faults else other


def _meant(statement: Statement, catalog: Catalog) -> Iterator[Query]:
    """A statement as a query, as written, and with joins for conditions on relations: the rows are the same."""
    for joining in (False, True):
        if (query := lower(statement, catalog, joining).query) is not None:
            yield query


def _remembers_keys(query: Query) -> bool:
    """Whether keys that come once are remembered beside what its joins remember (K4)."""
    return any(source.unique and source.time for branch in query.branches for source in branch.sources)


def _faults(item: ReportedQuery, queries: _Queries) -> tuple[str, ...]:
    found = queries.of(item)
    if found is None:
        return ("there is no such query in the file any more",)
    statement, catalog = found
    if item.certificate is None:
        if not reads_relations_only(statement, catalog):
            return ("it has no certificate",)
        nothing = item.bound == ReportedBound(0, "0") and item.tier == _CONSTANT
        return () if nothing else ("of relations alone nothing is remembered",)
    if statement.blocks:
        proof = seq_proved(statement, catalog, item.certificate)
    elif isinstance(item.certificate, dict) and "operation" in item.certificate:
        proof = operators_proved(statement, catalog, item.certificate)
    else:
        meant = [query for query in _meant(statement, catalog) if not _remembers_keys(query)]
        proofs = [proof_of(derive(query), item.certificate) for query in meant]
        if not proofs:
            return ("the certificate is that of a query that only joins",)
        proof = next((proof for proof in proofs if not proof.faults), proofs[0])
    if proof.entries is None or proof.faults:  # perhaps of another shape than `_proved` knows
        return proof.faults
    wrong = [] if item.bound == _proved(item.certificate) else ["its bound is not the certificate's"]
    tier = _GROWING if proof.entries.rated else _CONSTANT
    if item.tier != tier:
        wrong.append(f"its tier is {tier}, not {item.tier}")
    return tuple(wrong)


def _proved(certificate: dict[str, Any]) -> ReportedBound:
    """The bound that a certificate proves."""
    entries = certificate["entries"]
    return ReportedBound(entries["value"], entries["formula"])
