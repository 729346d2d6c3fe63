"""Certificates of every kind, changed in every single place: what is accepted proves the same, and why is listed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from streambound.criteria.bound import bound
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.formula import evaluate
from streambound.recheck.certificates.validate import faults
from support.catalogs import PLAIN, streams, with_relation
from support.certificates import plain
from support.choices import Choices
from support.json_mutations import Change, changes
from support.json_mutations import Path as Place
from support.product import decided
from support.profiles import MORE
from support.queries import Features, make_statement

Document = dict[str, Any]

RATED = {"streams": {name: {**body, "max_per_timestamp": 3} for name, body in PLAIN["streams"].items()}}
RELATED = with_relation(RATED)
NUMBERED = {**RATED, "relations": {"R": {**RELATED["relations"]["R"], "rows": 7}}}

KINDS: dict[str, tuple[str, Any, Callable[[str], bool]]] = {
    "a plain table": (
        "SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.a BETWEEN 1 AND 4", PLAIN, lambda text: '"range"' in text),
    "a value that is clipped": (
        "SELECT T.b FROM S, T WHERE S.ts > T.ts AND T.a < S.a AND S.a BETWEEN 1 AND 4 AND T.b = 2 AND T.a > 0",
        PLAIN, lambda text: '"high": [{' in text),
    "a window": (
        "SELECT T.a FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 3 AND T.a = S.a", RATED,
        lambda text: '"tuples"' in text and '"expires": 3' in text),
    "an unlimited rate": (
        "SELECT T.a FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 10", PLAIN, lambda text: '"10*c_T"' in text),
    "a finite stream": (
        "SELECT T.a FROM S, T WHERE T.ts <= 5 AND S.a = T.a", PLAIN, lambda text: '"deadline": 5' in text),
    "a relation": (
        "SELECT S.a FROM S, T, R WHERE S.ts < T.ts AND S.a = R.a AND T.a = R.b", RELATED,
        lambda text: "rows_R" in text),
    "a relation of so many rows": (
        "SELECT S.a FROM S, T, R WHERE S.ts < T.ts AND S.a = R.a AND T.a = R.b AND R.b > 2 AND R.b < S.b", NUMBERED,
        lambda text: '"formula": "rows_R", "value": 7' in text),
    "extrema": (
        "SELECT DISTINCT 1 AS one FROM S, T WHERE S.ts < T.ts AND S.a < T.a", PLAIN,
        lambda text: '"extrema": [{' in text),
    "a set": (
        "SELECT DISTINCT T.a FROM S, T WHERE S.ts > T.ts AND T.a BETWEEN 1 AND 4", PLAIN,
        lambda text: '"results": true' in text),
    "a bag's union": (
        "SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.a BETWEEN 1 AND 4 UNION ALL SELECT S.a FROM S WHERE S.b = 1 ",
        PLAIN, lambda text: '"branch": 1' in text),
    "independent parts": (
        "SELECT S.a FROM S, T, U WHERE S.a = 1 AND T.a = 1 AND U.a = 1", streams("S T U", a="bigint"),
        lambda text: text.count('"streams"') > 2),
}  # fmt: skip
"""A query of each kind, its catalog, and what its certificate's text shows."""


def _certified(sql: str, catalog: Any) -> tuple[Decision, Document] | None:
    decision = decided(sql, catalog)
    found = bound(decision.derivation.split) if decision.verdict is Verdict.BOUNDED else None
    return None if found is None else (decision, plain(found, decision.query.distinct))


# --- what is true for all that --------------------------------------------------------------------------------------


def _at(document: Any, place: Place) -> Any:
    for key in place:
        document = document[key]
    return document


def _is_the_same_number(change: Change, old: Document, new: Document) -> bool:
    """``2*(0)`` for ``0``."""
    if change.key not in ("formula", "size"):
        return False
    try:
        return evaluate(_at(old, change.path), {}) == evaluate(_at(new, change.path), {})
    except RejectedError:
        return False


def _is_in_another_order(change: Change, old: Document, new: Document) -> bool:
    return change.what == "in another order"


def _says_one_limit_or_reason_twice(change: Change, old: Document, new: Document) -> bool:
    """The tightest limit counts, the least alternative; and a factor only if it is 1, since the product is the same."""
    return change.what == "an entry twice" and change.key in ("low", "high", "of")


def _gives_another_reason_for_the_same_size(change: Change, old: Document, new: Document) -> bool:
    """A reason that holds as well; neither the sizes nor what the table stores are changed."""
    inside = "count" in change.path and change.key in (
        "of",
        "attributes",
        "low",
        "high",
        "listed",
        "beside",
        "timestamps",
    )
    return inside and change.what.startswith(("with an entry", "another", "without an entry"))


