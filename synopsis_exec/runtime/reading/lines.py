"""Lines of text files, plain or compressed with gzip, some at a time: neither a file nor a line need fit in memory."""

from __future__ import annotations

import gzip
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from streambound_runtime.decoding.raw import LONGEST_LINE

if TYPE_CHECKING:
    import pyarrow as pa

_PLAIN = ("", ".json", ".jsonl", ".log", ".ndjson", ".txt")
_GZIP = ".gz"
ENDS = (*_PLAIN, _GZIP)
"""Ends of the names of files whose lines are read here."""
_AT_ONCE = 1 << 22
"""Bytes of a file that are read at a time, no more than `LONGEST_LINE`: few enough for the processor's cache."""
_SIZE_BYTES = 4
"""A file of gzip ends with the length of what it holds, modulo 2**32."""


def lines_of(file: Path) -> Iterator[tuple[pa.BinaryArray, int]]:
    """The lines of a file in blocks, each with the length of its first line, without a byte-order mark.

    As in Spark lines end at line feeds and carriage returns. A line longer than `LONGEST_LINE` is the first of its
    block, and cut.
    """
    with cast("BinaryIO", gzip.open(file) if file.suffix == _GZIP else file.open("rb")) as opened:
        yield from split(_blocks(opened))


def _blocks(opened: BinaryIO) -> Iterator[bytes]:
    start = opened.read(_AT_ONCE)
    yield start.removeprefix(BOM_UTF8)
    while block := opened.read(_AT_ONCE):
        yield block


def split(blocks: Iterable[bytes]) -> Iterator[tuple[pa.BinaryArray, int]]:
    r"""The lines of a text that comes in blocks none of which is longer than `LONGEST_LINE`, as `lines_of` has them.

    >>> [(lines.to_pylist(), length) for lines, length in split([b"a\r", b"\nb", b"c\n\nd"])]
    [([b'a'], 1), ([b'bc', b''], 2), ([b'd'], 1)]
    """
    begun, length, returned = b"", 0, False
    for read in filter(None, blocks):
        block = read.removeprefix(b"\n") if returned else read
        returned = (block or b"\n").endswith(b"\r")
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        first, last = block.find(b"\n"), block.rfind(b"\n")
        if first >= 0:
            text = block if length <= len(begun) else block[first:]  # of a line that is too long the end is not wanted
            yield _lines(begun + text), length + first
            begun, length = b"", 0
        rest = block[last + 1 :]
        begun += rest[: max(LONGEST_LINE - length, 0)]
        length += len(rest)
    if length:
        yield _lines(begun + b"\n"), length


def _lines(text: bytes) -> pa.BinaryArray:
    """The lines of a text that end with a line feed."""
    import pyarrow as pa

    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n"))
    offsets = np.concatenate([[0], ends - np.arange(len(ends))]).astype(np.int32)
    parts = [None, pa.py_buffer(offsets), pa.py_buffer(text.replace(b"\n", b""))]
    return pa.BinaryArray.from_buffers(pa.binary(), len(ends), parts)


def expansion(file: Path) -> float:
    """How many times as large a file's text is as the file, as far as the file says it."""
    if file.suffix != _GZIP or (length := file.stat().st_size) <= _SIZE_BYTES:
        return 1.0
    with file.open("rb") as opened:
        opened.seek(-_SIZE_BYTES, 2)
        return int.from_bytes(opened.read(), "little") / length
