"""One table for all realisable sets of streams, where each cannot have one of its own: M, certificates, results.

So that small random queries meet this at all, `MOST_TABLES` is set to 0 here.
"""

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import prod
from typing import Any

import pytest

from streambound.analyzer.boundedness import Facts
from streambound.criteria import synopsis as synopsis_module
from streambound.criteria.bound import QueryBound, bound, member_count
from streambound.criteria.certificate import certificate, to_json
from streambound.criteria.family import least, subsets
from streambound.criteria.size import Number, Symbol
from streambound.criteria.tables import Member, SynopsisTable
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from streambound.recheck.certificates.claims import ClaimedMember
from streambound.recheck.certificates.family import sum_over_sets
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.certificates.validate import faults
from streambound.synopsis_exec.job_spec import job_spec
from support.certificates import rejections
from support.choices import Choices
from support.kernel import Kernel, plan_of, synopsis_of
from support.keyed_queries import make_keyed_statement
from support.oracle import Oracle
from support.product import decided
from support.profiles import MORE
from support.queries import EXECUTABLE, Features, make_statement
from support.wide_families import WIDE, certified_family, families_of, run_on_random_rows, wide, wide_bound

Catalog = dict[str, Any]
LANGUAGES = {
    "no windows": replace(EXECUTABLE, windows=0),
    "windows": replace(EXECUTABLE, windows=70),
    "whole language": Features(windows=30),
}


@pytest.fixture
def families(monkeypatch: pytest.MonkeyPatch) -> None:
    """A family wherever there is a table at all."""
    monkeypatch.setattr(synopsis_module, "MOST_WHOLE", 0)
    monkeypatch.setattr(synopsis_module, "MOST_TABLES", 0)


def _random(seeds: int, features: Features) -> Iterator[tuple[int, str, Catalog, Decision, QueryBound]]:
    """The random queries that have a family, with their seeds."""
    for seed in range(seeds):
        statement = make_statement(Choices.seeded(seed), features)
        decision = decided(statement.sql, statement.catalog)
        found = bound(decision.derivation.split) if decision.verdict is Verdict.BOUNDED else None
        if found is not None and families_of(found):
            yield seed, statement.sql, statement.catalog, decision, found


# --- certificates and M ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("families")
@pytest.mark.parametrize("language", LANGUAGES)
def test_random_families_are_certified_and_counted(language: str) -> None:
    """Their M is the sum over all sets, listed one by one, of the products of what the smallest tables hold."""
    seen: Counter[str] = Counter()
    for _, sql, _, decision, found in _random(75 * MORE, LANGUAGES[language]):
        assert not rejections(decision, found), sql
        for facts, table, size in families_of(found):
            own = {m.streams: count.size for m in table.members if (count := member_count(facts, table, m))}
            if size.text.isdigit():
                sums = sum(prod(int(own[m.streams].text) for m in chosen) for chosen in _sets(facts, table))
                assert int(size.text) == sums, sql
                seen["counted"] += 1
            seen["relations"] += bool(table.relations)
            seen["ages"] += bool(table.ages)
            seen["clipped"] += any(not stored.exact for stored in table.key)
            seen["equal"] += any(stored.equal for stored in table.key)
            seen["finite"] += bool(facts.finite_streams)
            seen["lapses"] += bool(table.lapses)
            seen["components"] += set(table.streams) != {source.alias for source in facts.branch.streams}
        seen["families"] += 1
    wanted = {"no windows": "clipped", "windows": "ages", "whole language": "finite"}[language]
    assert min(seen["families"], seen["counted"], 5 * seen[wanted]) > 6, seen
    assert seen["components"] > 0, seen


def _sets(facts: Facts, table: SynopsisTable) -> Iterator[tuple[Member, ...]]:
    """All sets of members, but the empty and the full one, that hold with each what is never newer."""
    for size in range(1, len(table.members)):
        for chosen in combinations(table.members, size):
            firsts = {member.streams[0] for member in chosen}
            others = (m.streams[0] for m in table.members if m not in chosen)
            if not any(facts.never_newer(other, first) for other in others for first in firsts):
                yield chosen


