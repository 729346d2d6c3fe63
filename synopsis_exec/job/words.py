"""Part of every job: rows and entries as arrays. Texts are numbers of a batch's words, in the words' order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from streambound.synopsis_exec.job.batch import Rows
from streambound.synopsis_exec.job.exact import integers
from streambound.synopsis_exec.job.frame import Frame
from streambound.synopsis_exec.job.matches import where
from streambound.synopsis_exec.job.shape import Arriving, Branch, Test


class Words:
    """All texts of a batch, each with its place in their order."""

    def __init__(self) -> None:
        self.found = {""}
        """The empty text stands where a column has none but NULL."""
        self.ordered: Any = None
        self.places: dict[str, int] = {}

    def add_batch(self, batch: dict[str, Rows]) -> None:
        """Take in the texts of a batch; all texts are taken in before the first is asked for."""
        for rows in batch.values():
            for texts in rows.words.values():
                self.found.update(texts)

    def add_columns(self, frame: Frame, texts: frozenset[str]) -> None:
        """Take in the texts of a frame."""
        for name in texts & frame.columns.keys():
            self.found.update(frame.columns[name].tolist())

    def add_constants(self, branch: Branch) -> None:
        """Take in the texts that a branch compares with or returns."""
        for part in branch.arriving:
            for test in part.tests:
                options = test.offset if test.op == "in" else (test.offset,)
                self.found.update(option for option in options if isinstance(option, str))
        for transition in branch.transitions:
            constants = (value for term in transition.values for value in (term.offset, *term.places))
            self.found.update(value for value in constants if isinstance(value, str))

    def number(self, value: Any) -> Any:
        """A text's place; other values as they are."""
        if self.ordered is None:
            self.ordered = np.array(sorted(self.found), dtype=object)
            self.places = {word: place for place, word in enumerate(self.ordered)}
        return self.places[value] if isinstance(value, str) else value

    def numbers(self, words: Iterable[str]) -> Any:
        """The places of texts."""
        return np.array([self.number(word) for word in words], dtype=np.int64)

    def encoded(self, frame: Frame, texts: frozenset[str]) -> Frame:
        """A frame with numbers for its texts."""
        mine = {name: self.numbers(frame.columns[name].tolist()) for name in texts & frame.columns.keys()}
        return frame._replace(columns=frame.columns | mine)

    def decoded(self, frame: Frame, texts: frozenset[str]) -> Frame:
        """A frame with texts for their numbers."""
        mine = {name: self.ordered[frame.columns[name]] for name in texts & frame.columns.keys() if frame.size}
        return frame._replace(columns=frame.columns | mine)

    def test(self, test: Test) -> Test:
        """A test with numbers for its texts."""
        if test.op == "in":
            return test._replace(offset=[self.number(option) for option in test.offset])
        return test._replace(offset=self.number(test.offset))

    def branch(self, branch: Branch) -> Branch:
        """A branch with numbers for the texts that it returns."""
        if not branch.texts and self.found == {""}:
            return branch
        changed = []
        for transition in branch.transitions:
            values = tuple(
                term._replace(offset=self.number(term.offset), places=tuple(map(self.number, term.places)))
                for term in transition.values
            )
            changed.append(transition._replace(values=values))
        return branch._replace(transitions=tuple(changed))


def usable(part: Arriving, batch: dict[str, Rows], words: Words) -> Frame:
    """The rows of a stream that a branch can use."""
    rows = batch.get(part.stream)
    if rows is None:
        empty = np.zeros(0, dtype=np.int64)
        return Frame(empty, None, dict.fromkeys(part.kept, empty), {})
    columns, nulls = {}, {}
    for name, column in part.columns.items():
        columns[name] = rows.columns[column]
        if column in rows.words:
            columns[name] = words.numbers([*rows.words[column], *[""] * (not rows.words[column])])[columns[name]]
        if column in rows.nulls:
            nulls[name] = rows.nulls[column]
    found = where(
        Frame(rows.time, rows.n, columns, nulls), tuple(words.test(test) for test in (*part.times, *part.tests))
    )
    kept = {name: nulls[name] for name in part.kept if name in nulls}
    frame = Frame(rows.time, rows.n, {name: columns[name] for name in part.kept}, kept)
    frame = frame if found is None else frame.take(found)
    return frame._replace(nulls={name: null for name, null in frame.nulls.items() if null.any()})


def frame_of(entries: list[Any], names: tuple[str, ...], texts: frozenset[str]) -> Frame:
    """Pairs of a key and a number as columns with these names."""
    columns, nulls = {}, {}
    for place, name in enumerate(names):
        columns[name], null = column_of([key[place] for key, _ in entries], name in texts)
        if null is not None:
            nulls[name] = null
    return Frame(np.zeros(len(entries), dtype=np.int64), integers([n for _, n in entries]), columns, nulls)


def column_of(values: list[Any], text: bool) -> tuple[Any, Any]:
    """Values as an array, and where they are NULL; None where none is."""
    null = np.array([value is None for value in values], dtype=bool)
    if text:
        found = np.array(["" if value is None else value for value in values], dtype=object)
    elif any(isinstance(value, float) for value in values):
        found = np.array([0.0 if value is None else float(value) for value in values])
    else:
        found = integers([0 if value is None else int(value) for value in values])
    return found, null if null.any() else None


def listed(frame: Frame, names: tuple[str, ...]) -> list[Any]:
    """The rows of a frame as pairs of a key and a number."""
    columns = []
    for name in names:
        values = frame.columns[name].tolist()
        if name in frame.nulls:
            values = [None if missing else value for value, missing in zip(values, frame.nulls[name], strict=True)]
        columns.append(values)
    keys = [list(key) for key in zip(*columns, strict=True)] if columns else [[] for _ in range(frame.size)]
    counts = [1] * frame.size if frame.n is None else frame.n.tolist()
    return [[key, n] for key, n in zip(keys, counts, strict=True)]
