"""Patches of a PySpark program: what makes Spark keep less, at the calls that the query was made by.

A condition that follows is added to a join's with ``&``, or behind an inner join with ``where``; to SQL in a literal as
to any SQL. A key that follows is added to groups, and its column dropped behind them. Where a call is not written in
the program as it is here, or a name in it could be another's, there is no patch.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.durations import length_text
from streambound.analyzer.edits import Edit
from streambound.analyzer.expressions.dialect import parsed_text
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.engines.profile import EngineFix
from streambound.criteria.engines.spark import FIRST_WITHIN
from streambound.criteria.repairs.layout import Layout
from streambound.importing.frames.expression_sql import identifier

if TYPE_CHECKING:
    from streambound.importing.frames.catalyst import CallSite, CatalystNode
    from streambound.importing.frames.plan_sql import FrameName, FrameSql

_MODULE = "pyspark.sql.functions"
_QUOTES = ('"""', "'''", '"', "'")
_LOWER = (ast.Compare, ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr)
"""What ``&`` binds closer than, beside ``|`` and ``^``."""
_LOADS = ("load", "json", "csv", "parquet", "orc", "text", "xml", "table")
_FIRST_OF_EACH = ("dropDuplicates", "drop_duplicates", "distinct")


class ProgramText(Struct):
    """A program's text: its calls, and how it calls PySpark's functions."""

    source: SourceText
    calls: dict[tuple[int, int], ast.Call] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    module: str = ""

    def __post_init__(self) -> None:
        for node in ast.walk(ast.parse(self.source.text)):
            match node:
                case ast.Call(end_lineno=int(line), end_col_offset=int(column)):
                    self.calls[line, column] = node
                case ast.ImportFrom(module="pyspark.sql", names=names):
                    self.module = next(
                        (one.asname or one.name for one in names if one.name == "functions"), self.module
                    )
                case ast.ImportFrom(module=module, names=names) if module == _MODULE:
                    self.functions |= {one.name: one.asname or one.name for one in names}
                case ast.Import(names=names):
                    self.module = next((one.asname or one.name for one in names if one.name == _MODULE), self.module)

    def function(self, name: str) -> str:
        """The program's name for a function of PySpark; empty if it has none."""
        return self.functions.get(name) or (f"{self.module}.{name}" if self.module else "")

    def method(self, site: CallSite | None) -> tuple[ast.Call, ast.Attribute] | None:
        """A call of a method, and the method."""
        call = self.calls.get(site.end) if site is not None else None
        return (call, call.func) if call is not None and isinstance(call.func, ast.Attribute) else None

    def offset(self, line: int, column: int) -> int:
        """A place of `ast`, whose columns are in bytes, as one of the text."""
        before = self.source.text.split("\n")[: line - 1]
        return sum(len(one) + 1 for one in before) + len(self.source.line(line).encode()[:column].decode())

    def ends(self, node: ast.expr) -> tuple[int, int]:
        """Where an expression begins and ends in the text."""
        assert node.end_lineno is not None and node.end_col_offset is not None, "it was parsed"
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def edit(self, start: int, end: int, text: str) -> Edit:
        """A change of the text."""
        return Edit(self.source.file, self.source.span(start, end), text)

    def behind(self, node: ast.expr, text: str) -> Edit:
        """A text behind an expression."""
        end = self.ends(node)[1]
        return self.edit(end, end, text)


