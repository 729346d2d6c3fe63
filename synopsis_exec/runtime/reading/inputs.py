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
    hidden = next((file for file in files if file.name.startswith(("_", "."))), None)
    if hidden is not None:
        raise unreadable(f"Spark ignores {hidden}, because its name starts with {hidden.name[0]}")
    return files
