"""What passes make is verified: what they establish holds of all cases, and a query that breaks it is found."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from streambound.analyzer.algebra.branch_trees import tree_of_query
from streambound.analyzer.algebra.to_sql import to_sql
from streambound.analyzer.algebra.tree_text import tree_text
from streambound.analyzer.algebra.verify import violations as of_tree
from streambound.analyzer.errors import BrokenInvariant
from streambound.analyzer.query import FALSE, TRUE, Attribute, Comparison, Kind, Not, Op, Query
from streambound.preprocess import pipeline
from streambound.preprocess.derive_lto import derive_lto
from streambound.preprocess.invariants import unproved, violations
from streambound.preprocess.pipeline import PASSES, Pass, derive
from support.cases import catalog, query_of, read_cases
from support.tree_texts import read_tree

FILES = ("split_disjunctions", "split_unequal", "merge_timestamps", "rename_finite", "drop_unsatisfiable", "derive_lto")
TEXTS = tuple(dict.fromkeys(case.text for name in FILES for case in read_cases(f"{name}.cases")))


@pytest.mark.parametrize("sql", TEXTS[::2])
def test_each_stage_is_verified_and_is_a_tree_that_is_read_back(sql: str) -> None:
    query = query_of(sql)
    derivation, done = derive(query), set[str]()
    for step in PASSES:
        done.add(step.establishes)
        made = derivation.after(step.establishes)
        assert violations(made, done) == ()
        assert unproved(made, done) == ()
        _is_a_tree(made, query)
    for branch in made.branches:
        for lto in list(derive_lto(branch))[:3]:
            _is_a_tree(replace(made, branches=(lto,)), query)


def _is_a_tree(made: Query, query: Query) -> None:
    found = tree_of_query(made, query.branches[0])
    assert of_tree(found.tree, catalog()) == ()
    text = tree_text(found.tree, found.note)
    assert read_tree(text) == found.tree
    again = query_of(to_sql(read_tree(text)).sql("spark"))
    assert len(again.branches) == max(len(made.branches), 1)
    assert again.distinct == made.distinct
    assert [[output.name for output in branch.outputs] for branch in again.branches[:1]] == [
        [output.name for output in query.branches[0].outputs]
    ]


SQL = "SELECT S.a, T.a AS b FROM S, T WHERE S.ts > T.ts AND S.a = T.a"


def broken() -> list[tuple[Query, str]]:
    query = query_of(SQL)
    (branch,) = query.branches
    stranger = Comparison(Attribute("U", "a"), Op.EQ, None, 1)
    text = Comparison(Attribute("S", "a"), Op.EQ, Attribute("T", "s"), 0)
    finite = replace(branch.sources[0], kind=Kind.FINITE)
    return [
        (replace(query, branches=(replace(branch, where=stranger),)), "no source has U.a"),
        (replace(query, branches=(replace(branch, where=text),)), "S.a is bigint, T.s is string"),
        (replace(query, branches=(replace(branch, where=Not(branch.where)),)), "is no conjunction"),
        (replace(query, branches=(replace(branch, sources=branch.sources * 2),)), "have one alias"),
        (replace(query, branches=(replace(branch, where=FALSE),)), "never satisfied"),
        (replace(query, branches=(replace(branch, merged=(("S", "S"),)),)), "no groups"),
        (replace(query, branches=(replace(branch, merged=(("S", "T"),)),)), "merged too early"),
        (
            replace(query, branches=(replace(branch, sources=(finite, *branch.sources[1:])),)),
            "finite too early",
        ),
        (replace(query, branches=(branch, replace(branch, outputs=branch.outputs[:1]))), "2 columns and 1"),
    ]


@pytest.mark.parametrize(("query", "wrong"), broken())
def test_a_query_that_no_pass_may_make_is_found(query: Query, wrong: str) -> None:
    found = violations(query, {"conjunctive", "satisfiable"})
    assert any(wrong in one for one in found), found


@pytest.mark.parametrize(
    ("sql", "established", "wrong"),
    [
        ("SELECT S.a FROM S, T WHERE S.a <> T.a", "split", "S.a <> T.a is not split"),
        ("SELECT S.a FROM S, T WHERE S.ts = T.ts", "merged", "S and T are not merged"),
        ("SELECT S.a FROM S WHERE S.ts < 9", "finite", "finite streams are S"),
        ("SELECT S.a FROM S WHERE S.a < 1 AND S.a > 2", "satisfiable", "never satisfied"),
    ],
)
def test_what_a_pass_has_not_done_is_found(sql: str, established: str, wrong: str) -> None:
    assert any(wrong in one for one in unproved(query_of(sql), ("conjunctive", established)))


def test_a_pass_that_breaks_a_query_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget_sources(query: Query) -> Query:
        return replace(query, branches=tuple(replace(b, sources=b.sources[:1], where=TRUE) for b in query.branches))

    monkeypatch.setattr(pipeline, "PASSES", (Pass(forget_sources, "conjunctive"),))
    with pytest.raises(BrokenInvariant, match="after forget_sources: no source has T"):
        derive(query_of(SQL)).after("conjunctive")
