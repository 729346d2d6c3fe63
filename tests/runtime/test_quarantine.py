"""What is said of a bad row, and the stop at the first one."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.decoding.reasons import REASONS, detail
from streambound_runtime.decoding.row_text import MOST_SHOWN
from streambound_runtime.errors import JobError
from streambound_runtime.operators.by_tick import RejectedRow
from streambound_runtime.promises import Arrival, Partitions, QuarantineLimit
from streambound_runtime.quarantine import FIELDS, BadRows, check_limit, json_lines, name_of, row_of, told_rows
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

    bad = BadRows(9)
    bad.add(STREAM, rejected, "/in/S.jsonl", late=late)
    found = [*bad.rows()]
    about = {"stream": "S", "file": "/in/S.jsonl"}
    assert found == [
        {**about, "reason": "wrong-type", "detail": "a is not an int", "line": 1, "row": lines[0]},
        {**about, "reason": "after-idle", "detail": "late: its stream was idle for longer than idle_after", "line": 2,
         "row": lines[1]},
        {**about, "reason": "not-json", "detail": "not a JSON object", "line": 3, "row": "{"},
    ]  # fmt: skip
    assert asked == [(1, 3)]
    assert all([key for key in FIELDS if key in row] == list(row) for row in (*found, *bad.rows(4)))
    assert [row["batch"] for row in bad.rows(0)] == [0, 0, 0]
    assert bad.counts == Counter(row["detail"] for row in found)


def test_where_a_row_is_is_said_as_far_as_it_is_known() -> None:
    """Files that Spark has read are in a column, as URIs; records of a queue have no file, perhaps no text either."""
    rejected = Decoder(STREAM, lines=True).decode(raw("{", file=["file:///a%20b/c.jsonl"])).rejected
    bad = BadRows(1)
    bad.add(STREAM, rejected)
    assert [*bad.rows()] == [
        {"stream": "S", "reason": "not-json", "detail": "not a JSON object", "file": "/a b/c.jsonl", "row": "{"}
    ]
    known = {"reason": "no-value", "detail": "the record has no value", "partition": 0, "offset": 0, "row": None}
    assert row_of(STREAM, known) == {"stream": "S", **known}, "0 is known, and the text is there even if it is NULL"
    relation = Relation("R", COLUMNS, ())
    nowhere = row_of(relation, {"reason": "not-json", "line": None, "file": "", "row": ""})
    assert nowhere == {"relation": "R", "reason": "not-json", "row": ""}
    assert (name_of(nowhere), name_of({"stream": "S"})) == ("R", "S")


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
    text = (Path(__file__).parents[2] / "docs" / "failures.md").read_text(encoding="utf-8")
    section = text[text.index("\n## Quarantine\n") :]
    for name in (*(code for code, _ in REASONS), *FIELDS):
        assert f"`{name}`" in section, name


def test_a_line_of_json_each() -> None:
    rows: list[dict[str, Any]] = [{"row": 'a"\n\u2028é\ud83d', "line": 1}, {"row": None}]
    text = "".join(json_lines(rows))
    assert [json.loads(line) for line in text.removesuffix("\n").split("\n")] == rows
    assert "é" in text and [*json_lines([])] == []


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


def bad_rows(job: JobSpec, *rows: tuple[str, str | None, dict[str, Any]], most: int = 9) -> BadRows:
    """Rows of a stream or relation, each with its text and its place."""
    found, tables = BadRows(most), {table.name: table for table in job.tables}
    for name, text, place in rows:
        places = {key: pa.array([value]) for key, value in place.items()}
        found.add(tables[name], told_rows("not-json", "not a JSON object", [text], **places))
    return found


def test_a_stream_that_quarantines_never_stops_the_job(job: JobSpec) -> None:
    bad_rows(job).stop()
    bad_rows(job, ("T", "{", {})).stop()


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([("S", "{", {"file": "a.jsonl", "line": 3})],
         "S breaks its contract in a.jsonl, line 3: not a JSON object: {"),
        ([("R", "[]", {"file": "R.jsonl"})], "R breaks its contract in R.jsonl: not a JSON object: []"),
        ([("S", "{", {"partition": 0, "offset": 7})],
         "S breaks its contract at partition 0, offset 7: not a JSON object: {"),
        ([("T", "no", {}), ("S", "first", {}), ("S", "second", {}), ("R", "x", {})],
         "S breaks its contract: not a JSON object: first, and 2 more in this batch"),
        ([("S", "x" * 200, {})], f"S breaks its contract: not a JSON object: {'x' * 200}"),
        ([("S", "x" * 201, {})], f"S breaks its contract: not a JSON object: {'x' * 200}…"),
        ([("S", None, {})], "S breaks its contract: not a JSON object"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("most", [9, 1])
def test_the_first_bad_row_stops_the_job(job: JobSpec, rows: list[Any], says: str, most: int) -> None:
    """Also where no more rows are kept."""
    with pytest.raises(JobError) as caught:
        bad_rows(job, *rows, most=most).stop()
    assert (str(caught.value), caught.value.kind, caught.value.status) == (says, "contract", 1)


def test_rows_beyond_the_most_are_counted() -> None:
    lines, late = ['{"a": "no"}', "{", "[", '{"a": 1, "p": "x", "ts": 3}', '{"a": 1, "p": "y", "ts": 4}'] * 3, []

    def why(part: int, ts: int) -> str:
        late.append((part, ts))
        return "after-idle" if part else "late"

    found = Decoder(STREAM, lines=True, most=4).decode(raw(*lines), 5)
    assert found.rejected.num_rows == len(found.rejected_at) == 4
    bad = BadRows(2)
    bad.add(STREAM, found.rejected, beyond=found.beyond, late=why)
    assert [row["row"] for row in bad.rows()] == lines[:2] and bad.kept == 2
    words = [detail("wrong-type", COLUMNS[0]), detail("not-json"), detail("late"), detail("after-idle")]
    assert bad.counts == dict(zip(words, (3, 6, 3, 3), strict=True)), "as many as there are, by the same reasons"
    assert {*late} == {(0, 3), (1, 4)} and len(late) <= 4, "a reason is asked once"
    bad.add(STREAM, found.rejected, late=why)
    assert (bad.kept, len([*bad.rows()]), bad.counts.total()) == (2, 2, 19)
    assert sum(table.num_rows for _, _, table in bad.tables) == 2, "no others are in memory"


def test_many_copies_of_a_row_are_counted(job: JobSpec) -> None:
    rejected = RejectedRow("T", "absent-row", "gone", 5, {"a": 1}, 10**12)
    bad = BadRows(3)
    bad.add_closed(job, [rejected, replace(rejected, copies=1)])
    assert [row["row"] for row in bad.rows(0)] == ['{"a":1,"ts":5}'] * 3
    assert bad.counts == {"gone": 10**12 + 1}


def test_a_long_row_is_cut_and_its_length_told() -> None:
    long = '{"a": "' + "ä" * 9000
    found = Decoder(STREAM, lines=True).decode(raw("{", long)).rejected
    assert found.column("row").to_pylist() == ["{", long[:MOST_SHOWN]]
    assert found.column("length").to_pylist() == [None, len(long.encode())]


def test_a_limit_may_stop_the_job() -> None:
    check_limit(QuarantineLimit(3, stops=True), {"x": 1, "y": 2})
    check_limit(QuarantineLimit(2), {"x": 1, "y": 2})
    with pytest.raises(JobError, match=r"^3 rows cannot be used, .* quarantine\.max = 2 \(y 2, x 1\)$") as caught:
        check_limit(QuarantineLimit(2, stops=True), {"x": 1, "y": 2})
    assert (caught.value.kind, caught.value.status) == ("quarantine", 1)
