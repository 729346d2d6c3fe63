"""Values of a TOML file checked one by one; what is wrong is blamed on the line of its key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from streambound.analyzer.errors import CatalogError
from streambound.analyzer.spans import Excerpt

Path = tuple[str, ...]


def suggest(word: str, candidates: Iterable[str]) -> str:
    """A did-you-mean clause, or nothing when no candidate is similar.

    >>> suggest("departure", ["departures", "weather"])
    'did you mean departures?'
    """
    from difflib import get_close_matches

    by_lower = {candidate.lower(): candidate for candidate in candidates}
    similar = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f"did you mean {by_lower[similar[0]]}?" if similar else ""


class TomlReader(Struct, frozen=True):
    """Checks values against a schema, blaming the place of a wrong key; ``places`` maps key paths to where they are."""

    file: str
    places: Mapping[Path, Excerpt]

    def at(self, path: Path) -> Excerpt | None:
        """Where a key is, or else the nearest table around it."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path)

    def fail(self, message: str, path: Path, remedy: str = "") -> CatalogError:
        """The error to raise for a key."""
        at = self.at(path)
        line, column = (at.span.line, at.span.column) if at else (1, None)
        return CatalogError(message, file=self.file, line=line, column=column, remedy=remedy, excerpt=at)

    def mapping(self, value: object, path: Path) -> Mapping[str, Any]:
        """A TOML table."""
        if not isinstance(value, dict):
            raise self.fail(f"{'.'.join(path)} must be a table", path)
        return value

    def strings(self, value: object, path: Path) -> tuple[str, ...]:
        """A list of texts."""
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.fail(f"{'.'.join(path)} must be a list of strings", path)
        return tuple(value)

    def known_keys(self, body: Mapping[str, Any], known: tuple[str, ...], path: Path) -> None:
        """Nothing but known keys."""
        for key in body:
            if key not in known:
                where = f" in [{'.'.join(path)}]" if path else ""
                remedy = suggest(key, known) or f"known keys: {', '.join(known)}"
                raise self.fail(f"unknown key {key!r}{where}", (*path, key), remedy)

    def positive(self, body: Mapping[str, Any], key: str, path: Path, least: int) -> int | None:
        """An integer from ``least`` on; None where there is none."""
        value = body.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.fail(f"{key} must be an integer of at least {least}", (*path, key))
        return value

    def choice(self, body: Mapping[str, Any], key: str, path: Path, options: tuple[str, ...]) -> str:
        """One of some words; the first where there is none."""
        value = body.get(key, options[0])
        if value not in options:
            words = " or ".join(f'"{option}"' for option in options)
            hint = suggest(value, options) if isinstance(value, str) else ""
            raise self.fail(f"{key} must be {words}", (*path, key), hint)
        return str(value)
