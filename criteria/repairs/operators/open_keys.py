"""``max_open = 1000`` in the catalog: how many of the keys that punctuations end are open at most, as a contract."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.diagnostics import FixKind
from streambound.criteria.repairs.operators.rejected import RejectedTree
from streambound.criteria.repairs.steps import Change, DeclareOpenKeys

WEIGHT = 4
_MOST = 1000
_NOTE = "the number is an example: choose yours; a run that meets more open keys stops"


def open_keys(rejected: RejectedTree) -> Iterator[Change]:
    """The number that a punctuation lacks, of each key of a stream that is read."""
    tables = {item.table.name: item.table for scope in rejected.scopes for item in scope.items}
    for key in dict.fromkeys(key for table in tables.values() for key in table.ending if key.max_open is None):
        title = f"declare how many keys of {key.name} are open at most"
        step = DeclareOpenKeys(key.stream, key.marked, _MOST)
        yield Change(("open keys",), (title,), WEIGHT, (step,), (_NOTE,), FixKind.CONTRACT)
