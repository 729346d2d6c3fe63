"""A git repository, read only: commits, their files and texts, and which files were renamed since.

Everything goes through the `git` command. Neither the work tree nor the index is touched.
"""

from __future__ import annotations

import os
import posixpath
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from streambound.analyzer.errors import UsageError

_LINK, _SUBMODULE = "120000", "160000"
_LINKS = 40
"""Links in a row that are followed; systems follow no more."""
_SHALLOW = "fetch it: git fetch --unshallow, or in GitHub Actions fetch-depth: 0 for actions/checkout"


class Repository(Struct, frozen=True):
    """A repository by the root of its work tree."""

    root: Path

    @classmethod
    def around(cls, directory: Path) -> Repository:
        """The repository that a directory is in; raises UsageError when there is none."""
        found = _git(directory, "rev-parse", "--show-toplevel")
        if found.returncode:
            said = found.stderr.decode(errors="replace").strip() or str(directory)
            remedy = "--against compares with another state in git: run it inside a clone"
            if "dubious ownership" in said:
                remedy = "it is another user's: if you trust it, git config --global --add safe.directory DIRECTORY"
            raise UsageError(f"no repository that git reads: {said.splitlines()[0]}", remedy=remedy)
        return cls(Path(os.fsdecode(found.stdout.removesuffix(b"\n"))))

    def commit(self, ref: str) -> str:
        """The commit that a name means; raises UsageError when it is not here, and says why it may not be."""
        if not ref or ref.startswith("-"):
            raise UsageError(f"{ref!r} names no commit", remedy="name a branch, a tag or a commit, as in origin/main")
        found = _git(self.root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if found.returncode == 0:
            return found.stdout.decode().strip()
        shallow = _git(self.root, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"
        if shallow:
            raise UsageError(f"{ref} is not in this clone, which is shallow", remedy=_SHALLOW)
        remedy = "is it fetched? git fetch origin, then origin/BRANCH; git branch -a lists the names"
        raise UsageError(f"there is no commit {ref} in {self.root}", remedy=remedy)

    def files(self, commit: str) -> Mapping[str, str]:
        """The files of a commit, relative to the root, and their modes; submodules are none."""
        found = self._run("ls-tree", "-r", "-z", "--full-tree", commit)
        entries = (entry.partition(b"\t") for entry in found.split(b"\0") if entry)
        modes = {os.fsdecode(name): head.split(b" ")[0].decode() for head, _, name in entries}
        return {name: mode for name, mode in modes.items() if mode != _SUBMODULE}

    def renames(self, commit: str) -> dict[str, str]:
        """Files of the work tree that a commit calls otherwise: new name to old name."""
        flags = ("--find-renames", "--diff-filter=R", "--name-status", "--no-ext-diff", "--no-textconv", "-z")
        parts = [os.fsdecode(part) for part in self._run("diff", *flags, commit, "--").split(b"\0") if part]
        return {new: old for _, old, new in zip(parts[::3], parts[1::3], parts[2::3], strict=True)}

    def contents(self, commit: str, files: Iterable[str], modes: Mapping[str, str]) -> Mapping[str, bytes]:
        """The contents of some files in a commit, of links those of what they lead to; of what is there.

        ``modes`` are those of `files`. A link that leads out of the commit has no content.
        """
        wanted = list(dict.fromkeys(files))
        found, ends = dict(self._blobs(commit, wanted)), {name: name for name in wanted}
        for _ in range(_LINKS):
            links = {name: end for name, end in ends.items() if modes.get(end) == _LINK and end in found}
            if not links:
                break
            for name, end in links.items():
                ends[name] = posixpath.normpath(posixpath.join(posixpath.dirname(end), os.fsdecode(found[end])))
            more = {ends[name] for name in links} & modes.keys()
            found |= self._blobs(commit, sorted(more - found.keys()))
        return {name: found[end] for name, end in ends.items() if end in found and modes.get(end) != _LINK}

    def _blobs(self, commit: str, wanted: Sequence[str]) -> dict[str, bytes]:
        asked = b"".join(os.fsencode(f"{commit}:{file}") + b"\n" for file in wanted if "\n" not in file)
        found = self._run("cat-file", "--batch", given=asked)
        contents, at = dict[str, bytes](), 0
        for file in (file for file in wanted if "\n" not in file):
            end = found.index(b"\n", at)
            head = found[at:end].rsplit(b" ", 2)
            at = end + 1
            if found[:end].endswith(b" missing") or head[-1] == b"missing":
                continue
            size = int(head[-1])
            if head[-2] == b"blob":
                contents[file] = found[at : at + size]
            at += size + 1
        return contents

    def _run(self, *arguments: str, given: bytes | None = None) -> bytes:
        done = _git(self.root, *arguments, given=given)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise UsageError(f"git {arguments[0]} failed: {said}")
        return done.stdout


def _git(directory: Path, *arguments: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run git; without optional locks it does not even refresh the index."""
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", "-C", str(directory), *arguments]
    try:
        return subprocess.run(command, input=given, capture_output=True, env=environment, check=False)
    except FileNotFoundError as error:
        raise UsageError("git is not installed", remedy="--against reads the other state from git") from error
