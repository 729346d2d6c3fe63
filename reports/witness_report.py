"""A witness as text and as files: what is always there, the elements, and a probe for each of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from streambound.analyzer.errors import InputError
from streambound.analyzer.json_models import parsed
from streambound.analyzer.query import Attribute, Query
from streambound.analyzer.values import Value, to_json
from streambound.criteria.results import Row
from streambound.criteria.witness import Witness
from streambound.criteria.wording import listed

MOST_SHOWN = 4
"""Elements that are printed in full."""

_ABOUT = "witness.json"
_PART = re.compile(r"(?:element|probe)-([1-9][0-9]{0,4})")


class WitnessFiles(Struct, frozen=True):
    """Which files ``witness.json`` says there are: elements and probes up to ``size``, with ``tables`` each."""

    size: int
    tables: tuple[str, ...]
    input: bool


JsonRows = dict[str, list[dict[str, Any]]]


def json_rows(query: Query, rows: Sequence[Row]) -> JsonRows:
    """Rows by table as recorded streams hold them, in order of time."""
    tables = {source.table: source for branch in query.branches for source in branch.sources}
    found: JsonRows = {}
    for row in sorted(rows, key=lambda row: _time(row, tables[row.table].timestamp)):
        source = tables[row.table]
        declared = [column for column in source.columns if not column.expression and column.name in row.values]
        named = {column.name: to_json(row.values[column.name], column.type) for column in declared}
        found.setdefault(row.table, []).append(named)
    return found


def _time(row: Row, timestamp: str | None) -> int:
    value = row.values.get(timestamp) if timestamp else 0
    return value if isinstance(value, int) else 0


def claim(witness: Witness, one_by_one: bool = True) -> str:
    """The claim of the witness in a sentence: probe k reveals element k, or all probes reveal all elements."""
    kept = listed(str(kept.attribute) for kept in witness.plan.kept)
    many = len(witness.plan.kept) > 1
    takes = f"{kept} {'take' if many else 'takes'} another value in every element, and"
    if not one_by_one:
        return (
            f"{takes} each element was sent or not: what the probes change in the output tells which, for every one of "
            f"the 2^N subsets of N elements"
        )
    return (
        f"{takes} element k was sent or not: what "
        f"probe k adds to the output tells which, for every one of the 2^N subsets of N elements"
    )


def witness_lines(query: Query, witness: Witness) -> Iterator[str]:
    """The rows of a witness and each element's result, in full for small ones; of a large one the first elements."""
    yield from row_lines(query, witness)
    for number, values in enumerate(witness.expected[:MOST_SHOWN], start=1):
        yield f"result of element {number}: {json.dumps(_result(witness, values), ensure_ascii=False)}"


def row_lines(query: Query, witness: Witness) -> Iterator[str]:
    """The rows of a witness in full, for small ones; of a large one the first elements."""
    yield from _part_lines("always sent", json_rows(query, witness.always))
    for title, parts in (("element", witness.elements), ("probe", witness.probes)):
        for number, rows in enumerate(parts[:MOST_SHOWN], start=1):
            yield from _part_lines(f"{title} {number}", json_rows(query, rows))
        if len(parts) > MOST_SHOWN:
            yield f"… and {len(parts) - MOST_SHOWN} more {title}s"


def results_of(witness: Witness) -> list[Any]:
    """Each element's result."""
    return [_result(witness, values) for values in witness.expected]


def _result(witness: Witness, values: Sequence[Value | None]) -> dict[str, Any]:
    branch = witness.plan.branch
    shown = {}
    for output, value in zip(branch.outputs, values, strict=True):
        kind = branch.column(output.value).type if isinstance(output.value, Attribute) else output.value.type
        shown[output.name] = to_json(value, kind)
    return shown


def _part_lines(title: str, tables: JsonRows) -> Iterator[str]:
    if tables:
        yield f"{title}:"
    for table, rows in tables.items():
        yield from (f"  {table} {json.dumps(row, ensure_ascii=False)}" for row in rows)


def write_witness(
    query: Query, witness: Witness, directory: Path, about: dict[str, Any], sent: Sequence[Row] | None = None
) -> None:
    """``always/``, ``element-K/`` and ``probe-K/`` with a ``NAME.jsonl`` per table, and ``witness.json`` about them.

    Each directory holds every table of the query, so that an empty file says that nothing is sent. ``sent`` are the
    rows of ``input/``, if there is to be one; ``about`` has the claim and the results. What an earlier witness has left
    in the directory is removed first.
    """
    directory.mkdir(parents=True, exist_ok=True)
    _remove_witness(directory)
    parts = [("always", witness.always)]
    parts += [(f"element-{k}", rows) for k, rows in enumerate(witness.elements, start=1)]
    parts += [(f"probe-{k}", rows) for k, rows in enumerate(witness.probes, start=1)]
    parts += [("input", tuple(sent))] if sent is not None else []
    about = {**about, "size": witness.size} | {"tables": _tables(query), "input": sent is not None}
    # First, so that the next run knows what a run that was interrupted has written.
    (directory / _ABOUT).write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, rows in parts:
        _write_rows(query, rows, directory / name)


def _remove_witness(directory: Path) -> None:
    """Remove the streams that the ``witness.json`` of a directory speaks of: what else is there is the user's."""
    try:
        text = (directory / _ABOUT).read_text(encoding="utf-8")
        about = parsed(text, _ABOUT).read(WitnessFiles, "not about a witness", closed=False)
    except (FileNotFoundError, UnicodeDecodeError, InputError):
        return  # there is none, or it is not of this command
    named = ("always", "input") if about.input else ("always",)
    files = {f"{table}.jsonl" for table in about.tables}
    for part in directory.iterdir():
        numbered = _PART.fullmatch(part.name)
        ours = int(numbered[1]) <= about.size if numbered else part.name in named
        if not ours or part.is_symlink() or not part.is_dir():
            continue
        for file in part.iterdir():
            if file.name in files:
                file.unlink()
        if not any(part.iterdir()):
            part.rmdir()


def _write_rows(query: Query, rows: Sequence[Row], directory: Path) -> None:
    """Rows as recorded streams: ``NAME.jsonl`` for each table of the query."""
    directory.mkdir(exist_ok=True)
    found = json_rows(query, rows)
    for table in _tables(query):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found.get(table, ()))
        (directory / f"{table}.jsonl").write_text(text, encoding="utf-8")


def _tables(query: Query) -> list[str]:
    return list(dict.fromkeys(source.table for branch in query.branches for source in branch.sources))
