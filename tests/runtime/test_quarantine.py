"""What is said of a bad row, and the stop at the first one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.decoding.reasons import REASONS, detail
from streambound_runtime.errors import JobError
from streambound_runtime.promises import Arrival, Partitions
from streambound_runtime.quarantine import FIELDS, in_batch, json_lines, name_of, quarantined, row_of, stop_at
from streambound_runtime.spec import JobSpec, Relation, SourceSpec, Stream, TableColumn
from support.jobs import job_of

COLUMNS = (TableColumn("a", "int"), TableColumn("p", "string"), TableColumn("ts", "bigint"))
STREAM = Stream("S", COLUMNS, "ts", ("a",), arrival=Arrival(partitions=Partitions("p", ("x", "y"))))


def raw(*lines: str | None, **more: list[Any]) -> pa.Table:
    return pa.table({"value": pa.array(lines, pa.string()), **more})


def test_bad_and_late_rows_of_a_file() -> None:
    lines = ['{"a": "no", "p": "x", "ts": 9}', '{"a": 1, "p": "y", "ts": 3}', "{", '{"a": 1, "p": "x", "ts": 9}']
    rejected = Decoder(STREAM, lines=True).decode(raw(*lines, line=[1, 2, 3, 4]), 5).rejected
    asked = []

    def late(part: int, ts: int) -> str:
        asked.append((part, ts))
        return "after-idle"

    found = quarantined(STREAM, rejected, "/in/S.jsonl", late)
    about = {"stream": "S", "file": "/in/S.jsonl"}
    assert found == [
        {**about, "reason": "wrong-type", "detail": "a is not an int", "line": 1, "row": lines[0]},
        {**about, "reason": "after-idle", "detail": "late: its stream was idle for longer than idle_after", "line": 2,
         "row": lines[1]},
        {**about, "reason": "not-json", "detail": "not a JSON object", "line": 3, "row": "{"},
    ]  # fmt: skip
    assert asked == [(1, 3)]
    assert all([key for key in FIELDS if key in row] == list(row) for row in (*found, *in_batch(found, 4)))
    assert [row["batch"] for row in in_batch(found, 0)] == [0, 0, 0]


def test_where_a_row_is_is_said_as_far_as_it_is_known() -> None:
    """Files that Spark has read are in a column, as URIs; records of a queue have no file, perhaps no text either."""
    rejected = Decoder(STREAM, lines=True).decode(raw("{", file=["file:///a%20b/c.jsonl"])).rejected
    assert quarantined(STREAM, rejected, "")[0] == {
        "stream": "S", "reason": "not-json", "detail": "not a JSON object", "file": "/a b/c.jsonl", "row": "{"
    }  # fmt: skip
    known = {"reason": "no-value", "detail": "the record has no value", "partition": 0, "offset": 0, "row": None}
    assert row_of(STREAM, known) == {"stream": "S", **known}, "0 is known, and the text is there even if it is NULL"
    relation = Relation("R", COLUMNS, ())
    bad = row_of(relation, {"reason": "not-json", "line": None, "file": "", "row": ""})
    assert bad == {"relation": "R", "reason": "not-json", "row": ""}
    assert (name_of(bad), name_of({"stream": "S"})) == ("R", "S")


def test_of_a_record_without_a_value_is_told_what_is_known_beside_it() -> None:
    source = SourceSpec("queue", payload="value", metadata=(("p", "key"), ("ts", "offset")))
    decoder = Decoder(replace(STREAM, source=source))
    rejected = decoder.decode(raw(None, "{", p=["x", "y"], ts=[1, 2])).rejected
    assert rejected.column("row").to_pylist() == ['{"metadata":{"p":"x","ts":1}}', "{"]


def test_every_reason_has_one_code_and_its_words() -> None:
    assert len({code for code, _ in REASONS}) == len({words for _, words in REASONS}) == len(REASONS)
    for code, _ in REASONS:
        assert set(code) <= set("abcdefghijklmnopqrstuvwxyz-8")
        assert not {"{", "}"} & set(detail(code, TableColumn("a", "int"), 3))


def test_the_documentation_has_every_reason_and_key() -> None:
    text = (Path(__file__).parents[2] / "docs" / "run.md").read_text(encoding="utf-8")
    section = text[text.index("\n## Quarantine\n") : text.index("\n## What happens when")]
    for name in (*(code for code, _ in REASONS), *FIELDS):
        assert f"`{name}`" in section, name


def test_a_line_of_json_each() -> None:
    rows: list[dict[str, Any]] = [{"row": 'a"\n\u2028é\ud83d', "line": 1}, {"row": None}]
    text = json_lines(rows)
    assert [json.loads(line) for line in text.removesuffix("\n").split("\n")] == rows
    assert "é" in text and json_lines([]) == ""


@pytest.fixture(scope="module")
def job() -> JobSpec:
    columns = {"a": "int", "ts": "bigint"}
    catalog = {
        "streams": {"S": {"timestamp": "ts", "columns": columns}, "T": {"timestamp": "ts", "columns": columns}},
        "relations": {"R": {"columns": {"a": "int"}}},
    }
    found = job_of("SELECT S.a FROM S, T, R WHERE S.ts = T.ts AND S.a = R.a", catalog)
    stops = tuple(replace(stream, stops=stream.name == "S") for stream in found.streams)
    return replace(found, streams=stops, relations=tuple(replace(each, stops=True) for each in found.relations))


def bad(name: str, row: str, **more: Any) -> dict[str, Any]:
    kind = "relation" if name == "R" else "stream"
    return {kind: name, "reason": "not-json", "detail": "not a JSON object", **more, "row": row}


def test_a_stream_that_quarantines_never_stops_the_job(job: JobSpec) -> None:
    stop_at(job, [])
    stop_at(job, [bad("T", "{")])


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([bad("S", "{", file="a.jsonl", line=3)], "S breaks its contract in a.jsonl, line 3: not a JSON object: {"),
        ([bad("R", "[]", file="R.jsonl")], "R breaks its contract in R.jsonl: not a JSON object: []"),
        ([bad("S", "{", partition=0, offset=7)],
         "S breaks its contract at partition 0, offset 7: not a JSON object: {"),
        ([bad("T", "no"), bad("S", "first"), bad("S", "second"), bad("R", "x")],
         "S breaks its contract: not a JSON object: first, and 2 more in this batch"),
        ([bad("S", "x" * 200)], f"S breaks its contract: not a JSON object: {'x' * 200}"),
        ([bad("S", "x" * 201)], f"S breaks its contract: not a JSON object: {'x' * 200}…"),
    ],
)  # fmt: skip
def test_the_first_bad_row_stops_the_job(job: JobSpec, rows: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(JobError) as caught:
        stop_at(job, rows)
    assert (str(caught.value), caught.value.kind, caught.value.status) == (says, "contract", 1)


def test_a_record_without_a_value_stops_the_job(job: JobSpec) -> None:
    nothing = {"stream": "S", "reason": "no-value", "detail": "the record has no value", "row": None}
    with pytest.raises(JobError, match=r"^S breaks its contract: the record has no value$"):
        stop_at(job, [nothing])
