"""One SQL statement of a file."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp
from sqlglot.tokenizer_core import Token

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic, Related
from streambound.analyzer.emission import Emission, EmitMode
from streambound.analyzer.seq_blocks import SeqBlock
from streambound.analyzer.spans import Excerpt, SourceText, Span

MODEL = "model"
"""The mark of a table that is a model of dbt."""


class WrittenView(Struct, frozen=True):
    """A view of the same file as it stands there: its name, the names of its columns if it gives any, its query."""

    name: str
    columns: tuple[str, ...]
    tokens: tuple[Token, ...]


class ViewElsewhere(Struct, frozen=True):
    """A view of another file: where it is read, and where it is created."""

    name: str
    read: Span
    created: Excerpt

    def told(self, found: Diagnostic) -> Diagnostic:
        """A finding with the place of the view, if it is in the view."""
        if not (self.read.start <= found.span.start and found.span.end <= self.read.end):
            return found
        place = Related.at(self.created, f"{self.name} is created here")
        return replace(found, related=(*found.related, place))


class Statement(Struct, frozen=True):
    """One SQL statement of a file: name, and the span, tokens and tree of its query, or why it has none.

    ``named`` is where a comment or the target of CREATE or INSERT names it; None where the file's name does. ``views``
    are the views of the same file that it reads, in order, ``elsewhere`` those of other files; they are common table
    expressions of the tree. ``sql`` is the query as Spark runs it by itself. ``blocks`` are its SEQ blocks, for each of
    which the tree reads a table. ``remarks`` are warnings about what of it is not read.
    """

    name: str
    source: SourceText
    span: Span
    tokens: tuple[Token, ...]
    tree: exp.Expr | None
    diagnostics: tuple[Diagnostic, ...] = ()
    named: Span | None = None
    views: tuple[WrittenView, ...] = ()
    sql: str = ""
    blocks: tuple[SeqBlock, ...] = ()
    emit: Emission | None = None
    remarks: tuple[Diagnostic, ...] = ()
    elsewhere: tuple[ViewElsewhere, ...] = ()

    @property
    def before(self) -> tuple[Token, ...]:
        """The tokens of the views that it reads."""
        return tuple(token for view in self.views for token in view.tokens)

    def emitting(self, mode: str | None) -> Statement:
        """The statement with ``mode`` in place of its comment's, or unchanged for None."""
        return self if mode is None else replace(self, emit=Emission(EmitMode(mode), self.span))

    @property
    def is_query(self) -> bool:
        """Whether there is something to decide, or to repair: it is not a statement that reads no stream."""
        return not any(found.code is Code.NO_QUERY for found in self.diagnostics)

    @property
    def other_mode(self) -> Emission | None:
        """Its mode if that is not changes; upserts count as changes."""
        return None if self.emit is None or self.emit.mode in (EmitMode.CHANGES, EmitMode.UPSERT) else self.emit

    @property
    def upserts(self) -> bool:
        """Whether it prints the row of each key."""
        return self.emit is not None and self.emit.mode is EmitMode.UPSERT
