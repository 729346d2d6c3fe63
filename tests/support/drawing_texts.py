"""Parsers of DOT and Mermaid as they are written here: they fail on anything else."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

DOT_TOKEN = re.compile(r'\s+|("(?:[^"\\]|\\.)*")|([A-Za-z_]\w*)|(->|[{}\[\]=,;])', re.ASCII)


def dot_tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        match = DOT_TOKEN.match(text, at)
        assert match, f"not DOT: {text[at : at + 40]!r}"
        at = match.end()
        if match.lastindex:
            yield match.group(match.lastindex)


def dot_labels(text: str) -> list[list[str]]:
    """The node labels of a DOT text, line by line; fails on anything that the grammar does not allow."""
    tokens = [*dot_tokens(text)]
    assert tokens[:2] == ["digraph", "{"]
    labels: list[list[str]] = []
    end = _dot_statements(tokens, 2, labels)
    assert tokens[end:] == ["}"]
    return labels


def _dot_statements(tokens: list[str], at: int, labels: list[list[str]]) -> int:
    """The index of the brace that ends a list of statements."""
    while tokens[at] != "}":
        if tokens[at] == "subgraph":
            assert tokens[at + 2] == "{"
            at = _dot_statements(tokens, at + 3, labels) + 1
            continue
        first, at = tokens[at], at + 1
        assert re.fullmatch(r"\w+", first)
        is_edge = tokens[at] == "->"
        if tokens[at] in ("->", "="):
            at += 2
        if tokens[at] == "[":
            end = tokens.index("]", at)
            attributes = [tokens[i : i + 3] for i in range(at + 1, end, 4)]
            assert all(attribute[1] == "=" for attribute in attributes)
            assert all(comma == "," for comma in tokens[at + 4 : end : 4])
            if not is_edge and first not in ("graph", "node", "edge"):
                labels.append(_dot_text(next(value for key, _, value in attributes if key == "label")))
            at = end + 1
        assert tokens[at] == ";"
        at += 1
    return at


def _dot_text(quoted: str) -> list[str]:
    lines = [""]
    for part in re.findall(r"\\.|[^\\]", quoted[1:-1]):
        if part == "\\n":
            lines.append("")
        else:
            assert part in ('\\"', "\\\\") or len(part) == 1
            lines[-1] += part[-1]
    assert not re.search(r"&(?!amp;)", "".join(lines))
    return [html.unescape(line) for line in lines]


MERMAID_TEXT = r'"([^"\n]*)"'
MERMAID_LINES = [
    r"flowchart TD",
    r"acc(?:Title|Descr): ?[\w ,.()]*",
    rf"subgraph p\d+\[{MERMAID_TEXT}\]",
    r"end",
    rf"n\d+x\d+ -->(?:\|{MERMAID_TEXT}\|)? n\d+x\d+",
    r"classDef \w+ fill:#\w{6},stroke:#\w{6},color:#\w{6}",
]
MERMAID_NODE = rf"n\d+x\d+(?:\[{MERMAID_TEXT}\]|\[\[{MERMAID_TEXT}\]\]|\({MERMAID_TEXT}\)):::\w+"


def mermaid_labels(text: str) -> list[list[str]]:
    """The node labels of a Mermaid text; fails on a line of any other form, and on a character that is not plain."""
    labels = []
    for line in text.split("\n"):
        node = re.fullmatch(MERMAID_NODE, line.strip())
        if node:
            labels.append(
                [
                    _mermaid_text(part)
                    for part in next(text for text in node.groups() if text is not None).split("<br/>")
                ]
            )
        else:
            matches = [match for form in MERMAID_LINES if (match := re.fullmatch(form, line.strip()))]
            assert matches, f"not a line we write: {line!r}"
            assert all(_mermaid_text(group) is not None for group in matches[0].groups() if group)
    return labels


def _mermaid_text(text: str) -> str:
    without = re.sub(r"#\d+;", "", text)
    assert all(c.isalnum() or c in " _,.()+=/{}" for c in without), without
    return re.sub(r"#(\d+);", lambda code: chr(int(code.group(1))), text)
