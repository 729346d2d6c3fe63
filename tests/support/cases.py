"""Case files: named pairs of an input and its expected canonical text.

==== name
input
----
expected

Statements with what is said of them are files of SQL with comments (`read_judged`).
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from streambound.analyzer.catalog import Catalog, load_catalog
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.lower import Lowered, lower
from streambound.analyzer.query import Query
from streambound.analyzer.render import render
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.statements import split_statements

CASES = Path(__file__).parent.parent / "cases"


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    expected: str

    def __str__(self) -> str:
        return self.name


def read_cases(file: str) -> list[Case]:
    cases = []
    for block in (CASES / file).read_text(encoding="utf-8").split("==== ")[1:]:
        name, _, body = block.partition("\n")
        text, found, expected = body.partition("\n----\n")
        assert found, f"{file}: case {name!r} has no expectation"
        cases.append(Case(name, text, expected.strip("\n")))
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), f"{file}: two cases share a name"
    return cases


@dataclass(frozen=True)
class Judged:
    """One or more statements of a file of ``.sql``, the comments before them, and what is expected of each."""

    file: str
    notes: tuple[str, ...]
    texts: tuple[str, ...]
    expected: str

    def __str__(self) -> str:
        return f"{self.file}: {self.notes[0] if self.notes else self.texts[0]}"

    def notes_say(self, note: str) -> bool:
        return any(one.startswith(note) for one in self.notes)

    @property
    def declared(self) -> dict[str, Any]:
        """What the comments at the beginning of the file declare: a catalog."""
        return _declared(self.file)


@cache
def _declared(file: str) -> dict[str, Any]:
    head, _, _ = (CASES / file).read_text(encoding="utf-8").partition("\n\n")
    return tomllib.loads("\n".join(line.removeprefix("-- ") for line in head.splitlines()))


def read_judged(folder: str) -> list[Judged]:
    """The cases of a folder: its files begin with a catalog; paragraphs are notes, statements, and what is expected."""
    found = []
    for path in sorted((CASES / folder).glob("*.sql")):
        for block in path.read_text(encoding="utf-8").strip().split("\n\n")[1:]:
            *lines, expected = block.splitlines()
            notes = tuple(line.removeprefix("-- ") for line in lines if line.startswith("-- "))
            text = "\n".join(line for line in lines if not line.startswith("-- "))
            if text:  # else it is a heading
                texts = tuple(one.strip() for one in text.split(";\n"))
                found.append(Judged(f"{folder}/{path.name}", notes, texts, expected.removeprefix("-- ")))
    return found


@cache
def catalog() -> Catalog:
    return load_catalog(CASES / "streams.toml")


@cache
def lowered(sql: str, file: str = "case.sql") -> tuple[tuple[str, Lowered], ...]:
    """Every statement of a text with its name; several tests ask for the same."""
    statements = split_statements(SourceText(file, sql))
    return tuple((statement.name, lower(statement, catalog())) for statement in statements)


def query_of(sql: str) -> Query:
    """The query of a text with one valid statement."""
    ((_, result),) = lowered(sql)
    assert result.query is not None, result.diagnostics
    return result.query


def place(span: Span) -> str:
    end = f"{span.end_column}" if span.end_line == span.line else f"{span.end_line}:{span.end_column}"
    return f"{span.line}:{span.column}-{end}"


def finding(diagnostic: Diagnostic, sql: str) -> str:
    token = sql[diagnostic.span.start : diagnostic.span.end]
    return f'{diagnostic.code} {place(diagnostic.span)} "{" ".join(token.split())}"'


def canonical(sql: str) -> str:
    """What the front end makes of a text: queries as SQL, or findings with their places; names where given."""
    lines = []
    for name, result in lowered(sql):
        if name != "case":
            lines.append(f"-- name: {name}")
        lines.extend(finding(diagnostic, sql) for diagnostic in result.diagnostics)
        if result.query is not None:
            lines.append(render(result.query))
    return "\n".join(lines)


def read_named(file: str) -> dict[str, tuple[str, ...]]:
    """The statements of a file of `tests/cases/queries/` by the names before them; one name may have several."""
    found = {}
    for block in (CASES / "queries" / file).read_text(encoding="utf-8").strip().split("\n\n"):
        name, _, texts = block.partition("\n")
        found[name.removeprefix("-- ")] = tuple(texts.split(";\n"))
    return found


def read_queries(file: str) -> dict[str, str]:
    """As `read_named`, of a file in which each name has one statement."""
    return {name: text for name, (text,) in read_named(file).items()}
