"""Changed texts as a unified diff that `git apply` and `patch -p1` take."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path, PurePath

from streambound.gate.writing import byte_order_mark

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
