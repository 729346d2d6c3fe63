"""The steps of a repair as edits of the SQL text and of the catalog's; comments and formatting stay.

A step whose place in the text is not certain has no edits: no patch rather than a wrong one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot.tokenizer_core import TokenType

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.durations import UNITS
from streambound.analyzer.edits import Edit
from streambound.analyzer.query import Op
from streambound.analyzer.render import identifier
from streambound.analyzer.spans import Span
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value, decode
from streambound.criteria.repairs.catalog_patch import declared_edits
from streambound.criteria.repairs.layout import Block, FromEntry, Layout
from streambound.criteria.repairs.steps import (
    AddCondition,
    DropColumn,
    JoinRelation,
    Place,
    SetDistinct,
    Step,
)

Written = tuple[Block, list[Edit], str]
"""The SELECT that a step belongs to, the edits of its FROM, and the condition for its WHERE, which may be empty."""

_UNION_TYPES = (TokenType.ALL, TokenType.DISTINCT)


def edits_of(steps: tuple[Step, ...], layout: Layout, catalog: Catalog) -> tuple[Edit, ...] | None:
    """The edits for all steps together; None where the text has no certain place for one of them."""
    if not layout.outermost:
        return None
    dropped = _dropped(frozenset(step.index for step in steps if isinstance(step, DropColumn)), layout)
    clauses = _clauses(steps, layout)
    declared = declared_edits(steps, catalog)
    if clauses is None or dropped is None or declared is None:
        return None
    duplicates = [edit for step in steps if isinstance(step, SetDistinct) for edit in _duplicates(step, layout)]
    qualified = [edit for step in steps if isinstance(step, JoinRelation) for edit in _qualified(step, layout)]
    kept = [edit for edit in dict.fromkeys(qualified) if not any(_within(edit, other) for other in dropped)]
    return (*clauses, *duplicates, *kept, *dropped, *declared)


# --- FROM and WHERE ----------------------------------------------------------------------------------------------


def _clauses(steps: tuple[Step, ...], layout: Layout) -> list[Edit] | None:
    """New relations and conditions, those of one SELECT together."""
    found: list[Edit] = []
    conditions: dict[Block, list[str]] = {}
    for step, upper in _paired(steps):
        if not isinstance(step, AddCondition | JoinRelation):
            continue
        written = _condition(step, upper, layout) if isinstance(step, AddCondition) else _relation(step, layout)
        if written is None:
            return None
        block, edits, condition = written
        found.extend(edits)
        if condition:
            conditions.setdefault(block, []).append(condition)
    for block, texts in conditions.items():
        found.extend(where_edits(block, texts, layout))
    return found


def _paired(steps: tuple[Step, ...]) -> Iterator[tuple[Step, AddCondition | None]]:
    """The steps, a lower bound together with the upper bound of the same attribute that follows it."""
    rest = list(steps)
    while rest:
        step, *rest = rest
        upper = rest[0] if rest else None
        match step, upper:
            case AddCondition(left, Op.GE, None), AddCondition(other, Op.LE, None) if left == other:
                yield step, upper
                del rest[0]
            case _:
                yield step, None


def _condition(step: AddCondition, upper: AddCondition | None, layout: Layout) -> Written | None:
    """The innermost SELECT that sees all attributes of a condition, and the condition as it is written there."""
    left = dict(_seen(step.left, layout))
    if step.right is None:
        block = next(iter(left), None)
        if block is None:
            return None
        value = decode(step.offset, step.type)
        if upper is not None:
            high = decode(upper.offset, upper.type)
            return block, [], f"{left[block]} {layout.word('BETWEEN')} {value} {layout.word('AND')} {high}"
        return block, [], f"{left[block]} {step.op.value} {value}"
    right = dict(_seen(step.right, layout))
    block = next((block for block in left if block in right), None)
    if block is None:
        return None
    return block, [], f"{left[block]} {step.op.value} {right[block]}{shift(step.offset, step.type)}"


def _seen(place: Place, layout: Layout) -> Iterator[tuple[Block, str]]:
    return layout.visible(place.source, identifier(place.column).sql("spark"))


def shift(offset: Value, kind: DataType) -> str:
    """`` + 10``, or an interval for timestamps; nothing for zero and for strings."""
    if isinstance(offset, str) or offset == 0:
        return ""
    sign = "-" if offset < 0 else "+"
    size: Value = max(offset, -offset)
    if kind.family is not Family.TIMESTAMP:
        return f" {sign} {decode(size, kind)}"
    unit = max((unit for unit in UNITS if int(size) % UNITS[unit] == 0), key=UNITS.__getitem__)
    number = int(size) // UNITS[unit]
    return f" {sign} INTERVAL {number} {unit}{'S' if number != 1 else ''}"


def where_edits(block: Block, texts: list[str], layout: Layout) -> Iterator[Edit]:
    """The conditions at the end of a SELECT's WHERE, or in a new one, in the style of what is there."""
    file = layout.source.file
    if block.where is None:
        space = _break(layout, layout.token(block, TokenType.FROM))
        between = f"{space if space == ' ' else space + '  '}{layout.word('AND')} "
        yield Edit(file, _end(block.where_end, layout, space), f"{space}{layout.word('WHERE')} {between.join(texts)}")
        return
    if layout.has_or(block):
        yield Edit(file, layout.before(block.where + 1), "(")
        yield Edit(file, layout.after(block.where_end - 1), ")")
    space = _break(layout, layout.last_and(block))
    yield Edit(
        file, _end(block.where_end, layout, space), "".join(f"{space}{layout.word('AND')} {text}" for text in texts)
    )


