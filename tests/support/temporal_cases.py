"""The public cases of SEQ statements (`tests/data/temporal.jsonl`): their catalogs, and their rows as files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import isnan
from pathlib import Path
from typing import Any

from support.profiles import MORE
from support.worlds import names_in, table

DATA = Path(__file__).parents[1] / "data" / "temporal.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
SNAPSHOTS = [case for case in CASES if case["kind"] == "snapshot"]
LINEAGES = [case for case in CASES if case["kind"] == "tp"]


def sample(cases: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Few cases with all tags; all of them where more is tried.

    `tests/cases_by_command.py` runs every case, the plan of each is tested without Spark, and random statements are
    compared with all possible worlds.
    """
    left, found = {tag for case in cases for tag in case["tags"]}, list[dict[str, Any]]()
    while left:
        found.append(max(cases, key=lambda case: len(left.intersection(case["tags"]))))
        left.difference_update(found[-1]["tags"])
    return [*cases] if MORE > 1 else found


def catalog_of(case: dict[str, Any]) -> dict[str, Any]:
    """The catalog of a case."""
    relations = {}
    for name, relation in case["relations"].items():
        columns = {**relation["columns"], **dict.fromkeys(relation.get("period") or (), case["time"])}
        own = {key: relation[key] for key in ("period", "key", "probability") if relation.get(key)}
        random = {relation["key"]: "bigint", relation["probability"]: "double"} if "key" in relation else {}
        relations[name] = {"columns": {**columns, **random}, **own}
    time = {"time": {"domain": case["domain"]}} if case.get("domain") else {}
    return {"relations": relations, **time}


def record(case: dict[str, Any], folder: Path) -> None:
    """Write the rows of a case as files of JSON lines."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, relation in case["relations"].items():
        random = [relation["key"], relation["probability"]] if "key" in relation else []
        names = [*relation["columns"], *random, *(relation.get("period") or ())]
        lines = (json.dumps(dict(zip(names, row, strict=True))) for row in relation["rows"])
        (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def differences(case: Mapping[str, Any], rows: list[dict[str, Any]], bad: list[dict[str, Any]]) -> list[str]:
    """How results and quarantined rows, as `run` writes them, are not what a case expects."""
    wanted = ((one["relation"], one["row"] + 1, one["reason"]) for one in case["quarantined"])
    given = ((one["relation"], one["line"], one["reason"]) for one in bad)
    found = _apart("quarantined", given, wanted)
    values = [tuple(row.values()) for row in rows]
    if case["kind"] == "snapshot":
        return found + _apart("rows", values, case["expected"])
    return found + _lineages(values, case["expected"])


def _apart(what: str, given: Iterable[Sequence[Any]], wanted: Iterable[Sequence[Any]]) -> list[str]:
    """Rows with doubles to nine places, and times as the cases write them."""
    mine, theirs = (Counter(tuple(map(_cell, row)) for row in rows) for rows in (given, wanted))
    return [f"{what}: too many {[*(mine - theirs)]}, missing {[*(theirs - mine)]}"] if mine != theirs else []


def _lineages(rows: list[tuple[Any, ...]], expected: list[list[Any]]) -> list[str]:
    """How rows (values, begin, end, lineage, p) differ from the expected ones, their lineages being functions."""
    rest, wrong = [tuple(map(_as_written, row)) for row in rows], list[str]()
    for *fact, lineage, begin, end, p in expected:
        found = next((row for row in rest if row[:-2] == (*fact, begin, end)), None)
        if found is None:
            wrong.append(f"missing {fact} {begin} {end}")
            continue
        rest.remove(found)
        names = sorted(names_in(lineage) | names_in(found[-2]))
        if table(lineage, names) != table(found[-2], names) or abs(float(Fraction(p)) - found[-1]) > 1e-9:
            wrong.append(f"{found} is not {lineage}, {p}")
    return wrong + [f"too many {row}" for row in rest]


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if isnan(value) else round(value, 9) + 0.0
    return _as_written(value)


def _as_written(value: Any) -> Any:
    """A timestamp as the cases write it."""
    is_time = isinstance(value, str) and value.endswith("Z") and "T" in value
    return value.removesuffix("Z").replace("T", " ") if is_time else value
