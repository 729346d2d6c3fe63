"""A job's state as bytes: what JSON holds, and Arrow tables; a hash says whether it is whole."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from streambound_runtime.row_values import JsonObject

if TYPE_CHECKING:
    import pyarrow as pa

State = tuple[JsonObject, dict[str, "pa.Table"]]
"""What JSON holds, and tables by name."""


def packed(head: Mapping[str, object], tables: Mapping[str, pa.Table]) -> bytes:
    """A line of JSON, then the tables as streams of Arrow, one after the other; before it all the hash of it all."""
    import pyarrow as pa

    body = io.BytesIO()
    body.write(json.dumps({"said": head, "tables": [*tables]}).encode() + b"\n")
    for table in tables.values():
        with pa.ipc.new_stream(body, table.schema) as stream:
            stream.write_table(table)
    return sha256(body.getvalue()).hexdigest().encode() + b"\n" + body.getvalue()


def unpacked(data: bytes | None) -> State | None:
    """The packed state; None if it is damaged."""
    import pyarrow as pa

    sealed, _, body = (data or b"").partition(b"\n")
    if not sealed or sha256(body).hexdigest().encode() != sealed:
        return None
    head, _, rest = body.partition(b"\n")
    found = json.loads(head)
    file, tables = pa.BufferReader(rest), {}
    for name in found["tables"]:
        with pa.ipc.open_stream(file) as stream:
            tables[name] = stream.read_all()
    return found["said"], tables
