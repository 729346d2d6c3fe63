"""The methods of the generated kernel that keep, of partial matches with the same key, those with the best extrema."""

from __future__ import annotations

from streambound.criteria.tables import Table
from streambound.synopsis_exec.emit import WIDTH, Lines, tuple_text
from streambound.synopsis_exec.transitions import BranchText


def keep_best_method(lines: Lines, branch: BranchText, table: Table) -> None:
    """Append ``_keep_T(self, entries)`` for the table of ``T``.

    What another entry of the same key is at least as good as can complete nothing that the other one does not.
    """
    name, group = f"self.{branch.name_of(table)}", branch.best.get(table.streams)
    first = bool(table.members) + len(table.key) + len(table.ages)
    others = [(columns, index) for columns, index in branch.indexes_of(name) if index != group]
    lines.add("", f"def {branch.keepers[table.streams]}(self, entries: list[tuple]) -> None:")
    with lines.indented():
        lines.add('"""Add entries; of those that agree in all else keep only the best."""')
        lines.comment(f"{table.name}: the {' and the '.join(extremum.name for extremum in table.extrema)}.")
        lines.add("for key in entries:")
        with lines.indented():
            if group is not None:
                lines.add(f"same = {group}[key[:{first}]]")
            same, too = ("same", ", same[{}]") if group is not None else (name, "")
            better = f"{_as_good('other', 'key', first, table)} for other in {same}"
            worse = f"other for other in {same} if {_as_good('key', 'other', first, table)}"
            _bracketed(lines, "if any(", better, "):", "    continue")
            _bracketed(lines, "for other in [", worse, "]:", f"    del {name}[other]{too.format('other')}")
            lines.add(*(f"    del {index}[{_columns('other', columns)}][other]" for columns, index in others))
            lines.add(f"{name}[key] = {'same[key] = ' if group is not None else ''}1")
            lines.add(*(f"{index}[{_columns('key', columns)}][key] = 1" for columns, index in others))


def _bracketed(lines: Lines, head: str, inner: str, tail: str, body: str) -> None:
    """A compound statement, its brackets on lines of their own where it is too long."""
    if len(head + inner + tail) + 4 * lines.depth <= WIDTH:
        lines.add(head + inner + tail, body)
    else:
        lines.add(head, f"    {inner}", tail, body)


def _as_good(one: str, other: str, first: int, table: Table) -> str:
    """The test whether one entry's extrema are at least as good as another's; in a family both may lack one."""
    tests = []
    for column, extremum in enumerate(table.extrema, start=first):
        test = f"{one}[{column}] {'>=' if extremum.greatest else '<='} {other}[{column}]"
        tests.append(f"({one}[{column}] is None or {test})" if table.members else test)
    return " and ".join(tests)


def _columns(entry: str, columns: tuple[int, ...]) -> str:
    return tuple_text([f"{entry}[{column}]" for column in columns])
