"""A warning where a bounded query's rows wait without a limit: for a stream that never promises to be past them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic, Related
from streambound.analyzer.spans import Span


def waiting_rows(used: Iterable[tuple[str, Span]], catalog: Catalog, file: str) -> Iterator[Diagnostic]:
    """An ``SB211`` at the first use of each stream, or relation that changes, without a promise.

    The bound M counts what has to be remembered between timestamps. A timestamp's rows wait until all streams are past
    it (Tucker, Maier, Sheard, Fegaras, TKDE 15(3), 2003: the pass invariant of sort needs punctuations).
    """
    first: dict[str, Span] = {}
    for name, span in used:
        first.setdefault(name, span)
    for name, span in first.items():
        table = catalog.table(name)
        if table is not None and not table.arrival.by_rows and table.arrival.mark is None:
            message = f"{table.name} never promises to be past a timestamp, so all rows wait until the input ends"
            help = "declare its lateness, punctuation records, or idle_after; the bound does not count rows that wait"
            related = (Related.at(table.at, f"{table.name} is declared here"),) if table.at else ()
            yield Diagnostic(Code.NEVER_PAST, message, file, span, help, related=related)
