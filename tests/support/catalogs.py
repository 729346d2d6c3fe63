"""Catalogs for hand-written cases."""

from __future__ import annotations

from typing import Any

Catalog = dict[str, Any]


def streams(names: str = "S T U V", **columns: str) -> Catalog:
    """Streams with the same columns; ``a`` and ``b`` are bigint unless told otherwise."""
    declared = {"a": "bigint", "b": "bigint", **columns, "ts": "bigint"}
    return {"streams": {name: {"timestamp": "ts", "columns": dict(declared)} for name in names.split()}}


def with_relation(catalog: Catalog, **columns: str) -> Catalog:
    """The catalog and a relation R; its columns are those of the streams unless told otherwise."""
    first = next(iter(catalog["streams"].values()))["columns"]
    own = columns or {name: kind for name, kind in first.items() if name != "ts"}
    return {**catalog, "relations": {"R": {"columns": own}}}


def with_domain(catalog: Catalog, stream: str, column: str, values: list[Any]) -> Catalog:
    """The catalog with one column's domain declared."""
    body = catalog["streams"][stream]
    domain = {**body.get("domain", {}), column: values}
    return {**catalog, "streams": {**catalog["streams"], stream: {**body, "domain": domain}}}


PLAIN = streams()
"""S, T, U, V with bigint columns a and b and an integer timestamp."""
