"""Derivations of judgements, what checks them, and how they are falsified."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import some_statements
from streambound.criteria.dataflow.derivation import derivation
from streambound.criteria.dataflow.judge import judge
from streambound.recheck.derivation.claims import NotCheckedError
from streambound.recheck.derivation.validate import proved

Path = tuple[str | int, ...]


class Outcome(Enum):
    """What the checker says of a derivation."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Derived:
    """A bounded statement with its derivation."""

    statement: Statement
    catalog: Catalog
    document: Any
    most: int | None


def derived(sql: str, catalog: Catalog) -> Iterator[Derived]:
    """The derivations of the bounded statements of a text."""
    for statement in some_statements(SourceText("q.sql", sql), None, catalog.readable):
        found = judge(statement, catalog)
        if found is not None and found.entries is not None:
            document = json.loads(json.dumps(derivation(found, statement, catalog)))
            yield Derived(statement, catalog, document, found.entries.value)


def checked(one: Derived, document: Any = None) -> tuple[Outcome, str]:
    """What the checker says of a derivation, or of another document for the same statement, and why."""
    try:
        proof = proved(one.statement, one.catalog, one.document if document is None else document)
    except NotCheckedError as error:
        return Outcome.NOT_CHECKED, str(error)
    if proof.faults:
        return Outcome.REJECTED, proof.faults[0]
    assert proof.entries is not None, "what is proved has a size"
    assert document is not None or proof.entries.most == one.most, "the size is the judge's"
    return Outcome.ACCEPTED, ""


# --- falsified documents ----------------------------------------------------------------------------------------------


def falsified(document: Any) -> Iterator[tuple[Path, str, Any]]:
    """A document with one change: each member dropped, each number one less and one more, each word another one.

    Tables of blocks are left as they are: those certificates are falsified in tests of their own.
    """
    for path, how in _changes(document, ()):
        if "branches" not in path[:-1]:
            yield path, how, _changed(document, path, how)


def _changes(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield (*path, name), "dropped"
        yield from _changes(member, (*path, name))
    if isinstance(value, bool):
        yield path, "turned"
    elif isinstance(value, int):
        yield path, "less"
        yield path, "more"
    elif isinstance(value, str):
        yield path, "renamed"


def _changed(document: Any, path: Path, how: str) -> Any:
    found = json.loads(json.dumps(document))
    parent = found
    for name in path[:-1]:
        parent = parent[name]
    last = path[-1]
    match how:
        case "dropped":
            del parent[last]
        case "turned":
            parent[last] = not parent[last]
        case "less" | "more":
            parent[last] += 1 if how == "more" else -1
        case "renamed":
            parent[last] += "_"
    return found


def named(path: Path) -> str:
    """A path without the places in lists and the operations that lead to it."""
    words = [str(one) for one in path if not isinstance(one, int) and one not in ("inputs", "operation")]
    return ".".join(words)
