"""Certificates of families, changed in one place: none is accepted."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from streambound.criteria.certificate import certificate, to_json
from streambound.recheck.certificates.validate import faults
from support.wide_families import WIDE, wide_bound


def _without_an_attribute(table: dict[str, Any]) -> bool:
    return bool(table["stored"] and table["stored"].pop(0))


def _without_a_member(table: dict[str, Any]) -> bool:
    return bool(table["members"].pop())


def _with_a_late_member(table: dict[str, Any]) -> bool:
    """A stream that need not be there is said to be."""
    free = [m for m in table["members"][1:] if not m["after"]]
    for member in free[:1]:
        member["after"] = list(table["members"][0]["streams"][:1])
    return bool(free)


def _with_members_of_one(table: dict[str, Any]) -> bool:
    """Two members are said to be in an entry together."""
    last = table["members"].pop()
    table["members"][-1]["streams"] += last["streams"]
    return bool(table["count"]["of"].pop())


def _with_fewer_entries(table: dict[str, Any]) -> bool:
    for amount, name in ((table["entries"], "formula"), (table["count"], "size")):
        amount[name] = f"{amount[name]} - 1"
    return True


def _with_fewer_values(table: dict[str, Any]) -> bool:
    table["count"]["of"][0] = {"rule": "product", "size": "1"}
    return bool(table["stored"])


def _with_a_younger_age(table: dict[str, Any]) -> bool:
    for age in table["ages"]:
        name = "expires" if age["saturates"] is None else "saturates"
        age[name] -= 1
    return bool(table["ages"])


def _with_a_lapse_too_soon(table: dict[str, Any]) -> bool:
    """An entry is dropped before its time."""
    for lapse in table.get("lapses", ()):
        lapse["deadline" if lapse["ending"] else "expires"] -= 1
    return bool(table.get("lapses"))


def _with_a_lapse_of_something_else(table: dict[str, Any]) -> bool:
    """Streams that may come at any time are awaited instead."""
    last = table["members"][-1]["streams"][0]
    for lapse in table.get("lapses", ()):
        name = "passing" if lapse["passing"] else "ending"
        lapse[name] = [*lapse[name], last]
    return bool(table.get("lapses"))


def _that_forgets(table: dict[str, Any]) -> bool:
    table["deadline"] = 7
    return True


def _that_drops_a_stream(table: dict[str, Any]) -> bool:
    """A stream that some other may follow at any time."""
    free = [age for age in table["ages"] if age["saturates"] is not None]
    for age in free:
        age["expires"], age["saturates"] = age["saturates"], None
    return bool(free)


def _with_a_value_from_elsewhere(table: dict[str, Any]) -> bool:
    """A value is said to be that of a stream that need not be there."""
    for stored in table["stored"]:
        if stored["equal"]:
            attribute, (other, offset) = stored["attribute"], stored["equal"][-1]
            stored["attribute"], stored["equal"][-1] = other, [attribute, -offset]
            return True
    return False


MUTATIONS = (
    _without_an_attribute, _without_a_member, _with_a_late_member, _with_members_of_one, _with_fewer_entries,
    _with_fewer_values, _with_a_younger_age, _that_forgets,
    _that_drops_a_stream, _with_a_value_from_elsewhere, _with_a_lapse_too_soon, _with_a_lapse_of_something_else,
)  # fmt: skip


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__.strip("_"))
def test_a_mutated_certificate_is_refused(mutate: Callable[[dict[str, Any]], bool]) -> None:
    refused = 0
    for shape, (number, _) in WIDE.items():
        decision, found = wide_bound(shape, number)
        document = copy.deepcopy(to_json(certificate(found, decision.query.distinct)))
        if mutate(document["branches"][0]["tables"][0]):
            assert faults(decision.derivation.split, document), (shape, mutate)
            refused += 1
    assert refused
