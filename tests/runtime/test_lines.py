"""Lines of files that are read some at a time, of which neither a file nor a line need fit in memory."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.reading import lines
from streambound_runtime.reading.lines import expansion, lines_of, split
from streambound_runtime.reading.sources import escaped, is_pattern
from streambound_runtime.spec import Stream, TableColumn
from support.profiles import examples

BLOCKS = st.lists(st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b""]), max_size=6).map(b"".join))


@examples(150)
@given(BLOCKS)
def test_lines_do_not_depend_on_the_blocks_of_a_file(blocks: list[bytes]) -> None:
    parts = [(some.to_pylist(), length) for some, length in split(blocks)]
    assert [line for some, _ in parts for line in some] == b"".join(blocks).splitlines()
    assert all(length == len(some[0]) for some, length in parts)


def test_a_line_that_is_too_long_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even while it is read; those beside it are."""
    monkeypatch.setattr(lines, "LONGEST_LINE", 8)
    read = list[int]()

    def blocks() -> Iterable[bytes]:
        yield b"one\ntw"
        for number in range(1000):
            read.append(number)
            yield b"x" * 8
        yield b"\nthree"

    assert [(some.to_pylist(), length) for some, length in split(blocks())] == [
        ([b"one"], 3),
        ([b"twxxxxxx"], 8002),
        ([b"three"], 5),
    ]
    assert len(read) == 1000


@pytest.mark.parametrize("name", ["S.jsonl", "S.jsonl.gz"])
def test_a_long_line_of_a_file_is_quarantined_with_its_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from streambound_runtime.reading.files import LocalFiles
    from streambound_runtime.settings import Settings

    for module in ("reading.lines", "reading.files", "decoding.decoder"):
        monkeypatch.setattr(f"streambound_runtime.{module}.LONGEST_LINE", 100)
    monkeypatch.setattr(lines, "_AT_ONCE", 100)
    text = b'{"ts": 1}\n{"ts": 2, "more": "' + b"x" * 10_000 + b'"}\n\n{"ts": 3}'
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    stream = Stream("S", (TableColumn("ts", "bigint"),), "ts", ())
    raws = [*(LocalFiles(stream, Settings(input=str(tmp_path))).opened(str(tmp_path / name)) or ())]
    found = [Decoder(stream, lines=True).decode(raw.rows) for raw in raws]
    rejected = pa.concat_tables([one.rejected for one in found], promote_options="default").to_pylist()
    assert [(row["reason"], row["line"], row["length"]) for row in rejected] == [("too-long", 2, 10_021)]
    assert sum(one.rows for one in found) == 3 and max(time for one in found for time in one.largest.values()) == 3
    assert max(raw.rows.nbytes for raw in raws) < 400


def test_what_a_compressed_file_holds(tmp_path: Path) -> None:
    file = tmp_path / "a.json.gz"
    file.write_bytes(gzip.compress(b"x" * 50_000))
    assert expansion(file) == 50_000 / file.stat().st_size
    (tmp_path / "b.json").write_bytes(b"x" * 50_000)
    (tmp_path / "c.gz").write_bytes(b"")
    assert expansion(tmp_path / "b.json") == expansion(tmp_path / "c.gz") == 1.0
    assert [(some.to_pylist(), length) for some, length in lines_of(file)] == [([b"x" * 50_000], 50_000)]


@pytest.mark.parametrize("sign", [*"\\{}[]*?"])
def test_each_sign_of_a_pattern_is_escaped(sign: str) -> None:
    assert escaped(f"/in/a{sign}b") == f"/in/a\\{sign}b"
    assert is_pattern(f"/in/a{sign}b")
