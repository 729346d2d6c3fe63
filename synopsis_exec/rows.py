"""The text that filters the rows of one source and counts them per value of the columns that matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streambound.analyzer.query import Atom, Attribute, Comparison, NullTest, Op
from streambound.synopsis_exec.emit import WIDTH, Lines, literal, tuple_text
from streambound.synopsis_exec.loops import filter_text, mirrored
from streambound.synopsis_exec.plan_ir import PlanSource
from streambound.synopsis_exec.transitions import BranchText

Cell = Callable[[Attribute], str]


def rows_text(
    lines: Lines,
    name: str,
    source: PlanSource,
    columns: list[str],
    rows: str,
    tests: list[str],
    branch: BranchText | None = None,
) -> None:
    """``name = Counter(…)``: the rows that pass the source's filters, counted per value of some columns."""

    def cell(attribute: Attribute) -> str:
        return f"row[{literal(attribute.column)}]"

    tests = [*tests, *_filter_texts(source.filters, cell)]
    tests += [
        f"{cell(member.attribute)} in {tuple_text(list(map(literal, member.values)))}" for member in source.members
    ]
    if branch is not None:
        tests += _extreme_texts(branch, source, cell)
    key = tuple_text([f"row[{literal(column)}]" for column in columns])
    parts = [key, f"for row in {rows}"]
    condition = f"if {' and '.join(tests)}" if tests else ""
    inner = " ".join([*parts, *([condition] if tests else [])])
    room = WIDTH - 4 * lines.depth
    if len(flat := f"{name} = Counter({inner})") <= room:
        lines.add(flat)
        return
    lines.add(f"{name} = Counter(")
    with lines.indented():
        if len(inner) <= room - 4:
            lines.add(inner)
        elif len(condition) <= room - 4:
            lines.add(*parts, condition)
        else:
            lines.add(*parts, f"if {tests[0]}", *(f"and {test}" for test in tests[1:]))
    lines.add(")")


def _filter_texts(filters: tuple[Atom, ...], cell: Cell) -> list[str]:
    equal = {f.left for f in filters if isinstance(f, Comparison) and f.op is Op.EQ and f.right is None}
    texts = []
    for test in filters:
        if isinstance(test, NullTest) and (test.is_null or test.attribute not in equal):
            texts.append(f"{cell(test.attribute)} is {'' if test.is_null else 'not '}None")
    return texts + chained([f for f in filters if isinstance(f, Comparison)], cell)


def chained(checks: Sequence[Comparison], cell: Cell) -> list[str]:
    """Comparisons as expressions; a lower and an upper bound as one chain: ``1 <= x <= 4``."""
    texts = []
    lows = {c.left: c for c in checks if c.right is None and c.op in (Op.GE, Op.GT)}
    highs = {c.left: c for c in checks if c.right is None and c.op in (Op.LE, Op.LT)}
    for check in checks:
        high = highs.get(check.left)
        if check is lows.get(check.left) and high is not None:
            texts.append(f"{mirrored(check)} {filter_text(high, cell)}")
        elif not (check is high and check.left in lows):
            texts.append(filter_text(check, cell))
    return texts


def _extreme_texts(branch: BranchText, source: PlanSource, cell: Cell) -> list[str]:
    texts = []
    for extreme in source.extremes:
        texts.append(f"{cell(extreme.attribute)} {'>=' if extreme.lower else '<='} {branch.extreme(extreme)}")
    return texts
