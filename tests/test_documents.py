"""The documents: their commands print what is shown, their links lead somewhere, and what they name exists."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import pytest
from click.testing import CliRunner

from streambound import cli
from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.job_reports import JobReport
from streambound.analyzer.settings import KEYS
from streambound.reports.formats import FORMAT_NAMES
from streambound.synopsis_exec import runner
from streambound.synopsis_exec.in_process import run_in_process
from streambound_runtime.promises import Arrival, Mark, Partitions
from streambound_runtime.settings import Settings
from support.program import ROOT
from support.transcripts import Block, blocks_of, follow, matches

PAGES = ["README.md", *sorted(file.relative_to(ROOT).as_posix() for file in (ROOT / "docs").glob("*.md"))]
OTHERS = [
    "CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/README.md", "docs/codes/README.md", "examples/auctions/README.md",
    "examples/flights/README.md", "examples/fraud/README.md", "examples/nexmark/README.md",
    "examples/registry/README.md", "tests/data/README.md", "tests/support/README.md",
]  # fmt: skip
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in [*PAGES, *OTHERS]}
FOLLOWED = [
    "docs/catalog.md", "docs/circuits.md", "docs/cookbook.md", "docs/engines.md", "docs/explain.md",
    "docs/expressions.md", "docs/files.md", "docs/keys.md", "docs/operators.md", "docs/periods.md",
    "docs/probabilities.md", "docs/relations.md", "docs/run.md", "docs/sql.md", "docs/understand.md",
    "docs/verify.md", "examples/auctions/README.md", "examples/fraud/README.md",
]  # fmt: skip
FOLLOWED_ON_SPARK = ["README.md", "docs/periods.md", "docs/pyspark.md", "docs/temporal-examples.md", "docs/verify.md"]
ELSEWHERE = {"README.md": "test_readme.py", "docs/gate.md": "gate", "docs/gate-tutorial.md": "test_gate_tutorial.py"}
"""Pages whose commands another test follows."""
SPARKS_SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": "id", "type": "long", "nullable": True, "metadata": {}},
        {"name": "ts", "type": "timestamp", "nullable": True, "metadata": {}},
    ],
}
AVROS_SCHEMA = {
    "type": "record",
    "name": "order",
    "fields": [
        {"name": "created_at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "state", "type": {"type": "enum", "name": "state", "symbols": ["open", "paid"]}},
    ],
}
FILES = {
    "orders.json": json.dumps(SPARKS_SCHEMA),
    "order.avsc": json.dumps(AVROS_SCHEMA),
    "streams.toml": next(block.text for block in blocks_of("docs/catalog.md") if block.file == "streams.toml"),
}
"""What a project has before a page is followed: schemas, and the catalog that the pages about queries go on from."""


# --- commands ----------------------------------------------------------------------------------------------------


def test_an_ellipsis_stands_for_text_and_nothing_else_does() -> None:
    assert matches("a\n…\nb", "a\nx\ny\nb") and matches("…\nb", "x\nb") and matches("a … b", "a x.y b")
    assert not matches("a\nb", "a\nx\nb") and not matches("…\nb", "x\nc") and not matches("a … b", "a x\ny b")


@pytest.mark.parametrize("page", FOLLOWED)
def test_the_commands_but_those_that_start_spark(page: str, tmp_path: Path) -> None:
    assert follow((block for block in blocks_of(page) if not block.spark), tmp_path, FILES) > 0


def on_this_spark(
    compiled: Any, options: dict[str, str], on_report: Callable[[JobReport], None]
) -> tuple[list[JobReport], JobReport]:
    """Run a job as `runner` does, but in this process."""
    given = [part for name, value in options.items() for part in (f"--{name}", value)]
    with TemporaryDirectory() as folder:
        summary = run_in_process(compiled.write(Path(folder)), given, Path(folder) / "log")
    return [summary], summary


@pytest.mark.parametrize("page", FOLLOWED_ON_SPARK)
def test_the_commands_that_start_spark(spark: Any, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All on one Spark, for each would be started half a minute; what is no command of ours has its own."""
    monkeypatch.setattr(runner, "_run_on_spark", on_this_spark)
    blocks = (block for block in blocks_of(page) if block.spark or block.file)
    assert follow(blocks, tmp_path) > 0


