"""Where quarantined rows were read: the numbers of lines in files, as Spark splits them."""

from __future__ import annotations

import bz2
import gzip
import random
from pathlib import Path
from typing import Any

import pytest
from synopsis_exec.test_codegen import figure2_job

from streambound.synopsis_exec.job.reasons import REASONS, WORDS, code_and_detail, reason_text
from streambound.synopsis_exec.simulate import load_kernel

PIECES = [b"{}", b"a", b" ", b"\xff", b"\xc3\xa4", b"\xe2\x80\xa8", b"\x85", b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf"]


@pytest.fixture(scope="module")
def job() -> Any:
    return load_kernel(figure2_job())


def test_lines_are_numbered_as_spark_splits_them(job: Any, tmp_path: Path) -> None:
    """At line feeds and carriage returns alone; a mark of the order of bytes is no part of the first line."""
    dice = random.Random(5)
    for number in range(200):
        content = b"".join(dice.choices(PIECES, k=dice.randrange(30)))
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(content)
        expected: dict[str, list[int]] = {}
        for place, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
            expected.setdefault(job.comparable(line.decode("utf-8", "replace")), []).append(place)
        assert job.numbers_of(str(file), set(expected)) == expected


def test_texts_with_broken_bytes_are_found_however_they_are_decoded(job: Any, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\xf0\x9fy\nx\xffy\nx\xff\xff\xffy\n")
    assert job.numbers_of(str(tmp_path / "a"), {"x\ufffd\ufffdy"}) == {"x\ufffd\ufffdy": [1, 2, 3]}


def test_what_cannot_be_opened_has_no_lines(job: Any, tmp_path: Path) -> None:
    text = b"a\nb\na\n"
    for name, content in (("a.json.gz", gzip.compress(text)), ("a.bz2", bz2.compress(text)), ("cut.gz", b"\x1f\x8b")):
        (tmp_path / name).write_bytes(content)
    assert job.numbers_of(str(tmp_path / "a.json.gz"), {"a"}) == {"a": [1, 3]}
    for name in ("a.bz2", "cut.gz", "gone"):
        assert job.numbers_of(str(tmp_path / name), {"a"}) == {}


def test_of_equal_lines_the_last_ones_are_those_that_are_too_many(job: Any, tmp_path: Path) -> None:
    (tmp_path / "S.jsonl").write_text("a\nb\na\na\n")
    options = job.arguments(["--input", str(tmp_path)])
    rows = [job.quarantined("stream", "S", job.reason_text("max-per-timestamp", most=1), "a")] * 2
    near = [{str(tmp_path / "S.jsonl"): 8}, {}, {}]
    assert [row["line"] for row in job.with_lines(rows, options, near)] == [3, 4]
    assert [row["file"] for row in job.with_lines(rows, options, near)] == [str(tmp_path / "S.jsonl")] * 2
    assert job.with_lines(rows, options) == rows
    assert "file" not in rows[0]


def test_what_is_not_known_is_left_out_and_the_rest_is_in_order(job: Any) -> None:
    row = job.quarantined("stream", "S", "late: x", None, "", {"partition": 0, "offset": 0})
    assert [*job.in_batch([row], 0)[0].items()] == [
        ("stream", "S"), ("reason", "late"), ("detail", "x"), ("partition", 0), ("offset", 0), ("batch", 0),
        ("row", None),
    ]  # fmt: skip


def test_every_reason_has_one_code(job: Any) -> None:
    assert len(WORDS) == len(REASONS) == len({words for _, words in REASONS})
    for code, _ in REASONS:
        assert set(code) <= set("abcdefghijklmnopqrstuvwxyz-8")
        text = reason_text(code, column="a: b", kind="an int", most=3)
        assert code_and_detail(text)[0] == code
        assert "{" not in text


def test_the_documentation_has_every_reason_and_key(job: Any) -> None:
    text = (Path(__file__).parents[2] / "docs" / "executor.md").read_text(encoding="utf-8")
    section = text[text.index("\n## Quarantine\n") : text.index("\n## What happens when")]
    for name in (*WORDS, *job.QUARANTINED):
        assert f"`{name}`" in section, name
