"""Writes changed texts back to their files: all of them or none, each at once, with its byte-order mark and mode."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import tempfile
from codecs import BOM_UTF8
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePath

from streambound.analyzer.errors import InputError


def write_texts(texts: Mapping[str, tuple[str, str]]) -> None:
    """Replace each file's text, ``(before, after)``; raises InputError, with nothing written, where one cannot be.

    A file whose text is no longer the one before was changed meanwhile, and is not overwritten.
    """
    prepared: list[tuple[Path, Path]] = []
    try:
        for file, (before, after) in texts.items():
            prepared.append(_prepared(Path(file), before, after))
        for temporary, target in prepared:
            _replace(temporary, target)
    finally:
        for temporary, _ in prepared:
            with suppress(FileNotFoundError):
                temporary.unlink()


def byte_order_mark(file: Path) -> bytes:
    """The byte-order mark of a file: UTF-8's, or empty."""
    with file.open("rb") as opened:
        return BOM_UTF8 if opened.read(len(BOM_UTF8)) == BOM_UTF8 else b""


def _prepared(file: Path, before: str, after: str) -> tuple[Path, Path]:
    """The new content in a file beside the one it will replace; a link stays a link."""
    target = file.resolve()
    try:
        content, mark = target.read_bytes(), byte_order_mark(target)
        if content.removeprefix(BOM_UTF8) != before.encode("utf-8"):
            remedy = "nothing was written; run it again"
            raise InputError("the file changed while it was checked", file=str(file), remedy=remedy)
        if not os.access(target, os.W_OK):
            raise InputError("the file may not be written; nothing was", file=str(file))
        return _beside(target, mark + after.encode("utf-8")), target
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}; nothing was written", file=str(file)) from error


def _beside(target: Path, content: bytes) -> Path:
    """A new file with the mode of another one, in its directory, so that it can take its place at once."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        shutil.copymode(target, name)
    except OSError:
        Path(name).unlink()
        raise
    return Path(name)


def _replace(temporary: Path, target: Path) -> None:
    try:
        temporary.replace(target)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=str(target)) from error


_NO_NEWLINE = "\\ No newline at end of file\n"


def unified_diff(texts: Mapping[str, tuple[str, str]]) -> str:
    """The diff of some files, each with its text before and after, in the order of their names."""
    return "".join(_of_file(PurePath(file).as_posix(), *texts[file]) for file in sorted(texts))


def _of_file(file: str, before: str, after: str) -> str:
    mark = byte_order_mark(Path(file)).decode("utf-8")
    old, new = _lines(mark + before), _lines(mark + after)
    prefix = ("", "") if file.startswith("/") else ("a/", "b/")
    found = difflib.unified_diff(old, new, f"{prefix[0]}{file}", f"{prefix[1]}{file}")
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in found)


def _lines(text: str) -> list[str]:
    """Lines as git sees them: only a line feed ends one."""
    return [line for line in re.split(r"(?<=\n)", text) if line]
