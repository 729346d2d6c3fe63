"""Any file of up to 100 kB is decided or refused with words, soon: whatever is long, deep, wide, broken or repeated.

How long that takes is measured by tests/hostile.py. Here a check that does not end is ended.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from cProfile import Profile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streambound.analyzer import work
from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.spans import SourceText
from streambound.analyzer.work import STATEMENT
from streambound.criteria.check import check_source
from streambound.criteria.vocabulary import Verdict
from streambound.gate import judging
from support.hostile_inputs import CATALOG, FAMILIES
from support.profiles import MORE

HANGS = 100
"""Seconds after which a check is taken to go on for ever; ten times what the slowest of these should take."""
DECIDED = {"bounded", "unbounded", "no-query"}


def checked(folder: Path, text: str) -> dict[str, object]:
    """The report of a check, in a process of its own."""
    (folder / "streams.toml").write_text(CATALOG, encoding="utf-8")
    (folder / "q.sql").write_text(text, encoding="utf-8", errors="surrogatepass")
    command = [sys.executable, "-m", "streambound", "check", "--no-cache", "-j", "1", "--format", "json", "q.sql"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=HANGS, check=False)
    assert done.returncode in (0, 1, 3), done.stderr.decode()
    assert b"Traceback" not in done.stderr
    return dict(json.loads(done.stdout))


@given(family=st.sampled_from(sorted(FAMILIES)), length=st.integers(1, 100_000), seed=st.integers(0, 2**32))
@settings(max_examples=5 * MORE, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
def test_any_file_is_decided_or_refused_with_words(tmp_path: Path, family: str, length: int, seed: int) -> None:
    text = FAMILIES[family](length, random.Random(seed))
    assert len(text) <= length or length < 1_000, "no family is longer than asked for"
    report = checked(tmp_path, text)
    queries = report["queries"]
    assert isinstance(queries, list)
    for query in queries:
        errors = [found for found in query["diagnostics"] if found["severity"] == "error"]
        assert query["verdict"] in DECIDED or errors, query
        assert all(found["code"] != "SB901" and found["message"] for found in query["diagnostics"]), query


GROWING = (
    "LEFT JOIN", "LEFT JOIN of one", "SEMI JOIN", "sums with FILTER", "sums of CASE", "HAVING", "frames", "LAG",
    "EXCEPT", "set operations", "UNION ALL of groups", "EXISTS and EXISTS", "AND of joins", "DISTINCT of DISTINCT",
    "LAG of LAG", "CTEs in a row", "select list of computations",
)  # fmt: skip


def calls(text: str) -> int:
    """How many functions a check calls."""
    catalog, source = parse_catalog(CATALOG, "streams.toml"), SourceText("q.sql", text)
    profile = Profile(builtins=False)
    (item,) = profile.runcall(check_source, source, catalog)
    assert item.verdict is Verdict.BOUNDED or item.verdict is Verdict.UNBOUNDED, item.diagnostics
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("family", GROWING)
def test_a_check_of_twice_as_much_takes_a_few_times_as_many_calls(family: str) -> None:
    """Twice for most, and less than four times: facts of joins are of all columns of all sides below."""
    calls(FAMILIES[family](150, random.Random(0)))  # what is imported, and kept, is so now
    few, many = (calls(FAMILIES[family](length, random.Random(0))) for length in (500, 1_000))
    assert 1.2 * few < many < 3.7 * few


def test_conditions_above_groups_are_decided_or_refused_with_words(tmp_path: Path) -> None:
    """Each is an operator of its own: hundreds one above the other are too deep."""
    family = FAMILIES["conditions above groups"]
    (few,) = checked(tmp_path, family(700, random.Random(0)))["queries"]  # type: ignore[misc]
    assert few["verdict"] == "bounded"
    (many,) = checked(tmp_path, family(20_000, random.Random(0)))["queries"]  # type: ignore[misc]
    assert [found["code"] for found in many["diagnostics"]] == ["SB212"]
    assert "too many operators one above the other" in many["diagnostics"][0]["message"]


DOUBLING = {
    "in a union": ("SELECT a FROM c{0} UNION ALL SELECT a FROM c{0}", 14, "SB209"),
    "in joins": ("SELECT x.a FROM c{0} AS x JOIN c{0} AS y ON x.a = y.a", 14, "SB212"),
    "in unions that are joined": (
        "SELECT x.a FROM (SELECT a FROM c{0} UNION ALL SELECT a FROM c{0}) AS x JOIN c{0} AS y ON x.a = y.a", 5, "SB209"
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", DOUBLING)
def test_what_ctes_stand_for_is_counted_before_they_are_put_in_their_places(tmp_path: Path, how: str) -> None:
    body, depth, code = DOUBLING[how]
    ctes = ", ".join(f"c{n + 1} AS ({body.format(n)})" for n in range(depth))
    report = checked(tmp_path, f"WITH c0 AS (SELECT S.a FROM S), {ctes} SELECT a FROM c{depth}")
    (query,) = report["queries"]  # type: ignore[misc]
    assert query["verdict"] == "unknown"
    assert [found["code"] for found in query["diagnostics"]] == [code]


def test_a_file_after_which_no_work_is_left_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "FILE", 400_000)
    one = FAMILIES["clique of <"](2_000, random.Random(0))
    text = SourceText("q.sql", ";\n".join([one] * 4 + ["SELECT S.a FROM S"]))
    *_, last = judging.judged(text, parse_catalog(CATALOG, "streams.toml"), "own")
    assert last.verdict is Verdict.UNKNOWN
    assert "statements before this one" in last.diagnostics[0].message


def test_steps_are_counted_together_and_only_where_they_are_allowed() -> None:
    work.spend(10**12)
    with work.at_most(STATEMENT):
        with pytest.raises(work.TooMuchWork), work.at_most(10):
            work.spend(4)
            work.spend(6)
            work.spend(1)
        work.spend(STATEMENT - 10)
        with pytest.raises(work.TooMuchWork):
            work.spend(1)
    work.spend(10**12)


def left_joins(number: int) -> str:
    """A chain of left joins within a window of time."""
    joins = (
        f" LEFT JOIN {'ST'[i % 2]} x{i} ON x0.a = x{i}.a AND x{i}.ts BETWEEN x0.ts AND x0.ts + 9"
        for i in range(1, number + 1)
    )
    return f"SELECT x0.a FROM S x0{''.join(joins)}"


def test_a_chain_of_thirty_left_joins_is_decided() -> None:
    (found,) = check_source(SourceText("q.sql", left_joins(30)), parse_catalog(CATALOG, "streams.toml"))
    assert found.circuit_bound is not None
    assert found.circuit_bound.entries.text == "144*c_S + 135*c_T"


def test_a_statement_that_takes_more_than_its_budget_ends_with_what_it_has_most_of() -> None:
    shown = ", ".join(f"x{i}.a AS a{i}" for i in range(31))
    sql = left_joins(30).replace("LEFT", "FULL").replace("x0.a", shown, 1)
    (found,) = check_source(SourceText("q.sql", sql), parse_catalog(CATALOG, "streams.toml"))
    (told,) = found.diagnostics
    assert found.verdict is Verdict.UNKNOWN and told.code is Code.TOO_MUCH_WORK
    assert "with its 30 joins" in told.message


def test_a_statement_takes_as_many_steps_whatever_was_judged_before_it() -> None:
    catalog, source = parse_catalog(CATALOG, "streams.toml"), SourceText("q.sql", left_joins(4))
    taken = []
    for _ in range(2):
        with work.at_most(STATEMENT) as part:
            check_source(source, catalog)
        taken.append(round(part.steps))
    assert taken[0] == taken[1] > 1_000


def test_a_search_that_uses_up_its_steps_ends_and_leaves_the_rest() -> None:
    with work.at_most(100) as whole:
        with work.share(10) as search:
            work.spend(10**9)
        work.spend(90)
    assert search.ran_out and whole.ran_out and search.steps == 10 and whole.steps == 100
