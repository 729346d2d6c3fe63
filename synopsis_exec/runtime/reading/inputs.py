"""A directory of recorded streams: a file ``NAME.jsonl`` each, or a directory ``NAME`` of such files."""

from __future__ import annotations

from pathlib import Path

from streambound_runtime.errors import unreadable


def input_files(name: str, folder: Path) -> list[Path]:
    """`NAME.jsonl`, or the `.jsonl` files in the directory `NAME`, by name."""
    single, several = folder / f"{name}.jsonl", folder / name
    files = [single] if single.is_file() else sorted(several.glob("*.jsonl"))
    if not files:
        raise unreadable(f"there is no {single}, and no directory {several} with .jsonl files")
    hidden = next(filter(is_hidden, files), None)
    if hidden is not None:
        raise unreadable(ignored(hidden))
    return files


def is_hidden(file: Path) -> bool:
    """Whether Spark takes no notice of a file because of its name."""
    name = file.name
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def ignored(file: Path) -> str:
    """The message about a file that Spark ignores."""
    how = "ends with ._COPYING_" if file.name.endswith("._COPYING_") else f"starts with {file.name[0]}"
    return f"Spark ignores {file}, because its name {how}"
