"""``domain.column = [low, high]`` as an edit of the catalog's text, under the table it belongs to."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from analyzer.catalog import Catalog
from analyzer.edits import Edit, applied
from analyzer.spans import SourceText
from analyzer.toml_lines import toml_lines
from analyzer.types import DataType, Family
from analyzer.values import Value, decode
from criteria.repairs.steps import DeclareDomain

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_INLINE = re.compile(r"\s*(?:\S+\s*\.\s*)?domain\s*=\s*\{")
_LITERAL = re.compile(r"\A(?:DATE|TIMESTAMP) '(.*)'\Z")


def domain_edits(steps: tuple[DeclareDomain, ...], catalog: Catalog) -> tuple[Edit, ...] | None:
    """An inserted line for each declaration; None where the catalog's text has no place that is sure to be right."""
    source = SourceText(catalog.file, catalog.text)
    found: list[Edit] = []
    for step in steps:
        edit = next((edit for edit in _candidates(step, source) if _declares(step, edit, catalog)), None)
        if edit is None:
            return None
        found.append(edit)
    return tuple(found)


def _candidates(step: DeclareDomain, source: SourceText) -> Iterator[Edit]:
    """A line after the table's domains, else after its columns, else after its header, else in its table of domains."""
    lines = toml_lines(source.text)
    for section in ("streams", "relations"):
        table = (section, step.table)
        if table not in lines:
            continue
        text = f"{_key(step.column)} = {_array(step)}"
        domains = [line for path, line in lines.items() if path[:3] == (*table, "domain")]
        columns = lines.get((*table, "columns"))
        for line in (*domains[-1:], *([columns] if columns else []), lines[table]):
            for prefix in ("domain.", ""):
                yield _line_after(line, prefix + text, source)
        if (inline := lines.get((*table, "domain"))) and (opened := _INLINE.match(source.line(inline))):
            yield _inserted(inline, opened.end(), f" {text},", source)


def _line_after(line: int, text: str, source: SourceText) -> Edit:
    shown = source.line(line)
    indent = shown[: len(shown) - len(shown.lstrip())]
    ending = "\r\n" if "\r\n" in source.text else "\n"
    return _inserted(line, len(shown), f"{ending}{indent}{text}", source)


def _inserted(line: int, column: int, text: str, source: SourceText) -> Edit:
    """A text inserted into a line, behind so many characters."""
    at = sum(len(part) + 1 for part in source.text.split("\n")[: line - 1]) + column
    return Edit(source.file, source.span(at, at), text)


def _declares(step: DeclareDomain, edit: Edit, catalog: Catalog) -> bool:
    """Whether the edit adds the declaration and changes nothing else."""
    try:
        before = tomllib.loads(catalog.text)
        after = tomllib.loads(applied(catalog.text, (edit,)))
    except tomllib.TOMLDecodeError:
        return False
    for section in ("streams", "relations"):
        body: dict[str, Any] = after.get(section, {}).get(step.table, {})
        if step.column in body.get("domain", {}):
            del body["domain"][step.column]
            if not body["domain"] and "domain" not in before[section][step.table]:
                del body["domain"]
            return before == after
    return False


def _key(name: str) -> str:
    return name if _BARE.match(name) else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _array(step: DeclareDomain) -> str:
    domain = step.domain
    values = domain.values or tuple(value for value in (domain.low, domain.high) if value is not None)
    return f"[{', '.join(_toml(value, step.type) for value in values)}]"


def _toml(value: Value, kind: DataType) -> str:
    """An encoded value as TOML."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if kind.family is Family.FLOAT:
        return repr(float(value))
    if literal := _LITERAL.match(decode(value, kind)):
        return literal.group(1).replace(" ", "T")
    return decode(value, kind).lower()