def test_sums_over_sets_against_all_of_them() -> None:
    """Random orders, by both formulas; and the bound where each keeps one predecessor is no less."""
    for seed in range(75 * MORE):
        choices = Choices.seeded(seed)
        number = choices.integer(1, 8)
        before: list[frozenset[int]] = []
        for one in range(number):
            direct = frozenset(other for other in range(one) if choices.chance(25))
            before.append(direct.union(*(before[other] for other in direct)))
        own = [choices.integer(0, 4) for _ in range(number)]
        chosen = (frozenset(c) for n in range(number + 1) for c in combinations(range(number), n))
        every = sum(prod(own[one] for one in some) for some in chosen if all(before[one] <= some for one in some))
        found = subsets(before, list(map(Number, own)))
        assert found is not None and found.text == str(every)
        named = subsets(before, [Symbol(f"w{one}") for one in range(number)])
        assert named is not None
        assert eval(named.text, {f"w{one}": value for one, value in enumerate(own)}) == every
        members = [ClaimedMember((str(one),), (), tuple(map(str, sorted(before[one])))) for one in range(number)]
        sizes = list(map(Quantity.number, own))
        assert sum_over_sets(members, sizes).constant == every - 1 - prod(own)
        forest = [ClaimedMember(m.streams, (), m.after[-1:]) for m in members]
        assert (sum_over_sets(forest, sizes).constant or 0) >= every - 1 - prod(own)


@pytest.mark.usefixtures("families")
@pytest.mark.parametrize("distinct", [False, True])
def test_families_of_streams_with_a_key(distinct: bool) -> None:
    """Sets keep extrema in them, bags join a relation last: certified, and what SQL says within M."""
    seen: Counter[str] = Counter()
    for seed in range(30 * MORE) if distinct else range(60 * MORE, 90 * MORE):
        choices = Choices.seeded(seed)
        statement = make_keyed_statement(choices, distinct)
        if (certified := certified_family(statement)) is None:
            continue
        decision, found = certified
        tables = [table for _, table, _ in families_of(found)]
        ran = run_on_random_rows(statement, decision, choices)
        seen["results"] += ran.results if ran is not None else 0
        seen["extrema"] += any(table.extrema for table in tables)
        seen["several"] += any(len(table.extrema) > 1 for table in tables)
        seen["of several streams"] += any(len(e.of) > 1 for table in tables for e in table.extrema)
        seen["ages"] += any(table.extrema and table.ages for table in tables)
        seen["lapses"] += any(table.lapses for table in tables)
        seen["late relations"] += any(b.synopsis.late_relations(s) for b in found.branches for s in b.synopsis.streams)
    often, seldom = (["extrema", "several"], "of several streams") if distinct else (["late relations"], "lapses")
    assert min(seen["results"], *(seen[name] for name in often)) > 3 * MORE and seen[seldom], seen


# --- wide queries ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", WIDE)
def test_a_wide_query_has_a_bound_and_a_certificate(shape: str) -> None:
    number, most = WIDE[shape]
    decision, found = wide_bound(shape, number)
    assert families_of(found)
    assert most is None or found.entries.value == most
    assert not rejections(decision, found)


def test_components_have_families_of_their_own() -> None:
    """Two stars: a family each, and a table each of its full set."""
    decision, found = wide_bound("two stars", 26)
    tables = {table.table: table.size.text for table in found.tables}
    assert list(tables.values()) == [str(4 * (2**12 - 1)), str(4 * (2**13 - 1)), "4", "4"]
    document = to_json(certificate(found, decision.query.distinct))
    for place in range(4):
        less = copy.deepcopy(document)
        less["branches"][0]["tables"].pop(place)
        assert faults(decision.derivation.split, less)
    first, second = document["branches"][0]["tables"][:2]
    first["members"].append(second["members"].pop())
    first["streams"].append(second["streams"].pop())
    first["count"]["of"].append(second["count"]["of"].pop())
    assert faults(decision.derivation.split, document)


@pytest.mark.parametrize("shape", ["star", "tree", "finite"])
def test_any_width_has_a_bound(shape: str) -> None:
    decision, found = wide_bound(shape, 40)
    assert found.entries.value is not None and found.entries.value > 10**6
    assert not rejections(decision, found)


