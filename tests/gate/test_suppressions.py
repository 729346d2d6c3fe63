"""Suppression comments: read or refused, about the right statement, and never more than they say."""

from __future__ import annotations

import json
import random
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.edits import applied
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.gate.directives import Directive, directives
from streambound.gate.policy import Policy
from streambound.gate.suppressions import suppressed
from streambound.reports.outcome import Outcome, outcome
from support.command_line import call
from support.profiles import examples

CATALOG_TEXT = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
"""
CATALOG = parse_catalog(CATALOG_TEXT)
UNBOUNDED = "SELECT T.a FROM S, T WHERE S.ts > T.ts"
BOUNDED = "SELECT S.a FROM S, T WHERE S.ts > T.ts"
TODAY = date(2026, 11, 21)


def check(sql: str, today: date = TODAY, criteria: str = "exact") -> tuple[Outcome, ...]:
    return suppressed(
        map(outcome, check_source(SourceText("q.sql", sql), CATALOG)), today, Policy(run={"criteria": criteria})
    )


def codes(item: Outcome) -> list[str]:
    return [found.code for found in item.diagnostics if found.suppression is None]


def read(comment: str) -> Directive | Diagnostic:
    (found,) = directives(SourceText("q.sql", comment))
    return found


# --- reading ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("comment", "allowed", "reason", "until", "whole_file"),
    [
        ('-- streambound: allow SB201 reason="x"', ["SB201"], "x", None, False),
        ('--streambound:allow SB201 reason="x y"', ["SB201"], "x y", None, False),
        (
            '-- streambound: allow SB201, SB202 until=2027-01-31 reason="x"',
            ["SB201", "SB202"],
            "x",
            date(2027, 1, 31),
            False,
        ),
        (
            '-- streambound: allow sb201 SB110 reason="x" until=2027-01-31',
            ["SB201", "SB110"],
            "x",
            date(2027, 1, 31),
            False,
        ),
        ('/* streambound: allow SB201 reason="x" */', ["SB201"], "x", None, False),
        ('/* streambound: allow SB201\n   reason="over\n   lines" */', ["SB201"], "over lines", None, False),
        ('-- StreamBound: Allow-File SB201 reason="é漢😀 until=x"', ["SB201"], "é漢😀 until=x", None, True),
        (r'-- streambound: allow SB201 reason="say \"no\""', ["SB201"], 'say "no"', None, False),
    ],
)
def test_the_form(comment: str, allowed: list[str], reason: str, until: date | None, whole_file: bool) -> None:
    found = read(comment)
    assert isinstance(found, Directive), found
    assert [one.code for one in found.allowed] == allowed
    assert (found.reason, found.until, found.whole_file) == (reason, until, whole_file)


@pytest.mark.parametrize(
    ("comment", "blamed", "message"),
    [
        ("-- streambound: allow SB201", "-- streambound: allow SB201", "needs a reason"),
        ('-- streambound: allow SB201 reason=""', '""', "needs a reason"),
        ('-- streambound: allow SB201 reason=" \t"', '" \t"', "needs a reason"),
        ("-- streambound: allow SB201 reason=why not", "why not", "double quotes"),
        ("-- streambound: allow SB201 reason='why'", "'why'", "double quotes"),
        ('-- streambound: allow SB201 reason="why', '"why', "double quotes"),
        ('-- streambound: allow reason="why"', '-- streambound: allow reason="why"', "names no code"),
        ('-- streambound: allow SB999 reason="why"', "SB999", "unknown code SB999"),
        ('-- streambound: allow unbounded-projection reason="why"', "unbounded-projection", "unknown code"),
        ('-- streambound: allow SB001 reason="why"', "SB001", "cannot be allowed"),
        ('-- streambound: allow SB102 reason="why"', "SB102", "cannot be allowed"),
        ('-- streambound: allow SB411 reason="why"', "SB411", "cannot be allowed"),
        ('-- streambound: allow SB201 until=2027-02-30 reason="why"', "2027-02-30", "is not a day"),
        ('-- streambound: allow SB201 until=20270131 reason="why"', "20270131", "is not a day"),
        ('-- streambound: allow SB201 until=tomorrow reason="why"', "tomorrow", "is not a day"),
        ('-- streambound: allow SB201 untl=2027-01-31 reason="why"', "untl", "unknown option untl="),
        ('-- streambound: allow SB201 reason="why" reason="because"', "reason", "reason= is there twice"),
        ('-- streambound: allow SB201 reason="why" because', "because", "neither a code"),
        ('-- streambound: allow SB201 reason="why" SB202', "SB202", "neither a code"),
        ('-- streambound: ignore SB201 reason="why"', "ignore", "must be followed by allow"),
        ("-- streambound:", "-- streambound:", "must be followed by allow"),
        ('-- TODO streambound: allow SB201 reason="why"', "streambound: allow", "must start with streambound:"),
        ('-- streambound allow SB201 reason="why"', "-- streambound allow", "must start with streambound:"),
        ('/* a\n streambound: ignore SB201 reason="why" */', "streambound: ignore", "must start with streambound:"),
    ],
)
def test_what_cannot_be_read_is_an_error_at_its_place(comment: str, blamed: str, message: str) -> None:
    found = read(f"/* é漢😀 */ {comment}")
    assert isinstance(found, Diagnostic)
    text = f"/* é漢😀 */ {comment}"
    assert (found.code, text[found.span.start : found.span.end]) == ("SB411", blamed)
    assert message in found.message
    assert found.help


@pytest.mark.parametrize(
    "text",
    [
        "-- checked by streambound",
        "SELECT 'streambound: allow SB201' AS x FROM S",
        'SELECT a AS `-- streambound: allow SB201 reason="x"` FROM S',
        "-- streambound allows windows",
    ],
)
def test_other_texts_are_no_suppressions(text: str) -> None:
    assert list(directives(SourceText("q.sql", text))) == []


def test_every_code_is_either_allowed_or_refused() -> None:
    refused = {"SB001", "SB401", "SB411", "SB412", "SB413"} | {f"SB10{i}" for i in range(1, 9)}
    for rule in Code:
        found = read(f'-- streambound: allow {rule} reason="x"')
        assert isinstance(found, Diagnostic if rule in refused or rule > "SB413" else Directive), rule


# --- which statement -------------------------------------------------------------------------------------------

ALLOW = '-- streambound: allow SB201 reason="x"'
BLOCK = '/* streambound: allow SB201 reason="x" */'


@pytest.mark.parametrize(
    ("sql", "accepted"),
    [
        (f"{ALLOW}\n{UNBOUNDED};\n{UNBOUNDED}", [0]),
        (f"-- name: first\n{ALLOW}\n-- more\n{UNBOUNDED};\n{UNBOUNDED}", [0]),
        (f"{UNBOUNDED};\n{ALLOW}\n{UNBOUNDED}", [1]),
        (f"{UNBOUNDED}; {ALLOW}\n{UNBOUNDED}", [0]),
        (f"{UNBOUNDED} {ALLOW}\n;{UNBOUNDED}", [0]),
        (f"{UNBOUNDED}; {BLOCK} {UNBOUNDED}", [1]),
        (f"{UNBOUNDED};\n{UNBOUNDED} {ALLOW}", [1]),
        (f"{UNBOUNDED};\n{UNBOUNDED}; {ALLOW}", [1]),
        (f"{UNBOUNDED.replace(' FROM', f' {BLOCK} FROM')};{UNBOUNDED}", [0]),
        (f"{UNBOUNDED}\n; {ALLOW}\n{UNBOUNDED}", [0]),
        (f"{UNBOUNDED}\n{ALLOW}\n;\n{UNBOUNDED}", [0]),
        (f"{UNBOUNDED} -- ;\n{ALLOW}\n;\n{UNBOUNDED}", [0]),
        (f"{UNBOUNDED}\r\n;\r\n{ALLOW}\r\n{UNBOUNDED}", [1]),
        (f"{UNBOUNDED}\r\n; {ALLOW}\r\n{UNBOUNDED}", [0]),
        (f"{UNBOUNDED}\n;\n{UNBOUNDED}\n; {ALLOW}", [1]),
        (f"{UNBOUNDED};\n{UNBOUNDED}\n{ALLOW}", [1]),
        (f"{UNBOUNDED};\n;\n{ALLOW}\n{UNBOUNDED};;", [1]),
        (f"{ALLOW.replace('allow', 'allow-file')}\n{UNBOUNDED};\n{UNBOUNDED}", [0, 1]),
    ],
)
def test_a_comment_is_about_one_statement(sql: str, accepted: list[int]) -> None:
    items = check(sql)
    assert [i for i, item in enumerate(items) if item.suppressed] == accepted
    assert [codes(item) for item in items] == [[] if i in accepted else ["SB201"] for i in range(2)]
    assert all(item.verdict == "unbounded" for item in items)


@pytest.mark.parametrize("line", [ALLOW, ALLOW.replace("allow", "allow-file")])
def test_a_comment_behind_the_last_statement_is_an_error(line: str) -> None:
    (item,) = check(f"{UNBOUNDED};\n{line}")
    assert codes(item) == ["SB201", "SB411"]


@pytest.mark.parametrize(
    "sql",
    [
        f"{UNBOUNDED};\n; {ALLOW}\n{UNBOUNDED}",
        f"{UNBOUNDED};\n{ALLOW}\n;\n{UNBOUNDED}",
        f"; {ALLOW}\n{UNBOUNDED};\n{UNBOUNDED}",
        f"{UNBOUNDED};{UNBOUNDED};;{ALLOW}",
    ],
)
def test_a_comment_between_semicolons_alone_is_an_error(sql: str) -> None:
    items = check(sql)
    assert not any(item.suppressed for item in items)
    assert [code for item in items for code in codes(item)].count("SB411") == 1


LINES = st.lists(
    st.sampled_from(["", "-- c", "/* ; */", ALLOW, "; ", ";", "--;", UNBOUNDED, f"{UNBOUNDED};"]), max_size=9
)


@examples(100)
@given(LINES, st.lists(st.sampled_from(["\n", "\r\n", "\n\n", " "]), min_size=9, max_size=9))
def test_a_comment_hides_findings_only_of_the_statement_whose_semicolon_follows_it_or_is_on_its_line(
    parts: list[str], between: list[str]
) -> None:
    """Told from how the text was put together: by counting semicolons, and the lines since the last of them."""
    text, piece, line, ended = "", 0, 0, -1
    statement_of: list[int] = []
    about: set[int] = set()
    for part, blank in zip(parts, between, strict=False):
        comment = part.startswith("--")
        if part.startswith(UNBOUNDED):
            if text.count(UNBOUNDED) and statement_of[-1] == piece:
                return  # two statements without a semicolon between them
            statement_of.append(piece)
        if part == ALLOW:
            about |= {piece - 1} if ended == line else {piece}
        if part.rstrip().endswith(";") and not comment:
            piece, ended = piece + 1, line
        text += part + ("\n" if comment and blank == " " else blank)
        line = text.count("\n")
    if statement_of:
        hidden = {statement_of[i] for i, item in enumerate(check(text)) if codes(item).count("SB201") == 0}
        assert hidden == about & set(statement_of)


def test_a_statements_own_comment_comes_before_the_files() -> None:
    file = '-- streambound: allow-file SB201 reason="all"\n'
    first, second = check(f'{file}{UNBOUNDED};\n-- streambound: allow SB201 reason="mine"\n{UNBOUNDED}')
    assert [item.diagnostics[0].suppression.reason for item in (first, second)] == ["all", "mine"]  # type: ignore[union-attr]


# --- what it accepts -------------------------------------------------------------------------------------------


def test_only_the_named_codes_are_accepted() -> None:
    sql = "SELECT T.a FROM S, T WHERE S.ts > T.ts AND S.b > T.a"
    assert codes(check(sql)[0]) == ["SB201", "SB202"]
    (item,) = check(f"{ALLOW}\n{sql}")
    assert (codes(item), item.suppressed) == (["SB202"], False)
    (item,) = check(f"{ALLOW.replace('SB201', 'SB202, SB201')}\n{sql}")
    assert (codes(item), item.suppressed) == ([], True)


@pytest.mark.parametrize(("day", "holds"), [(date(2027, 1, 31), True), (date(2027, 2, 1), False)])
def test_it_holds_through_its_last_day(day: date, holds: bool) -> None:
    (item,) = check(f'-- streambound: allow SB201 until=2027-01-31 reason="x"\n{UNBOUNDED}', day)
    assert item.suppressed is holds
    assert codes(item) == ([] if holds else ["SB201", "SB412"])


def test_an_unsupported_statement_can_be_accepted_and_a_wrong_one_cannot() -> None:
    (item,) = check('-- streambound: allow SB110 reason="runs elsewhere"\nSELECT S.a FROM S TABLESAMPLE (10 PERCENT)')
    assert (item.verdict, item.suppressed) == ("unsupported", True)
    (item,) = check('-- streambound: allow SB102 reason="runs elsewhere"\nSELECT nope FROM S')
    assert (item.verdict, item.suppressed, codes(item)) == ("error", False, ["SB102", "SB411"])


def test_codes_that_were_not_looked_for_are_not_unused() -> None:
    allow = '-- streambound: allow {} reason="x"\n{}'
    assert codes(check(allow.format("SB201", BOUNDED))[0]) == ["SB413"]
    assert codes(check(allow.format("SB301", BOUNDED))[0]) == []
    assert codes(check(allow.format("SB402", BOUNDED))[0]) == []
    assert codes(check(allow.format("SB201", BOUNDED), criteria="paper")[0]) == []
    assert codes(check(allow.format("SB301", BOUNDED), criteria="paper")[0]) == ["SB413"]
    assert codes(check(allow.format("SB201", "SELECT S.a FROM S TABLESAMPLE (10 PERCENT)"))[0]) == ["SB110"]


@pytest.mark.parametrize(
    ("sql", "after"),
    [
        (f"{ALLOW}\n{BOUNDED}", BOUNDED),
        (f"-- a\r\n{ALLOW}\r\n{BOUNDED}\r\n", f"-- a\r\n{BOUNDED}\r\n"),
        (f"{BOUNDED}  {ALLOW}", BOUNDED),
        (f"{BOUNDED} {BLOCK} ;", f"{BOUNDED}  ;"),
        (f"SELECT{BLOCK}S.a FROM S, T WHERE S.ts > T.ts", "SELECT S.a FROM S, T WHERE S.ts > T.ts"),
        (
            f'-- streambound: allow SB202, SB201 , SB203 until=2030-01-01 reason="x"\n{UNBOUNDED}',
            f'-- streambound: allow SB201 until=2030-01-01 reason="x"\n{UNBOUNDED}',
        ),
        (
            f'-- streambound: allow SB201 SB201 reason="x"\n{UNBOUNDED}',
            f'-- streambound: allow SB201 reason="x"\n{UNBOUNDED}',
        ),
        (f'-- streambound: allow SB201 until=2020-01-01 reason="x"\n{BOUNDED}', BOUNDED),
        (f"{ALLOW}\n{UNBOUNDED} {ALLOW}", f"{ALLOW}\n{UNBOUNDED}"),
    ],
)
def test_what_is_unused_has_a_fix_that_leaves_the_rest(sql: str, after: str) -> None:
    (item,) = check(sql)
    (found,) = (found for found in item.diagnostics if found.code in ("SB412", "SB413"))
    (fix,) = found.fixes
    assert fix.kind == "safe"
    assert applied(sql, fix.edits) == after
    assert not any(found.code in ("SB412", "SB413") for item in check(after) for found in item.diagnostics)


def test_random_comments_are_read_or_refused_and_allow_nothing_else() -> None:
    """Whatever is put together from parts of the form: an exact form is read, and anything else is an error."""
    choose = random.Random(7)
    parts = ["SB201", "SB202", "SB999", "until=2027-01-31", 'reason="x"', "reason=x", "because", ",", "until="]
    for _ in range(400):
        chosen = choose.sample(parts, choose.randint(0, 5))
        (item,) = check(f"-- streambound: allow {' '.join(chosen)}\n{UNBOUNDED}")
        words = [part for part in chosen if part != ","]
        of_code = [part for part in words if part.startswith("SB")]
        options = words[len(of_code) :]
        read = (
            of_code
            and words[: len(of_code)] == of_code
            and "SB999" not in of_code
            and sorted(options) in (['reason="x"'], ['reason="x"', "until=2027-01-31"])
        )
        glued = "until=" in chosen or ("," in chosen and chosen.index(",") > len(of_code))
        if not glued:
            assert ("SB411" not in codes(item)) is bool(read), chosen
        assert item.suppressed is ("SB411" not in codes(item) and "SB201" in of_code)


# --- on the command line ---------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "streams.toml").write_text(CATALOG_TEXT)
    (tmp_path / "q.sql").write_text(f'-- streambound: allow SB201 reason="replaced in March"\n{UNBOUNDED}\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_suppressed_query_passes_and_is_counted(project: Path) -> None:
    result = call("check", "q.sql")
    assert result.exit_code == 0
    assert "q: unbounded, suppressed\n" in result.output
    assert "SB201 at q.sql:2:8 is allowed by q.sql:1:23: replaced in March" in result.output
    assert "1 query checked: 1 unbounded; 1 of them suppressed" in result.output
    assert "error[" not in result.output


def test_json_keeps_the_verdict_and_says_who_accepts_it(project: Path) -> None:
    document = json.loads(call("check", "q.sql", "--format", "json").stdout)
    (query,) = document["queries"]
    assert (query["verdict"], query["suppressed"], document["suppressed"]) == ("unbounded", True, 1)
    assert document["summary"]["unbounded"] == 1
    expected = {"kind": "comment", "reason": "replaced in March", "until": None, "where": "q.sql:1:23"}
    assert query["diagnostics"][0]["suppression"] == expected


def test_findings_that_nobody_accepted_still_fail(project: Path) -> None:
    (project / "q.sql").write_text(f"{(project / 'q.sql').read_text()};\n{UNBOUNDED}")
    assert call("check", "q.sql").exit_code == 1
    (project / "q.sql").write_text(f"-- streambound: allow SB201\n{BOUNDED}")
    assert call("check", "q.sql").exit_code == 1
    (project / "q.sql").write_text(f"{ALLOW}\n{BOUNDED}")
    assert call("check", "q.sql").exit_code == 0
    assert call("check", "q.sql", "--fail-on", "warning").exit_code == 1


def test_it_is_never_compiled_nor_run(project: Path) -> None:
    for arguments in (["compile", "q.sql"], ["run", "q.sql", "--input", ".", "--output", "out.jsonl"]):
        result = call(*arguments)
        assert result.exit_code == 1
        assert "cannot be run in constant memory" in result.output
        assert "q.sql:1:23 allows that in a check (replaced in March), not in a run" in result.output
        assert not (project / "out.jsonl").exists()
    (project / "q.sql").write_text(
        '-- streambound: allow SB110 reason="elsewhere"\nSELECT S.a FROM S TABLESAMPLE (10 PERCENT)'
    )
    result = call("compile", "q.sql")
    assert result.exit_code == 1
    assert "allows that in a check (elsewhere), not in a run" in result.output
