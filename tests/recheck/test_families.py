"""What `recheck.certificates.family` accepts without listing sets, the checks of single tables accept for every set."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import pytest

from streambound.criteria import synopsis as synopsis_module
from streambound.criteria.bound import bound
from streambound.criteria.certificate import certificate, to_json
from streambound.criteria.vocabulary import Verdict
from streambound.recheck.certificates.cases import case_of
from streambound.recheck.certificates.claims import ClaimedAge, ClaimedLimit, ClaimedStored, ClaimedTable, read
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.family import wrong_family
from streambound.recheck.certificates.sufficiency import insufficient
from support.choices import Choices
from support.product import decided
from support.profiles import MORE
from support.queries import EXECUTABLE, Features, make_statement

LANGUAGES = (replace(EXECUTABLE, windows=0), replace(EXECUTABLE, windows=70), replace(Features(windows=40), finite=20))


@pytest.fixture(autouse=True)
def families(monkeypatch: pytest.MonkeyPatch) -> None:
    """A family wherever there is a table at all."""
    monkeypatch.setattr(synopsis_module, "MOST_WHOLE", 0)
    monkeypatch.setattr(synopsis_module, "MOST_TABLES", 0)


def _families(seed: int, features: Features) -> Iterator[tuple[Conditions, ClaimedTable]]:
    """The families of a random query, as its certificate has them."""
    statement = make_statement(Choices.seeded(seed), features)
    decision = decided(statement.sql, statement.catalog)
    found = bound(decision.derivation.split) if decision.verdict is Verdict.BOUNDED else None
    if found is not None:
        document = json.loads(json.dumps(to_json(certificate(found, decision.query.distinct))))
        for claim in read(document).branches:
            conditions = Conditions(case_of(decision.derivation.split, claim))
            yield from ((conditions, table) for table in claim.tables if table.members)


def _mutations(table: ClaimedTable) -> Iterator[ClaimedTable]:
    """Tables that hold less, or something else."""
    for place, stored in enumerate(table.stored):
        others = (*table.stored[:place], *table.stored[place + 1 :])
        yield replace(table, stored=others)
        yield from (replace(table, stored=(*others, changed)) for changed in _less_exact(stored))
    for place, age in enumerate(table.ages):
        rest = (*table.ages[:place], *table.ages[place + 1 :])
        yield replace(table, ages=rest)
        yield from (replace(table, ages=(*rest, changed)) for changed in _other_ages(age))
    joining = [member for member in table.members if member.relations]
    for member in joining:
        for other in (other for other in table.members if other != member):
            moved = {
                member: replace(member, relations=()),
                other: replace(other, relations=(*other.relations, *member.relations)),
            }
            yield replace(table, members=tuple(moved.get(m, m) for m in table.members))


def _less_exact(stored: ClaimedStored) -> Iterator[ClaimedStored]:
    if stored.low or stored.high:
        yield replace(stored, low=tuple(map(_raised, stored.low)))
        yield replace(stored, high=tuple(map(_lowered, stored.high)))
    elif not stored.cuts:
        yield replace(stored, low=(ClaimedLimit(1, ()),))
        yield replace(stored, high=(ClaimedLimit(2, ()),))


def _raised(limit: ClaimedLimit) -> ClaimedLimit:
    return replace(limit, constant=None if limit.constant is None else limit.constant + 1)


def _lowered(limit: ClaimedLimit) -> ClaimedLimit:
    return replace(limit, constant=None if limit.constant is None else limit.constant - 1)


def _other_ages(age: ClaimedAge) -> Iterator[ClaimedAge]:
    if age.expires is not None:
        yield replace(age, expires=age.expires - 1)
        yield replace(age, expires=None, saturates=age.expires)
    if age.saturates is not None:
        yield replace(age, saturates=age.saturates - 1)
        yield replace(age, saturates=None, expires=age.saturates)


def _each_set(conditions: Conditions, table: ClaimedTable) -> Iterator[ClaimedTable]:
    """The tables that a family stands for, listed one by one."""
    for size in range(1, len(table.members)):
        for chosen in combinations(table.members, size):
            streams = tuple(stream for member in chosen for stream in member.streams)
            if any(conditions.forced(x, y) for x in table.streams if x not in streams for y in streams):
                continue
            relations = tuple(relation for member in chosen for relation in member.relations)
            inside = {*streams, *relations}
            stored = tuple(
                replace(s, equal=tuple(pair for pair in s.equal if pair[0].source in inside))
                for s in table.stored
                if s.attribute.source in inside
            )
            ages = tuple(age for age in table.ages if age.stream in streams)
            yield replace(table, streams=streams, relations=relations, stored=stored, ages=ages, members=())


def _accepted(conditions: Conditions, table: ClaimedTable) -> bool:
    """Whether a family stores enough; how much is not asked."""
    return not any(wrong_family(conditions, table))


def test_changed_families_are_accepted_only_if_every_table_is() -> None:
    seen: Counter[str] = Counter()
    for seed in range(30 * MORE):
        for conditions, table in _families(seed, LANGUAGES[seed % len(LANGUAGES)]):
            beside = frozenset(conditions.streams) - {*table.streams}
            for changed in (table, *_mutations(table)):
                tables = list(_each_set(conditions, changed))
                right = not any(fault for each in tables for fault in insufficient(conditions, each, beside))
                accepted = _accepted(conditions, changed)
                assert right or not accepted, (seed, changed)
                seen["accepted" if accepted else "refused, rightly" if not right else "refused"] += 1
    assert min(seen["accepted"], seen["refused, rightly"]) > 25, seen
    assert seen["refused"] < 0.2 * seen["refused, rightly"], seen
