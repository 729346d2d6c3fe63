"""Applies repairs the way an editor would: by lines and columns, without the product's own code for it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from streambound.analyzer.diagnostics import Fix

CATALOG = "streams.toml"


def catalog_text(catalog: Mapping[str, Any]) -> str:
    """A catalog mapping as a person would write it in TOML."""
    lines = (
        ["[time]", *(f"{key} = {_toml(value)}" for key, value in catalog["time"].items())] if "time" in catalog else []
    )
    for section in ("streams", "relations"):
        for name, body in catalog.get(section, {}).items():
            lines.append(f"[{section}.{_key(name)}]")
            for key, value in body.items():
                if key == "columns":
                    lines.append(f"columns = {_toml(value)}")
                elif key == "domain":
                    lines += [f"domain.{_key(column)} = {json.dumps(values)}" for column, values in value.items()]
                else:
                    lines.append(f"{key} = {_toml(value)}")
            lines.append("")
    return "\n".join(lines)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_toml(item)}' for key, item in value.items())} }}"
    return json.dumps(value)


def patched(texts: Mapping[str, str], fix: Fix) -> dict[str, str]:
    """The files after a repair; every edit is applied at its 1-based line and column, the last one first."""
    found = dict(texts)
    places = [
        (edit.file, edit.span.line, edit.span.column, edit.span.end_line, edit.span.end_column, number)
        for number, edit in enumerate(fix.edits)
    ]
    for file, line, column, end_line, end_column, number in sorted(places, reverse=True):
        text = found[file]
        start, end = _offset(text, line, column), _offset(text, end_line, end_column)
        found[file] = text[:start] + fix.edits[number].replacement + text[end:]
    return found


def patched_by_lines(texts: Mapping[str, str], fix: Fix) -> dict[str, str]:
    """The files after the lines that a repair shows, as `patch` would apply a diff; line endings become LF."""
    found = {file: text.replace("\r\n", "\n").split("\n") for file, text in texts.items()}
    for hunk in sorted(fix.hunks, key=lambda hunk: hunk.line, reverse=True):
        lines = found[hunk.file]
        assert tuple(lines[hunk.line - 1 : hunk.line - 1 + len(hunk.removed)]) == hunk.removed
        lines[hunk.line - 1 : hunk.line - 1 + len(hunk.removed)] = hunk.added
    return {file: "\n".join(lines) for file, lines in found.items()}


def _offset(text: str, line: int, column: int) -> int:
    return sum(len(part) + 1 for part in text.split("\n")[: line - 1]) + column - 1
