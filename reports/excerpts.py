"""The line that a finding or a related place is on, whichever file that is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from streambound.analyzer.diagnostics import Diagnostic, Related
from streambound.analyzer.spans import Excerpt, SourceText
from streambound.reports.outcome import Outcome


def excerpt(item: Outcome, place: Diagnostic | Related) -> Excerpt:
    """A place with its line: of the statement's file, or of another, such as the catalog; no text if unreadable."""
    if isinstance(place, Related) and place.text:
        return Excerpt(place.file, place.span, place.text)
    if place.file == item.source.file:
        return item.source.excerpt(place.span)
    with suppress(OSError, UnicodeDecodeError):
        return SourceText(place.file, Path(place.file).read_bytes().decode("utf-8-sig")).excerpt(place.span)
    return Excerpt(place.file, place.span, "")
