"""Text edits: changes of a source at spans, which leave every other character as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from streambound.analyzer.spans import SourceText, Span


class Edit(Struct, frozen=True):
    """Replace the text of ``span`` in ``file`` by ``replacement``; an empty span inserts."""

    file: str
    span: Span
    replacement: str


class Hunk(Struct, frozen=True):
    """Lines that an edit replaces, and what they become; ``line`` is the 1-based number of the first."""

    file: str
    line: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text after its edits, which must not overlap; edits at one place apply in their order.

    Raises ValueError when two overlap.
    """
    parts, position = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        if edit.span.start < position:
            raise ValueError("two edits overlap")
        parts += [text[position : edit.span.start], edit.replacement]
        position = edit.span.end
    return "".join((*parts, text[position:]))


def hunks(source: SourceText, edits: tuple[Edit, ...]) -> Iterator[Hunk]:
    """The changed lines of one file, as a unified diff without context shows them."""
    groups: list[list[Edit]] = []
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        if groups and edit.span.line <= max(other.span.end_line for other in groups[-1]):
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return (_hunk(source, group) for group in groups)


def _hunk(source: SourceText, edits: list[Edit]) -> Hunk:
    """The lines that some edits touch, without those that stay as they are."""
    start = edits[0].span.start - edits[0].span.column + 1
    last = max(edit.span.end for edit in edits)
    end = source.text.find("\n", last)
    end = len(source.text) if end < 0 else end
    old, new = source.text[start:end].split("\n"), applied(source.text[:end], edits)[start:].split("\n")
    line = edits[0].span.line
    while old and new and old[0] == new[0]:
        old, new, line = old[1:], new[1:], line + 1
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    removed, added = (tuple(text.removesuffix("\r") for text in lines) for lines in (old, new))
    return Hunk(source.file, line, removed, added)