def _break(layout: Layout, index: int | None) -> str:
    """What stands before a new clause: a line break if a token like it starts its line, else a space."""
    indent = layout.starts_line(index) if index is not None else None
    ending = "\r\n" if "\r\n" in layout.source.text else "\n"
    return " " if indent is None else ending + indent


def _end(index: int, layout: Layout, space: str) -> Span:
    """Where a clause ends: after its last token, or after the comment beside it when a new line follows."""
    after = layout.after(index - 1)
    end = layout.source.text.find("\n", after.start)
    line = layout.source.text[after.start : len(layout.source.text) if end < 0 else end].rstrip()
    if space == " " or not line.lstrip().startswith("--"):
        return after
    return layout.source.span(after.start + len(line), after.start + len(line))


def _relation(step: JoinRelation, layout: Layout) -> Written | None:
    """A relation at the end of a FROM: with JOIN … ON where the FROM is written so, else as one more of its list."""
    block = layout.block_of(step.left.source)
    name = next((text for seen, text in _seen(step.left, layout) if seen == block), None)
    if block is None or name is None:
        return None
    table, column = (identifier(word).sql("spark") for word in (step.relation.name, step.column))
    condition = f"{name} = {table}.{column}"
    if block.joins:
        space = _break(layout, layout.token(block, TokenType.FROM))
        at = _end(block.from_end, layout, space)
        joined = f"{space}{layout.word('JOIN')} {table} {layout.word('ON')} {condition}"
        return block, [Edit(layout.source.file, at, joined)], ""
    return block, [Edit(layout.source.file, layout.after(block.from_end - 1), f", {table}")], condition


def _qualified(step: JoinRelation, layout: Layout) -> Iterator[Edit]:
    """``a, *  ->  T.a, T.*``, where a relation that joins T has a column of that name, or would add its own."""
    block = layout.block_of(step.left.source)
    if block is None:
        return
    for index, owner in layout.unqualified(block):
        if step.relation.column(layout.tokens[index].text):
            yield Edit(layout.source.file, layout.before(index), f"{identifier(owner).sql('spark')}.")
    aliases = [layout.alias(entry) for entry in block.entries]
    for item in block.items:
        if layout.text(item.first, item.end) == "*" and all(aliases):
            stars = ", ".join(f"{alias}.*" for alias in aliases)
            yield Edit(layout.source.file, layout.span(item.first, item.end), stars)


# --- the select list ---------------------------------------------------------------------------------------------


def _duplicates(step: SetDistinct, layout: Layout) -> Iterator[Edit]:
    return _added(layout) if step.distinct else _removed(layout)


