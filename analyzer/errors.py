"""Exceptions for unusable input. Findings about a readable query are values: see `diagnostics`."""

from __future__ import annotations

from streambound.analyzer.spans import Excerpt, Span


class StreamboundError(Exception):
    """A failure with a message for the user and the exit status that the command line gives it.

    ``remedy`` says what the user can do; ``file``, ``line`` and ``column`` are 1-based where known; ``excerpt`` is the
    line to show, with what is wrong on it.
    """

    exit_status = 4

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        file: str = "",
        line: int | None = None,
        column: int | None = None,
        excerpt: Excerpt | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.file = file
        self.line = line
        self.column = column
        self.excerpt = excerpt

    @property
    def where(self) -> str:
        """``file:line:column``, as far as it is known."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)

    @property
    def placed(self) -> str:
        """The message with the place before it, as far as that is known."""
        return f"{self.where}: {self.message}" if self.where else self.message


class UsageError(StreamboundError):
    """The command was called in a way that cannot work (exit 2)."""

    exit_status = 2


class TooManyBranchesError(UsageError):
    """A condition that would split into more disjoint branches than are looked at; ``span`` is a condition to blame."""

    def __init__(self, name: str, most: int, *, file: str, span: Span) -> None:
        message = f"{name}: the condition needs more than {most:,} disjoint branches"
        remedy = "split the query, or replace alternatives by a relation that lists them"
        super().__init__(message, remedy=remedy, file=file, line=span.line, column=span.column)
        self.most = most
        self.span = span


class CatalogError(StreamboundError):
    """The catalog is missing, malformed or contradicts itself (exit 2: configuration)."""

    exit_status = 2


class InputError(StreamboundError):
    """A file that cannot be read or parsed (exit 3)."""

    exit_status = 3


class WorkerError(StreamboundError):
    """A process that shares the work was ended by the system or by somebody (exit 2): nothing was judged to the end."""

    exit_status = 2


class NotExecutableError(StreamboundError):
    """The query cannot be compiled to a bounded-memory job: it is not bounded, or not supported (exit 1)."""

    exit_status = 1


class StaleJobError(StreamboundError):
    """A job file is not what its query, catalog and tool give now (exit 1)."""

    exit_status = 1


class RuntimeLimitError(StreamboundError):
    """A run broke its contract: more entries than M, or a count that does not fit (exit 1)."""

    exit_status = 1


class BrokenInvariant(Exception):
    """A pass has made what no pass may: a defect of this tool, whatever the query is (exit 4)."""