def test_every_page_with_commands_is_followed() -> None:
    having = {page for page in TEXTS if any(block.commands for block in blocks_of(page))}
    assert having - {"examples/registry/README.md"} == {*FOLLOWED, *FOLLOWED_ON_SPARK, *ELSEWHERE}


def test_the_drawing_is_what_explain_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (drawing,) = blocks_of("docs/explain.md", "mermaid")
    command = ["explain", "examples/figure2/figure2.sql", "--emit", "tables", "--format", "mermaid"]
    assert CliRunner().invoke(cli.main, command).output == drawing.text


def test_the_example_for_those_who_write_tests() -> None:
    (example,) = blocks_of("tests/support/README.md", "python")
    exec(compile(example.text, "tests/support/README.md", "exec"), {})


# --- catalogs ----------------------------------------------------------------------------------------------------

CATALOGS = [(page, block) for page in PAGES for block in blocks_of(page, "toml")]


@pytest.mark.parametrize(("page", "block"), CATALOGS, ids=[page for page, _ in CATALOGS])
def test_the_catalogs_are_accepted(page: str, block: Block) -> None:
    parse_catalog(block.text)


def test_the_keys_of_order_say_what_is_said_of_them() -> None:
    order = next(block for block in blocks_of("docs/time.md", "toml") if "lateness" in block.text)
    (stream,) = parse_catalog(order.text).tables
    assert stream.arrival == Arrival(10_000_000, 300_000_000, Mark("kind", value="end"), Partitions("shard", (0, 1)))


# --- what one reads ------------------------------------------------------------------------------------------------

MOST_WORDS, MOST_COLUMNS, MOST_WORDS_OF_A_CELL = 2500, 120, 20
READ = [*PAGES, "CHANGELOG.md", "CONTRIBUTING.md", *(f"docs/codes/{code}.md" for code in Code)]


def words_of_a_cell(cell: str) -> int:
    """Without what is code, and where links lead."""
    return len(re.findall(r"\w+", re.sub(r"`[^`]*`|\]\([^)]*\)", " ", cell)))


@pytest.mark.parametrize("page", READ)
def test_pages_lines_and_cells_are_short(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(text.split()) <= MOST_WORDS
    lines = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M).splitlines()
    assert [line for line in lines if len(line) > MOST_COLUMNS and not line.startswith("|")] == []
    cells = [cell for line in lines if line.startswith("|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    assert [cell for cell in cells if words_of_a_cell(cell) > MOST_WORDS_OF_A_CELL] == []


# --- links -------------------------------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """What a heading is called in an address, as GitHub does it."""
    found, fenced = set(), False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and (heading := re.match(r"#+ (.*)", line)):
            found.add(re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", TEXTS)
def test_the_links_lead_somewhere(page: str) -> None:
    text = re.sub(r"^```.*?^```$", "", TEXTS[page], flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        file = (ROOT / page).parent / name if name else ROOT / page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file.read_text(encoding="utf-8")), target


def test_anchors_are_made_as_github_makes_them() -> None:
    assert anchors("# A `b`: c's 1. D\n```\n# no\n```\n## What happens when …") == {"a-b-cs-1-d", "what-happens-when-"}


# --- what is named -----------------------------------------------------------------------------------------------

FOLDERS = (
    "analyzer", "benchmarks", "commands", "criteria", "docs", "examples", "gate", "importing", "preprocess",
    "punctuation", "recheck", "reports", "synopsis_exec", "tests",
)  # fmt: skip
PLACEHOLDER = re.compile(r"CODE|NAME")
FOREIGN = {"--find-renames", "--packages", "--py-files"}
"""Options of other programs."""


def spans(page: str) -> Iterator[str]:
    """What is code: inline, and the commands in blocks."""
    for block in blocks_of(page):
        if block.language in ("console", "sh"):
            yield from (command for command, _ in block.commands)
            yield from block.text.replace("\\\n", " ").splitlines() if block.language == "sh" else ()
    text = re.sub(r"^```.*?^```$", "", TEXTS[page], flags=re.S | re.M)
    yield from (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text))


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "benchmarks/README.md", "tests/support/README.md"])
def test_the_files_that_are_named_exist(page: str) -> None:
    named = (word for span in spans(page) for word in re.findall(r"[\w./-]+", span))
    for name in named:
        if "/" in name and name.split("/")[0] in FOLDERS and not PLACEHOLDER.search(name):
            assert (ROOT / name).exists(), name


