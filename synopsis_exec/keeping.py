"""The text that ends a timestamp in the class `Synopsis`: what is new is kept, what is of no use is dropped."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.criteria.tables import Lapse, Table
from streambound.synopsis_exec.emit import Lines, tuple_text
from streambound.synopsis_exec.transitions import BranchText

Indexes = tuple[tuple[tuple[int, ...], str], ...]
"""A mapping grouped by some columns of its keys: the columns, and the name."""


def keep(lines: Lines, branch: BranchText, table: Table) -> None:
    """Add what is new to a table, then forget what no future tuple can complete."""
    name, new = f"self.{branch.name_of(table)}", branch.new_of(table)
    indexes = branch.indexes_of(name)
    lines.add("")
    if table.extrema:
        lines.add(f"self.{branch.keepers[table.streams]}(list({new}))")
        indexes = ()
    elif branch.plan.distinct:
        lines.add(f"{name} |= {new}")
    else:
        lines.add(f"{name}.update({new})")
    for columns, index in indexes:
        lines.add(f"for key in {new}:")
        group = tuple_text([f"key[{column}]" for column in columns])
        lines.add(f"    {index}[{group}][key] = {name}[key]")
    indexes = branch.indexes_of(name)
    _expire(lines, branch, table, name, indexes)
    if table.deadline is not None:
        lines.add(f"if now >= {table.deadline}:  # nothing can complete these any more")
        lines.add(f"    {name}.clear()", *(f"    {index}.clear()" for _, index in indexes))


def _expire(lines: Lines, branch: BranchText, table: Table, name: str, indexes: Indexes) -> None:
    """Entries with a tuple that is too old are dropped; timestamps old enough for every window and wait become one."""
    first = bool(table.members) + len(table.key)
    columns = {age.stream: first + place for place, age in enumerate(table.ages)}
    regroup = [f"{index} = grouped({name}, {', '.join(map(str, by))})" for by, index in indexes]
    expiring = ((columns[age.stream], age.expires) for age in table.ages if age.expires is not None)
    old = [_if_there(table, column, f"key[{column}] <= now - {age}") for column, age in expiring]
    old += [test for lapse in table.lapses for test in _lapsed(table, lapse, columns)]
    if old:
        lines.add(f"expired = [key for key in {name} if {' or '.join(old)}]")
        lines.add("for key in expired:", f"    del {name}[key]")
        if indexes:
            lines.add("if expired:", *(f"    {line}" for line in regroup))
    oldest = {
        columns[age.stream]: age.saturates - 1
        for age in table.ages
        if age.expires is None and age.saturates is not None
    }
    if not oldest:
        return
    tests = " or ".join(_if_there(table, column, f"key[{column}] < now - {age}") for column, age in oldest.items())
    every = range(first + len(table.ages) + len(table.extrema))
    key = tuple_text([_aged(table, column, oldest.get(column)) for column in every])
    lines.add(f"if any({tests} for key in {name}):  # old enough for every window")
    with lines.indented():
        if table.extrema:
            lines.add(f"aged = [{key} for key in {name}]", f"{name}.clear()")
            lines.add(*(f"{index}.clear()" for _, index in indexes), f"self.{branch.keepers[table.streams]}(aged)")
            return
        lines.add("aged: Counter[tuple] = Counter()", f"for key, n in {name}.items():")
        lines.add(f"    aged[{key}] {'= 1' if branch.plan.distinct else '+= n'}", f"{name} = aged", *regroup)


def _if_there(table: Table, column: int, test: str) -> str:
    """A test of a timestamp; an entry of a family may lack it."""
    return f"(key[{column}] is not None and {test})" if table.members else test


def _aged(table: Table, column: int, age: int | None) -> str:
    """A value of a key, a timestamp no older than that."""
    value = f"key[{column}]"
    if age is None:
        return value
    return f"{f'None if {value} is None else ' if table.members else ''}max({value}, now - {age})"


def _lapsed(table: Table, lapse: Lapse, columns: dict[str, int]) -> Iterator[str]:
    """When an entry is of no use, since a stream is missing that its values are held for."""

    def bits(*streams: str) -> int:
        return sum(1 << table.streams.index(stream) for stream in streams)

    if lapse.passing:
        column, missing = columns[lapse.stream], bits(*lapse.passing)
        late = f"key[0] & {missing} != {missing} and key[{column}] <= now - {lapse.expires}"
        yield _if_there(table, column, late)
    if lapse.ending:
        mine, missing = bits(lapse.stream), bits(*lapse.ending)
        yield f"(now >= {lapse.deadline} and key[0] & {mine} and key[0] & {missing} != {missing})"
