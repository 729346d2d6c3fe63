"""Reading SQL files: UTF-8 text, or an error that says so."""

from __future__ import annotations

from pathlib import Path

from streambound.analyzer.errors import InputError
from streambound.analyzer.spans import SourceText


def read_sql(path: Path) -> SourceText:
    """A SQL file's text; raises InputError when it cannot be read or is not UTF-8 text."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror}", file=str(path)) from error
    return sql_text(str(path), content)


def sql_text(file: str, content: bytes) -> SourceText:
    """The text of a SQL file's content; raises InputError when it is not UTF-8 text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("the file is not UTF-8 text", file=file, remedy="is it a SQL file?") from error
    if "\0" in text:
        raise InputError("the file is binary", file=file, remedy="is it a SQL file?")
    return SourceText(file, text)
