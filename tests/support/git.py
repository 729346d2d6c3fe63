"""Git in the current directory, as a test calls it."""

from __future__ import annotations

import subprocess


def git(*arguments: str) -> str:
    """What a git command prints."""
    command = ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "protocol.file.allow=always", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit() -> None:
    """Commit everything."""
    git("add", "-A")
    git("commit", "-qm", "state")
