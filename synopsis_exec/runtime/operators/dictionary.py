"""Rows and entries as arrays. Texts are numbers of a batch's dictionary, in the order of the texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from streambound_runtime.arrays import Integers, Values
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.frame import ColumnFrame
from streambound_runtime.operators.matches import where
from streambound_runtime.operators.plan import Subplan, TableScan, Test

T = TypeVar("T")


class Dictionary:
    """All texts of a batch, each with its place in their order."""

    def __init__(self) -> None:
        self.found = {""}
        """The empty text stands where a column has none but NULL."""
        self.ordered: Values = np.zeros(0, dtype=object)
        self.places: dict[str, int] = {}

    def add_batch(self, batch: Mapping[str, Delta]) -> None:
        """Take in the texts of a batch; all texts are taken in before the first is asked for."""
        for rows in batch.values():
            for texts in rows.dictionary.values():
                self.found.update(texts.to_pylist())

    def add_columns(self, frame: ColumnFrame, texts: Collection[str]) -> None:
        """Take in the texts of a frame."""
        for name in frame.columns.keys() & set(texts):
            self.found.update(frame.columns[name].tolist())

    def add_constants(self, branch: Subplan) -> None:
        """Take in the texts that a branch compares with or returns."""
        for part in branch.scans:
            for test in part.tests:
                options = test.offset if isinstance(test.offset, tuple) else (test.offset,)
                self.found.update(option for option in options if isinstance(option, str))
        for transition in branch.transitions:
            constants = (value for term in transition.values for value in (term.offset, *term.places))
            self.found.update(value for value in constants if isinstance(value, str))

    def number(self, value: T) -> T | int:
        """A text's place; other values as they are."""
        if not self.places:
            self.ordered = np.array(sorted(self.found), dtype=object)
            self.places = {text: place for place, text in enumerate(self.ordered)}
        return self.places[value] if isinstance(value, str) else value

    def numbers(self, texts: Iterable[str]) -> Integers:
        """The places of texts, int64, in the dictionary's order; all were taken in before."""
        return np.array([self.number(text) for text in texts], dtype=np.int64)

    def encoded(self, frame: ColumnFrame, texts: Collection[str]) -> ColumnFrame:
        """A frame with numbers for its texts."""
        mine = {name: self.numbers(frame.columns[name].tolist()) for name in frame.columns.keys() & set(texts)}
        return frame._replace(columns=frame.columns | mine)

    def decoded(self, frame: ColumnFrame, texts: Collection[str]) -> ColumnFrame:
        """A frame with texts for their numbers."""
        mine = {name: self.ordered[frame.columns[name]] for name in frame.columns.keys() & set(texts) if frame.size}
        return frame._replace(columns=frame.columns | mine)

    def test(self, test: Test) -> Test:
        """A test with numbers for its texts."""
        if isinstance(test.offset, tuple):
            return replace(test, offset=tuple(map(self.number, test.offset)))
        return replace(test, offset=self.number(test.offset))

    def branch(self, branch: Subplan) -> Subplan:
        """A branch with numbers for the texts that it returns."""
        if not branch.texts and self.found == {""}:
            return branch
        changed = []
        for transition in branch.transitions:
            values = tuple(
                replace(term, offset=self.number(term.offset), places=tuple(map(self.number, term.places)))
                for term in transition.values
            )
            changed.append(replace(transition, values=values))
        return replace(branch, transitions=tuple(changed))


def usable(part: TableScan, batch: Mapping[str, Delta], texts: Dictionary) -> ColumnFrame:
    """The rows of a stream that a branch can use."""
    rows = batch.get(part.table)
    if rows is None:
        empty = np.zeros(0, dtype=np.int64)
        return ColumnFrame(empty, None, dict.fromkeys(part.kept, empty), {})
    columns, nulls = {}, {}
    for name, column in part.columns:
        columns[name] = rows.columns[column]
        if column in rows.dictionary:
            columns[name] = texts.numbers(rows.dictionary[column].to_pylist())[columns[name]]
        if column in rows.nulls:
            nulls[name] = rows.nulls[column]
    found = where(
        ColumnFrame(rows.time, rows.weight, columns, nulls),
        tuple(texts.test(test) for test in (*part.times, *part.tests)),
    )
    kept = {name: nulls[name] for name in part.kept if name in nulls}
    frame = ColumnFrame(rows.time, rows.weight, {name: columns[name] for name in part.kept}, kept)
    frame = frame if found is None else frame.take(found)
    return frame._replace(nulls={name: null for name, null in frame.nulls.items() if null.any()})
