"""Part of every job: the synopsis for whole batches, in columns. It keeps the same entries as `Synopsis`."""

from __future__ import annotations

from typing import Any

import numpy as np

from streambound.synopsis_exec.job.batch import Results, Rows, Times
from streambound.synopsis_exec.job.exact import greatest, narrowed, totals
from streambound.synopsis_exec.job.frame import Frame, coded, groups, stacked, summed
from streambound.synopsis_exec.job.given import COLUMNS, DISTINCT, MOST, TEXTS, Synopsis, branches
from streambound.synopsis_exec.job.log import Changes, age
from streambound.synopsis_exec.job.matches import Matches
from streambound.synopsis_exec.job.shape import Branch, Table
from streambound.synopsis_exec.job.words import Words, frame_of, listed, usable

OUTPUT = tuple(map(str, range(len(COLUMNS))))
"""The columns of results."""


class Columnar:
    """Closes many timestamps at once.

    ``history`` are the timestamps of the last batch at which the number of entries changes, and its first, and how
    many entries there are from then on.
    """

    def __init__(self, relations: dict[str, list[dict[str, Any]]]) -> None:
        self.synopsis = Synopsis(relations)
        self.limit = self.synopsis.limit
        self.branches: tuple[Branch, ...] = branches(self.synopsis)
        self.known = [
            [frame_of(list(known.rows.items()), known.columns, branch.texts) for known in branch.known]
            for branch in self.branches
        ]
        self.load(self.synopsis.dump())

    # --- state ------------------------------------------------------------------------------------------------------

    def load(self, state: dict[str, Any]) -> None:
        """Take over what `dump` returned; `Synopsis` can, too."""
        self.tables = [
            [frame_of(state[table.name], names_of(table), branch.texts) for table in branch.tables]
            for branch in self.branches
        ]
        self.written = frame_of(state.get("results", []), OUTPUT, TEXTS)
        self.history: tuple[Any, Any] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def dump(self) -> dict[str, Any]:
        """The tables as JSON can hold them."""
        found = {
            table.name: listed(entries, names_of(table))
            for branch, tables in zip(self.branches, self.tables, strict=True)
            for table, entries in zip(branch.tables, tables, strict=True)
        }
        return found | ({"results": listed(self.written, OUTPUT)} if DISTINCT else {})

    def entries(self) -> int:
        """How many entries the tables have now; never more than `limit`."""
        return self.written.size + sum(entries.size for tables in self.tables for entries in tables)

    # --- batches ----------------------------------------------------------------------------------------------------

    def fold(self, batch: dict[str, Rows]) -> Results:
        """Close the timestamps of all rows of a batch, by stream; returns what becomes true at them."""
        times = Times(batch)
        if times.ends is None:
            return results_of(None)
        words = self.words(batch)
        entries, changes, found = 0, [(np.array(times.ends[:1]), np.zeros(1, dtype=np.int64))], []
        for number, branch in enumerate(self.branches):
            known = [words.encoded(frame, branch.texts) for frame in self.known[number]]
            tables = [words.encoded(frame, branch.texts) for frame in self.tables[number]]
            if not all(frame.size for frame in known):
                entries += sum(frame.size for frame in tables)
                continue  # a relation is empty, so there are no results
            arrived = [usable(part, batch, words) for part in branch.arriving]
            matches = Matches(words.branch(branch), arrived, known, tables, DISTINCT)
            found += matches.results
            for place in range(len(branch.tables)):
                before, more, left = matches.log(place).entries(times)
                entries += before
                changes += more
                self.tables[number][place] = words.decoded(left, branch.texts)
        entries += self.written.size
        results, more = self.new_results(found, words)
        self.note(entries, changes + more)
        return results

    def note(self, entries: int, changes: Changes) -> None:
        """Add the changes up to each timestamp to the entries before the batch."""
        time, by = (np.concatenate(parts) for parts in zip(*changes, strict=True))
        first, number = groups(*coded([(time, None)], len(time)))
        self.history = time[first], entries + np.cumsum(totals(by, number, len(first)))

    def words(self, batch: dict[str, Rows]) -> Words:
        """All texts of a batch, of the relations, of the query and of what is remembered."""
        words = Words()
        words.add_batch(batch)
        for branch, known, tables in zip(self.branches, self.known, self.tables, strict=True):
            for frame in (*known, *tables):
                words.add_columns(frame, branch.texts)
            words.add_constants(branch)
        words.add_columns(self.written, TEXTS)
        return words

    def new_results(self, found: list[Frame], words: Words) -> tuple[Results, Changes]:
        """Results of all branches as one; of a set, those not returned before, which count as entries."""
        frames = [frame for frame in found if frame.size]
        if not frames:
            return results_of(None), []
        results = summed(stacked(frames), OUTPUT, DISTINCT) if len(frames) > 1 else frames[0]
        if not DISTINCT:
            return results_of(words.decoded(results, TEXTS)), []
        before = words.encoded(self.written, TEXTS)
        together = stacked([before, results]) if before.size else results
        first = np.sort(groups(*coded(together.by(*OUTPUT), together.size))[0])
        self.written = words.decoded(together.take(first), TEXTS)
        new = together.take(first[first >= before.size])._replace(n=None)
        return results_of(words.decoded(new, TEXTS)), [(new.time, np.ones(new.size, dtype=np.int64))]


def results_of(frame: Frame | None) -> Results:
    """Results as they leave the kernel; raises OverflowError for multiplicities beyond 64 bits."""
    if frame is None:
        none = np.zeros(0, dtype=np.int64)
        return Results(none, none, [none for _ in OUTPUT], [None for _ in OUTPUT])
    n = np.ones(frame.size, dtype=np.int64) if frame.n is None else frame.n
    if greatest(n) > MOST and (over := n > MOST).any():
        now = frame.time[np.flatnonzero(over)[0]]
        raise OverflowError(f"a result at timestamp {now} has more than {MOST} duplicates")
    columns, nulls = [frame.columns[name] for name in OUTPUT], [frame.nulls.get(name) for name in OUTPUT]
    return Results(frame.time, narrowed(n), columns, nulls)


def names_of(table: Table) -> tuple[str, ...]:
    """The columns of a table's entries."""
    return (*table.columns, *(age(stream) for stream, *_ in table.ages))
