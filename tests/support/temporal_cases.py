"""The public cases of SEQ statements (`tests/data/temporal.jsonl`): their catalogs, and their rows as files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from math import isnan
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data" / "temporal.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
SNAPSHOTS = [case for case in CASES if case["kind"] == "snapshot"]
LINEAGES = [case for case in CASES if case["kind"] == "tp"]


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


def multiset(rows: Iterable[Sequence[Any]]) -> Counter[tuple[Any, ...]]:
    """Rows with doubles to nine places, and times as the cases write them."""
    return Counter(tuple(map(_cell, row)) for row in rows)


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if isnan(value) else round(value, 9) + 0.0
    if isinstance(value, str) and value.endswith("Z") and "T" in value:
        return value.removesuffix("Z").replace("T", " ")
    return value