class ProgramPatches(Struct, frozen=True):
    """Turns fixes of the SQL that a query was read as into edits of its program."""

    program: ProgramText
    sql: FrameSql

    def patched(self, fix: EngineFix, node: CatalystNode | None) -> EngineFix:
        """A fix of what an operator keeps, with edits of the program; words only where there are none."""
        if fix.stream:
            return replace(fix, edits=tuple(self._delayed(fix)))
        found = self.program.method(node.call) if node is not None else None
        if node is None or found is None:
            return replace(fix, edits=())
        call, method = found
        if fix == FIRST_WITHIN and node not in self.sql.timed:
            return replace(fix, text=f"select the event time, too, and {fix.text}")
        if fix == FIRST_WITHIN and method.attr in _FIRST_OF_EACH:
            end = self.program.ends(method)[1]
            edit = self.program.edit(end - len(method.attr), end, "dropDuplicatesWithinWatermark")
            return replace(fix, edits=(edit,))
        edits: list[Edit] = []
        if fix.added and not (fix.edits or fix.same_results):
            edits += self._by_name(fix.added, method.value)
        elif not fix.edits:
            return fix  # the model has not seen that it helps
        elif method.attr == "sql":
            edits += self._in_sql(fix, node, call)
        elif node.kind == "Join" and method.attr == "join":
            edits += self._joined(fix, call, method, str(node.fields["joinType"].get("object", "")).endswith("Inner$"))
        elif node.kind == "Aggregate":
            edits += self._grouped(fix, call, method)
        return replace(fix, edits=tuple(edits))

    # --- calls --------------------------------------------------------------------------------------------------------

    def _delayed(self, fix: EngineFix) -> Iterator[Edit]:
        """``withWatermark("ts", "1 day")`` with another delay, or behind what loads a stream that has none."""
        source = next((one for one in self.sql.sources if one.name.lower() == fix.stream), None)
        found = self.program.method(source.node.call) if source is not None and source.node is not None else None
        if source is None or found is None:
            return
        (call, method), delay = found, f'"{length_text(fix.delay)}"'
        if source.delay is not None and method.attr == "withWatermark":
            for literal in (*call.args[1:], *(one.value for one in call.keywords if one.arg == "delayThreshold")):
                if isinstance(literal, ast.Constant):
                    yield self.program.edit(*self.program.ends(literal), delay)
        elif source.delay is None and method.attr in _LOADS:
            times = [one for one, kind in source.columns.values() if kind == "timestamp"]
            if len(times) == 1 and times[0] in source.plain:
                yield self.program.behind(call, f'.withWatermark("{source.plain[times[0]]}", {delay})')

    def _joined(self, fix: EngineFix, call: ast.Call, method: ast.Attribute, inner: bool) -> Iterator[Edit]:
        """``join(…, on)  ->  join(…, on & expr("…"))``, or ``join(…).where("…")``."""
        by_name = {one.arg: one.value for one in call.keywords}
        on = call.args[1] if len(call.args) > 1 else by_name.get("on")
        frames = [method.value, call.args[0] if call.args else by_name.get("other")]
        expr = self.program.function("expr")
        text, quoted = self._sql(fix, lambda one: identifier(one.name) if one.alone else _qualified(one)), True
        if not text:
            text, quoted = self._columns(fix, frames, expr), False
        if not text or any(one in text for one in '"\\' if quoted):
            return
        if on is not None and expr and not isinstance(on, ast.Constant | ast.List | ast.Tuple | ast.Name | ast.Starred):
            loose = isinstance(on, _LOWER) or (isinstance(on, ast.BinOp) and isinstance(on.op, ast.BitOr | ast.BitXor))
            loose = loose or (isinstance(on, ast.UnaryOp) and isinstance(on.op, ast.Not))
            if loose:
                start = self.program.ends(on)[0]
                yield self.program.edit(start, start, "(")
            added = f'{expr}("{text}")' if quoted else text
            yield self.program.behind(on, f"{')' * loose} & {added}")
        elif inner:
            yield self.program.behind(call, f'.where("{text}")' if quoted else f".where({text})")

    def _columns(self, fix: EngineFix, frames: list[ast.expr | None], expr: str) -> str:
        """Conditions over columns of frames that have names: ``(b["ts"] >= a["ts"] - F.expr("…")) & …``."""
        ids = [one.id for one in frames if isinstance(one, ast.Name)]
        if len(set(ids)) < 2 or not expr:
            return ""

        def column(node: exp.Expr) -> str:
            match node:
                case exp.Column() if (known := self._known(node)) is not None:
                    return f'{ids[known.side]}["{known.name}"]'
                case exp.Add() | exp.Sub() if isinstance(node.expression, exp.Interval):
                    sign = "+" if isinstance(node, exp.Add) else "-"
                    length = node.expression.sql("spark")
                    return f'{column(node.this)} {sign} {expr}("{length}")'
            return ""

        found = []
        for one in map(parsed_text, fix.added):
            sides = [column(side) for side in (one.this, one.expression)] if isinstance(one, exp.Binary) else [""]
            sign = ">=" if isinstance(one, exp.GTE) else "<=" if isinstance(one, exp.LTE) else ""
            found.append(f"({f' {sign} '.join(sides)})" if sign and all(sides) else "")
        return " & ".join(found) if all(found) else ""

    def _grouped(self, fix: EngineFix, call: ast.Call, method: ast.Attribute) -> Iterator[Edit]:
        """``groupBy(keys).count()  ->  groupBy(keys, key).count().drop("key")``."""
        groups = method.value
        if not (isinstance(groups, ast.Call) and isinstance(groups.func, ast.Attribute) and groups.args):
            return
        last = groups.args[-1]
        last = last.elts[-1] if isinstance(last, ast.List) and last.elts else last
        key, window = parsed_text(fix.added[0]), self.program.function("window")
        known = self._known(next(key.find_all(exp.Column)))
        if known is None or not known.alone or groups.func.attr not in ("groupBy", "groupby"):
            return
        if isinstance(key, exp.Column):
            yield self.program.behind(last, f', "{known.name}"')
            yield self.program.behind(call, f'.drop("{known.name}")')
        elif window:
            length = next(one.this for one in key.find_all(exp.Literal))
            yield self.program.behind(last, f', {window}("{known.name}", "{length}")')
            yield self.program.behind(call, '.drop("window")')

    def _by_name(self, times: tuple[str, ...], groups: ast.expr) -> Iterator[Edit]:
        """``groupBy(window(words.ts, …))  ->  groupBy(window("ts", …))``: the column that has the watermark."""
        for call in [one for one in ast.walk(groups) if isinstance(one, ast.Call)]:
            for argument in call.args:
                match argument:
                    case ast.Attribute(value=ast.Name(), attr=str(name)) if name in times:
                        yield self.program.edit(*self.program.ends(argument), f'"{name}"')
                    case ast.Subscript(value=ast.Name(), slice=ast.Constant(value=str(name))) if name in times:
                        yield self.program.edit(*self.program.ends(argument), f'"{name}"')

    # --- SQL ----------------------------------------------------------------------------------------------------------

    def _in_sql(self, fix: EngineFix, node: CatalystNode, call: ast.Call) -> Iterator[Edit]:
        """The edits of a fix in the one join, or the one SELECT with groups, of SQL in a plain literal."""
        literal = call.args[0] if call.args else None
        if not isinstance(literal, ast.Constant) or not isinstance(literal.value, str):
            return
        start, end = self.program.ends(literal)
        written = self.program.source.text[start:end]
        bare = written.lstrip("rR")
        quote = next((one for one in _QUOTES if bare.startswith(one)), "")
        inside = len(written) - len(bare) + len(quote)
        statements = split_statements(SourceText(self.program.source.file, literal.value))
        text = self._sql(fix, lambda one: _qualified(one) or (identifier(one.name) if one.alone else ""))
        is_plain = quote and written[inside:] == f"{literal.value}{quote}"  # its text stands in it as it is
        if not is_plain or quote in text or len(statements) != 1 or not text:
            return
        statement, start = statements[0], start + inside
        kind = exp.Join if node.kind == "Join" else exp.Group
        found = list(statement.tree.find_all(kind)) if statement.tree is not None else []
        if len(found) != 1:
            return
        layout, (one,) = Layout(statement), found
        select = one.find_ancestor(exp.Select)
        if isinstance(one, exp.Join):
            edits = layout.conditions([(one if one.args.get("on") is not None else select or one, text)])
        else:
            edits = layout.one_more_key(select, text) if select is not None else ()
        for edit in edits:
            yield self.program.edit(start + edit.span.start, start + edit.span.end, edit.replacement)

    def _sql(self, fix: EngineFix, name: Callable[[FrameName], str]) -> str:
        """The SQL that a fix adds, with the program's names; empty if one of them is unknown."""
        shown = list[str]()

        def renamed(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column):
                return node
            known = self._known(node)
            shown.append("" if known is None else name(known))
            return parsed_text(shown[-1]) if shown[-1] else node

        text = " AND ".join(parsed_text(one).transform(renamed).sql("spark") for one in fix.added)
        return text if all(shown) else ""

    def _known(self, column: exp.Column) -> FrameName | None:
        """The program's name for a column; None if unknown."""
        found = {
            name for (table, own), name in self.sql.names.items()
            if own == column.name and column.table in ("", table)
        }  # fmt: skip
        return found.pop() if len(found) == 1 else None


def _qualified(name: FrameName) -> str:
    """A column by the alias of its input; nothing where that has none."""
    return f"{identifier(name.alias)}.{identifier(name.name)}" if name.alias else ""
