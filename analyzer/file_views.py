"""Views that a file creates: what later statements of the file read is a common table expression of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp
from sqlglot.tokenizer_core import Token

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.seq_blocks import SeqBlock
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.statement import MODEL, Statement, ViewElsewhere, WrittenView


class FileView(Struct, frozen=True):
    """A view: its name, the names that it gives its columns, if any, and the statement that creates it."""

    name: str
    columns: tuple[Token, ...]
    statement: Statement
    moved: bool = False
    """Whether it is of another file than the statement that reads it."""

    def cte(self) -> exp.CTE:
        """The view as a common table expression."""
        assert self.statement.tree is not None, "a view that is read has been parsed"
        columns = [exp.to_identifier(column.text, quoted=True) for column in self.columns]
        alias = exp.TableAlias(this=exp.to_identifier(self.name, quoted=True), columns=columns)
        return exp.CTE(this=self.statement.tree.copy(), alias=alias)

    @property
    def written(self) -> WrittenView:
        """The view as it stands in its file."""
        return WrittenView(self.name, tuple(column.text for column in self.columns), self.statement.tokens)

    @property
    def sql(self) -> str:
        """The common table expression as text."""
        return f"{self.cte().args['alias'].sql('spark')} AS (\n{self.statement.sql}\n)"


Views = Mapping[str, FileView]
"""The views of a file before a statement, by their names in small letters."""


class Elsewhere(Protocol):
    """The views that other files create (`analyzer.other_files`)."""

    def view(self, name: str, reader: str, model: bool = False) -> FileView | str | None:
        """The view of a name that a file reads, or why it cannot; None if no other file creates it."""
        ...

    def is_model(self, name: str) -> bool:
        """Whether a file is called by the name of a model."""
        ...

    def read_by(self, source: SourceText) -> tuple[SourceText, ...]:
        """The other files that a text may read."""
        ...


class Created(Struct, frozen=True):
    """The views that a file creates, and as a ``whole`` its query if it has only one."""

    views: Views
    whole: FileView | None


class OtherViews(Struct, frozen=True):
    """The views of other files that a statement reads, and where each of them is."""

    views: Views
    places: tuple[ViewElsewhere, ...]


def with_views(statement: Statement, views: Views, tables: frozenset[str], elsewhere: Elsewhere | None) -> Statement:
    """``CREATE VIEW v AS q; … FROM v  ->  WITH v AS (q) … FROM v``; what is wrong with a view is said where it is read.

    A view that is created again is the new one for the statements that follow, and the old one for those before. Views
    of other files are read where neither this one nor the catalog, with its ``tables``, has the name; they are placed
    where they are read.
    """
    tree = statement.tree
    if tree is None:
        return statement
    if elsewhere is not None:
        others = _of_other_files(statement, tree, views, tables, elsewhere)
        if isinstance(others, Diagnostic):
            return replace(statement, tree=None, diagnostics=(others,))
        views = {**views, **others.views}
        statement = replace(statement, elsewhere=others.places)
    if not views:
        return statement
    read = _read(tree, views)
    inside = [_read(block.query, views) for block in statement.blocks]
    for name, table in [item for found in (read, *inside) for item in found.items()]:
        if wrong := _wrong(statement, table, views[name]):
            return replace(statement, tree=None, diagnostics=(wrong,))
    nested = [table for found in inside for name, table in found.items() if views[name].statement.blocks]
    if nested:
        message = f"{nested[0].name} is a view of a SEQ block, and SEQ blocks do not nest"
        wrong = Diagnostic(Code.UNSUPPORTED, message, statement.source.file, _place(statement, nested[0]))
        return replace(statement, tree=None, diagnostics=(wrong,))
    blocks = tuple(_with_views(block, found, views) for block, found in zip(statement.blocks, inside, strict=True))
    statement = replace(statement, blocks=blocks)
    if not read:
        return statement
    used = [view for name, view in views.items() if name in read]
    sql = f"WITH {', '.join(view.sql for view in used)}\n(\n{statement.sql}\n)"
    blocks = (*(block for view in used for block in view.statement.blocks), *statement.blocks)
    return replace(statement, tree=_prepended(tree, used), views=_written(used), sql=sql, blocks=blocks)


def _of_other_files(
    statement: Statement, tree: exp.Expr, views: Views, tables: frozenset[str], elsewhere: Elsewhere
) -> OtherViews | Diagnostic:
    """The views of other files that a statement reads, or why one cannot be read."""
    found, places = dict[str, FileView](), list[ViewElsewhere]()
    trees = (tree, *(block.query for block in statement.blocks))
    ctes = {cte.alias.lower() for one in trees for cte in one.find_all(exp.CTE)}
    for table in (table for one in trees for table in one.find_all(exp.Table)):
        name = table.name.lower()
        if not name or table.args.get("db") or name in found or name in views or name in tables or name in ctes:
            continue
        view = elsewhere.view(table.name, statement.source.file, MODEL in table.meta)
        if view is None:
            continue
        if isinstance(view, FileView) and view.statement.blocks:
            view = f"{table.name} is a view of {view.statement.source.file} with a SEQ block: read it in its own file"
        if isinstance(view, str):
            return Diagnostic(Code.UNSUPPORTED, view, statement.source.file, _place(statement, table))
        if wrong := _wrong(statement, table, view):
            return wrong
        found[name] = replace(view, name=table.name, statement=_moved(view.statement, table), moved=True)
        created = view.statement.source.excerpt(view.statement.span)
        places.append(ViewElsewhere(table.name, _place(statement, table), created))
    return OtherViews(found, tuple(places))


def _moved(statement: Statement, table: exp.Table) -> Statement:
    """A statement of another file, placed as a whole where a table is read."""
    assert statement.tree is not None, "a view that is read has been parsed"
    tree = statement.tree.copy()
    for node in tree.walk():
        node.meta.pop("whole", None)
        if "start" in node.meta:
            node.meta.update(table.this.meta)
    return replace(statement, tree=tree, views=())


def _written(used: list[FileView]) -> tuple[WrittenView, ...]:
    """These views and those that they read themselves, in order of the file."""
    here = [one for one in used if not one.moved]
    found = {view.tokens[0].start: view for one in here for view in (*one.statement.views, one.written)}
    return tuple(found[start] for start in sorted(found))


def _read(tree: exp.Expr, views: Views) -> dict[str, exp.Table]:
    """The views that a query reads, each where it does first."""
    read: dict[str, exp.Table] = {}
    for table in tree.find_all(exp.Table):
        if table.name.lower() in views and not table.args.get("db"):
            read.setdefault(table.name.lower(), table)
    return read


def _with_views(block: SeqBlock, read: Mapping[str, exp.Table], views: Views) -> SeqBlock:
    """A block whose query has the views that it reads before it."""
    used = [view for name, view in views.items() if name in read]
    if not used:
        return block
    before = tuple(token for view in _written(used) for token in view.tokens)
    return replace(block, query=_prepended(block.query, used), before=before)


def _prepended(tree: exp.Expr, views: list[FileView]) -> exp.Expr:
    """The tree with the views before the names of its own WITH."""
    tree = tree.copy()
    query = tree
    while isinstance(query, exp.Subquery | exp.Paren):
        query = query.this
    own = query.args.get("with_")
    ctes = [*(view.cte() for view in views), *(own.expressions if own is not None else [])]
    query.set("with_", exp.With(expressions=ctes, recursive=own.args.get("recursive") if own is not None else None))
    return tree


def _wrong(statement: Statement, table: exp.Table, view: FileView) -> Diagnostic | None:
    """Why a view cannot be read at a FROM entry."""
    span, line, said = _place(statement, table), f"line {view.statement.span.line}", ""
    if view.statement.source.file != statement.source.file:
        line = f"{view.statement.source.file}, {line},"
        said = "".join(f": {one.message}" for one in view.statement.diagnostics[:1])
    if view.statement.tree is None:
        message, help = f"the view {view.name} of {line} is not understood{said}", "see what is said of it"
    elif any(cte.alias.lower() == view.name.lower() for cte in (statement.tree or table).find_all(exp.CTE)):
        message, help = f"{view.name} is a view of {line} and the name of a WITH", "give one another name"
    else:
        return None
    return Diagnostic(Code.UNSUPPORTED, message, statement.source.file, span, help)


def _place(statement: Statement, table: exp.Table) -> Span:
    meta = table.this.meta
    if "start" not in meta:
        return statement.span
    return statement.source.span(meta["start"], meta["end"] + 1)
