"""Carets stand under the marked text, whatever its width in a terminal."""

from __future__ import annotations

import pytest

from streambound.analyzer.spans import SourceText
from streambound.reports.snippet import snippet

CASES = [
    ("ascii", "SELECT abc", 7, 10, "       ^^^"),
    ("accents are one column", "é abc", 2, 5, "  ^^^"),
    ("combining marks are none", "e\u0301 abc", 3, 6, "  ^^^"),
    ("wide characters are two", "漢😀 abc", 3, 6, "     ^^^"),
    ("marked wide characters", "a 漢字 b", 2, 4, "  ^^^^"),
    ("tabs go to the next stop", "\tabc", 1, 4, "    ^^^"),
    ("a tab after text", "ab\tcd", 3, 5, "    ^^"),
    ("an empty mark is one caret", "abc", 3, 3, "   ^"),
]


@pytest.mark.parametrize(("text", "start", "end", "carets"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_carets(text: str, start: int, end: int, carets: str) -> None:
    source = SourceText("q.sql", text)
    _, _, marks = snippet(source.excerpt(source.span(start, end)), "error", color=False)
    assert marks == f"  | {carets}"


def test_a_mark_over_several_lines_shows_the_first() -> None:
    source = SourceText("q.sql", "SELECT a,\r\n  b")
    _, line, marks = snippet(source.excerpt(source.span(7, 14)), "error", color=False)
    assert line == "1 | SELECT a, …"
    assert marks == "  |        ^^"


@pytest.mark.parametrize(
    ("start", "end", "line", "marks"),
    [
        (3, 6, "abcd" * 40 + "…", "   ^^^"),
        (3, 900, "abcd" * 40 + "…", "   " + "^" * 157),
        (400, 403, "…" + "abcd" * 40 + "…", " " * 41 + "^^^"),
        (400, 900, "…" + "abcd" * 40 + "…", " " * 41 + "^" * 120),
        (996, 1000, "…" + "abcd" * 11, " " * 41 + "^^^^"),
    ],
)
def test_a_long_line_is_cut_around_the_mark(start: int, end: int, line: str, marks: str) -> None:
    source = SourceText("q.sql", "abcd" * 250)
    _, shown, carets = snippet(source.excerpt(source.span(start, end)), "error", color=False)
    assert (shown, carets) == (f"1 | {line}", f"  | {marks}")


def test_a_text_that_could_not_be_read_has_no_line() -> None:
    source = SourceText("q.sql", "")
    assert snippet(source.excerpt(source.span(0, 0)), "error", color=False) == ()
