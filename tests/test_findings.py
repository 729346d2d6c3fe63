"""Statements with what is found in them: the verdict, each code with its place and token, and words of the message.

`tests/cases/findings/` has them by their catalog; ``says:`` before a statement are words of a message or its help. What
the help says to write instead follows the statement, and is decided.
"""

from __future__ import annotations

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from support.cases import Judged, finding, read_judged

SAYS = "says: "


@pytest.mark.parametrize("case", read_judged("findings"), ids=str)
def test_what_is_found(case: Judged) -> None:
    (sql,) = case.texts
    found, words = [], ""
    for checked in check_source(SourceText("q.sql", sql), catalog_from_mapping(case.declared)):
        findings = ", ".join(finding(one, sql) for one in checked.diagnostics)
        found.append(f"{checked.verdict}: {findings}" if findings else str(checked.verdict))
        words += "".join(f"{one.message} {one.help}\n" for one in checked.diagnostics)
        assert "constructs" not in case.file or all(one.help for one in checked.diagnostics)
    assert " / ".join(found) == case.expected, words
    assert all(note.removeprefix(SAYS) in words for note in case.notes if note.startswith(SAYS)), words
