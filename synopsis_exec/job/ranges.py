"""Part of a job: what a range of time does to the tables, as a bounded value, made before they are known.

The tables after a range are those before it, the matches within the range, and for every table the entries that these
matches extend. The matches are kept per value that the other streams, older or newer, still tell apart, so they are as
few as entries. Two ranges one after the other are again a range, and it does not matter which are put together first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from streambound.synopsis_exec.job.batch import Rows, Times
from streambound.synopsis_exec.job.exact import narrowed, plus, product
from streambound.synopsis_exec.job.frame import Frame, indexed, matched, pairs, stacked, summed
from streambound.synopsis_exec.job.matches import Matches, passing, valued
from streambound.synopsis_exec.job.shape import Branch, Extension, Join, Transition
from streambound.synopsis_exec.job.words import Words, usable


class Change(NamedTuple):
    """What a range does to the tables of a branch: what it adds to each, and per extension to what it extends them.

    ``last`` is its last timestamp: tables of which nothing is needed after a deadline are empty by then.
    """

    added: list[Frame]
    extending: list[list[Frame]]
    last: int


def range_of(
    branch: Branch, extensions: tuple[Extension, ...], known: list[Frame], batch: dict[str, Rows], distinct: bool
) -> Change:
    """What the rows of a range do, whatever the tables are at its start."""
    times = Times(batch)
    assert times.ends is not None, "a range has rows"
    if not all(frame.size for frame in known):
        return Change([empty_frame(table.columns) for table in branch.tables], [], times.ends[1])
    words = Words()
    words.add_batch(batch)
    for frame in known:
        words.add_columns(frame, branch.texts)
    words.add_constants(branch)
    known = [words.encoded(frame, branch.texts) for frame in known]
    arrived = [usable(part, batch, words) for part in branch.arriving]
    found = []
    for part in (branch, *(extension.branch for extension in extensions)):
        transitions = tuple(one for one in part.transitions if one.target is not None)
        start = [empty_frame(table.columns) for table in part.tables]
        matches = Matches(part._replace(transitions=transitions), arrived, known, start, distinct)
        entries = [matches.log(place).entries(times)[2] for place in range(len(part.tables))]
        found.append([untimed(words.decoded(frame, branch.texts)) for frame in entries])
    return Change(found[0], found[1:], times.ends[1])


def after(
    branch: Branch, extensions: tuple[Extension, ...], tables: list[Frame], change: Change, distinct: bool
) -> list[Frame]:
    """The tables at the end of a range, from those at its start."""
    parts = [[table, more] for table, more in zip(tables, change.added, strict=True)]
    for extension, extending in zip(extensions, change.extending, strict=False):
        for target, how, frame in zip(extension.targets, extension.completions, extending, strict=True):
            names = branch.tables[target].columns
            parts[target].append(completed(frame, tables[extension.base], how, names, distinct))
    for table, frames in zip(branch.tables, parts, strict=True):
        if table.deadline is not None and change.last >= table.deadline:
            frames.clear()
    return [merged(frames, table.columns, distinct) for table, frames in zip(branch.tables, parts, strict=True)]


def combined(
    branch: Branch, extensions: tuple[Extension, ...], first: Change, second: Change, distinct: bool
) -> Change:
    """What two ranges do, one after the other."""
    added = after(branch, extensions, first.added, second, distinct)
    if not first.extending or not second.extending:
        return Change(added, [], second.last)
    parts = [
        [[mine, later] for mine, later in zip(*both, strict=True)]
        for both in zip(first.extending, second.extending, strict=True)
    ]
    for place, extension in enumerate(extensions):
        for ours, other, theirs, target, how in extension.then:
            names = extension.branch.tables[target].columns
            new, old = second.extending[other][theirs], first.extending[place][ours]
            parts[place][target].append(completed(new, old, how, names, distinct))
    return Change(
        added,
        [
            [merged(frames, table.columns, distinct) for frames, table in zip(part, one.branch.tables, strict=True)]
            for part, one in zip(parts, extensions, strict=True)
        ],
        second.last,
    )


def completed(new: Frame, old: Frame, how: Transition, names: tuple[str, ...], distinct: bool) -> Frame:
    """Newer matches joined with older ones: the last join of a transition that only has one."""
    join: Join = how.joins[-1]
    index = indexed([old.columns[name] for name, _ in join.equal], old.size)
    values = [plus(new.columns[str(term.column)], term.offset) for _, term in join.equal]
    found = []
    for rows, places in pairs(index, *matched(index, values, new.size)):
        mine, other = new.take(rows), old.take(places)
        n = None if distinct else product(mine.n, other.n)
        found.append(summed(valued(passing(mine.beside(other, n), join.tests), how.values, names), names, distinct))
    return merged(found or [empty_frame(names)], names, distinct)


def merged(frames: list[Frame], names: tuple[str, ...], distinct: bool) -> Frame:
    """Entries of the same key as one."""
    some = [frame for frame in frames if frame.size]
    if not some:
        return empty_frame(names)
    found = summed(untimed(stacked(some)), names, distinct)
    return found if found.n is None else found._replace(n=narrowed(found.n))


def untimed(frame: Frame) -> Frame:
    """Entries without the times from which they count."""
    return frame._replace(time=np.zeros(frame.size, dtype=np.int64))


def empty_frame(names: tuple[str, ...]) -> Frame:
    """No entries."""
    none: Any = np.zeros(0, dtype=np.int64)
    return Frame(none, none, dict.fromkeys(names, none), {})
