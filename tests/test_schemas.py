"""The published JSON Schemas agree with what the program reads and writes."""

from __future__ import annotations

import copy
import json
import random
import runpy
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import CatalogError
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.criteria.paper_verdict import by_the_paper
from streambound.criteria.repairs.repair import with_repairs
from streambound.gate.suppressions import suppressed, today
from streambound.reports.json_report import json_report
from streambound.reports.outcome import outcome
from support.choices import Choices
from support.profiles import MORE
from support.queries import Features, make_statement

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = {
    path.name.split(".")[0]: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "docs" / "schemas").glob("*.schema.json"))
}
CATALOG = """
queries = ["q/*.sql"]
counters = "decimal"
[check]
fail-on = "warning"
formats = ["text", "json:out.json"]
criteria = "exact"
allow-empty = false
repairs = true
baseline = "b.json"
transitions-only = false
jobs = 2
cache = true
max-entries = 1000
budget = "1.5 GB"
severity = { SB208 = "error", SB402 = "off" }
allow = { SB201 = "a reason" }
deny = ["SB202"]
[[check.overrides]]
files = ["q/**"]
fail-on = "note"
criteria = "paper"
max-entries = 10
budget = "512MiB"
allow-empty = true
repairs = false
transitions-only = true
severity.SB150 = "note"
allow.SB202 = "another reason"
deny = ["SB201"]
[[check.budgets]]
name = "all"
budget = "2 TB"
[[check.budgets]]
name = "few"
budget = "1 GB"
files = ["q/**"]
queries = ["paid"]
[streams.S]
timestamp = "ts"
columns = { a = "bigint", s = "string", day = "date", x = "double", ts = "timestamp" }
max_per_timestamp = 4
domain.a = [0, 99]
domain.s = { values = ["x", "y"] }
domain.day = { low = 2024-01-01, high = 2024-12-31 }
on_violation = "stop"
lateness = "10 seconds"
idle_after = "1 hour"
punctuation = { column = "s", value = "x" }
source = { format = "json", path = "s.jsonl", options = { maxFilesPerTrigger = 3 } }
[streams.T]
timestamp = "ts"
columns = { p = "int", ts = "bigint" }
order = "strict"
partitions = { column = "p", values = [0, 1] }
[relations.R]
columns = { a = "bigint", start = "date", end = "date" }
rows = 7
period = ["start", "end"]
[sinks.q]
format = "parquet"
path = "out"
quarantine = { format = "json", path = "bad" }
"""
SHAPE = (
    "unknown key", "must be a table", "must be a list", "must be an integer of at least", 'must be "',
    "must be true or false", "must be a text", "declares no columns", "declares no timestamp", "must be tables",
    "names no files", "a severity is one of", "without a reason",
)  # fmt: skip
"""Of messages on what the schema describes, too."""


def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(SCHEMAS[name])


def plain(value: Any) -> Any:
    """TOML's values as JSON has them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.isoformat() if isinstance(value, date) else value


@pytest.mark.parametrize("name", ["catalog", "report"])
def test_they_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])


def test_they_are_what_the_models_say() -> None:
    assert runpy.run_path(str(ROOT / "docs" / "write_schemas.py"))["schemas"]() == SCHEMAS


@pytest.mark.parametrize("file", sorted((ROOT / "examples").rglob("streams.toml")), ids=lambda path: path.parent.name)
def test_the_examples_catalogs_fit(file: Path) -> None:
    validator("catalog").validate(plain(tomllib.loads(file.read_text(encoding="utf-8"))))


# --- the catalog -----------------------------------------------------------------------------------------------


def test_a_catalog_with_everything_fits_and_is_accepted() -> None:
    document = tomllib.loads(CATALOG)
    catalog_from_mapping(document)
    validator("catalog").validate(plain(document))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, inner in items for found in [(*path, key), *_places(inner, (*path, key))]]


def _mutated(document: dict[str, Any], choose: random.Random) -> dict[str, Any]:
    """A document with a key removed, added or changed somewhere."""
    found = copy.deepcopy(document)
    path = choose.choice(_places(found))
    parent: Any = found
    for key in path[:-1]:
        parent = parent[key]
    kind = choose.choice(["remove", "replace", "replace", "add"])
    if kind == "remove":
        del parent[path[-1]]
    elif kind == "add" and isinstance(parent[path[-1]], dict):
        parent[path[-1]][choose.choice(["nope", "rows", "value", "format"])] = choose.choice([1, "x", [], {}])
    else:
        parent[path[-1]] = choose.choice([0, -1, 1.5, True, "", "x", [], ["x"], [1, 2], {}, {"x": "y"}])
    return found


@pytest.mark.parametrize("seed", range(20))
def test_the_catalogs_own_validation_and_the_schema_agree(seed: int) -> None:
    """What is accepted fits the schema; what is refused for its shape does not. Other refusals are about meaning."""
    choose, original = random.Random(seed), tomllib.loads(CATALOG)
    for _ in range(15 * MORE):
        document = _mutated(original, choose)
        fits = validator("catalog").is_valid(plain(document))
        try:
            catalog_from_mapping(document)
        except CatalogError as error:
            shape = any(part in error.message for part in SHAPE)
            assert not (shape and fits), (error.message, document)
        else:
            assert fits, document


# --- the report ------------------------------------------------------------------------------------------------


def _report(seed: int) -> Any:
    """A report on a random statement: with repairs, by the paper, accepted by a comment, or with what is wrong."""
    statement = make_statement(Choices.seeded(seed), Features(unions=15))
    catalog = catalog_from_mapping(statement.catalog)
    comment = '-- streambound: allow SB201, SB202, SB203, SB204, SB207 until=2999-01-01 reason="x"\n'
    sql = [statement.sql, comment + statement.sql, f"SELECT nope FROM S;\n{statement.sql}", "SELECT SELECT"][seed % 4]
    items = [
        with_repairs(item) if seed % 3 else by_the_paper(item)
        for item in check_source(SourceText("q.sql", sql), catalog)
    ]
    details = frozenset({"certificate", "lto_queries", "theorems"})
    return json.loads(json_report(suppressed((outcome(item, details) for item in items), today())))


def test_reports_fit_the_schema_and_the_schema_needs_every_key() -> None:
    seen = set()
    for seed in range(15 * MORE):
        document = _report(seed)
        validator("report").validate(document)
        seen |= {query["verdict"] for query in document["queries"]}
        seen |= {"fix" for query in document["queries"] for found in query["diagnostics"] if found["fixes"]}
        seen |= {"accepted" for query in document["queries"] if query["suppressed"]}
        assert sum(document["summary"].values()) == len(document["queries"])
        choose = random.Random(seed)
        path = choose.choice([path for path in _places(document) if "certificate" not in path[:-1]])
        broken = copy.deepcopy(document)
        parent: Any = broken
        for key in path[:-1]:
            parent = parent[key]
        if isinstance(parent, dict):
            del parent[path[-1]]
            assert not validator("report").is_valid(broken), path
            parent["nope"] = 1
            assert not validator("report").is_valid(broken), path
    assert seen >= {"bounded", "unbounded", "error", "fix", "accepted"}
