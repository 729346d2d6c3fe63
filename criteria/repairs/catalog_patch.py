"""``domain.column = [low, high]`` and ``max_open = N`` as edits of the catalog's text, under what they are about."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct

from streambound.analyzer.catalog import Catalog, redeclared
from streambound.analyzer.edits import Edit, applied
from streambound.analyzer.spans import SourceText
from streambound.analyzer.toml_lines import toml_lines, toml_spans
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value, decode
from streambound_runtime.promises import Domain

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_INLINE = re.compile(r"\s*(?:\S+\s*\.\s*)?domain\s*=\s*\{")
_LITERAL = re.compile(r"\A(?:DATE|TIMESTAMP) '(.*)'\Z")


class DeclareDomain(Struct, frozen=True):
    """``domain.column = [low, high]``, or a list of values, in the catalog."""

    table: str
    column: str
    domain: Domain[Value]
    type: DataType


class DeclareOpenKeys(Struct, frozen=True):
    """``max_open = most`` in the catalog, for the punctuation of a stream about some attributes."""

    table: str
    attributes: tuple[str, ...]
    most: int


Declaration = DeclareDomain | DeclareOpenKeys


def declared_edits(steps: tuple[Declaration, ...], catalog: Catalog) -> tuple[Edit, ...] | None:
    """An inserted line for each declaration; None where the text has no place sure to be right."""
    source = _source(catalog.file, catalog.text)
    found: list[Edit] = []
    for step in steps:
        edit = _edit(step, source)
        if edit is None:
            return None
        found.append(edit)
    return tuple(found)


def with_declared(steps: tuple[Declaration, ...], edits: tuple[Edit, ...], catalog: Catalog) -> Catalog:
    """The catalog as its edited text declares it; raises ValueError or CatalogError where that does not fit.

    Each of the edits of `declared_edits` adds its declaration and changes nothing else, so only those tables are read.
    """
    if not edits:
        return catalog
    return redeclared(catalog, applied(catalog.text, edits), {step.table for step in steps})


# A search writes tens of changes as edits of one catalog, which may be long.
_source = lru_cache(maxsize=4)(SourceText)
_lines = lru_cache(maxsize=4)(toml_lines)


@lru_cache(maxsize=512)
def _edit(step: Declaration, source: SourceText) -> Edit | None:
    if isinstance(step, DeclareOpenKeys):
        return next((edit for edit in _of_keys(step, source) if _promises(step, edit, source.text)), None)
    return next((edit for edit in _candidates(step, source) if _declares(step, edit, source.text)), None)


def _of_keys(step: DeclareOpenKeys, source: SourceText) -> Iterator[Edit]:
    """A line after the last one of the punctuation, or behind the brace that opens it."""
    number, text = _number_of(step, _document(source.text)), f"max_open = {step.most}"
    of = ("streams", step.table, "punctuations", str(number))
    spans = toml_spans(source)
    lines = [span.end_line for path, span in spans.items() if path[: len(of)] == of and len(path) == len(of) + 1]
    if lines:
        yield _line_after(max(lines), text, source)
    if of in spans:
        yield _inserted(spans[of].line, spans[of].column, f" {text},", source)


def _number_of(step: DeclareOpenKeys, document: dict[str, Any]) -> int | None:
    """Which of a stream's punctuations is about the attributes; None where none is."""
    told = [one["attributes"] for one in document.get("streams", {}).get(step.table, {}).get("punctuations", [])]
    names = {name.lower() for name in step.attributes}
    return next((number for number, one in enumerate(told) if {name.lower() for name in one} == names), None)


def _promises(step: DeclareOpenKeys, edit: Edit, text: str) -> bool:
    """Whether the edit of a catalog's text adds the number of open keys and changes nothing else."""
    try:
        before, after = _document(text), tomllib.loads(applied(text, (edit,)))
    except tomllib.TOMLDecodeError:
        return False
    number = _number_of(step, after)
    found = after["streams"][step.table]["punctuations"][number].pop("max_open", None) if number is not None else None
    return found == step.most and before == after


def _candidates(step: DeclareDomain, source: SourceText) -> Iterator[Edit]:
    """A line after the table's domains, else after its columns, else after its header, else in its table of domains."""
    lines = _lines(source.text)
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
    """A text inserted into a line, after ``column`` characters."""
    at = sum(len(part) + 1 for part in source.text.split("\n")[: line - 1]) + column
    return Edit(source.file, source.span(at, at), text)


def _declares(step: DeclareDomain, edit: Edit, text: str) -> bool:
    """Whether the edit of a catalog's text adds the declaration and changes nothing else."""
    try:
        before, after = _document(text), tomllib.loads(applied(text, (edit,)))
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


@lru_cache(maxsize=4)
def _document(text: str) -> dict[str, Any]:
    return tomllib.loads(text)


def _key(name: str) -> str:
    return name if _BARE.match(name) else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _array(step: DeclareDomain) -> str:
    domain = step.domain
    values = domain.values or tuple(value for value in (domain.low, domain.high) if value is not None)
    listed = f"[{', '.join(_toml(value, step.type) for value in values)}]"
    reads_as_range = len(values) == 2 and step.type.family not in (Family.STRING, Family.BOOLEAN)
    return f"{{ values = {listed} }}" if domain.values and reads_as_range else listed


def _toml(value: Value, kind: DataType) -> str:
    """An encoded value as TOML."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if kind.family is Family.FLOAT:
        return repr(float(value))
    if literal := _LITERAL.match(decode(value, kind)):
        return literal.group(1).replace(" ", "T")
    return decode(value, kind).lower()
