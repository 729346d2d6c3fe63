"""Words that must not come back, in pages, docstrings and messages: nobody would say them aloud."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from support.program import ROOT

FORBIDDEN = {
    r"of which so (?:many|much)": "name what is counted: 'each column varies with probability p'",
    r"(?:\bof|\bby|\bhave) so many\b": "'a number of', 'at most n'",
    r"so many (?:of|more)\b": "'n more', 'this number of'",
    r"at most so (?:many|much)\b": "'at most 4', 'the most'",
    r"those of which\b": "'the rows that'",
    r"take in that\b": "'add', 'include'",
    r"put aside\b": "'quarantined'",
    r"every so often\b": "'at each interval'",
    r"so long after\b": "'within 10 minutes of'",
    r"synopsis entr": "'entry', 'row of state'",
    r"what is by\b": "name it",
    r"is asked for of\b": "'needs'",
    r"any number, of a type of any length": "'no limit in bytes'",
}
"""What is written, as a regular expression, and what to write instead."""
OF_THE_THEORY = {r"\btuples?\b": "'row'", r"\bprojected\b(?!-)": "'in the select list'"}
"""Words that only the pages of the theory have."""
PAGES = ("*.md", "docs/*.md", "docs/codes/*.md", "examples/*/README.md")
PACKAGES = (
    "analyzer", "commands", "criteria", "gate", "importing", "incremental", "preprocess", "punctuation", "recheck",
    "reports", "synopsis_exec", "temporal",
)  # fmt: skip


def texts() -> Iterator[tuple[str, str]]:
    """Pages without their code, and the strings of the product, each with its place."""
    for pattern in PAGES:
        for page in ROOT.glob(pattern):
            text = page.read_text(encoding="utf-8")
            yield page.name, re.sub(r"^```.*?^```$|`[^`]*`", "", text, flags=re.S | re.M)
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", node.value


@pytest.fixture(scope="module")
def read() -> list[tuple[str, str]]:
    return [(place, " ".join(text.split())) for place, text in texts()]


@pytest.mark.parametrize("words", FORBIDDEN)
def test_words_do_not_come_back(words: str, read: list[tuple[str, str]]) -> None:
    assert len(read) > 10_000
    pattern = re.compile(words, re.I)
    found = [
        f"{place}: … {text[max(hit.start() - 30, 0) : hit.end() + 30]} …"
        for place, text in read
        for hit in pattern.finditer(text)
    ]
    assert not found, f"write {FORBIDDEN[words]} in\n" + "\n".join(found)


@pytest.mark.parametrize("words", OF_THE_THEORY)
def test_words_of_the_theory_are_in_its_pages_alone(words: str, read: list[tuple[str, str]]) -> None:
    pages = [(place, text) for place, text in read if place.endswith(".md")]
    places = {place for place, text in pages if re.search(words, re.sub(r"--[\w-]+", "", text), re.I)}
    assert any(place.startswith("theory") for place in places)
    assert {one for one in places if not one.startswith("theory")} == set(), f"write {OF_THE_THEORY[words]}"