# --- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("families")
@pytest.mark.parametrize(
    ("shape", "distinct"),
    [(shape, distinct) for n, shape in enumerate(WIDE) if shape != "fence" for distinct in {False, n % 3 == 0}],
)
def test_a_wide_query_prints_what_sql_says(shape: str, distinct: bool) -> None:
    """Few rows each, so that DuckDB can list the matches, until there is one; the state is saved and loaded between.

    Half as wide where that has the same shape: there is a family all the same.
    """
    sql, catalog = wide(shape, {"tree": 13, "two stars": 10}.get(shape, 6))
    selected = "1 AS one" if shape == "window, any key" else "Y.k"
    sql = (
        sql.replace("SELECT Y.k", f"SELECT DISTINCT {selected}").replace("SELECT 1", "SELECT DISTINCT 1")
        if distinct
        else sql
    )
    decision = decided(sql, catalog)
    found = bound(decision.derivation.split)
    assert found is not None and families_of(found)
    job = job_spec(plan_of(decision, catalog))
    relations = {name: [{"k": 1}, {"k": 2}, {"k": 2}] for name in catalog["relations"]}
    results, made = 0, partial(_some_rows, shape)
    for seed in range(3 * MORE):
        rows = {name: made(100 * seed + i, i) for i, name in enumerate(catalog["streams"])}
        expected = Oracle(catalog, {**rows, **relations}).prefix_expected(sql)
        kernel, printed = Kernel(job, relations), defaultdict[int, Counter[Any]](Counter)
        times = sorted({row["ts"] for mine in rows.values() for row in mine})
        arrived = {t: {name: [row for row in mine if row["ts"] == t] for name, mine in rows.items()} for t in times}
        for start in range(0, len(times), 3):
            for now, values, n in kernel.tick(times[start : start + 3], arrived):
                printed[now][values] += n
            assert kernel.limit is None or kernel.entries() <= kernel.limit
            state, kernel = kernel.dump(), Kernel(job, relations)
            kernel.load(state)
        assert printed == {now: new for now, new in expected.items() if new}
        results += sum(map(len, expected.values()))
        if results and seed + 1 >= MORE:
            break
    assert results


def test_a_wide_set_keeps_an_extremum_per_key() -> None:
    """Each set of streams, each key: the least of X1 while X2 is missing, the greatest of X2 while X1 is."""
    sql, catalog = wide("star", 12)
    sql = sql.replace("SELECT Y.k", "SELECT DISTINCT Y.k") + " AND X1.a < X2.a"
    for stream in catalog["streams"].values():
        stream["columns"] = {**stream["columns"], "a": "bigint"}
    decision = decided(sql, catalog)
    found = bound(decision.derivation.split)
    assert found is not None and found.entries.value == WIDE["star"][1] + 4
    assert not rejections(decision, found)
    printed = 0
    for seed in range(2):
        choices, rows = Choices.seeded(seed), {}
        for place, name in enumerate(catalog["streams"]):
            times = [1, 3] if not place else [choices.integer(1, 3), choices.integer(4, 6)]
            rows[name] = [{"k": 1, "a": choices.integer(-5, 5), "ts": now} for now in times]
        kernel, expected = (
            synopsis_of(plan_of(decision, catalog), {}),
            Oracle(catalog, rows).prefix_expected(sql),
        )
        for now in range(1, 8):
            results = kernel.close(now, {name: [r for r in mine if r["ts"] == now] for name, mine in rows.items()})
            assert Counter(dict(results)) == expected.get(now, Counter())
            assert kernel.limit is not None and kernel.entries() <= kernel.limit
        printed += sum(map(len, expected.values()))
    assert printed


def test_a_star_fills_its_table() -> None:
    """One stream after the other, each key once: at the end there is an entry of each set and key."""
    sql, catalog = wide("star", 12)
    kernel = synopsis_of(plan_of(decided(sql, catalog), catalog), {})
    for now, name in enumerate(catalog["streams"]):
        kernel.close(now, {name: [{"k": key, "ts": now} for key in range(4)]})
    assert kernel.entries() == kernel.limit == WIDE["star"][1]


def _some_rows(shape: str, seed: int, number: int) -> list[dict[str, int]]:
    """Rows of a stream, most of which have the same key; Y's come at 1 and 4, and most of the others' after each."""
    choices = Choices.seeded(seed)
    times = [choices.integer(1, 4), choices.integer(5, 7)] if number else [1, 4]
    if shape == "tree" and number:
        depth = 1 + (number > 3) + (number > 12)
        times = [3 * depth - choices.integer(0, 1), 3 * depth + choices.integer(1, 2)]
    if shape == "hub of a star" and number == 1:
        times = [8, 9]
    if shape == "two stars":  # many would be results with many duplicates
        times = [1, 4] if number < 2 else times if number in (3, 4, 8, 9) else [choices.integer(3, 7)]
    return [{"k": 2 if len(times) > 1 and choices.chance(5) else 1, "ts": now} for now in times]


def test_the_smallest_set_decides_what_is_kept() -> None:
    """Of X1 a value is kept for X2, which may come later; for Y, which is always there, none is."""
    _, found = wide_bound("star", 12)
    ((facts, table, _),) = families_of(found)
    assert [str(stored.attribute) for stored in table.key] == ["Y.k"]
    assert least(facts, table, table.members[1]).streams == ("Y", "X1")
