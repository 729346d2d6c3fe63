"""A code's page as its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from streambound.analyzer.codes import Code
from streambound.reports.code_page import code_page

BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.S)
BEYOND_JOINS = "Beyond joins"


@dataclass(frozen=True)
class Page:
    """A page's sections by heading; its example, and each repair as a catalog and a query."""

    head: str
    sections: dict[str, str]

    @classmethod
    def of(cls, rule: Code) -> Page:
        head, *sections = re.split(r"^## ", code_page(rule), flags=re.M)
        return cls(head, {heading: body for heading, _, body in (section.partition("\n") for section in sections)})

    @property
    def example(self) -> tuple[str, str]:
        (first, catalog), (second, sql) = BLOCK.findall(self.sections["Example"])
        assert (first, second) == ("toml", "sql")
        return catalog, sql

    @property
    def repairs(self) -> list[tuple[str, str]]:
        catalog, sql = self.example
        blocks = BLOCK.findall(self.sections["Repair"])
        assert {kind for kind, _ in blocks} <= {"toml", "sql"}
        return [(text, sql) if kind == "toml" else (catalog, text) for kind, text in blocks]

    @property
    def beyond_joins(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """A statement beyond joins that has the code, with the example's catalog; and the way out, as a repair's."""
        (first, rejected), (kind, way_out) = BLOCK.findall(self.sections[BEYOND_JOINS])
        assert first == "sql" and kind in ("toml", "sql")
        catalog = self.example[0]
        return (catalog, rejected), ((way_out, rejected) if kind == "toml" else (catalog, way_out))

    def companions(self, section: str = "What it means") -> set[str]:
        """Codes that a section says come with the page's own."""
        return set(re.findall(r"It\s+comes\s+with\s+\[(SB\d+)\]", self.sections[section]))
