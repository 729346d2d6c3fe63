"""Derivations: those of public statements are checked, and falsified ones are not accepted."""

from __future__ import annotations

import json
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import Catalog, catalog_from_mapping, load_catalog
from support.derivations import Derived, Outcome, checked, derived, falsified, named
from support.statement_cases import random_cases

_DATA = Path(__file__).parents[1] / "data"
_NEXMARK = Path(__file__).parents[2] / "examples" / "nexmark"

EACH_RULE = (
    "changing_0078", "setop_0196", "count_distinct_0096", "q0027", "trap_as_of_0", "recursion_0153", "changing_0131",
    "setop_0118", "outer_join_0033", "setop_0149", "setop_0138", "flink_window_aggregation", "setop_0121", "q0171",
    "semi_anti_0048", "aggregate_0189", "trap_changing_domain_0", "semi_anti_0176", "trap_min_same_direction_0",
    "trap_semi_ineq_past_0", "trap_sum_of_counts_0", "q0125",
)  # fmt: skip
"""Public statements of all families; those of `test_derivation_kinds` have each rewrite and window."""
EQUIVALENT = (
    ("facts.time.low", "a time that may be further away than it is: true, and near enough for what is counted"),
    ("facts.time.high", "the same"),
    ("facts.values.low", "a larger value set than there is: true, and small enough for what is counted"),
    ("facts.values.high", "the same"),
    ("facts.values.null", "NULL among the values where there is none, of a column whose presence nothing needs"),
    ("facts.atoms", "an atom that says what another one, or a fact, says as well"),
    ("facts.uses", "a fact that says what an atom, or another fact, says as well"),
    ("facts.present", "a fact that a column is there, as an atom says as well"),
    ("facts.low", "a path for an end that nothing needs"),
    ("facts.high", "the same"),
    ("rewrites", "a condition that is moved out of a join whose pairs are counted: they are the same pairs"),
    ("nodes.call", "an aggregate of the same value"),
    ("limits", "a value above which others do not matter, where no state is smaller for that"),
    ("states.count.equal", "a column that a key among the counted ones says as well"),
)
"""Changes after which a derivation is one still, and why: what it proves is the same M."""


@cache
def cases() -> dict[str, tuple[str, Catalog]]:
    """The public statements by name."""
    found: dict[str, tuple[str, Catalog]] = {}
    for file in ("circuits.jsonl", "corpus.jsonl"):
        for line in (_DATA / file).read_text().splitlines():
            case: dict[str, Any] = json.loads(line)
            found[case["name"]] = case["sql"], catalog_from_mapping(case["catalog"], "streams.toml")
    catalog = load_catalog(_NEXMARK / "streams.toml")
    return found | {file.stem: (file.read_text(), catalog) for file in sorted(_NEXMARK.glob("*.sql"))}


def one_of(name: str) -> Derived:
    (found,) = derived(*cases()[name])
    return found


@pytest.mark.parametrize("name", EACH_RULE)
def test_a_derivation_is_accepted_and_no_falsified_one_is(name: str) -> None:
    """Of each member of each kind one is dropped, and changed; what is accepted then proves the same, for a reason."""
    one = one_of(name)
    assert checked(one) == (Outcome.ACCEPTED, "")
    kinds, changed = set[tuple[str, str]](), 0
    for path, how, document in falsified(one.document):
        kind = named(path), how
        if kind in kinds:
            continue
        kinds.add(kind)
        changed += 1
        outcome, _ = checked(one, document)
        known = [why for start, why in EQUIVALENT if kind[0].startswith(start)]
        assert outcome is not Outcome.ACCEPTED or known, f"{path} {how}"
    assert changed > 20


@pytest.mark.parametrize("name", EACH_RULE)
def test_no_smaller_size_is_accepted(name: str) -> None:
    """Whatever else is changed: with the sizes of all states, and M, of one entry fewer."""
    one = one_of(name)

    def fewer(value: Any) -> Any:
        if isinstance(value, dict):
            less = {"formula", "value"} <= value.keys() and isinstance(value["value"], int)
            return {"formula": str(value["value"] - 1), "value": value["value"] - 1} if less else {
                name: fewer(member) for name, member in value.items() if name != "branches"
            } | {name: member for name, member in value.items() if name == "branches"}  # fmt: skip
        return [fewer(member) for member in value] if isinstance(value, list) else value

    assert checked(one, fewer(one.document))[0] is not Outcome.ACCEPTED


def test_public_statements_are_checked() -> None:
    """Every tenth bounded one; `tests/check_derivations.py` goes through all of them."""
    found = [(place, one) for place, case in enumerate(cases().values()) if place % 10 == 0 for one in derived(*case)]
    assert [(place, checked(one)) for place, one in found if checked(one) != (Outcome.ACCEPTED, "")] == []
    assert len(found) > 20


def test_random_statements_are_checked() -> None:
    """Some; `tests/check_derivations.py --seeds N` makes more."""
    found = [one for _, _, sql, catalog in islice(random_cases(503, 2), 30) for one in derived(sql, catalog)]
    assert [one.statement.source.text for one in found if checked(one) != (Outcome.ACCEPTED, "")] == []
    assert len(found) > 5


def test_a_derivation_is_of_its_statement() -> None:
    """Of statements that differ by a constant, one's derivation is not the other one's."""
    sql, catalog = cases()["window_0198"]
    one = one_of("window_0198")
    for old, new in (("DIV 3", "DIV 4"), ("T.a = 1", "T.a = 2"), ("T.ts <= S.ts", "T.ts <= S.ts + 1")):
        (changed,) = derived(sql.replace(old, new), catalog)
        assert checked(changed, one.document)[0] is Outcome.REJECTED


@pytest.mark.parametrize("rule", ["whole", "combinations"])
def test_what_waits_for_another_side_is_not_counted_by_one(rule: str) -> None:
    """The right side's rows may be any that the left one, a relation that changes, still gets: of each key, too."""
    relation = {"columns": {"k": "bigint", "y": "bigint"}, "changes": {"timestamp": "ts", "op": "op", "key": ["k"]}}
    stream = {"timestamp": "ts", "columns": {"k": "bigint", "y": "bigint", "ts": "bigint"}, "max_per_timestamp": 2}
    domain = {"k": [0, 2], "y": [0, 9]}
    catalog = catalog_from_mapping(
        {"streams": {"S": stream | {"domain": domain}}, "relations": {"R": relation | {"domain": domain, "rows": 3}}}
    )
    (one,) = derived("SELECT k, y FROM R INTERSECT SELECT k, y FROM S", catalog)
    assert checked(one) == (Outcome.ACCEPTED, "")
    document = json.loads(json.dumps(one.document))
    (state,) = (state for state in document["operation"]["states"] if state["what"] == "rows")
    document["entries"]["value"] += 3 - state["size"]["value"]
    document["entries"]["formula"] = str(document["entries"]["value"])
    state["size"] = {"formula": "3", "value": 3}
    state["count"] |= {"rule": rule, "size": "3", "columns": state["count"]["columns"][:1]}
    document["facts"] = document["facts"] if rule == "combinations" else []
    outcome, words = checked(one, document)
    assert outcome is Outcome.REJECTED and ("wait" in words or "counts y" in words), words
