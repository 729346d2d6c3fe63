"""The baseline: findings that were there when a gate began, and that may only become fewer.

A JSON file, one finding a line so that merges stay readable; files are named relative to it. A finding is known by its
fingerprint (`reports.fingerprint`), so neither lines inserted above nor another layout makes it a new one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from streambound.analyzer.errors import CatalogError
from streambound.analyzer.json_models import JsonDocument, parsed
from streambound.reports.beside import BaselineEntry
from streambound.reports.fingerprint import VERSION

SCHEMA_VERSION = 1
_KEYS = ("file", "query", "code", "fingerprint")


class BaselineVersion(Struct, frozen=True):
    """The member that names the version of streambound that wrote a baseline."""

    schema_version: int
    scheme: str


class BaselineFinding(Struct, frozen=True):
    """A finding as the file has it."""

    file: str
    query: str
    code: str
    fingerprint: str


class BaselineDocument(Struct, frozen=True):
    """The file as JSON."""

    schema_version: int
    scheme: str
    criteria: Literal["exact", "paper"]
    findings: tuple[BaselineFinding, ...]


class Baseline(Struct, frozen=True):
    """The entries of a baseline file, and the criteria by which they were found; ``text`` is the file's."""

    file: Path
    criteria: str
    entries: tuple[BaselineEntry, ...]
    text: str = ""

    def relative(self, file: str) -> str:
        """How the baseline calls a file that the working directory calls so."""
        return file if file.startswith("<") else Path(os.path.relpath(file, self.file.parent)).as_posix()

    def exists(self, entry: BaselineEntry) -> bool:
        """Whether the entry's file is still there."""
        return (self.file.parent / entry.file).is_file()


def baseline_text(criteria: str, entries: Iterable[BaselineEntry]) -> str:
    """The text of a baseline file, the same for the same findings."""
    lines = [json.dumps({key: getattr(e, key) for key in _KEYS}, ensure_ascii=False) for e in sorted(entries)]
    head = json.dumps({"schema_version": SCHEMA_VERSION, "scheme": VERSION, "criteria": criteria})
    return f'{head[:-1]}, "findings": [\n' + ",\n".join(lines) + "\n]}\n"


def read_baseline(file: Path, criteria: str | None = None) -> Baseline:
    """Read a baseline; raises CatalogError, which names the line, for what is none, or one of other criteria."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        remedy = "streambound baseline create writes one"
        raise CatalogError(f"cannot read the baseline: {error.strerror}", file=str(file), remedy=remedy) from error
    except UnicodeDecodeError as error:
        raise CatalogError("the baseline is not UTF-8 text", file=str(file)) from error
    remedy = "after a merge conflict, keep the entries of both sides and run streambound baseline update"
    found = _baseline(parsed(text, str(file), remedy, CatalogError), file)
    if criteria not in (None, found.criteria):
        message = f"the baseline was created with --criteria {found.criteria}"
        raise CatalogError(message, file=str(file), line=1, remedy="check with the same criteria")
    return found


def _baseline(document: JsonDocument, file: Path) -> Baseline:
    what, remedy = "not a baseline", "streambound baseline create writes one"
    if document.read(BaselineVersion, what, remedy, closed=False) != BaselineVersion(SCHEMA_VERSION, VERSION):
        remedy = "check it with that version, or remove it and run streambound baseline create"
        raise CatalogError("the baseline is of another version of streambound", file=str(file), line=1, remedy=remedy)
    read, lines = document.read(BaselineDocument, what, remedy), _lines(document.text)
    entries = [
        BaselineEntry(found.file, found.query, found.code, found.fingerprint, lines.get(found.fingerprint, 1))
        for found in read.findings
    ]
    return Baseline(file, read.criteria, tuple(entries), document.text)


def _lines(text: str) -> dict[str, int]:
    """The line of each fingerprint: the last quoted text of its entry."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        parts = line.split('"')
        for part in parts[1::2]:
            found.setdefault(part, number)
    return found


def stale_text(entry: BaselineEntry) -> str:
    """The message for a stale entry."""
    return f"stale: there is no {entry.code} of {entry.query} in {entry.file} any more"


def stale_remedy(baseline: Path) -> str:
    """The way out."""
    return f"streambound baseline update --baseline {baseline} removes them"