def options_of(command: click.Command) -> set[str]:
    return {"--help", *(option for found in command.params for option in (*found.opts, *found.secondary_opts))}


def commands() -> dict[str, set[str]]:
    """The options of every command, by its words."""
    found = {}
    for entry in cli.COMMANDS:
        command = entry.load()
        found[entry.name] = options_of(command)
        for name, inner in getattr(command, "commands", {}).items():
            found[f"{entry.name} {name}"] = options_of(inner)
    return found


def options_of_jobs() -> set[str]:
    return {f"--{name.replace('_', '-')}" for name in Settings.__dataclass_fields__} | {"--help"}


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_and_options_that_are_named_exist(page: str) -> None:
    known = commands()
    every = set().union(*known.values(), options_of_jobs(), FOREIGN)
    for span in spans(page):
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", span.partition(" # ")[0]))
        assert named <= every, span
        if called := re.search(r"\bstreambound ([a-z]+)(?: ([a-z]+))?", span):
            word, second = called[1], f"{called[1]} {called[2]}"
            assert word in known, span
            if "|" not in span and "pip" not in span:
                assert named <= known.get(second, known[word]) | FOREIGN, span


# --- the reference -----------------------------------------------------------------------------------------------

REFERENCE = TEXTS["docs/reference.md"]


def section(heading: str) -> str:
    return REFERENCE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def first_cells(text: str) -> list[str]:
    """What the first cells of tables name, in order."""
    return [
        name for cell in re.findall(r"^\| (`[^|]*`) \|", text, flags=re.M) for name in re.findall(r"`([^`]+)`", cell)
    ]


def test_it_has_every_command_and_format() -> None:
    assert sorted(first_cells(section("Commands"))) == sorted(command.name for command in cli.COMMANDS)
    formats = section("Formats of `check`").split("\n### ")[0]
    assert sorted(first_cells(formats)) == sorted(FORMAT_NAMES)


def test_it_has_every_key_of_the_catalog() -> None:
    schema = json.loads((ROOT / "docs" / "schemas" / "catalog.schema.json").read_text(encoding="utf-8"))
    top = schema["properties"]
    tables = (top[name]["additionalProperties"]["properties"] for name in ("streams", "relations"))
    keys = {*top, *(key for table in tables for key in table)} - {"streams", "relations"}
    catalog = section("The catalog")
    assert set(first_cells(catalog)) == keys
    for key in KEYS:
        assert f"`{key.name}`" in catalog, key.name


def test_it_has_every_key_of_the_report() -> None:
    schema = json.loads((ROOT / "docs" / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
    text = section("Formats of `check`")
    for key in schema["properties"]:
        assert f"`{key}`" in text, key


def test_the_options_of_a_job_are_all_in_its_table() -> None:
    listed = {option for cell in first_cells(TEXTS["docs/run.md"]) for option in re.findall(r"^--[a-z-]+", cell)}
    assert listed == options_of_jobs() - {"--help"}


# --- the guide to what tests share ---------------------------------------------------------------------------------


def test_it_has_every_file_once() -> None:
    listed = first_cells(TEXTS["tests/support/README.md"])
    rows = re.findall(r"^\| .* \|$", TEXTS["tests/support/README.md"], flags=re.M)
    named = sorted(name for row in rows for name in re.findall(r"`(\w+\.py)`", row))
    there = sorted(file.name for file in (ROOT / "tests" / "support").glob("*.py") if file.name != "__init__.py")
    assert named == there and set(listed) <= set(there)