def _keeps_entries_longer(change: Change, old: Document, new: Document) -> bool:
    """Something else already limits how many there are."""
    before, after = _at(old, change.path), _at(new, change.path)
    return change.key in ("deadline", "expires") and before is not None and (after is None or after > before)


def _saturates_an_age_that_expires(change: Change, old: Document, new: Document) -> bool:
    """Ages are told apart until the entry is dropped, whatever is said of later ones."""
    return change.key == "saturates" and _at(new, change.path[:-1])["expires"] is not None


def _clips_less(change: Change, old: Document, new: Document) -> bool:
    """Values stay as they are, or are clipped further out; a list or the conditions limit them anyway."""
    if "stored" not in change.path or not {"low", "high"} & {*change.path} or "relations" in change.path:
        return False
    outwards = -1 if "low" in change.path else 1

    def furthest(document: Document) -> int:
        limits = _at(document, change.path[:7])
        return max((limit["constant"] * outwards for limit in limits if limit["constant"] is not None), default=0)

    if not _at(old, change.path[:7]):
        return False
    return not _at(new, change.path[:7]) or furthest(new) >= furthest(old) or change.what == "without an entry"


def _clips_what_is_fixed(change: Change, old: Document, new: Document) -> bool:
    """Another value for the one that the conditions leave."""
    if change.path[4:5] != ("stored",) or len(change.path) < 7:
        return False
    fixed = [part["attributes"] for part in _counts(_at(old, change.path[:4])["count"]) if part["rule"] == "constant"]
    return [_at(old, change.path[:6])["attribute"]] in fixed and change.path[6] in ("low", "high")


def _counts(count: Document) -> Iterator[Document]:
    yield count
    for part in count.get("of", ()):
        yield from _counts(part)


def _joins_a_relation_earlier_or_later(change: Change, old: Document, new: Document) -> bool:
    """The key already says all that a later join needs."""
    return change.key == "relations" and "stored" not in change.path and "count" not in change.path


def _leaves_out_an_equality(change: Change, old: Document, new: Document) -> bool:
    """Which follows from the conditions anyway."""
    return change.key == "equal" and change.what in ("without an entry", "another equal")


def _is_called_differently(change: Change, old: Document, new: Document) -> bool:
    """A name is a label."""
    return change.key == "name"


SAMPLE = 150
"""Changes tried of the certificate of a random query."""

TRUE = (
    _is_the_same_number, _is_in_another_order, _says_one_limit_or_reason_twice, _gives_another_reason_for_the_same_size,
    _keeps_entries_longer, _saturates_an_age_that_expires, _clips_less, _clips_what_is_fixed,
    _joins_a_relation_earlier_or_later, _leaves_out_an_equality, _is_called_differently,
)  # fmt: skip
"""Why a changed certificate is accepted: it proves the same M, the same bytes, and nothing that is false."""


def _refused(decision: Decision, document: Document, seen: Counter[str], most: int | None = None) -> int:
    """Change a certificate everywhere, or in ``most`` places; how many changes are refused, all others being true."""
    split, refused = decision.derivation.split, 0
    assert not faults(split, document)
    every = list(changes(document))
    for change, changed in every if most is None else Random(0).sample(every, min(len(every), most)):
        if faults(split, changed):
            refused += 1
            continue
        reasons = [reason.__name__ for reason in TRUE if reason(change, document, changed)]
        assert reasons, (change, _at(document, change.path), _at(changed, change.path))
        seen[reasons[0]] += 1
    return refused


@pytest.mark.parametrize("kind", KINDS)
def test_of_every_kind(kind: str) -> None:
    sql, catalog, shows = KINDS[kind]
    certified = _certified(sql, catalog)
    assert certified is not None
    decision, document = certified
    assert shows(json.dumps(document)), json.dumps(document)
    seen: Counter[str] = Counter()
    assert _refused(decision, document, seen) > 9 * seen.total()


@pytest.mark.slow
@pytest.mark.parametrize("features", [Features(), Features(windows=60, finite=40), Features(distinct=100, unions=40)])
def test_of_random_queries(features: Features) -> None:
    seen: Counter[str] = Counter()
    refused = certificates = 0
    for seed in range(4 * MORE):
        statement = make_statement(Choices.seeded(seed), features)
        if (certified := _certified(statement.sql, statement.catalog)) is not None:
            certificates += 1
            refused += _refused(*certified, seen, SAMPLE)
    assert certificates > 1
    assert refused > 9 * seen.total()
