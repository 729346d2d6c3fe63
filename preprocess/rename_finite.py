"""Preprocessing step 3 (paper): a stream with an upper-bounded timestamp becomes finite, ``Si -> Fi``."""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.query import Branch, Kind, Query


def rename_finite(query: Query) -> Query:
    """Mark the finite streams of every branch."""
    return replace(query, branches=tuple(_rename(branch) for branch in query.branches))


def _rename(branch: Branch) -> Branch:
    finite = Facts.of(branch).finite_streams
    sources = tuple(
        replace(source, kind=Kind.FINITE) if source.alias in finite else source for source in branch.sources
    )
    return replace(branch, sources=sources)
