"""The baseline: findings that were there when a gate began, and that may only become fewer.

A JSON file, one finding a line so that merges stay readable; files are named relative to it. A finding is known by its
fingerprint (`reports.fingerprint`), so neither lines inserted above nor another layout makes it a new one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streambound.analyzer.errors import CatalogError
from streambound.reports.fingerprint import VERSION

SCHEMA_VERSION = 1
FILE_NAME = "streambound-baseline.json"
_KEYS = ("file", "query", "code", "fingerprint")


@dataclass(frozen=True, slots=True, order=True)
class BaselineEntry:
    """A finding of a baseline; ``file`` is relative to the baseline, ``line`` is that of the entry, 0 for a new one."""

    file: str
    query: str
    code: str
    fingerprint: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Baseline:
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
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        remedy = "after a merge conflict, keep the entries of both sides and run streambound baseline update"
        message = f"the baseline is not JSON: {error.msg}"
        raise CatalogError(message, file=str(file), line=error.lineno, column=error.colno, remedy=remedy) from error
    found = _baseline(document, file, text)
    if criteria not in (None, found.criteria):
        message = f"the baseline was created with --criteria {found.criteria}"
        raise CatalogError(message, file=str(file), line=1, remedy="check with the same criteria")
    return found


def _baseline(document: Any, file: Path, text: str) -> Baseline:
    keys = {"schema_version", "scheme", "criteria", "findings"}
    if not isinstance(document, dict) or set(document) != keys or not isinstance(document["findings"], list):
        raise CatalogError("not a baseline", file=str(file), line=1, remedy="streambound baseline create writes one")
    if (document["schema_version"], document["scheme"]) != (SCHEMA_VERSION, VERSION):
        remedy = "check it with that version, or remove it and run streambound baseline create"
        raise CatalogError("the baseline is of another version of streambound", file=str(file), line=1, remedy=remedy)
    if document["criteria"] not in ("exact", "paper"):
        raise CatalogError("the baseline's criteria must be exact or paper", file=str(file), line=1)
    lines = _lines(text)
    entries = tuple(_entry(item, file, lines, number) for number, item in enumerate(document["findings"], 1))
    return Baseline(file, document["criteria"], entries, text)


def _entry(item: Any, file: Path, lines: dict[str, int], number: int) -> BaselineEntry:
    if not isinstance(item, dict) or set(item) != set(_KEYS) or not all(isinstance(v, str) for v in item.values()):
        message = f"finding {number} must have the texts {', '.join(_KEYS)}, and nothing else"
        key = str(item.get("fingerprint", "")) if isinstance(item, dict) else ""
        raise CatalogError(message, file=str(file), line=lines.get(key, 1))
    line = lines.get(item["fingerprint"], 1)
    return BaselineEntry(item["file"], item["query"], item["code"], item["fingerprint"], line)


def _lines(text: str) -> dict[str, int]:
    """The line of each fingerprint: the last quoted text of its entry."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        parts = line.split('"')
        for part in parts[1::2]:
            found.setdefault(part, number)
    return found
