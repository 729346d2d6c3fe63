"""A statement's name is one word that is the same as a directory everywhere; a comment that gives another is wrong."""

from __future__ import annotations

import pytest

import streambound

CATALOG = '[streams.S]\ntimestamp = "ts"\ncolumns = { a = "bigint", ts = "bigint" }'
SQL = "SELECT S.a FROM S WHERE S.a = 1"


@pytest.mark.parametrize("name", ["late_payments", "q-1", "7", "Zahlungen_über_100", "-"])
def test_a_name_is_letters_digits_and_two_signs(name: str) -> None:
    (result,) = streambound.check(f"-- name: {name}\n{SQL}", CATALOG)
    assert (result.name, result.verdict) == (name, "bounded")


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("../../evil", "evil"), ("/etc/cron", "etc_cron"), ("..", "late_payments"), (".", "late_payments"),
        ("q.", "q"), ("a\\b", "a_b"), ("C:q", "C_q"), ("daily report", "daily_report"), ("a\x1b[2Kb", "a_2Kb"),
        ("a:1", "a_1"), ("\u202egro", "gro"), ("<b>", "b"),
    ],
)  # fmt: skip
def test_anything_else_is_an_error_at_its_place(name: str, offered: str) -> None:
    (first, second) = streambound.check(f"{SQL};\n  -- name: {name}\n{SQL}", CATALOG)
    assert (first.verdict, second.verdict) == ("bounded", "error")
    (found,) = second.diagnostics
    assert (found.code, found.span.line, found.span.column) == ("SB001", 2, 12)
    assert found.message.startswith("syntax error: a name is one word of letters, digits, _ and -")
    assert found.help == f"write -- name: {offered}"
    assert second.name.endswith(":2")


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\\\b", ".", "..", ".hidden", "x.", "x ", "a\\u0000", "a\\nb", ""])
def test_a_table_is_called_as_a_file_can_be(name: str) -> None:
    with pytest.raises(streambound.StreamboundError, match="cannot be the name of a table") as failed:
        streambound.check(SQL, CATALOG.replace("streams.S", f'streams."{name}"'))
    assert failed.value.line == 1


def test_tables_that_are_one_file_somewhere_are_one() -> None:
    for one, other in (("s", "S"), ("STRASSE", "straße"), ("é", "e\u0301")):
        two = CATALOG.replace("streams.S", f'streams."{one}"') + CATALOG.replace("[streams.S", f'\n[streams."{other}"')
        with pytest.raises(streambound.StreamboundError, match="declared twice"):
            streambound.check(SQL, two)


def test_a_long_comment_takes_no_longer_than_its_length() -> None:
    """An expression that tries each blank again would not end here."""
    (result,) = streambound.check(f"-- name: a{' ' * 300_000}b\n{SQL}", CATALOG)
    assert result.verdict == "error"
    (result,) = streambound.check(f"-- name: a{' ' * 300_000}\n{SQL}", CATALOG)
    assert (result.name, result.verdict) == ("a", "bounded")
