"""The text that ends a timestamp in the class `Synopsis`: what is new is kept, what is of no use is dropped."""

from __future__ import annotations

from criteria.tables import Table
from synopsis_exec.emit import Lines, tuple_text
from synopsis_exec.family_text import aging_lines
from synopsis_exec.transitions import BranchText


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


def _expire(
    lines: Lines, branch: BranchText, table: Table, name: str, indexes: tuple[tuple[tuple[int, ...], str], ...]
) -> None:
    if table.members:
        keeper = branch.keepers[table.streams] if table.extrema else None
        lines.add(*aging_lines(table, name, branch.plan.distinct, indexes, keeper))
        return
    first = len(table.key)
    regroup = [f"    {index} = grouped({name}, {', '.join(map(str, columns))})" for columns, index in indexes]
    old = [f"key[{first + i}] <= now - {age.expires}" for i, age in enumerate(table.ages) if age.expires is not None]
    if old:
        lines.add(f"expired = [key for key in {name} if {' or '.join(old)}]")
        lines.add("for key in expired:", f"    del {name}[key]")
        if indexes:
            lines.add("if expired:", *regroup)
    same = {
        first + i: age.saturates - 1
        for i, age in enumerate(table.ages)
        if age.expires is None and age.saturates is not None
    }
    if same:
        tests = " or ".join(f"key[{column}] < now - {age}" for column, age in same.items())
        key = tuple_text(
            [
                f"max(key[{column}], now - {same[column]})" if column in same else f"key[{column}]"
                for column in range(first + len(table.ages) + len(table.extrema))
            ]
        )
        lines.add(f"if any({tests} for key in {name}):  # old enough for every window")
        with lines.indented():
            if table.extrema:
                lines.add(f"aged = [{key} for key in {name}]", f"{name}.clear()")
                lines.add(*(f"{index}.clear()" for _, index in indexes), f"self.{branch.keepers[table.streams]}(aged)")
                return
            lines.add("aged: Counter[tuple] = Counter()", f"for key, n in {name}.items():")
            lines.add(f"    aged[{key}] {'= 1' if branch.plan.distinct else '+= n'}", f"{name} = aged")
            lines.add(*(line.strip() for line in regroup))