def _added(layout: Layout) -> Iterator[Edit]:
    """DISTINCT in the outermost SELECT; ``UNION ALL  ->  UNION`` where there are several."""
    depth = min(block.depth for block in layout.outermost)
    unions = [i for i in range(layout.outermost[0].first, len(layout.tokens)) if layout.depths[i] <= depth]
    unions = [i for i in unions if layout.is_type(i, TokenType.UNION) and layout.is_type(i + 1, TokenType.ALL)]
    if not unions:
        first = layout.outermost[0].items[0].first
        yield Edit(layout.source.file, layout.before(first), f"{layout.word('DISTINCT')} ")
    for index in unions:
        yield from without_word(index + 1, layout)


def _removed(layout: Layout) -> Iterator[Edit]:
    """No DISTINCT in any SELECT, and UNION ALL in place of every UNION."""
    for i in range(len(layout.tokens)):
        if layout.is_type(i, TokenType.DISTINCT) and layout.is_type(i - 1, TokenType.UNION):
            yield Edit(layout.source.file, layout.span(i, i + 1), layout.word("ALL"))
        elif layout.is_type(i, TokenType.DISTINCT):
            yield from without_word(i, layout)
        elif layout.is_type(i, TokenType.UNION) and not layout.is_type(i + 1, *_UNION_TYPES):
            yield Edit(layout.source.file, layout.after(i), f" {layout.word('ALL')}")


def without_word(index: int, layout: Layout) -> Iterator[Edit]:
    """A word removed, with the space before it."""
    start, end = layout.tokens[index - 1].end + 1, layout.tokens[index].start
    space = layout.source.text[start:end]
    first = start if not space.strip(" ") else end
    yield Edit(layout.source.file, layout.source.span(first, layout.tokens[index].end + 1), "")


def _within(edit: Edit, other: Edit) -> bool:
    """Whether an edit concerns what another one removes, such as the alias of a column that is dropped."""
    return other.span.start <= edit.span.start and edit.span.end < other.span.end


def _dropped(columns: frozenset[int], layout: Layout) -> list[Edit] | None:
    """The select list of every outermost SELECT without some columns; None where a ``*`` hides them."""
    found: list[Edit] = []
    for block in layout.outermost if columns else ():
        if any(layout.is_type(item.end - 1, TokenType.STAR) for item in block.items):
            return None
        if len(block.items) <= max(columns):
            return None
        if len(columns) == len(block.items):
            found.extend(_constant(block, layout))
        else:
            found.extend(_shortened(block.items, columns, layout))
    return found


def _constant(block: Block, layout: Layout) -> Iterator[Edit]:
    """``SELECT T.a, T.b  ->  SELECT 1 AS a``."""
    first, *others = block.items
    alias = layout.text(first.end - 1, first.end)
    yield Edit(layout.source.file, layout.span(first.first, first.end), f"1 {layout.word('AS')} {alias}")
    if others:
        start, end = layout.tokens[first.end - 1].end + 1, layout.tokens[others[-1].end - 1].end + 1
        yield Edit(layout.source.file, layout.source.span(start, end), "")


def _shortened(items: Sequence[FromEntry], columns: frozenset[int], layout: Layout) -> Iterator[Edit]:
    """Items removed with one comma each: the next one, or the one before where nothing that stays follows.

    A comment between an item and its comma, or behind the comma, stays.
    """
    last_kept = max(i for i in range(len(items)) if i not in columns)
    for i in sorted(columns):
        item = layout.span(items[i].first, items[i].end)
        at = items[i].end if i < last_kept else items[i].first - 1
        comma = layout.span(at, at + 1)
        start, end = item.start, item.end
        if i < last_kept:
            end = layout.tokens[items[i + 1].first].start
        else:
            start = layout.tokens[items[i - 1].end - 1].end + 1
        if layout.source.text[start:end].replace(layout.source.text[item.start : item.end], "", 1).strip(", \t\r\n"):
            yield from (_cut(comma, layout), _cut(item, layout))
        else:
            yield Edit(layout.source.file, layout.source.span(start, end), "")


def _cut(span: Span, layout: Layout) -> Edit:
    """A stretch removed, with the line break before it where it stands alone on its line, else a space behind it."""
    text, start, end = layout.source.text, span.start, span.end
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip() and (text[end : end + 1] in ("", "\n") or text[end : end + 2] == "\r\n"):
        start = len(text[: max(line - 1, 0)].removesuffix("\r"))
    elif text[start - 1 : start] in (" ", ",") and text[end : end + 1] == " ":
        end += 1
    return Edit(layout.source.file, layout.source.span(start, end), "")
