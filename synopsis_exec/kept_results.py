"""Results that Spark computes of several rows: what matches keep for them, and how they are computed of that.

    SELECT a.x || b.y AS t, a.z  ->  keep _1 = a.x, _2 = b.y and _3 = a.z, compute `_1` || `_2` and `_3`

Branches of a union may give a column in several ways; then they keep a number that says which, and NULL for the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp, parse_one

from streambound.analyzer.columns import Column
from streambound.analyzer.constants import is_interval
from streambound.analyzer.endpoints import Sink
from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.query import Branch, Computed, Constant, Output, OutputValue
from streambound.analyzer.types import DataType, Family

_INT = DataType("int", Family.INTEGER)


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to give a column: an expression over kept columns of these types; one that is kept as it is has no text."""

    text: str
    kinds: tuple[DataType, ...]


@dataclass(frozen=True, slots=True)
class _Slot:
    """A kept column: the part of a way to give the result's column at a place; without a way the number of it."""

    column: Column
    place: int
    way: _Way | None = None
    part: int = 0


@dataclass(frozen=True, slots=True)
class KeptResults:
    """The kept columns, and for each column of a result an expression over them."""

    slots: tuple[_Slot, ...]
    ways: tuple[tuple[_Way, ...], ...]
    expressions: tuple[str, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of a match that the plan gives."""
        return tuple(slot.column for slot in self.slots)

    def outputs(self, branch: Branch) -> tuple[Output, ...]:
        """The select list of a branch as the plan keeps it."""
        return tuple(Output(slot.column.name, self._value(branch, slot), branch.span) for slot in self.slots)

    def _value(self, branch: Branch, slot: _Slot) -> OutputValue:
        output = branch.outputs[slot.place].value
        way = _way(branch, slot.place)
        if slot.way is None:
            return Constant(self.ways[slot.place].index(way), _INT)
        if way != slot.way:
            return Constant(None, slot.column.type)
        return output.attributes[slot.part] if isinstance(output, Computed) else output


def kept_results(branches: Sequence[Branch], columns: Sequence[Column]) -> KeptResults | None:
    """The columns that branches keep for results; None where they keep the results' own."""
    if not any(isinstance(output.value, Computed) for branch in branches for output in branch.outputs):
        return None
    slots: list[_Slot] = []
    ways, expressions = [], []

    def kept(place: int, kind: DataType, way: _Way | None = None, part: int = 0) -> str:
        slots.append(_Slot(Column(f"_{len(slots) + 1}", kind), place, way, part))
        return slots[-1].column.name

    for place, column in enumerate(columns):
        mine = tuple(dict.fromkeys(_way(branch, place) for branch in branches))
        number = kept(place, _INT) if mine[1:] else ""
        texts = []
        for way in mine:
            kinds = way.kinds or (column.type,)
            texts.append(_over([kept(place, kind, way, part) for part, kind in enumerate(kinds)], way.text))
        ways.append(mine)
        expressions.append(_chosen(number, texts))
    return KeptResults(tuple(slots), tuple(ways), tuple(expressions))


def _way(branch: Branch, place: int) -> _Way:
    value = branch.outputs[place].value
    if not isinstance(value, Computed):
        return _Way("", ())
    return _Way(value.text, tuple(branch.column(attribute).type for attribute in value.attributes))


def _over(names: Sequence[str], text: str) -> str:
    """An expression over `_1`, `_2`, … with the names of these; the first one where there is no expression."""
    renamed = {f"_{place}": exp.column(exp.to_identifier(name, quoted=True)) for place, name in enumerate(names, 1)}

    def kept(node: exp.Expr) -> exp.Expr:
        return renamed[node.name].copy() if isinstance(node, exp.Column) else node

    return parse_one(text or "`_1`", dialect="spark").transform(kept).sql("spark")


def _chosen(number: str, texts: Sequence[str]) -> str:
    """The expression of the way whose number is kept."""
    if not number:
        return texts[0]
    return f"CASE `{number}` {' '.join(f'WHEN {n} THEN {text}' for n, text in enumerate(texts))} END"


ADDED = ("_ts", "_mult")
"""The columns that a job gives its results: when one became true, and how often it is there."""


def refused(name: str, what: str, remedy: str, file: str, line: int) -> NotExecutableError:
    """The error that says why a statement has no job."""
    return NotExecutableError(f"{name} cannot be compiled: {what}", remedy=remedy, file=file, line=line)


def check_columns(
    name: str,
    columns: Sequence[Column],
    sink: Sink | None,
    file: str,
    line: int,
    added: Sequence[str] = ADDED,
) -> None:
    """Raise NotExecutableError where results of these columns, and of those ``added``, cannot be written."""
    names = [column.name for column in columns]
    lowered = Counter(map(str.lower, names))
    for column in columns:
        if lowered[column.name.lower()] > 1:
            what, remedy = f"two columns of the select list are named {column.name}", "name them apart with AS"
        elif column.name.lower() in added:
            what = f"{column.name} is a column that the job adds itself"
            remedy = "give the column another name with AS"
        elif column.name.lower() == "batch" and _has_files(sink):
            what = f"its sink's files have a column {column.name} of their own, the number of the batch"
            remedy = "give the column another name with AS"
        elif column.type.element is not None and sink is not None and sink.target is not None and sink.target.table:
            what = f"{column.name} is an array, of which its sink's table has none"
            remedy = "write to files, or to Kafka"
        elif column.type.family is Family.OTHER and not (
            column.type.name == "void" or is_interval(column.type) or column.type.element
        ):
            what = f"{column.name} has the type {column.type.name}, whose values cannot be compared"
            window = column.type.name.startswith("struct<start:")
            remedy = "select its fields: window.start, window.end" if window else "select a column of a simple type"
        else:
            continue
        raise refused(name, what, remedy, file, line)


def _has_files(sink: Sink | None) -> bool:
    """Whether results are files of Spark's, a directory for each batch."""
    return sink is not None and sink.target is not None and bool(sink.target.path) and not sink.target.table
